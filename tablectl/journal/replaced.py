"""Another file in the place of a journal's: what was there is kept aside, and a crash leaves one of the two.

The new one takes the place in two steps that a crash cannot tear: it is finished under the name ``….ready``,
and that name is the decision (:func:`decide`); what is left to do then is done by whoever comes next
(:func:`finish`).  A log (``-wal``) of the old file must never meet the new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tablectl.journal.file import LOGS, beside, copy_file, sync
from tablectl.journal.newest import SUFFIX

_UNFINISHED = ".aside.new"


def keep_aside(path: Path, why: str, busy: Callable[[], object] = lambda: None) -> Path:
    """Keep a journal and its logs under names with ``why`` and the time in them, before another replaces it.

    True copies: a link would be written on if the replacement is cut short. They get their names when they
    are whole: what a crash leaves is one unfinished copy, which goes at the next start.
    """
    new = beside(path, _UNFINISHED)
    forget_aside(new)
    aside = new
    try:
        kept = [suffix for suffix in (*LOGS, "") if beside(path, suffix).exists()]
        for suffix in kept:
            copy_file(beside(path, suffix), beside(new, suffix), busy)
            sync(beside(new, suffix))
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        aside, number = beside(path, f".{why}-{stamp}"), 1
        while aside.exists():
            number += 1
            aside = beside(path, f".{why}-{stamp}-{number}")
        for suffix in kept:
            beside(new, suffix).rename(beside(aside, suffix))
        sync(path.parent)
    except BaseException:
        forget_aside(new)  # a full disk is tried again, and would get fuller
        forget_aside(aside)
        raise
    return aside


def forget_aside(aside: Path) -> None:
    """Remove what :func:`keep_aside` kept, because nothing has replaced it."""
    for suffix in ("", *LOGS):
        beside(aside, suffix).unlink(missing_ok=True)


def decide(new: Path, path: Path) -> None:
    """Only when this has not raised ``new`` takes the place of the journal ``path``."""
    sync(new)
    new.rename(beside(path, ".ready"))


def ready_for(path: Path) -> Path | None:
    """What was decided to take the place of the journal ``path`` and has not yet; None: nothing."""
    ready = beside(path, ".ready")
    return ready if ready.exists() else None


def finish(path: Path) -> None:
    """Do what was decided, and what a crash has left of it; remove a copy that a crash left unfinished."""
    forget_aside(beside(path, _UNFINISHED))
    if (ready := ready_for(path)) is None:
        return
    sync(path.parent)
    for suffix in (*LOGS, SUFFIX):  # what the old one's last row was proves nothing of this one
        beside(path, suffix).unlink(missing_ok=True)
    sync(path.parent)
    ready.rename(path)
    sync(path.parent)
