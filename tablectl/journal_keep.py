"""How long rows are kept (``[journal] keep_days``): which of the oldest may go.

Only whole shoes go, from the oldest on, and only what the game server has acknowledged and the mirror has.
The newest shoe always stays, however old: a restart begins with it.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable

from tablectl.clock import SECOND, Instant
from tablectl.events import ShoeStarted
from tablectl.journal_reader import JournalReader
from tablectl.journal_rows import JournalFault, decode_row
from tablectl.table.checkpoint import before

LEAST_DAYS = 400
"""The contract, section 3: acknowledged rows are kept at least so long."""
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
    found = 0
    for (number,) in reader._all(sql, ShoeStarted.TYPE, anchor.row + 1, newest, MOST_SHOES):
        row = int(str(number))
        (stored,) = reader.rows(row - 1, 1)
        young = int(json.loads(stored.private)["wall"]) > now - days * DAY
        sequence = (stored.sequence or 0) - 1
        if young or sequence > reader.acked() or (mirrored is not None and row - 1 > mirrored):
            break
        if _begins(reader, row):
            found = row - 1
    return found


def _begins(reader: JournalReader, row: int) -> bool:
    """Whether a replay can begin with that shoe."""
    (stored,) = reader.rows(row - 1, 1)
    event, _ = decode_row(stored)
    return isinstance(event, ShoeStarted) and before(event) is not None


async def keep(
    reader: JournalReader,
    trim: Callable[[int], None],
    days: int,
    mirrored: Callable[[], int | None],
    clock: Callable[[], Instant],
) -> None:
    """Once an hour, for ever: have the journal's writer remove what is old (``trim``)."""
    await asyncio.sleep(FIRST_LOOK)
    while True:
        try:
            upto = await asyncio.to_thread(removable, reader, clock().wall, days, mirrored())
        except (JournalFault, sqlite3.Error, OSError, ValueError):
            upto = 0  # what is damaged stays: `journal verify` names it
        if upto:
            trim(upto)
        await asyncio.sleep(LOOK)
