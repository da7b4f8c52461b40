"""What the outbox says is to be done next. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Send:
    """POST the events ``first`` … ``first + count - 1``; fewer may be sent."""

    first: int
    count: int

    @property
    def last(self) -> int:
        return self.first + self.count - 1


@dataclass(frozen=True, slots=True)
class Probe:
    """POST the signed empty batch."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before ``until`` (boot ns), unless something is stored; None: not by time."""

    until: int | None


@dataclass(frozen=True, slots=True)
class Halted:
    """Nothing is sent until a person acts."""

    reason: str


Action = Send | Probe | Wait | Halted
