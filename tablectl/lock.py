"""One controller per table: an exclusive lock on ``<table>.lock``, held for the life of the process.

Only its holder opens the journal, the scanner or the socket.  The kernel drops the lock when the
process dies, however it dies, so a left-over file never blocks a start.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType


class TableLocked(Exception):
    """Another process runs this table; the message names it."""


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
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(fd, 0)
            os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        except BlockingIOError:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise TableLocked(
                f"table {self._table} is run by process {holder} already (it holds {self.path}); "
                "stop that one first"
            ) from None
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
