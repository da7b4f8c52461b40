"""Every drawn card is accounted for, once: unread ones, kept ones, and those told twice."""

from __future__ import annotations

import dataclasses

import pytest

from tablectl import events as ev
from tablectl.cards import DECK
from tablectl.scanner import Arrived, DeviceEvent, DeviceKind, Discarded, Label
from tablectl.table import Command, Expect, JournalFilled, Kind, Phase, Started
from tests.table.playing import ANGEL_EYE, Play, house


def in_hand(cards: str = "2S KD") -> Play:
    play = Play()
    play.no_more_bets()
    play.deal(cards)
    return play


# --- a card that could not be read ------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["called", "restart", "lost"])
def test_an_unread_card_is_still_wanted_after_any_hold(way: str) -> None:
    play = in_hand()
    play.scan(None)
    match way:
        case "called":
            play.do(Kind.HOLD)
            play.release("resume")
        case "restart":
            play.give(Started(play.now(), "1"))
            play.restore()
            play.release("cards-confirmed")
        case _:
            play.lose()
            play.restore()
            play.release("cards-confirmed")
    assert play.state.unread and play.state.unread_deadline is not None
    assert any("scan it again" in text for text in play.said)
    play.wait(30)
    assert play.codes == ["card-unreadable"], "silence holds again"


def test_the_scan_after_an_unread_card_is_a_rescan() -> None:
    play = in_hand()
    play.scan(None)
    play.scan("9H")
    dealt = play.of(ev.CardDealt)[-1]
    assert (dealt.position, dealt.card, dealt.source) == ("P2", "9H", "rescan")
    play.scan("3C")
    assert play.of(ev.CardDealt)[-1].source == "scanner"


def test_one_card_that_cannot_be_read_is_counted_once_however_often_it_is_tried() -> None:
    play = in_hand()
    for _ in range(4):
        play.scan(None)
    assert play.codes == ["card-unreadable"] and not play.state.loose
    out = play.out
    play.scan("9H")
    assert play.out == out + 1
    play.release("accept")
    assert play.of(ev.CardDealt)[-1].card == "9H" and play.out == out + 1 and play.codes == []


def test_a_burn_card_that_nobody_can_read_is_burned_unread() -> None:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.scan(None)
    play.scan(None)
    play.release("burn")
    assert (play.out, play.state.burns_due, play.codes) == (1, 5, [])


def test_a_first_card_whose_value_nobody_knows_holds() -> None:
    play = Play(house(burn={"by": "first-card"}))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.scan(None)
    play.scan(None)
    play.release("burn")
    assert play.codes == ["burn-wrong"]
    play.release("keep")
    play.do(Kind.BURN, count="4")
    assert play.state.burns_due == 4


# --- told twice ------------------------------------------------------------------------------------------


def test_a_late_repeat_of_the_last_copy_is_a_repeat_and_no_ninth() -> None:
    play = Play(house(shoe={"decks": 1, "cutting_card": 0}), ANGEL_EYE)
    play.idle("2S 3H 4D 5C 6S 7H")
    play.betting()
    play.wait(20)
    play.scan("8S", Label.P1)
    out = play.out
    play.scan("8S", Label.P1)
    assert play.codes == [] and play.out == out


# --- kept cards -------------------------------------------------------------------------------------------


def test_burn_done_is_only_for_holds_that_offer_it() -> None:
    play = Play(house(burn={"scanned": False}))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.give(JournalFilled(play.now(), full=True))
    assert "on hold" in play.refused(Kind.BURN_DONE, count="6")
    assert play.out == 0
    play.give(JournalFilled(play.now(), full=False))
    play.lose()
    play.do(Kind.BURN_DONE, count="6")
    assert play.out == 6 and play.stands(Phase.IDLE) and play.codes == ["device-lost"]


def test_the_last_card_of_a_shoe_may_be_a_kept_one() -> None:
    """A lawful hand that takes the last cards is finished, not void."""
    play = Play(house(shoe={"decks": 1, "cutting_card": 0}, burn={"by": "none"}))
    play.idle("")
    hand = ["2S", "KD", "3S", "6H", "6C", "2H"]
    rest = [str(card) for card in DECK if str(card) not in hand]
    for i in range(0, 46, 20):
        some = rest[i : i + 20]
        play.do(Kind.BURN, count=str(len(some)))
        for card in some:
            play.scan(card)
    play.do(Kind.BETS_OPEN)
    play.wait(20)
    for card in hand[:5]:
        play.scan(card)
    play.do(Kind.HOLD)
    play.scan(hand[5])
    assert play.codes == ["called"]
    play.release("accept")
    assert play.codes == [] and play.result().outcome == "banker"


def test_the_share_is_reached_by_whatever_card_reaches_it() -> None:
    play = Play(
        house("atlantic-city", burn={"by": "none"}, shoe={"decks": 1, "cutting_card": 5, "share": "0.25"})
    )
    play.idle("")
    play.round("2S KD 3S 6H 6C 2H")
    play.betting()
    for card in ["9S", "9H", "9D", "9C", "TS", "TH", "TD"]:
        play.scan(card)
    play.wait(20)
    play.do(Kind.VOID)
    assert play.of(ev.CutCardDrawn)[-1].by == "share"


