"""The scanner's own beeper: the driver knows the bytes, the reader that owns the line sends them.

Nothing is opened here: a second program on the scanner's port would take its cards away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tablectl.scanner import PATTERNS
from tablectl_drivers.beepers import patterns
from tablectl_drivers.options import refuse_unknown

MISSED = 3
"""So many beeps in a row that found no moment on the line are a fault; one is not, for scans go first."""


class ScannerBeeper:
    """Beeps by the scanner. ``given``: the site's bytes for a pattern, in place of the driver's."""

    def __init__(self, given: Mapping[str, bytes]) -> None:
        self._given = given
        self._bytes: Mapping[str, bytes] = {}
        self._say: Callable[[bytes], bool] | None = None
        self._missed = 0

    def attach(self, beep: Callable[[str], bytes], say: Callable[[bytes], bool]) -> None:
        """The driver's bytes, and how they reach the scanner. :class:`ValueError`: it has no beep."""
        self._bytes = {name: self._given.get(name, beep(name)) for name in PATTERNS}
        if not any(self._bytes.values()):
            raise ValueError(
                "driver: this scanner has no beep of its own; name its bytes under [beeper.patterns],"
                ' close = "16 07 0D", or take another beeper'
            )
        self._say = say

    def play(self, pattern: str) -> None:
        """Send the pattern's bytes. Raises :class:`OSError` when the scanner is away."""
        if self._say is None:
            raise OSError("the scanner's own beeper sounds only while the daemon runs")
        data = self._bytes[pattern]
        if not data:
            return
        self._missed = 0 if self._say(data) else self._missed + 1
        if self._missed >= MISSED:
            raise OSError("the scanner takes no beep: its line was never free")

    def close(self) -> None:
        """The line is the reader's."""


def make(settings: Mapping[str, Any]) -> ScannerBeeper:
    """The scanner's beeper; its one setting is ``patterns``. :class:`ValueError` names what is wrong."""
    refuse_unknown(settings, ("patterns",))
    return ScannerBeeper(patterns.read(settings, {}, patterns.hex_bytes, b""))
