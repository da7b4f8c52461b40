"""An emulated SSI scanner: waits for the ACK of each packet, sends it again with the bit set, and beeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.cards import Card
from tablectl.emulation import Emulator
from tablectl_drivers import ssi_wire as wire
from tablectl_drivers.emulated.faults import Faults, Say
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.scanner import EmulatedScanner, maker
from tablectl_drivers.zebra_ssi import Encoder, resent

RESENDS = 2
RESPONSE = 2.0
"""Seconds the scanner waits for an answer, as delivered."""

SETTINGS: Mapping[str, Any] = {"cards": "suit-rank", "bounce_ms": 300}


class EmulatedZebraSsi(EmulatedScanner):
    """The scanner, set up by the driver's own ``settings``."""

    def __init__(self, port: Port, faults: Faults, settings: Mapping[str, Any]) -> None:
        self._encoder = Encoder(settings)
        self._framer = wire.Framer(wire.HOST, frozenset((wire.CMD_ACK, wire.CMD_NAK, wire.BEEP)))
        super().__init__(port, faults)

    def _read(self, card: Card) -> None:
        packet = self._encoder.card(card)
        self._ask([packet, *[resent(packet)] * RESENDS], RESPONSE, on_silence=True)

    def _told(self, data: bytes) -> None:
        for one in self._framer.feed(data):
            if not isinstance(one, wire.Packet):
                continue
            if one.opcode == wire.BEEP:
                self._port.say([Say(wire.packet(wire.CMD_ACK, source=wire.SCANNER))])
            else:
                # A refusal for another reason than a bad check sum means: do not send it again.
                self._answers.put(one.opcode == wire.CMD_ACK or one.data != bytes((wire.NAK_RESEND,)))


EMULATOR = Emulator(
    "zebra-ssi",
    "Zebra scanner that speaks SSI",
    maker(EmulatedZebraSsi),
    settings=SETTINGS,
    paced=("bounce_ms",),
)
