"""The terminal's bell: BEL to the controlling terminal, or to standard error if that is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from tablectl_drivers.beepers import patterns
from tablectl_drivers.options import path, refuse_unknown

USUAL = {"pip": 1, "close": 3, "accept": 1, "reject": 2, "hold": 4}
"""The number of rings tells the pattern."""


class BellBeeper:
    """Rings a terminal, so many times for each pattern."""

    def __init__(self, terminal: str = "/dev/tty", rings: Mapping[str, int] = USUAL) -> None:
        self._terminal = terminal
        self._rings = rings

    def play(self, pattern: str) -> None:
        """Ring. Raises :class:`OSError` if there is no terminal to ring."""
        fd = self._open()
        try:
            os.write(fd, b"\a" * self._rings[pattern])
        finally:
            os.close(fd)

    def check(self) -> None:
        """Raises :class:`OSError` if there is no terminal to ring."""
        os.close(self._open())

    def close(self) -> None:
        """Nothing is kept open."""

    def _open(self) -> int:
        try:
            # Non-blocking: a terminal stopped by Ctrl-S must not hold the thread.
            return os.open(self._terminal, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as fault:
            if not sys.stderr.isatty():
                raise OSError(f"no terminal to ring: {fault}") from fault
            return os.dup(sys.stderr.fileno())


def make(settings: Mapping[str, Any]) -> BellBeeper:
    """A bell on ``terminal`` (default ``/dev/tty``). Raises :class:`ValueError` naming a bad setting."""
    refuse_unknown(settings, ("terminal", "patterns"))
    terminal = path("terminal", settings.get("terminal", "/dev/tty"), "is not the path of a terminal")
    return BellBeeper(terminal, patterns.read(settings, USUAL, patterns.rings, 0))
