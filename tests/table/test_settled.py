"""Rounds whose result is out: void and amended by events of their own, once, and never the hand in play."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tablectl import events as ev
from tablectl.cards import Card, Outcome
from tablectl.table import Command, Expect, Kind, Phase
from tests.table.playing import NATURAL, REASON, Play, house
from tests.table.test_transitions import looking_back


def played(cards: str = NATURAL, **sections: Any) -> Play:
    """One round with its result out."""
    play = Play(house(**sections))
    play.round(cards)
    assert play.stands(Phase.IDLE)
    return play


def amended(play: Play) -> ev.RoundAmended:
    event: ev.RoundAmended = play.of(ev.RoundAmended)[-1]
    return event


def test_an_amendment_tells_before_and_after_in_full() -> None:
    play = played()
    first = play.result()
    play.do(Kind.AMEND, round="1/1", P1="4S", P3="2D")
    event = amended(play)
    assert (event.shoe, event.round, event.revision) == (1, 1, 2)
    assert event.before == ev.public_data(first)
    assert event.after["player"]["cards"] == ["4S", "KD", "2D"] and event.after["outcome"] == "player"
    assert event.after["revision"] == 2 and event.after["bets"]["player"] == {"result": "win", "odds": "1"}
    assert (event.reason, event.approved_by) == (REASON, "Pia")


def test_the_shoe_counts_the_card_that_was_missed_and_exchanges_the_one_misread() -> None:
    play = played()
    out = play.out
    play.do(Kind.AMEND, round="1/1", P1="4S", P3="2D")
    counts = play.state.the_shoe.counts
    assert play.out == out + 1
    assert [counts[Card.parse(face).number] for face in ("9S", "4S", "2D")] == [0, 1, 1]


def test_a_card_amended_away_was_drawn_all_the_same() -> None:
    play = played("4S 2H KD 3C 2D")
    out = play.out
    play.do(Kind.AMEND, round="1/1", P1="9S", P3="none")
    assert play.out == out and play.state.the_shoe.counts[Card.parse("2D").number] == 1


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"P1": "2S"}, "under the drawing rule these cards are no finished hand"),
        ({"P3": "2S"}, "under the drawing rule these cards are no finished hand"),
        ({"P2": "none"}, "under the drawing rule these cards are no finished hand"),
        ({"P1": "9S"}, "the cards it has already"),
        ({}, "the cards it has already"),
        ({"Q1": "9S"}, "a position is one of"),
        ({"P1": "9X"}, "is not a card"),
    ],
)
def test_what_no_rule_deals_is_not_an_amendment(changes: dict[str, str], says: str) -> None:
    assert says in played().refused(Kind.AMEND, round="1/1", **changes)


def test_a_ninth_copy_is_no_amendment() -> None:
    play = Play()
    play.idle("8S 8S 8S 8S 8S 8S")
    play.round("8S 2D AS 8H")
    play.no_more_bets()
    play.deal("8S")
    assert "copy 9 of 8S" in play.refused(Kind.AMEND, round="1/1", B2="8S")


def test_amend_and_void_never_touch_the_hand_in_play() -> None:
    play = looking_back(Phase.DEALING)
    before = play.state.the_round
    play.do(Kind.AMEND, round="1/1", P1="9H")
    play.do(Kind.VOID, round="1/1")
    assert play.state.the_round == before and play.stands(Phase.DEALING)
    assert not play.of(ev.RoundVoided)[-1].uses_kept


def test_the_round_in_play_is_corrected_not_amended() -> None:
    play = looking_back(Phase.DEALING)
    assert "correct, insert, move" in play.refused(Kind.AMEND, round="1/2", P1="9H")


@pytest.mark.parametrize("target", ["1/2", "2/1", "", "x", "1/-", "1/1/1"])
def test_a_round_that_never_was_is_named(target: str) -> None:
    play = played()
    for kind in (Kind.AMEND, Kind.VOID):
        assert "no result" in play.refused(kind, round=target) or "no round" in play.last.answer


def test_void_is_the_end_of_a_round() -> None:
    play = played()
    play.do(Kind.VOID, round="1/1")
    event = play.of(ev.RoundVoided)[-1]
    assert (event.shoe, event.round, event.earlier) == (1, 1, True)
    assert event.cards == {"P1": "9S", "B1": "2H", "P2": "KD", "B2": "3C"}
    assert "void already" in play.refused(Kind.VOID, round="1/1")
    assert "void already" in play.refused(Kind.AMEND, round="1/1", P1="9H")


def test_of_two_who_look_back_at_once_one_is_told_that_he_comes_too_late() -> None:
    play = played()
    past = play.past("1/1")
    play.do(Kind.AMEND, round="1/1", P1="9H")
    late = Command(
        Kind.AMEND,
        play.now(),
        args={"round": "1/1", "P1": "9D"},
        person="Ben",
        supervisor=True,
        reason=REASON,
        expect=Expect(version=play.state.version),
        past=past,
    )
    refused = play.give(late)
    assert refused.refused and "amended just now" in refused.answer
    play.do(Kind.VOID, round="1/1")
    assert (
        "void already"
        in play.give(dataclasses.replace(late, expect=Expect(version=play.state.version))).answer
    )


def test_who_comes_too_late_is_told_what_is_already_so() -> None:
    play = played()
    late = Command(
        Kind.VOID,
        play.now(),
        person="Pia",
        supervisor=True,
        reason=REASON,
        expect=Expect(round="1/1"),
    )
    answer = play.give(late).answer
    assert "it was meant for round 1/1" in answer and "round 1/1 is player, confirmed by automatic" in answer


def test_an_earlier_shoes_round_is_settled_by_that_shoes_rules() -> None:
    play = played("2C 9D 3H KS")
    play.do(Kind.SHOE_END)
    play.around = dataclasses.replace(play.around, rules=house("commission-free"))
    play.idle() if play.stands(Phase.NO_SHOE) else play.do(Kind.SHOE_NEW)
    play.deal("2S 3H 4D 5C 6S 7H")
    out = play.out
    play.do(Kind.AMEND, round="1/1", B1="8D")
    assert amended(play).after["bets"]["banker"] == {"result": "win", "odds": "0.95"}
    assert play.out == out, "the cards of an ended shoe are no longer counted"


def test_amended_twice_and_a_free_hand_settles_nothing() -> None:
    play = Play()
    play.idle()
    play.do(Kind.HAND_FREE)
    play.deal(NATURAL)
    play.do(Kind.AMEND, round="1/1", P1="9H")
    play.do(Kind.AMEND, round="1/1", P1="9D")
    assert [e.revision for e in play.of(ev.RoundAmended)] == [2, 3]
    assert amended(play).after["bets"] == {} and amended(play).after["free"] is True


# --- a card in excess, by house rule --------------------------------------------------------------------


def test_a_card_in_excess_is_the_next_rounds_first() -> None:
    play = played(dealing={"overdraw": "next"})
    play.scan("8S")
    play.release("next")
    out = play.out
    assert not play.state.held and play.state.reserved == (Card.parse("8S"),)
    play.do(Kind.BETS_OPEN)
    assert not play.state.the_round.cards, "not while betting is open"
    play.wait(20)
    dealt = play.of(ev.CardDealt)[-1]
    assert (dealt.position, dealt.card, dealt.reserved) == ("P1", "8S", True) and play.out == out
    play.deal("3D AS 4C")
    assert play.result().player.cards == ("8S", "AS") and play.out == out + 3


def test_a_card_that_arrives_with_the_close_comes_behind_the_reserved_one() -> None:
    play = played(dealing={"overdraw": "next"})
    play.scan("8S")
    play.release("next")
    play.do(Kind.BETS_OPEN)
    play.pass_time(21)
    play.scan("3D")
    assert [str(card) for card in play.state.the_round.dealt] == ["8S", "3D"]


def test_a_reserved_card_waits_when_the_next_round_is_void_before_it_and_ends_with_the_shoe() -> None:
    play = played(dealing={"overdraw": "next"})
    play.scan("8S")
    play.release("next")
    play.do(Kind.BETS_OPEN)
    play.do(Kind.VOID)
    assert play.state.reserved
    play.do(Kind.SHOE_END)
    assert not play.state.reserved
    play.do(Kind.SHOE_NEW)


def test_by_house_rule_a_card_in_excess_voids_the_round() -> None:
    play = played(dealing={"overdraw": "void"})
    play.scan("8S")
    play.do(Kind.VOID, round="1/1")
    assert not play.state.held and not play.state.loose and play.out == 11
    assert play.of(ev.TableReleased)[-1].action == "void"
    assert play.result().outcome is Outcome.PLAYER, (
        "the result stays in the journal, the void is its own event"
    )


def test_who_comes_too_late_is_told_only_what_happened_since() -> None:
    """Not the amendment of an hour ago, nor the hold that stood on the screen."""
    play = played()
    play.do(Kind.AMEND, round="1/1", P1="4S", P3="2D")
    seen = Expect(version=play.state.version)
    play.do(Kind.HOLD)

    def late(seen: Expect) -> str:
        given = Command(Kind.BETS_OPEN, play.now(), expect=seen)
        return play.give(given).answer

    assert late(seen).endswith(f"now {play.state.version}; on hold: called); look again")
    seen = Expect(version=play.state.version)
    play.scan("3C")
    assert late(seen).endswith(f"(state {seen.version}, now {play.state.version}); look again")
    seen = Expect(version=play.state.version)
    play.do(Kind.AMEND, round="1/1", P1="5S")
    assert "; round 1/1 is amended to" in late(seen) and "hold" not in late(seen)
    assert "; round 1/1 is amended to" in late(Expect(round="1/1"))
    assert "1/1" not in late(Expect(round="1/7"))
