"""An emulated RFID reader with decks of tagged cards: each card has its tag and comes out once a shoe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tablectl.cards import Card
from tablectl.emulation import Emulator
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.scanner import EmulatedScanner, maker
from tablectl_drivers.rfid import REPEAT_SECONDS, Encoder

SETTINGS: Mapping[str, Any] = {"cards": "rfid-example", "bounce_ms": 300, "again_minutes": 10}


class EmulatedRfid(EmulatedScanner):
    """The reader; a card drawn lies in its field for a quarter of a second."""

    copies = 5
    gap = REPEAT_SECONDS

    def __init__(self, port: Port, faults: Faults, settings: Mapping[str, Any]) -> None:
        self._encoder = Encoder(settings)
        super().__init__(port, faults)

    def load(self, cards: Sequence[Card], cutting_cards: Sequence[int] = ()) -> None:
        """Put ``cards`` in. Raises :class:`ValueError` if the decks do not have so many of one."""
        with self._lock:
            for card, count in Counter(cards).items():
                if count > (there := self._encoder.tags(card)):
                    raise ValueError(f"{count} {card}, but the card table has tags for {there}")
            super().load(cards, cutting_cards)
            self._encoder.shuffle()

    def _read(self, card: Card) -> None:
        self._send(self._encoder.card(card))

    def _say_card(self, card: Card, burn: bool, unreadable: bool) -> None:
        if unreadable:
            self._encoder.deal(card)  # its tag is dead, but it is out of the shoe all the same
        else:
            self._read(card)


EMULATOR = Emulator(
    "rfid",
    "RFID reader with decks of tagged cards",
    maker(EmulatedRfid),
    settings=SETTINGS,
    paced=("again_minutes",),
)
