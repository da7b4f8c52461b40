"""Text of others as a line that does nothing: what is no printable character is shown by its number."""

from __future__ import annotations


def escape(text: object) -> str:
    """``text`` on one line, everything that is no printable character shown by its number."""
    return "".join(char if char.isprintable() else by_number(char) for char in str(text))


def sentence(text: str) -> str:
    """``text`` as a sentence that another one may follow."""
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def number_of(number: object, noun: str) -> str:
    """``1 card``, ``3 cards``; a number in print is one too."""
    return f"{number} {noun}{'' if str(number) == '1' else 's'}"


def by_number(char: str) -> str:
    """A character as Python writes it."""
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
