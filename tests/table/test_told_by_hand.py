"""A card that people told because no message had come: its message may come late, and is no other card."""

from __future__ import annotations

import pytest

from tablectl import events as ev
from tablectl.scanner import Arrived, DeviceKind, Label, Reject, Traits
from tablectl.table import Started
from tablectl.table.holds import offered
from tablectl.table.inputs import Kind
from tests.table.playing import ANGEL_EYE, Play, house

HAND = (Label.P1, Label.B1, Label.P2, Label.B2, Label.P3, Label.B3)
CARDS = ("2S", "KS", "4C", "2D", "6C", "7C")
"""Player 6, Banker 2: the Banker draws whatever is told by hand in a place of these."""


def told(how: str, traits: Traits = Traits(), *, laid: int = 2, card: str = "4H") -> Play:
    """``laid`` cards are read, and the next one is told by hand."""
    play = Play(house(dealing={"confirm": "dealer"}), traits).idle()
    play.no_more_bets()
    for face, label in list(zip(CARDS, HAND, strict=True))[:laid]:
        play.scan(face, label if traits.names_positions else Label.NONE)
    play.do(Kind.HOLD, because="card-missed")
    due = play.state.the_round.due
    assert due is not None
    play.do(Kind(how), position=due.value, card=card)
    play.release("keep")
    return play


@pytest.mark.parametrize("laid", range(4))
@pytest.mark.parametrize("how", ["enter", "insert"])
def test_its_face_is_asked_about_and_dropping_it_goes_on(how: str, laid: int) -> None:
    play = told(how, laid=laid)
    out, dealt = play.out, list(play.state.the_round.dealt)
    play.scan("4H")
    assert play.codes == ["card-twice"]
    assert {"drop", "accept"} <= set(offered(play.state))
    play.release("drop")
    assert (play.state.held, play.out, list(play.state.the_round.dealt)) == (False, out, dealt)
    play.scan("4H")
    assert not play.state.held, "its message has come: this is another card"


def test_it_may_be_another_card_of_that_face() -> None:
    play = told("enter")
    play.scan("4H")
    play.release("accept")
    assert [str(card) for card in play.state.the_round.dealt] == ["2S", "KS", "4H", "4H"]


def test_another_face_is_the_next_card() -> None:
    play = told("enter")
    play.scan("5H")
    assert not play.state.held


def test_a_shoe_that_names_its_place_shows_that_another_face_was_typed() -> None:
    play = told("enter", ANGEL_EYE, card="4D")
    play.scan("4H", Label.P2)
    assert play.codes == ["card-twice"]
    play.release("drop")
    play.do(Kind.HOLD)
    play.do(Kind.CORRECT, position="P2", card="4H")
    play.release("resume")
    play.scan("2D", Label.B2)
    assert [str(card) for card in play.state.the_round.dealt] == ["2S", "KS", "4H", "2D"]


def test_the_late_message_of_a_card_that_could_not_be_read_is_asked_about() -> None:
    play = told("enter", ANGEL_EYE)
    play.scan(None, Label.P2)
    assert play.codes == ["card-twice"]


def test_under_a_hold_the_pit_boss_is_told_and_may_drop_it() -> None:
    play = Play(house(), Traits()).idle()
    play.no_more_bets()
    play.deal("2S 3S")
    play.do(Kind.HOLD, because="card-missed")
    play.do(Kind.ENTER, position="P2", card="4H")
    play.scan("4H")
    assert play.codes == ["card-missed", "card-twice"]
    assert "drop" in offered(play.state)
    play.release("drop")
    assert play.codes == ["card-missed"]
    play.release("keep")
    assert play.out == 3 + 6, "six burned, three in hand"


@pytest.mark.parametrize("how", ["enter", "insert"])
def test_a_card_kept_before_it_is_told_is_that_card(how: str) -> None:
    play = Play(house(), Traits()).idle()
    play.no_more_bets()
    play.deal("2S KS")
    play.do(Kind.HOLD, because="card-missed")
    play.scan("4H")
    if how == "enter":
        assert "enter" not in offered(play.state), "what is kept comes first"
        return
    out = play.out
    play.do(Kind.INSERT, position="P2", card="4H")
    assert play.codes == ["card-missed"] and play.out == out and not play.state.loose
    assert [str(card) for card in play.state.the_round.dealt] == ["2S", "KS", "4H"]


