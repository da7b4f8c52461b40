"""The shoes and scanners that work a shift, a line or two each: what can go wrong, and what that may cost.

What a fault on the wire may cost is a claim about the protocol. With three numbered copies and a check sum
nothing on the line loses or doubles a card but the loss of all three: where another fault of the line holds
the table, the decoder is wrong. A protocol that says a card once loses it with the line, and reads it twice
with an echo.
Damage that turns one good message into another good one cannot be told by any controller and is kept out
(:mod:`tablectl_drivers.emulated.faults` does so), as is a good frame made by chance out of noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tablectl_drivers import angel_eye, barcode, bee_tek, hid_keyboard, hid_pos, rfid, zebra_ssi
from tablectl_drivers.emulated.angel_eye import EmulatedAngelEye
from tablectl_drivers.emulated.barcode import EmulatedBarcode
from tablectl_drivers.emulated.bee_tek import EmulatedBeeTek
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.hid import EmulatedKeyboard, EmulatedPos
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.rfid import EmulatedRfid
from tablectl_drivers.emulated.wired import WiredShoe
from tablectl_drivers.emulated.zebra_ssi import EmulatedZebraSsi

from tablectl.scanner import Driver
from tests.drivers.contract import CARDS, TAGGED

LINE = ("split", "duplicate", "garble", "drop", "stall", "freeze", "echo", "noise", "lose", "hang-up")
"""What happens on the wire."""

HAND = ("unreadable", "cut-mid-hand", "overdraw", "early", "idle-card", "away", "restart", "button")
"""What happens at the shoe and in the dealer's hand."""

CRASH = "crash"
"""The controller is killed, and started again."""


LATE = "late duplicate"
"""Noted when the line stands still before a duplicate: no scanner's bounce takes so long."""


@dataclass(frozen=True)
class Protocol:
    """``loses``, ``doubles``: the faults that may lose a card, or have it read twice.

    ``confirms``: the ways to announce a result that are lawful with it.
    """

    name: str
    driver: Driver
    make: Callable[[Port, Faults], WiredShoe]
    loses: frozenset[str]
    doubles: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    confirms: tuple[str, ...] = ("dealer",)
    explains: frozenset[str] = frozenset()
    """Holds that any fault may lead to, be it of a round long ago."""
    shuffle: tuple[float, float] = (60, 240)
    """Seconds a shuffle takes."""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[str, ...]:
        """All that can go wrong with it."""
        return tuple(name for name in (*LINE, "interleave", *HAND, CRASH) if name not in self.without)


_CABLE = frozenset({"lose", "hang-up", "away", CRASH})
_FORGETS = frozenset({CRASH})
"""A new process does not know which copies it has heard: a late one is kept under the hold of the restart."""
_SILENT = _CABLE | {"unreadable"}
"""A scanner of codes says nothing where it cannot read."""
_SAID_ONCE = _CABLE | {"drop", "garble", "freeze"}
_NO_SHOE = frozenset({"interleave", "restart", "button"})
_NO_PARTS = frozenset({"split", "garble", "noise"})
"""USB carries whole reports with a check sum of its own."""

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "angel-eye",
            angel_eye.DRIVER,
            EmulatedAngelEye,
            loses=_CABLE,
            doubles=_FORGETS,
            confirms=("shoe", "dealer", "automatic"),
        ),
        Protocol(
            "angel-eye-no-zero",
            angel_eye.DRIVER,
            lambda port, faults: EmulatedAngelEye(port, faults, after_nine=1),
            loses=_CABLE,
            doubles=_FORGETS,
            confirms=("shoe", "dealer", "automatic"),
            explains=frozenset({"card-missed"}),  # until it is learned, 1 behind 9 is a doubt
        ),
        Protocol(
            "bee-tek",
            bee_tek.DRIVER,
            EmulatedBeeTek,
            loses=_SAID_ONCE,
            # Without numbers two equal cards in a row are two cards: only people see that it was one.
            # So a person announces here; with results by themselves an echo could complete a hand.
            doubles=frozenset({"duplicate", "echo"}),
            without=_NO_SHOE,
        ),
        Protocol(
            "barcode",
            barcode.DRIVER,
            lambda port, faults: EmulatedBarcode(port, faults, CARDS),
            # Noise runs into the line behind it; two equal cards out of a line that stood still are a bounce.
            loses=_SILENT | _SAID_ONCE | {"noise", "stall"},
            doubles=frozenset({"echo", LATE}),
            without=_NO_SHOE,
            settings=CARDS,
        ),
        Protocol(
            "rfid",
            rfid.DRIVER,
            lambda port, faults: EmulatedRfid(port, faults, TAGGED),
            loses=_SILENT,
            doubles=_FORGETS,
            without=_NO_SHOE | {"interleave"},
            settings=TAGGED,
            shuffle=(600, 900),  # the same cards: a tag seen again sooner holds the table (again_minutes)
        ),
        Protocol(
            "zebra-ssi",
            zebra_ssi.DRIVER,
            lambda port, faults: EmulatedZebraSsi(port, faults, CARDS),
            loses=_SILENT | _SAID_ONCE | {"stall"},
            doubles=frozenset({"echo", LATE}),
            without=_NO_SHOE,
            settings=CARDS,
        ),
        Protocol(
            "hid-pos",
            hid_pos.DRIVER,
            lambda port, faults: EmulatedPos(port, faults, CARDS),
            loses=_SILENT | {"drop", "freeze", "stall"},
            doubles=frozenset({"echo", LATE}),
            without=_NO_SHOE | _NO_PARTS,
            settings=CARDS,
        ),
        Protocol(
            "hid-keyboard",
            hid_keyboard.DRIVER,
            lambda port, faults: EmulatedKeyboard(port, faults, CARDS),
            loses=_SILENT | {"drop", "freeze", "stall"},
            doubles=frozenset({"echo", LATE}),
            without=_NO_SHOE | _NO_PARTS,
            settings=CARDS,
        ),
    )
}
