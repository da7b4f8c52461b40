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

from tablectl_drivers import angel_eye, bee_tek
from tablectl_drivers.emulated.angel_eye import EmulatedAngelEye
from tablectl_drivers.emulated.bee_tek import EmulatedBeeTek
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.wired import WiredShoe

from tablectl.scanner import Driver

LINE = ("split", "duplicate", "garble", "drop", "stall", "freeze", "echo", "noise", "lose", "hang-up")
"""What happens on the wire."""

HAND = ("unreadable", "cut-mid-hand", "overdraw", "early", "idle-card", "away", "restart", "button")
"""What happens at the shoe and in the dealer's hand."""


@dataclass(frozen=True)
class Protocol:
    """``loses``, ``doubles``: the faults that may lose a card, or have it read twice.

    ``confirms``: the ways to announce a result that are lawful with it. ``can_rescan``: a card can pass the
    scanner again.
    """

    name: str
    driver: Driver
    make: Callable[[Port, Faults], WiredShoe]
    loses: frozenset[str]
    doubles: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    confirms: tuple[str, ...] = ("dealer",)
    can_rescan: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def faults(self) -> tuple[str, ...]:
        """All that can go wrong with it."""
        return tuple(name for name in (*LINE, "interleave", *HAND) if name not in self.without)


_CABLE = frozenset({"lose", "hang-up", "away"})
_SAID_ONCE = _CABLE | {"drop", "garble", "freeze"}

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "angel-eye",
            angel_eye.DRIVER,
            EmulatedAngelEye,
            loses=_CABLE,
            confirms=("shoe", "dealer", "automatic"),
        ),
        Protocol(
            "bee-tek",
            bee_tek.DRIVER,
            EmulatedBeeTek,
            loses=_SAID_ONCE,
            # Without numbers two equal cards in a row are two cards: only people see that it was one.
            # So a person announces here; with results by themselves an echo could complete a hand.
            doubles=frozenset({"duplicate", "echo"}),
            without=frozenset({"interleave", "restart", "button"}),
        ),
    )
}
