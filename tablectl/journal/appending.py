"""Writing a journal: rows are appended, each chained to the one before, and never changed."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

from tablectl.journal.copy import INSERT, values_of
from tablectl.journal.file import anchor_text, create, fault_of, open_existing
from tablectl.journal.keep import removal
from tablectl.journal.newest import Newest, NewestFile
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.repair import make_ready, noted
from tablectl.journal.rows import Anchor, JournalUnavailable, Row, chained

TABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,16}")

TRIMMED = 200
"""Rows that are removed in one transaction: as quick as a commit of a few."""


class Journal(JournalReader):
    """The one writer. Only the holder of the table's lock may open it."""

    def __init__(
        self, path: Path, db: sqlite3.Connection, table: str, epoch: str, sure: int | None = None
    ) -> None:
        super().__init__(path, db, table, epoch)
        self.mended = ""
        """What was mended at the opening, for people; "" when nothing was."""
        self.lost = False
        """Whether rows are gone by it."""
        self._untold = False
        """Whether that is noted in the file until the next rows are."""
        self._uncertain = False
        last, _ = self.last()
        self._tail = self.walk(max(0, last - PAGE))
        self._acked = self.acked()
        self._in_doubt = self.sure() is not None
        if sure is not None and not self._in_doubt:
            self._doubt(sure)  # before the file that is the reason for it is brought up to date
        self._newest = NewestFile(path)
        self._newest.begin(self._end())

    @classmethod
    def open(cls, path: Path, table: str = "", busy: Callable[[], object] = lambda: None) -> Journal:
        """Open the journal of ``table``, or make a new one with a new random epoch where there is no file.

        The newest rows are checked; a torn end is cut, an older schema written anew (``busy`` is called
        now and then meanwhile), see :mod:`tablectl.journal.repair`. Raises :class:`JournalFault` for a file
        that is no journal, is empty, is another table's, is from another version, or is damaged;
        :class:`JournalUnavailable` when the disk is in the way; :class:`ValueError` for a table id that
        cannot be.
        """
        if not TABLE_ID.fullmatch(table):
            raise ValueError(f"table id: 1 to 16 letters, digits, - or _, not {table!r}")
        mended = make_ready(path, table, busy)
        if not path.exists():
            create(path, table)
        db, meta = open_existing(path, "rw")
        try:
            journal = cls(path, db, table, meta["epoch"], mended.sure)
            told = noted(meta)
            journal.mended, journal.lost, journal._untold = told.said, told.lost, bool(told.said)
            return journal
        except BaseException as error:
            db.close()
            if isinstance(error, sqlite3.Error):
                raise fault_of(path, error, "not a journal that can be read") from error
            if isinstance(error, OSError) and not isinstance(error, JournalUnavailable):
                raise JournalUnavailable(f"{path}: {error}; free or mend the disk") from error
            raise

    def close(self) -> None:
        with self._lock:
            super().close()
            self._newest.close()

    def _end(self) -> Newest:
        row, sequence, digest = self._tail
        return Newest(self.epoch, row, sequence, self._acked, digest)

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
                digest = chained(before, row)
                values.append(values_of(row, before, digest))
                tail = (row.row, row.sequence or sequence, digest)
            self._write(values, acked)
            self._tail = tail
            self._newest.write(self._end())

    def set_acked(self, sequence: int) -> None:
        """Save the outbox cursor. Forced to the disk like a row: what is written behind it needs it there.

        Rows of a later commit are found through it; were it lost to a sync that failed, so would they be.
        """
        with self._lock:
            self._write([], sequence)
            self._newest.write(self._end())

    def _doubt(self, sure: int) -> None:
        """Note what is known for certain (:meth:`sure`), until the game server has answered."""
        with self._lock:
            self._transact([("INSERT INTO meta VALUES ('sure', ?)", (sure,))])
            self._in_doubt = True

    def trim(self, upto: int) -> int:
        """Remove the oldest rows up to ``upto``, a few at a time; how many rows up to it are left.

        Only what a row says is to be removed (:class:`~tablectl.events.RowsRemoved`), never the last row, and
        nothing that the game server has not acknowledged. The chain then begins behind them (:meth:`anchor`).
        Raises as :meth:`append`, and :class:`JournalFault`; may be called again.
        """
        with self._lock:
            anchor = self.anchor()
            told = removal(self)
            upto = min(upto, self._tail[0] - 1, told[0].upto if told is not None else 0)
            last = min(upto, anchor.row + TRIMMED)
            if last <= anchor.row:
                return 0
            sequence = self._sequence(last, anchor)
            ((digest,),) = self._all("SELECT hash FROM rows WHERE row = ?", last)
            if sequence > self._acked or not isinstance(digest, bytes):
                return 0
            note = anchor_text(Anchor(last, sequence, digest))
            statements: list[tuple[str, tuple[object, ...]]] = [
                ("DELETE FROM rows WHERE row <= ?", (last,)),
                (
                    "INSERT INTO meta VALUES ('anchor', ?) ON CONFLICT (key) DO UPDATE SET value = ?",
                    (note, note),
                ),
            ]
            self._transact(statements)
            return upto - last

    def _write(self, values: list[tuple[object, ...]], acked: int | None) -> None:
        statements: list[tuple[str, tuple[object, ...]]] = [(INSERT, one) for one in values]
        if acked is not None:
            statements.append(("UPDATE meta SET value = ? WHERE key = 'acked'", (acked,)))
            if self._in_doubt:
                statements.append(("DELETE FROM meta WHERE key = 'sure'", ()))
        if values and self._untold:
            statements.append(("DELETE FROM meta WHERE key = 'mended'", ()))
        self._transact(statements)
        if values:
            self._untold = False
        if acked is not None:
            self._acked, self._in_doubt = acked, False

    def _transact(self, statements: Sequence[tuple[str, tuple[object, ...]]]) -> None:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for sql, values in statements:
                self._db.execute(sql, values)
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
                raise self.fault(stored[0].row, "another program wrote into this journal")
            self._tail = self.walk(self._tail[0])
            rows = rows[len(stored) :]
        self._uncertain = False
        return rows
