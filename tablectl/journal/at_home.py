"""Whether the files of a running table's journal are where they were: people move and overwrite files.

SQLite goes on in what it has open and in what it remembers, and nothing fails until the next start.  So it is
looked at each second, and told while it can still be put right; until then no round begins that would be lost
with it.  A lock file that is gone is made again.

That a file was overwritten where it lies shows in its length: neither of the two ever becomes shorter while
the table runs, the log no shorter than what SQLite leaves of a long one (:data:`LOG_STAYS`).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tablectl.journal.file import LOG_STAYS, beside, second_names
from tablectl.lock import TableLock, TableLocked, same_file

EVERY = 1.0
UNSAFE = "its file was moved or removed, a round would be lost with it; a technician reads: tablectl alerts"
_NEVER = "Nothing may be moved or removed in its folder while the table runs: who or what did it?"


@dataclass(frozen=True, slots=True)
class Look:
    """``said``: what is not as it was, for a technician, or "". ``lost``: the next start would lack rows."""

    said: str = ""
    lost: bool = False


class AtHome:
    """Looks after the files that ``lock`` stands for, from the opening of the journal to :meth:`end`."""

    def __init__(self, lock: TableLock) -> None:
        self._lock = lock
        self._journal = lock.journal
        self._log = beside(self._journal, "-wal")
        self._one = threading.Lock()
        self._ended = False
        self._log_was = self._log_now()
        self._lengths: dict[Path, int] = {}
        self._spoiled: dict[Path, str] = {}

    def end(self) -> None:
        """Before the lock is given up. A look that hangs in a disk is waited for."""
        with self._one:
            self._ended = True

    def look(self) -> Look:
        """How it is now."""
        with self._one:
            if self._ended:
                return Look()
            try:
                lock, names = self._lock_file(), self._second_name()
                gone = " ".join(filter(None, (self._journal_file(), self._log_file())))
            except OSError as fault:
                return Look(f"Whether the journal's files are in their place cannot be seen: {fault}.")
        return Look(" ".join(filter(None, (lock, gone, names))), bool(gone))

    def _lock_file(self) -> str:
        path = self._lock.path
        try:
            if not self._lock.again():
                return ""
        except TableLocked as fault:
            return f"The lock file {path} was removed or replaced, and there is another holder: {fault}."
        except OSError as fault:
            return (
                f"The lock file {path} was removed or replaced, and cannot be made again: {fault.strerror}. "
                "It is tried each second; the journal's own lock keeps other controllers out."
            )
        return (
            f"The lock file {path} was removed or replaced while the table runs, and is made again. "
            f"The journal has a lock of its own: no other controller could open it. {_NEVER}"
        )

    def _second_name(self) -> str:
        held = self._lock.held
        if held is None or not same_file(self._journal, held):
            return ""
        return f"{names[0].upper()}{names[1:]}." if (names := second_names(self._journal)) else ""

    def _journal_file(self) -> str:
        held = self._lock.held
        if held is None:
            return ""
        if same_file(self._journal, held):
            return self._overwritten(self._journal, os.fstat(held).st_size)
        if os.fstat(held).st_nlink:
            return (
                f"The journal's file {self._journal} was moved away, and the table goes on in that file. Put "
                f"that very file back (mv, no copy) before the table is stopped. {_NEVER}"
            )
        return (
            f"The journal's file {self._journal} was removed: what is in it goes with this process. Do not "
            f"stop the table before it is saved: docs/journal.md, what damage looks like. {_NEVER}"
        )

    def _log_file(self) -> str:
        now = self._log_now()
        self._log_was = self._log_was or now  # SQLite makes it when it needs it
        if now == self._log_was:
            return "" if now is None else self._overwritten(self._log, self._log.stat().st_size, LOG_STAYS)
        return (
            f"The journal's log {self._log} was moved, removed or replaced, and the table goes on in the one "
            "that was there. Put that very file back (mv); if it is no more, stop the table between two "
            f"shoes (systemctl stop): that writes all into the journal, a kill would lose rows. {_NEVER}"
        )

    def _overwritten(self, path: Path, length: int, stays: int | None = None) -> str:
        """In words; once it is so it stays so, whatever is written there afterwards."""
        before = self._lengths.get(path, 0)
        self._lengths[path] = max(before, length)
        if length < (before if stays is None else min(before, stays)):
            self._spoiled.setdefault(
                path,
                f"{path} was overwritten or cut while the table runs: from {before} bytes to {length}. What "
                "the table wrote there is lost or mixed with something else. Finish the hand, stop the table "
                f"and restore the newest copy, the mirror best (docs/journal.md). {_NEVER}",
            )
        return self._spoiled.get(path, "")

    def _log_now(self) -> tuple[int, int] | None:
        try:
            there = self._log.stat()
        except FileNotFoundError:
            return None
        return there.st_dev, there.st_ino


async def look_after(
    home: AtHome,
    alarm: Callable[[str, str], None],
    over: Callable[[str, str], None],
    unsafe: Callable[[str], None],
) -> None:
    """Each second, for ever. ``alarm(code, text)`` raises an alert, ``over`` ends it.

    ``unsafe(text)``: what the next start would lack rows by, so that no round may begin; "": it may.
    """
    from tablectl.aside import aside  # which loads more than who only reads journals needs

    was: Look | None = None  # what was told before the start may stand there still
    while True:
        now = await aside(home.look)
        if now.lost or was is None or was.lost:
            unsafe(now.said if now.lost else "")
        before = "" if was is None else was.said
        if now.said and now.said != before:
            alarm("journal-place", now.said)
        elif not now.said and (before or was is None):
            it_was = f" It was: {before}" if before else ""
            over("journal-place", f"Over: the journal's files and lock are in their place.{it_was}")
        was = now
        await asyncio.sleep(EVERY)
