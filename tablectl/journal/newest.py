"""A small file beside the journal that says which row was the last: a journal cannot miss its own end.

``<table>.db.newest`` is written after each commit, into the same few bytes, and left to the kernel to store:
a system call of some microseconds, no second wait for the disk.  What it says was in the journal for
certain.  When the journal's newest row is an older one, rows that were committed are lost: a log (``-wal``)
that was left behind, cut or changed, or an older copy put in its place.  After a power cut this file may be
the older one; then it proves nothing, and nothing is concluded.  When a whole folder is put back as it was
yesterday, both agree: that only the game server can tell ("the server is ahead of this journal").
"""

from __future__ import annotations

import contextlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

from tablectl.journal.file import beside
from tablectl.private_files import FILE

SUFFIX = ".newest"
_SIZE = 160


@dataclass(frozen=True, slots=True)
class Newest:
    """The journal's end as it was: last row, last event, the last one acknowledged, the last row's hash."""

    epoch: str
    row: int
    sequence: int
    acked: int
    hash: bytes

    def packed(self) -> bytes:
        """A line of always the same length, with a check sum."""
        text = f"{self.epoch} {self.row} {self.sequence} {self.acked} {self.hash.hex()}"
        line = f"{text} {zlib.crc32(text.encode()):08x}"
        return line.ljust(_SIZE - 1).encode() + b"\n"


def read(path: Path) -> Newest | None:
    """What the file beside the journal ``path`` says; None: there is none, or it cannot be read."""
    try:
        with beside(path, SUFFIX).open("rb") as file:
            text, _, check = file.read(_SIZE).decode("ascii").strip().rpartition(" ")
        if int(check, 16) != zlib.crc32(text.encode()):
            return None
        epoch, row, sequence, acked, digest = text.split(" ")
        return Newest(epoch, int(row), int(sequence), int(acked), bytes.fromhex(digest))
    except (OSError, ValueError):
        return None


class NewestFile:
    """The file, kept open by the journal's writer."""

    def __init__(self, path: Path) -> None:
        """Raises :class:`OSError` when it cannot be made: what is in it could not be trusted later."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._handle: int | None = os.open(beside(path, SUFFIX), flags, FILE)

    def begin(self, newest: Newest) -> None:
        """What holds from now on, whatever was said before. Raises :class:`OSError`."""
        assert self._handle is not None
        os.pwrite(self._handle, newest.packed(), 0)
        os.fsync(self._handle)

    def write(self, newest: Newest) -> None:
        """After a commit. That it fails is no reason to say that the commit failed."""
        if self._handle is not None:
            with contextlib.suppress(OSError):
                os.pwrite(self._handle, newest.packed(), 0)

    def close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
