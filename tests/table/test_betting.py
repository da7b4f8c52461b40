"""The betting window: pips, the one decision at the deadline, overdue windows, cards around the close."""

from __future__ import annotations

from typing import Literal

import pytest

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.clock import SECOND, Instant, iso
from tablectl.scanner import Arrived, Label, Scan
from tablectl.table import (
    Around,
    Command,
    Expect,
    Kind,
    Phase,
    Signal,
    Started,
    Tick,
    Trouble,
    decide,
    next_deadline,
)
from tests.table.playing import NATURAL, Play, house


def test_the_window_is_announced_with_its_length_and_its_end() -> None:
    play = Play()
    play.idle()
    play.do(Kind.BETS_OPEN)
    opened = play.of(ev.BettingOpened)[-1]
    assert (opened.shoe, opened.round, opened.seconds) == (1, 1, 20.0)
    assert opened.deadline_boot == play.boot + 20 * SECOND
    assert opened.closes_at == iso(play.wall + 20 * SECOND)


def test_a_pip_at_each_of_the_last_five_seconds_and_the_close_at_the_deadline() -> None:
    play = Play()
    play.betting()
    begun = play.boot
    heard: list[tuple[float, str]] = []
    while (due := next_deadline(play.state)) is not None:
        play.pass_time((due - play.boot) / SECOND)
        decision = play.give(Tick(play.now()))
        heard += [
            ((play.boot - begun) / SECOND, e.pattern) for e in decision.effects if isinstance(e, Signal)
        ]
    assert heard == [(15, "pip"), (16, "pip"), (17, "pip"), (18, "pip"), (19, "pip"), (20, "close")]
    assert [e.seconds for e in play.of(ev.BettingClosing)] == [5, 4, 3, 2, 1]
    assert len(play.of(ev.BettingClosed)) == 1 and play.said == ["No More Bets"]


def test_nothing_happens_before_the_first_pip() -> None:
    play = Play()
    play.betting()
    for _ in range(14):
        assert play.wait(1).events == ()


def test_missed_pips_are_skipped() -> None:
    play = Play()
    play.betting()
    play.wait(17.5)
    assert [e.seconds for e in play.of(ev.BettingClosing)] == [3] and play.beeps == ["pip"]
    play.wait(1.6)
    assert [e.seconds for e in play.of(ev.BettingClosing)] == [3, 1]


def test_no_pip_at_the_opening_of_a_window_as_short_as_its_pips() -> None:
    play = Play(house(betting={"seconds": 3.0}))
    play.betting()
    for _ in range(6):
        play.wait(0.5)
    assert [e.seconds for e in play.of(ev.BettingClosing)] == [2, 1]


def test_pips_can_be_off() -> None:
    play = Play(house(betting={"pips": 0}))
    play.no_more_bets()
    assert not play.of(ev.BettingClosing)


def test_decided_once_at_the_deadline() -> None:
    play = Play()
    play.betting()
    deadline = play.boot + 20 * SECOND
    play.wait(19.999999999)
    assert play.stands(Phase.BETTING)
    play.pass_time(1e-9)
    play.give(Tick(play.now()))
    play.wait(1)
    (closed,) = play.of(ev.BettingClosed)
    assert (closed.reason, closed.closed_boot) == ("timer", deadline)


@pytest.mark.parametrize(
    ("late", "reason"), [(0.0, "timer"), (0.9, "timer"), (1.1, "suspended"), (3600.0, "suspended")]
)
def test_found_overdue_it_closes_at_once_and_as_of_the_deadline(late: float, reason: str) -> None:
    play = Play()
    play.betting()
    deadline = play.boot + 20 * SECOND
    play.wait(20 + late)
    (closed,) = play.of(ev.BettingClosed)
    assert (closed.reason, closed.closed_boot) == (reason, deadline)
    assert closed.closed_at == play.of(ev.BettingOpened)[-1].closes_at
    assert not play.of(ev.BettingClosing), "pips that were slept through are not made up for"


def test_closed_early_only_by_command() -> None:
    play = Play()
    play.betting()
    play.wait(5)
    play.do(Kind.BETS_CLOSE)
    (closed,) = play.of(ev.BettingClosed)
    assert (closed.reason, closed.closed_boot) == ("command", play.boot)
    assert play.beeps == ["close"]
    assert next_deadline(play.state) is None


