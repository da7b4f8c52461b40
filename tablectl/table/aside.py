"""Cards that lie aside: drawn with a round, and in no hand of it.

A card in excess that was burned or reserved, one that an amendment took out of its hand, the cards of a round
that is void: each is counted, and each may yet turn out to be a card of the round it was drawn with. So the
table remembers them for as long as the shoe is in play, and who finds one in a hand takes it from here: it is
moved, not counted a second time (house rules: "each physical card keeps its count").
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from tablectl.cards import Card
from tablectl.frozen import replace
from tablectl.table.state import BURNED, LENT, RESERVED, USED, Aside, State


def put(
    state: State, place: str, cards: Iterable[Card | None], *, at: int = 0, of: int | None = None
) -> State:
    """These cards, drawn with round ``of`` or the newest one, lie at ``place`` from now on."""
    shoe = state.the_shoe
    number = shoe.rounds if of is None else of
    new = tuple(Aside(card, number, place, at, shoe.out) for card in cards)
    return replace(state, aside=(*state.aside, *new)) if new else state


def taken(state: State, places: Collection[int]) -> State:
    """Without the cards at these indexes of ``state.aside``; a burned one is burned no more."""
    if not places:
        return state
    gone = {state.aside[i].at for i in places if state.aside[i].place == BURNED}
    left = tuple(
        dataclasses.replace(one, at=one.at - sum(at < one.at for at in gone)) if one.place == BURNED else one
        for i, one in enumerate(state.aside)
        if i not in places
    )
    shoe = state.the_shoe
    burned = tuple(face for at, face in enumerate(shoe.burned) if at not in gone)
    return replace(state, aside=left, shoe=replace(shoe, burned=burned))


def unburned(state: State, count: int) -> State:
    """Without the last ``count`` cards burned, whatever they were burned for."""
    shoe = state.the_shoe
    burned = shoe.burned[: len(shoe.burned) - count]
    left = tuple(one for one in state.aside if one.place != BURNED or one.at < len(burned))
    return replace(state, aside=left, shoe=replace(shoe, burned=burned))


def named(lie: Sequence[Aside], at: int, card: Card) -> tuple[Aside, ...]:
    """These, of which the one at ``at`` is ``card``."""
    return (*lie[:at], dataclasses.replace(lie[at], card=card), *lie[at + 1 :])


def unread(state: State, out: int) -> int | None:
    """Which card aside was the ``out``-th one drawn, was never read, and is of a void round; None: none."""
    shoe = state.the_shoe
    if not 0 < out <= shoe.out or shoe.drawn[out - 1] is not None:
        return None
    lie = (i for i, one in enumerate(state.aside) if (one.card, one.place, one.out) == (None, USED, out))
    return max(lie, default=None)


def lend(state: State, number: int) -> State:
    """The first card reserved is laid in round ``number``; it stays known as one of the round before."""
    at = next(i for i, one in enumerate(state.aside) if one.place == RESERVED)
    lent = dataclasses.replace(state.aside[at], place=LENT, at=number)
    return replace(state, aside=(*state.aside[:at], lent, *state.aside[at + 1 :]))


def lent_are(state: State, number: int, dealt: Sequence[Card]) -> State:
    """Round ``number`` lies as ``dealt`` now: its first cards are those that were lent to it."""
    if not any(one.place == LENT and one.at == number for one in state.aside):
        return state
    first = iter(dealt)
    known = (
        dataclasses.replace(one, card=next(first, one.card)) if (one.place, one.at) == (LENT, number) else one
        for one in state.aside
    )
    return replace(state, aside=tuple(known))


def round_void(state: State, number: int, cards: Iterable[Card | None] = ()) -> State:
    """Round ``number`` is void: what was lent to it is free for its own round, ``cards`` besides are used."""
    lent = [one for one in state.aside if (one.place, one.at) == (LENT, number)]
    if lent:
        known = (dataclasses.replace(one, place=USED) if one in lent else one for one in state.aside)
        state = replace(state, aside=tuple(known))
    used = list(cards)
    for one in lent:
        if one.card in used:
            used.remove(one.card)
    return put(state, USED, used, of=number)


def surplus(more: Sequence[Card | None], less: Sequence[Card | None]) -> list[Card | None]:
    """What there is in ``more`` and not in ``less``, each card for itself, in order."""
    left, found = Counter(less), []
    for card in more:
        left[card] -= 1
        if left[card] < 0:
            found.append(card)
    return found


def newest(state: State) -> int | None:
    """The index of the card aside that was the last one drawn from the shoe; None: none of them was."""
    shoe = state.shoe
    if shoe is None or not state.aside or state.loose:
        return None
    last = len(state.aside) - 1
    one = state.aside[last]
    return last if one.out >= shoe.out and one.place in (BURNED, RESERVED) else None
