"""Where a mirror may lie: in a file of its own, none of the journal's, whatever names lead there.

Nothing is opened for it (a pipe would wait for a reader), and a medium that hangs holds up nobody: then the
mirror's own thread finds out.
"""

from __future__ import annotations

import stat
from pathlib import Path
from threading import Thread

PATIENCE = 2.0
"""How long (s) a medium may take to answer."""

_BESIDE = ("", "-wal", "-shm", "-journal", "-wal.new", ".new", ".new-journal", ".ready", ".newest", ".source")
"""What is written beside a journal and a mirror, by the ends of the names."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def unfit(mirror: Path, journal: Path, *others: Path) -> str:
    """Why ``mirror`` cannot be the mirror of ``journal``, nor be any of ``others``; "" when it can."""
    said: list[str] = []

    def looks() -> None:
        said.append(why_unfit(mirror, journal, *others))

    looking = Thread(target=looks, name="mirror-place", daemon=True)
    looking.start()
    looking.join(PATIENCE)
    return said[0] if said else ""


def why_unfit(mirror: Path, journal: Path, *others: Path) -> str:
    """As :func:`unfit`, for as long as the medium takes."""
    try:
        if mirror.exists():
            mode = mirror.stat().st_mode
            for is_it, kind in _KINDS:
                if is_it(mode):
                    return f"{mirror} is {kind}; a mirror is a file, which is made if it is not there"
        theirs = [journal.with_name(journal.name + end) for end in _BESIDE] + list(others)
        for end in _BESIDE:
            mine = mirror.with_name(mirror.name + end)
            for other in theirs:
                if _same(mine, other):
                    which = "the journal itself" if other == journal else f"the same file as {other}"
                    return f"{mine} is {which}; a mirror is a file of its own, on another medium"
    except OSError:
        pass  # no medium, or one in trouble: the alert `mirror` tells of it
    return ""


def _same(one: Path, other: Path) -> bool:
    if one.name == other.name and one.parent.resolve() == other.parent.resolve():
        return True
    return one.exists() and other.exists() and one.samefile(other)
