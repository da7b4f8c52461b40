"""Before a journal is opened: finish what a crash left, find torn ends, write an older schema anew.

What was acknowledged by the game server is never cut, nor is anything in the middle: that is refused, with
the row and its place in the file.  A torn end is the rows from the first bad one on when none behind it is
whole.  Everything there was is copied aside before anything is changed.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tablectl.journal import newest as journal_newest
from tablectl.journal.beside import in_the_way
from tablectl.journal.copy import copy_rows
from tablectl.journal.file import LOGS, SCHEMA, WAY_OUT, beside, fault_of, second_names
from tablectl.journal.newest import Newest
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.replaced import decide, finish, forget_aside, keep_aside
from tablectl.journal.rows import MOST_ROW, JournalFault, JournalUnavailable, Row, chained

LOOKED_BEHIND = 2_000
"""Rows behind a bad one that are looked for: whether one is whole, and the bad one so in the middle."""

_COMPARE = "compare the cards on the table with the screen, and the last results with the game server"


@dataclass(frozen=True, slots=True)
class Mended:
    """What was mended, in words; "" when nothing was. ``lost``: rows are gone.

    ``sure``: the newest event, where rows behind it may be gone unseen (:meth:`JournalReader.sure`).
    """

    said: str = ""
    lost: bool = False
    sure: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a start does to a journal before it opens it.

    ``why``: it is written anew, and what there was is kept under a name with that in it; "": it stays.
    ``upto``: the last row that is kept; None: all.
    """

    mended: Mended = Mended()
    why: str = ""
    upto: int | None = None


Busy = Callable[[], object]


def make_ready(path: Path, table: str, busy: Busy = lambda: None) -> Mended:
    """See to it that the journal at ``path`` can be opened for writing.

    ``busy`` is called now and then while it takes long. Raises :class:`JournalFault`, and
    :class:`JournalUnavailable` when the disk is in the way.
    """
    with faults_of(path):
        must_be_free(path)
        finish(path)
        if not path.exists():
            refuse_new(path)
            return Mended()
        must_have_one_name(path)
        with contextlib.closing(JournalReader.open(path)) as reader:
            found = plan(reader, table, busy)
            return _anew(reader, found, busy) if found.why else found.mended


def must_be_free(path: Path) -> None:
    """Raises :class:`JournalUnavailable` where a file that a start writes, makes or removes cannot be."""
    if why := in_the_way(path):
        raise JournalUnavailable(why)


def must_have_one_name(path: Path) -> None:
    """Raises :class:`JournalFault` where the journal's file has names in other folders, too."""
    if names := second_names(path):
        raise JournalFault(f"{path}: {names}")


@contextlib.contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """What SQLite and the disk raise of a journal, told as what it means for it."""
    try:
        yield
    except sqlite3.Error as error:
        raise fault_of(path, error, "not a journal that can be read") from error
    except OSError as error:
        if isinstance(error, JournalUnavailable):
            raise
        raise JournalUnavailable(f"{path}: {error.strerror or error}; free or mend the disk") from error


def plan(reader: JournalReader, table: str, busy: Busy = lambda: None) -> Plan:
    """What a start has to do first; changes nothing. Raises as :func:`make_ready`."""
    path = reader.path
    if reader.table != table:
        raise JournalFault(f"{path}: this is the journal of table {reader.table}, not of {table}; {WAY_OUT}")
    newest = journal_newest.read(path)
    if newest is not None and newest.epoch != reader.epoch:
        newest = None  # of the history before this one
    found = _end(reader, newest, busy)
    _one_history(reader, found.upto)
    if not found.why and (schema := reader.meta()["schema"]) != str(SCHEMA):
        return replace(found, why=f"schema{schema}")  # kept: 0.1.0 can read it
    return found


