"""The mirror: every committed row once more, on a second medium (``[journal] mirror``).

It follows behind and delays nobody: a thread of its own reads what is committed and writes it to a journal
of the same form, which ``tablectl journal restore`` takes.  A medium that is full, read-only, gone or
hanging makes the alert ``mirror``; it is tried again every few seconds and caught up when it comes back.
Nothing waits in memory meanwhile: what is missing is read from the journal.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

from tablectl.clock import SECOND, Instant, now
from tablectl.journal import mirror_look
from tablectl.journal.copy import INSERT, Page, begin_behind, new_file, pages
from tablectl.journal.file import LOGS, beside, connect, settle, sync
from tablectl.journal.mirror_fault import AWAY, of_mirror
from tablectl.journal.reader import JournalReader
from tablectl.journal.rows import Anchor, JournalFault
from tablectl.printable import sentence
from tablectl.private_files import close

Noted = tuple[int, int | None]
"""What delivery hangs on besides the rows: the acknowledged event, and ``sure`` (what is in doubt)."""

EVERY = 0.5
"""How long (s) rows are gathered before they are written."""
RETRY = 5.0
LATE = 60 * SECOND
"""A mirror that lags so long without an error of its own hangs in one write."""


class Mirror:
    """The thread that keeps the mirror. ``open_journal`` makes a reader of the table's journal."""

    def __init__(
        self,
        path: Path,
        open_journal: Callable[[], JournalReader],
        *,
        clock: Callable[[], Instant] = now,
        every: float = EVERY,
        retry: float = RETRY,
    ) -> None:
        self.path = path
        self.row = 0
        """The newest row that was seen on the second medium; it stays while that is away.

        What is removed as too old goes by it (:mod:`tablectl.journal.keep`).
        """
        self.error = ""
        self._open_journal = open_journal
        self._clock = clock
        self._every = every
        self._retry = retry
        self._since: int | None = None
        self._stop = threading.Event()
        self._woken = threading.Event()
        self._target: sqlite3.Connection | None = None
        self._end = Anchor(0, 0, b"")
        self._empty = True
        self._noted: Noted | None = None
        self._thread = threading.Thread(target=self._run, name="mirror", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self, timeout: float = 0.5) -> bool:
        """Write what is committed, then end. Whether it ended within ``timeout`` s; nobody waits for more."""
        self._stop.set()
        self._woken.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def wake(self) -> None:
        """Something was committed. From any thread, at once."""
        self._woken.set()

    @property
    def why(self) -> str:
        """Why it is behind now, in the system's own words where it has some; "" when nothing is wrong."""
        since = self._since
        if not self.error and since is not None and self._clock().boot - since > LATE:
            return f"{self.path} takes nothing, one write lasts longer than a minute"
        return self.error

    @property
    def trouble(self) -> str:
        """What people must know, or ""."""
        why = self.why
        return f"The mirror is behind: {sentence(why)} How it stands now: tablectl status." if why else ""

    def view(self, last: int) -> dict[str, object]:
        """How it stands; ``last``: the journal's newest row."""
        return {
            "path": str(self.path),
            "row": self.row,
            "behind": max(0, last - self.row),
            "error": self.why,
        }

    def _run(self) -> None:
        reader: JournalReader | None = None
        while True:
            last = self._stop.is_set()
            self._woken.clear()
            self._since = self._clock().boot
            try:
                reader = reader or self._open_journal()
                self.follow(reader)
                self.error = ""
            except Exception as fault:  # noqa: BLE001 whatever it is, it is told and tried again
                known = isinstance(fault, JournalFault | OSError | sqlite3.Error)
                self.error = (str(fault) or type(fault).__name__) if known else repr(fault)
                self._leave()
            self._since = None
            if last:
                break
            if self.error:
                self._stop.wait(self._retry)
            else:
                self._woken.wait()
                self._stop.wait(self._every)
        self._leave()
        if reader is not None:
            reader.close()

    def follow(self, reader: JournalReader) -> None:
        """Write what is committed and not here yet, in transactions of at most 500 rows.

        Raises :class:`JournalFault` where mirror and journal are not of one history, :class:`OSError` and
        :class:`sqlite3.Error` for a medium in trouble.
        """
        if self._target is None or not self.path.exists():
            self._leave()
            self._target = self._open(reader)
        noted = reader.acked(), reader.sure()  # before the rows: it is never ahead of them
        for page in pages(reader, self._end.row):
            if page.behind != self._end and not self._empty:
                raise JournalFault(
                    f"{self.path} ends with row {self._end.row}, and the rows up to {page.behind.row} of the "
                    f"journal were removed meanwhile; {AWAY}"
                )
            if page.values or page.behind != self._end or noted != self._noted:
                with of_mirror(self.path):
                    self._write(self._target, page, noted)

    def _write(self, db: sqlite3.Connection, page: Page, noted: Noted) -> None:
        db.execute("BEGIN IMMEDIATE")
        try:
            if page.behind != self._end:
                begin_behind(db, page.behind)
            db.executemany(INSERT, page.values)
            db.execute("UPDATE meta SET value = ? WHERE key = 'acked'", (noted[0],))
            db.execute("DELETE FROM meta WHERE key = 'sure'")
            if noted[1] is not None:
                db.execute("INSERT INTO meta VALUES ('sure', ?)", (noted[1],))
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
            raise
        self._end, self._noted = page.end, noted
        self._empty = self._empty and not page.values
        self.row = page.end.row

    def _open(self, reader: JournalReader) -> sqlite3.Connection:
        if not self.path.parent.is_dir():
            raise OSError(f"there is no folder {self.path.parent}; is its medium there?")
        if not mirror_look.ours(self.path, reader.path, reader.table, reader.epoch):
            self._make(reader)
        close(self.path)
        with contextlib.suppress(sqlite3.DatabaseError):  # what is damaged is told below
            settle(self.path)
        with of_mirror(self.path):
            there = JournalReader.open(self.path)
        with contextlib.closing(there):
            self._end, self._empty = mirror_look.end_of(there)
        if not self._empty:
            mirror_look.must_fit(self.path, self._end, reader)
        with of_mirror(self.path):
            db = connect(self.path, "rw")
            db.execute("PRAGMA journal_mode=DELETE")  # one file, and no shared memory: any medium will do
            db.execute("PRAGMA synchronous=FULL")
        self.row, self._noted = self._end.row, None
        return db

    def _make(self, reader: JournalReader) -> None:
        new = beside(self.path, ".new")
        for suffix in ("", *LOGS, "-journal"):
            beside(new, suffix).unlink(missing_ok=True)
        with contextlib.closing(new_file(new, reader, {})) as db:
            db.execute("COMMIT")
        sync(new)
        new.rename(self.path)
        sync(self.path.parent)

    def _leave(self) -> None:
        if self._target is not None:
            with contextlib.suppress(sqlite3.Error):
                self._target.close()
            self._target = None
