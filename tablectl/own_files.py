"""Which files are a table's own, by their names; what an older version or a person left open is closed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from tablectl.config import Config
from tablectl.private_files import close

_BESIDE = (
    r"(\.(torn|replaced|schema\d+)-\d{8}T\d{6}Z(-\d+)?|\.aside\.new|\.new|\.ready|\.source|\.newest)?"
    r"(-wal|-wal\.new|-shm|-journal)?"
)
"""What is written beside a journal, by the ends of the names."""
_FLIGHT = r"-flight-(asked-)?\d{8}T\d{6}Z?(-\d+)?\.jsonl"
_BACKUP = r"-[0-9a-f]{6}-\d+\.(db|part)(-journal)?"


def close_to_others(config: Config) -> None:
    """Take the rights of group and others from the table's files, and from the folders that are its own.

    Only once the journal is open: a name in a configuration may lead to anything, and by then it is known to
    be a journal; a mirror is closed by who finds out that it is one (:func:`~tablectl.private_files.close`).
    A folder that the configuration names is left as it is, and so is what lies beside ours under a name that
    we do not give.
    """
    for path in _ours(config):
        close(path)


def _ours(config: Config) -> Iterator[Path]:
    journal, table, backups = config.journal_path, re.escape(config.table.id), config.backups_path
    if config.journal.path is None:
        yield journal.parent
    yield from _named(journal.parent, rf"{table}\.lock|{table}{_FLIGHT}|{re.escape(journal.name)}{_BESIDE}")
    if config.journal.backups is None:
        yield backups
    yield from _named(backups, table + _BACKUP)


def _named(folder: Path, pattern: str) -> Iterator[Path]:
    """What lies in ``folder`` under such a name."""
    ours = re.compile(pattern, re.ASCII)
    with contextlib.suppress(OSError):
        yield from (one for one in folder.iterdir() if ours.fullmatch(one.name))
