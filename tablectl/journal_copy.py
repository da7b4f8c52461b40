"""A copy of a journal, row by row along its chain: the one way in which a journal is ever written anew.

Rows never change, so that a copy of the rows up to one of them is consistent however many come meanwhile;
it reads in short transactions, and each row is checked before it is in the copy.  What is copied so: a
backup, a journal whose last rows were torn, one of an older schema, and a backup on its way back.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from tablectl.journal_file import SCHEMA, anchor_text, beside, empty, fault_of, sync
from tablectl.journal_reader import PAGE, JournalReader
from tablectl.journal_rows import Row, place

INSERT = "INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?)"


def values_of(row: Row, before: bytes, digest: bytes) -> tuple[object, ...]:
    """A row as :data:`INSERT` takes it. ``before``: the hash of the row before."""
    where = row.where or place(row)
    stored = (row.row, row.sequence, row.public, row.private, row.raw, before, digest)
    return (*stored, where.type, where.shoe, where.round)


@dataclass(frozen=True, slots=True)
class Copied:
    """The end of a copy: its last row and event, the acknowledged one, and the last hash."""

    row: int
    sequence: int
    acked: int
    hash: bytes


def copy_rows(
    reader: JournalReader,
    target: Path,
    upto: int | None = None,
    *,
    sure: int | None = None,
    between: Callable[[], object] = lambda: None,
    rest: float = 0.0,
    more: Mapping[str, object] = MappingProxyType({}),
) -> Copied:
    """Copy the rows of ``reader`` up to ``upto`` (all) into a new file, which is on the disk at the end.

    ``sure``: see :meth:`JournalReader.sure`. ``more``: what else is noted in it. ``between`` is called after
    each 500 rows, then ``rest`` seconds are waited. A file that was not finished is removed. Raises
    :class:`FileExistsError`, :class:`JournalFault` naming the first bad row, :class:`JournalUnavailable`.
    """
    meta = reader.meta()
    upto = reader.last()[0] if upto is None else upto
    anchor = reader.anchor()
    noted: dict[str, object] = {"schema": SCHEMA, "table": reader.table, "epoch": reader.epoch, "acked": 0}
    noted |= more
    if anchor.row:
        noted["anchor"] = anchor_text(anchor)
    known = reader.sure()
    if sure is not None or known is not None:
        noted["sure"] = min(one for one in (sure, known) if one is not None)
    try:
        db = empty(target, noted)
    except sqlite3.Error as error:
        raise fault_of(target, error, "the copy cannot be written") from error
    done = False
    try:
        with contextlib.closing(db):
            end = _rows(reader, db, upto, between, rest)
            acked = min(int(meta["acked"]), end[1])
            db.execute("UPDATE meta SET value = ? WHERE key = 'acked'", (acked,))
            db.execute("COMMIT")
        sync(target)
        done = True
    except sqlite3.Error as error:
        raise fault_of(target, error, "the copy cannot be written") from error
    finally:
        if not done:
            for suffix in ("", "-journal"):
                beside(target, suffix).unlink(missing_ok=True)
    return Copied(end[0], end[1], acked, end[2])


def _rows(
    reader: JournalReader, db: sqlite3.Connection, upto: int, between: Callable[[], object], rest: float
) -> tuple[int, int, bytes]:
    end, page = (0, 0, b""), list[tuple[object, ...]]()
    for row, sequence, digest in reader.links():
        if row is None:
            end = (reader.anchor().row, sequence, digest)
            if end[0] >= upto:
                break
            continue
        page.append(values_of(row, end[2], digest))
        end = (row.row, sequence, digest)
        if row.row == upto:
            break  # what is behind it may be torn, and is not looked at
        if len(page) == PAGE:
            db.executemany(INSERT, page)
            page.clear()
            between()
            if rest:
                time.sleep(rest)
    db.executemany(INSERT, page)
    return end