def _one_history(reader: JournalReader, upto: int | None) -> None:
    """Raises :class:`JournalFault` where the newest event is of another history than the file says it is.

    What comes next would be told under that name, and begin a history that no game server knows.
    """
    sql = (
        "SELECT row, public FROM rows NOT INDEXED WHERE public IS NOT NULL AND row <= ? "
        "ORDER BY row DESC LIMIT 1"
    )
    for row, public in reader._all(sql, MOST_ROW if upto is None else upto):
        try:
            epoch = json.loads(public)["epoch"]  # type: ignore[arg-type]
        except (ValueError, TypeError, LookupError):
            return  # that row is judged elsewhere
        if epoch != reader.epoch:
            raise JournalFault(
                f"{reader.path}: it says that it is of history {reader.epoch}, and its newest event "
                f"(row {row}) is of {epoch}: its table `meta` was changed; {WAY_OUT}"
            )


def check_end(reader: JournalReader) -> None:
    """That a start goes on behind the last row as it is, also while the table plays.

    Raises :class:`JournalFault` where it would refuse or repair.
    """
    with faults_of(reader.path):
        found = plan(reader, reader.table)
    if found.mended.lost:
        raise JournalFault(
            f"{reader.path}: its end is damaged, and the next start repairs it: {found.mended.said}",
            row=None if found.upto is None else found.upto + 1,
        )


def refuse_new(path: Path) -> None:
    """Raises :class:`JournalFault` where no new journal may be made, though there is none."""
    newest = journal_newest.read(path)
    if newest is not None and newest.row:
        raise JournalFault(
            f"{path}: it is gone; it had {newest.row} rows, of epoch {newest.epoch}; put it back or restore "
            f"a backup (tablectl journal restore); to begin a new history move {path.name}"
            f"{journal_newest.SUFFIX} away too, and the game server must accept the new one"
        )
    for log in (beside(path, suffix) for suffix in LOGS):
        if log.exists():
            raise JournalFault(f"{log}: a log without its database {path}; {WAY_OUT}")


def _end(reader: JournalReader, newest: Newest | None, busy: Busy) -> Plan:
    """Look at the journal's last rows, and mend what may be mended."""
    acked = max(reader.acked(), newest.acked if newest else 0)
    try:
        last = reader.last()[0]
        row, sequence, digest = reader.walk(max(0, last - PAGE))
    except JournalFault as fault:
        return _torn(reader, newest, acked, fault, busy)
    except sqlite3.DatabaseError as error:
        why = fault_of(reader.path, error, "its last rows cannot be read")
        if not isinstance(why, JournalFault):
            raise why from error
        return _torn(reader, newest, acked, why, busy)
    if newest is not None and newest.row == row and newest.hash != digest:
        raise reader.fault(row, "it is not the row that was written here; another copy was put in its place")
    if newest is not None and newest.row > row:
        return _lost(reader, newest, (row, sequence), acked)
    if acked > sequence:
        raise JournalFault(
            f"{reader.path}: the game server has acknowledged event {acked}, but the last one here is "
            f"{sequence}: the newest rows are lost (was {reader.path.name}-wal left behind?); {WAY_OUT}"
        )
    # After a power cut, or when that file is gone, it proves nothing.
    sure = sequence if row and (newest is None or newest.row < row) else None
    wrong = reader.misindexed(max(reader.anchor().row + 1, row - PAGE + 1), row)
    if wrong:
        said = f"an index of the journal was damaged ({wrong}) and was made anew; no row is lost"
        return Plan(Mended(said, sure=sure), "torn")
    return Plan(Mended(sure=sure))


def _lost(reader: JournalReader, newest: Newest, end: tuple[int, int], acked: int) -> Plan:
    """Rows that were committed are not there, and nothing of them either."""
    row, sequence = end
    what = (
        f"the last commits are lost: rows {row + 1} to {newest.row}, "
        f"events {sequence + 1} to {newest.sequence}"
    )
    if acked > sequence:
        raise JournalFault(
            f"{reader.path}: {what}; the game server has acknowledged event {acked} (was the file "
            f"{reader.path.name}-wal left behind or damaged?); {WAY_OUT}"
        )
    said = f"{what}; none was acknowledged by the game server; {_COMPARE}"
    return Plan(Mended(said, lost=True, sure=sequence), "torn", row)


