"""A message of which a part was lost: the dealer hears it and is asked to look; nothing changes by itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tablectl.scanner import Arrived, Reject
from tablectl.table import Kind
from tests.table.playing import Play

LOST = Reject(b"10", "a line without an end was dropped", lost=True)
NOISE = Reject(b"\xff", "bytes outside a frame")


def give(play: Play, item: Reject) -> list[str]:
    before = play.state
    play.give(Arrived(item, play.now()))
    assert play.beeps == ["reject"]
    assert (play.state.phase, play.state.holds, play.state.round) == (
        before.phase,
        before.holds,
        before.round,
    )
    assert play.state.version == before.version
    return play.said


WAYS: list[tuple[Callable[[], Play], str, dict[str, str]]] = [
    (lambda: Play().idle(), ". If so: hold", {}),
    (lambda: Play().betting(), ". If so: hold", {}),
    (lambda: Play().no_more_bets(), ". If so: hold --because card-missed", {"because": "card-missed"}),
    (lambda: dealing(), ". If so: hold --because card-missed", {"because": "card-missed"}),
]


def dealing() -> Play:
    play = Play().no_more_bets()
    play.deal("9S 2H")
    return play


@pytest.mark.parametrize(("begin", "way", "args"), WAYS)
def test_in_a_shoe_the_dealer_is_asked_to_look_and_told_a_way_there_is(
    begin: Callable[[], Play], way: str, args: dict[str, str]
) -> None:
    play = begin()
    (said,) = give(play, LOST)
    assert said.startswith("Part of a message of the scanner was lost: look whether a card was drawn")
    assert said.endswith(way)
    play.do(Kind.HOLD, **args)
    assert play.state.held
    (said,) = give(play, LOST)
    assert said.endswith("that the screen does not show"), "it is on hold already"


def test_without_a_shoe_no_card_of_a_hand_can_be_lost() -> None:
    assert give(Play().opened(), LOST) == []


def test_what_cannot_have_been_a_card_only_beeps() -> None:
    assert give(dealing(), NOISE) == []
