"""Emulated HID scanners: the reports they send on USB, on a pseudo-terminal, where a test table reads them.

A scanner reads the code off a card and knows nothing else: no hand, no button, no cutting card; over a
card that it cannot read it stays silent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tablectl.cards import Card
from tablectl.emulation import EmulatedShoe, Emulator
from tablectl_drivers import hid_keyboard, hid_pos
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.wired import WiredShoe, make_port

_SETTINGS: dict[str, Any] = {"cards": "suit-rank", "bounce_ms": 300}
_PACED = ("bounce_ms",)


class EmulatedHid(WiredShoe):
    """A scanner over which cards are drawn; ``encode`` gives the reports of a card."""

    def __init__(self, port: Port, faults: Faults, encode: Callable[[Card | None], bytes]) -> None:
        super().__init__(port, faults)
        self._encode = encode

    def _say_started(self) -> None:
        pass

    def _say_standby(self) -> None:
        pass

    def _say_cutting_card(self) -> None:
        pass

    def _say_card(self, card: Card, burn: bool, unreadable: bool) -> None:
        if not unreadable:
            self._send(self._encode(card))


def _maker(encoder: Callable[[Mapping[str, Any]], Any]) -> Callable[..., EmulatedShoe]:
    def make(
        *,
        link: str | None = None,
        listen: int | str | None = None,
        speed: float = 1.0,
        faults: Sequence[str] = (),
        seed: int = 0,
        settings: Mapping[str, Any] | None = None,
    ) -> EmulatedHid:
        """An emulated scanner, with its port open. Raises :class:`ValueError` naming what cannot be used."""
        if listen is not None:
            raise ValueError("a HID scanner has no TCP port; give it a link")
        encode = encoder(settings or {}).card
        return EmulatedHid(make_port(link, None, speed), Faults(faults, seed), encode)

    return make


POS = Emulator(
    "hid-pos", "USB scanner in HID POS mode: reads cards only", _maker(hid_pos.Encoder), _SETTINGS, _PACED
)
KEYBOARD = Emulator(
    "hid-keyboard",
    "USB scanner that pretends to be a keyboard: reads cards only",
    _maker(hid_keyboard.Encoder),
    _SETTINGS,
    _PACED,
)
