"""Emulated HID scanners: the same reports as on USB, on a pseudo-terminal, which the drivers read on a test table."""

from __future__ import annotations
