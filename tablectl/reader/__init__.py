"""The reader: one thread that owns one scanner and hands what it means to the table."""

from tablectl.reader.thread import Reader

__all__ = ["Reader"]
