"""Test or real: the events of one journal are all of one kind, and a start with the other one is refused.

Every public event of a test table says so, and a game server that settles bets refuses it.  Were ``[table]
test`` switched under a journal in use, a hand whose first cards came from an emulated shoe would end in a
result that says nothing of it; or one test event would stand in a real table's sequence for good, and nothing
behind it could ever be delivered.  The mark stands in the events as they were stored: the newest one tells.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tablectl.journal.file import fault_of
from tablectl.journal.reader import JournalReader
from tablectl.journal.rows import MOST_ROW, JournalFault


def other_kind(path: Path, test: bool) -> str:
    """Why the journal there cannot be gone on with by ``[table] test = test``, and the ways out."""
    ours, its = ("true", "a real table") if test else ("false", "a test table")
    return (
        f"{path}: its events are those of {its}, and [table] test = {ours}; a journal stays of one kind, for "
        "a game server takes no events of the other. Set [table] test as it was; or begin a new history: "
        f"name another [journal] path, or move {path.name} and what lies beside it away"
    )


def must_fit(reader: JournalReader, test: bool, upto: int | None = None) -> None:
    """Raises :class:`JournalFault` where the events are of the other kind than ``[table] test`` makes them.

    ``upto``: the last row that counts, None: all do. Without a public event it is of neither kind.
    """
    # By the rows themselves: an index may be damaged. Few private ones stand behind the newest public one.
    sql = (
        "SELECT public FROM rows NOT INDEXED WHERE row <= ? AND sequence IS NOT NULL "
        "ORDER BY row DESC LIMIT 1"
    )
    try:
        found = reader._all(sql, MOST_ROW if upto is None else upto)
    except sqlite3.Error as error:
        raise fault_of(reader.path, error, "its newest event cannot be read") from error
    for (public,) in found:
        try:
            marked = json.loads(public).get("tabletest", False)  # type: ignore[arg-type]
        except (ValueError, TypeError, AttributeError, RecursionError):
            return  # what is damaged there is named by the replay
        if marked is not test:
            raise JournalFault(other_kind(reader.path, test))
