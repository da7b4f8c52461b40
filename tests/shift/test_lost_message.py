"""One message of an Angel Eye shoe is lost, anywhere, at any number: a wrong result never comes of it.

The shoe is out of step, and until it says stand-by its labels count for nothing: its numbers remain.
Exhaustive over where in a hand, at which number, what else is said behind it, and what the decoder knows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from functools import cache

import pytest
from tablectl_drivers import angel_eye
from tablectl_drivers.angel_eye_encoder import Encoder
from tablectl_drivers.emulated.shoe import OwnHand

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.scanner import Arrived, Label
from tablectl.table import Kind, Phase, Started
from tests.table.playing import ANGEL_EYE, Play, house

ORDER = (Label.P1, Label.B1, Label.P2, Label.B2, Label.P3, Label.B3)
HANDS = ("9S 2H KD 3C", "2C 3D 3H KS 5S 9C", "2C 3D 4H KS 5S")
"""With four, six and five cards. What follows is drawn from NEXT, as a dealer does who follows the screen."""
NEXT = ("4D", "2S", "3C", "6H", "7C")

BEHIND: dict[str, Callable[[Encoder], bytes]] = {
    "nothing": lambda shoe: b"",
    "wrong button": lambda shoe: shoe.error(3),
    "cleared": lambda shoe: shoe.error_cleared(3),
    "setting": lambda shoe: shoe.setting("010203"),
}


@cache
def out_of_step(*, restarted: bool) -> Play:
    """A table whose betting is closed, behind a round that was void; perhaps of a process just started."""
    play = Play(house(dealing={"confirm": "automatic"}), ANGEL_EYE).idle()
    play.no_more_bets()
    play.do(Kind.HOLD)
    play.do(Kind.VOID)
    if restarted:
        play.give(Started(play.now(), "1"))
        play.restore()
    play.no_more_bets()
    assert play.state.step_lost and not play.state.held
    return play


class Table:
    """It reads a shoe through the real encoder and decoder. ``number``: of the shoe's next message."""

    def __init__(self, number: int, after_nine: int, setting: str, *, known: bool) -> None:
        self.shoe = Encoder(seq=number, wrap_to=after_nine)
        self.decoder = angel_eye.AngelEyeDecoder(after_nine=setting)
        self.play = copy(out_of_step(restarted=not known))
        self.play.events = list(self.play.events)
        self.play.places = deepcopy(self.play.places)
        if known:
            before = number - 1 if number > after_nine else 9
            self.decoder.feed(Encoder(seq=before).lock(False), self.play.boot)

    def hear(self, data: bytes) -> None:
        for _ in range(3):
            self.play.pass_time(0.05)
            for item in self.decoder.feed(data, self.play.boot).items:
                self.play.give(Arrived(item, self.play.now()))

    def draw(self, own: OwnHand | None, label: Label, card: Card, *, lost: bool) -> None:
        self.play.pass_time(2)
        if own is not None and own.due() is None:
            frame = self.shoe.overdraw(card)
        else:
            frame = self.shoe.card(own.take(card) if own else label, card)
        if not lost:
            self.hear(frame)


def deal(table: Table, cards: list[Card], lost: int | None, behind: str, own: OwnHand | None = None) -> None:
    """The dealer draws what the screen asks for; the ``lost``-th message of a card never arrives.

    ``own``: the hand that the shoe began; without one it is somewhere in an old hand.
    """
    for i, card in enumerate(cards):
        state = table.play.state
        if state.held or state.phase not in (Phase.NO_MORE_BETS, Phase.DEALING):
            return
        table.draw(own, ORDER[(i + 1) % 6], card, lost=i == lost)
        if i == lost:
            table.hear(BEHIND[behind](table.shoe))


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("known", [True, False], ids=["goes on", "restarted"])
@pytest.mark.parametrize(
    ("after_nine", "setting"), [(0, "either"), (1, "either"), (0, "0"), (1, "1")], ids=str
)
def test_no_wrong_result_comes_of_a_lost_message(
    after_nine: int, setting: str, known: bool, behind: str
) -> None:
    for hand in HANDS:
        for number in range(after_nine, 10):
            for lost in range(len(hand.split())):
                table = Table(number, after_nine, setting, known=known)
                deal(table, [Card.parse(face) for face in (*hand.split(), *NEXT)], lost, behind)
                assert not table.play.of(ev.RoundResulted), (hand, number, lost)


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("known", [True, False], ids=["goes on", "restarted"])
def test_nor_behind_a_stand_by_where_the_labels_count_again(known: bool, behind: str) -> None:
    for hand in HANDS:
        for lost in range(len(hand.split())):
            table = Table(3, 0, "either", known=known)
            table.hear(table.shoe.standby())
            deal(table, [Card.parse(face) for face in (*hand.split(), *NEXT)], lost, behind, OwnHand())
            assert not table.play.of(ev.RoundResulted), (hand, lost)


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("hand", HANDS)
def test_nothing_is_held_where_nothing_is_lost_and_the_numbers_are_known(hand: str, number: int) -> None:
    table = Table(number, 0, "0", known=True)
    deal(table, [Card.parse(face) for face in hand.split()], None, "nothing")
    assert not table.play.state.held
    assert len(table.play.of(ev.RoundResulted)) == 1
