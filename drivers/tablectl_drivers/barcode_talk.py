"""What a bar-code scanner on a serial line is told: taken, send it again, beep.  Pure.

Host ACK/NAK mode (Honeywell's "ACK/NAK", off as delivered): the scanner waits after each line for
06, and on 15 sends the same line again, as often as it is asked. A line sent again carries no mark,
so whether it is one that was counted already can only be told from what was asked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.clock import SECOND
from tablectl.scanner import Item, Reject
from tablectl_drivers import options

ACK, NAK = b"\x06", b"\x15"

MOST_NAKS = 2
"""A line unreadable a third time is taken off the scanner's hands, or it would scan nothing more."""

ASKED_FOR = 2 * SECOND
"""ns: a line so soon after a NAK is the one asked for. The scanner answers at once."""

SENT_AGAIN = "sent again because it was asked to: one card"


class HostAck:
    """Answers to lines, and whether a line is one that was asked for again."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """The link was opened anew: nothing is being asked for."""
        self._naks = 0
        self._asked_at: int | None = None
        self._bad_at: int | None = None

    def asked(self, now: int) -> int | None:
        """When the bad line came because of which the one that ends at ``now`` was asked for; else None.

        The NAK may have been for noise behind a card that was counted, and the line asked for is then
        that very card; or for a second card of the same face. The time of the bad line tells them apart.
        """
        asked = self._asked_at is not None and now - self._asked_at <= ASKED_FOR
        return self._bad_at if asked else None

    @property
    def gives_up(self) -> bool:
        """Whether a line that is bad now is taken off the scanner's hands: nobody sends it again."""
        return self._naks == MOST_NAKS

    def answer(self, item: Item | None, now: int, came: int | None = None) -> bytes:
        """What to send back for ``item``; None: the line was too long and is a reject already.

        ``came``: when its last byte came, if that was before ``now``.
        """
        bad = item is None or isinstance(item, Reject)
        if not bad or self.gives_up:
            self.reset()
            return ACK
        self._naks += 1
        self._asked_at, self._bad_at = now, now if came is None else came
        return NAK


# --- beeps -----------------------------------------------------------------------------------------

SYMBOL_BEEPS = {"pip": 0x00, "close": 0x0A, "accept": 0x17, "reject": 0x10, "hold": 0x14}
"""Zebra and Symbol number their beeps: one short high, one long high, low-high, two long low, fast warble."""

MAKERS = ("none", "honeywell", "datalogic", "cipherlab", "opticon", "symbol")

_GOOD_BAD = {
    # What is sounded for a good scan, the pips and the close of betting; and for a bad scan or a hold.
    "honeywell": (b"\x16\x07\r", b"\x16\x07\r" * 2),
    # F, "not on file", also switches the scanner off; E switches it on again.
    "datalogic": (b"B", b"FE"),
    "cipherlab": (b"#@////\r", b"#@////\r" * 2),
    "opticon": (b"\x1bB\r", b"\x1bE\r"),
}


def beep(settings: Mapping[str, Any], pattern: str) -> bytes:
    """The bytes that make a scanner of the maker set as ``beeper`` sound ``pattern``; none by default.

    Most know a good and a bad sound; where there is only one, a bad scan sounds twice.
    """
    maker = options.choice(settings, "beeper", MAKERS)
    if maker == "none" or pattern not in SYMBOL_BEEPS:
        return b""
    if maker == "symbol":
        return f"\x1b[{SYMBOL_BEEPS[pattern]}S".encode("ascii")
    if maker == "datalogic" and pattern in ("pip", "close"):
        return b"\x07"
    return _GOOD_BAD[maker][pattern in ("reject", "hold")]
