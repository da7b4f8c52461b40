"""``decide``: what an input does to a table at a moment. Pure; time is an argument.

First the deadlines that lay at or before the input's arrival, then the input itself, by the
handler that :mod:`tablectl.table.transitions` names for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from tablectl import events as ev
from tablectl.clock import SECOND, Instant
from tablectl.scanner import Arrived
from tablectl.table import (
    again,
    burning,
    corrections,
    dealer,
    dealing,
    device,
    pit_boss,
    process,
    settled,
    shoes,
    words,
)
from tablectl.table import reasons as why_codes
from tablectl.table.holds import WAYS, offered
from tablectl.table.inputs import (
    COMMANDS,
    ROUND_CHANGING,
    SUPERVISED,
    Around,
    Command,
    Decision,
    Expect,
    Input,
    Started,
    kind_of,
)
from tablectl.table.rounds import betting_refusal, close_betting, open_betting, share_reached
from tablectl.table.state import Phase, Round, State, next_deadline
from tablectl.table.transitions import REFUSALS, default_refusal, move_as_offered, move_for
from tablectl.table.turn import Refused, Turn

LATE = SECOND
"""A window found overdue by more than this was suspended with the process or the machine."""


def decide(state: State, given: Input, now: Instant, around: Around) -> Decision:
    """What ``given`` does to the table at ``now``; ``given.at`` is when it arrived.

    Never raises for what a device or a person may send. The decision's state is the fold of its
    events over ``state``.
    """
    turn = Turn(state, now, around)
    if not isinstance(given, Started):
        # A start drops the deadlines of the process before it, perhaps of the machine's last run.
        _pass_deadlines(turn, given.at.boot)
    if isinstance(given, Command):
        refused = _command(turn, given)
        return Decision(tuple(turn.events), tuple(turn.effects), turn.state, turn.answer, refused, turn.asks)
    if isinstance(given, Arrived):
        given = again.by_tag(turn.state, given)
        device.first_heard(turn, given.item)
    before = turn.state
    kind = kind_of(given)
    move = move_for(turn.state.phase, kind, held=turn.state.held)
    if move is not None:
        HANDLERS[move.handler](turn, given)
    else:
        device.note(turn, kind.value, f"not expected: {REFUSALS[turn.state.phase]}")
    if isinstance(given, Arrived):
        again.remember(turn, before, given)
    _afterwards(turn)
    return Decision(tuple(turn.events), tuple(turn.effects), turn.state)


def _afterwards(turn: Turn) -> None:
    """What is so whoever took the last card: the share is reached, or a card is due and none is left."""
    dealing.deal_reserved(turn)
    share_reached(turn)
    state = turn.state
    if (
        state.shoe is not None
        and state.shoe.left == 0
        and state.phase in (Phase.NO_MORE_BETS, Phase.DEALING)
        and turn.round.due is not None
        and not state.loose
    ):
        turn.hold("shoe-empty")


# --- time -------------------------------------------------------------------------------------------


def _pass_deadlines(turn: Turn, until: int) -> None:
    """Decide every deadline at or before ``until``. A loop, for one may lead to the next."""
    while (due := next_deadline(turn.state)) is not None and due <= until:
        _deadline(turn, due, until)
        dealing.deal_reserved(turn)


def _deadline(turn: Turn, due: int, until: int) -> None:
    state, r = turn.state, turn.state.round
    if r is not None and r.deadline is not None and state.phase is Phase.BETTING:
        if r.deadline <= until:
            late = turn.now.boot - r.deadline > LATE
            close_betting(turn, "suspended" if late else "timer", r.deadline)
            return
        if r.pips_left and r.deadline - r.pips_left * r.pip_every <= until:
            # Pips that were missed are skipped, never made up for.
            left = min(-((until - r.deadline) // r.pip_every), r.pips_left)
            seconds = left * r.pip_every / SECOND
            whole = int(seconds) if seconds == int(seconds) else seconds
            turn.emit(ev.BettingClosing(seconds=whole, pips_left=left - 1, **turn.where))
            turn.signal("pip")
            return
    if state.unread_deadline == due:
        turn.hold("card-unreadable", "No card was scanned in its place.")
    elif r is not None and r.remind_deadline == due:
        _remind(turn, r)
    else:
        _open_by_itself(turn)


def _remind(turn: Turn, r: Round) -> None:
    """The dealer is told once what is awaited: the shoe's verdict, or the card that is due."""
    if turn.state.phase is Phase.COMPLETE:
        what, text = "verdict", "The shoe's result is awaited: press its button, or: confirm"
    else:
        what, text = "card", f"A card is due: {words.next_step(r)}" if r.turned else "A card is due"
    turn.emit(ev.Reminded(what=what, text=text, **turn.where))
    turn.say(text)


