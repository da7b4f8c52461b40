"""The part of ``tablectl check`` about the journal: folder, disk, and whether a start would take it up.

While the daemon runs it is asked: no other program opens the journal then.  Of a stopped one the file is
looked at by the code of a start (:mod:`tablectl.journal.still`), and nothing is changed.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from tablectl.cli.check.copies import patiently
from tablectl.cli.check.findings import FAIL, OK, SECONDS, WARN, Finding

if TYPE_CHECKING:
    from tablectl.config import Config

LEAST_FREE, FEW_FREE = 200 * 2**20, 2 * 2**30
"""Bytes: with less than the first a table may not last the day, with less than the second it is told."""
LOOK = 10.0
"""Longest look (s) at a journal: a start takes as long as it takes, a check is waited for."""


class _TooLong(Exception):
    pass


def journal_findings(config: Config) -> Iterator[Finding]:
    """Whether the journal can be written, and whether a start would take it up."""
    folder = config.journal_path.parent
    if not folder.is_dir():
        yield Finding("journal", FAIL, f"{folder} is not there; systemd makes it, or: mkdir -p {folder}")
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield Finding(
            "journal", FAIL, f"{folder}: this user may not write there; run it as the daemon's user"
        )
        return
    runs, why = _asked(config)
    if why:
        yield Finding("journal", FAIL, why)
        return
    free = shutil.disk_usage(folder).free
    grade = FAIL if free < LEAST_FREE else WARN if free < FEW_FREE else OK
    lacks = "" if grade == OK else f"; {LEAST_FREE >> 20} MiB at least, better {FEW_FREE >> 30} GiB"
    yield Finding("journal", grade, f"{config.journal_path}, {free / 2**30:.1f} GiB free{lacks}")
    if runs and (switched := _switched(config)):
        yield Finding("journal", FAIL, switched)
    if not runs:
        path = config.journal_path
        yield patiently("journal", path, lambda: _next_start(config), LOOK + SECONDS, FAIL)


def history(config: Config) -> str | None:
    """The epoch of the journal, which a probe of the game server names; None before the first start."""
    import sqlite3

    from tablectl.journal.replaced import ready_for
    from tablectl.journal.rows import JournalFault
    from tablectl.journal.still import reading
    from tablectl.local import Client, NotReachable
    from tablectl.lock import TableLocked, while_stopped

    path = config.journal_path
    with suppress(NotReachable, KeyError):
        return str(Client(config.socket_path, SECONDS).state()["epoch"])
    # Whether the journal can be used is not asked here.
    with (
        suppress(TableLocked, JournalFault, OSError, sqlite3.Error),
        while_stopped(path, config.table.id, trace=False),
        reading(ready_for(path) or path) as reader,
    ):
        return reader.epoch
    return None


def _asked(config: Config) -> tuple[bool, str]:
    """Whether a daemon runs and answers, and why it cannot write its journal; "": it can."""
    from tablectl.local import Client, Interrupted, NotReachable

    with suppress(NotReachable, Interrupted, KeyError, TypeError):
        journal = Client(config.socket_path).state()["journal"]
        return True, str(journal["why"])[:800]
    return False, ""


def _switched(config: Config) -> str:
    """Why the next start would refuse, by its kind, the journal that the daemon writes; "": it would not."""
    from tablectl.journal.kind import other_kind
    from tablectl.local import Client, Interrupted, NotReachable
    from tablectl.lock import holder

    with suppress(NotReachable, Interrupted, KeyError, TypeError):
        state = Client(config.socket_path, SECONDS).state()
        other = state["sequence"] and state["test"] != config.table.test
        if other and holder(config.journal_path) is not None:  # else the daemon writes another one
            return f"the next start refuses it: {other_kind(config.journal_path, config.table.test)}"
    return ""


def _next_start(config: Config) -> Finding:
    """What the next start makes of the journal, or that it would refuse it."""
    from tablectl.journal.rows import JournalFault
    from tablectl.journal.still import foretell
    from tablectl.lock import TableLocked, lock_path, while_stopped

    path, end = config.journal_path, time.monotonic() + LOOK

    def busy() -> None:
        if time.monotonic() > end:
            raise _TooLong

    try:
        with while_stopped(path, config.table.id, trace=False):
            lock = lock_path(path, config.table.id)
            if lock.exists() and not os.access(lock, os.W_OK):
                return Finding("journal", FAIL, f"{lock}: this user may not write it; whose is it?")
            found = foretell(path, config.table.id, busy, test=config.table.test)
    except TableLocked as fault:
        return Finding("journal", WARN, f"not looked at, and its daemon does not answer: {fault}")
    except _TooLong:
        text = f"{path}: looked at for {LOOK:g} s and not to its end; a start takes longer, and may refuse it"
        return Finding("journal", WARN, text)
    except JournalFault as fault:
        return Finding("journal", FAIL, f"a start refuses it: {fault}")
    except Exception as fault:  # noqa: BLE001 what a start falls over, too
        return Finding("journal", FAIL, f"a start fails: {fault or type(fault).__name__}")
    return Finding("journal", WARN if found.mends else OK, f"{path}: {found.text}")
