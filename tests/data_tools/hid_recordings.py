"""Makes the recordings of HID scanners that nobody has recorded yet, from the drivers' own encoders.

    python -m tests.data_tools.hid_recordings       # writes hid-pos and hid-keyboard .capture

Reports come whole on USB. A recording of the real device is to replace each.
"""

from __future__ import annotations

from tablectl_drivers import hid_keyboard, hid_pos
from tablectl_drivers.hid_keyboard import RELEASE, ROLL_OVER, press

from tablectl.cards import Card
from tests.data_tools.code_recordings import CODES, FOLDER, NOTE, Made, Sent, text

DEVICE = "usb:0c2e:0b61:18113B0A21"
LONG = "CARD-KD-" + "0123456789" * 7
"""A code of two reports."""

SETTINGS = {"cards": {**CODES, LONG: "KD"}}


def _pos() -> Sent:
    scanner = hid_pos.Encoder(SETTINGS)
    for card in ("8S", "TH", "AC", "5D"):
        yield 1100, scanner.card(Card.parse(card))
    king, long = scanner.card(Card.parse("KC")), scanner.code(LONG.encode())
    yield 1400, king
    yield 40, king  # the beam came over it twice
    yield 900, king  # the next card is a king of clubs too
    yield 1200, long[: hid_pos.REPORT]
    yield 4, long[hid_pos.REPORT :]
    yield 1500, scanner.code(b"9999")
    yield 900, scanner.reports(b"REVINF: Product Name: Xenon 1900\r", b"]X0")
    yield 900, long[: hid_pos.REPORT]  # its second report never comes
    yield 900, scanner.card(Card.parse("2H"))
    damaged = bytearray(scanner.card(Card.parse("9D")))
    damaged[1] = hid_pos.DATA + 1
    yield 1000, bytes(damaged)
    yield 900, scanner.card(Card.parse("9D")) + scanner.card(Card.parse("AS"))


def _keyboard() -> Sent:
    scanner = hid_keyboard.Encoder(SETTINGS)

    def typed(pause: int, reports: bytes) -> Sent:
        for i in range(0, len(reports), hid_keyboard.REPORT):
            yield pause if i == 0 else 2, reports[i : i + hid_keyboard.REPORT]

    for card in ("8S", "TH", "JC", "5D"):
        yield from typed(1100, scanner.card(Card.parse(card)))
    king = scanner.card(Card.parse("KC"))
    for pause in (1400, 40, 900):
        yield from typed(pause, king)
    yield from typed(900, press(0x1E) * 3 + RELEASE + scanner.code(b"010"))  # one key, told three times
    yield from typed(900, scanner.code(LONG.encode()))
    yield from typed(900, scanner.code(b"9999"))
    yield from typed(900, scanner.type("20") + ROLL_OVER + RELEASE + scanner.code(b"20"))
    yield from typed(900, scanner.type("10"))  # no Enter
    yield from typed(3000, scanner.card(Card.parse("2H")))


def recordings() -> tuple[Made, ...]:
    """All of them, each made anew."""
    return (
        Made(
            "hid-pos",
            DEVICE,
            SETTINGS,
            (NOTE, "faults: a bounce, a code of no card, an answer, a report lost, one malformed"),
            "8S TH AC 5D KC KC KD 2H 9D AS",
            _pos(),
        ),
        Made(
            "hid-keyboard",
            DEVICE,
            SETTINGS,
            (NOTE, "faults: a bounce, a key told three times, a code of no card, roll-over, no Enter"),
            "8S TH JC 5D KC KC AS KD 2H",
            _keyboard(),
        ),
    )


def main() -> None:
    for made in recordings():
        (FOLDER / f"{made.driver}.capture").write_text(text(made), encoding="utf-8")


if __name__ == "__main__":
    main()
