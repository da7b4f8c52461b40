"""The journal's file: made whole or not at all, opened only when it is what it should be."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from tablectl.journal.rows import Anchor, JournalFault, JournalUnavailable, genesis
from tablectl.private_files import FILE

SCHEMA = 2
"""1: release 0.1.0. 2: old rows may have been removed (``anchor``), numbers may be in doubt (``sure``)."""
READS = frozenset({1, 2})
"""What is read; an older one is written anew at a start (:mod:`tablectl.journal.repair`)."""

_DDL = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE rows (
    row INTEGER PRIMARY KEY, sequence INTEGER UNIQUE, public BLOB, private BLOB NOT NULL, raw BLOB NOT NULL,
    prev_hash BLOB NOT NULL, hash BLOB NOT NULL, type TEXT NOT NULL, shoe INTEGER, round INTEGER);
CREATE INDEX rows_round ON rows (shoe, round);
CREATE INDEX rows_type ON rows (type);
"""
WAY_OUT = (
    "put the right file back or restore a backup (tablectl journal restore); to begin a new history move "
    "this file and those beside it away, and the game server must accept the new one"
)
OTHER_VERSION = "run the version that wrote it, or a newer one"
LOGS = ("-wal", "-shm")
LOG_STAYS = 8 << 20
"""Bytes to which a log that grew longer is cut."""
CHUNK = 1 << 20
LEAST = 512
"""Bytes of the smallest page: a shorter file is no database."""
MOST_CHECKED = 512 << 20
"""A file of so many bytes is looked through within a few seconds."""

_PASSING = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_PERM,
    }
)
"""What SQLite says of the machine, not of the file: it may be over at the next try."""


def fault_of(path: Path, error: sqlite3.Error, what: str) -> JournalFault | JournalUnavailable:
    """What an error of SQLite means: the journal cannot be trusted, or cannot be had at this moment."""
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _PASSING or (code == sqlite3.SQLITE_CANTOPEN and path.is_file()):
        return JournalUnavailable(f"{path}: {what} now ({error}); free or mend the disk")
    return JournalFault(f"{path}: {what} ({error}); {WAY_OUT}")


def beside(path: Path, suffix: str) -> Path:
    """The file beside a journal whose name has ``suffix`` behind the journal's."""
    return path.with_name(path.name + suffix)


def connect(path: Path, mode: str) -> sqlite3.Connection:
    """A connection as all of them are made: for any thread, without transactions of its own."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0.2, check_same_thread=False)


def second_names(path: Path) -> str:
    """That a journal's file has more names than one, in words; "" when it has one.

    Its log lies beside one of them: a controller that opens it by another does not see the newest rows.
    """
    names = path.stat().st_nlink
    if names < 2 or not path.is_file():
        return ""
    return (
        f"the file {path} has {names} names (hard links), and its log lies beside only one of them: find the "
        f"others (find / -xdev -samefile {path}) and remove them, all but the one the table was played with"
    )


def open_existing(path: Path, mode: str) -> tuple[sqlite3.Connection, dict[str, str]]:
    """A connection and the meta table of a journal that is there."""
    if path.is_file() and (size := path.stat().st_size) < LEAST:  # SQLite would remove its log as another's
        what = f"not a journal, it has {size} bytes" if size else "the file is empty, its rows are lost"
        raise JournalFault(f"{path}: {what}; {WAY_OUT}")
    if path.exists() and not path.is_file():
        raise JournalFault(f"{path}: not a journal, it is no file; {WAY_OUT}")
    db: sqlite3.Connection | None = None
    try:
        if mode == "rw":
            _on_the_disk(path)
        db = connect(path, mode)
        meta = {str(key): str(value) for key, value in db.execute("SELECT key, value FROM meta")}
        _check_meta(path, meta, mode)
        if found := foreign(db):
            raise JournalFault(f"{path}: {found}; {WAY_OUT}")
        if mode == "rw":
            prepare(db)
        else:
            db.execute("PRAGMA query_only=1")
        return db, meta
    except BaseException as error:
        where = pages_of(db) if isinstance(error, sqlite3.DatabaseError) and db is not None else ""
        if db is not None:
            db.close()
        if isinstance(error, sqlite3.Error):
            raise fault_of(path, error, f"not a journal that can be read{where}") from error
        raise


def foreign(db: sqlite3.Connection) -> str:
    """What the file has that tablectl did not make, in words; "" when there is nothing.

    A trigger or a column's default would change, behind each commit, what was said to be stored.
    """
    made = {" ".join(sql.split()) for sql in _DDL.split(";")}
    for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master"):
        ours = name == "sqlite_autoindex_rows_1" if sql is None else " ".join(str(sql).split()) in made
        if not ours:
            return (
                f"it has a {kind} {str(name)[:60]!r} that tablectl did not make: no row of it can be trusted"
            )
    return ""


def _on_the_disk(path: Path) -> None:
    """See to it that the log, as it is read now, is on the disk, before anything is told of it.

    A killed process may have died between writing a commit and its sync, or after a sync that failed, whose
    pages the kernel calls clean and never writes again: SQLite reads those rows as committed, and a power cut
    would take them away, and all behind them. So the log is written anew, byte by byte (a copy that the file
    system makes may be of what the disk has), and takes its own place; on a full disk it is written where it
    is. A clean end leaves no log.

    Before anybody in this process has the journal open: it would read the old log on. Raises
    :class:`JournalUnavailable`.
    """
    log, new = beside(path, "-wal"), beside(path, "-wal.new")
    try:
        new.unlink(missing_ok=True)
        if log.exists() and log.stat().st_size:
            try:
                copy_file(log, new)
                sync(new)
                new.rename(log)
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
                new.unlink(missing_ok=True)
                _written_again(log)
        sync(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)
        raise JournalUnavailable(f"{log}: {error.strerror or error}; free or mend the disk") from error


def _written_again(path: Path) -> None:
    """Write what a file holds where it is, and force it to the disk: that takes no room."""
    with path.open("r+b", buffering=0) as file:
        while part := file.read(1 << 20):
            file.seek(-len(part), os.SEEK_CUR)
            if file.write(part) != len(part):
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        os.fsync(file.fileno())


def _check_meta(path: Path, meta: Mapping[str, str], mode: str) -> None:
    schema = meta.get("schema", "")
    if schema not in {str(number) for number in ({SCHEMA} if mode == "rw" else READS)}:
        raise JournalFault(
            f"{path}: schema version {schema or 'unknown'}, this tablectl reads {SCHEMA}; " + OTHER_VERSION
        )
    if not {"table", "epoch", "acked"} <= meta.keys():
        raise JournalFault(f"{path}: its table `meta` lacks entries; {WAY_OUT}")
    try:
        anchor = anchor_of(meta)
        if min(anchor.row, anchor.sequence, int(meta["acked"]), int(meta.get("sure", "0"))) < 0:
            raise ValueError
    except ValueError:
        raise JournalFault(f"{path}: its table `meta` is damaged; {WAY_OUT}") from None


def anchor_of(meta: Mapping[str, str]) -> Anchor:
    """What the first kept row follows. Raises :class:`ValueError` when that is not to be read."""
    text = meta.get("anchor")
    if text is None:
        return Anchor(0, 0, genesis(meta["table"], meta["epoch"]))
    row, sequence, digest = text.split(" ")
    if len(digest) != 64:
        raise ValueError(text)
    return Anchor(int(row), int(sequence), bytes.fromhex(digest))


def anchor_text(anchor: Anchor) -> str:
    """What :func:`anchor_of` reads."""
    return f"{anchor.row} {anchor.sequence} {anchor.hash.hex()}"


def prepare(db: sqlite3.Connection) -> None:
    """How the writer's connection works: durable at each commit, its log bounded."""
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute("PRAGMA wal_autocheckpoint=1000")
    db.execute(f"PRAGMA journal_size_limit={LOG_STAYS}")


