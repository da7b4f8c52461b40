"""The journal's file: made whole or not at all, opened only when it is what it should be."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from pathlib import Path

from tablectl.journal_rows import JournalFault

SCHEMA = 1

_DDL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE rows (
    row INTEGER PRIMARY KEY, sequence INTEGER UNIQUE, public BLOB, private BLOB NOT NULL, raw BLOB NOT NULL,
    prev_hash BLOB NOT NULL, hash BLOB NOT NULL, type TEXT NOT NULL, shoe INTEGER, round INTEGER);
CREATE INDEX rows_round ON rows (shoe, round);
CREATE INDEX rows_type ON rows (type);
"""
WAY_OUT = (
    "put the right file back or restore a backup (`tablectl journal restore`); to begin a new history "
    "move this file away, and the game server must accept the new one"
)


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0.2, check_same_thread=False)


def open_existing(path: Path, mode: str) -> tuple[sqlite3.Connection, dict[str, str]]:
    """A connection and the meta table of a journal that is there."""
    if path.is_file() and path.stat().st_size == 0:
        raise JournalFault(f"{path}: the file is empty, its rows are lost; {WAY_OUT}")
    db: sqlite3.Connection | None = None
    try:
        db = _connect(path, mode)
        meta = {key: str(value) for key, value in db.execute("SELECT key, value FROM meta")}
        if meta.get("schema") != str(SCHEMA):
            raise JournalFault(
                f"{path}: schema version {meta.get('schema')}, this tablectl reads {SCHEMA}; "
                "run the version that wrote it"
            )
        if not {"table", "epoch", "acked"} <= meta.keys():
            raise JournalFault(f"{path}: its table `meta` lacks entries; {WAY_OUT}")
        if mode == "rw":
            _prepare(db)
        else:
            db.execute("PRAGMA query_only=1")
        return db, meta
    except BaseException as error:
        if db is not None:
            db.close()
        if isinstance(error, sqlite3.Error):
            raise JournalFault(f"{path}: not a journal that can be read ({error}); {WAY_OUT}") from error
        raise


def _prepare(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA wal_autocheckpoint=1000")
    db.execute(f"PRAGMA journal_size_limit={8 << 20}")


def create(path: Path, table: str) -> None:
    """Make a new journal whole beside its place, then move it there: a crash leaves none or all of it."""
    for suffix in ("-wal", "-shm"):
        left = path.with_name(path.name + suffix)
        if left.exists():
            raise JournalFault(f"{left}: a log without its database {path}; {WAY_OUT}")
    new = path.with_name(path.name + ".new")
    for suffix in ("", "-wal", "-shm"):
        new.with_name(new.name + suffix).unlink(missing_ok=True)
    meta = {"schema": SCHEMA, "table": table, "epoch": secrets.token_hex(3), "acked": 0}
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640))  # burn faces are nobody else's
    try:
        with contextlib.closing(_connect(new, "rw")) as db:
            _prepare(db)
            db.executescript(f"BEGIN;{_DDL}")
            db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            db.execute("COMMIT")
    except sqlite3.Error as error:
        raise JournalFault(
            f"{path}: a journal cannot be made here ({error}); free or mend the disk"
        ) from error
    new.rename(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
