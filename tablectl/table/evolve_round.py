"""How the events of a round change a table: betting, cards, result and void."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from tablectl import events as ev
from tablectl.cards import Card, Side
from tablectl.clock import SECOND
from tablectl.frozen import replace
from tablectl.table.state import Phase, Round, State


def _begin_round(state: State, new: Round, phase: Phase) -> State:
    turned = state.the_rules.dealing.deal == "face-up"
    return replace(
        state,
        phase=phase,
        round=replace(new, turned=turned),
        shoe=replace(state.the_shoe, rounds=new.number),
        auto_open=None,
    )


def _betting_opened(state: State, event: ev.BettingOpened) -> State:
    assert event.round is not None
    betting = state.the_rules.betting
    # A pip at the opening itself would tell nothing.
    pips = min(betting.pips, math.ceil(event.seconds / betting.pip_every) - 1)
    new = Round(
        event.round,
        deadline=event.deadline_boot,
        deadline_wall=event.deadline_wall,
        pips_left=pips,
        pip_every=round(betting.pip_every * SECOND),
    )
    return _begin_round(state, new, Phase.BETTING)


def _betting_closing(state: State, event: ev.BettingClosing) -> State:
    return replace(state, round=replace(state.the_round, pips_left=event.pips_left))


def _betting_closed(state: State, event: ev.BettingClosed) -> State:
    closed = replace(state.the_round, deadline=None, pips_left=0, closed_boot=event.closed_boot)
    return replace(state, phase=Phase.NO_MORE_BETS, round=closed)


def _hand_freed(state: State, event: ev.FreeHandOrdered) -> State:
    assert event.round is not None
    new = Round(event.round, free=True, closed_boot=event.boot)
    return _begin_round(state, new, Phase.NO_MORE_BETS)


def _card_dealt(state: State, event: ev.CardDealt) -> State:
    card = Card.parse(cast(str, event.face or event.card))
    r = state.the_round
    if event.position.side is Side.PLAYER:
        r = replace(r, player=(*r.player, card), in_step=event.in_step)
    else:
        r = replace(r, banker=(*r.banker, card), in_step=event.in_step)
    return replace(
        state,
        phase=Phase.DEALING if r.due else Phase.COMPLETE,
        round=r,
        shoe=state.the_shoe if event.kept else state.the_shoe.take(card),
        loose=state.loose[1:] if event.kept else state.loose,
        step_lost=not event.in_step,
        standby=False,
        unread=0,
        unread_deadline=None,
    )


def _hand_turned(state: State, _: ev.HandTurned) -> State:
    return replace(state, round=replace(state.the_round, turned=True))


def _announcement_awaited(state: State, event: ev.AnnouncementAwaited) -> State:
    return replace(state, round=replace(state.the_round, remind_deadline=event.remind_boot))


def _reminded(state: State, event: ev.Reminded) -> State:
    if event.what == "auto-open":
        return replace(state, auto_open=None)
    return replace(state, round=state.round and replace(state.round, remind_deadline=None))


def _round_resulted(state: State, event: ev.RoundResulted) -> State:
    return replace(
        state,
        phase=Phase.IDLE,
        round=None,
        last_scan="result",
        auto_open=event.auto_open_boot,
        last_outcome=event.outcome if state.the_round.in_step else None,
        last_pairs=(event.player.pair, event.banker.pair),
    )


def _round_voided(state: State, _: ev.RoundVoided) -> State:
    return replace(
        state,
        phase=Phase.IDLE,
        round=None,
        loose=(),
        last_scan="",
        last_outcome=None,
        unread=0,
        unread_deadline=None,
    )


def _scan_unread(state: State, event: ev.ScanUnread) -> State:
    return replace(state, unread=state.unread + 1, unread_deadline=event.hold_boot)


OF_ROUND: dict[type[ev.Event], Callable[[State, Any], State]] = {
    ev.BettingOpened: _betting_opened,
    ev.BettingClosing: _betting_closing,
    ev.BettingClosed: _betting_closed,
    ev.FreeHandOrdered: _hand_freed,
    ev.CardDealt: _card_dealt,
    ev.HandTurned: _hand_turned,
    ev.AnnouncementAwaited: _announcement_awaited,
    ev.Reminded: _reminded,
    ev.RoundResulted: _round_resulted,
    ev.RoundVoided: _round_voided,
    ev.ScanUnread: _scan_unread,
}
"""What each event of a round does."""
