"""Reading a journal: rows, events to send, and the walk along the chain that finds what was changed.

Any number of threads read, over connections of their own and in short transactions, because a reader that
holds a snapshot keeps the log from being cut.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from tablectl.journal.file import WAY_OUT, anchor_of, fault_of, foreign, open_existing
from tablectl.journal.place import where_in_file
from tablectl.journal.rounds import RoundQueries
from tablectl.journal.rows import MOST_ROW, Anchor, JournalFault, Outgoing, Place, Row, chained, place

PAGE = 500
"""Most rows of one read, so that no read holds a snapshot for long."""

_ROW = "row, sequence, public, private, raw"
_ROUND_IT = (
    "(SELECT hash FROM rows AS before WHERE before.row = rows.row - 1), "
    "(SELECT prev_hash FROM rows AS next WHERE next.row = rows.row + 1)"
)
"""What the rows before and behind a row say of it."""
_CHANGED = "its hash does not fit: it or the row before was changed"
_OTHER_KIND = "a value in it is of another kind than tablectl writes: something else wrote to this file"

Link = tuple[Row | Anchor, int, bytes]
"""A row found right, the newest sequence up to it, and its hash. An anchor: the walk begins behind it."""


class JournalReader(RoundQueries):
    """Reads one journal. Safe to use from any thread, one call at a time."""

    def __init__(self, path: Path, db: sqlite3.Connection, table: str, epoch: str) -> None:
        self.path = path
        self.table = table
        self.epoch = epoch
        self.upto: int | None = None
        """The last row that counts, where a start would cut those behind it; None: all do."""
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

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """What is read in it is of one moment, though old rows be removed meanwhile. Only for few rows."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:  # SQLite ends it by itself at some errors
                    self._db.execute("ROLLBACK")

    def _rows(self, where: str, *values: object) -> list[Row]:
        return [row for row, _ in self.found(where, *values)]

    def found(self, where: str, *values: object) -> list[tuple[Row, bytes]]:
        """Rows and their hashes, each checked by itself and against the ones beside it.

        Raises :class:`JournalFault` naming the first that is not what was written: nothing altered is shown.
        """
        sql = f"SELECT {_ROW}, prev_hash, hash, type, shoe, round, {_ROUND_IT} FROM rows WHERE {where}"  # noqa: S608
        with self.at_once():
            return [self._proven(columns) for columns in self._all(sql, *values)]

    def _proven(self, columns: tuple[object, ...]) -> tuple[Row, bytes]:
        row = Row(*columns[:5], Place(*columns[7:10]))  # type: ignore[call-arg, arg-type]
        before, digest, behind = columns[10], columns[6], columns[11]
        if before is None:
            anchor = self.anchor()
            if row.row != anchor.row + 1:
                raise self.fault(row.row - 1, "it is missing")
            before = anchor.hash
        try:
            digests = (before, chained(before, row))  # type: ignore[arg-type]
            if columns[5:7] != digests:
                self._follows(row, self._sequence(row.row - 1, self.anchor()))
            self._fits(row, digests, columns[5:10])  # type: ignore[arg-type]
        except TypeError as error:
            raise self.fault(row.row, _OTHER_KIND) from error
        except ValueError as error:
            raise self.fault(row.row, str(error)) from error
        if row.row == self.upto:
            return row, digest  # type: ignore[return-value]
        if behind is None and row.row < self.last()[0]:
            raise self.fault(row.row + 1, "it is missing")
        if behind is not None and behind != digest:
            raise self.fault(row.row + 1, _CHANGED)
        return row, digest  # type: ignore[return-value]

    def foreign(self) -> str:
        """What the file has that tablectl did not make; it may have come since it was opened."""
        with self._lock:
            return foreign(self._db)

    def rows(self, after: int = 0, limit: int = PAGE) -> list[Row]:
        """Rows behind ``after``, in order, at most 500 at a time."""
        return self._rows("row > ? ORDER BY row LIMIT ?", after, min(limit, PAGE))

    def every_row(self, after: int = 0) -> Iterator[Row]:
        """All rows behind ``after``, page by page."""
        return self.in_order("TRUE", after)

    def in_order(self, where: str, after: int = 0) -> Iterator[Row]:
        """The rows that ``where`` leads to, behind ``after``, page by page."""
        while page := self._rows(f"{where} AND row > ? ORDER BY row LIMIT ?", after, PAGE):
            yield from page
            after = page[-1].row

    def last_of_type(self, event_type: str, upto: int | None = None) -> int | None:
        """The newest row (up to that one) with an event of this type, for example ``shoe.started``."""
        sql = "SELECT max(row) FROM rows WHERE type = ? AND row <= ?"
        ((row,),) = self._all(sql, event_type, MOST_ROW if upto is None else upto)
        return None if row is None else int(str(row))

    def rows_of_type(self, event_type: str) -> list[Row]:
        """Every row of this type, in order; for types of which there are few."""
        return self._rows("type = ? ORDER BY row", event_type)

    def bodies(self, first_sequence: int, limit: int = 100) -> list[Outgoing]:
        """Public events from ``first_sequence`` on, as they are to be sent, without a gap.

        The rows are read in their order from the event before on: one that the sequence does not lead to is
        found too. Raises :class:`JournalFault` naming a row that is not what was written, once those before
        it were given: nothing damaged is sent, nothing left out.
        """
        with self.at_once():
            return self._bodies(first_sequence, limit)

    def _bodies(self, first_sequence: int, limit: int) -> list[Outgoing]:
        sql = "SELECT row FROM rows WHERE sequence < ? ORDER BY sequence DESC LIMIT 1"
        after = before = self._one(sql, first_sequence) or self.anchor().row
        wanted = max(first_sequence, self.first_sequence())
        made: list[Outgoing] = []
        one_by_one = False
        while len(made) < limit:
            try:
                size = 1 if one_by_one else limit - len(made) + 1
                page = self._rows("row > ? ORDER BY row LIMIT ?", after, size)
            except JournalFault:
                if made:
                    break
                if one_by_one:
                    raise
                one_by_one = True  # the rows before the bad one, which is then named
                continue
            if not page:
                break
            after = page[-1].row
            for row in page:
                if row.sequence is not None and row.public is not None and row.sequence >= first_sequence:
                    made.append(Outgoing(row.sequence, json.loads(row.public)["id"], row.public))
        if not made or made[0].sequence != wanted:
            self._rows("row = ?", before)  # the row that led here
        if made and made[0].sequence != wanted:
            raise self.fault(before, f"event {wanted} should follow, not {made[0].sequence}")
        return made[:limit]

    def last(self) -> tuple[int, int]:
        """Number of the newest row and of the newest public event; what was removed counts."""
        with self.at_once():
            # By the rows themselves: an index may be damaged.
            found = self._all("SELECT row FROM rows NOT INDEXED ORDER BY row DESC LIMIT 1")
            anchor = self.anchor()
            row = int(str(found[0][0])) if found else anchor.row
            return row, self._sequence(row, anchor)

    def _sequence(self, row: int, anchor: Anchor) -> int:
        """The newest public event up to ``row``."""
        sql = (
            "SELECT sequence FROM rows NOT INDEXED WHERE row <= ? AND sequence IS NOT NULL "
            "ORDER BY row DESC LIMIT 1"
        )
        found = self._all(sql, row)
        return int(str(found[0][0])) if found else anchor.sequence

    def acked(self) -> int:
        """The newest event the game server has acknowledged, 0 when none."""
        return int(self.meta()["acked"])

    def meta(self) -> dict[str, str]:
        """What is noted beside the rows."""
        return {str(key): str(value) for key, value in self._all("SELECT key, value FROM meta")}

    def anchor(self) -> Anchor:
        """What the chain begins behind: the last row that was removed, or the genesis."""
        return anchor_of(self.meta())

    def first_sequence(self) -> int:
        """The oldest public event that is kept: what a game server can still ask for."""
        return self.anchor().sequence + 1

    def sure(self) -> int | None:
        """The newest event known to be what the game server may have of that number; None: all are.

        After rows were lost, their numbers are given anew. A server that already has one of the lost events
        wants one behind it next; what stands here under those numbers is not what it has.
        """
        text = self.meta().get("sure")
        return None if text is None else int(text)

    def verify(self) -> int:
        """Walk the whole chain; the number of the last row.

        Raises :class:`JournalFault` naming the first row that is missing, changed or out of order.
        """
        return self.walk(0)[0]

    def checked(self, after: int = 0) -> Iterator[Row]:
        """As :meth:`every_row`, each row only once its place, hash and index columns are found right.

        Raises as :meth:`verify`, and :class:`JournalUnavailable` when the disk does not answer.
        """
        return (row for row, _, _ in self.links(after) if isinstance(row, Row))

    def walk(self, after: int) -> tuple[int, int, bytes]:
        """Check the rows behind ``after``; last row, last sequence and hash."""
        end, sequence, digest = deque(self.links(after), maxlen=1).pop()
        return end.row, sequence, digest

    def links(self, after: int = 0) -> Iterator[Link]:
        """The rows behind ``after`` (those kept), each checked.

        Before them an anchor says where that begins: behind ``after``, or behind what was removed. A further
        one comes where rows that were still to be walked are removed meanwhile, as too old.
        """
        row = after
        try:
            begin = self._begin(after)
            row, sequence, digest = begin.row, begin.sequence, begin.hash
            yield begin, sequence, digest
            sql = f"SELECT {_ROW}, prev_hash, hash, type, shoe, round FROM rows WHERE row > ? ORDER BY row"  # noqa: S608
            limit = PAGE
            while True:
                try:
                    page = self._all(f"{sql} LIMIT {limit}", row)
                except sqlite3.DatabaseError:
                    if limit == 1:
                        raise
                    limit = 1  # the rows before the bad one, which is then named
                    continue
                if not page:
                    return
                if page[0][0] != row + 1 and self.anchor().row > row:
                    begin = self.anchor()
                    row, sequence, digest = begin.row, begin.sequence, begin.hash
                    yield begin, sequence, digest
                    continue
                for columns in page:
                    stored = Row(*columns[:5])  # type: ignore[arg-type]
                    self._check(stored, row, sequence, (digest, chained(digest, stored)), columns[5:])
                    row, digest = stored.row, chained(digest, stored)
                    sequence = sequence if stored.sequence is None else stored.sequence
                    yield stored, sequence, digest
        except sqlite3.Error as error:
            fault = fault_of(self.path, error, f"row {row + 1}: it cannot be read{self._where(row + 1)}")
            if isinstance(fault, JournalFault):
                fault.row = row + 1
            raise fault from error
        except TypeError as error:
            raise self.fault(row + 1, _OTHER_KIND) from error
        except ValueError as error:
            raise self.fault(row + 1, str(error)) from error

    def _begin(self, after: int) -> Anchor:
        with self.at_once():
            anchor = self.anchor()
            if after <= anchor.row:
                return anchor
            found = self._all("SELECT hash FROM rows WHERE row = ?", after)
            if not found or not isinstance(found[0][0], bytes):
                raise self.fault(after, "it is missing")
            return Anchor(after, self._sequence(after, anchor), found[0][0])

    def _check(
        self, row: Row, before: int, sequence: int, digests: tuple[bytes, bytes], rest: tuple[object, ...]
    ) -> None:
        if row.row != before + 1:
            raise self.fault(before + 1, "it is missing")
        self._follows(row, sequence)
        self._fits(row, digests, rest)

    def _follows(self, row: Row, sequence: int) -> None:
        if (row.sequence is None) != (row.public is None) or row.sequence not in (None, sequence + 1):
            raise self.fault(row.row, f"event {sequence + 1} should follow, not {row.sequence}")

    def _fits(self, row: Row, digests: tuple[bytes, bytes], rest: tuple[object, ...]) -> None:
        """``digests``: what its ``prev_hash`` and ``hash`` must be; ``rest``: those two, and its index."""
        if rest[:2] != digests:
            raise self.fault(row.row, _CHANGED)
        if Place(*rest[2:]) != place(row):  # type: ignore[arg-type]
            raise self.fault(row.row, "its index (type, shoe, round) is not what the row says")

    def _where(self, row: int) -> str:
        return where_in_file(self.path, self._db, row)

    def fault(self, row: int, why: str) -> JournalFault:
        """What is told of a row that cannot be trusted, and where it lies in the file if that is known."""
        return JournalFault(f"{self.path}: row {row}: {why}{self._where(row)}; {WAY_OUT}", row=row)

    def misindexed(self, first: int, last: int) -> str:
        """Which index does not lead to just the rows ``first`` to ``last`` (few), or "": all do."""
        with self.at_once():
            return self._misindexed(first, last)

    def _misindexed(self, first: int, last: int) -> str:
        sql = "SELECT row, sequence, type, shoe, round FROM rows NOT INDEXED WHERE row BETWEEN ? AND ?"
        rows = self._all(sql, first, last)
        numbers = [r[1] for r in rows if r[1] is not None]
        ways: list[tuple[str, str, list[object], set[object]]] = []
        if numbers:
            span: list[object] = [numbers[0], numbers[-1]]
            ways.append(
                ("sqlite_autoindex_rows_1", "sequence BETWEEN ? AND ?", span, {r[0] for r in rows if r[1]})
            )
        for kind in {r[2] for r in rows}:
            wanted = {r[0] for r in rows if r[2] == kind}
            ways.append(("rows_type", "type = ? AND row BETWEEN ? AND ?", [kind, first, last], wanted))
        for pair in {r[3:5] for r in rows}:
            wanted = {r[0] for r in rows if r[3:5] == pair}
            where = "shoe IS ? AND round IS ? AND row BETWEEN ? AND ?"
            ways.append(("rows_round", where, [*pair, first, last], wanted))
        for index, where, values, wanted in ways:
            try:
                got = self._all(f"SELECT row FROM rows INDEXED BY {index} WHERE {where}", *values)  # noqa: S608
            except sqlite3.DatabaseError as error:
                return f"{index} ({error})"
            if len(got) != len(wanted) or {r[0] for r in got} != wanted:
                return index
        return ""
