"""Counting on both sides: every event of every journal against what the game server holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Counted:
    """Events; bytes of the bodies, the journals' files and the stream's files."""

    sent: int
    size: int
    lost: int
    differing: int
    out_of_order: int
    journal: int
    stream: int


def compared(folder: Path, tables: Iterable[str]) -> Counted:
    """The journals ``TABLE/TABLE.db`` against ``gameserver.db``, byte for byte."""
    sent = size = lost = differing = backwards = journal = 0
    server = sqlite3.connect(f"file:{folder / 'gameserver.db'}?mode=ro", uri=True)
    for table in tables:
        path = folder / table / f"{table}.db"
        journal += sum(file.stat().st_size for file in path.parent.glob(f"{table}.db*"))
        here = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        bodies = dict(here.execute("SELECT sequence, public FROM rows WHERE sequence IS NOT NULL"))
        here.close()
        found = server.execute(
            "SELECT sequence, body FROM events WHERE table_id = ? ORDER BY rowid", (table,)
        ).fetchall()
        held = dict(found)
        sent += len(bodies)
        size += sum(map(len, bodies.values()))
        lost += len(bodies.keys() - held.keys())
        differing += len(held.keys() - bodies.keys())
        differing += sum(held[n] != bodies[n] for n in held.keys() & bodies.keys())
        order = [n for n, _ in found]
        backwards += sum(a + 1 != b for a, b in zip([0, *order], order, strict=False))
        assert all(json.loads(body)["source"] == f"/tables/{table}" for body in list(bodies.values())[:3])
    server.close()
    stream = sum(file.stat().st_size for file in (folder / "store").rglob("*.blk"))
    return Counted(sent, size, lost, differing, backwards, journal, stream)
