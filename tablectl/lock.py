"""One controller per table: an exclusive lock on ``<table>.lock``, held for the life of the process.

Only its holder opens the journal, the scanner or the socket.  The kernel drops the lock when the
process dies, however it dies, so a left-over file never blocks a start.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from tablectl.private_files import FILE


class TableLocked(Exception):
    """Another process runs this table; the message names it."""


@contextmanager
def while_stopped(directory: Path, table: str) -> Iterator[None]:
    """Keep a daemon of this table from starting meanwhile. Raises :class:`TableLocked` if one runs.

    No file is made: one that belongs to another user would keep the daemon out for good. Raises
    :class:`PermissionError` if it cannot be seen whether one runs.
    """
    path = directory / f"{table}.lock"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield  # none ever ran here
        return
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _locked(fd, path, table) from None
        yield
    finally:
        os.close(fd)


def _locked(fd: int, path: Path, table: str) -> TableLocked:
    holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
    return TableLocked(
        f"table {table} is held by process {holder} already, a daemon or a technician's command (it holds "
        f"{path}); stop that one first"
    )


class TableLock:
    """The lock of one table, beside its journal. Taken by :meth:`acquire` or ``with``."""

    def __init__(self, directory: Path, table: str) -> None:
        self.path = directory / f"{table}.lock"
        self._table = table
        self._fd: int | None = None

    def acquire(self) -> None:
        """Take the lock or raise :class:`TableLocked` at once; :class:`OSError` if no file can be made."""
        if self._fd is not None:
            raise RuntimeError(f"{self.path} is held already")
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(OSError):  # on a full disk: the lock is the kernel's, the number is for people
                os.ftruncate(fd, 0)
                os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            fault = _locked(fd, self.path, self._table)
            os.close(fd)
            raise fault from None
        except BaseException:
            os.close(fd)
            raise
        self._fd = fd

    def release(self) -> None:
        """Give it up. The file stays: removing it would let two processes lock two files."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> TableLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
