"""The terminal's bell: BEL to the controlling terminal, or to standard error if that is a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from tablectl_drivers.options import refuse_unknown

_BELLS = {"pip": 1, "close": 3, "accept": 1, "reject": 2, "hold": 4}


class BellBeeper:
    """Rings a terminal; the number of rings tells the pattern."""

    def __init__(self, terminal: str = "/dev/tty") -> None:
        self._terminal = terminal

    def play(self, pattern: str) -> None:
        """Ring. Raises :class:`OSError` if there is no terminal to ring."""
        rings = b"\a" * _BELLS.get(pattern, 1)
        try:
            # Non-blocking: a terminal stopped by Ctrl-S must not hold the thread.
            fd = os.open(self._terminal, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as fault:
            if not sys.stderr.isatty():
                raise OSError(f"no terminal to ring: {fault}") from fault
            os.write(sys.stderr.fileno(), rings)
            return
        try:
            os.write(fd, rings)
        finally:
            os.close(fd)

    def close(self) -> None:
        """Nothing is kept open."""


def make(settings: Mapping[str, Any]) -> BellBeeper:
    """A bell on ``terminal`` (default ``/dev/tty``). Raises :class:`ValueError` naming a bad setting."""
    refuse_unknown(settings, ("terminal",))
    terminal = settings.get("terminal", "/dev/tty")
    if not isinstance(terminal, str) or not terminal.startswith("/"):
        raise ValueError(f"terminal: {terminal!r} is not the path of a terminal")
    return BellBeeper(terminal)
