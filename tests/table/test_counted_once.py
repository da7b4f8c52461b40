"""Every card drawn is in one place and counted once, through every correction, amendment and void."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.table import Kind, Phase, corrections, offered, repeats, settled
from tests.table import honest
from tests.table.playing import Play, house

SOAK = "TABLECTL_SOAK" in os.environ
SEEDS = 1_000 if SOAK else 60
RIGHT = {"B1": "7D", "P3": "7S"}
"""What really lay there in :func:`overdrawn`: no natural, and the card in excess is the Player's third."""


@pytest.mark.soak
@pytest.mark.timeout(600 if SOAK else 60)
def test_the_table_of_honest_people_agrees_with_the_cards() -> None:
    for seed in range(SEEDS):
        try:
            honest.play(seed)
        except AssertionError as error:
            error.add_note(f"honest.play({seed})")
            raise


@pytest.mark.parametrize("name", ["claim", "newest"])
def test_and_sees_it_when_a_card_aside_is_not_known(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (corrections, settled, repeats):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, lambda *told, **more: None)
    with pytest.raises(AssertionError):
        for seed in range(20):
            honest.play(seed)


def overdrawn(cards: str = "7S", *, confirm: str = "dealer", overdraw: str = "burn", **sections: Any) -> Play:
    """B1 was read as 9D, a natural; ``cards`` came behind it, in excess of that."""
    play = Play(house(dealing={"confirm": confirm, "overdraw": overdraw}, **sections))
    play.round("2C 9D 3H KS")
    play.deal(cards)
    return play


def held(play: Play) -> Play:
    play.do(Kind.HOLD, because="card-missed")
    return play


def dealt(play: Play) -> list[str]:
    return [str(card) for card in play.state.the_round.dealt]


# --- in the hand in play ----------------------------------------------------------------------------------


def test_a_reserved_card_is_kept_again_when_the_hand_turns_out_to_want_one() -> None:
    play = overdrawn(overdraw="next")
    play.release("next")
    held(play).do(Kind.CORRECT, position="B1", card="7D")
    assert play.state.reserved == () and play.codes == ["card-missed", "overdraw"]
    play.release("accept")
    assert dealt(play)[-1] == "7S" and play.out == 11
    play.do(Kind.CONFIRM)
    play.do(Kind.BETS_OPEN)
    play.wait(20)
    assert play.state.the_round.dealt == (), "the next hand begins with a card of its own"


def test_it_stays_reserved_while_the_hand_is_complete_without_it() -> None:
    play = overdrawn(overdraw="next")
    play.release("next")
    held(play).do(Kind.CORRECT, position="B1", card="8D")
    assert play.state.reserved == (Card.parse("7S"),) and play.codes == ["card-missed"]


@pytest.mark.parametrize("overdraw", ["burn", "next"])
def test_a_re_scan_finds_the_card_that_lay_aside(overdraw: str) -> None:
    play = overdrawn(overdraw=overdraw)
    play.release(overdraw)
    burned = len(play.state.the_shoe.burned)
    play.do(Kind.RESCAN, what="hand")
    play.deal("2C 7D 3H KS 7S")
    play.release("rescanned")
    assert dealt(play)[-1] == "7S" and play.out == 11 and play.state.reserved == ()
    assert len(play.state.the_shoe.burned) == (6 if overdraw == "burn" else burned)


@pytest.mark.parametrize("kind", [Kind.ENTER, Kind.INSERT])
def test_a_burned_card_that_is_told_is_that_card(kind: Kind) -> None:
    play = overdrawn()
    play.release("burn")
    held(play).do(Kind.CORRECT, position="B1", card="7D")
    done = play.do(kind, position="P3", card="7S")
    assert "it was burned before and is counted once" in done.answer
    assert play.out == 11 and len(play.state.the_shoe.burned) == 6
    assert play.state.the_shoe.counts[Card.parse("7S").number] == 1


def test_unless_it_is_another_one() -> None:
    play = overdrawn()
    play.release("burn")
    held(play).do(Kind.CORRECT, position="B1", card="7D")
    play.do(Kind.ENTER, position="P3", card="7S", same="no")
    assert play.out == 12 and len(play.state.the_shoe.burned) == 7


