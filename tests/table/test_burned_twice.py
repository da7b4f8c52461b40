"""A burn card that the scanner read twice: the repeat is no burned card and no card of the shoe."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tablectl import events as ev
from tablectl.scanner import Label
from tablectl.table import Kind, Phase, Started, offered
from tests.table.playing import ANGEL_EYE, Play, house

FIRST_CARD: dict[str, Mapping[str, object]] = {"burn": {"by": "first-card"}}


def burning(cards: str, **sections: Mapping[str, object]) -> Play:
    play = Play(house(**sections)).opened()  # type: ignore[arg-type]
    play.do(Kind.SHOE_NEW)
    play.deal(cards)
    return play


def taken_back(play: Play) -> Play:
    """A person says so, and the repeat is gone from the burned cards and from the shoe's count."""
    if not play.state.held:
        play.do(Kind.HOLD)
    out, burned = play.out, len(play.state.the_shoe.burned)
    play.release("drop")
    assert (play.out, len(play.state.the_shoe.burned)) == (out - 1, burned - 1)
    return play


def burned(play: Play) -> str:
    return " ".join(play.state.the_shoe.burned)


CARDS = ["2S", "3H", "4D", "5C", "6S", "7H"]


@pytest.mark.parametrize("at", range(1, 6))
def test_one_more_is_due_whichever_it_was(at: int) -> None:
    """The fifth one's repeat is the sixth read: the burn seems complete."""
    play = burning(" ".join([*CARDS[:at], CARDS[at - 1]]))
    assert play.stands(Phase.IDLE if at == 5 else Phase.BURNING) and play.state.burns_due == 5 - at
    taken_back(play)
    assert play.stands(Phase.BURNING) and play.state.burns_due == 6 - at and not play.state.held
    assert play.last.answer == f"released: drop; still to be burned: {6 - at}"
    play.deal(" ".join(CARDS[at:]))
    assert play.stands(Phase.IDLE) and burned(play) == " ".join(CARDS) and play.out == 6
    play.do(Kind.BETS_OPEN)


@pytest.mark.parametrize("at", range(1, 6))
def test_so_it_is_when_all_reads_are_made_before_anybody_sees_it(at: int) -> None:
    play = burning(" ".join([*CARDS[:at], *CARDS[at - 1 : 5]]))
    assert play.stands(Phase.IDLE) and not play.state.held
    taken_back(play)
    play.scan(CARDS[5])
    assert play.stands(Phase.IDLE) and burned(play) == " ".join(CARDS) and not play.state.held


def test_it_is_counted_only_once_by_face() -> None:
    play = taken_back(burning("2S 2S"))
    assert sum(play.state.the_shoe.counts) == 1


def test_a_card_read_three_times_is_one() -> None:
    play = taken_back(taken_back(burning("2S 3H 3H 3H")))
    assert burned(play) == "2S 3H" and play.state.burns_due == 4


def test_who_drew_six_is_kept_from_a_seventh() -> None:
    """The repeat was the third of seven reads, so the sixth card is one too many for the table."""
    play = burning("2S 3H 3H 4D 5C 6S 7H")
    assert play.codes == ["burn-over"] and "drop" in offered(play.state)
    taken_back(play)
    assert play.codes == ["burn-over"] and play.state.burns_due == 1
    play.release("burn")
    assert burned(play) == "2S 3H 4D 5C 6S 7H" and play.stands(Phase.IDLE) and not play.state.held


def test_of_a_card_kept_and_the_last_burned_the_kept_one_is_the_repeat() -> None:
    play = burning("2S 3H 4D 5C 6S 7H 7H")
    play.release("drop")
    assert burned(play) == "2S 3H 4D 5C 6S 7H" and play.stands(Phase.IDLE) and not play.state.held


def test_of_two_pairs_further_back_nobody_can_say_which_it_was() -> None:
    play = burning("2S 2S 4D 4D 6S")
    play.do(Kind.HOLD)
    assert "drop" not in offered(play.state)
    assert "is no way out now" in play.refused(Kind.RELEASE, action="drop")


def test_but_the_last_one_it_can_be() -> None:
    assert burned(taken_back(burning("2S 2S 4D 4D"))) == "2S 2S 4D"


@pytest.mark.parametrize("cards", ["2S", "2S 3H", "2S 2H"])
def test_cards_that_are_not_alike_are_two(cards: str) -> None:
    play = burning(cards)
    play.do(Kind.HOLD)
    assert "drop" not in offered(play.state)


def test_nor_one_that_could_not_be_read() -> None:
    play = burning("2S")
    for _ in range(2):
        play.scan(None)
        play.scan(None)
        play.release("burn")
    play.do(Kind.HOLD)
    assert "drop" not in offered(play.state)


# --- the first card's value -------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "value"), [("AS", 1), ("7S", 7), ("KS", 10)])
def test_the_first_cards_repeat_changes_nothing_of_what_its_value_asks_for(first: str, value: int) -> None:
    play = burning(f"{first} {first}", **FIRST_CARD)
    assert play.state.burns_due == value - 1
    taken_back(play)
    assert play.stands(Phase.BURNING) and play.state.burns_due == value and burned(play) == first
    assert not play.state.burn_first_card


def test_the_first_card_itself_is_no_repeat() -> None:
    play = burning("7S", **FIRST_CARD)
    play.do(Kind.HOLD)
    assert "drop" not in offered(play.state)


def test_nor_when_it_was_kept_with_a_hold_first() -> None:
    play = burning("", **FIRST_CARD)
    play.do(Kind.HOLD)
    play.deal("7S 7S")
    play.release("burn")
    assert play.state.burns_due == 6
    taken_back(play)
    assert play.state.burns_due == 7 and burned(play) == "7S"


