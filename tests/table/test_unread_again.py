"""A card that was never read, its round void, and then it was read after all: one card, with that face."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.house import HouseRules
from tablectl.table import Kind, Phase, offered
from tablectl.table.state import USED
from tests.table.playing import Play, house

DOWN = house(dealing={"deal": "face-down", "confirm": "dealer"})


def void(play: Play | None = None, tries: int = 2) -> Play:
    """Eight cards are out: six burned, one of the hand, and the last one, which nobody read."""
    play = play or Play()
    play.no_more_bets()
    play.deal("9S")
    for _ in range(tries):
        play.scan(None)
    play.do(Kind.VOID)
    assert play.out == 8
    return play


def one_card(play: Play, face: str | None = "KD") -> None:
    """The pit boss says so: it is the eighth card and no ninth one, and its face is known."""
    if not play.state.held:
        play.do(Kind.HOLD)
    assert play.out == 9
    play.release("drop")
    assert play.out == 8 and not play.state.loose
    assert sum(play.state.the_shoe.counts) == (8 if face else 7)
    (aside,) = [one for one in play.state.aside if one.place == USED and one.card != Card.parse("9S")]
    assert aside.card == (Card.parse(face) if face else None)


@pytest.mark.parametrize("tries", [1, 2])
def test_between_rounds_it_holds_the_table_and_the_hold_says_what_it_may_be(tries: int) -> None:
    play = void(tries=tries)
    play.scan("KD")
    assert play.codes == ["card-idle"] and "could not be read" in play.state.holds[0].message
    one_card(play)
    assert play.stands(Phase.IDLE) and not play.state.held


def test_so_it_does_while_betting_is_open() -> None:
    play = void()
    play.do(Kind.BETS_OPEN)
    play.scan("KD")
    assert play.codes == ["card-early"] and "could not be read" in play.state.holds[0].message
    one_card(play)
    assert play.stands(Phase.BETTING) and not play.state.held


def test_as_a_burn_card_it_is_none_and_one_more_is_due() -> None:
    play = void()
    play.do(Kind.BURN_ERROR)
    play.scan("KD")
    one_card(play)
    assert play.state.burns_due == 3 and len(play.state.the_shoe.burned) == 6
    play.deal("2C 3C 4C")
    assert play.stands(Phase.IDLE)


def test_as_the_last_burn_card_too() -> None:
    play = void()
    play.do(Kind.BURN, count="1")
    play.scan("KD")
    one_card(play)
    assert play.stands(Phase.BURNING) and play.state.burns_due == 1


@pytest.mark.parametrize("rules", [house(), DOWN], ids=["face up", "face down"])
def test_as_the_first_card_of_the_next_hand(rules: HouseRules) -> None:
    play = void(Play(rules))
    play.do(Kind.HAND_FREE)
    play.scan("KD")
    assert play.stands(Phase.DEALING)
    one_card(play)
    assert play.stands(Phase.NO_MORE_BETS) and play.state.the_round.dealt == () and not play.state.held
    play.deal("9S 2H KD 3C")
    assert play.out == 12


def test_behind_one_that_was_reserved_for_that_hand() -> None:
    play = Play(house(dealing={"overdraw": "next"}))
    play.round("2C 9D 3H KS")
    play.scan("7S")
    play.release("next")
    play.do(Kind.BETS_OPEN)
    play.scan(None)
    play.do(Kind.VOID)
    play.do(Kind.HAND_FREE)
    out = play.out
    play.scan("KD")
    play.do(Kind.HOLD)
    play.release("drop")
    assert play.out == out and play.state.the_round.dealt == (Card.parse("7S"),)


def burned(play: Play) -> None:
    play.release("burn")


def named(play: Play) -> None:
    play.do(Kind.CORRECT, position="K1", card="QD")


@pytest.mark.parametrize(("then", "face"), [(burned, "KD"), (named, "QD")])
def test_whatever_became_of_it_meanwhile(then: Callable[[Play], None], face: str) -> None:
    play = void()
    play.scan("KD")
    then(play)
    one_card(play, face)
    assert len(play.state.the_shoe.burned) == 6


def test_reserved_for_the_next_hand() -> None:
    play = Play(house(dealing={"overdraw": "next"}))
    play.round("2C 9D 3H KS")
    play.no_more_bets()
    play.scan(None)
    play.do(Kind.VOID)
    out = play.out
    play.scan("KD")
    one = offered(play.state)
    assert "drop" in one
    play.release("drop")
    assert play.out == out


def test_it_may_be_unread_again_and_again() -> None:
    play = void()
    for _ in range(2):
        play.scan(None)
        assert play.codes == ["card-idle"]
        one_card(play, None)
    play.scan("KD")
    one_card(play)


@pytest.mark.parametrize("first", ["2C", None])
def test_only_the_very_next_card_is_asked_about(first: str | None) -> None:
    play = void()
    play.scan(first)
    play.release("burn")
    play.scan("KD")
    assert "drop" not in offered(play.state) and "could not be read" not in play.state.holds[0].message


def test_an_unread_card_that_was_not_the_last_one_is_none() -> None:
    play = Play()
    play.no_more_bets()
    play.deal("9S")
    play.do(Kind.HOLD)
    play.deal("2H")
    play.scan(None)
    play.scan("3D")
    play.do(Kind.VOID)
    play.scan("KD")
    assert "drop" not in offered(play.state)


def test_one_kept_in_excess_of_a_round_that_is_void_by_the_house_rule_is_one() -> None:
    play = Play(house(dealing={"overdraw": "void"}))
    play.round("2C 9D 3H KS")
    play.scan(None)
    play.do(Kind.VOID, round="1/1")
    out = play.out
    play.scan("KD")
    play.release("drop")
    assert play.out == out and not play.state.held


@pytest.mark.parametrize("kind", [Kind.INSERT, Kind.ENTER])
def test_a_card_that_people_told_lies_there_by_their_word(kind: Kind) -> None:
    play = void()
    play.do(Kind.HAND_FREE)
    play.do(Kind.HOLD)
    play.do(kind, position="P1", card="KD", same="no")
    assert "drop" not in offered(play.state)


def test_it_counts_for_a_ninth_copy_once() -> None:
    play = Play().idle("KD KD KD KD KD KD")
    play.round("KD 9D 3H KS")
    play.no_more_bets()
    play.scan(None)
    play.do(Kind.VOID)
    play.scan("KD")
    play.release("drop")
    assert play.state.the_shoe.counts[Card.parse("KD").number] == 8 and not play.state.held
    assert play.state.the_shoe.sound


def test_an_amendment_finds_it_by_its_face() -> None:
    """It was the third card of the round before, which a misread card had ended."""
    play = Play()
    play.round("2C 9D 3H KS")
    play.no_more_bets()
    play.scan(None)
    play.do(Kind.VOID)
    play.scan("7S")
    play.release("drop")
    out = play.out
    play.do(Kind.AMEND, round="1/1", B1="7D", P3="7S", same="yes")
    assert play.out == out


def test_no_face_is_told_to_the_world() -> None:
    play = void()
    play.do(Kind.BURN_ERROR)
    play.scan("KD")
    play.do(Kind.HOLD)
    play.release("drop")
    told = str([ev.public_data(event) for event in play.events if event.PUBLIC])
    assert "KD" not in told and "KD" not in play.last.answer


def test_the_end_of_the_shoe_forgets_it() -> None:
    play = void()
    play.do(Kind.SHOE_END)
    play.scan("KD")
    assert not play.state.held
