"""What every event has in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar


def private(default: Any = None) -> Any:
    """A field of a public event which only the journal keeps."""
    return field(default=default, metadata={"private": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all. ``shoe`` and ``round`` are numbers, None outside of one."""

    TYPE: ClassVar[str] = ""
    PUBLIC: ClassVar[bool] = True

    shoe: int | None = None
    round: int | None = None
