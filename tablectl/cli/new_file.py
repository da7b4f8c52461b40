"""A file that a command makes: its owner's alone, over no other, and where it must be whole never half."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from tablectl.cli import output
from tablectl.cli.output import Refused, escape

STDOUT = "-"
"""In place of a file's name, where a pipe makes sense."""


def there_already(file: str) -> Refused:
    """It replaces no file."""
    return Refused(f"refused: {escape(file)} is there already; choose another name, or remove it")


def open_new(file: str) -> TextIO:
    """A new file, in which lines end as they are written. Raises :class:`Refused`."""
    if file == STDOUT:
        raise Refused("refused: a file's name is needed here, - is none; of a file with that name: ./-")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.fdopen(os.open(file, flags, 0o600), "w", encoding="utf-8", newline="")
    except FileExistsError:
        raise there_already(file) from None
    except (OSError, ValueError) as fault:
        raise _cannot(file, fault) from None


@contextmanager
def whole(file: str) -> Iterator[TextIO]:
    """As :func:`open_new`: on the disk after the block, or removed where anything went wrong in it.

    ``-``: standard output, which has had what came before that.
    """
    if file == STDOUT:
        with output.stdout() as out:
            yield out
        return
    made = open_new(file)
    try:
        with made:  # closing it may fail as well: what could not be written is tried once more
            yield made
            made.flush()
            os.fsync(made.fileno())
    except BaseException as fault:
        # Half a dispute, or half an audit, is worse than none.
        with contextlib.suppress(OSError):
            Path(file).unlink()
        if isinstance(fault, OSError | ValueError):
            raise _cannot(file, fault) from None
        raise


def csv_text(lines: Iterable[Iterable[Any]]) -> str:
    """Lines of cells for a spreadsheet."""
    made = io.StringIO()
    csv.writer(made).writerows(lines)
    return made.getvalue()


def cell(value: Any, longest: int | None = 300) -> str:
    """A text that no spreadsheet takes for a formula, cut at ``longest`` characters; None: whole."""
    text = "" if value is None else escape(str(value)[:longest])
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _cannot(file: str, fault: OSError | ValueError) -> Refused:
    why = fault.strerror if isinstance(fault, OSError) else str(fault)
    return Refused(f"refused: {escape(file)} cannot be written: {escape(why)}")
