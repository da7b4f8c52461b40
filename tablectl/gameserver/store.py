"""What the reference game server holds: every event once, and each round's settled result.

One SQLite file, with the money (:mod:`tablectl.gameserver.schema`).
An answer goes out only after the commit that makes it true.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablectl.gameserver.schema import MONEY
from tablectl.gameserver.surprise import is_everybodys
from tablectl.plain_file import must_be_file
from tablectl.private_files import FILE

_DDL = """
CREATE TABLE IF NOT EXISTS tables (
    id TEXT PRIMARY KEY, epoch TEXT NOT NULL, next INTEGER NOT NULL, seen INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refused (
    id TEXT, epoch TEXT, seen INTEGER NOT NULL, PRIMARY KEY (id, epoch)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    table_id TEXT, epoch TEXT, sequence INTEGER, id TEXT UNIQUE NOT NULL, type TEXT NOT NULL,
    sha256 BLOB NOT NULL, body BLOB NOT NULL, seen INTEGER NOT NULL,
    PRIMARY KEY (table_id, epoch, sequence));
CREATE INDEX IF NOT EXISTS skips ON events (table_id, epoch) WHERE type = 'tablectl.history.skipped.v1';
CREATE TABLE IF NOT EXISTS rounds (
    table_id TEXT, epoch TEXT, shoe INTEGER, round INTEGER, state TEXT NOT NULL, revision INTEGER NOT NULL,
    result TEXT NOT NULL, event TEXT NOT NULL, PRIMARY KEY (table_id, epoch, shoe, round)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS streams (name TEXT PRIMARY KEY, created TEXT NOT NULL, at INTEGER NOT NULL);
"""

SKIPPED = "tablectl.history.skipped.v1"


@dataclass(frozen=True, slots=True)
class Held:
    """A table as it is held: the history (epoch) it is pinned to and the event wanted next."""

    table: str
    epoch: str
    next: int


@dataclass(frozen=True, slots=True)
class Taken:
    """One event as it came. ``seen``: wall ns of its arrival."""

    epoch: str
    sequence: int
    id: str
    type: str
    sha256: bytes
    body: bytes
    seen: int


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A round's standing: ``state`` is resulted, amended, voided or parked; ``result`` the event's data."""

    shoe: int
    round: int
    state: str
    revision: int
    result: dict[str, Any]
    event: str


class Store:
    """The server's database. Raises :class:`OSError` and :class:`sqlite3.Error`. Safe from any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._then: list[Callable[[], None]] = []
        if path.exists():
            must_be_file(path)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, FILE))  # bets are not for everybody
        self._db = sqlite3.connect(path, isolation_level=None, timeout=5, check_same_thread=False)
        for pragma in ("journal_mode=WAL", "synchronous=FULL", f"journal_size_limit={8 << 20}"):
            self._db.execute(f"PRAGMA {pragma}")
        self._db.executescript(f"BEGIN; {_DDL} {MONEY} COMMIT;")

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; on the disk when the outermost one ends well."""
        with self._lock:
            outer, before = not self._db.in_transaction, len(self._then)
            self._db.execute("BEGIN IMMEDIATE" if outer else "SAVEPOINT inner")
            try:
                yield
                self._db.execute("COMMIT" if outer else "RELEASE inner")
            except BaseException as error:
                del self._then[before:]
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK" if outer else "ROLLBACK TO inner")
                    if not outer:
                        self._db.execute("RELEASE inner")
                elif not outer and not is_everybodys(error):
                    raise sqlite3.OperationalError("the database rolled back everything") from error
                raise
            if outer:
                made, self._then = self._then, []
                with contextlib.ExitStack() as each:  # whatever one of them raises, all are called
                    for call in reversed(made):
                        each.callback(call)

    def then(self, call: Callable[[], None]) -> None:
        """Once the open transaction is on the disk, and not at all if it never is; without one: now."""
        with self._lock:
            if self._db.in_transaction:
                self._then.append(call)
            else:
                call()

    def sql(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """One statement, within the transaction if one is open; its rows."""
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def held(self, table: str) -> Held | None:
        """What is held of a table, or None before its first event."""
        found = self.sql("SELECT id, epoch, next FROM tables WHERE id = ?", table)
        return Held(*found[0]) if found else None

    def tables(self) -> list[Held]:
        return [Held(*columns) for columns in self.sql("SELECT id, epoch, next FROM tables ORDER BY id")]

    def refused_epochs(self, table: str) -> list[str]:
        """Other histories of this table, which a person may accept: refused, held before, or asked with."""
        return [e for (e,) in self.sql("SELECT epoch FROM refused WHERE id = ? ORDER BY seen", table)]

    def refuse_epoch(self, table: str, epoch: str) -> None:
        """Remember that another history came; not one that was accepted meanwhile, by whatever process."""
        self.sql(
            "INSERT OR IGNORE INTO refused SELECT ?1, ?2, ?3"
            " WHERE NOT EXISTS (SELECT 1 FROM tables WHERE id = ?1 AND epoch = ?2)",
            *(table, epoch, time.time_ns()),
        )

    def forget_refused(self, table: str, epoch: str) -> None:
        """It is the table's history now."""
        self.sql("DELETE FROM refused WHERE id = ? AND epoch = ?", table, epoch)

    def accept_epoch(self, table: str, epoch: str) -> Held:
        """A person's word: from now on ``epoch`` is this table's history. The old one stays as it is held.

        It may be one that was held before: it goes on behind its last event, and its hashes still hold.
        Raises :class:`LookupError` when that history never came.
        """
        with self.transaction():
            held = self.held(table)
            if held is not None and held.epoch == epoch:
                return held
            if epoch not in (came := self.refused_epochs(table)):
                which = f"; known are {', '.join(came)}" if came else ""
                raise LookupError(f"no history {epoch} of table {table} has come to this server{which}")
            wanted = self._wanted(table, epoch)
            self.pin(table, epoch, wanted)
            self.forget_refused(table, epoch)
            if held is not None:
                self.refuse_epoch(table, held.epoch)
            return Held(table, epoch, wanted)

    def _wanted(self, table: str, epoch: str) -> int:
        """The event behind what is held of a history; 1: nothing is."""
        newest = self.sql(
            "SELECT sequence, type, body FROM events WHERE table_id = ? AND epoch = ?"
            " ORDER BY sequence DESC LIMIT 1",
            *(table, epoch),
        )
        for sequence, kind, body in newest:
            return int(json.loads(body)["data"]["to"] if kind == SKIPPED else sequence) + 1
        return 1

    def pin(self, table: str, epoch: str, wanted: int) -> None:
        """Set the history of a table and the event wanted next."""
        self.sql("REPLACE INTO tables VALUES (?, ?, ?, ?)", table, epoch, wanted, time.time_ns())

    def add(self, table: str, taken: Taken) -> None:
        """Keep one event. Its id is unique over everything held."""
        self.sql(
            "INSERT INTO events VALUES (?,?,?,?,?,?,?,?)",
            *(table, taken.epoch, taken.sequence, taken.id, taken.type, taken.sha256, taken.body, taken.seen),
        )

    def digest(self, table: str, epoch: str, sequence: int) -> bytes | None:
        """SHA-256 of the event held under a sequence."""
        found = self.sql(
            "SELECT sha256 FROM events WHERE table_id = ? AND epoch = ? AND sequence = ?",
            *(table, epoch, sequence),
        )
        return bytes(found[0][0]) if found else None

    def skipped(self, table: str, epoch: str) -> bool:
        """Whether a part of this history never came, because the controller does not keep it any more."""
        sql = "SELECT 1 FROM events INDEXED BY skips WHERE table_id = ? AND epoch = ?"
        return bool(self.sql(f"{sql} AND type = '{SKIPPED}' LIMIT 1", table, epoch))

    def events(self, table: str, *, after: int = 0, limit: int = 500) -> list[Taken]:
        """Events of the pinned history, in order."""
        found = self.sql(
            "SELECT e.epoch, sequence, e.id, type, sha256, body, e.seen FROM events e JOIN tables t"
            " ON t.id = table_id AND t.epoch = e.epoch"
            " WHERE table_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            *(table, after, limit),
        )
        return [Taken(*columns) for columns in found]

    def newest(self, table: str, epoch: str, limit: int) -> list[bytes]:
        """The newest events of a history as they came, the newest one first."""
        found = self.sql(
            "SELECT body FROM events WHERE table_id = ? AND epoch = ? ORDER BY sequence DESC LIMIT ?",
            *(table, epoch, limit),
        )
        return [bytes(body) for (body,) in found]

    def stream_position(self, name: str, created: str) -> int:
        """The newest message of a stream that was looked at; 0 of a stream that is another one by now."""
        found = self.sql("SELECT at FROM streams WHERE name = ? AND created = ?", name, created)
        return int(found[0][0]) if found else 0

    def set_stream_position(self, name: str, created: str, at: int) -> None:
        self.sql("REPLACE INTO streams VALUES (?, ?, ?)", name, created, at)

    def put_round(self, table: str, epoch: str, record: RoundRecord) -> None:
        """Set where a round stands."""
        self.sql(
            "REPLACE INTO rounds VALUES (?,?,?,?,?,?,?,?)",
            *(table, epoch, record.shoe, record.round, record.state, record.revision),
            *(json.dumps(record.result), record.event),
        )

    def round(self, table: str, epoch: str, shoe: int, number: int) -> RoundRecord | None:
        """Where one round stands, or None."""
        found = self._rounds("shoe = ? AND round = ? LIMIT 1", table, epoch, shoe, number)
        return found[0] if found else None

    def rounds(
        self, table: str, epoch: str, *, shoe: int | None = None, after: tuple[int, int] = (0, 0), limit: int
    ) -> list[RoundRecord]:
        """Rounds behind ``after`` (shoe, round), in the order they were played."""
        return self._rounds(
            "(?3 IS NULL OR shoe = ?3) AND (shoe, round) > (?4, ?5) ORDER BY shoe, round LIMIT ?6",
            *(table, epoch, shoe, *after, limit),
        )

    def last_round(self, table: str, epoch: str) -> RoundRecord | None:
        """The newest round by number that has a standing, or None."""
        found = self._rounds("1 ORDER BY shoe DESC, round DESC LIMIT 1", table, epoch)
        return found[0] if found else None

    def count_rounds(self, table: str, epoch: str) -> int:
        ((count,),) = self.sql("SELECT count(*) FROM rounds WHERE table_id = ? AND epoch = ?", table, epoch)
        return int(count)

    def _rounds(self, where: str, *values: object) -> list[RoundRecord]:
        found = self.sql(
            "SELECT shoe, round, state, revision, result, event FROM rounds"  # noqa: S608 our own text
            f" WHERE table_id = ?1 AND epoch = ?2 AND {where}",
            *values,
        )
        return [
            RoundRecord(shoe, number, state, revision, json.loads(result), event)
            for shoe, number, state, revision, result, event in found
        ]