def test_a_card_read_again_behind_an_unread_one_and_then_entered_is_asked_about() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.scan("2S", Label.P1)
    play.scan(None, Label.B1)
    play.scan("3S", Label.P2)
    assert play.codes == ["card-unreadable"]
    play.do(Kind.ENTER, position="B1", card="3S")
    assert "card-twice" in play.codes and "drop" in offered(play.state)


def test_cards_between_do_not_hide_it() -> None:
    play = told("enter")
    play.scan("2D")
    play.scan("4H")
    assert play.codes == ["card-twice"]
    play.release("drop")
    assert not play.state.held


def test_it_is_still_asked_about_in_the_next_round_and_no_longer() -> None:
    play = told("enter", laid=3, card="3H")
    assert play.state.the_round.due is not None
    play.do(Kind.HOLD)
    play.do(Kind.VOID)
    play.no_more_bets()
    play.scan("3H")
    assert play.codes == ["card-twice"]
    play.release("accept")
    play.do(Kind.HOLD)
    play.do(Kind.VOID)
    play.no_more_bets()
    play.scan("3H")
    assert not play.state.held


def test_a_re_scan_of_the_hand_that_finds_a_card_tells_it_too() -> None:
    play = Play(house(), Traits()).idle()
    play.no_more_bets()
    play.deal("2S 3S")
    play.do(Kind.RESCAN, what="hand")
    play.deal("2S 4H 3S")
    play.release("rescanned")
    play.scan("4H")
    assert play.codes == ["card-twice"]


@pytest.mark.parametrize("how", ["correct", "rescan"])
def test_a_typing_error_that_was_set_right_is_remembered_by_its_right_face(how: str) -> None:
    play = told("enter", card="4D")
    play.do(Kind.HOLD)
    if how == "correct":
        play.do(Kind.CORRECT, position="P2", card="4H")
    else:
        play.do(Kind.RESCAN, what="P2")
        play.scan("4H")
        play.release("rescanned")
    play.release("resume")
    play.scan("4H")
    assert play.codes == ["card-twice"]


def test_a_card_that_was_read_wrong_and_corrected_is_not_asked_about() -> None:
    play = Play(house(), Traits()).idle()
    play.no_more_bets()
    play.deal("2S KS")
    play.do(Kind.HOLD)
    play.do(Kind.CORRECT, position="B1", card="QS")
    play.release("resume")
    play.scan("QS")
    assert not play.state.held


def test_the_third_card_of_an_amended_round_may_still_be_told() -> None:
    play = Play(house(dealing={"confirm": "automatic"})).idle()
    play.no_more_bets()
    play.deal("KS 7H 7D KC")
    play.do(Kind.AMEND, round=play.state.settled[0], P2="2D", P3="5H")
    play.no_more_bets()
    play.scan("5H")
    assert play.codes == ["card-twice"]


def test_a_kept_card_that_was_named_is_asked_about_when_it_passes_again() -> None:
    play = Play(house(), Traits()).idle()
    play.no_more_bets()
    play.deal("2S KS")
    play.do(Kind.HOLD)
    play.scan(None)
    play.do(Kind.CORRECT, position="K1", card="4H")
    play.release("accept")
    play.scan("4H")
    assert play.codes == ["card-twice"]


def test_a_late_message_is_no_burn_card() -> None:
    play = told("enter", laid=2)
    play.scan("2D")
    play.scan("6C")
    assert play.state.the_round.due is None
    play.do(Kind.CONFIRM)
    play.do(Kind.BURN, count="1")
    burned = len(play.state.the_shoe.burned)
    play.scan("4H")
    assert (play.codes, len(play.state.the_shoe.burned)) == (["card-twice"], burned)
    play.release("drop")
    assert not play.state.held and play.state.burns_due == 1


# --- what else looked like a known card, or a known shoe ------------------------------------------------


def test_noise_tells_nothing_of_what_came_before() -> None:
    play = Play(house(dealing={"confirm": "dealer"}), ANGEL_EYE).idle()
    play.no_more_bets()
    play.do(Kind.HOLD)
    play.do(Kind.VOID)
    play.give(Started(play.now(), "1"))
    play.restore()
    play.give(Arrived(Reject(b"\\xff\\x00", "no frame"), play.now()))
    play.device(DeviceKind.NOTICE, text="3 unreadable lines")
    play.no_more_bets()
    play.scan("2C", Label.B1)
    assert play.codes == ["card-missed"]