@pytest.mark.parametrize("step", [-3600, 3600, -7200.5, 1e9])
def test_steps_of_the_wall_clock_change_nothing(step: float) -> None:
    play = Play()
    play.betting()
    deadline = play.boot + 20 * SECOND
    play.wait(10)
    play.wall += round(step * SECOND)
    play.wait(9.9)
    assert play.stands(Phase.BETTING)
    play.wait(0.1)
    (closed,) = play.of(ev.BettingClosed)
    assert (closed.reason, closed.closed_boot) == ("timer", deadline)


def test_a_card_in_betting_holds_and_never_changes_the_window() -> None:
    play = Play()
    play.betting()
    deadline = play.boot + 20 * SECOND
    play.wait(17.5)
    play.scan("8S")
    assert play.codes == ["card-early"] and play.stands(Phase.BETTING)
    assert play.beeps == ["pip", "hold"]
    assert next_deadline(play.state) == deadline - SECOND
    play.wait(2)
    (closed,) = play.of(ev.BettingClosed)
    assert closed.closed_boot == deadline
    assert play.codes == ["card-early"], "still on hold after the close"
    play.release("as-p1")
    assert play.state.round is not None and play.state.round.player == (Card.parse("8S"),)
    assert play.of(ev.CardDealt)[-1].position == "P1"
    assert play.out == 7


def test_an_early_card_may_be_burned_while_betting_goes_on() -> None:
    play = Play()
    play.betting()
    play.scan("8S")
    assert "as-p1" not in play.refused(Kind.RELEASE, action="as-p1").split("ways out")[1]
    play.release("burn")
    assert play.stands(Phase.BETTING) and not play.state.held
    play.wait(20)
    play.deal(NATURAL)
    assert play.result().player.cards == ("9S", "KD") and play.out == 6 + 1 + 4


def test_a_card_before_the_close_is_early_even_if_it_is_handled_after_it() -> None:
    play = Play()
    play.betting()
    play.wait(20)
    play.scan("8S", ago=0.6)  # 0.1 s before the close
    assert play.codes == ["card-early"] and not play.of(ev.CardDealt)
    play.release("as-p1")
    assert play.stands(Phase.DEALING)


def test_an_unread_card_before_the_close_is_early_too() -> None:
    play = Play()
    play.betting()
    play.wait(20)
    play.scan(None, ago=0.6)
    assert play.codes == ["card-early"] and play.out == 7


def test_a_card_handled_late_and_before_any_tick_is_judged_by_its_arrival() -> None:
    play = Play()
    play.betting()
    deadline = play.boot + 20 * SECOND
    card = Scan(Card.parse("8S"), Label.NONE, b"")
    before, after = Instant(deadline - 1, 0), Instant(deadline, 0)
    play.pass_time(30)
    late = decide(play.state, Arrived(card, before), play.now(), play.around)
    assert [h.code for h in late.state.holds] == ["card-early"]
    assert late.state.phase is Phase.BETTING, "the deadline had not come when it arrived"
    then = decide(late.state, Tick(play.now()), play.now(), play.around)
    assert then.state.phase is Phase.NO_MORE_BETS

    dealt = decide(play.state, Arrived(card, after), play.now(), play.around)
    kinds = [type(e) for e in dealt.events]
    assert kinds.index(ev.BettingClosed) < kinds.index(ev.CardDealt), "the deadline is decided first"
    assert dealt.state.round is not None and dealt.state.round.player == (Card.parse("8S"),)


def test_a_command_that_comes_after_the_deadline_finds_betting_closed() -> None:
    play = Play()
    play.betting()
    version = play.state.version
    play.pass_time(20)
    decision = play.give(Command(Kind.BETS_CLOSE, play.now(), expect=Expect(round="1/1")))
    assert decision.refused and "phase no more bets" in decision.answer
    void = Command(
        Kind.VOID,
        play.now(),
        person="Pia",
        supervisor=True,
        reason="training: x",
        expect=Expect(version=version),
    )
    assert "has changed since" in play.give(void).answer


# --- opening ------------------------------------------------------------------------------------------------


def test_betting_needs_link_journal_scanner_and_dealer_each_named() -> None:
    play = Play()
    play.idle()
    rules = play.around.rules
    play.around = Around(rules, link_why="three events are owed")
    assert "three events are owed" in play.refused(Kind.BETS_OPEN)
    play.do(Kind.HAND_FREE)  # no wagers: no link needed
    play.do(Kind.VOID)
    play.around = Around(rules, journal_why="disk full")
    assert "disk full" in play.refused(Kind.BETS_OPEN)
    assert "disk full" in play.refused(Kind.HAND_FREE)
    play.around = Around(rules)
    play.lose()
    assert "unplugged" in play.refused(Kind.BETS_OPEN)
    play.restore()
    play.do(Kind.SIGN_OUT)
    assert "sign-in" in play.refused(Kind.BETS_OPEN)
    assert "sign-in" in play.refused(Kind.HAND_FREE)


