"""One controller per table: exclusive locks on ``<table>.lock`` and on the journal's own file, held for life.

Only their holder opens the journal, the scanner or the socket.  The kernel drops them when the process dies,
however it dies, so a left-over file never blocks a start.  ``<table>.lock`` keeps starts apart while there
is no journal yet or another takes its place; but it is a file beside the journal, which a person can remove,
and which a hard link of the journal in another folder does not have.  What two controllers must never share
is the journal's file, so that is locked itself, whatever name led there.

These are locks of flock(2): SQLite's, of fcntl(2), do not meet them.  But whoever closes any descriptor of a
file gives up all its process holds on it by fcntl(2).  So the descriptor is closed behind the last connection
to that journal, and a journal that this process holds is not opened to be refused (``_OURS``).
"""

from __future__ import annotations

import fcntl
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from tablectl.private_files import FILE

_OURS: dict[tuple[int, int], int] = {}
"""The journals this process holds, by device and inode, with their descriptors; changed under its lock."""
_OURS_LOCK = threading.Lock()


class TableLocked(Exception):
    """Another process runs this table; the message names it."""


def holder(path: Path) -> int | None:
    """The process that holds the lock of a file; looked up, not tried, so that no start is disturbed.

    None: nobody, or one that cannot be seen from here.
    """
    with suppress(OSError):
        return _holder(path.stat())
    return None


def _holder(status: os.stat_result) -> int | None:
    major, minor = os.major(status.st_dev), os.minor(status.st_dev)
    exact, inode = f"{major:02x}:{minor:02x}:{status.st_ino}", f":{status.st_ino}"
    found = None
    with suppress(OSError, ValueError):
        for fields in map(str.split, Path("/proc/locks").read_text().splitlines()):
            if len(fields) > 5 and fields[1] == "FLOCK" and fields[5].endswith(inode):
                if fields[5] == exact:
                    return int(fields[4])
                found = int(fields[4])  # some file systems show another device there than stat(2)
    return found


def lock_path(journal: Path, table: str) -> Path:
    """Where the lock's file of a table lies, beside its journal."""
    return journal.with_name(f"{table}.lock")


@contextmanager
def while_stopped(journal: Path, table: str, *, trace: bool = True) -> Iterator[None]:
    """Keep a daemon of this table from starting meanwhile. Raises :class:`TableLocked` if one runs.

    No file is made: one that belongs to another user would keep the daemon out for good. Without ``trace``
    nothing is written either, and who is kept out meanwhile may not be told by whom. Raises
    :class:`PermissionError` if it cannot be seen whether one runs.
    """
    path = lock_path(journal, table)
    fd = None
    with suppress(FileNotFoundError):  # none ever ran here, or somebody removed it
        fd = _opened(path)
    try:
        if fd is not None:
            _take(fd, path, table)
            if trace:
                _number(fd)
        itself = _Itself.of(journal, table)
        try:
            yield
        finally:
            if itself is not None:
                itself.release()
    finally:
        if fd is not None:
            os.close(fd)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, IsADirectoryError):
        raise
    except OSError:  # a disk that is read-only
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _number(fd: int) -> None:
    """Write down who holds it: under systemd nobody sees the kernel's list."""
    with suppress(OSError):  # on a full disk: the lock is the kernel's, the number is for people
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)


def _take(fd: int, path: Path, table: str) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = _holder(os.fstat(fd))
        if pid is None and path.suffix == ".lock":
            with suppress(OSError, ValueError):
                pid = int(os.pread(fd, 32, 0))
        raise _locked(pid, path, table) from None


def _locked(pid: int | None, path: Path, table: str) -> TableLocked:
    who = f"process {pid}" if pid else f"another process (which: fuser -v {path})"
    return TableLocked(
        f"table {table} is held by {who} already, a daemon or a technician's command (it holds {path}); stop "
        "that one first"
    )


class _Itself:
    """The lock on a journal's own file."""

    def __init__(self, fd: int, key: tuple[int, int]) -> None:
        self.fd = fd
        self.key = key

    @classmethod
    def of(cls, journal: Path, table: str) -> _Itself | None:
        """Take it; None: there is no such file. Raises :class:`TableLocked` and :class:`OSError`."""
        try:
            there = journal.stat()
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(there.st_mode):
            return None  # whoever opens the journal tells
        with _OURS_LOCK:
            if (there.st_dev, there.st_ino) in _OURS:
                raise _locked(os.getpid(), journal, table)
            fd = os.open(journal, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                _take(fd, journal, table)
                there = os.fstat(fd)
            except BaseException:
                os.close(fd)
                raise
            made = cls(fd, (there.st_dev, there.st_ino))
            _OURS[made.key] = fd
        return made

    def release(self) -> None:
        """Only when nothing in this process has that file open any more."""
        with _OURS_LOCK:
            os.close(self.fd)
            del _OURS[self.key]


@contextmanager
def bytes_of(path: Path) -> Iterator[int]:
    """A descriptor to read a file by, with ``os.pread``. Raises :class:`OSError`.

    Of a journal that this process holds it is the one of the lock: another one would have to be closed.
    """
    there = path.stat()
    held = _OURS.get((there.st_dev, there.st_ino))
    if held is not None:
        yield held
        return
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield fd
    finally:
        os.close(fd)


class TableLock:
    """The locks of one table, for whoever may open its ``journal``. Taken by :meth:`acquire` or ``with``."""

    def __init__(self, journal: Path, table: str) -> None:
        self.path = lock_path(journal, table)
        self.journal = journal
        self._table = table
        self._fd: int | None = None
        self._itself: _Itself | None = None

    def acquire(self) -> None:
        """Take them or raise :class:`TableLocked` at once; :class:`OSError` if one cannot be had."""
        if self._fd is not None:
            raise RuntimeError(f"{self.path} is held already")
        self._fd = self._taken()
        try:
            self._itself = _Itself.of(self.journal, self._table)
        except BaseException:
            self.release()
            raise
        _number(self._fd)

    def follow(self) -> None:
        """The journal's file may be another since, or a new one: lock that. Raises as :meth:`acquire`."""
        before = self._itself
        there = self.journal.stat()
        if before is None or (there.st_dev, there.st_ino) != before.key:
            self._itself = _Itself.of(self.journal, self._table)
            if before is not None:  # nobody has it open: it was replaced before it was opened
                before.release()

    def release(self) -> None:
        """Give them up, when nobody has the journal open any more.

        The lock's file stays: removing it would let two processes lock two files.
        """
        if self._itself is not None:
            self._itself.release()
            self._itself = None
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def again(self) -> bool:
        """Make the lock's file again where it is not the one that is held. Whether that was so.

        Whoever starts meanwhile and has the new one first is refused by the journal's lock, and gone when
        this is tried again. Raises :class:`TableLocked` and :class:`OSError`.
        """
        assert self._fd is not None
        if same_file(self.path, self._fd):
            return False
        taken = self._taken()
        os.close(self._fd)
        self._fd = taken
        _number(taken)
        return True

    @property
    def held(self) -> int | None:
        """A descriptor of the journal's file; None while there is none."""
        return None if self._itself is None else self._itself.fd

    def _taken(self) -> int:
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE)
        try:
            _take(fd, self.path, self._table)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def __enter__(self) -> TableLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def same_file(path: Path, fd: int) -> bool:
    """Whether a name leads to what a descriptor has open. Raises :class:`OSError` but for no such name."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    held = os.fstat(fd)
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)
