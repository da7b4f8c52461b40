"""One card read twice: where its repeat lies, which a person may take back out of hand and count.

Two cards alike are no proof, for eight of each are in a shoe: what is told here is only whether it *may* be
so. The repeat is the newer of two reads between which nothing was drawn. Where the first gave no face, and
the round was void with it, the very next card may be that one once more, whatever its face.
"""

from __future__ import annotations

from tablectl.shoe import Shoe
from tablectl.table.aside import newest, unread
from tablectl.table.state import KEPT, LENT, Phase, State, told_by_hand

BURNED_AS_DUE, ASIDE, LAID = "burned as due", "aside", "laid"
"""Where a repeat may lie besides kept with a hold: burned as one that was due; burned in excess or reserved;
in the hand."""


def repeat(state: State) -> str | None:
    """Where a card lies that may be another one read again: the same face, nothing between, or one that
    people told, or the first one behind one that was never read.

    Not for its face while the hand lies face down: that two cards are alike would tell something of them.
    """
    shoe = state.shoe
    if state.loose and told_by_hand(state, state.loose[-1].label, state.loose[-1].card):
        return KEPT
    if shoe is not None and unread_again(state) is not None:
        return _last(state)
    if shoe is None or (state.round is not None and not state.round.turned):
        return None
    last = shoe.drawn[-1] if alike(shoe, shoe.out) else None
    if state.loose and state.loose[-1].card is not None and state.loose[-1].card == last:
        return KEPT
    if burned_twice(state) is not None:
        return BURNED_AS_DUE
    if last is None or state.loose:
        return None
    if (at := newest(state)) is not None:
        return ASIDE if state.aside[at].card == last else None
    r = state.round
    # The card before the first of a hand was drawn before betting: no reader repeats itself over that.
    laid = r is not None and state.phase is not Phase.BETTING and len(r.dealt) > 1 and r.dealt[-1] == last
    return LAID if laid else None


def alike(shoe: Shoe, out: int) -> bool:
    """Whether the ``out``-th card was read as the one before it."""
    return out > 1 and shoe.drawn[out - 1] is not None and shoe.drawn[out - 1] == shoe.drawn[out - 2]


def burned_twice(state: State) -> int | None:
    """Which of the burn cards that were due (``state.burn_run``) may be the one before it, read twice.

    The last one; else the only one that is like the one before it: in the rack nobody sees which it was.
    Behind them may lie kept cards, but of no round: who burned as many as were due drew one more than the
    table wanted, and that one holds it.
    """
    run, shoe = state.burn_run, state.shoe
    if not run or shoe is None or run[-1][0] + len(state.loose) != shoe.out:
        return None
    if state.loose and state.round is not None:
        return None
    found = [i for i, (out, _) in enumerate(run) if alike(shoe, out)]
    if not found or (found[-1] < len(run) - 1 and len(found) > 1):
        return None
    out, burned = run[found[-1]][0], shoe.burned[found[-1] - len(run)]
    return found[-1] if burned == str(shoe.drawn[out - 1]) else None


def unread_again(state: State) -> int | None:
    """Which card aside, never read until its round was void, the last card may be: none came between."""
    return unread(state, state.the_shoe.out - 1)


def may_come_again(state: State) -> bool:
    """Whether the next card may be one that was never read until its round was void."""
    return state.shoe is not None and unread(state, state.shoe.out) is not None


def _last(state: State) -> str | None:
    """Where the last card lies, if it can be taken back from there."""
    out, r = state.the_shoe.out, state.round
    if state.loose:
        return KEPT
    if newest(state) is not None:
        return ASIDE
    if state.burn_run and state.burn_run[-1][0] == out:
        return BURNED_AS_DUE
    if r is None or r.dealt[-1:] != state.the_shoe.drawn[-1:]:
        return None
    # What was reserved came before it; told by hand, or reserved itself, it lies there by people's word.
    lent = sum((one.place, one.at) == (LENT, r.number) for one in state.aside)
    told = any(told.round == r.number for told in state.by_hand) or any(one.out >= out for one in state.aside)
    return None if told or len(r.dealt) != lent + 1 else LAID