def test_the_link_may_be_no_condition() -> None:
    play = Play(house(betting={"link_required": False}))
    play.idle()
    play.around = Around(play.around.rules, link_why="down")
    play.do(Kind.BETS_OPEN)


def test_a_beeper_that_cannot_be_heard_is_acknowledged_before_betting_where_the_house_says_so() -> None:
    for strict in (False, True):
        play = Play(house(betting={"beeper_ack": strict}))
        play.idle()
        play.give(Trouble(play.now(), "other", "Something else."))
        play.give(Trouble(play.now(), "beeper", "The beeper cannot be heard: announce by voice."))
        if strict:
            assert "announce by voice; first: ack beeper" in play.refused(Kind.BETS_OPEN)
            play.do(Kind.HAND_FREE)  # no wagers: no beep needed
            play.do(Kind.VOID)
            play.do(Kind.ACK, alert="beeper")
        play.do(Kind.BETS_OPEN)


def test_automatic_opening_after_the_pause() -> None:
    play = Play(house(betting={"opens": "automatic"}))
    play.idle()
    assert play.wait(60).events == (), "the first round is opened by the dealer"
    play.round(NATURAL)
    play.wait(4.9)
    assert play.stands(Phase.IDLE)
    play.wait(0.1)
    assert play.stands(Phase.BETTING) and play.of(ev.BettingOpened)[-1].round == 2


def test_automatic_opening_tells_once_why_it_does_not() -> None:
    play = Play(house(betting={"opens": "automatic"}))
    play.round(NATURAL)
    play.around = Around(play.around.rules, link_why="down")
    play.wait(5)
    assert play.stands(Phase.IDLE) and "down" in play.said[0]
    assert play.wait(60).events == ()


def test_automatic_opening_waits_for_no_burn_and_never_opens_over_one() -> None:
    play = Play(house(betting={"opens": "automatic"}))
    play.round(NATURAL)
    play.do(Kind.SIGN_IN, name="Emil", pickup="left")
    play.wait(10)
    assert play.stands(Phase.BURNING) and len(play.of(ev.BettingOpened)) == 1
    assert "burn" in play.said[0]


def test_a_restart_never_opens_betting() -> None:
    play = Play(house(betting={"opens": "automatic"}))
    play.round(NATURAL)
    play.pass_time(30)
    play.give(Started(play.now(), "1"))
    play.wait(30)
    assert play.stands(Phase.IDLE) and len(play.of(ev.BettingOpened)) == 1


# --- restart ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("away", [3.0, 40.0])
def test_restart_in_betting_closes_it_once_and_never_after_its_deadline(away: float) -> None:
    play = Play()
    play.betting()
    deadline = play.boot + 20 * SECOND
    play.pass_time(away)
    play.give(Started(play.now(), "1"))
    (closed,) = play.of(ev.BettingClosed)
    assert closed.reason == "restart" and closed.closed_boot == min(play.boot, deadline)
    assert play.codes == ["restart"] and play.stands(Phase.NO_MORE_BETS)
    assert not play.of(ev.BettingClosing)


def test_after_a_reboot_the_old_close_judges_no_new_card() -> None:
    play = Play()
    play.no_more_bets()
    play.scan("9S")
    play.boot = 5 * SECOND  # CLOCK_BOOTTIME begins again
    play.give(Started(play.now(), "1"))
    play.restore()
    play.release("cards-confirmed")
    play.deal("2H KD 3C")
    assert play.result().outcome == "player" and not play.state.held


ANEW: tuple[tuple[str, Literal["first", "anew", "over"], str, int], ...] = (
    ("Over.", "over", "", 0),
    ("event 8", "anew", "event 8", 1),
    ("event 8", "anew", "event 8", 0),
    ("event 9", "first", "event 8", 0),
    ("event 15", "anew", "event 15", 1),
    ("Over.", "over", "Over.", 1),
    ("Over.", "over", "Over.", 0),
)
"""What is told, how, the text of the alert then, and the events it took."""


def test_an_alert_has_the_text_of_now_where_its_sender_says_so() -> None:
    play = Play()
    play.betting()
    for message, news, text, events in ANEW:
        done = play.give(Trouble(play.now(), "delivery-halted", message, news))
        assert (dict(play.state.alerts).get("delivery-halted", ""), len(done.events)) == (text, events)
        assert len(play.state.alerts) <= 1