@pytest.mark.parametrize("read", ["8S", None])
def test_where_its_face_was_not_read_so_the_pit_boss_is_asked(read: str | None) -> None:
    play = overdrawn("")
    play.scan(read)
    play.release("burn")
    held(play).do(Kind.CORRECT, position="B1", card="7D")
    asked = play.refused(Kind.ENTER, position="P3", card="7S")
    assert "a card of this round was burned" in asked and "--same" in asked and "--another" in asked
    play.do(Kind.ENTER, position="P3", card="7S", same="yes")
    counts = play.state.the_shoe.counts
    assert play.out == 11 and (counts[Card.parse("7S").number], counts[Card.parse("8S").number]) == (1, 0)


def test_an_early_card_that_was_burned_was_the_first_one() -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.betting()
    play.scan("7S")
    play.wait(20)
    play.release("burn")
    play.deal("2C 9D")
    held(play).do(Kind.INSERT, position="P1", card="7S")
    assert dealt(play) == ["7S", "2C", "9D"] and play.out == 9 and len(play.state.the_shoe.burned) == 6


def test_of_two_of_one_face_that_lie_aside_the_reserved_one_is_taken() -> None:
    """The other way about it would begin the next hand by itself, in no hand and in that one."""
    play = Play(house(dealing={"overdraw": "next"}))
    play.betting()
    play.scan("7S")
    play.wait(20)
    play.release("burn")
    play.deal("2C 9D 3H KS 7S")
    play.release("next")
    play.do(Kind.AMEND, round="1/1", B1="7D", P3="7S")
    assert [one.place for one in play.state.aside] == ["burned"] and play.state.reserved == ()
    assert play.out == 12


def test_a_card_burned_in_an_earlier_round_is_no_card_of_this_one() -> None:
    play = overdrawn(confirm="automatic")
    play.release("burn")
    play.no_more_bets()
    held(play).do(Kind.INSERT, position="P1", card="7S")
    assert play.out == 12


def test_a_second_card_that_could_not_be_read_is_asked_about() -> None:
    play = overdrawn()
    play.release("burn")
    held(play).do(Kind.CORRECT, position="B1", card="7D")
    play.release("keep")
    play.scan(None)
    play.scan(None)
    assert "could not be read" in play.refused(Kind.ENTER, position="P3", card="7S")


# --- a round whose result is out ---------------------------------------------------------------------------


def nothing(play: Play) -> None:
    pass


def error_burn(play: Play) -> None:
    play.do(Kind.BURN_ERROR)
    play.deal("AS AC AD")


def dealer_change(play: Play) -> None:
    play.do(Kind.SIGN_OUT)
    play.do(Kind.SIGN_IN, name="Boris", pickup="left")
    play.deal("AS")


def next_round(play: Play) -> None:
    play.round("2D 9S 3C KH")
    play.do(Kind.CONFIRM)


@pytest.mark.parametrize("behind", [nothing, error_burn, dealer_change, next_round])
@pytest.mark.parametrize("cards", ["7S", "7S 8S", "8S 7S"])
def test_an_amendment_takes_the_burned_card_whatever_came_behind_it(behind: Any, cards: str) -> None:
    play = overdrawn(cards)
    play.release("burn")
    play.do(Kind.CONFIRM)
    behind(play)
    out, burned = play.out, play.state.the_shoe.burned
    play.do(Kind.AMEND, round="1/1", **RIGHT)
    left = list(burned)
    left.remove("7S")
    assert play.out == out and play.state.the_shoe.burned == tuple(left)


def test_two_cards_in_excess_are_both_of_the_hand() -> None:
    play = overdrawn("7S 8S", confirm="automatic")
    play.release("burn")
    play.do(Kind.AMEND, round="1/1", B1="6D", P3="7S", B3="8S")
    assert play.out == 12 and len(play.state.the_shoe.burned) == 6


def test_the_eighth_real_card_is_no_ninth_copy() -> None:
    play = Play()
    play.idle("7S 7S 7S 7S 7S 7S")
    play.round("2C 9D 3H KS")
    play.scan("7S")
    play.release("burn")
    error_burn(play)
    play.do(Kind.AMEND, round="1/1", **RIGHT)
    play.no_more_bets()
    play.scan("7S")
    assert not play.state.held


def lent() -> Play:
    """7S, reserved in 1/1, is the first card of 1/2."""
    play = overdrawn(confirm="automatic", overdraw="next")
    play.release("next")
    play.do(Kind.BETS_OPEN)
    play.wait(20)
    assert dealt(play) == ["7S"]
    return play


def test_a_card_that_lies_in_the_next_hand_is_not_taken_out_of_it() -> None:
    play = lent()
    asked = play.refused(Kind.AMEND, round="1/1", **RIGHT)
    assert "lies in round 1/2 now; first: void 1/2" in asked
    play.do(Kind.VOID)
    play.do(Kind.AMEND, round="1/1", **RIGHT)
    assert play.out == 11