def _open_by_itself(turn: Turn) -> None:
    """Automatic opening after a result, where the house sets it so; else the dealer is told why not."""
    phase = turn.state.phase
    why = betting_refusal(turn) if phase is Phase.IDLE else REFUSALS[phase]
    if why is None:
        open_betting(turn)
        return
    turn.emit(ev.Reminded(what="auto-open", text=why, **turn.where))
    turn.say(f"Betting does not open: {why}")


# --- commands ----------------------------------------------------------------------------------------


def _command(turn: Turn, command: Command) -> bool:
    """Carry a command out, or refuse it with nothing changed; recorded either way."""
    try:
        _check_sender(turn, command)
        move = move_as_offered(turn.state.phase, command.kind, turn.state.held, offered(turn.state))
        if move is None:
            raise Refused(_default_refusal(turn, command))
        HANDLERS[move.handler](turn, command)
        _afterwards(turn)
        refused = False
    except Refused as refusal:
        turn.answer, turn.asks = f"{command.kind.value} refused: {refusal}", refusal.asks
        refused = True
    turn.emit(
        ev.CommandRecorded(
            id=command.id,
            command=command.kind.value,
            args=command.args,
            person=command.person,
            supervisor=command.supervisor,
            uid=command.uid,
            accepted=not refused,
            answer=turn.answer,
            asks=turn.asks,
            reason=command.reason,
            saw_round=command.expect.round,
            saw_version=command.expect.version,
            **turn.where,
        )
    )
    return refused


def _default_refusal(turn: Turn, command: Command) -> str:
    state = turn.state
    phase, r = state.phase, state.round
    if phase is Phase.COMPLETE and r is not None and r.to_be_turned:
        phase = Phase.DEALING  # that the hand is complete would tell what lies there
    holds = [hold.message for hold in state.holds]
    return default_refusal(phase, command.kind, holds, [WAYS[way] for way in offered(state)])


def _check_sender(turn: Turn, command: Command) -> None:
    """Authority, and that the sender saw what is so."""
    if command.kind not in COMMANDS:
        raise Refused("this is no command")
    if command.kind in SUPERVISED:
        if not command.supervisor or not command.person:
            raise Refused("only a pit boss does this; give a name and PIN")
        if not (command.reason or "").strip():
            raise Refused("a reason is needed: --reason CODE, or CODE: words")
        if wrong := why_codes.problem(command.reason or ""):
            raise Refused(wrong)
    saw, state = command.expect, turn.state
    if saw.round is not None and saw.round != state.where:
        now = f"{state.where}{_so(state, saw)}"
        raise Refused(f"it was meant for round {saw.round}, now it is {now}; look again")
    if saw.version is not None and saw.version != state.version:
        now = f"state {saw.version}, now {state.version}{_so(state, saw)}"
        raise Refused(f"the table has changed since ({now}); look again")
    if command.kind in ROUND_CHANGING and saw.round is None and saw.version is None:
        raise Refused("it does not say what its sender saw: --round SHOE/ROUND or --state VERSION")


def _so(state: State, saw: Expect) -> str:
    """What is already so, for whoever comes too late: nothing that he saw, or that he did not mean."""
    since = -1 if saw.version is None else saw.version
    holds = ", ".join(hold.code for hold in state.holds if hold.row > since)
    where, what = state.settled
    news = state.settled_row > since if saw.version is not None else where == saw.round
    return (f"; on hold: {holds}" if holds else "") + (f"; round {where} is {what}" if where and news else "")


HANDLERS: dict[str, Callable[[Turn, Any], None]] = {
    name: cast(Callable[[Turn, Any], None], getattr(module, name))
    for module, names in (
        (burning, ("card_burned",)),
        (again, ("same_again",)),
        (
            dealing,
            (
                "card_handled",
                "card_kept",
                "card_not_due",
                "card_unread",
                "card_dealt",
            ),
        ),
        (
            device,
            (
                "cut_seen",
                "verdict",
                "verdict_afterwards",
                "verdict_too_soon",
                "forced_end",
                "standby",
                "shoe_restarted",
                "shoe_error",
                "shoe_note",
                "rejected",
                "discarded",
                "scanner_lost",
                "scanner_restored",
            ),
        ),
        (
            dealer,
            (
                "open_table",
                "close_table",
                "sign_in",
                "sign_out",
                "bets_open",
                "bets_close",
                "turn_cards",
                "confirm",
                "hold",
                "acknowledge",
            ),
        ),
        (
            shoes,
            (
                "shoe_new",
                "shoe_adopt",
                "shoe_undo",
                "shoe_end",
                "burn_done",
                "cut_card",
                "cut_undo",
                "inspect",
            ),
        ),
        (corrections, ("correct", "insert", "move", "enter", "rescan")),
        (settled, ("amend",)),
        (process, ("started", "trouble", "journal_full", "journal_back", "nothing")),
        (pit_boss, ("release", "void", "burn", "burn_error", "hand_free", "device_swap")),
    )
    for name in names
}
"""Every handler by its name in the transition table."""
