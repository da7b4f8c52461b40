"""Whose eyes a table's files are for: the account of its service, and nobody else.

They hold faces that nobody may see yet, and who may open a file for reading may lock it too, which stops
the journal.  So whoever makes one gives it :data:`FILE`, whatever the umask, and what an older version or a
person left open is closed at each start.  Dealers speak to the socket; a mirror or a backup is read by the
service's account or by root.
"""

from __future__ import annotations

import contextlib
import glob
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tablectl.config import Config

FILE = 0o600
FOLDER = 0o700
_OTHERS = 0o077


def close_to_others(config: Config) -> None:
    """Take the rights of group and others from the table's files, and from the folders that are its own.

    A folder that the configuration names is left as it is: others may have files in it. What belongs to
    another user, or lies where there are no rights, cannot be closed and is passed over.
    """
    for path in _ours(config):
        with contextlib.suppress(OSError):
            mode = path.lstat().st_mode
            if (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and mode & _OTHERS:
                path.chmod(mode & 0o700)  # no set-group-id either: the unit may not set it


def _ours(config: Config) -> Iterator[Path]:
    journal, table = config.journal_path, config.table.id
    if config.journal.path is None:
        yield journal.parent
    yield journal.with_name(f"{table}.lock")
    yield from _beginning(journal.parent, f"{table}-flight")
    yield from _beginning(journal.parent, journal.name)
    if config.journal.backups is None:
        yield config.backups_path
    yield from _beginning(config.backups_path, f"{table}-")
    if (mirror := config.journal.mirror) is not None:
        yield from _beginning(mirror.parent, mirror.name)


def _beginning(folder: Path, name: str) -> Iterator[Path]:
    """What lies in ``folder`` under a name that begins so."""
    with contextlib.suppress(OSError):
        yield from folder.glob(f"{glob.escape(name)}*")
