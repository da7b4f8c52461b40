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
def test_a_card_kept_before_it_is_told_is_asked_about(how: str) -> None:
    play = Play(house(), Traits()).idle()
    play.no_more_bets()
    play.deal("2S KS")
    play.do(Kind.HOLD, because="card-missed")
    play.scan("4H")
    if how == "enter":
        assert "enter" not in offered(play.state), "what is kept comes first"
        return
    play.do(Kind.INSERT, position="P2", card="4H")
    assert play.codes == ["card-missed", "card-twice"]
    play.release("drop")
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
