"""``journal verify``: chain, indices, the end as a start sees it, and that rows lead from shoe to shoe.

In spans, so that a daemon at play can do it between its other work: one from a shoe's start to the next.
Each begins with what the last one found right.
"""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.events import ShoeStarted
from tablectl.journal.file import WAY_OUT
from tablectl.journal.keep import check_removed
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.repair import check_end
from tablectl.journal.rows import Anchor, JournalFault, Row, decode_row
from tablectl.table import State, evolve
from tablectl.table.checkpoint import before

MOST = 20_000
"""Rows of one span; where a shoe has more, the span ends there, and what is behind is only chained."""


@dataclass(frozen=True, slots=True)
class Span:
    """``first`` to ``last``: the rows that were looked at. ``replayed``: how many were folded."""

    first: int
    last: int
    sequence: int
    hash: str
    replayed: int
    finished: bool


def verify_span(reader: JournalReader, after: int = 0) -> Span:
    """Check the rows behind ``after`` up to the next shoe's start, or the end.

    Raises :class:`JournalFault` naming the first bad row, and :class:`JournalUnavailable`.
    """
    if found := reader.foreign():
        raise JournalFault(f"{reader.path}: {found}; {WAY_OUT}")
    state: State | None = None
    start = row = checked = replayed = sequence = 0
    digest = b""
    for stored, now, after_it in reader.links(after):
        before_it, sequence, digest = (sequence, digest), now, after_it
        if isinstance(stored, Anchor):
            if stored == reader.anchor():
                check_removed(reader)
            start = row = checked = stored.row
            state = State() if start == 0 else None  # behind another row it is known at the next checkpoint
            continue
        event, _ = decode_row(stored)
        if isinstance(event, ShoeStarted) and (base := _checkpoint(reader, stored, event)) is not None:
            if state is not None and not _alike(
                _evolved(reader, state, stored), _evolved(reader, base, stored), event
            ):
                raise reader.fault(stored.row, "the shoe's checkpoint is not what the rows before lead to")
            if stored.row > start + 1:
                _indices(reader, checked, row)
                return Span(start + 1, row, before_it[0], before_it[1].hex(), replayed, False)
            state = base
        if state is not None:
            state = _evolved(reader, state, stored)
            replayed += 1
        row = stored.row
        if row - checked >= PAGE:
            _indices(reader, checked, row)
            checked = row
        if row - start >= MOST:
            _indices(reader, checked, row)
            return Span(start + 1, row, sequence, digest.hex(), replayed, False)
    _indices(reader, checked, row)
    check_end(reader)
    return Span(start + 1, row, sequence, digest.hex(), replayed, True)


def _alike(one: State, other: State, event: ShoeStarted) -> bool:
    """Behind the shoe's start, in all that its checkpoint carries; what later versions carry is left out."""
    return all(getattr(one, name) == getattr(other, name) for name in event.carry or ())


def _checkpoint(reader: JournalReader, row: Row, event: ShoeStarted) -> State | None:
    try:
        return before(event)
    except Exception as error:
        raise reader.fault(row.row, f"its checkpoint cannot be read ({error})") from error


def _evolved(reader: JournalReader, state: State, row: Row) -> State:
    event, _ = decode_row(row)
    try:
        state = evolve(state, event)
    except Exception as error:
        raise reader.fault(row.row, f"it cannot have happened then ({error})") from error
    if (state.row, state.sequence) != (row.row, row.sequence or state.sequence):
        raise reader.fault(row.row, f"the rows before lead to row {state.row}, event {state.sequence}")
    return state


def _indices(reader: JournalReader, after: int, last: int) -> None:
    wrong = reader.misindexed(after + 1, last) if last > after else ""
    if wrong:
        raise JournalFault(
            f"{reader.path}: rows {after + 1} to {last}: an index is damaged ({wrong}); the rows are right. "
            "A restart makes it anew if it concerns the newest rows; else restore a backup",
            row=after + 1,
        )
