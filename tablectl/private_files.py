"""Whose eyes a table's files are for: the account of its service, and nobody else.

They hold faces that nobody may see yet, and who may open a file for reading may lock it too, which stops
the journal.  So whoever makes one gives it :data:`FILE`, whatever the umask.  Dealers speak to the socket; a
mirror or a backup is read by the service's account or by root.
"""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path

FILE = 0o600
FOLDER = 0o700
_OTHERS = 0o077


def close(path: Path) -> None:
    """Take the rights of group and others from one file or folder of ours.

    What belongs to another user, or lies where there are no rights, cannot be closed and is passed over.
    """
    with contextlib.suppress(OSError):
        mode = path.lstat().st_mode
        if (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and mode & _OTHERS:
            path.chmod(mode & 0o700)  # no set-group-id either: the unit may not set it