@pytest.mark.parametrize("laid", range(4))
def test_a_swap_in_a_hand_holds_it(laid: int) -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    for face, label in list(zip(CARDS, HAND, strict=True))[:laid]:
        play.scan(face, label)
    play.do(Kind.DEVICE_SWAP)
    assert play.codes == ["device-lost"]
    play.release("cards-confirmed")
    play.device(DeviceKind.STARTED)
    assert not play.state.held, "it was expected"
    play.scan(CARDS[laid], Label.P1)
    assert play.codes == ["card-missed"], "nobody knows what the old one did not tell"


def test_another_device_than_before_is_not_known_either() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.do(Kind.HOLD)
    play.do(Kind.VOID)
    play.lose()
    play.restore("shoe-2")
    play.no_more_bets()
    play.scan("2C", Label.B1)
    assert play.codes == ["card-missed"]


def test_behind_a_stand_by_the_same_place_and_face_is_a_card_of_another_hand() -> None:
    play = Play(house(dealing={"confirm": "dealer"}), ANGEL_EYE).idle()
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H P2=KD B2=3C")
    out = play.out
    play.device(DeviceKind.STANDBY)
    play.scan("9S", Label.P1)
    assert (play.codes, play.out) == (["overdraw"], out + 1)


def test_a_card_burned_behind_a_stand_by_was_the_shoes_first_card() -> None:
    play = Play(house(dealing={"confirm": "dealer"}), ANGEL_EYE).idle()
    play.device(DeviceKind.STANDBY)
    play.scan("9S", Label.P1)
    play.release("burn")
    play.no_more_bets()
    play.scan("2H", Label.B1)
    assert not play.state.held
    assert play.state.step_lost


# --- an amended round ------------------------------------------------------------------------------------


def overdrawn(policy: str = "burn") -> Play:
    """P2 was read as 7D and is 2D: the Player's third card, 5H, lies there as drawn in excess."""
    play = Play(house(dealing={"confirm": "automatic", "overdraw": policy})).idle()
    play.no_more_bets()
    play.deal("KS 7H 7D KC")
    assert play.of(ev.RoundResulted)
    play.scan("5H")
    assert play.codes == ["overdraw"]
    return play


def test_the_card_that_was_kept_is_the_third_card_and_counts_once() -> None:
    play = overdrawn()
    out = play.out
    play.do(Kind.AMEND, round=play.state.settled[0], P2="2D", P3="5H")
    assert (play.out, play.state.loose, play.codes) == (out, (), [])


def test_a_card_reserved_for_the_next_round_goes_back() -> None:
    play = overdrawn("next")
    play.release("next")
    out = play.out
    play.do(Kind.AMEND, round=play.state.settled[0], P2="2D", P3="5H")
    assert (play.out, play.state.reserved) == (out, ())


def test_a_card_that_was_burned_meanwhile_is_burned_no_more() -> None:
    play = overdrawn()
    play.release("burn")
    out, burned = play.out, len(play.state.the_shoe.burned)
    play.do(Kind.AMEND, round=play.state.settled[0], P2="2D", P3="5H")
    assert (play.out, len(play.state.the_shoe.burned)) == (out, burned - 1)


def test_another_card_than_the_kept_one_was_not_counted() -> None:
    play = overdrawn()
    out = play.out
    play.do(Kind.AMEND, round=play.state.settled[0], P2="2D", P3="5S")
    assert (play.out, len(play.state.loose), play.codes) == (out + 1, 1, ["overdraw"])


def test_a_reserved_card_goes_back_also_when_betting_is_open_again() -> None:
    play = overdrawn("next")
    play.release("next")
    play.betting()
    out = play.out
    play.do(Kind.AMEND, round="1/1", P2="2D", P3="5H")
    assert (play.out, play.state.reserved) == (out, ())


