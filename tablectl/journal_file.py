"""The journal's file: made whole or not at all, opened only when it is what it should be."""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from pathlib import Path

from tablectl.journal_rows import JournalFault, JournalUnavailable

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
    "put the right file back or restore a backup; to begin a new history move this file away, and the "
    "game server must accept the new one"
)

_PASSING = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_PROTOCOL,
    }
)
"""What SQLite says of the machine, not of the file: it may be over at the next try."""


def fault_of(path: Path, error: sqlite3.Error, what: str) -> JournalFault | JournalUnavailable:
    """What an error of SQLite means: the journal cannot be trusted, or cannot be had at this moment."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _PASSING:
        return JournalUnavailable(f"{path}: {what} now ({error}); free or mend the disk")
    return JournalFault(f"{path}: {what} ({error}); {WAY_OUT}")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0.2, check_same_thread=False)


def open_existing(path: Path, mode: str) -> tuple[sqlite3.Connection, dict[str, str]]:
    """A connection and the meta table of a journal that is there."""
    if path.is_file() and path.stat().st_size == 0:
        raise JournalFault(f"{path}: the file is empty, its rows are lost; {WAY_OUT}")
    db: sqlite3.Connection | None = None
    try:
        if mode == "rw":
            _sync_left(path)
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
            raise fault_of(path, error, "not a journal that can be read") from error
        raise


def _sync_left(path: Path) -> None:
    """Force to the disk what a killed process may have left in memory only, before anything is told of it.

    It may have died between writing a commit and its sync: SQLite reads those rows as committed, and a power
    cut would take them away again. Before SQLite has the files open: closing one drops this process's locks.
    """
    for one in (path.with_name(path.name + "-wal"), path.parent):
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(one, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


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
        raise fault_of(path, error, "a journal cannot be made here") from error
    new.rename(path)
    _sync_left(path)
