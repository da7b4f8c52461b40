"""Instants: a monotonic one to decide by and a wall-clock one to write down.

Decisions use CLOCK_BOOTTIME, which goes on while the machine sleeps and never steps. Wall time
is recorded and shown, never compared. The pure core gets instants as arguments; only the edges
call :func:`now`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

SECOND = 1_000_000_000
"""Nanoseconds in a second: all instants and spans in the core are whole nanoseconds."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Instant:
    """``boot``: CLOCK_BOOTTIME in ns. ``wall``: Unix time in ns at the same moment."""

    boot: int
    wall: int

    def wall_at(self, boot: int) -> int:
        """The wall time (ns) of another boot-time instant, by this instant's offset."""
        return self.wall + boot - self.boot


def now() -> Instant:
    """This moment. For the edges; the pure core never calls it."""
    return Instant(time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns())


def iso(wall: int) -> str:
    """A wall time in ns as RFC 3339 in UTC with microseconds: ``2026-11-29T20:15:03.123456Z``."""
    moment = _EPOCH + timedelta(microseconds=wall // 1000)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
