"""Where in its file a journal is damaged, in words for who looks after the disk."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from tablectl.journal.file import CHUNK, beside, pages_of
from tablectl.lock import bytes_of


def where_in_file(path: Path, db: sqlite3.Connection, row: int) -> str:
    """Where a bad row lies: by its hash, as it stands in the file, or the page that cannot be read."""
    try:
        found = db.execute("SELECT hash, prev_hash FROM rows WHERE row = ?", (row,)).fetchone()
        marks = [value for value in found or () if isinstance(value, bytes) and len(value) == 32]
    except sqlite3.Error:
        return pages_of(db)
    for suffix in ("-wal", ""):
        for mark in marks:
            at = _find(beside(path, suffix), mark)
            if at is not None:
                page = "" if suffix else f", page {at // 4096 + 1}"
                return f" (near byte {at} of {path.name}{suffix}{page})"
    return pages_of(db)


def _find(path: Path, mark: bytes) -> int | None:
    """Where it stands for the last time."""
    found, at, kept = None, 0, b""
    try:
        with bytes_of(path) as fd:
            while part := os.pread(fd, CHUNK, at):
                begin = at - len(kept)
                last = (kept + part).rfind(mark)
                found = found if last < 0 else begin + last
                at += len(part)
                kept = (kept + part)[-len(mark) + 1 :]
    except OSError:
        return None
    return found
