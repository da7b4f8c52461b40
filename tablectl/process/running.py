"""The threads of one table as a whole: in which order they start, and stop again within a known time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

_STOPPING = (
    *(("reader", 1.0), ("core", 0.5), ("writer", 1.5), ("service", 1.5)),
    *(("signals", 0.2), ("mirror", 0.2)),
)
"""In the order in which data flows, with the seconds each may take: under five in all."""


class Part(Protocol):
    """What has a thread."""

    def start(self) -> None:
        """Start it."""

    def stop(self, timeout: float, /) -> bool:
        """End it. Whether it ended within ``timeout`` s."""


class Running:
    """The parts of a table whose threads run."""

    def __init__(self) -> None:
        self._stops: dict[str, Callable[[float], bool]] = {}
        self._starting = ""

    def start(self, **parts: Part | None) -> None:
        """Start these, in the order given: who takes before who gives. None: the table has none."""
        for name, part in parts.items():
            if part is not None:
                self._stops[name], self._starting = part.stop, name
                part.start()
        self._starting = ""

    def stop(self) -> bool:
        """Stop in the order in which data flows. Whether everything ended in time (under 5 s)."""
        ended = True
        for name, seconds in _STOPPING:
            stop = self._stops.pop(name, None)
            # A beeper or a mirror that hangs is left behind: it holds nothing that another process needs.
            ended &= stop is None or self._stopped(name, stop, seconds) or name in ("signals", "mirror")
        return ended

    def _stopped(self, name: str, stop: Callable[[float], bool], seconds: float) -> bool:
        try:
            return stop(seconds)
        except RuntimeError:
            # The system gave it no thread: nothing is there to end, and the start tells why.
            if name != self._starting:
                raise
            return True
