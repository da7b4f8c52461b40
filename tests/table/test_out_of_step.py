"""A shoe out of step: its labels do not count, but what it says may still show that a card was lost."""

from __future__ import annotations

import pytest

from tablectl.cards import Outcome
from tablectl.scanner import DeviceKind, ErrorKind, Label, Traits
from tablectl.table import Started, words
from tablectl.table.holds import offered
from tablectl.table.inputs import Kind
from tests.table.playing import ANGEL_EYE, Play, house

HAND = (Label.P1, Label.B1, Label.P2, Label.B2, Label.P3, Label.B3)


def disturbed(*, standby: bool) -> Play:
    """Betting is closed, behind a round in which a hold lay over the hand."""
    play = Play(house(dealing={"confirm": "dealer"}), ANGEL_EYE).idle()
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H")
    play.do(Kind.HOLD)
    play.release("resume")
    play.deal_labelled("P2=KD B2=3C")
    play.do(Kind.CONFIRM)
    assert play.state.step_lost
    if standby:
        play.device(DeviceKind.STANDBY)
    play.no_more_bets()
    return play


@pytest.mark.parametrize("label", [label for label in HAND if label is not Label.P1])
def test_behind_its_stand_by_what_it_does_not_call_p1_is_no_first_card(label: Label) -> None:
    play = disturbed(standby=True)
    out = play.out
    play.scan("AC", label)
    assert (play.codes, play.out) == (["card-conflict"], out + 1)
    assert not play.state.the_round.dealt, "it is kept, and takes no place"


def test_behind_its_stand_by_p1_ends_it() -> None:
    play = disturbed(standby=True)
    play.scan("AC", Label.P1)
    assert not play.state.held
    assert play.state.the_round.in_step


@pytest.mark.parametrize("laid", range(4))
def test_messages_missing_in_a_hand_out_of_step_hold_it(laid: int) -> None:
    play = disturbed(standby=False)
    for card, label in list(zip(["2C", "9D", "3H"], HAND[1:], strict=False))[:laid]:
        play.scan(card, label)
    assert not play.state.held, "the order alone counts"
    play.device(DeviceKind.GAP, text="sequence number 4 after 2")
    assert play.codes == ["card-missed"]


@pytest.mark.parametrize("laid", range(4))
def test_messages_missing_in_step_are_an_alert_and_the_next_label_tells(laid: int) -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    for card, label in list(zip(["2C", "9D", "3H"], HAND, strict=False))[:laid]:
        play.scan(card, label)
    play.device(DeviceKind.GAP, text="sequence number 4 after 2")
    assert not play.state.held
    assert play.alerts == ["scanner-gap"]
    play.scan("6S", HAND[laid + 1])
    assert play.codes == ["card-conflict"]


@pytest.mark.parametrize("phase", ["idle", "betting"])
def test_messages_missing_between_hands_are_an_alert(phase: str) -> None:
    play = disturbed(standby=False)
    play.do(Kind.VOID)
    if phase == "betting":
        play.betting()
    play.device(DeviceKind.GAP, text="sequence number 4 after 2")
    assert not play.state.held


def test_the_result_button_before_the_hand_is_complete_holds_it_all_the_same() -> None:
    play = disturbed(standby=False)
    play.scan("2C", Label.B1)
    play.verdict(Outcome.PLAYER)
    assert play.codes == ["shoe-disagrees"]


@pytest.mark.parametrize("laid", range(4))
def test_messages_missing_before_a_shoe_falls_out_of_step_hold_with_the_next_card(laid: int) -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    for card, label in list(zip(["2C", "9D", "3H"], HAND, strict=False))[:laid]:
        play.scan(card, label)
    play.device(DeviceKind.GAP, text="sequence number 0 after 8")
    play.device(DeviceKind.ERROR, error=ErrorKind.BUTTON)
    assert not play.state.held
    out = play.out
    play.scan("6S", HAND[laid + 1])
    assert (play.codes, play.out) == (["card-missed"], out + 1)
    play.release("accept" if "accept" in offered(play.state) else "keep")
    assert not play.state.the_round.gap, "people have compared"


def test_the_next_card_in_step_shows_that_no_card_was_lost() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.scan("2C", Label.P1)
    play.device(DeviceKind.GAP, text="sequence number 0 after 8")
    play.scan("9D", Label.B1)
    play.device(DeviceKind.ERROR, error=ErrorKind.BUTTON)
    play.scan("6S", Label.P2)
    assert not play.state.held


def test_messages_missing_while_betting_was_open_are_remembered() -> None:
    play = disturbed(standby=False)
    play.do(Kind.VOID)
    play.betting()
    play.device(DeviceKind.GAP, text="sequence number 4 after 2")
    assert not play.state.held
    play.wait(20)
    play.scan("2C", Label.B1)
    assert play.codes == ["card-missed"]


def test_a_first_card_that_was_lost_under_a_hold_is_not_skipped_by_accepting() -> None:
    play = disturbed(standby=True)
    play.do(Kind.HOLD)
    play.scan("2C", Label.B1)
    assert "accept" not in offered(play.state)
    play.do(Kind.INSERT, position="P1", card="AC")
    assert "accept" in offered(play.state)


def test_an_unread_card_that_the_shoe_calls_a_later_one_takes_no_place() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.scan("2C", Label.P1)
    play.scan(None, Label.P2)
    assert play.codes == ["card-conflict"]


def test_a_start_signal_in_a_hand_is_not_that_of_the_device_put_in_place_before() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.do(Kind.DEVICE_SWAP)
    play.device(DeviceKind.UNLOCKED)
    play.no_more_bets()
    play.scan("2C", Label.NONE)
    play.device(DeviceKind.STARTED)
    assert play.codes == ["shoe-restarted"]


