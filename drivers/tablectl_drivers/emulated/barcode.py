"""An emulated bar-code scanner on a serial line; with ``host_ack`` it waits for 06 and obeys 15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.cards import Card
from tablectl.emulation import Emulator
from tablectl_drivers import options
from tablectl_drivers.barcode import Encoder
from tablectl_drivers.barcode_talk import ACK, NAK
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.scanner import EmulatedScanner, maker

TRIES = 5
"""How often a line is said at most. The scanner has no such end; this one must not stand still for ever."""

RESPONSE = 2.0
"""Seconds the scanner waits for an answer, as delivered; then the line is lost."""

SETTINGS: Mapping[str, Any] = {"cards": "suit-rank", "bounce_ms": 300}


class EmulatedBarcode(EmulatedScanner):
    """The scanner, set up by the driver's own ``settings``."""

    def __init__(self, port: Port, faults: Faults, settings: Mapping[str, Any]) -> None:
        self._encoder = Encoder(settings)
        self._waits = options.flag(settings, "host_ack")
        super().__init__(port, faults)

    def _read(self, card: Card) -> None:
        line = self._encoder.card(card)
        if self._waits:
            self._ask([line] * TRIES, RESPONSE, on_silence=False)
        else:
            self._send(line)

    def _told(self, data: bytes) -> None:
        for byte in data:
            if byte in ACK + NAK:
                self._answers.put(byte in ACK)


EMULATOR = Emulator(
    "barcode",
    "bar-code scanner on a serial line",
    maker(EmulatedBarcode),
    settings=SETTINGS,
    paced=("bounce_ms",),
)
