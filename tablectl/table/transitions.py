"""The table as a state machine: its phases, and what each kind of input may do in each.

Theory of operation
-------------------
A table is a *phase* and perhaps a *hold* over it.  Two pure functions move it:

* ``decide(state, input, now, around) → Decision`` asks this file which handler an input has in
  the present phase, and the handler answers with events and effects;
* ``evolve(state, event) → state`` folds the events.  Nothing else changes state, live or on replay.

Time is an input like any other.  Deadlines are data in the state (``next_deadline``); before an
input is decided, every deadline at or before its *arrival* is, so a card that arrived after the
close finds betting closed, however late it is looked at, and one that arrived before it is an
early card even then.

The tables
----------
``LAWFUL`` lists every lawful pair of kind and phase: the handler, and the phases it may lead to.
A *command* without an entry is refused, with the one reason its phase has in ``REFUSALS``.  A
*report of the shoe* without an entry is written down and changes nothing.  Under a hold the
entries of ``UNDER_HOLD`` come first: a card is kept with the hold, and a command which is not named
there is refused with the hold's message and the ways out.

The outside sees a round go ::

    idle → betting → no more bets → dealing → complete → idle

and a shoe go ``no shoe → burning → idle … shuffle due``.  The diagram in docs/table.md is drawn
from ``LAWFUL``; a test walks the full product of phases, holds and kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tablectl.printable import sentence
from tablectl.table import words
from tablectl.table.inputs import COMMANDS, Kind
from tablectl.table.state import Phase

CLOSED, NO_SHOE, BURNING, IDLE, BETTING, NO_MORE_BETS, DEALING, COMPLETE, SHUFFLE_DUE = Phase
_EVERY = tuple(Phase)
_SHOE = (BURNING, IDLE, BETTING, NO_MORE_BETS, DEALING, COMPLETE)
_ROUND = (BETTING, NO_MORE_BETS, DEALING, COMPLETE)
_ON_TABLE = (NO_MORE_BETS, DEALING, COMPLETE)
_AFTER_ROUND = (IDLE, SHUFFLE_DUE)


@dataclass(frozen=True, slots=True)
class Move:
    """``handler``: a name in :mod:`tablectl.table.decide`. ``to``: the phases it may lead to."""

    handler: str
    to: tuple[Phase, ...]


def _stay(handler: str, *phases: Phase) -> dict[Phase, Move]:
    return {phase: Move(handler, (phase,)) for phase in phases}


_BY_KIND: dict[Kind, dict[Phase, Move]] = {
    # --- cards -----------------------------------------------------------------------------------
    Kind.CARD: {
        **_stay("card_handled", CLOSED, NO_SHOE, SHUFFLE_DUE),
        BURNING: Move("card_burned", (BURNING, IDLE)),
        **_stay("card_not_due", IDLE, BETTING, COMPLETE),
        NO_MORE_BETS: Move("card_dealt", (NO_MORE_BETS, DEALING)),
        DEALING: Move("card_dealt", (DEALING, COMPLETE, *_AFTER_ROUND)),
    },
    Kind.UNREAD: {
        **_stay("card_handled", CLOSED, NO_SHOE, SHUFFLE_DUE),
        **_stay("card_unread", BURNING, NO_MORE_BETS, DEALING),
        **_stay("card_not_due", IDLE, BETTING, COMPLETE),
    },
    Kind.CUT_SEEN: {
        **_stay("cut_seen", BURNING, BETTING, NO_MORE_BETS, DEALING, COMPLETE),
        IDLE: Move("cut_seen", (IDLE, SHUFFLE_DUE)),
    },
    # --- what the shoe says ------------------------------------------------------------------------
    Kind.VERDICT: {
        **_stay("verdict_afterwards", BURNING, IDLE, BETTING, NO_MORE_BETS, SHUFFLE_DUE),
        **_stay("verdict_too_soon", DEALING),
        COMPLETE: Move("verdict", (COMPLETE, *_AFTER_ROUND)),
    },
    Kind.FORCED_END: _stay("forced_end", *_ROUND),
    Kind.STANDBY: _stay("standby", *_EVERY),
    Kind.SHOE_STARTED: _stay("shoe_restarted", *_SHOE),
    Kind.SHOE_ERROR: _stay("shoe_error", *_SHOE),
    Kind.SHOE_NOTE: _stay("shoe_note", *_EVERY),
    Kind.REJECTED: _stay("rejected", *_EVERY),
    Kind.DISCARDED: _stay("discarded", *_EVERY),
    Kind.LOST: _stay("scanner_lost", *_EVERY),
    Kind.RESTORED: _stay("scanner_restored", *_EVERY),
    # --- time and the process -----------------------------------------------------------------------
    Kind.TIME: _stay("nothing", *_EVERY),
    Kind.STARTED: {
        **_stay("started", *(p for p in _EVERY if p is not BETTING)),
        BETTING: Move("started", (NO_MORE_BETS,)),
    },
    Kind.TROUBLE: _stay("trouble", *_EVERY),
    Kind.JOURNAL_FULL: _stay("journal_full", *_EVERY),
    Kind.JOURNAL_BACK: _stay("nothing", *_EVERY),
    # --- the dealer ------------------------------------------------------------------------------------
    Kind.OPEN: {CLOSED: Move("open_table", (NO_SHOE,))},
    Kind.CLOSE: {
        NO_SHOE: Move("close_table", (CLOSED,)),
        SHUFFLE_DUE: Move("close_table", (CLOSED,)),
    },
    Kind.SIGN_IN: {
        **_stay("sign_in", NO_SHOE, SHUFFLE_DUE),
        IDLE: Move("sign_in", (IDLE, BURNING)),
    },
    Kind.SIGN_OUT: _stay("sign_out", NO_SHOE, IDLE, SHUFFLE_DUE),
    Kind.INSPECT: _stay("inspect", NO_SHOE, SHUFFLE_DUE),
    Kind.SHOE_NEW: {
        NO_SHOE: Move("shoe_new", (BURNING, IDLE)),
        SHUFFLE_DUE: Move("shoe_new", (BURNING, IDLE)),
    },
    Kind.BURN_DONE: {BURNING: Move("burn_done", (BURNING, IDLE))},
    Kind.BETS_OPEN: {IDLE: Move("bets_open", (BETTING,))},
    Kind.BETS_CLOSE: {BETTING: Move("bets_close", (NO_MORE_BETS,))},
    Kind.CUT_CARD: _stay("cut_card", *_SHOE),
    Kind.TURN: {
        DEALING: Move("turn_cards", (DEALING,)),
        COMPLETE: Move("turn_cards", (COMPLETE, *_AFTER_ROUND)),
    },
    Kind.CONFIRM: {COMPLETE: Move("confirm", (COMPLETE, *_AFTER_ROUND))},
    Kind.RESCAN: _stay("rescan", NO_MORE_BETS, DEALING, COMPLETE),
    # A card that was taken for one read twice, and is another of the same face: it does what a card does.
    Kind.SAME_AGAIN: {
        BURNING: Move("same_again", (BURNING, IDLE)),
        **_stay("same_again", IDLE, BETTING, COMPLETE),
        DEALING: Move("same_again", (DEALING, COMPLETE, *_AFTER_ROUND)),
    },
    Kind.HOLD: _stay("hold", *_EVERY),
    Kind.ACK: _stay("acknowledge", *_EVERY),
    # --- the pit boss ------------------------------------------------------------------------------------
    # What sets a hand right is given under a hold only: another card might fall meanwhile.
    Kind.RELEASE: {},
    Kind.CORRECT: {},
    Kind.INSERT: {},
    Kind.MOVE: {},
    Kind.ENTER: {},
    Kind.VOID: {
        **{phase: Move("void", _AFTER_ROUND) for phase in _ROUND},
        **_stay("void", *(phase for phase in _EVERY if phase not in _ROUND)),
    },
    Kind.AMEND: _stay("amend", *_EVERY),
    Kind.BURN: _stay("burn", BURNING) | {IDLE: Move("burn", (BURNING,))},
    Kind.BURN_ERROR: {IDLE: Move("burn_error", (BURNING,))},
    Kind.HAND_FREE: {IDLE: Move("hand_free", (NO_MORE_BETS,))},
    Kind.SHOE_END: {
        BURNING: Move("shoe_end", (SHUFFLE_DUE,)),
        IDLE: Move("shoe_end", (SHUFFLE_DUE,)),
    },
    Kind.SHOE_ADOPT: {phase: Move("shoe_adopt", (IDLE,)) for phase in (NO_SHOE, SHUFFLE_DUE)},
    Kind.SHOE_UNDO: {phase: Move("shoe_undo", (NO_SHOE, SHUFFLE_DUE)) for phase in (BURNING, IDLE)},
    Kind.CUT_UNDO: _stay("cut_undo", *_SHOE),
    Kind.DEVICE_SWAP: _stay("device_swap", *_SHOE),
}

LAWFUL: dict[tuple[Phase, Kind], Move] = {
    (phase, kind): move for kind, moves in _BY_KIND.items() for phase, move in moves.items()
}
"""Every lawful pair when no hold lies over the table."""

_RELEASE_TO = {
    BURNING: (BURNING, IDLE),
    IDLE: (IDLE, BURNING),
    NO_MORE_BETS: (NO_MORE_BETS, DEALING, COMPLETE, *_AFTER_ROUND),
    DEALING: (DEALING, COMPLETE, *_AFTER_ROUND, NO_MORE_BETS),
    COMPLETE: (COMPLETE, *_AFTER_ROUND),
}

UNDER_HOLD: dict[tuple[Phase, Kind], Move] = {
    # Whatever is written down goes on being written down, and people may still hold and look.
    **{
        pair: move
        for pair, move in LAWFUL.items()
        if pair[1] not in COMMANDS and pair[1] not in (Kind.CARD, Kind.UNREAD, Kind.VERDICT)
    },
    **{(phase, kind): Move("card_kept", (phase,)) for phase in _SHOE for kind in (Kind.CARD, Kind.UNREAD)},
    **{
        (phase, kind): LAWFUL[phase, kind]
        for phase in (CLOSED, NO_SHOE, SHUFFLE_DUE)
        for kind in (Kind.CARD, Kind.UNREAD)
    },
    **{
        (phase, kind): Move(handler, _RELEASE_TO.get(phase, (phase,)))
        for phase in _EVERY
        for kind, handler in ((Kind.RELEASE, "release"), (Kind.JOURNAL_BACK, "journal_back"))
    },
    **{(phase, Kind.SAME_AGAIN): Move("same_again", (phase,)) for phase in _SHOE},
    **{(phase, Kind.HOLD): LAWFUL[phase, Kind.HOLD] for phase in _EVERY},
    **{(phase, Kind.ACK): LAWFUL[phase, Kind.ACK] for phase in _EVERY},
    **{
        (phase, kind): LAWFUL[phase, kind]
        for phase in _SHOE
        for kind in (Kind.CUT_CARD, Kind.CUT_UNDO, Kind.DEVICE_SWAP)
    },
    # What was settled before is no part of what holds the table now.
    **{(phase, kind): LAWFUL[phase, kind] for phase in _EVERY for kind in (Kind.VOID, Kind.AMEND)},
    **{
        (phase, kind): Move(kind.value, (NO_MORE_BETS, DEALING, COMPLETE))
        for phase in _ON_TABLE
        for kind in (Kind.INSERT, Kind.MOVE, Kind.CORRECT)
    },
    # Cards kept with a hold can be named and put in order wherever they were drawn.
    **{
        (phase, kind): Move(kind.value, (phase,))
        for phase in (BURNING, IDLE, BETTING)
        for kind in (Kind.MOVE, Kind.CORRECT)
    },
    (NO_MORE_BETS, Kind.ENTER): Move("enter", (DEALING,)),
    (DEALING, Kind.ENTER): Move("enter", (DEALING, COMPLETE, *_AFTER_ROUND)),
    **{(phase, Kind.RESCAN): LAWFUL[phase, Kind.RESCAN] for phase in _ON_TABLE},
    (BURNING, Kind.BURN_DONE): LAWFUL[BURNING, Kind.BURN_DONE],
    **{(phase, Kind.SHOE_END): Move("shoe_end", (SHUFFLE_DUE,)) for phase in _SHOE},
    (BETTING, Kind.BETS_CLOSE): LAWFUL[BETTING, Kind.BETS_CLOSE],
    (DEALING, Kind.TURN): Move("turn_cards", (DEALING,)),
    (COMPLETE, Kind.TURN): Move("turn_cards", (COMPLETE,)),
}
"""Every lawful pair under a hold."""

REFUSALS: dict[Phase, str] = {
    CLOSED: "the table is closed; first: open",
    NO_SHOE: "no shoe is in play; first: sign-in, shoe new",
    BURNING: "burn cards are due; burn them first",
    IDLE: "no round is in play and none of this is due; next: bets open",
    BETTING: "betting is open; wait for its end, or: bets close",
    NO_MORE_BETS: "betting is closed and the hand is to be dealt; deal it",
    DEALING: "a hand is being dealt; finish it",
    COMPLETE: "the hand is complete and its result is not out; next: confirm",
    SHUFFLE_DUE: "the shoe has ended; next: shoe new",
}
"""The one default refusal of each phase, in the dealer's words, naming the way out."""


