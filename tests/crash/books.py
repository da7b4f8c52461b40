"""What must hold at the moment of any death, while the others go on: nobody has promised what is not kept.

Each side's file is read as the death left it.  Most of what a wrong order of writing and telling breaks here
is put right again afterwards, by asking and sending anew, and would not be seen at the end.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tablectl.journal import JournalReader
from tests.nats_server import NatsServer


@dataclass(frozen=True)
class Books:
    """A journal as it lies there: its newest row and event, and what it calls delivered."""

    row: int = 0
    sequence: int = 0
    acked: int = 0


def books(journal: Path) -> Books:
    """Of a journal whose process is dead. Fails when the chain is broken.

    A copy is read: whoever opens a journal mends its log, which the next start is to find as it was left.
    """
    if not journal.exists():
        return Books()
    with tempfile.TemporaryDirectory(prefix="tablectl-books-") as folder:
        for file in journal.parent.glob(f"{journal.name}*"):
            shutil.copy(file, folder)
        with contextlib.closing(JournalReader.open(Path(folder) / journal.name)) as reader:
            row, sequence = reader.last()
            assert reader.verify() == row
            return Books(row, sequence, reader.acked())


def taken(db: Path, table: str) -> int:
    """The newest event that the game server holds, running or not; 0 when it holds none."""
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as store:
        try:
            found = store.execute("SELECT next FROM tables WHERE id = ?", (table,)).fetchone()
        except sqlite3.OperationalError:  # not made yet
            return 0
    return int(found[0]) - 1 if found else 0


def stored(nats: NatsServer, table: str) -> int:
    """The newest event in the stream; 0 when it holds none."""
    asked = {"last_by_subj": f"tables.{table}.events"}
    answer = asyncio.run(nats.ask("STREAM.MSG.GET.TABLES", asked))
    if "message" not in answer:
        return 0
    event = json.loads(base64.b64decode(answer["message"]["data"]))
    return int(event["sequence"])
