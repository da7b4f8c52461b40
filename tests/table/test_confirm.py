"""Who announces the result, the shoe's verdict against the cards, and when its labels are believed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from tablectl import events as ev
from tablectl.cards import Outcome
from tablectl.profiles import load_rules
from tablectl.scanner import DeviceKind, ErrorKind, Label
from tablectl.table import Command, Expect, Kind, Phase, Started, offered
from tests.table.playing import ANGEL_EYE, NATURAL, Play, house

LABELLED = "P1=9S B1=2H P2=KD B2=3C"
FIVE = "P1=6S B1=TH P2=KD B2=JC B3=7D"


def shoe_table() -> Play:
    rules = house()
    dealing = dataclasses.replace(rules.dealing, confirm="shoe")
    return Play(dataclasses.replace(rules, dealing=dealing), ANGEL_EYE)


def test_default_is_the_shoe_where_it_has_a_button() -> None:
    rules = load_rules("live-casino")
    assert rules.resolved(result_button=True).dealing.confirm == "shoe"
    assert rules.resolved(result_button=False).dealing.confirm == "automatic"


# --- automatic and dealer ------------------------------------------------------------------------------


def test_automatic_publishes_with_the_last_card() -> None:
    play = Play()
    play.round(NATURAL)
    assert play.result().confirmed_by == "automatic"
    assert play.said[-1] == "Player wins: Player 9, Banker 5"


@pytest.mark.parametrize("said", ["player", None])
def test_dealer_announces(said: str | None) -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    assert play.stands(Phase.COMPLETE) and not play.of(ev.RoundResulted)
    play.do(Kind.CONFIRM, **({"outcome": said} if said else {}))
    assert play.result().confirmed_by == "dealer" and play.stands(Phase.IDLE)


@pytest.mark.parametrize("said", ["banker", "tie"])
def test_a_different_announcement_holds_before_anything_is_published(said: str) -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    play.do(Kind.CONFIRM, outcome=said)
    assert play.codes == ["announce-differs"] and not play.of(ev.RoundResulted)
    assert f"Announced {said}, the cards say player" in play.state.holds[0].message
    play.release("keep")
    assert play.stands(Phase.COMPLETE) and not play.of(ev.RoundResulted)
    play.do(Kind.CONFIRM, outcome="player")
    assert play.result().outcome is Outcome.PLAYER


def test_an_outcome_is_one_of_three() -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    assert "player, banker or tie" in play.refused(Kind.CONFIRM, outcome="Player")


def test_confirm_twice_is_once() -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    play.do(Kind.CONFIRM)
    assert "phase idle" in play.refused(Kind.CONFIRM)
    assert len(play.of(ev.RoundResulted)) == 1


def test_confirm_and_void_of_the_same_sight_one_wins() -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    saw = Expect(round="1/1", version=play.state.version)
    commands = [
        Command(kind, play.now(), person="Pia", supervisor=True, reason="training: x", expect=saw)
        for kind in (Kind.CONFIRM, Kind.VOID)
    ]
    answers = [play.give(command) for command in commands]
    assert [a.refused for a in answers] == [False, True]
    assert "meant for round 1/1, now it is 1/-" in answers[1].answer
    assert len(play.of(ev.RoundResulted)) + len(play.of(ev.RoundVoided)) == 1


def test_a_command_for_one_round_is_refused_in_the_next() -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    play.round(NATURAL)
    play.do(Kind.CONFIRM)
    play.round("2C 9D 3H KS")
    late = play.give(Command(Kind.CONFIRM, play.now(), expect=Expect(round="1/1")))
    assert late.refused and "now it is 1/2" in late.answer
    unseen = play.give(Command(Kind.CONFIRM, play.now()))
    assert unseen.refused and "--round" in unseen.answer


# --- the shoe ------------------------------------------------------------------------------------------


def test_the_shoes_agreeing_verdict_confirms() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled(LABELLED)
    assert play.stands(Phase.COMPLETE) and not play.of(ev.RoundResulted)
    play.verdict(Outcome.PLAYER)
    assert play.result().confirmed_by == "shoe"


def test_without_a_verdict_the_dealer_is_reminded_once_and_may_confirm() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled(LABELLED)
    play.wait(14.9)
    assert not play.of(ev.Reminded)
    play.wait(0.1)
    assert len(play.of(ev.Reminded)) == 1 and "confirm" in play.said[0]
    assert play.wait(60).events == ()
    play.do(Kind.CONFIRM)
    assert play.result().confirmed_by == "dealer"


@pytest.mark.parametrize(
    ("outcome", "pair"), [(Outcome.BANKER, False), (Outcome.TIE, False), (Outcome.PLAYER, True)]
)
def test_a_disagreeing_verdict_holds_before_the_result(outcome: Outcome, pair: bool) -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled(LABELLED)
    play.verdict(outcome, player_pair=pair)
    assert play.codes == ["shoe-disagrees"] and not play.of(ev.RoundResulted)
    play.release("keep")
    assert play.stands(Phase.COMPLETE), "out of step: the dealer confirms"
    play.verdict(Outcome.PLAYER)
    assert not play.of(ev.RoundResulted)
    play.do(Kind.CONFIRM)
    assert play.result().outcome is Outcome.PLAYER


def test_after_the_result_an_agreeing_repeat_is_ignored_and_a_disagreeing_one_is_an_alert() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled(LABELLED)
    play.verdict(Outcome.PLAYER)
    play.verdict(Outcome.PLAYER)
    assert play.alerts == [] and len(play.of(ev.RoundResulted)) == 1
    play.verdict(Outcome.PLAYER, banker_pair=True)
    assert play.alerts == ["shoe-disagrees"]
    play.do(Kind.ACK, alert="shoe-disagrees")
    play.do(Kind.BETS_OPEN)
    play.verdict(Outcome.BANKER)
    assert play.alerts == ["shoe-disagrees"]
    assert play.stands(Phase.BETTING) and not play.state.held


def test_a_verdict_before_the_hand_is_complete_holds() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H")
    play.verdict(Outcome.PLAYER)
    assert play.codes == ["shoe-disagrees"]
    play.release("keep")
    play.deal_labelled("P2=KD B2=3C")
    play.do(Kind.CONFIRM)
    assert play.result().outcome is Outcome.PLAYER


def test_a_forced_end_holds_and_never_voids_by_itself() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H")
    play.device(DeviceKind.FORCED_END)
    assert play.codes == ["shoe-disagrees"] and not play.of(ev.RoundVoided)
    play.release("keep")
    play.deal_labelled("P2=KD B2=3C")
    play.verdict(Outcome.PLAYER)
    assert not play.of(ev.RoundResulted), "out of step from then on"


def test_a_verdict_never_makes_a_result_of_cards_that_break_the_rule() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=2S B1=KD P2=3S B2=6H")
    play.verdict(Outcome.BANKER)
    assert play.codes == ["shoe-disagrees"] and not play.of(ev.RoundResulted)


# --- in step and out of step (the shoe that names positions) ---------------------------------------------


@pytest.mark.parametrize("wrong", ["B1=2H", "P2=2H", "P3=2H"])
def test_a_card_that_the_shoe_calls_other_than_p1_is_held_not_skipped(wrong: str) -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled(wrong)
    assert play.codes == ["card-conflict"] and play.out == 7 and not play.of(ev.CardDealt)
    play.release("accept")
    assert play.of(ev.CardDealt)[-1].position == "P1" and play.out == 7


def test_the_shoe_naming_another_hand_than_the_rule_is_a_conflict() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=6S B1=TH P2=KD B2=JC P3=7D")
    assert play.codes == ["card-conflict"]
    play.release("accept")
    play.do(Kind.CONFIRM)
    assert play.result().banker.cards == ("TH", "JC", "7D"), "the order under the rule stands"


def test_the_same_position_with_the_same_card_is_a_repeat_with_another_a_conflict() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S P1=9S B1=2H B1=2H")
    assert not play.state.held and play.out == 8
    play.deal_labelled("B1=3H")
    assert play.codes == ["card-conflict"] and play.out == 9

    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled(LABELLED + " B2=3C")
    assert not play.state.held and play.out == 10, "told again when complete: no over-draw"
    play.deal_labelled("P3=4C")
    assert play.codes == ["overdraw"]


def test_a_card_in_excess_by_the_shoes_own_word_is_held() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S overdraw=2H")
    assert play.codes == ["overdraw"] and play.out == 8
    play.release("accept")
    assert not play.state.held and play.of(ev.CardDealt)[-1].position == "B1"


def test_a_card_drawn_outside_the_game_is_counted_and_held() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("outside=2H")
    assert play.codes == ["card-conflict"] and play.out == 7


def test_burn_labels_while_a_burn_is_due() -> None:
    play = shoe_table()
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.deal_labelled("burn=2S burn-count=3H outside=4D burn=5C")
    assert not play.state.held and play.state.burns_due == 2
    play.deal_labelled("P1=6S")
    assert play.codes == ["card-conflict"] and play.out == 5 and len(play.of(ev.CardBurned)) == 5
    play.release("keep")
    play.deal_labelled("burn=7S")
    assert play.stands(Phase.IDLE)


def test_burns_may_come_as_game_frames_where_the_site_says_so() -> None:
    play = shoe_table()
    play.around = dataclasses.replace(play.around, traits=dataclasses.replace(ANGEL_EYE, burn_frames="game"))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.deal_labelled("P1=2S B1=3H P2=4D B2=5C P3=6S B3=7S")
    assert play.stands(Phase.IDLE) and not play.state.held


DISTURB: dict[str, Callable[[Play], object]] = {
    "start signal": lambda play: (
        play.device(DeviceKind.STARTED),
        play.restore(),
        play.release("cards-confirmed"),
    ),
    "error": lambda play: (play.device(DeviceKind.ERROR, number=4), play.release("cards-confirmed")),
    "cannot read": lambda play: (
        play.device(DeviceKind.ERROR, error=ErrorKind.UNREAD),
        play.release("cards-confirmed"),
    ),
    "wrong button": lambda play: play.device(DeviceKind.ERROR, error=ErrorKind.BUTTON),
    "hold": lambda play: (play.do(Kind.HOLD), play.release("resume")),
    "stand-by in mid-hand": lambda play: play.device(DeviceKind.STANDBY),
    "scanner lost": lambda play: (play.lose(), play.restore(), play.release("cards-confirmed")),
}


@pytest.mark.parametrize("name", list(DISTURB))
def test_disturbed_the_hand_goes_by_order_alone_until_standby_and_p1(name: str) -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H")
    DISTURB[name](play)
    assert play.stands(Phase.DEALING)
    play.deal_labelled("B1=KD P3=3C")
    assert not play.state.held, "labels are not compared"
    assert play.stands(Phase.COMPLETE) and "out of step" in play.said[-1]
    play.verdict(Outcome.BANKER)
    assert not play.state.held and not play.of(ev.RoundResulted), "nor is the verdict"
    play.do(Kind.CONFIRM)

    play.no_more_bets()
    play.deal_labelled(LABELLED)
    play.verdict(Outcome.PLAYER)
    assert play.stands(Phase.COMPLETE), "the next hand is still out of step without a stand-by"
    play.do(Kind.CONFIRM)

    play.device(DeviceKind.STANDBY)
    play.no_more_bets()
    play.deal_labelled(LABELLED)
    play.verdict(Outcome.PLAYER)
    assert play.result().confirmed_by == "shoe", "stand-by and P1 end it"


def test_a_gap_is_an_alert_and_holds_only_if_the_next_position_does_not_follow() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H")
    play.device(DeviceKind.GAP, text="3 to 6")
    assert play.alerts == ["scanner-gap"] and not play.state.held
    play.deal_labelled("B2=3C")
    assert play.codes == ["card-conflict"]


def test_the_first_hand_after_a_restart_between_rounds_is_in_step() -> None:
    play = shoe_table()
    play.idle()
    play.give(Started(play.now(), "1"))
    play.restore()
    play.no_more_bets()
    play.deal_labelled(LABELLED)
    play.verdict(Outcome.PLAYER)
    assert play.result().confirmed_by == "shoe"


def test_the_shoes_burn_count_against_the_house_rules() -> None:
    fixed = shoe_table()
    fixed.opened()
    fixed.do(Kind.SHOE_NEW)
    fixed.scan("4C", Label.BURN_COUNT)
    fixed.device(DeviceKind.BURN_COUNT, number=4)
    assert fixed.alerts == [], "six cards are burned whatever the shoe makes of the first one"
    by_value = Play(house(burn={"by": "first-card"}), ANGEL_EYE)
    by_value.opened()
    by_value.do(Kind.SHOE_NEW)
    by_value.scan("4C", Label.BURN_COUNT)
    by_value.device(DeviceKind.BURN_COUNT, number=4)
    assert by_value.alerts == []
    by_value.device(DeviceKind.BURN_COUNT, number=5)
    assert by_value.alerts == ["burn-count"]


@pytest.mark.parametrize("what", ["card", "unread card"])
def test_a_card_the_shoe_calls_another_never_takes_the_place_of_the_unread_one(what: str) -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S")
    play.scan(None, Label.B1)
    play.device(DeviceKind.ERROR, error=ErrorKind.UNREAD)
    assert not play.state.held, "the unread card is known"
    out = play.out
    play.scan("KD" if what == "card" else None, Label.P2)
    assert play.codes == ["card-unreadable"] and play.out == out + 1
    assert "accept" not in offered(play.state), "it is not the unread card"
    play.do(Kind.ENTER, position="B1", card="2H")
    if what != "card":
        play.do(Kind.CORRECT, position="K1", card="KD")
    play.release("accept")
    assert not play.state.held
    assert [str(card) for card in play.state.the_round.dealt] == ["9S", "2H", "KD"]


def test_the_unread_card_told_again_under_its_own_name_is_one_card() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.scan(None, Label.P1)
    play.scan("9S", Label.P1)
    assert not play.state.held
    assert [str(card) for card in play.state.the_round.dealt] == ["9S"]


def test_a_shoe_that_cannot_read_a_card_it_has_not_told_of_holds_the_table() -> None:
    play = shoe_table()
    play.no_more_bets()
    play.deal_labelled("P1=9S")
    play.device(DeviceKind.ERROR, error=ErrorKind.UNREAD, text="error 1: cannot read card")
    assert play.codes == ["shoe-error"], "the next card would take its place"
    play.do(Kind.ENTER, position="B1", card="2H")
    play.release("cards-confirmed")
    assert not play.state.held
