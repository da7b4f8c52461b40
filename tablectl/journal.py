"""The journal: every row of a table's life in one SQLite file, chained by hashes, never changed.

What is in it has happened; nothing is told outside before it is in it.  One connection writes
(:class:`Journal`); any number of threads read over connections of their own (:class:`JournalReader`)
in short transactions, because a reader that holds a snapshot keeps the log from being cut.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from tablectl.journal_file import WAY_OUT, create, fault_of, open_existing
from tablectl.journal_rounds import RoundQueries
from tablectl.journal_rows import (
    JournalFault,
    JournalUnavailable,
    Outgoing,
    Place,
    Row,
    chained,
    decode_row,
    genesis,
    place,
)

__all__ = ["Journal", "JournalFault", "JournalReader", "JournalUnavailable", "Outgoing", "Row", "decode_row"]

PAGE = 500
"""Most rows of one read, so that no read holds a snapshot for long."""

TABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,16}")

_ROW = "row, sequence, public, private, raw"


class JournalReader(RoundQueries):
    """Reads one journal. Safe to use from any thread, one call at a time."""

    def __init__(self, path: Path, db: sqlite3.Connection, table: str, epoch: str) -> None:
        self.path = path
        self.table = table
        self.epoch = epoch
        self._db = db
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: Path) -> JournalReader:
        """A reader of an existing journal. Raises :class:`JournalFault` when it is none."""
        db, meta = open_existing(path, "ro")
        return cls(path, db, meta["table"], meta["epoch"])

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _all(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def _rows(self, where: str, *values: object) -> list[Row]:
        found = self._all(f"SELECT {_ROW} FROM rows WHERE {where}", *values)  # noqa: S608 our own text
        return [Row(*columns) for columns in found]  # type: ignore[arg-type]

    def rows(self, after: int = 0, limit: int = PAGE) -> list[Row]:
        """Rows behind ``after``, in order, at most 500 at a time."""
        return self._rows("row > ? ORDER BY row LIMIT ?", after, min(limit, PAGE))

    def every_row(self, after: int = 0) -> Iterator[Row]:
        """All rows behind ``after``, page by page."""
        while page := self.rows(after):
            yield from page
            after = page[-1].row

    def last_of_type(self, event_type: str) -> int | None:
        """The newest row with an event of this type, for example ``shoe.started``."""
        ((row,),) = self._all("SELECT max(row) FROM rows WHERE type = ?", event_type)
        return None if row is None else int(str(row))

    def bodies(self, first_sequence: int, limit: int = 100) -> list[Outgoing]:
        """Public events from ``first_sequence`` on, as they are to be sent."""
        found = self._all(
            "SELECT sequence, public FROM rows WHERE sequence >= ? ORDER BY sequence LIMIT ?",
            first_sequence,
            limit,
        )
        return [Outgoing(n, json.loads(body)["id"], body) for n, body in found]  # type: ignore[arg-type]

    def last(self) -> tuple[int, int]:
        """Number of the newest row and of the newest public event; 0 when there is none."""
        ((row, sequence),) = self._all("SELECT (SELECT max(row) FROM rows), (SELECT max(sequence) FROM rows)")
        return int(str(row or 0)), int(str(sequence or 0))

    def acked(self) -> int:
        """The newest event the game server has acknowledged, 0 when none."""
        ((value,),) = self._all("SELECT value FROM meta WHERE key = 'acked'")
        return int(str(value))

    def verify(self) -> int:
        """Walk the whole chain; the number of rows.

        Raises :class:`JournalFault` naming the first row that is missing, changed or out of order.
        """
        return self._walk(0)[0]

    def checked(self, after: int = 0) -> Iterator[Row]:
        """As :meth:`every_row`, each row only once its place, hash and index are found right.

        Raises as :meth:`verify`, and :class:`JournalUnavailable` when the disk does not answer.
        """
        return (row for row, _, _ in self._links(after) if row is not None)

    def _walk(self, after: int) -> tuple[int, int, bytes]:
        """Check the rows behind ``after``; last row, last sequence and hash."""
        row, sequence, digest = deque(self._links(after), maxlen=1).pop()
        return (after if row is None else row.row), sequence, digest

    def _links(self, after: int) -> Iterator[tuple[Row | None, int, bytes]]:
        """The rows behind ``after``, checked; each with the last sequence and the hash. First: None."""
        row, sequence, digest = after, 0, genesis(self.table, self.epoch)
        try:
            if after:
                ((before, digest),) = self._all(  # type: ignore[assignment]
                    "SELECT (SELECT max(sequence) FROM rows WHERE row <= ?1), hash FROM rows WHERE row = ?1",
                    after,
                )
                sequence = int(str(before or 0))
            yield None, sequence, digest
            sql = f"SELECT {_ROW}, prev_hash, hash, type, shoe, round FROM rows WHERE row > ? ORDER BY row"  # noqa: S608
            while page := self._all(f"{sql} LIMIT {PAGE}", row):
                for columns in page:
                    stored = Row(*columns[:5])  # type: ignore[arg-type]
                    self._check(stored, row, sequence, (digest, chained(digest, stored)), columns[5:])
                    row, digest = stored.row, chained(digest, stored)
                    sequence = sequence if stored.sequence is None else stored.sequence
                    yield stored, sequence, digest
        except sqlite3.Error as error:
            raise fault_of(self.path, error, f"row {row + 1}: it cannot be read") from error
        except (TypeError, ValueError) as error:
            raise self._fault(row + 1, str(error)) from error

    def _check(
        self, row: Row, before: int, sequence: int, digests: tuple[bytes, bytes], rest: tuple[object, ...]
    ) -> None:
        if row.row != before + 1:
            raise self._fault(before + 1, "it is missing")
        if (row.sequence is None) != (row.public is None) or row.sequence not in (None, sequence + 1):
            raise self._fault(row.row, f"event {sequence + 1} should follow, not {row.sequence}")
        if rest[:2] != digests:
            raise self._fault(row.row, "its hash does not fit: it or the row before was changed")
        if Place(*rest[2:]) != place(row):  # type: ignore[arg-type]
            raise self._fault(row.row, "its index (type, shoe, round) is not what the row says")

    def _fault(self, row: int, why: str) -> JournalFault:
        return JournalFault(f"{self.path}: row {row}: {why}; {WAY_OUT}")


class Journal(JournalReader):
    """The one writer. Only the holder of the table's lock may open it."""

    def __init__(self, path: Path, db: sqlite3.Connection, table: str, epoch: str) -> None:
        super().__init__(path, db, table, epoch)
        self._uncertain = False
        last, _ = self.last()
        self._tail = self._walk(max(0, last - PAGE))
        if self.acked() > self._tail[1]:
            raise JournalFault(
                f"{path}: the game server has acknowledged event {self.acked()}, but the last one here is "
                f"{self._tail[1]}: the newest rows are lost (was the file "
                f"{path.name}-wal left behind?); {WAY_OUT}"
            )

    @classmethod
    def open(cls, path: Path, table: str = "") -> Journal:
        """Open the journal of ``table``, or make a new one with a new random epoch where there is no file.

        The newest rows are checked. Raises :class:`JournalFault` for a file that is no journal, is
        empty, is another table's, is from another version, or is damaged; :class:`ValueError` for a
        table id that cannot be.
        """
        if not TABLE_ID.fullmatch(table):
            raise ValueError(f"table id: 1 to 16 letters, digits, - or _, not {table!r}")
        if not path.exists():
            create(path, table)
        db, meta = open_existing(path, "rw")
        try:
            if meta["table"] != table:
                raise JournalFault(
                    f"{path}: this is the journal of table {meta['table']}, not of {table}; {WAY_OUT}"
                )
            return cls(path, db, table, meta["epoch"])
        except BaseException as error:
            db.close()
            if isinstance(error, sqlite3.Error):
                raise fault_of(path, error, "not a journal that can be read") from error
            raise

    def reader(self) -> JournalReader:
        """A second, read-only connection for another thread."""
        return JournalReader.open(self.path)

    def append(self, rows: Sequence[Row], *, acked: int | None = None) -> None:
        """Write ``rows`` in one transaction; they are on the disk when this returns.

        ``acked`` saves the outbox cursor with them. Raises :class:`sqlite3.OperationalError` when the
        disk is full, locked or failing: nothing was written then, and the same call may be repeated,
        also when the failed one did arrive. :class:`ValueError` for rows that do not follow the last.
        """
        with self._lock:
            if self._uncertain:
                rows = self._missing(rows)
            tail, values = self._tail, list[tuple[object, ...]]()
            for row in rows:
                at, sequence, before = tail
                follows = row.sequence is None or row.sequence == sequence + 1
                if row.row != at + 1 or not follows or (row.sequence is None) != (row.public is None):
                    raise ValueError(f"row {row.row}, event {row.sequence} cannot follow {at}, {sequence}")
                digest, where = chained(before, row), astuple(row.where or place(row))
                values.append(
                    (*(row.row, row.sequence, row.public, row.private, row.raw, before, digest), *where)
                )
                tail = (row.row, row.sequence or sequence, digest)
            self._write(values, acked)
            self._tail = tail

    def set_acked(self, sequence: int) -> None:
        """Save the outbox cursor. Forced to the disk like a row: what is written behind it needs it there.

        Rows of a later commit are found through it; were it lost to a sync that failed, so would they be.
        """
        with self._lock:
            self._write([], sequence)

    def _write(self, values: list[tuple[object, ...]], acked: int | None) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT INTO rows VALUES (?,?,?,?,?,?,?,?,?,?)", values)
            if acked is not None:
                self._db.execute("UPDATE meta SET value = ? WHERE key = 'acked'", (acked,))
            self._db.execute("COMMIT")
        except sqlite3.Error:
            self._uncertain = True
            if self._db.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
            raise

    def _missing(self, rows: Sequence[Row]) -> Sequence[Row]:
        """After a failed write: the rows that are really not there yet."""
        last, _ = self.last()
        if last > self._tail[0]:
            stored = self._rows("row > ? ORDER BY row", self._tail[0])
            if stored != list(rows[: len(stored)]):
                raise self._fault(stored[0].row, "another program wrote into this journal")
            self._tail = self._walk(self._tail[0])
            rows = rows[len(stored) :]
        self._uncertain = False
        return rows
