"""How one event changes a table: ``evolve(state, event) → state``.

Live and on replay the same function; it sees no clock and no configuration.  Each handler says
only what its event changes; the row, sequence and version numbers are kept here for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from tablectl import events as ev
from tablectl.cards import Card, Side
from tablectl.clock import SECOND
from tablectl.frozen import replace
from tablectl.house import HouseRules
from tablectl.shoe import Cut, Shoe
from tablectl.table.state import Hold, Loose, Phase, Round, State


def evolve(state: State, event: ev.Event) -> State:
    """The state after ``event``. Raises KeyError for an event class it does not know."""
    new = _EVOLVE[type(event)](state, event)
    row = state.row + 1
    sequence = state.sequence + (1 if event.PUBLIC else 0)
    version = row if _matters(state, new) else state.version
    return replace(new, row=row, sequence=sequence, version=version)


def _matters(old: State, new: State) -> bool:
    """Whether phase, holds or cards changed, so that a command must have seen it."""
    if old.phase is not new.phase or old.holds is not new.holds or old.loose is not new.loose:
        return True
    if old.shoe is not new.shoe and (
        old.shoe is None or new.shoe is None or old.shoe.drawn is not new.shoe.drawn
    ):
        return True
    if old.round is new.round:
        return False
    return (
        old.round is None
        or new.round is None
        or old.round.player is not new.round.player
        or old.round.banker is not new.round.banker
        or old.round.turned is not new.round.turned
    )


def _same(state: State, _: ev.Event) -> State:
    return state


def _shoe(state: State) -> Shoe:
    assert state.shoe is not None, "an event of a shoe needs one"
    return state.shoe


def _round(state: State) -> Round:
    assert state.round is not None, "an event of a round needs one"
    return state.round


def _rules(state: State) -> HouseRules:
    assert state.rules is not None, "the table was never opened"
    return state.rules


def _controller_started(state: State, _: ev.ControllerStarted) -> State:
    r = state.round
    return replace(
        state,
        scanner_up=False,
        scanner_why="not connected yet",
        standby=False,
        step_lost=state.step_lost or r is not None,
        auto_open=None,
        unread=0,
        unread_deadline=None,
        # The close may be an instant of the machine's last run; no scan of this one lies before it.
        round=r
        and replace(r, deadline=None, pips_left=0, remind_deadline=None, closed_boot=None, in_step=False),
    )


def _table_opened(state: State, event: ev.TableOpened) -> State:
    rules = HouseRules.from_dict(event.profile)
    return replace(state, phase=Phase.NO_SHOE, rules=rules, inspected=False, shoe_since_open=False)


def _table_closed(state: State, _: ev.TableClosed) -> State:
    return replace(state, phase=Phase.CLOSED, dealer=None, pickup=None, last_dealer=None)


def _dealer_changed(state: State, event: ev.DealerChanged) -> State:
    return replace(
        state, dealer=event.dealer, pickup=event.pickup, last_dealer=event.dealer or state.last_dealer
    )


def _inspection_recorded(state: State, _: ev.InspectionRecorded) -> State:
    return replace(state, inspected=True, count_due=False)


def _shoe_started(state: State, event: ev.ShoeStarted) -> State:
    assert event.shoe is not None
    return replace(
        state,
        phase=Phase.IDLE,
        rules=HouseRules.from_dict(event.rules),
        shoe=Shoe(event.shoe, event.decks),
        shoes=event.shoe,
        inspected=False,
        shoe_since_open=True,
        last_scan="",
        last_outcome=None,
    )


def _burns_ordered(state: State, event: ev.BurnsOrdered) -> State:
    return replace(
        state,
        phase=Phase.BURNING,
        burns_due=state.burns_due + event.count,
        burn_reason=event.reason,
        burn_first_card=event.first_card,
    )


def _after_burn(state: State, left: int) -> State:
    phase = Phase.IDLE if state.phase is Phase.BURNING and left == 0 else state.phase
    return replace(
        state,
        phase=phase,
        burns_due=left,
        burn_first_card=False,
        last_scan="burn",
        unread=0,
        unread_deadline=None,
    )


def _card_burned(state: State, event: ev.CardBurned) -> State:
    shoe = _shoe(state)
    card = None if event.card is None else Card.parse(event.card)
    if not event.kept:
        shoe = shoe.take(card)
    shoe = replace(shoe, burned=(*shoe.burned, event.card or "unread"))
    loose = state.loose[1:] if event.kept else state.loose
    return _after_burn(replace(state, shoe=shoe, loose=loose), event.left)


def _burns_done(state: State, event: ev.BurnsDone) -> State:
    shoe = _shoe(state)
    for _ in range(event.count):
        shoe = shoe.take(None)
    shoe = replace(shoe, burned=(*shoe.burned, *("unseen",) * event.count))
    return _after_burn(replace(state, shoe=shoe), 0)


def _shoe_ended(state: State, _: ev.ShoeEnded) -> State:
    return replace(
        state,
        phase=Phase.SHUFFLE_DUE,
        shoe=None,
        round=None,
        loose=(),
        count_due=state.count_due or any(hold.code == "integrity" for hold in state.holds),
        burns_due=0,
        burn_first_card=False,
        auto_open=None,
        unread=0,
        unread_deadline=None,
    )


def _cut_card_drawn(state: State, event: ev.CutCardDrawn) -> State:
    shoe = _shoe(state)
    cut = Cut(event.out, event.by == "scanner", event.by == "dealer")
    match state.phase:
        case Phase.DEALING | Phase.COMPLETE:
            last = _round(state).number + _rules(state).shoe.hands_after_cut
        case Phase.BETTING | Phase.NO_MORE_BETS:
            last = _round(state).number
        case _:
            last = shoe.rounds + 1
    return replace(state, shoe=replace(shoe, cut=cut, last_round=last))


def _cut_card_withdrawn(state: State, _: ev.CutCardWithdrawn) -> State:
    return replace(state, shoe=replace(_shoe(state), cut=None, last_round=None, announced=False))


def _last_hand_announced(state: State, _: ev.LastHandAnnounced) -> State:
    return replace(state, shoe=replace(_shoe(state), announced=True))


def _begin_round(state: State, new: Round, phase: Phase) -> State:
    turned = _rules(state).dealing.deal == "face-up"
    return replace(
        state,
        phase=phase,
        round=replace(new, turned=turned),
        shoe=replace(_shoe(state), rounds=new.number),
        auto_open=None,
    )


def _betting_opened(state: State, event: ev.BettingOpened) -> State:
    assert event.round is not None
    betting = _rules(state).betting
    # A pip at the opening itself would tell nothing.
    pips = min(betting.pips, math.ceil(event.seconds / betting.pip_every) - 1)
    new = Round(
        event.round,
        opened_boot=event.opened_boot,
        deadline=event.deadline_boot,
        pips_left=pips,
        pip_every=round(betting.pip_every * SECOND),
    )
    return _begin_round(state, new, Phase.BETTING)


def _betting_closing(state: State, event: ev.BettingClosing) -> State:
    return replace(state, round=replace(_round(state), pips_left=event.pips_left))


def _betting_closed(state: State, event: ev.BettingClosed) -> State:
    closed = replace(_round(state), deadline=None, pips_left=0, closed_boot=event.closed_boot)
    return replace(state, phase=Phase.NO_MORE_BETS, round=closed)


def _hand_freed(state: State, event: ev.FreeHandOrdered) -> State:
    assert event.round is not None
    new = Round(event.round, free=True, closed_boot=event.boot)
    return _begin_round(state, new, Phase.NO_MORE_BETS)


def _card_dealt(state: State, event: ev.CardDealt) -> State:
    card = Card.parse(cast(str, event.face or event.card))
    r = _round(state)
    if event.position.side is Side.PLAYER:
        r = replace(r, player=(*r.player, card), in_step=event.in_step)
    else:
        r = replace(r, banker=(*r.banker, card), in_step=event.in_step)
    return replace(
        state,
        phase=Phase.DEALING if r.due else Phase.COMPLETE,
        round=r,
        shoe=_shoe(state) if event.kept else _shoe(state).take(card),
        loose=state.loose[1:] if event.kept else state.loose,
        step_lost=not event.in_step,
        standby=False,
        unread=0,
        unread_deadline=None,
    )


def _hand_turned(state: State, _: ev.HandTurned) -> State:
    return replace(state, round=replace(_round(state), turned=True))


def _announcement_awaited(state: State, event: ev.AnnouncementAwaited) -> State:
    return replace(state, round=replace(_round(state), remind_deadline=event.remind_boot))


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
        last_outcome=event.outcome if _round(state).in_step else None,
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


def _table_held(state: State, event: ev.TableHeld) -> State:
    r = state.round
    return replace(
        state,
        holds=(*state.holds, Hold(event.code, event.message)),
        round=r and replace(r, in_step=False, remind_deadline=None),
        step_lost=state.step_lost or r is not None,
        auto_open=None,
        unread_deadline=None,
    )


def _table_released(state: State, event: ev.TableReleased) -> State:
    holds = tuple(h for h in state.holds if h.code not in event.codes)
    return replace(state, holds=holds, unread=0)


def _scanner_lost(state: State, event: ev.ScannerLost) -> State:
    r = state.round
    return replace(
        state,
        scanner_up=False,
        scanner_why=event.reason,
        step_lost=state.step_lost or r is not None,
        standby=False,
        round=r and replace(r, in_step=False),
    )


def _scanner_restored(state: State, _: ev.ScannerRestored) -> State:
    return replace(state, scanner_up=True, scanner_why="")


def _alert_raised(state: State, event: ev.AlertRaised) -> State:
    return replace(state, alerts=(*state.alerts, (event.alert, event.message)))


def _alert_acknowledged(state: State, event: ev.AlertAcknowledged) -> State:
    return replace(state, alerts=tuple(a for a in state.alerts if a[0] != event.alert))


def _scan_kept(state: State, event: ev.ScanKept) -> State:
    card = None if event.card is None else Card.parse(event.card)
    return replace(
        state,
        shoe=_shoe(state).take(card),
        loose=(*state.loose, Loose(card, event.label, event.code)),
    )


def _scan_unread(state: State, event: ev.ScanUnread) -> State:
    return replace(state, unread=state.unread + 1, unread_deadline=event.hold_boot)


def _device_noted(state: State, event: ev.DeviceNoted) -> State:
    r = state.round
    if event.ends_step:
        state = replace(state, step_lost=True, standby=False, round=r and replace(r, in_step=False))
    match event.kind:
        case "standby":
            return replace(state, standby=True)
        case "cut-card" if state.shoe is not None and state.shoe.cut is not None:
            cut = Cut(state.shoe.cut.out, True, state.shoe.cut.by_command)
            return replace(state, shoe=replace(state.shoe, cut=cut))
        case _:
            return state


_EVOLVE: dict[type[ev.Event], Callable[[State, Any], State]] = {
    ev.ControllerStarted: _controller_started,
    ev.TableOpened: _table_opened,
    ev.TableClosed: _table_closed,
    ev.DealerChanged: _dealer_changed,
    ev.InspectionRecorded: _inspection_recorded,
    ev.ShoeStarted: _shoe_started,
    ev.BurnsOrdered: _burns_ordered,
    ev.CardBurned: _card_burned,
    ev.BurnsDone: _burns_done,
    ev.ShoeEnded: _shoe_ended,
    ev.CutCardDrawn: _cut_card_drawn,
    ev.CutCardWithdrawn: _cut_card_withdrawn,
    ev.LastHandAnnounced: _last_hand_announced,
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
    ev.TableHeld: _table_held,
    ev.TableReleased: _table_released,
    ev.ScannerLost: _scanner_lost,
    ev.ScannerRestored: _scanner_restored,
    ev.AlertRaised: _alert_raised,
    ev.AlertAcknowledged: _alert_acknowledged,
    ev.ScanKept: _scan_kept,
    ev.ScanUnread: _scan_unread,
    ev.DeviceNoted: _device_noted,
    # Rows that record and change nothing: corrections and parking come with their own issue.
    ev.HandCorrected: _same,
    ev.RoundAmended: _same,
    ev.EventParked: _same,
    ev.HistorySkipped: _same,
    ev.CommandRecorded: _same,
    ev.PinAttempted: _same,
    ev.ScanPassed: _same,
}