def test_nor_when_that_hand_has_its_result() -> None:
    play = lent()
    play.deal("2D 2S KC")
    assert play.stands(Phase.IDLE)
    play.refused(Kind.AMEND, round="1/1", **RIGHT)
    play.do(Kind.VOID, round="1/2")
    play.do(Kind.AMEND, round="1/1", **RIGHT)
    assert play.out == 14


def test_nor_is_it_when_it_was_corrected_there() -> None:
    play = lent()
    held(play).do(Kind.CORRECT, position="P1", card="8S")
    play.refused(Kind.AMEND, round="1/1", B1="7D", P3="8S")
    asked = play.refused(Kind.AMEND, round="1/1", **RIGHT)
    assert "7S: a card of this round was reserved and lies in round 1/2 now" in asked
    play.do(Kind.AMEND, round="1/1", same="no", **RIGHT)
    assert play.out == 12, "the card that is 7S was not told of before"


@pytest.mark.parametrize("said", [{}, {"same": "yes"}])
def test_nor_when_a_card_read_wrong_had_its_face(said: dict[str, str]) -> None:
    """B2 was read as 9H, ended the hand with that, and the true 9H behind it was reserved."""
    play = Play(house(dealing={"overdraw": "next"}))
    play.round("9H KD 7S 9H")
    play.scan("9H")
    play.release("next")
    play.do(Kind.BETS_OPEN)
    play.wait(20)
    out, right = play.out, {"round": "1/1", "B2": "4H", "B3": "9H"}
    assert "lies in round 1/2 now; first: void 1/2" in play.refused(Kind.AMEND, **right, **said)
    play.do(Kind.VOID)
    play.do(Kind.AMEND, **right, same="yes")
    assert play.out == out and play.state.the_shoe.counts[Card.parse("9H").number] == 2


def test_nor_when_one_of_its_face_was_burned_besides_unless_it_is_that_one() -> None:
    play = Play(house(dealing={"overdraw": "next"}))
    play.betting()
    play.scan("7S")
    play.wait(20)
    play.release("burn")
    play.deal("2C 9D 3H KS 7S")
    play.release("next")
    play.do(Kind.BETS_OPEN)
    play.wait(20)
    asked = play.refused(Kind.AMEND, round="1/1", **RIGHT)
    assert "first: void 1/2" in asked and "with --same" in asked
    out = play.out
    play.do(Kind.AMEND, round="1/1", same="yes", **RIGHT)
    assert play.out == out and len(play.state.the_shoe.burned) == 6


def test_a_card_amended_away_is_the_one_that_is_amended_back() -> None:
    play = Play()
    play.round("4S 2H KD 3C 2D")
    out = play.out
    play.do(Kind.AMEND, round="1/1", P1="9S", P3="none")
    play.do(Kind.AMEND, round="1/1", P1="4S", P3="2D")
    assert play.out == out and play.state.the_shoe.counts[Card.parse("2D").number] == 1


def test_a_card_that_never_lay_there_leaves_the_others_what_they_are() -> None:
    """All cards move up by one place: each is still the same card."""
    play = Play()
    play.round("9S 7S 3H KS 2D")
    assert play.stands(Phase.IDLE)
    before = play.state.the_shoe.counts
    play.do(Kind.AMEND, round="1/1", B1="3H", P2="KS", B2="2D", P3="none")
    assert play.state.the_shoe.counts == before


def test_an_early_card_of_the_next_round_is_asked_about() -> None:
    play = overdrawn("", confirm="automatic")
    play.do(Kind.BETS_OPEN)
    play.scan("7S")
    asked = play.refused(Kind.AMEND, round="1/1", **RIGHT)
    assert "is kept with the hold in round 1/2" in asked
    play.do(Kind.AMEND, round="1/1", same="yes", **RIGHT)
    assert play.out == 11 and not play.state.loose
    play.wait(20)
    assert play.state.the_round.dealt == ()


def test_so_is_a_card_of_a_void_round() -> None:
    play = overdrawn("", confirm="automatic")
    play.no_more_bets()
    play.scan("7S")
    play.do(Kind.VOID)
    play.refused(Kind.AMEND, round="1/1", **RIGHT)
    play.do(Kind.AMEND, round="1/1", same="yes", **RIGHT)
    assert play.out == 11


def test_what_is_said_of_it_is_yes_or_no() -> None:
    play = overdrawn(confirm="automatic")
    assert "same: yes or no" in play.refused(Kind.AMEND, round="1/1", same="perhaps", **RIGHT)
    assert "no card lies aside" in play.refused(Kind.AMEND, round="1/1", B1="7D", P3="9H", same="yes")