@pytest.mark.parametrize("cards", ["9S 2H KD 3C", "2S 2H KD 3C"])
def test_four_cards_face_down_are_not_told_apart_by_a_gap(cards: str) -> None:
    play = Play(house(dealing={"confirm": "dealer", "deal": "face-down"}), ANGEL_EYE).idle()
    play.no_more_bets()
    for card in cards.split():
        play.scan(card, Label.NONE)
    play.device(DeviceKind.GAP, text="sequence number 4 after 2")
    assert not play.state.held


def test_a_false_alarm_with_a_card_kept_is_one_command() -> None:
    play = disturbed(standby=False)
    play.device(DeviceKind.GAP, text="sequence number 4 after 2")
    play.scan("2C", Label.B1)
    play.release("accept")
    assert not play.state.held
    assert [str(card) for card in play.state.the_round.dealt] == ["2C"]


@pytest.mark.parametrize("laid", range(4))
@pytest.mark.parametrize("between", [(), (DeviceKind.ERROR,), (DeviceKind.SETTING, DeviceKind.UNLOCKED)])
def test_a_doubt_in_a_hand_out_of_step_holds_with_the_next_card(
    laid: int, between: tuple[DeviceKind, ...]
) -> None:
    play = disturbed(standby=False)
    for card, label in list(zip(["2C", "9D", "3H"], HAND[1:], strict=False))[:laid]:
        play.scan(card, label)
    play.device(DeviceKind.DOUBT, text="sequence number 1 after 9")
    for kind in between:
        play.device(kind, error=ErrorKind.BUTTON)
    assert not play.state.held
    play.scan("6S", HAND[laid + 2])
    assert play.codes == ["card-missed"]
    play.release("accept")
    assert not play.state.held and not play.state.the_round.gap


def test_a_doubt_in_step_costs_nothing() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.device(DeviceKind.DOUBT, text="sequence number 1 after 9")
    play.no_more_bets()
    for card, label in zip(["2C", "9D", "3H"], HAND, strict=False):
        play.device(DeviceKind.DOUBT, text="sequence number 1 after 9")
        play.scan(card, label)
    assert not play.state.held and not play.alerts


def restarted(traits: Traits = ANGEL_EYE, *, standby: bool = False) -> Play:
    """A process just started, and betting closed in the first round it opened; the shoe out of step."""
    play = Play(house(dealing={"confirm": "dealer"}), traits).idle()
    play.no_more_bets()
    play.do(Kind.HOLD)
    play.do(Kind.VOID)
    play.give(Started(play.now(), "1"))
    play.restore()
    if standby:
        play.device(DeviceKind.STANDBY)
    play.no_more_bets()
    assert play.state.step_lost and not play.state.held
    return play


def test_the_first_message_of_a_process_holds_out_of_step() -> None:
    play = restarted()
    play.scan("2C", Label.B2)
    assert play.codes == ["card-missed"]
    assert play.state.holds[-1].message == words.UNHEARD, "nobody says that one was missed"
    play.release("accept")
    play.scan("9D", Label.P3)
    assert not play.state.held, "asked once"


def test_what_the_shoe_itself_tells_of_is_told_as_such_also_after_a_restart() -> None:
    play = restarted()
    play.device(DeviceKind.DOUBT, text="sequence number 1 after 9")
    play.scan("2C", Label.B2)
    assert play.state.holds[-1].message.endswith(words.GAP)


def test_what_the_first_message_hides_is_not_forgotten_by_rescanning_an_unread_card() -> None:
    play = restarted()
    play.scan(None, Label.B2)
    play.wait(120)
    assert play.codes == ["card-unreadable"]
    play.release("rescan")
    play.scan("2C", Label.B2)
    assert play.codes == ["card-missed"]


def test_a_shoe_heard_between_rounds_is_known() -> None:
    play = Play(house(dealing={"confirm": "dealer"}), ANGEL_EYE).idle()
    play.no_more_bets()
    play.do(Kind.HOLD)
    play.do(Kind.VOID)
    play.give(Started(play.now(), "1"))
    play.restore()
    play.device(DeviceKind.UNLOCKED)
    play.no_more_bets()
    play.scan("2C", Label.B2)
    assert not play.state.held


def test_behind_a_stand_by_the_first_message_of_a_process_is_compared() -> None:
    play = restarted(standby=True)
    play.scan("2C", Label.P1)
    assert not play.state.held


def test_a_scanner_that_names_no_positions_is_not_asked_about_its_first_message() -> None:
    play = restarted(Traits())
    play.deal("2C 9D 3H")
    assert not play.state.held


def test_an_early_card_that_the_shoe_calls_a_later_one_is_no_p1() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.betting()
    play.scan("2C", Label.B1)
    play.wait(25)
    assert play.codes == ["card-early"]
    assert "as-p1" not in offered(play.state) and "insert" in offered(play.state)
    play.do(Kind.INSERT, position="P1", card="AC")
    play.release("accept")
    assert [str(card) for card in play.state.the_round.dealt] == ["AC", "2C"]


def test_a_card_entered_by_hand_whose_message_comes_late_is_not_counted_again() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.scan("2C", Label.P1)
    play.do(Kind.HOLD, because="card-missed")
    out = play.out
    play.do(Kind.ENTER, position="B1", card="9D")
    play.release("keep")
    play.scan("9D", Label.B1)
    assert play.codes == ["card-twice"]
    play.release("drop")
    assert (play.state.held, play.out) == (False, out + 1)