def empty(path: Path, meta: Mapping[str, object]) -> sqlite3.Connection:
    """A new file with no rows, open for writing, its transaction begun. Nobody else may read it."""
    # Burn faces are nobody else's.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, FILE))
    db = connect(path, "rw")
    try:
        db.execute("PRAGMA synchronous=OFF")  # it is forced to the disk as a whole, at the end
        db.execute("PRAGMA journal_mode=MEMORY")
        db.executescript(f"BEGIN;{_DDL}")
        db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    except BaseException:
        db.close()
        raise
    return db


def create(path: Path, table: str) -> None:
    """Make a new journal whole beside its place, then move it there: a crash leaves none or all of it."""
    new = beside(path, ".new")
    for suffix in ("", *LOGS):
        beside(new, suffix).unlink(missing_ok=True)
    meta = {"schema": SCHEMA, "table": table, "epoch": secrets.token_hex(3), "acked": 0}
    try:
        with contextlib.closing(empty(new, meta)) as db:
            db.execute("COMMIT")
            prepare(db)
    except sqlite3.Error as error:
        raise fault_of(path, error, "a journal cannot be made here") from error
    sync(new)
    new.rename(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Force a file or a folder to the disk."""
    flags = os.O_RDONLY | (os.O_DIRECTORY if path.is_dir() else 0)
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def settle(path: Path) -> None:
    """Have SQLite undo what a writer that was killed left half done: who only reads may not.

    Raises :class:`sqlite3.Error`.
    """
    with contextlib.closing(connect(path, "rw")) as db:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()


def copy_file(path: Path, to: Path, busy: Callable[[], object] = lambda: None) -> None:
    """A true copy in a new file, for the same eyes as a journal, whatever the umask.

    ``busy`` is called after each :data:`CHUNK`.
    """
    handle = os.open(to, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, FILE)
    with path.open("rb") as file, os.fdopen(handle, "wb") as copy:
        while chunk := file.read(CHUNK):
            copy.write(chunk)
            busy()


def pages_of(db: sqlite3.Connection) -> str:
    """What SQLite finds broken in the file, with its pages; "" when it finds nothing or cannot say.

    Not asked of a file above :data:`MOST_CHECKED`: nothing can be told to systemd meanwhile.
    """
    try:
        ((size,),) = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        if size > MOST_CHECKED:
            return ""
        found = [str(line) for (line,) in db.execute("PRAGMA quick_check(3)")]
    except sqlite3.Error:
        return ""
    return "" if found == ["ok"] else f" ({'; '.join(' '.join(line.split())[:120] for line in found)})"
