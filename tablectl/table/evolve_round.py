"""How the events of a round change a table: betting, cards, result and void."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, cast

from tablectl import events as ev
from tablectl.cards import Card, Position, Side
from tablectl.clock import SECOND
from tablectl.frozen import replace
from tablectl.shoe import Shoe
from tablectl.table import aside
from tablectl.table.state import (
    BURNED,
    KEPT,
    RESERVED,
    USED,
    Aside,
    Loose,
    Phase,
    Rescan,
    Round,
    State,
    ToldByHand,
)

UNREAD = "?"
"""How an event names a kept card that could not be read."""


def _begin_round(state: State, new: Round, phase: Phase) -> State:
    turned = state.the_rules.dealing.deal == "face-up"
    return replace(
        state,
        phase=phase,
        round=replace(new, turned=turned),
        shoe=replace(state.the_shoe, rounds=new.number),
        by_hand=tuple(told for told in state.by_hand if told.round == new.number - 1),
        unread=0,
        unread_label="",
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
    gap = r.gap and not event.in_step
    r = replace(r, gap=gap, gap_told=r.gap_told and (gap or r.gap_before))
    by_hand = event.source == "manual" and event.taken is None
    told = (ToldByHand(r.number, event.position, card),) if by_hand else ()
    if event.position.side is Side.PLAYER:
        r = replace(r, player=(*r.player, card), in_step=event.in_step, remind_deadline=event.remind_boot)
    else:
        r = replace(r, banker=(*r.banker, card), in_step=event.in_step, remind_deadline=event.remind_boot)
    shoe = state.the_shoe
    if event.taken is not None:
        shoe = shoe.recount([state.aside[event.taken].card], [card])
    elif not event.kept and not event.reserved:
        shoe = shoe.take(card)
    if event.reserved:
        state = aside.lend(state, r.number)
    state = replace(state, shoe=shoe)
    if event.taken is not None:
        state = aside.taken(state, (event.taken,))
    return replace(
        state,
        phase=Phase.DEALING if r.due else Phase.COMPLETE,
        round=r,
        loose=state.loose[1:] if event.kept else state.loose,
        by_hand=(*state.by_hand, *told),
        step_lost=not event.in_step,
        standby=False,
        swapped=False,
        unread=0,
        unread_deadline=None,
    )


def _hand_corrected(state: State, event: ev.HandCorrected) -> State:
    before = state.the_round
    player, banker = (tuple(map(Card.parse, hand)) for hand in (event.player, event.banker))
    kept = tuple(None if face == UNREAD else Card.parse(face) for face in event.kept)
    lay = tuple(state.aside[i].card for i in event.taken)
    state = aside.taken(state, event.taken)
    old = tuple(loose.card for loose in state.loose)
    loose = _still_kept(state.loose if event.how != "rescan" or kept[-len(old) :] == old else (), kept)
    r = replace(before, player=player, banker=banker, in_step=False, remind_deadline=None)
    dealing = Phase.DEALING if player else Phase.NO_MORE_BETS
    was = (*before.dealt, *old, *lay)
    return replace(
        aside.lent_are(state, r.number, r.dealt),
        phase=dealing if r.due else Phase.COMPLETE,
        round=r,
        shoe=state.the_shoe.recount(was, (*r.dealt, *kept)),
        loose=loose,
        by_hand=(*state.by_hand, *_told(event, r, was, kept, state.by_hand)),
        standby=False,
        step_lost=True,
        unread=0 if event.how == "rescan" or r.due is None else state.unread,
    )


def _still_kept(before: tuple[Loose, ...], kept: tuple[Card | None, ...]) -> tuple[Loose, ...]:
    """What was kept before keeps its label, though one of it went to the hand; what the rule took out of the
    hand, before all of that, has none."""
    left, found = before, list[Loose]()
    for card in reversed(kept):
        at = max((i for i, loose in enumerate(left) if loose.card == card), default=None)
        found.append(Loose(card, "", "overdraw") if at is None else left[at])
        left = left if at is None else left[:at]
    return tuple(reversed(found))


def _told(
    event: ev.HandCorrected,
    after: Round,
    before: tuple[Card | None, ...],
    kept: tuple[Card | None, ...],
    by_hand: tuple[ToldByHand, ...],
) -> list[ToldByHand]:
    """The cards that no message had told: neither of the hand nor kept ``before``, and not ``kept`` now.

    A correction tells one only where the card was told by hand (``by_hand``) before: else it was read wrong.
    """
    again = {told.position for told in by_hand if told.round == after.number}
    known, told = Counter(before), []
    known.subtract(kept)
    for position, card in after.cards.items():
        known[card] -= 1
        if known[card] < 0 and (event.how in ("insert", "rescan") or position in again):
            told.append(ToldByHand(after.number, position, card))
    return told


def _rescan_began(state: State, event: ev.RescanBegan) -> State:
    return replace(state, rescan=Rescan(event.what))


def _card_rescanned(state: State, event: ev.CardRescanned) -> State:
    assert state.rescan is not None
    cards = (*state.rescan.cards, Card.parse(event.card))
    return replace(state, rescan=Rescan(state.rescan.what, cards, state.rescan.tags))


def _hand_turned(state: State, event: ev.HandTurned) -> State:
    r = replace(state.the_round, turned=True, remind_deadline=event.remind_boot)
    return replace(state, round=r)


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
        settled=(state.where, f"{event.outcome.value}, confirmed by {event.confirmed_by}"),
    )


def _round_voided(state: State, event: ev.RoundVoided) -> State:
    text = f"void, approved by {event.approved_by}"
    loose = [kept.card for kept in state.loose]
    if event.earlier:
        state = _revised(state, event, 0, text)
        if state.shoe is None or state.shoe.number != event.shoe:
            return state
        assert event.round is not None
        cards = [Card.parse(card) for card in event.cards.values()]
        state = aside.round_void(state, event.round, [*cards, *(loose if event.uses_kept else ())])
        return replace(state, loose=()) if event.uses_kept else state
    r = state.the_round
    return replace(
        aside.round_void(state, r.number, [*r.dealt, *loose]),
        phase=Phase.IDLE,
        round=None,
        loose=(),
        rescan=None,
        last_scan="",
        last_outcome=None,
        unread=0,
        unread_deadline=None,
        settled=(state.where, text),
    )


def _revised(state: State, event: ev.Event, revision: int, text: str) -> State:
    """A round settled before has become something else."""
    assert event.shoe is not None and event.round is not None
    others = tuple(known for known in state.revisions if known[:2] != (event.shoe, event.round))
    state = replace(
        state,
        revisions=(*others, (event.shoe, event.round, revision)),
        unsettled=tuple(one for one in state.unsettled if one != (event.shoe, event.round)),
    )
    where = f"{event.shoe}/{event.round}"
    if state.settled[0] != where:
        return state
    # The shoe is not asked any more whether it agrees with that result.
    return replace(state, settled=(where, text), last_outcome=None)


def _round_amended(state: State, event: ev.RoundAmended) -> State:
    text = f"amended to {event.after['outcome']}, approved by {event.approved_by}"
    state = _revised(state, event, event.revision, text)
    if state.shoe is None or state.shoe.number != event.shoe:
        return state
    before, after = cards_told(event.before), cards_told(event.after)
    assert event.round is not None
    again = {told.position for told in state.by_hand if told.round == event.round}
    if event.taken is None:
        new = [at for at in after if at not in before][len(event.uses) :]
        used = _used(state, event.uses)
        used = replace(used, shoe=amended_shoe(used.the_shoe, before, after, event.uses))
    else:
        lay = [one.card for one in laid_aside(state, event.uses, event.taken)]
        new = [at for at in come(before, after, lay) if after[at] not in lay]
        used = amended(state, event.round, before, after, event.uses, event.taken)
    told = [ToldByHand(event.round, at, card) for at, card in after.items() if at in new or at in again]
    return replace(used, by_hand=(*state.by_hand, *told))


def amended(
    state: State,
    number: int,
    before: Mapping[Position, Card],
    after: Mapping[Position, Card],
    uses: Sequence[str],
    taken: Sequence[int],
) -> State:
    """The table after round ``number`` of its shoe, ``before``, turned out to be ``after``.

    ``uses``, ``taken``: where cards that came to it lay, and which ones they are there; more were not counted
    yet. A card that is no longer of the hand was drawn all the same.
    """
    places = list(zip(uses, taken, strict=True))
    kept = {i for place, i in places if place == KEPT}
    others = {i for place, i in places if place != KEPT}
    lay = [one.card for one in laid_aside(state, uses, taken)]
    away = gone(before, after)
    shoe = state.the_shoe.recount([*before.values(), *lay], [*after.values(), *away])
    state = aside.taken(replace(state, shoe=shoe), others)
    state = replace(state, loose=tuple(one for i, one in enumerate(state.loose) if i not in kept))
    state = aside.lent_are(state, number, tuple(after.values()))
    return aside.put(state, USED, away, of=number)


def laid_aside(state: State, uses: Sequence[str], taken: Sequence[int]) -> list[Loose | Aside]:
    """The cards that lie at these places."""
    pairs = zip(uses, taken, strict=True)
    return [state.loose[i] if place == KEPT else state.aside[i] for place, i in pairs]


def come(
    before: Mapping[Position, Card], after: Mapping[Position, Card], known: Collection[Card | None] = ()
) -> list[Position]:
    """Where the cards lie that are more than there were; ``known``: those of which it is likely.

    Where all cards from before are there still, it is the others, for some moved up. Else a card was read
    wrong too, and it is those in places that had none; but what only moved up to such a place is not more.
    """
    more = max(0, len(after) - len(before))
    left = Counter(before.values())
    others = []
    for at, card in after.items():
        left[card] -= 1
        if left[card] < 0:
            others.append(at)

    def doubt(at: Position) -> int:
        if at in others:
            return 0 if at not in before else 1 if after[at] in known else 3
        return 2

    found = others if len(others) == more else [at for at in after if at in others or at not in before]
    return sorted(found, key=doubt)[:more]


def gone(before: Mapping[Position, Card], after: Mapping[Position, Card]) -> list[Card]:
    """The cards that are less than there were."""
    return [before[at] for at in come(after, before)]


def _used(state: State, uses: tuple[str, ...]) -> State:
    """As the first releases wrote it: the first cards kept or reserved, or the last one burned."""
    reserved = [i for i, one in enumerate(state.aside) if one.place == RESERVED][: uses.count(RESERVED)]
    state = aside.unburned(aside.taken(state, reserved), uses.count(BURNED))
    return replace(state, loose=state.loose[uses.count(KEPT) :])


def cards_told(result: Mapping[str, Any]) -> dict[Position, Card]:
    """The cards of a result in its published shape, by position, in deal order."""
    laid = Round(0, player=_hand(result, Side.PLAYER), banker=_hand(result, Side.BANKER))
    return laid.cards


def _hand(result: Mapping[str, Any], side: Side) -> tuple[Card, ...]:
    return tuple(map(Card.parse, result[side.value]["cards"]))


def amended_shoe(
    shoe: Shoe, before: Mapping[Position, Card], after: Mapping[Position, Card], uses: tuple[str, ...] = ()
) -> Shoe:
    """The shoe after a settled hand, ``before``, turned out to be ``after``.

    A card that is no longer of the hand was drawn all the same; one that is new to it was not counted, but
    for the first ones, of which ``uses`` says where they lay.
    """
    stays = [position for position in before if position in after]
    new = [card for position, card in after.items() if position not in before]
    return shoe.recount(
        [before[position] for position in stays],
        [*(after[position] for position in stays), *new[len(uses) :]],
    )


def _scan_unread(state: State, event: ev.ScanUnread) -> State:
    label = state.unread_label if state.unread else event.label
    return replace(state, unread=state.unread + 1, unread_label=label, unread_deadline=event.hold_boot)


OF_ROUND: dict[type[ev.Event], Callable[[State, Any], State]] = {
    ev.BettingOpened: _betting_opened,
    ev.BettingClosing: _betting_closing,
    ev.BettingClosed: _betting_closed,
    ev.FreeHandOrdered: _hand_freed,
    ev.CardDealt: _card_dealt,
    ev.HandTurned: _hand_turned,
    ev.HandCorrected: _hand_corrected,
    ev.RescanBegan: _rescan_began,
    ev.CardRescanned: _card_rescanned,
    ev.RoundAmended: _round_amended,
    ev.AnnouncementAwaited: _announcement_awaited,
    ev.Reminded: _reminded,
    ev.RoundResulted: _round_resulted,
    ev.RoundVoided: _round_voided,
    ev.ScanUnread: _scan_unread,
}
"""What each event of a round does."""