# --- a shoe that has ended
# -----------------------------------------------------------------------------------


def finished(cards: str, burns: str = "7S 7S 7S 7S 7S 7S", *, excess: str = "") -> Play:
    """1/1 is out, and so is its shoe."""
    play = Play()
    play.idle(burns)
    play.round(cards)
    if excess:
        play.scan(excess)
        play.release("burn")
    play.do(Kind.SHOE_END)
    return play


@pytest.mark.parametrize("later", [False, True])
def test_a_ninth_copy_is_none_in_a_shoe_that_has_ended_either(later: bool) -> None:
    play = finished("7S 9D 7S KS")
    if later:
        play.do(Kind.SHOE_NEW)
    assert "copy 9 of 7S" in play.refused(Kind.AMEND, round="1/1", B1="7S", B2="2D")


def test_nor_one_more_when_it_was_amended_before() -> None:
    play = finished("7S 9D 6S KS")
    play.do(Kind.AMEND, round="1/1", P2="7S")
    assert "copy 9 of 7S" in play.refused(Kind.AMEND, round="1/1", B1="7S", B2="2D")


def test_the_eighth_copy_that_was_burned_is_no_ninth_in_the_hand() -> None:
    play = finished("7S 3H 2C 4H", excess="7S")
    play.do(Kind.AMEND, round="1/1", P2="8C", P3="7S")
    assert play.of(ev.RoundAmended)[-1].uses == ("burned",)
    play.do(Kind.AMEND, round="1/1", B1="3S")


# --- read twice --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["burn", "next"])
def test_the_repeat_is_dropped_where_it_lies(way: str) -> None:
    play = overdrawn("KS", overdraw=way)
    play.release(way)
    play.do(Kind.HOLD, because="card-twice")
    before = dealt(play)
    play.release("drop")
    assert dealt(play) == before and play.out == 10 and play.stands(Phase.COMPLETE)
    assert play.state.reserved == () and len(play.state.the_shoe.burned) == 6


def test_also_when_the_result_is_out() -> None:
    play = overdrawn("KS", confirm="automatic")
    play.release("burn")
    play.do(Kind.HOLD)
    play.release("drop")
    assert play.out == 10 and len(play.state.the_shoe.burned) == 6


def test_a_card_drawn_since_is_none() -> None:
    play = overdrawn("KS", confirm="automatic")
    play.release("burn")
    dealer_change(play)
    play.do(Kind.HOLD)
    assert "drop" not in offered(play.state)


def test_no_event_tells_the_world_where_it_lay() -> None:
    play = overdrawn()
    play.release("burn")
    held(play).do(Kind.CORRECT, position="B1", card="7D")
    play.do(Kind.INSERT, position="P3", card="7S")
    assert not {"uses", "taken"} & set(ev.public_data(play.of(ev.HandCorrected)[-1]))


def test_a_burn_card_too_many_that_an_amendment_finds_in_a_hand_is_let_out_by_keep() -> None:
    play = Play(house())
    play.round("2C 9D 3H KS")
    play.do(Kind.BURN, count="1")
    play.deal("4C 7S")
    assert play.codes == ["burn-over"] and "keep" not in offered(play.state)
    play.do(Kind.AMEND, round="1/1", B1="7D", P3="7S", same="yes")
    assert play.state.loose == () and set(offered(play.state)) == {"keep", "shoe end"}
    play.release("keep")
    assert not play.state.held and play.out == 12


def test_a_card_that_only_moved_up_is_not_the_one_that_lay_aside() -> None:
    """The third card of the Banker was the Player's, and the Banker's was drawn with the next round."""
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round("8H 5S 9S JH 5C")
    play.do(Kind.CONFIRM)
    play.round("2C 9D 3H KS")
    play.deal("3S")
    play.release("burn")
    out = play.out
    cards = {"P2": "7S", "P3": "5C", "B3": "3S"}
    assert "3S: a card of that face was burned in round 1/2" in play.refused(Kind.AMEND, round="1/1", **cards)
    play.do(Kind.AMEND, round="1/1", **cards, same="yes")
    assert play.out == out and play.state.shoe is not None
    counts = {str(card): play.state.shoe.counts[card.number] for card in map(Card.parse, ("3S", "5C", "7S"))}
    burned = Counter(play.state.shoe.burned)
    assert counts == {face: 1 + burned[face] for face in counts} and play.state.aside == ()
