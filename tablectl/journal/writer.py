"""The journal's thread: what the core decided goes to the disk, and only then to the world.

The core hands over batches and goes on; a slow disk never holds it up.  Whatever has queued while
one commit ran goes into the next one together.  A disk that fails is tried again until it works;
nothing that was handed over is ever dropped.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tablectl.clock import SECOND, Instant, now
from tablectl.journal.appending import Journal
from tablectl.journal.disk import Cause, cause_of
from tablectl.journal.rows import JournalFault, Row
from tablectl.journal.trouble import JournalTrouble, trouble_of

QUEUE_ROWS = 10_000
"""Most rows that wait. The core holds the table well before (design, section 1: three quarters)."""
RETRY_SECONDS = 0.25
TRIM_REST = 0.05
"""How long (s) it rests between removing some old rows and the next ones."""
SLOW = 2 * SECOND
"""A commit longer than this is a slow disk: no betting is opened on it."""

DiskState = Literal["ok", "slow", "failing"]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step of the core wrote. ``token`` comes back with it; a batch may have no rows."""

    rows: tuple[Row, ...]
    token: object = None

    @property
    def weight(self) -> int:
        return max(1, len(self.rows))


class JournalWriter:
    """Owns the journal's writing connection from :meth:`start` to :meth:`stop`.

    ``on_durable`` gets the batches in the order of :meth:`put`, each once, after their commit, on
    this writer's thread; it must be quick. ``on_crash`` gets the error that ended the thread: the
    process must end, because nothing can be recorded any more.
    """

    def __init__(
        self,
        journal: Journal,
        on_durable: Callable[[tuple[Batch, ...]], None],
        on_crash: Callable[[BaseException], None],
        clock: Callable[[], Instant] = now,
        *,
        limit: int = QUEUE_ROWS,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._journal = journal
        self._on_durable = on_durable
        self._on_crash = on_crash
        self._clock = clock
        self._limit = limit
        self._retry = retry_seconds
        self._changed = threading.Condition()
        self._queue: deque[Batch] = deque()
        self._depth = 0
        self._waiting = 0
        self._acked: int | None = None
        self._trim = 0
        self._stopping = False
        self._give_up = False
        self._ended = False
        self._error = ""
        self._cause: Cause | None = None
        self._committing_since: int | None = None
        self.turns = 0
        """Grows whenever what was handed over has been dealt with."""
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)

    @property
    def depth(self) -> int:
        """Rows handed over that are not on the disk yet (a batch without rows counts as one)."""
        return self._depth

    @property
    def full(self) -> bool:
        """Whether somebody waits in :meth:`put` for room."""
        return self._waiting > 0

    @property
    def committing_since(self) -> int | None:
        """Since when (boot ns) the write under way lasts; None between writes."""
        return self._committing_since

    @property
    def error(self) -> str:
        """What the disk said at the last try; empty when it worked."""
        return self._error

    @property
    def state(self) -> DiskState:
        """``failing``: the last try failed, it goes on trying. ``slow``: over 2 s in one commit."""
        if self._error:
            return "failing"
        since = self._committing_since
        return "slow" if since is not None and self._clock().boot - since > SLOW else "ok"

    @property
    def cause(self) -> Cause | None:
        """What the disk is: full, read-only, locked, or just failing; None while it works."""
        return self._cause

    @property
    def trouble(self) -> JournalTrouble | None:
        """What is wrong with the disk, in words; None when it is well."""
        return trouble_of(self.state, self._cause, self._error)

    def start(self) -> None:
        self._thread.start()

    def put(self, batch: Batch) -> None:
        """Hand over. Blocks only at the hard bound. Raises :class:`RuntimeError` when the thread ended."""
        with self._changed:
            self._waiting += 1
            self._changed.wait_for(
                lambda: self._ended or not self._depth or self._depth + batch.weight <= self._limit
            )
            self._waiting -= 1
            if self._ended or self._stopping:
                raise RuntimeError("the journal's thread has ended: this cannot be recorded")
            self._queue.append(batch)
            self._depth += batch.weight
            self._changed.notify_all()

    def save_acked(self, sequence: int) -> None:
        """Save the outbox cursor with the next commit, or by itself when there is none."""
        with self._changed:
            self._acked = sequence
            self._changed.notify_all()

    def trim(self, upto: int) -> None:
        """Remove the rows up to ``upto``, a few at a time, whenever there is nothing to write."""
        with self._changed:
            self._trim = upto
            self._changed.notify_all()

    def stop(self, timeout: float = 3.0) -> bool:
        """Write what is left, then end. False when the disk did not take all of it within ``timeout`` s."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join(timeout)
        if self._thread.is_alive():
            with self._changed:
                self._give_up = True
                self._changed.notify_all()
            self._thread.join(self._retry)
        return self._ended and not self._depth

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except BaseException as error:  # noqa: BLE001 the thread's end is always told
            self._error = str(error) or type(error).__name__
            self._end()
            self._on_crash(error)
        else:
            self._end()

    def _end(self) -> None:
        with self._changed:
            self._ended = True
            self._committing_since = None
            self._changed.notify_all()

    def _turn(self) -> bool:
        """One commit and its report; False at the end."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._queue or self._acked is not None or self._trim or self._stopping
            )
            if not self._queue and self._acked is None:
                if self._stopping:
                    return False
                upto = self._trim
            else:
                upto = 0
            batches, acked = tuple(self._queue), self._acked
            self._queue.clear()
            self._acked = None
        if upto:
            self._remove(upto)
            return True
        rows = [row for batch in batches for row in batch.rows]
        while not self._commit(rows, acked):
            with self._changed:
                if self._changed.wait_for(lambda: self._give_up, self._retry):
                    return False
        if batches:
            self._on_durable(batches)
        with self._changed:
            self._depth -= sum(batch.weight for batch in batches)
            self.turns += 1
            self._changed.notify_all()
        return True

    def _remove(self, upto: int) -> None:
        """Some of the oldest rows; a disk in trouble is left in peace, they are asked for again."""
        self._committing_since = self._clock().boot
        try:
            left = self._journal.trim(upto)
        except (sqlite3.Error, OSError, JournalFault):
            left = 0  # what is damaged stays
        finally:
            self._committing_since = None
        with self._changed:
            if not left and self._trim == upto:
                self._trim = 0
            self._changed.wait_for(lambda: self._queue or self._stopping, TRIM_REST)

    def _commit(self, rows: list[Row], acked: int | None) -> bool:
        """Try once. Only a disk's trouble is worth another try; any other error ends the thread."""
        self._committing_since = self._clock().boot
        try:
            if rows:
                self._journal.append(rows, acked=acked)
            elif acked is not None:
                self._journal.set_acked(acked)
        except (sqlite3.OperationalError, OSError) as error:
            self._error, self._cause = str(error), cause_of(error, self._journal.path)
            return False
        finally:
            self._committing_since = None
        self._error, self._cause = "", None
        return True
