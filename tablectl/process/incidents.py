"""When something goes wrong inside the process: what led there is written down before the process ends.

A thread that ended by itself leaves a table that decides or tells nothing; the process ends and starts anew.
Nobody waits long for a recording, least of all the main thread: the disk may be what hangs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tablectl.clock import Instant
from tablectl.process.flight import FlightRecorder

WAITS = 1.0
"""How long (s) the end of a thread waits for its recording, so that it is whole before the process ends."""

AT_ONCE = 4
"""Recordings that may be under way: a disk that hangs gets no more of them."""


class Incidents:
    """Of one ``table``, with recordings in ``folder``. ``on_crash``: told which thread ended, and of what."""

    def __init__(
        self,
        table: str,
        folder: Path,
        on_crash: Callable[[str, BaseException], None] | None,
        *,
        clock: Callable[[], Instant],
        log: Any,
    ) -> None:
        self.flight = FlightRecorder()
        self.crashed = threading.Event()
        """Set once a thread has ended by itself."""
        self._table = table
        self._folder = folder
        self._on_crash = on_crash
        self._clock = clock
        self._log = log
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def ends(self, thread: str) -> Callable[[BaseException], None]:
        """What ``thread`` calls with the error that ends it."""

        def ended(error: BaseException) -> None:
            # The supervisor first: whatever ended the thread may end the log as well.
            self.crashed.set()
            try:
                self.record(f"the {thread} thread ended: {error!r}", waits=WAITS)
            finally:  # whatever the recording does, the process hears of the thread
                if self._on_crash is not None:
                    self._on_crash(thread, error)
            self._log.error("a thread ended unexpectedly", thread=thread, error=repr(error))

        return ended

    def record(self, why: str, *, asked: bool = False, waits: float = 0.0) -> None:
        """Have the last messages written beside the journal; where that fails the log says so.

        ``asked``: somebody wants to see them, and nothing is wrong. ``waits``: how long (s) to wait for it.
        """
        if not self._places.acquire(blocking=False):
            self._log.error("no flight recording: the ones before are still being written", reason=why)
            return
        at = self._clock()
        thread = threading.Thread(target=self._write, args=(why, at, asked), name="flight", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system gives no thread
            self._places.release()
            self._log.error("the flight recording cannot be written", reason=why, error=repr(error))
        else:
            thread.join(waits)

    def _write(self, why: str, at: Instant, asked: bool) -> None:
        try:
            path = self.flight.write(self._folder, self._table, why, at, asked=asked)
        except Exception as error:  # noqa: BLE001 the log says it, whatever it is
            self._log.error("the flight recording cannot be written", reason=why, error=repr(error))
        else:
            self._log.warning("flight recording written", reason=why, file=str(path))
        finally:
            self._places.release()
