"""A start: what the journal says the table, its answered commands and its PIN attempts were.

The rows are read from the last shoe's start on, where :mod:`tablectl.table.checkpoint` gives the table
as it was, and each one's hash is checked before it counts. A few rows before it are looked through
for the commands in them, so that a command sent again over a restart is not done twice.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from tablectl.clock import Instant
from tablectl.events import CommandRecorded, DeliveryParked, DeliverySkipped, Event, PinAttempted, ShoeStarted
from tablectl.journal.file import WAY_OUT, fault_of
from tablectl.journal.reader import JournalReader
from tablectl.journal.rows import JournalFault, Row, decode_row
from tablectl.table import State, evolve
from tablectl.table.checkpoint import before

LOOK_BACK = 200
"""Rows before the checkpoint that are looked through for commands and PIN attempts."""

MOST = 2_000
"""Commands and PIN attempts remembered, the newest of each."""

STILL_AT_IT = 0.5
"""How often (s) a long replay says that it goes on, and can be told to stop."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A command of the past and what its sender was told besides the text: where, and the version."""

    event: CommandRecorded
    where: str
    version: int


@dataclass(slots=True)
class Replayed:
    """What came of it. ``first``: the first row that was read; 0 when there is none."""

    state: State = field(default_factory=State)
    answered: list[Answered] = field(default_factory=list)
    attempts: list[tuple[PinAttempted, Instant]] = field(default_factory=list)
    last_result: dict[str, Any] | None = None
    first: int = 0


def replay(rows: Iterable[tuple[int, Event]], state: State | None = None) -> State:
    """The state that rows (number, event) lead to from ``state``, through the same ``evolve`` as live.

    Raises :class:`ValueError` when the numbers do not fit, and whatever ``evolve`` raises for an event
    that cannot have happened then.
    """
    state = state or State()
    for number, event in rows:
        state = evolve(state, event)
        if state.row != number:
            raise ValueError(f"row {number} follows row {state.row - 1}")
    return state


def replay_journal(
    journal: JournalReader, still_at_it: Callable[[], object] = lambda: None, upto: int | None = None
) -> Replayed:
    """Everything a start needs to know. ``upto``: as if that were the last row; None: the last one is.

    ``still_at_it`` is called at the beginning and now and then; what it raises ends the replay. Raises
    :class:`JournalFault` naming the first row that was changed, is missing or cannot have happened, and
    :class:`JournalUnavailable`.
    """
    try:
        start = journal.last_of_type(ShoeStarted.TYPE, upto)
        base = None if start is None else _checkpoint(journal, start)
        made = Replayed()
        if base is not None:
            made.state = base
        said = 0.0
        for row in journal.checked(max(0, base.row - LOOK_BACK) if base is not None else 0):
            if (now := time.monotonic()) - said > STILL_AT_IT:
                said = now
                still_at_it()
            made.first = made.first or row.row
            _take(journal, made, row, base)
            if row.row == upto:
                break
        made.last_result = _last_result(journal, upto)
        if upto is None:  # what goes out in place of events, however old: better refused now than sent
            for kind in (DeliverySkipped.TYPE, DeliveryParked.TYPE):
                journal.rows_of_type(kind)
    except sqlite3.Error as error:
        raise fault_of(journal.path, error, "it cannot be read") from error
    return made


def _checkpoint(journal: JournalReader, start: int) -> State | None:
    """The state just before the shoe's start in row ``start``; None when that row carries none."""
    (row,) = journal.rows(start - 1, 1)
    event, _ = decode_row(row)
    try:
        base = before(event) if isinstance(event, ShoeStarted) else None
        if base is not None and (base.row, base.sequence + 1) != (row.row - 1, row.sequence):
            raise ValueError(f"it says that it follows row {base.row}, event {base.sequence}")
    except Exception as error:
        raise _cannot_be(journal, row, error) from error
    return base


def _take(journal: JournalReader, made: Replayed, row: Row, base: State | None) -> None:
    event, at = decode_row(row)
    if base is None or row.row > base.row:
        try:
            made.state = replay([(row.row, event)], made.state)
        except Exception as error:
            raise _cannot_be(journal, row, error) from error
    match event:
        case CommandRecorded(id=id_) if id_:
            made.answered.append(_answered(event, row.row, made.state, base))
            del made.answered[:-MOST]
        case PinAttempted():
            made.attempts.append((event, at))
            del made.attempts[:-MOST]
        case _:
            pass


def _answered(event: CommandRecorded, row: int, state: State, base: State | None) -> Answered:
    if base is None or row > base.row:
        return Answered(event, state.where, state.version)
    # The version of then is not known if the table changed since: the row's number is as stale as it.
    where = "-" if event.shoe is None else f"{event.shoe}/{'-' if event.round is None else event.round}"
    return Answered(event, where, min(row, base.version))


def _last_result(journal: JournalReader, upto: int | None) -> dict[str, Any] | None:
    number = journal.last_of_type("round.resulted", upto)
    if number is None:
        return None
    (row,) = journal.rows(number - 1, 1)
    try:
        found: dict[str, Any] = json.loads(row.public or b"")["data"]
    except (ValueError, KeyError, TypeError) as error:
        raise _cannot_be(journal, row, error) from error
    return found


def _cannot_be(journal: JournalReader, row: Row, error: Exception) -> JournalFault:
    why = str(error) or type(error).__name__
    return JournalFault(f"{journal.path}: row {row.row}: it cannot have happened then ({why}); {WAY_OUT}")