# --- labels, stand-by and another device -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [DeviceKind.GAP, DeviceKind.DOUBT])
def test_a_gap_from_before_the_stand_by_of_this_round_holds_its_first_card(kind: DeviceKind) -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.device(kind, text="9 to 1")
    play.device(DeviceKind.STANDBY)
    play.scan("KS", Label.P1)
    assert play.codes == ["card-missed"]
    play.release("accept")
    play.scan("4C", Label.B1)
    assert not play.state.held


def test_a_gap_behind_the_stand_by_does_not() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.device(DeviceKind.STANDBY)
    play.device(DeviceKind.GAP, text="4 to 6")
    play.scan("KS", Label.P1)
    assert not play.state.held


@pytest.mark.parametrize("kind", [DeviceKind.STANDBY, DeviceKind.UNLOCKED, DeviceKind.SETTING])
def test_a_device_put_in_place_that_spoke_has_no_start_signal_left(kind: DeviceKind) -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.do(Kind.DEVICE_SWAP)
    play.device(kind)
    play.no_more_bets()
    play.device(DeviceKind.STARTED)
    assert play.codes == ["shoe-restarted"]


@pytest.mark.parametrize("label", [Label.BURN, Label.BURN_COUNT, Label.OUTSIDE, Label.OVERDRAW])
@pytest.mark.parametrize("face", ["4H", None])
def test_what_the_shoe_calls_no_card_of_a_hand_is_kept(label: Label, face: str | None) -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.scan("2S", Label.P1)
    out = play.out
    play.scan(face, label)
    assert play.codes == ["overdraw" if label is Label.OVERDRAW else "card-conflict"]
    assert (play.out, len(play.state.loose)) == (out + 1, 1)


@pytest.mark.parametrize("label", [Label.BURN, Label.BURN_COUNT, Label.OUTSIDE])
def test_a_burn_card_that_could_not_be_read_is_wanted_again(label: Label) -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.do(Kind.BURN, count="1")
    play.scan(None, label)
    assert not play.state.held and play.state.unread == 1
    play.scan("4H", label)
    assert play.state.burns_due == 0


def test_a_burn_card_that_the_shoe_calls_p1_was_its_first_card() -> None:
    play = Play(house(dealing={"confirm": "dealer"}), ANGEL_EYE).idle()
    play.do(Kind.BURN, count="1")
    play.device(DeviceKind.STANDBY)
    play.scan("9S", Label.P1)
    play.release("keep")
    play.no_more_bets()
    play.scan("2H", Label.B1)
    assert not play.state.held


# --- a card that could not be read ------------------------------------------------------------------------


def test_a_hand_completed_by_a_correction_leaves_its_unread_card_kept() -> None:
    play = Play(house(dealing={"confirm": "dealer"})).idle()
    play.no_more_bets()
    play.deal("2S KS 3C 7D")  # Player 5 draws
    out = play.out
    play.scan(None)
    play.do(Kind.HOLD)
    play.do(Kind.CORRECT, position="P2", card="4C")  # Player 6 stands on Banker 7
    assert play.state.the_round.due is None
    assert (play.out, play.state.unread, len(play.state.loose)) == (out + 1, 0, 1)
    assert "overdraw" in play.codes


def test_burning_a_kept_card_does_not_forget_the_unread_one() -> None:
    play = Play(house(), ANGEL_EYE).idle()
    play.no_more_bets()
    play.scan("2S", Label.P1)
    play.scan(None, Label.B1)
    play.scan("9C", Label.P2)
    play.release("burn")
    assert play.state.unread == 1


@pytest.mark.parametrize("code", ["card-early", "unturned"])
def test_a_hold_with_nothing_kept_any_more_has_a_release(code: str) -> None:
    if code == "card-early":
        play = Play(house()).idle()
        play.betting()
        play.scan("4H")
        play.wait(25)
        play.do(Kind.INSERT, position="P1", card="2S")
        play.do(Kind.MOVE, position="K1", to="P1")
    else:
        play = Play(house(dealing={"confirm": "dealer", "deal": "face-down"})).idle()
        play.no_more_bets()
        play.deal("2S KS 4C 7D 9H")
        assert play.codes == ["unturned"]
        play.do(Kind.TURN)
        play.do(Kind.MOVE, position="K1", to="B2")
    while play.state.loose:
        play.release("burn" if "burn" in offered(play.state) else "accept")
    assert not play.state.held or "keep" in offered(play.state)
