"""How long rows are kept (``[journal] keep_days``): which of the oldest may go.

Only whole shoes are let go, from the oldest on, and only what the game server has acknowledged and the mirror
has; they go a few rows at a time, so that a crash may leave part of one until the next look.  The newest shoe
always stays, however old: a restart begins with it.  A row says which ones go, before any does: it is in the
hash chain, and what is gone without it, or before its time, ``journal verify`` names.

The clock alone proves no age: a PC may be years ahead until a time server answers.  So the rows must show it,
too: since then shoes were begun on 400 different days (:func:`shown`).  A clock that is wrong adds a day to
that for each day on which it is, not years.  A table that is seldom played keeps its rows longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import Callable

from tablectl.clock import SECOND, Instant
from tablectl.events import RowsRemoved, ShoeStarted
from tablectl.journal.file import fault_of
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.rows import decode_row
from tablectl.table.checkpoint import before

LEAST_DAYS = 400
"""The contract, section 3: acknowledged rows are kept at least so long."""
DAYS_OF_PLAY = LEAST_DAYS
"""On so many different days shoes were begun behind what may go."""
DAY = 86_400 * SECOND
LOOK = 3600.0
"""How often (s) it is looked for rows that are too old."""
FIRST_LOOK = 60.0
MOST_SHOES = 200
"""Shoes looked at in one go; the rest comes the next time."""


def removable(reader: JournalReader, now: int, days: int, mirrored: int | None = None) -> int:
    """The newest row that may be removed with all before it; 0: none.

    ``now``: wall ns. ``mirrored``: the newest row on the mirror, None where there is none. A clock that
    was set back keeps rows longer, never shorter than it shows.
    """
    if days < LEAST_DAYS:
        raise ValueError(f"rows are kept at least {LEAST_DAYS} days")
    newest = reader.last_of_type(ShoeStarted.TYPE)
    if newest is None or not _begins(reader, newest):
        return 0
    sql = "SELECT row FROM rows WHERE type = ? AND row > ? AND row <= ? ORDER BY row LIMIT ?"
    anchor = reader.anchor()
    found = until = 0
    for (number,) in reader._all(sql, ShoeStarted.TYPE, anchor.row + 1, newest, MOST_SHOES):
        row = int(str(number))
        (stored,) = reader.rows(row - 1, 1)
        wall = _wall(stored.private)
        young = wall is None or wall > now - days * DAY
        sequence = (stored.sequence or 0) - 1
        if young or sequence > reader.acked() or (mirrored is not None and row - 1 > mirrored):
            break
        until = until or shown(reader, reader.last()[0])
        if row > until:
            break
        if _begins(reader, row):
            found = row - 1
    return found


def shown(reader: JournalReader, upto: int) -> int:
    """The row of the newest shoe from which on, up to row ``upto``, shoes began on enough days; 0: none."""
    sql = "SELECT row, private FROM rows WHERE type = ? AND row <= ? ORDER BY row DESC LIMIT ?"
    days = set[int]()
    while page := reader._all(sql, ShoeStarted.TYPE, upto, PAGE):
        for row, private in page:
            if (wall := _wall(private)) is not None:
                days.add(wall // DAY)
            if len(days) >= DAYS_OF_PLAY:
                return int(str(row))
        upto = int(str(page[-1][0])) - 1
    return 0


def _wall(private: object) -> int | None:
    """When a row was written, by the clock of then (wall ns); None where that cannot be read."""
    try:
        return int(json.loads(private)["wall"])  # type: ignore[arg-type]
    except (ValueError, TypeError, KeyError):
        return None  # verify names it


def _begins(reader: JournalReader, row: int) -> bool:
    """Whether a replay can begin with that shoe."""
    (stored,) = reader.rows(row - 1, 1)
    event, _ = decode_row(stored)
    return isinstance(event, ShoeStarted) and before(event) is not None


def removal(reader: JournalReader) -> tuple[RowsRemoved, Instant, int] | None:
    """What the newest row says that may be gone, when it was written, and its number."""
    newest = reader.last_of_type(RowsRemoved.TYPE)
    if newest is None:
        return None
    (stored,) = reader.rows(newest - 1, 1)
    event, at = decode_row(stored)
    return (event, at, newest) if isinstance(event, RowsRemoved) else None


def check_removed(reader: JournalReader) -> None:
    """That the rows which are gone from the beginning went as too old.

    Raises :class:`JournalFault`.
    """
    try:
        with reader.at_once():
            _check_removed(reader)
    except sqlite3.Error as error:
        raise fault_of(reader.path, error, "what was removed cannot be read") from error


def _check_removed(reader: JournalReader) -> None:
    anchor = reader.anchor()
    if not anchor.row:
        return
    told = removal(reader)
    if told is None or told[0].upto < anchor.row:
        raise reader.fault(
            anchor.row, "it and those before it are gone, and no row says that they were removed"
        )
    event, at, number = told
    _, sequence, digest = next(iter(reader.links(event.upto)))
    if (event.sequence, event.hash) != (sequence, digest.hex()):
        raise reader.fault(event.upto, "it is not the last one that was to be removed: others are gone, too")
    for kept in reader.rows(event.upto, 1):
        wall = _wall(kept.private)
        if wall is not None and at.wall - wall < (LEAST_DAYS - 1) * DAY:  # clocks are set
            raise reader.fault(event.upto, f"it and those before it were removed within {LEAST_DAYS} days")
        if shown(reader, number) <= event.upto:
            why = f"removed before shoes were begun on {DAYS_OF_PLAY} different days behind them"
            raise reader.fault(event.upto, f"it and those before it were {why}; was the clock wrong?")


def _look(
    reader: JournalReader, now: int, days: int, mirrored: int | None
) -> tuple[RowsRemoved | None, bool]:
    """What is to be removed now, and whether a row says so already."""
    upto = removable(reader, now, days, mirrored)
    if not upto:
        return None, False
    last, sequence, digest = next(iter(reader.links(upto)))
    if last.row != upto:
        return None, False  # it went meanwhile
    wanted, told = RowsRemoved(upto=upto, sequence=sequence, hash=digest.hex()), removal(reader)
    return wanted, told is not None and told[0] == wanted


async def keep(
    reader: JournalReader,
    note: Callable[[RowsRemoved], object],
    trim: Callable[[int], None],
    days: int,
    mirrored: Callable[[], int | None],
    clock: Callable[[], Instant],
) -> None:
    """Once an hour, for ever: have what is old noted (``note``), then removed by the writer (``trim``)."""
    from tablectl.aside import aside  # which loads more than who only reads journals needs

    await asyncio.sleep(FIRST_LOOK)
    while True:
        wanted, noted = None, False
        with contextlib.suppress(Exception):
            # What is damaged stays: `journal verify` names it. A disk that hangs holds up no stop.
            wanted, noted = await aside(_look, reader, clock().wall, days, mirrored())
        if wanted is not None and noted:
            trim(wanted.upto)
        elif wanted is not None:
            note(wanted)
        await asyncio.sleep(LOOK if wanted is None or noted else FIRST_LOOK)
