"""What is counted of a device's bytes: whole frames, cards, rejects; and what keeps "last good" young."""

from __future__ import annotations

import pytest

from tablectl.cards import Card
from tablectl.clock import SECOND, Instant
from tablectl.reader.intake import Counters, Intake
from tablectl.scanner import Arrival, Arrived, Decoded, DeviceEvent, DeviceKind, Item, Label, Reject, Scan

CARD = Scan(Card.parse("8S"), Label.NONE, b"8S")


class Says:
    """A decoder that makes one item of any bytes."""

    def __init__(self, item: Item) -> None:
        self.item = item

    def feed(self, data: bytes, now: int) -> Decoded:
        return Decoded((self.item,))

    def tick(self, now: int) -> Decoded:
        return Decoded((self.item,))

    def next_deadline(self) -> int | None:
        return 0

    def reset(self) -> None:
        pass


@pytest.mark.parametrize(
    ("item", "counted"),
    [
        (CARD, Counters(1, frames=1, cards=1, last_good=7)),
        (Scan(None, Label.NONE, b"?"), Counters(1, frames=1, cards=1, last_good=7)),
        (DeviceEvent(DeviceKind.STANDBY, b"P"), Counters(1, frames=1, last_good=7)),
        (DeviceEvent(DeviceKind.BOUNCE, b"x", card=CARD.card), Counters(1, frames=1, last_good=7)),
        (Reject(b"10", "a line without an end was dropped", lost=True), Counters(1, rejects=1)),
        (DeviceEvent(DeviceKind.NOTICE, b"", "a word"), Counters(1)),
        (Reject(b"?", "no frame"), Counters(1, rejects=1)),
        (Reject(b"9999", "code of no card", framed=True), Counters(1, frames=1, rejects=1, unknown=1)),
    ],
)
def test_each_item_counts_for_what_it_is(item: Item, counted: Counters) -> None:
    intake = Intake(Says(item), lambda _: None, None, lambda text, now: None)
    intake.heard(b"x", Instant(7, 7))
    assert intake.counters == counted


def test_half_a_message_that_time_ends_makes_no_silent_line_young() -> None:
    stub = Reject(b"10", "a line without an end was dropped", lost=True)
    intake = Intake(Says(stub), lambda _: None, None, lambda text, now: None)
    intake.passed(Instant(9, 9))
    assert intake.counters.last_good is None


def test_what_waited_in_the_line_is_numbered_anew_each_time() -> None:
    got: list[Arrival] = []
    intake = Intake(Says(CARD), got.append, None, lambda text, now: None)
    for waited in (3, 1):
        intake.opened()
        for _ in range(waited):
            intake.heard(b"x", Instant(7, 7))
        assert intake.discarded == waited
        intake.ready()
        intake.heard(b"x", Instant(7, 7))
        assert intake.discarded == waited


@pytest.mark.parametrize(
    ("item", "asks"),
    [
        (Reject(b"[Ga", "line cut short", lost=True), True),
        (Reject(b"9999", "code of no card", framed=True), True),
        (Reject(b"\xff", "bytes outside a frame"), False),
    ],
)
def test_what_may_have_been_a_card_is_told_however_noisy_the_line_is(item: Reject, asks: bool) -> None:
    """A hundred bad lines, and then one each second: each of them may be a card that nobody sees."""
    noise = Reject(b"\xff", "bytes outside a frame")
    says, got = Says(noise), list[Arrival]()
    intake = Intake(says, got.append, None, lambda text, now: None)
    intake.ready()
    for i in range(100):
        intake.heard(b"x", Instant(i, i))
    says.item = item
    before = len(got)
    for second in range(1, 6):
        now = intake.looked = second * SECOND
        intake.heard(b"x", Instant(now, now))
    assert [one.item for one in got[before:] if isinstance(one, Arrived)] == [item] * (5 if asks else 0)


class SaysLate(Says):
    """One that is told when nobody looked."""

    def __init__(self, item: Item) -> None:
        super().__init__(item)
        self.told: list[tuple[int, int]] = []

    def late(self, since: int, now: int) -> None:
        self.told.append((since, now))


@pytest.mark.parametrize("decoder", [Says(CARD), SaysLate(CARD)])
def test_a_decoder_that_asks_is_told_that_nobody_looked(decoder: Says) -> None:
    intake = Intake(decoder, lambda _: None, None, lambda text, now: None)
    for looked, at in ((SECOND, SECOND + SECOND // 2), (2 * SECOND, 3 * SECOND)):
        intake.looked = looked
        intake.heard(b"x", Instant(at, at))
    if isinstance(decoder, SaysLate):
        assert decoder.told == [(2 * SECOND, 3 * SECOND)], "half a second is how long it waits"
