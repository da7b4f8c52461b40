"""Makes the recordings of scanners of codes that nobody has recorded yet, from the drivers' own encoders.

    python -m tests.data_tools.code_recordings      # writes barcode, rfid and zebra-ssi .capture

Each has the faults that its protocol knows, and says so in its notes; a recording of the real device is to
replace it. Pauses, fragments and glued reads come from a seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablectl_drivers import barcode, rfid, ssi_wire, zebra_ssi

from tablectl.cards import DECK, Card

FOLDER = Path(__file__).parents[1] / "data" / "recordings"
NOTE = "computed from the driver's own encoder, no real device was recorded yet"

CODES = {
    f"{'SHCD'.index(card.suit) * 1000 + 1000 + ('A23456789TJQK'.index(card.rank) + 1) * 10}": str(card)
    for card in DECK
}
TAGS = {f"{number:02X}00{deck:02X}4D1F": str(card) for number, card in enumerate(DECK, 1) for deck in (1, 2)}

Sent = Iterator[tuple[int, bytes]]
"""ms of pause, then bytes the device sends at once."""


@dataclass(frozen=True)
class Made:
    """A recording to be: what is in it, and the cards a person would say were drawn."""

    driver: str
    device: str
    settings: dict[str, Any]
    notes: tuple[str, ...]
    cards: str
    sent: Sent


def _cards(text: str) -> list[Card]:
    return [Card.parse(word) for word in text.split()]


def _barcode() -> Sent:
    scanner = barcode.Encoder({"cards": CODES})
    for card in _cards("8S TH AC 5D"):
        yield 1100, scanner.card(card)
    yield 1400, scanner.card(Card.parse("KC"))
    yield 40, scanner.card(Card.parse("KC"))  # the beam came over it twice
    yield 900, scanner.card(Card.parse("KC"))  # the next card is a king of clubs too
    yield 1200, scanner.code(b"9999")
    yield 1100, b"20"  # the cable was touched
    yield 4000, scanner.card(Card.parse("2H"))
    damaged = bytearray(scanner.card(Card.parse("9D")))
    damaged[1] |= 0x80
    yield 1000, bytes(damaged)
    yield 900, scanner.card(Card.parse("9D"))


def _rfid() -> Sent:
    reader = rfid.Encoder({"cards": TAGS})

    def laid(pause: int, frame: bytes, times: int) -> Sent:
        yield pause, frame
        for _ in range(times - 1):
            yield 50, frame

    first = reader.card(Card.parse("8S"))
    yield from laid(800, first, 6)
    for card in _cards("TH AC 5D"):
        yield from laid(900, reader.card(card), 5)
    yield from laid(700, reader.card(Card.parse("8S")), 4)  # of another deck
    yield from laid(2500, first, 3)  # the first card came over the reader again
    frame = reader.card(Card.parse("KC"))
    yield 900, frame[:6]  # at the edge of the field
    yield from laid(60, frame[:5] + b"A" + frame[6:], 1)
    yield from laid(50, frame, 5)
    yield 1200, rfid.Encoder.frame(b"FF00014D1F")  # a badge, not a card
    yield 700, b"\xff\xfe\x00"


def _zebra_ssi() -> Sent:
    scanner = zebra_ssi.Encoder({"cards": CODES})
    for card in _cards("8S TH AC 5D"):
        yield 1100, scanner.card(card)
    again = scanner.card(Card.parse("KC"))
    yield 1200, again
    yield 2000, zebra_ssi.resent(again)  # our ACK was lost
    damaged = bytearray(scanner.card(Card.parse("2H")))
    damaged[7] ^= 0x40
    yield 900, bytes(damaged)
    yield 30, zebra_ssi.resent(scanner.card(Card.parse("2H")))  # on our NAK
    yield 1300, zebra_ssi.resent(scanner.card(Card.parse("9D")))  # the first one never came
    yield 1100, scanner.part(b"10", continued=True)
    yield 20, scanner.part(b"10")
    yield 900, scanner.code(b"9999")
    yield 800, ssi_wire.packet(ssi_wire.CMD_ACK, source=ssi_wire.SCANNER)  # to a beep
    yield 900, scanner.card(Card.parse("QD"))[:7]  # half a packet


def recordings() -> tuple[Made, ...]:
    """All of them, each made anew."""
    return (
        Made(
            "barcode",
            "/dev/serial/by-id/usb-Honeywell_Scanner_1950_18096B4F2A-if00",
            {"cards": CODES},
            (NOTE, "faults: a bounce, a code of no card, half a code, a damaged one scanned again"),
            "8S TH AC 5D KC KC 2H 9D",
            _barcode(),
        ),
        Made(
            "rfid",
            "/dev/serial/by-id/usb-1a86_USB_Serial-if00-port0",
            {"cards": TAGS},
            (NOTE, "faults: a card that came again, frames cut and damaged, a strange tag, line noise"),
            "8S TH AC 5D 8S KC",
            _rfid(),
        ),
        Made(
            "zebra-ssi",
            "/dev/serial/by-id/usb-Symbol_Technologies_Inc._Symbol_Bar_Code_Scanner_S_N_7A8B9C-if00",
            {"cards": CODES},
            (NOTE, "faults: packets and an ACK lost, one damaged, a code of no card, half a packet"),
            "8S TH AC 5D KC 2H 9D AS",
            _zebra_ssi(),
        ),
    )


def text(made: Made, seed: int = 1) -> str:
    """The whole file: pieces cut and glued as a serial line does; USB hands over whole reports."""
    rng = random.Random(seed)
    lines = [
        "tablectl capture 1",
        f"driver: {made.driver}",
        f"device: {made.device}",
        f"settings: {json.dumps(made.settings)}",
        "started: 2026-11-30T08:15:00Z",
        *(f"note: {note}" for note in made.notes),
        "",
    ]
    cut = 0.0 if made.device.startswith("usb:") else 0.4
    now = 0
    for pause, data in made.sent:
        now += pause * 1000 + rng.randrange(-900, 900)
        rest = data
        while rest:
            size = rng.randrange(1, len(rest) + 1) if rng.random() < cut else len(rest)
            lines.append(f"{now // 1_000_000}.{now % 1_000_000:06d} {rest[:size].hex(' ').upper()}")
            rest = rest[size:]
            now += rng.randrange(1000, 6000) if rest else 0
    return "\n".join(lines) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for made in recordings():
        (FOLDER / f"{made.driver}.capture").write_text(text(made), encoding="utf-8")


if __name__ == "__main__":
    main()