def _torn(reader: JournalReader, newest: Newest | None, acked: int, found: JournalFault, busy: Busy) -> Plan:
    """A bad row: at the end and never acknowledged it is cut, else the fault is raised."""
    good_row, good_sequence, fault = _good_until(reader, found, busy)
    bad = good_row + 1
    until = max(bad + LOOKED_BEHIND, newest.row if newest else 0)
    if _whole_behind(reader, bad, until, busy):
        raise fault
    if acked > good_sequence:
        text = str(fault).removesuffix(f"; {WAY_OUT}")
        raise JournalFault(
            f"{text}; the game server has acknowledged event {acked}, and the last one before the damage is "
            f"{good_sequence}; {WAY_OUT}",
            row=bad,
        )
    why = str(fault).split(": ", 1)[-1].removesuffix(f"; {WAY_OUT}")
    upto = f" to {newest.row}" if newest is not None and newest.row > bad else " and those behind it"
    said = (
        f"the end of the journal was torn ({why}): row {bad}{upto} cut, none acknowledged by the game "
        f"server; {_COMPARE}"
    )
    return Plan(Mended(said, lost=True, sure=good_sequence), "torn", good_row)


def _good_until(reader: JournalReader, fault: JournalFault, busy: Busy) -> tuple[int, int, JournalFault]:
    """The last good row and event, and the first fault, by a walk along the whole chain."""
    row, sequence = reader.anchor().row, reader.anchor().sequence
    try:
        for stored, number, _ in reader.links():
            row, sequence = stored.row, number
            if row % PAGE == 0:
                busy()
    except JournalFault as found:
        return row, sequence, found
    return row, sequence, fault  # the rows are good: only the way to the last one is damaged


def _whole_behind(reader: JournalReader, bad: int, until: int, busy: Busy) -> bool:
    """Whether a row behind a bad one is whole in itself."""
    columns = "row, sequence, public, private, raw, prev_hash, hash"
    for number in range(bad + 1, until + 1):
        if number % PAGE == 0:
            busy()
        try:
            found = reader._all(f"SELECT {columns} FROM rows WHERE row = ?", number)  # noqa: S608
            if found and chained(found[0][5], Row(*found[0][:5])) == found[0][6]:  # type: ignore[arg-type]
                return True
        except (sqlite3.DatabaseError, TypeError, ValueError, AttributeError):
            continue
    return False


def _anew(reader: JournalReader, found: Plan, busy: Busy) -> Mended:
    """Write the journal anew from its rows, as planned, in the schema of today.

    It is kept as it was under a name with ``why`` in it. What was mended is noted in the new file until the
    next rows are in it: a start that is cut short is not the last that tells of it.
    """
    new = beside(reader.path, ".new")
    for suffix in ("", *LOGS, "-journal"):
        beside(new, suffix).unlink(missing_ok=True)
    before = noted(reader.meta())
    aside = keep_aside(reader.path, found.why, busy)
    mended = found.mended
    if mended.said:
        said = "; and now ".join(one for one in (before.said, f"{mended.said}; copy: {aside.name}") if one)
        before = Mended(said, before.lost or mended.lost)
    note = {"mended": f"{int(before.lost)} {before.said}"} if before.said else {}
    try:
        copied = copy_rows(reader, new, found.upto, sure=mended.sure, between=busy, more=note)
        reader.close()
        decide(new, reader.path)
    except BaseException:
        forget_aside(aside)
        raise
    finish(reader.path)
    record = journal_newest.NewestFile(reader.path)
    with contextlib.closing(record):
        record.begin(Newest(reader.epoch, copied.row, copied.sequence, copied.acked, copied.hash))
    return before


def noted(meta: Mapping[str, str]) -> Mended:
    """What was mended in a journal and is not told yet."""
    lost, _, said = meta.get("mended", "").partition(" ")
    return Mended(said, lost == "1")
