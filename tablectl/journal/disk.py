"""What is the matter with the journal's disk, by name: each has words of its own and a policy.

The policy is the same in all of them: no new hand opens, the hand in play is kept and decided, what happens
waits in memory (10,000 rows), the disk is tried again four times a second, and all goes on by itself.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Literal

from tablectl.journal.rows import JournalUnavailable

Cause = Literal["full", "readonly", "locked", "failing"]

_CODES: dict[int, Cause] = {
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "readonly",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
}
_ERRORS: dict[int | None, Cause] = {
    errno.ENOSPC: "full",
    errno.EDQUOT: "full",
    errno.EFBIG: "full",
    errno.EROFS: "readonly",
}


_REFUSES = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.EHOSTDOWN}
)


def refuses(fault: Exception) -> bool:
    """Whether it is the disk that keeps a journal from being opened, so that it may be over soon."""
    return isinstance(fault, JournalUnavailable) or (isinstance(fault, OSError) and fault.errno in _REFUSES)


def cause_of(error: Exception, path: Path) -> Cause:
    """Why a commit failed. Where SQLite says no more than "I/O error", the file system is asked."""
    if isinstance(error, sqlite3.Error):
        known = _CODES.get((getattr(error, "sqlite_errorcode", None) or 0) & 0xFF)
    else:
        known = _ERRORS.get(error.errno if isinstance(error, OSError) else None)
    if known is not None:
        return known
    try:
        there = os.statvfs(path)
    except OSError:
        return "failing"
    if there.f_flag & os.ST_RDONLY:
        return "readonly"
    return "full" if there.f_bavail == 0 else "failing"
