"""Backups of a journal, and the way back.

A backup is a copy of the rows up to the one that was the newest when it began, each checked, forced to the
disk and read once more; one file, named by table, epoch and last row.  The daemon makes its own, because no
other program opens the database while it runs; it rests between pages, so that the table does not feel it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tablectl.journal import newest as journal_newest
from tablectl.journal.copy import Copied, copy_rows
from tablectl.journal.file import LOGS, WAY_OUT, beside, copy_file, fault_of, settle, sync
from tablectl.journal.newest import Newest, NewestFile
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.repair import check_end
from tablectl.journal.replaced import decide, finish, forget_aside, keep_aside
from tablectl.journal.rows import JournalFault, JournalUnavailable
from tablectl.private_files import FOLDER

MOST_BACKUPS = 20
"""Files in the daemon's folder: who may use its socket must not be able to fill the disk."""
ROOM = 16 << 20
"""Bytes that a backup leaves free for all else on that disk."""
REST = 0.02
"""How long (s) the daemon rests between 500 rows."""


_ANOTHER = (
    "restore another copy: the mirror, or a file that tablectl journal backup made; without any, "
    "docs/journal.md says how a new history is begun"
)


class NotRestored(Exception):
    """The backup was not put in place; the text says why and the way out. Nothing was changed."""


def backup(reader: JournalReader, folder: Path, *, rest: float = 0.0) -> tuple[Path, Copied]:
    """Make a backup in ``folder``. Raises :class:`FileExistsError` when there is one of the same rows.

    :class:`JournalFault` names the first bad row, or what is missing at the end;
    :class:`OSError` when the folder is in the way.
    """
    folder.mkdir(mode=FOLDER, parents=True, exist_ok=True)
    size = reader.path.stat().st_size
    free, needed = shutil.disk_usage(folder).free, size + size // 5 + ROOM
    if free < needed:
        raise OSError(
            f"{folder}: {free >> 20} MB are free, and a backup needs {-(-needed >> 20)} MB; free some, or "
            "make it elsewhere"
        )
    check_end(reader)
    for left in backups_of(reader.table, folder, "part"):
        left.unlink()
    row = reader.last()[0]
    part = folder / f"{reader.table}-{reader.epoch}-{row}.part"
    final = part.with_suffix(".db")
    if final.exists():
        raise FileExistsError(f"{final} is there already, and has all rows")
    copied = copy_rows(reader, part, row, rest=rest)
    try:
        _read_again(part, copied, rest)
        os.link(part, final)  # which replaces nothing
    finally:
        part.unlink()
    sync(folder)
    return final, copied


def backups_of(table: str, folder: Path, suffix: str = "db") -> list[Path]:
    """The backups of that table and of no other; ``part``: in the making, or left by a crash."""
    name = re.compile(rf"{re.escape(table)}-[0-9a-f]{{6}}-\d+\.{suffix}")
    return [one for one in folder.glob(f"{table}-*.{suffix}") if name.fullmatch(one.name)]


def _read_again(path: Path, copied: Copied, rest: float) -> None:
    with contextlib.closing(JournalReader.open(path)) as reader:
        end: object = None
        for row, _, digest in reader.links():
            end = digest
            if rest and row.row % PAGE == 0:
                time.sleep(rest)
    if end != copied.hash:
        raise OSError(f"{path}: what was written is not what is read")


class Backups:
    """The daemon's backups: one at a time, beside everything else."""

    def __init__(self, open_journal: Callable[[], JournalReader], folder: Path) -> None:
        self._open_journal = open_journal
        self._folder = folder
        self._lock = threading.Lock()
        self._state: dict[str, Any] = {"running": False}

    def start(self) -> bool:
        """Begin one; False when one is being made."""
        with self._lock:
            if self._state["running"]:
                return False
            self._state = {"running": True}
        threading.Thread(target=self._make, name="backup", daemon=True).start()
        return True

    def view(self) -> dict[str, Any]:
        """Whether one is made, and what became of the last: ``file``, ``row``, ``sequence``, or ``error``."""
        return dict(self._state)

    def _make(self) -> None:
        try:
            with contextlib.closing(self._open_journal()) as reader:
                if len(backups_of(reader.table, self._folder)) >= MOST_BACKUPS:
                    raise OSError(f"{self._folder} has {MOST_BACKUPS} backups; move some of them away")
                file, copied = backup(reader, self._folder, rest=REST)
            made = {"file": str(file), "row": copied.row, "sequence": copied.sequence, "acked": copied.acked}
        except Exception as fault:  # noqa: BLE001 whatever it is, who asked is told, and it may be tried again
            made = {"error": str(fault) or type(fault).__name__}
        self._state = {"running": False, **made}