# --- face down -----------------------------------------------------------------------------------------


def test_a_card_drawn_before_the_turn_tells_nothing_of_what_lies_there() -> None:
    told = set()
    for cards in ("2S KD 3S 4H", "9S KD KS 4H"):  # Player draws; a natural
        play = Play(house("classic"))
        play.no_more_bets()
        play.deal(cards)
        play.scan("5C")
        told.add(tuple((type(e).TYPE, str(ev.public_data(e))) for e in play.last.events if e.PUBLIC))
        assert play.codes == ["unturned"]
        play.do(Kind.TURN)
        play.release("accept" if play.state.phase is Phase.DEALING else "burn")
        assert play.codes == []
    assert len(told) == 1


def test_a_void_before_the_turn_names_no_face() -> None:
    play = Play(house("classic"))
    play.no_more_bets()
    play.deal("2S KD")
    play.do(Kind.VOID)
    voided = play.of(ev.RoundVoided)[-1]
    assert ev.public_data(voided)["cards"] == {"P1": "?", "B1": "?"}
    assert voided.faces == {"P1": "2S", "B1": "KD"}


# --- people --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["0000200", "00000000000300", "1e2", "-1", "²", " 5", ""])
def test_a_number_is_in_its_range_however_it_is_written(text: str) -> None:
    play = Play()
    play.idle()
    out = play.out
    play.refused(Kind.BURN, count=text)
    assert play.out == out and play.stands(Phase.IDLE)


def test_what_changes_a_round_says_what_was_seen() -> None:
    play = Play()
    play.betting()
    blind = Command(Kind.BETS_CLOSE, play.now(), person="Pia", supervisor=True, reason="training: test")
    assert "does not say what its sender saw" in play.give(blind).answer
    play.do(Kind.HOLD)
    ended = dataclasses.replace(blind, kind=Kind.SHOE_END, at=play.now())
    assert "does not say what its sender saw" in play.give(ended).answer
    assert play.state.phase is Phase.BETTING and play.state.held


def test_only_a_name_with_its_pin_acknowledges_in_that_name() -> None:
    play = Play()
    play.idle()
    play.give(Arrived(DeviceEvent(DeviceKind.GAP, b"", text="2 to 7"), play.now()))
    play.give(Command(Kind.ACK, play.now(), args={"alert": "scanner-gap"}, person="bo"))
    assert play.of(ev.AlertAcknowledged)[-1].acknowledged_by == play.state.dealer


def test_a_cutting_card_told_too_early_is_an_alert() -> None:
    play = Play()
    play.idle()
    play.give(Discarded(DeviceEvent(DeviceKind.CUT_CARD, b""), play.now()))
    assert play.alerts == ["cut-card-discarded"]


def test_after_a_reboot_betting_is_not_said_to_have_closed_later_than_announced() -> None:
    play = Play()
    play.betting()
    announced = play.of(ev.BettingOpened)[-1].closes_at
    play.boot = 3 * 10**9
    play.wall += 3 * 3600 * 10**9
    play.give(Started(play.now(), "1"))
    assert play.of(ev.BettingClosed)[-1].closed_at == announced


# --- face down, under a hold ---------------------------------------------------------------------------


def test_an_early_card_may_be_p1_at_a_face_down_table() -> None:
    play = Play(house("classic"))
    play.betting()
    play.scan("9S")
    play.wait(20)
    play.release("as-p1")
    assert play.codes == [] and play.of(ev.CardDealt)[-1].face == "9S"
    assert "card" not in ev.public_data(play.of(ev.CardDealt)[-1])


def test_kept_cards_are_accepted_up_to_the_fourth_before_the_turn() -> None:
    play = Play(house("classic"))
    play.no_more_bets()
    play.deal("2S KD")
    play.do(Kind.HOLD)
    for card in ["3S", "4H", "5C"]:
        play.scan(card)
    play.release("accept")
    assert play.codes == ["unturned"] and len(play.state.loose) == 1
    play.do(Kind.TURN)
    play.release("accept")
    assert play.codes == [] and play.of(ev.CardDealt)[-1].card == "5C"


# --- the window -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kind.BETS_CLOSE, Kind.VOID])
def test_a_command_looked_at_late_closes_no_later_than_the_deadline(kind: Kind) -> None:
    play = Play()
    play.betting()
    deadline = play.of(ev.BettingOpened)[-1]
    given = Command(
        kind, play.now(), person="Pia", supervisor=True, reason="training: test", expect=Expect(round="1/1")
    )
    play.pass_time(25)
    play.give(given)
    closed = play.of(ev.BettingClosed)[-1]
    assert (closed.closed_boot, closed.closed_at) == (deadline.deadline_boot, deadline.closes_at)
