"""How one event changes a table: ``evolve(state, event) → state``.

Live and on replay the same function; it sees no clock and no configuration.  Each handler says
only what its event changes; the row, sequence and version numbers are kept here for all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.frozen import replace
from tablectl.house import HouseRules
from tablectl.shoe import Cut, Shoe
from tablectl.table.evolve_round import OF_ROUND
from tablectl.table.evolve_shoe import OF_SHOE, in_hand
from tablectl.table.state import Hold, Phase, Rescan, State

HANDLING = "handling: "
"""How the reason begins for which a card between shoes is passed over."""


def evolve(state: State, event: ev.Event) -> State:
    """The state after ``event``. Raises KeyError for an event class it does not know."""
    new = _forget_bounce(state, _EVOLVE[type(event)](state, event))
    if new.swapped and _speaks(event):
        new = replace(new, swapped=False)
    row = state.row + 1
    sequence = state.sequence + (1 if event.PUBLIC else 0)
    version = row if _matters(state, new) else state.version
    settled = row if new.settled is not state.settled else state.settled_row
    return replace(new, row=row, sequence=sequence, version=version, settled_row=settled)


def _speaks(event: ev.Event) -> bool:
    """Whether the scanner told something: one that was put in place of another has told its start by then."""
    match event:
        case ev.CardDealt(source="scanner" | "rescan") | ev.ScanKept() | ev.ScanUnread() | ev.CardBurned():
            return True
        case ev.DeviceNoted(kind=kind):
            return kind not in ("doubt", "gap", "notice", "bounce", "same-card", "discarded")
        case _:
            return False


def _matters(old: State, new: State) -> bool:
    """Whether phase, holds or cards changed, so that a command must have seen it."""
    if old.phase is not new.phase or old.holds is not new.holds or old.loose is not new.loose:
        return True
    if old.rescan is not new.rescan or old.aside is not new.aside or old.revisions is not new.revisions:
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


def _forget_bounce(old: State, new: State) -> State:
    """Once another card is taken, or play goes on, nobody asks any more whether the last one came twice."""
    if new.bounced is None:
        return new
    goes_on = old.phase is not new.phase or old.shoe is not new.shoe or old.rescan is not new.rescan
    return replace(new, bounced=None) if goes_on else new


def _same(state: State, _: ev.Event) -> State:
    return state


def _controller_started(state: State, _: ev.ControllerStarted) -> State:
    r = state.round
    return replace(
        state,
        scanner_up=False,
        unheard=True,
        scanner_why="not connected yet",
        standby=False,
        step_lost=state.step_lost or r is not None,
        auto_open=None,
        unread_deadline=None,
        # The close may be an instant of the machine's last run; no scan of this one lies before it.
        round=r
        and replace(r, deadline=None, pips_left=0, remind_deadline=None, closed_boot=None, in_step=False),
    )


def _table_opened(state: State, event: ev.TableOpened) -> State:
    rules = HouseRules.from_dict(event.profile)
    return replace(state, phase=Phase.NO_SHOE, rules=rules, inspected=False, shoe_since_open=False)


def _table_closed(state: State, _: ev.TableClosed) -> State:
    return replace(state, phase=Phase.CLOSED, dealer=None, pickup=None, last_dealer=None, pickups=())


def _dealer_changed(state: State, event: ev.DealerChanged) -> State:
    pickups = state.pickups
    if event.fixed and event.dealer and event.pickup:
        others = tuple(known for known in pickups if known[0] != event.dealer)
        pickups = (*others, (event.dealer, event.pickup))
    return replace(
        state,
        dealer=event.dealer,
        pickup=event.pickup,
        last_dealer=event.dealer or state.last_dealer,
        pickups=pickups,
    )


def _inspection_recorded(state: State, event: ev.InspectionRecorded) -> State:
    done = event.complete
    return replace(state, inspected=done, count_due=state.count_due and not done, counting=None)


def _count_began(state: State, event: ev.CountBegan) -> State:
    return replace(state, counting=Shoe(0, event.decks), tags=())


def _card_counted(state: State, event: ev.CardCounted) -> State:
    if event.card is None or state.counting is None:
        return state
    return replace(state, counting=state.counting.take(Card.parse(event.card)))


def _count_ended(state: State, _: ev.CountEnded) -> State:
    return replace(state, counting=None)


def _card_tagged(state: State, event: ev.CardTagged) -> State:
    rescan = state.rescan
    if event.again and rescan is not None:
        rescan = Rescan(rescan.what, rescan.cards, (*rescan.tags, event.tag))
    tags = state.tags if event.tag in state.tags else (*state.tags, event.tag)
    return replace(state, tags=tags, rescan=rescan)


def _table_held(state: State, event: ev.TableHeld) -> State:
    r = state.round
    hold = Hold(event.code, event.message, tuple((event.saw or {}).items()), state.row + 1)
    return replace(
        state,
        holds=(*state.holds, hold),
        round=r and replace(r, in_step=False, remind_deadline=None),
        step_lost=state.step_lost or r is not None,
        auto_open=None,
        unread_deadline=None,
    )


_OF_LABELS = frozenset({"card-missed", "card-conflict"})
"""Holds that ask to compare card by card, whatever ends them."""

_COMPARED = frozenset({"keep", "cards-confirmed", "rescanned", "fewer"})
"""Releases by which people say that the cards on the table are those on the screen."""


def _table_released(state: State, event: ev.TableReleased) -> State:
    holds = tuple(h for h in state.holds if h.code not in event.codes)
    rescan = None if "rescan" in event.codes else state.rescan
    r = state.round
    compared = not _OF_LABELS.isdisjoint(event.codes) or event.action in _COMPARED
    if r is not None and r.gap and compared and event.action != "resume":
        r = replace(r, gap=False, gap_before=False, gap_told=False)
    return replace(state, holds=holds, unread_deadline=event.unread_boot, rescan=rescan, round=r)


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


def _scanner_restored(state: State, event: ev.ScannerRestored) -> State:
    device = event.identity if event.where else state.device
    unheard = state.unheard or bool(state.device and device != state.device)
    return replace(state, scanner_up=True, scanner_why="", device=device, unheard=unheard)


def _device_swapped(state: State, _: ev.DeviceSwapped) -> State:
    r = state.round
    here = any(alert == "scanner-changed" for alert, _ in state.alerts)  # then it is the one remembered
    return replace(
        state,
        swapped=True,
        unheard=True,
        device=state.device if here else "",
        step_lost=state.step_lost or r is not None,
        standby=False,
        round=r and replace(r, in_step=False),
    )


def _alert_raised(state: State, event: ev.AlertRaised) -> State:
    others = tuple(one for one in state.alerts if one[0] != event.alert)
    return replace(state, alerts=(*others, (event.alert, event.message)))


def _alert_acknowledged(state: State, event: ev.AlertAcknowledged) -> State:
    return replace(state, alerts=tuple(a for a in state.alerts if a[0] != event.alert))


def _delivery_parked(state: State, event: ev.DeliveryParked) -> State:
    if event.revision is None or event.shoe is None or event.round is None:
        return state
    where = (event.shoe, event.round)
    since = {(shoe, number): revision for shoe, number, revision in state.revisions}.get(where)
    settled_since = since is not None and event.revision > 0 and (since == 0 or since > event.revision)
    if settled_since or where in state.unsettled:
        return state
    return replace(state, unsettled=(*state.unsettled, where))


def _device_noted(state: State, event: ev.DeviceNoted) -> State:
    r = state.round
    if event.ends_step:
        r = r and replace(r, in_step=False)
        state = replace(state, step_lost=True, standby=False, round=r)
    match event.kind:
        case "standby":
            return replace(state, standby=True, round=r and replace(r, gap_before=r.gap_before or r.gap))
        case "started":
            return replace(state, swapped=False)
        case "gap" | "doubt":
            told = event.kind == "gap" or not state.unheard  # else see first_heard()
            return replace(
                state, unheard=False, round=r and replace(r, gap=True, gap_told=r.gap_told or told)
            )
        case "bounce" if event.card is not None and state.shoe is not None:
            return replace(state, bounced=Card.parse(event.card))
        case "cut-card" if state.shoe is not None and state.shoe.cut is not None:
            cut = Cut(state.shoe.cut.out, True, state.shoe.cut.by_command)
            return replace(state, shoe=replace(state.shoe, cut=cut))
        case _:
            return state


def _scan_passed(state: State, event: ev.ScanPassed) -> State:
    return in_hand(state, event.label) if event.why.startswith(HANDLING) else state


_EVOLVE: dict[type[ev.Event], Callable[[State, Any], State]] = (
    OF_SHOE
    | OF_ROUND
    | {
        ev.ControllerStarted: _controller_started,
        ev.TableOpened: _table_opened,
        ev.TableClosed: _table_closed,
        ev.DealerChanged: _dealer_changed,
        ev.InspectionRecorded: _inspection_recorded,
        ev.TableHeld: _table_held,
        ev.TableReleased: _table_released,
        ev.ScannerLost: _scanner_lost,
        ev.ScannerRestored: _scanner_restored,
        ev.AlertRaised: _alert_raised,
        ev.AlertAcknowledged: _alert_acknowledged,
        ev.DeviceNoted: _device_noted,
        ev.DeviceSwapped: _device_swapped,
        ev.CountBegan: _count_began,
        ev.CardCounted: _card_counted,
        ev.CardTagged: _card_tagged,
        ev.CountEnded: _count_ended,
        ev.DeliveryParked: _delivery_parked,
        ev.DeliverySkipped: _same,
        # event.parked and history.skipped are no rows: they are sent in place of rows.
        ev.CommandRecorded: _same,
        ev.PinAttempted: _same,
        ev.RowsRemoved: _same,
        ev.ScanPassed: _scan_passed,
    }
)