def restore(source: Path, path: Path, table: str, *, older: bool = False) -> list[str]:
    """Put a backup or a mirror in the place of the journal ``path``; what is to be known now, in sentences.

    The table's lock must be held. What was in place is kept beside it. ``older``: also when that has rows
    which the backup lacks. Raises :class:`NotRestored`, and :class:`OSError` when the disk was in the way
    once it was decided: then it is to be done again.
    """
    new = beside(path, ".new")
    for suffix in ("", *LOGS, "-journal"):
        beside(new, suffix).unlink(missing_ok=True)
    try:
        with _settled(source, path) as file, contextlib.closing(JournalReader.open(file)) as reader:
            if reader.table != table:
                raise NotRestored(f"{source} is the journal of table {reader.table}, not of {table}")
            here = _in_place(path)
            last = reader.last()
            copied = copy_rows(reader, new, sure=last[1])
            epoch = reader.epoch
    except (JournalFault, JournalUnavailable, sqlite3.Error, OSError) as fault:
        raise NotRestored(
            f"nothing was restored, and nothing changed: {_of_copy(fault, source, path)}"
        ) from fault
    behind = here is not None and here.epoch == epoch and here.row > copied.row
    if behind and not older:
        assert here is not None
        new.unlink()
        raise NotRestored(
            f"the journal in place has rows up to {here.row}, event {here.sequence}, and the backup only "
            f"{copied.row}, event {copied.sequence}; if it is really to go back: --older"
        )
    aside = _replaced(new, path)
    try:
        finish(path)
        record = NewestFile(path)
        with contextlib.closing(record):
            record.begin(Newest(epoch, copied.row, copied.sequence, copied.acked, copied.hash))
        _give(path, table)
    except OSError as fault:
        raise OSError(
            f"it takes the place of {path}, but not all is done; restore it again: {fault}"
        ) from fault
    return _told(copied, epoch, here, aside)


def _of_copy(fault: Exception, source: Path, path: Path) -> str:
    """What is wrong with a copy, and the way out of that: the one for a table's journal is to restore."""
    if isinstance(fault, sqlite3.Error):
        fault = fault_of(source, fault, "not a journal that can be read")
    text = str(fault).replace(str(beside(path, ".source")), str(source))
    cut = text.removesuffix(f"; {WAY_OUT}")
    return text if cut == text else f"{cut}; {_ANOTHER}"


def _replaced(new: Path, path: Path) -> Path | None:
    """Decide that ``new`` takes the place of ``path``; where that is kept. Raises :class:`NotRestored`."""
    aside = None
    try:
        aside = keep_aside(path, "replaced") if path.exists() else None
        decide(new, path)
    except OSError as fault:
        new.unlink(missing_ok=True)
        if aside is not None:
            forget_aside(aside)
        raise NotRestored(f"nothing was restored, and nothing changed: {fault}") from fault
    return aside


@contextlib.contextmanager
def _settled(source: Path, path: Path) -> Iterator[Path]:
    """What can be read of ``source``, which is left as it is.

    Beside a mirror whose writer died in the middle of a transaction lies what SQLite needs to undo it: that
    is done in a copy beside the journal ``path``.
    """
    there = Path(os.path.realpath(source))  # where SQLite has put them; a link to itself is none
    logs = [suffix for suffix in ("-journal", "-wal") if beside(there, suffix).exists()]
    if not logs:
        yield source
        return
    source = there
    copy = beside(path, ".source")
    try:
        for suffix in ("", *logs):
            beside(copy, suffix).unlink(missing_ok=True)
            copy_file(beside(source, suffix), beside(copy, suffix))
        settle(copy)
        yield copy
    finally:
        for suffix in ("", "-journal", *LOGS):
            beside(copy, suffix).unlink(missing_ok=True)


def _give(path: Path, table: str) -> None:
    """What root made here belongs to whom the folder belongs: the daemon's user."""
    folder = path.parent.stat()
    if os.geteuid() == 0 and folder.st_uid != 0:
        for one in (path, beside(path, journal_newest.SUFFIX), path.with_name(f"{table}.lock")):
            if one.exists():
                os.chown(one, folder.st_uid, folder.st_gid, follow_symlinks=False)


def _in_place(path: Path) -> Newest | None:
    """How far the journal in place goes, as far as that can be known."""
    known = journal_newest.read(path)
    if not path.exists():
        return known
    with (
        contextlib.suppress(JournalFault, JournalUnavailable, sqlite3.Error),
        contextlib.closing(JournalReader.open(path)) as reader,
    ):
        row, sequence = reader.last()
        if known is None or known.epoch != reader.epoch or known.row < row:
            return Newest(reader.epoch, row, sequence, reader.acked(), b"")
    return known


def _told(copied: Copied, epoch: str, here: Newest | None, aside: Path | None) -> list[str]:
    said = [
        f"restored: epoch {epoch}, rows up to {copied.row}, events up to {copied.sequence}, "
        f"acknowledged up to {copied.acked}"
    ]
    if aside is not None:
        said.append(f"what was in place is kept: {aside}")
    if here is not None and here.epoch != epoch:
        said.append(
            f"it is another history than the one in place ({here.epoch}): a game server that knows that one "
            "refuses this one (403) until a person accepts its epoch there"
        )
    said.append(
        f"what the game server has behind event {copied.acked} is sent once more and counts once. If it has "
        f'events behind {copied.sequence}, delivery halts at the first contact: "the server is ahead of this '
        'journal"; if an event was parked behind what this copy has, it halts there: "the server refuses '
        'event". Nothing is skipped; no betting opens, unless the house rules do without the link. Restore a '
        "newer copy (the mirror), or begin a new history (docs/journal.md)"
    )
    return said
