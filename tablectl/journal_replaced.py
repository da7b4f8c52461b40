"""Another file in the place of a journal's: what was there is kept aside, and a crash leaves one of the two.

The new one takes the place in two steps that a crash cannot tear: it is finished under the name ``….ready``,
and that name is the decision; what is left to do then is done by whoever comes next (:func:`finish`).  A log
(``-wal``) of the old file must never meet the new one.
"""

from __future__ import annotations

import time
from pathlib import Path

from tablectl.journal_file import LOGS, beside, copy_file, sync


def keep_aside(path: Path, why: str) -> Path:
    """Keep a journal and its logs under names with ``why`` and the time in them, before another replaces it.

    True copies: a link would be written on if the replacement is cut short.
    """
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    aside, number = beside(path, f".{why}-{stamp}"), 1
    while aside.exists():
        number += 1
        aside = beside(path, f".{why}-{stamp}-{number}")
    try:
        for suffix in ("", *LOGS):
            if beside(path, suffix).exists():
                copy_file(beside(path, suffix), beside(aside, suffix))
                sync(beside(aside, suffix))
        sync(path.parent)
    except BaseException:
        forget_aside(aside)  # a full disk is tried again, and would get fuller
        raise
    return aside


def forget_aside(aside: Path) -> None:
    """Remove what :func:`keep_aside` kept, because nothing has replaced it."""
    for suffix in ("", *LOGS):
        beside(aside, suffix).unlink(missing_ok=True)


def put_in_place(new: Path, path: Path) -> None:
    """Let the finished file ``new`` take the place of the journal ``path``, and of its log."""
    sync(new)
    new.rename(beside(path, ".ready"))
    sync(path.parent)
    finish(path)


def finish(path: Path) -> None:
    """Do what a crash in :func:`put_in_place` left undone."""
    ready = beside(path, ".ready")
    if not ready.exists():
        return
    for suffix in LOGS:
        beside(path, suffix).unlink(missing_ok=True)
    sync(path.parent)
    ready.rename(path)
    sync(path.parent)
