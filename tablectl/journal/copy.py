"""A copy of a journal, row by row along its chain: the one way in which a journal is ever written anew.

Rows never change, so that a copy of the rows up to one of them is consistent however many come meanwhile;
it reads in short transactions, and each row is checked before it is in the copy (:func:`pages`).  What is
copied so: a backup, the mirror, a journal whose last rows were torn, one of an older schema, and a backup on
its way back.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from tablectl.journal.file import SCHEMA, anchor_text, beside, empty, fault_of, sync
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.rows import Anchor, Row, place

INSERT = "INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?)"


def values_of(row: Row, before: bytes, digest: bytes) -> tuple[object, ...]:
    """A row as :data:`INSERT` takes it. ``before``: the hash of the row before."""
    where = row.where or place(row)
    stored = (row.row, row.sequence, row.public, row.private, row.raw, before, digest)
    return (*stored, where.type, where.shoe, where.round)


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows as :data:`INSERT` takes them: what they follow, and the last of them (or, of none, that)."""

    behind: Anchor
    values: list[tuple[object, ...]]
    end: Anchor


def pages(reader: JournalReader, after: int = 0, upto: int | None = None) -> Iterator[Page]:
    """The rows behind ``after`` (those kept), up to ``upto``, each checked; at least one page, maybe empty.

    Each page follows the one before, unless rows between them were removed meanwhile, as too old: then all
    before it were removed, and a copy begins anew with it. Raises as :meth:`JournalReader.links`.
    """
    behind = end = Anchor(0, 0, b"")
    values = list[tuple[object, ...]]()
    for link, sequence, digest in reader.links(after):
        if isinstance(link, Anchor):
            if values:
                yield Page(behind, values, end)
            behind = end = link
            values = []
        else:
            values.append(values_of(link, end.hash, digest))
            end = Anchor(link.row, sequence, digest)
        if upto is not None and end.row >= upto:
            break  # what is behind it may be torn, and is not looked at
        if len(values) == PAGE:
            yield Page(behind, values, end)
            behind, values = end, []
    yield Page(behind, values, end)


def new_file(path: Path, reader: JournalReader, more: Mapping[str, object]) -> sqlite3.Connection:
    """A file for a copy of that journal, without rows, in a transaction. ``more``: what it notes, too."""
    meta = {"schema": SCHEMA, "table": reader.table, "epoch": reader.epoch, "acked": 0}
    return empty(path, {**meta, **more})


def begin_behind(db: sqlite3.Connection, anchor: Anchor) -> None:
    """In a transaction: let a copy have no rows, and follow that one."""
    db.execute("DELETE FROM rows")
    db.execute("INSERT OR REPLACE INTO meta VALUES ('anchor', ?)", (anchor_text(anchor),))


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
    noted = dict(more)
    known = reader.sure()
    if sure is not None or known is not None:
        noted["sure"] = min(one for one in (sure, known) if one is not None)
    try:
        db = new_file(target, reader, noted)
    except sqlite3.Error as error:
        raise fault_of(target, error, "the copy cannot be written") from error
    done = False
    try:
        with contextlib.closing(db):
            end = _rows(reader, db, upto, between, rest)
            acked = min(int(meta["acked"]), end.sequence)
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
    return Copied(end.row, end.sequence, acked, end.hash)


def _rows(
    reader: JournalReader, db: sqlite3.Connection, upto: int, between: Callable[[], object], rest: float
) -> Anchor:
    end = None
    for page in pages(reader, 0, upto):
        if page.behind != end and page.behind.row:
            begin_behind(db, page.behind)
        db.executemany(INSERT, page.values)
        end = page.end
        between()
        if rest:
            time.sleep(rest)
    assert end is not None
    return end
