"""Values out of what a peer sent: of the kind that is wanted, of bounded size, and printable; else none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.printable import escape

_MOST = 40
"""Things of one kind that are looked at."""


def mapping(value: Any) -> Mapping[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: Any, most: int = _MOST) -> list[Any]:
    """The first of a list's members; none of what is no list."""
    return value[:most] if isinstance(value, list) else []


def text(value: Any, most: int = 300) -> str:
    """A value in print, on one line: escaped, of bounded length; nothing if there is none."""
    if value is None:
        return ""
    shown = escape(str(value)[: most + 1])
    return shown if len(shown) <= most else shown[:most] + "..."


def number(value: Any) -> int | None:
    """A whole number of a size that can be, or None."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10**15:
        return None
    return value


def count(value: Any) -> int:
    """A whole number; 0 for anything else."""
    return number(value) or 0