# --- what else was ordered --------------------------------------------------------------------------------


def change(play: Play) -> Play:
    play.do(Kind.SIGN_OUT)
    play.do(Kind.SIGN_IN, name="Boris", pickup="left")
    return play


def reasons(play: Play, cards: str) -> list[str]:
    play.deal(cards)
    return [event.reason for event in play.of(ev.CardBurned)][-len(cards.split()) :]


def test_what_is_ordered_behind_it_stays_behind_it() -> None:
    play = burning("2S 3H 3H")
    play.do(Kind.BURN, count="2")
    taken_back(play)
    assert reasons(play, "4D 5C 6S 7H 8D 8C") == ["shuffle"] * 4 + ["pit boss"] * 2
    assert play.stands(Phase.IDLE)


def test_so_does_what_is_begun_already() -> None:
    """The six are burned, and the pit boss ordered two more before anybody saw the repeat."""
    play = burning("2S 3H 4D 5C 6S 6S")
    play.do(Kind.BURN, count="2")
    play.do(Kind.BURN, count="3")
    taken_back(play)
    assert play.state.burns_due == 6
    assert reasons(play, "7H 8D 8C 9S 9H TD") == ["shuffle"] + ["pit boss"] * 5


@pytest.mark.parametrize("order", [Kind.BURN_ERROR, Kind.SIGN_IN])
def test_whatever_it_was_burned_for(order: Kind) -> None:
    play = Play(house())
    play.round("2C 9D 3H KS")
    if order is Kind.SIGN_IN:
        change(play)
    else:
        play.do(order)
    due, reason = play.state.burns_due, play.state.burn_reason
    play.deal("KS")
    taken_back(play)
    assert play.state.burns_due == due and play.state.burn_reason == reason


def error(play: Play) -> None:
    play.give(Started(play.now(), "1"))
    play.restore()


def away(play: Play) -> None:
    play.lose()
    play.restore()


@pytest.mark.parametrize("trouble", [error, away])
def test_another_hold_goes_on(trouble: Callable[[Play], None]) -> None:
    play = burning("2S 3H 3H")
    trouble(play)
    codes = play.codes
    play.do(Kind.HOLD)
    taken_back(play)
    assert play.codes == codes
    play.release("cards-confirmed")
    play.deal("4D 5C 6S 7H")
    assert play.stands(Phase.IDLE)


def test_a_shoe_that_names_another_place_holds_and_lets_it_be_taken_back() -> None:
    play = Play(house(), ANGEL_EYE).opened()
    play.do(Kind.SHOE_NEW)
    play.scan("3H", Label.BURN)
    play.scan("3H", Label.P1)
    assert play.codes == ["card-conflict"]
    taken_back(play)
    assert not play.state.held and play.state.burns_due == 5


# --- when play has gone on --------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["betting", "no more bets", "free"])
def test_once_bets_were_open_the_burn_is_over_and_one_card_short(way: str) -> None:
    play = burning("2S 3H 4D 5C 6S 6S")
    play.do(Kind.HAND_FREE if way == "free" else Kind.BETS_OPEN)
    if way == "no more bets":
        play.wait(20)
    phase = play.state.phase
    taken_back(play)
    assert play.stands(phase) and not play.state.burns_due and not play.state.held
    assert play.of(ev.CardDropped)[-1].left == 0


def test_a_card_drawn_since_is_none() -> None:
    play = burning("2S 3H 4D 5C 6S 6S")
    play.no_more_bets()
    play.deal("2C")
    play.do(Kind.HOLD)
    assert "drop" not in offered(play.state)


def test_nor_an_early_card() -> None:
    play = burning("2S 3H 4D 5C 6S 6S")
    play.do(Kind.BETS_OPEN)
    play.scan("2C")
    assert play.codes == ["card-early"] and "drop" not in offered(play.state)


def test_a_card_burned_in_excess_is_taken_back_as_before() -> None:
    play = burning("2S 3H 4D 5C 6S 7H 7H")
    play.release("burn")
    taken_back(play)
    assert play.stands(Phase.IDLE) and not play.state.burns_due


# --- what is undone, and what is told ---------------------------------------------------------------------


def test_the_cutting_card_told_with_the_repeat_can_be_withdrawn() -> None:
    play = burning("2S 3H 3H")
    play.do(Kind.CUT_CARD)
    taken_back(play)
    play.do(Kind.CUT_UNDO)
    assert play.state.the_shoe.cut is None


def test_the_share_that_the_repeat_reached_can_be_withdrawn() -> None:
    play = burning("2S 3H 3H", shoe={"share": "0.007"})
    assert play.state.the_shoe.cut is not None and play.out == 3
    taken_back(play)
    play.do(Kind.CUT_UNDO)
    play.scan("4D")
    assert play.state.the_shoe.cut is not None


def test_the_end_of_the_shoe_tells_the_cards_that_were_burned() -> None:
    play = taken_back(burning("2S 3H 3H"))
    play.do(Kind.SHOE_END)
    ended = play.of(ev.ShoeEnded)[-1]
    assert ended.burned == ("2S", "3H") and (ended.dealt, ended.left) == (0, 414)
    assert play.state.burn_run == ()


def test_no_face_and_no_event_tells_the_world() -> None:
    play = taken_back(burning("2S 3H 3H"))
    told = [ev.public_data(event) for event in play.last.events if event.PUBLIC]
    assert told and "3H" not in str(told) and "3H" not in play.last.answer
