"""The journal of a table while it plays: this process's alone, copied elsewhere, freed of what is too old.

Whoever reads it gets a reader of its own from here, which is closed when the table stops.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tablectl.clock import Instant
from tablectl.config import Config
from tablectl.core import Core, Record
from tablectl.events import RowsRemoved
from tablectl.journal.appending import Journal
from tablectl.journal.at_home import AtHome, look_after
from tablectl.journal.keep import keep
from tablectl.journal.kind import must_fit
from tablectl.journal.mirror import Mirror
from tablectl.journal.reader import JournalReader
from tablectl.journal.writer import JournalWriter
from tablectl.lock import TableLock
from tablectl.own_files import close_to_others
from tablectl.private_files import FOLDER
from tablectl.service import Service
from tablectl.table import Trouble


class Keeping:
    """Holds the table's lock and its open journal until :meth:`close`.

    Raises :class:`~tablectl.journal.JournalFault` or :class:`~tablectl.lock.TableLocked`, and then holds
    nothing. ``still_starting`` is called now and then while a long journal is opened.
    """

    def __init__(
        self, config: Config, still_starting: Callable[[], object], clock: Callable[[], Instant]
    ) -> None:
        self._days = config.journal.keep_days
        self._clock = clock
        self._readers: list[JournalReader] = []
        self._lock = TableLock(config.journal_path, config.table.id)
        self._lock.acquire()
        try:
            self.journal = Journal.open(config.journal_path, config.table.id, still_starting)
        except BaseException:
            self._lock.release()
            raise
        try:
            must_fit(self.journal, config.table.test)
            self._lock.follow()
            close_to_others(config)
            self._home = AtHome(self._lock)
        except BaseException:
            self.journal.close()
            self._lock.release()
            raise
        self._closing = threading.Thread(target=self._close, name="closing", daemon=True)
        mirror = config.journal.mirror
        self.mirror = None if mirror is None else Mirror(mirror, self.journal.reader, clock=clock)
        """Follows on a second medium; None: there is none."""

    def reader(self) -> JournalReader:
        """A further reader of the journal."""
        reader = self.journal.reader()
        self._readers.append(reader)
        return reader

    def trims(self, core: Core, writer: JournalWriter, service: Service) -> None:
        """Before the service loop starts: have it look for rows that are kept no longer."""
        if self._days is not None:

            def note(event: RowsRemoved) -> None:
                core.offer(Record(event, self._clock()))

            reader = self.reader()
            service.add(partial(keep, reader, note, writer.trim, self._days, self._mirrored, self._clock))

    def looks(
        self,
        alarm: Callable[[str, str], None],
        over: Callable[[str, str], None],
        unsafe: Callable[[str], None],
        service: Service,
    ) -> None:
        """Before the service loop starts: have it look after the journal's files."""
        service.add(partial(look_after, self._home, alarm, over, unsafe))

    def committed(self) -> None:
        """On the journal's thread: there is more for the mirror."""
        if self.mirror is not None:
            self.mirror.wake()

    def troubles(self, at: Instant) -> Iterator[Trouble]:
        """What the mirror has to tell."""
        if self.mirror is not None and self.mirror.trouble:
            yield Trouble(at, "mirror", self.mirror.trouble)

    def close(self, timeout: float) -> bool:
        """Close every reader and the journal, then give up the lock. Whether it is done within ``timeout`` s.

        Each of them may wait for a disk that hangs, and then nobody waits for them: the lock is kept.
        """
        if self._closing.ident is None:
            self._closing.start()
        self._closing.join(timeout)
        return not self._closing.is_alive()

    def _close(self) -> None:
        with contextlib.ExitStack() as held:
            held.callback(self._lock.release)  # behind all that has the file open: see its module
            held.callback(self._home.end)
            held.callback(self.journal.close)
            for reader in self._readers:
                held.callback(reader.close)

    def _mirrored(self) -> int | None:
        return None if self.mirror is None else self.mirror.row


def journal_folder(path: Path) -> None:
    """Make the folder of a journal where systemd has not."""
    path.parent.mkdir(mode=FOLDER, parents=True, exist_ok=True)
