"""Whether a file is the mirror of a journal, and how far it goes, found out before anything is changed.

A configuration may name any file: SQLite, once it may write, removes a log that does not fit the file it
lies beside, and writes one that does into it.  So what lies there is looked at first by its own bytes alone,
as if nobody could ever change it, and only what is a mirror of this table and history is opened as one.
``tablectl check`` judges by the same functions.
"""

from __future__ import annotations

from pathlib import Path

from tablectl.journal.file import LOGS, beside, open_existing
from tablectl.journal.mirror_fault import AWAY, of_mirror
from tablectl.journal.mirror_place import why_unfit
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.rows import Anchor, JournalFault

_HEAD = 8
_LOGS = {
    "-journal": (bytes.fromhex("d9d505f920a163d7"),),
    "-wal": (bytes.fromhex("377f0682"), bytes.fromhex("377f0683")),
}
"""How SQLite's logs begin."""


def ours(path: Path, journal: Path, table: str, epoch: str | None) -> bool:
    """Whether the mirror of this journal is there, to be written on; False: nothing is, and one may be made.

    ``epoch``: of the journal; None: there is none yet. Not a byte is changed. Raises
    :class:`JournalFault` for whatever else is there.
    """
    if unfit := why_unfit(path, journal):
        raise JournalFault(unfit)
    if not path.exists():
        _no_log(path)
        return False
    _of_this(path, table, epoch)
    _no_other(path)
    return True


def _no_log(path: Path) -> None:
    """Raises :class:`JournalFault` where a log lies of a mirror that is not there."""
    for suffix in (*LOGS, "-journal"):
        if (log := beside(path, suffix)).exists():
            raise JournalFault(f"{log}: the log of a mirror that is not here; {AWAY}")


def _of_this(path: Path, table: str, epoch: str | None) -> None:
    """Raises :class:`JournalFault` where the file is no mirror of this table and history.

    What says so never changes in a mirror: a transaction that is not undone yet left it as it was.
    """
    with of_mirror(path):
        db, meta = open_existing(path, "ro&immutable=1")
        db.close()
    if meta["table"] != table or (epoch is not None and meta["epoch"] != epoch):
        this = table if epoch is None else f"{table}, epoch {epoch}"
        raise JournalFault(
            f"{path} is of table {meta['table']}, epoch {meta['epoch']}, and this is {this}; {AWAY}"
        )


def cut_short(path: Path) -> bool:
    """Whether something is to be undone in our mirror (:func:`ours`) before it can be read."""
    log = beside(path, "-journal")
    return log.exists() and _first_bytes(log).startswith(_LOGS["-journal"])


def end_of(there: JournalReader) -> tuple[Anchor, bool]:
    """The last row of a mirror, and whether it has none; its newest rows and their indices are checked.

    Raises as the walk.
    """
    with of_mirror(there.path):
        end, anchor = Anchor(*there.walk(max(0, there.last()[0] - PAGE))), there.anchor()
        if wrong := there.misindexed(max(anchor.row, end.row - PAGE) + 1, end.row):
            raise JournalFault(f"{there.path}: an index is damaged ({wrong})")
        return end, end == anchor


def must_fit(path: Path, end: Anchor, reader: JournalReader) -> None:
    """Raises :class:`JournalFault` where the mirror's last row is not the journal's row of that number."""
    row, anchor, last = end.row, reader.anchor(), reader.last()[0]
    if row < anchor.row:
        raise JournalFault(
            f"{path} ends with row {row}, and the journal begins behind row {anchor.row}; {AWAY}"
        )
    if row > last:
        raise JournalFault(
            f"{path} has rows up to {row}, and the journal only {last}: was the journal restored or "
            f"cut? Keep this file, it has what is missing; {AWAY}"
        )
    if next(iter(reader.links(row)))[2] != end.hash:
        raise JournalFault(f"{path}: its row {row} is not the journal's; {AWAY}")


def _no_other(path: Path) -> None:
    """Raises :class:`JournalFault` where what is called as a log of the mirror is none, and so would go."""
    for suffix, begins in _LOGS.items():
        log = beside(path, suffix)
        if log.exists() and not log.is_file():
            raise JournalFault(f"{log} is no file; move it away")
        if log.exists() and not _first_bytes(log).startswith((*begins, b"\0" * _HEAD)):
            raise JournalFault(f"{log}: no log of a mirror; move it away")


def _first_bytes(path: Path) -> bytes:
    """Those of a log; of an empty one zeros, with which one begins whose transaction has not begun."""
    with path.open("rb") as file:
        return file.read(_HEAD) or bytes(_HEAD)
