"""Whether a start can write, replace and remove the files of a journal: asked first, by it and by a check.

SQLite opens a file that it may not write for reading and says nothing: the table would come up, and the
first row would not be stored.
"""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

from tablectl.journal.file import LOGS, beside
from tablectl.journal.newest import SUFFIX
from tablectl.lock import bytes_of

_WRITTEN = ("", "-shm", SUFFIX)
"""Opened where they are; a log (``-wal``) is written anew."""
_MADE = (SUFFIX, ".ready", *(f"{name}{log}" for name in ("", ".new", ".aside.new") for log in ("", *LOGS)))
_ALSO = ("-journal", "-wal.new", ".new-journal")
_NO_LINK = ("-shm", SUFFIX)
_GET_FLAGS = 0x80086601
"""FS_IOC_GETFLAGS of ioctl_iflags(2), on 64 bits."""
_APPEND_ONLY = 0x20


def in_the_way(path: Path) -> str:
    """What keeps a start from working with the journal at ``path``, in words; "" when nothing does.

    Changes nothing. Raises :class:`OSError` where it cannot be seen.
    """
    folder = path.parent
    if folder.is_dir() and _append_only(folder):
        return f"{folder}: nothing in it may be renamed or removed (lsattr -d shows a); chattr -a {folder}"
    for suffix in (*_MADE, *_ALSO):
        file = beside(path, suffix)
        if suffix and os.path.lexists(file):
            if suffix in _NO_LINK and file.is_symlink():
                return f"{file} is a link, and a start makes a file of that name; remove it"
            if file.exists() and not file.is_file():
                return f"{file} is no file, and a start makes one of that name; move it away"
    for suffix in _WRITTEN:
        file = beside(path, suffix)
        if file.is_file() and (not os.access(file, os.W_OK) or _append_only(file)):
            if os.statvfs(file).f_flag & os.ST_RDONLY:
                return f"{file}: its disk is read-only; mend the disk"
            return f"{file}: this user may not write it; whose is it (ls -l, lsattr)?"
    return ""


def _append_only(path: Path) -> bool:
    try:
        with bytes_of(path) as fd:
            (flags,) = struct.unpack_from("I", fcntl.ioctl(fd, _GET_FLAGS, bytes(8)))
    except OSError:  # a file system without them, or no right to look
        return False
    return bool(flags & _APPEND_ONLY)
