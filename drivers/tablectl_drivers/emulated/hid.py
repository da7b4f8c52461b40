"""Emulated HID scanners: the reports they send on USB, on a pseudo-terminal; test tables read them there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.cards import Card
from tablectl.emulation import Emulator
from tablectl_drivers import hid_keyboard, hid_pos
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port, PtyPort
from tablectl_drivers.emulated.scanner import EmulatedScanner, maker

SETTINGS: Mapping[str, Any] = {"cards": "suit-rank", "bounce_ms": 300}
PACED = ("bounce_ms",)


class EmulatedHid(EmulatedScanner):
    """A scanner; which reports it sends for a card, the subclass says."""

    encoder: type[hid_pos.Encoder | hid_keyboard.Encoder]

    def __init__(self, port: Port, faults: Faults, settings: Mapping[str, Any]) -> None:
        if not isinstance(port, PtyPort):
            raise ValueError("a HID scanner has no TCP port; give it a link")
        self._encoder = self.encoder(settings)
        super().__init__(port, faults)

    def _read(self, card: Card) -> None:
        self._send(self._encoder.card(card))


class EmulatedPos(EmulatedHid):
    """In HID POS mode."""

    encoder = hid_pos.Encoder


class EmulatedKeyboard(EmulatedHid):
    """As a keyboard."""

    encoder = hid_keyboard.Encoder


POS = Emulator("hid-pos", "USB scanner in HID POS mode", maker(EmulatedPos), SETTINGS, PACED)
KEYBOARD = Emulator(
    "hid-keyboard", "USB scanner that pretends to be a keyboard", maker(EmulatedKeyboard), SETTINGS, PACED
)
