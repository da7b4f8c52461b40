"""Where in its file a journal is damaged, in words for who looks after the disk."""

from __future__ import annotations

import mmap
import sqlite3
from pathlib import Path

from tablectl.journal_file import beside, pages_of


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
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            at = whole.rfind(mark)
    except (OSError, ValueError):
        return None
    return None if at < 0 else at