def move_for(phase: Phase, kind: Kind, *, held: bool) -> Move | None:
    """The lawful move, or None."""
    return (UNDER_HOLD if held else LAWFUL).get((phase, kind))


_AS_OFFERED = {
    Kind.CORRECT: "correct",
    Kind.INSERT: "insert",
    Kind.MOVE: "move",
    Kind.ENTER: "enter",
    Kind.RESCAN: "rescan hand",
    Kind.BURN_DONE: "burn done",
}
"""Commands that under a hold are lawful only where they are a way out of it."""


def move_as_offered(phase: Phase, kind: Kind, held: bool, ways: Collection[str]) -> Move | None:
    """The lawful move of a command where ``ways`` are offered, or None."""
    way = _AS_OFFERED.get(kind)
    if held and way is not None and way not in ways:
        return None
    return move_for(phase, kind, held=held)


def default_refusal(phase: Phase, kind: Kind, holds: Sequence[str], ways: Iterable[str]) -> str:
    """Why a command without a lawful move is refused. ``holds``: their messages; ``ways``: in words."""
    if holds:
        told = words.ways_out(ways)
        return f"the table is on hold. {' '.join(map(sentence, holds))} {told[0].upper()}{told[1:]}"
    if kind in (Kind.RELEASE, Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER):
        return "the table is not on hold; first: hold"
    return f"phase {phase.value}: {REFUSALS[phase]}"
