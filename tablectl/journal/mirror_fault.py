"""What is wrong with a mirror's file, with the mirror's way out.

A mirror is read as a journal is, and what is found there would say how a journal is mended.  Who obeyed that
would set the live journal back: a mirror is moved away, and a new one is begun from the journal.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tablectl.journal.file import OTHER_VERSION, WAY_OUT, fault_of
from tablectl.journal.rows import JournalFault

AWAY = "move it away, and a new one is begun"
MOST = 200
"""Letters of what was found: behind them the way out must still be seen, on every screen."""

_OF_THE_MEDIUM = (None, sqlite3.SQLITE_CANTOPEN)


@contextmanager
def of_mirror(path: Path) -> Iterator[None]:
    """Around whatever reads or writes the mirror ``path``, and nothing of the journal.

    A file that is damaged, or none of ours, becomes a :class:`JournalFault`; what a medium in trouble raises
    stays as it is.
    """
    try:
        yield
    except JournalFault as fault:
        raise _told(path, str(fault)) from fault
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        known = None if code in _OF_THE_MEDIUM else fault_of(path, error, "it is damaged")
        if not isinstance(known, JournalFault):
            raise
        raise _told(path, str(known)) from error
    except (ValueError, TypeError, LookupError) as error:
        raise _told(path, f"it is damaged ({error!r})") from error


def _told(path: Path, found: str) -> JournalFault:
    why = found.removeprefix(f"{path}: ").removesuffix(f"; {WAY_OUT}").removesuffix(f"; {OTHER_VERSION}")
    why = why if len(why) <= MOST else f"{why[:MOST]} …"
    if _is_no_database(path):
        return JournalFault(
            f"{path}: {why}; if that is the mirror, {AWAY}; if it is another file, give [journal] mirror "
            "another name"
        )
    return JournalFault(f"{path}: {why}; {AWAY}")


def _is_no_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return not file.read(16).startswith(b"SQLite format 3")
    except OSError:
        return False
