"""When something goes wrong inside the process: what led there is written down before the process ends.

A thread that ended by itself leaves a table that decides or tells nothing; the process ends and starts anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tablectl.clock import Instant
from tablectl.flight import FlightRecorder


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

    def ends(self, thread: str) -> Callable[[BaseException], None]:
        """What ``thread`` calls with the error that ends it."""

        def ended(error: BaseException) -> None:
            # The supervisor first: whatever ended the thread may end the log as well.
            self.crashed.set()
            self.record(f"the {thread} thread ended: {error!r}")
            if self._on_crash is not None:
                self._on_crash(thread, error)
            self._log.error("a thread ended unexpectedly", thread=thread, error=repr(error))

        return ended

    def record(self, why: str, *, asked: bool = False) -> None:
        """Write the last messages beside the journal; where that fails the log says so.

        ``asked``: somebody wants to see them, and nothing is wrong.
        """
        try:
            path = self.flight.write(self._folder, self._table, why, self._clock(), asked=asked)
        except OSError as error:
            self._log.error("the flight recording cannot be written", reason=why, error=str(error))
        else:
            self._log.warning("flight recording written", reason=why, file=str(path))
