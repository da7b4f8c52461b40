"""Journal rows of events made by hand or by a table under test, for what looks back."""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.clock import SECOND, Instant
from tablectl.events import Event, private_body, public_body
from tablectl.journal.rows import Row, decode_row
from tablectl.past.explain import Entry

WALL = 1_796_000_000 * SECOND


def rows_of(
    events: Sequence[Event], raws: Sequence[bytes] | None = None, *, every: int = SECOND, epoch: str = "e"
) -> list[Row]:
    """Rows as the core makes them, ``every`` ns apart; ``raws``: bytes for each."""
    made, sequence = [], 0
    for number, event in enumerate(events, start=1):
        at = Instant(number * every, WALL + number * every)
        body = None
        if event.PUBLIC:
            sequence += 1
            body = public_body(event, table="T07", epoch=epoch, sequence=sequence, at=at, test=True)
        raw = b"" if raws is None else raws[number - 1]
        made.append(Row(number, sequence if event.PUBLIC else None, body, private_body(event, at), raw))
    return made


def entries_of(rows: Sequence[Row]) -> list[Entry]:
    """The same rows, read."""
    return [Entry(row.row, at, event, row.raw) for row in rows for event, at in (decode_row(row),)]
