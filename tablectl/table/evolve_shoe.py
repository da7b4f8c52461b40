"""How the events of a shoe change a table: its start, burns, cutting card, kept cards and end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tablectl import events as ev
from tablectl.cards import Card, Position
from tablectl.frozen import replace
from tablectl.house import HouseRules
from tablectl.shoe import Cut, Shoe
from tablectl.table.aside import named, put, taken
from tablectl.table.state import BURNED, RESERVED, Loose, Phase, State, ToldByHand, told_by_hand


def _shoe_started(state: State, event: ev.ShoeStarted) -> State:
    assert event.shoe is not None
    return replace(
        state,
        phase=Phase.IDLE,
        rules=HouseRules.from_dict(event.rules),
        shoe=_adopted(event) if event.adopted else Shoe(event.shoe, event.decks),
        shoes=event.shoe,
        tags=(),
        before_shoe=(state.phase.value, state.inspected, state.shoe_since_open),
        inspected=False,
        shoe_since_open=True,
        last_scan="",
        last_outcome=None,
    )


def _adopted(event: ev.ShoeStarted) -> Shoe:
    """A shoe in play on another controller before: its cards out are known by number only."""
    told = event.adopted or {}
    out, rounds = int(told["out"]), int(told["rounds"])
    last = rounds + 1 if told.get("last_hand") else None
    return replace(
        Shoe(event.shoe or 0, event.decks, drawn=(None,) * out, order=b"\xff" * out),
        rounds=rounds,
        last_round=last,
        cut=Cut(out, by_scanner=False, by_command=True) if last else None,
    )


def _burns_ordered(state: State, event: ev.BurnsOrdered) -> State:
    """What is ordered while cards are due comes behind them."""
    state = replace(
        state,
        phase=Phase.BURNING,
        burns_due=state.burns_due + event.count,
        burn_first_card=state.burn_first_card or event.first_card,
    )
    if state.burns_due > event.count:
        return replace(state, burns_behind=(*state.burns_behind, (event.count, event.reason)))
    return replace(state, burn_reason=event.reason)


def _after_burn(state: State, left: int) -> State:
    phase = Phase.IDLE if state.phase is Phase.BURNING and left == 0 else state.phase
    reason, behind = state.burn_reason, state.burns_behind
    while behind and sum(count for count, _ in behind) >= left:
        reason, behind = behind[0][1], behind[1:]
    return replace(
        state,
        phase=phase,
        burns_due=left,
        burn_reason=reason,
        burns_behind=behind,
        burn_first_card=False,
        last_scan="burn",
        unread=0,
        unread_deadline=None,
    )


def _card_burned(state: State, event: ev.CardBurned) -> State:
    shoe = state.the_shoe
    card = None if event.card is None else Card.parse(event.card)
    if not event.kept:
        shoe = shoe.take(card)
    unknown = "unread" if state.the_rules.burn.scanned else "unseen"
    shoe = replace(shoe, burned=(*shoe.burned, event.card or unknown))
    loose = state.loose[1:] if event.kept else state.loose
    unread = state.unread if event.kept else 0
    excess = event.kept and state.phase is not Phase.BURNING
    run, out = state.burn_run, shoe.out - len(loose)
    follows = bool(run) and run[-1][0] == out - 1
    run = () if excess or state.burn_first_card else (*(run if follows else ()), (out, event.reason))
    state = in_hand(replace(state, shoe=shoe, loose=loose), event.label)
    if excess:
        state = put(state, BURNED, (card,), at=len(shoe.burned) - 1)
    return replace(_after_burn(state, event.left), unread=unread, burn_run=run)


def _shoe_ended(state: State, event: ev.ShoeEnded) -> State:
    codes = {hold.code for hold in state.holds}
    unaccounted = "integrity" in codes or ("shoe-empty" in codes and state.the_shoe.left > 0)
    if event.withdrawn and state.before_shoe is not None:
        phase, inspected, since_open = state.before_shoe
        state = replace(state, inspected=inspected, shoe_since_open=since_open)
    else:
        phase = Phase.SHUFFLE_DUE
        state = replace(state, last_shoe=state.the_shoe.number)
    return replace(
        state,
        phase=Phase(phase),
        shoe=None,
        round=None,
        loose=(),
        aside=(),
        by_hand=(),
        rescan=None,
        before_shoe=None,
        count_due=state.count_due or unaccounted,
        burns_due=0,
        burn_first_card=False,
        burns_behind=(),
        burn_run=(),
        auto_open=None,
        unread=0,
        unread_deadline=None,
    )


def _cut_card_drawn(state: State, event: ev.CutCardDrawn) -> State:
    shoe = state.the_shoe
    cut = Cut(event.out, event.by == "scanner", event.by == "dealer")
    match state.phase:
        case Phase.DEALING | Phase.COMPLETE:
            last = state.the_round.number + state.the_rules.shoe.hands_after_cut
        case Phase.BETTING | Phase.NO_MORE_BETS:
            last = state.the_round.number
        case _:
            last = shoe.rounds + 1
    return replace(state, shoe=replace(shoe, cut=cut, last_round=last))


def _cut_card_withdrawn(state: State, _: ev.CutCardWithdrawn) -> State:
    return replace(state, shoe=replace(state.the_shoe, cut=None, last_round=None, announced=False))


def _last_hand_announced(state: State, _: ev.LastHandAnnounced) -> State:
    return replace(state, shoe=replace(state.the_shoe, announced=True))


def _scan_kept(state: State, event: ev.ScanKept) -> State:
    card = None if event.card is None else Card.parse(event.card)
    loose = (*state.loose, Loose(card, event.label, event.code, state.standby))
    return in_hand(replace(state, shoe=state.the_shoe.take(card), loose=loose), event.label)


def in_hand(state: State, label: str) -> State:
    """For the shoe a card that it calls one of a hand is that, whatever becomes of it here."""
    if label not in tuple(Position):
        return state
    return replace(state, standby=False, step_lost=True)


def _card_dropped(state: State, event: ev.CardDropped) -> State:
    if event.burned is not None:
        return _burned_twice(state, event.burned, event.left)
    if event.taken is not None:
        card = state.aside[event.taken].card
        return taken(replace(state, shoe=state.the_shoe.untake(card)), (event.taken,))
    last = state.loose[-1]
    told = told_by_hand(state, last.label, last.card)
    return replace(
        state,
        shoe=state.the_shoe.untake(last.card),
        loose=state.loose[:-1],
        by_hand=tuple(one for one in state.by_hand if one is not told),
    )


def _burned_twice(state: State, place: int, left: int) -> State:
    """A burn card was no other card than the one before it: ``left`` are due, first what it was due for."""
    run, shoe = state.burn_run, state.the_shoe
    out, reason = run[place]
    at = len(shoe.burned) + place - len(run)
    burned = (*shoe.burned[:at], *shoe.burned[at + 1 :])
    shoe = replace(shoe.untake(shoe.drawn[out - 1], before=out), burned=burned)
    later = ((since - 1, why) for since, why in run[place + 1 :])
    state = replace(state, shoe=shoe, burn_run=(*run[:place], *later))
    if not left:
        return state
    behind = state.burns_behind
    if state.burns_due and state.burn_reason != reason:
        first = state.burns_due - sum(count for count, _ in behind)
        behind = ((first, state.burn_reason), *behind)
    return replace(state, phase=Phase.BURNING, burns_due=left, burn_reason=reason, burns_behind=behind)


def _unread_named(state: State, event: ev.UnreadNamed) -> State:
    card = Card.parse(event.card)
    shoe = state.the_shoe.exchange(None, card)
    return replace(state, shoe=shoe, aside=named(state.aside, event.taken, card))


def _kept_named(state: State, event: ev.KeptNamed) -> State:
    card, at = Card.parse(event.card), event.place - 1
    was = state.loose[at]
    told = ToldByHand(state.round.number if state.round else 0, was.label, card)
    loose = (*state.loose[:at], Loose(card, was.label, was.code, was.begins), *state.loose[at + 1 :])
    return replace(
        state,
        shoe=state.the_shoe.exchange(was.card, card),
        loose=loose,
        by_hand=state.by_hand if was.card else (*state.by_hand, told),
    )


def _kept_moved(state: State, event: ev.KeptMoved) -> State:
    loose = list(state.loose)
    loose.insert(event.to - 1, loose.pop(event.place - 1))
    return replace(state, loose=tuple(loose))


def _cards_reserved(state: State, _: ev.CardsReserved) -> State:
    cards = [kept.card for kept in state.loose if kept.card is not None]
    return replace(put(state, RESERVED, cards), loose=())


OF_SHOE: dict[type[ev.Event], Callable[[State, Any], State]] = {
    ev.ShoeStarted: _shoe_started,
    ev.BurnsOrdered: _burns_ordered,
    ev.CardBurned: _card_burned,
    ev.ShoeEnded: _shoe_ended,
    ev.CutCardDrawn: _cut_card_drawn,
    ev.CutCardWithdrawn: _cut_card_withdrawn,
    ev.LastHandAnnounced: _last_hand_announced,
    ev.ScanKept: _scan_kept,
    ev.CardDropped: _card_dropped,
    ev.UnreadNamed: _unread_named,
    ev.KeptNamed: _kept_named,
    ev.KeptMoved: _kept_moved,
    ev.CardsReserved: _cards_reserved,
}
"""What each event of a shoe does."""
