"""The part of ``tablectl check`` about what is left when the journal's disk is lost: mirror and backups.

A medium that hangs holds the check up for some seconds, not for ever.  While the daemon runs it is asked how
far the mirror is: no other program opens the journal then.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from threading import Thread
from typing import TYPE_CHECKING

from tablectl.cli.check.findings import OK, SECONDS, WARN, Finding
from tablectl.printable import number_of

if TYPE_CHECKING:
    from pathlib import Path

    from tablectl.config import Config

DAY = 86_400.0
OLD = 7 * DAY
"""A backup older than this (s) is worth a word."""


def copies_findings(config: Config) -> Iterator[Finding]:
    """One line on the mirror, one on the backups; nothing here keeps a table from playing."""
    path = config.journal.mirror
    if path is None:
        text = "none ([journal] mirror): what is only on this disk is lost with it"
        yield Finding("mirror", WARN, text)
    else:
        yield patiently("mirror", path, lambda: _mirror(config, path))
    yield patiently("backups", config.backups_path, lambda: _backups(config))


def patiently(
    what: str, path: Path, look: Callable[[], Finding], seconds: float | None = None, hangs: str = WARN
) -> Finding:
    """What ``look`` finds; where that takes longer than ``seconds``, a finding of the grade ``hangs``."""
    found: list[Finding] = []

    def looking() -> None:
        try:
            found.append(look())
        except OSError as fault:
            found.append(Finding(what, WARN, f"{path}: {fault.strerror or fault}"))

    thread = Thread(target=looking, daemon=True)
    thread.start()
    thread.join(SECONDS if seconds is None else seconds)
    return found[0] if found else Finding(what, hangs, f"{path}: its medium does not answer")


def _mirror(config: Config, path: Path) -> Finding:
    folder, journal = path.parent, config.journal_path
    if not folder.is_dir():
        return Finding("mirror", WARN, f"there is no folder {folder}; is its medium there?")
    wrong = []
    if not os.access(folder, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        wrong.append("this user may not write there; run the check as the daemon's user")
    if journal.parent.is_dir() and folder.stat().st_dev == journal.parent.stat().st_dev:
        wrong.append("on the same disk as the journal: it is lost with it")
    why, behind = _behind(config, path)
    if why:
        wrong.append(why)
    text = f"{path}, {behind}" if behind else str(path)
    return Finding("mirror", WARN if wrong else OK, "; ".join([text, *wrong]))


def _behind(config: Config, path: Path) -> tuple[str, str]:
    """What is wrong with it, and how far it is, by the daemon or by the files."""
    from tablectl.local import Client, Interrupted, NotReachable
    from tablectl.lock import TableLocked, while_stopped

    with contextlib.suppress(NotReachable, Interrupted, KeyError, TypeError):
        now = Client(config.socket_path).state()["mirror"]
        if now is not None and now["path"] == str(path):
            return str(now["error"])[:800], f"{number_of(int(now['behind']), 'row')} behind"
        return "the daemon that runs keeps another one, or none: restart it", ""
    with contextlib.suppress(TableLocked), while_stopped(config.journal_path, config.table.id, trace=False):
        return _compared(config.journal_path, path, config.table.id)
    return "", ""


def _compared(journal: Path, mirror: Path, table: str) -> tuple[str, str]:
    """Judged as the daemon does before it writes on a mirror; nothing is changed."""
    import sqlite3

    from tablectl.journal import mirror_look
    from tablectl.journal.mirror_fault import of_mirror
    from tablectl.journal.replaced import ready_for
    from tablectl.journal.rows import JournalFault
    from tablectl.journal.still import reading

    source = ready_for(journal) or journal
    try:
        with contextlib.ExitStack() as both:
            reader = both.enter_context(reading(source)) if source.exists() else None
            epoch = None if reader is None else reader.epoch
            if not mirror_look.ours(mirror, journal, table, epoch):
                return "", "not there yet; the daemon makes it"
            if mirror_look.cut_short(mirror):
                return "", "its last write was cut short, and the daemon undoes that"
            with of_mirror(mirror):
                there = both.enter_context(reading(mirror))
            end, empty = mirror_look.end_of(there)
            if reader is None:
                return "", f"rows up to {end.row}"
            if not empty:
                mirror_look.must_fit(mirror, end, reader)
            return "", f"{number_of(reader.last()[0] - end.row, 'row')} behind"
    except (JournalFault, sqlite3.Error) as fault:
        return str(fault)[:800], ""


def _backups(config: Config) -> Finding:
    from tablectl.journal.backup import backups_of

    folder = config.backups_path
    made = [one.stat().st_mtime for one in backups_of(config.table.id, folder)]
    if not made:
        text = f"none in {folder} (tablectl journal backup); what was moved elsewhere is not seen from here"
        return Finding("backups", WARN, text)
    age = max(0.0, time.time() - max(made))
    said = f"{age / DAY:.0f} days" if age >= 2 * DAY else f"{age / 3600:.0f} hours"
    text = f"{len(made)} in {folder}, the newest {said} old"
    return Finding("backups", WARN if age > OLD else OK, text)
