"""Makes the recordings of shoes that nobody has recorded yet, from the drivers' own encoders.

    python -m tests.data_tools.recordings      # writes tests/data/recordings/{angel-eye,bee-tek}.capture

Pauses, fragments and glued reads come from a seed; a recording of the real device is to replace each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tablectl_drivers import angel_eye_encoder, bee_tek

from tablectl.cards import Card, Outcome
from tablectl.scanner import Label
from tablectl.technician.capture import Header, Piece, Recording, capture_text
from tests.recordings import FOLDER

MS = 1_000_000
NOTE = "made from the driver's own encoder; no real device was recorded yet"


def _angel_eye() -> Iterator[tuple[int, bytes]]:
    """A burn, two rounds with an unread card and a lock in between, the cutting card."""
    shoe = angel_eye_encoder.Encoder()

    def sent(pause: int, frame: bytes) -> Iterator[tuple[int, bytes]]:
        yield pause * MS, frame
        for _ in range(angel_eye_encoder.COPIES - 1):
            yield angel_eye_encoder.COPY_GAP, frame

    yield from sent(0, shoe.start())
    for index, card in enumerate(("4C", "KD", "2S"), start=1):
        yield from sent(900, shoe.burn_card(index, Card.parse(card)))
    yield from sent(700, shoe.standby())
    for label, card in zip(("P1", "B1", "P2", "B2"), ("8S", "TH", "AC", "5D"), strict=True):
        yield from sent(1100, shoe.card(Label(label), Card.parse(card)))
    yield from sent(2500, shoe.result(Outcome.PLAYER))
    yield from sent(800, shoe.standby())
    yield from sent(900, shoe.lock(True))
    yield from sent(900, shoe.lock(False))
    yield from sent(900, shoe.card(Label.P1, Card.parse("2H")))
    yield from sent(900, shoe.card(Label.B1, None))
    yield from sent(100, shoe.error(1))
    yield from sent(4000, shoe.error_cleared(1))
    yield from sent(900, shoe.cutting_card())
    frame = shoe.card(Label.P2, Card.parse("2H"))
    yield 900 * MS, frame[:-1] + b"0"  # a copy with a bad check sum, then two good ones
    yield angel_eye_encoder.COPY_GAP, frame
    yield angel_eye_encoder.COPY_GAP, frame


def _bee_tek() -> Iterator[tuple[int, bytes]]:
    """Cards in both modes, the same card twice, an unread one with its alarm, a warning, line noise."""
    game, burn = bee_tek.Encoder(), bee_tek.Encoder(bee_tek.MODES[1])
    for card in ("4S", "TH", "TH", "KD"):
        yield 1200 * MS, game.card(Card.parse(card))
    for card in ("2C", "9D"):
        yield 900 * MS, burn.card(Card.parse(card))
    yield 1500 * MS, game.card(None)
    yield 30 * MS, game.alarm("E3 Card Not Read")
    yield 2000 * MS, game.warning(1)
    yield 500 * MS, b"\xff\x00~~~~~~~~~~~~"
    yield 800 * MS, game.card(Card.parse("AC"))


def _pieces(sent: Iterator[tuple[int, bytes]], seed: int) -> Iterator[Piece]:
    """Cut and glued as a serial line does."""
    rng = random.Random(seed)
    now = 0
    for pause, frame in sent:
        now += pause
        at = rng.randrange(1, len(frame)) if rng.random() < 0.4 else len(frame)
        yield Piece(now, frame[:at])
        if at < len(frame):
            now += rng.randrange(1, 9) * MS
            yield Piece(now, frame[at:])


def main() -> None:
    for driver, sent, speed in (("angel-eye", _angel_eye(), 4800), ("bee-tek", _bee_tek(), 9600)):
        device = "/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0"
        header = Header(driver, device, {"baud": speed}, "2026-11-30T08:15:00Z", (NOTE,))
        recording = Recording(header, tuple(_pieces(sent, seed=1)))
        (FOLDER / f"{driver}.capture").write_text(capture_text(recording), encoding="utf-8")


if __name__ == "__main__":
    main()
