"""What reaches a terminal: nothing that comes from a peer can move its cursor, and no terminal is too poor.

Control characters are shown as ``\\x1b``, letters a terminal lacks are replaced, a reader that went away
is no error. There are no colours.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

from tablectl.printable import by_number
from tablectl.printable import escape as escape  # noqa: PLC0414 - what prints is here for every command

REFUSED, NOT_REACHABLE, BAD_CONFIGURATION = 1, 3, 78
"""Exit codes besides 0 (done) and 2 (usage)."""


class Refused(click.ClickException):
    """It was not done; the text says why and the way out."""

    exit_code = REFUSED


class BadConfiguration(click.ClickException):
    """``run`` cannot start with this configuration."""

    exit_code = BAD_CONFIGURATION


class _Lost:
    """What came of standard output: ``reader`` gone is no error, any other fault is."""

    reader = False
    fault = ""


_INSTEAD = {"·": "-", "…": "...", "–": "-", "“": '"', "”": '"'}


def _without(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks: its nearest ASCII letters, else its number."""
    assert isinstance(error, UnicodeEncodeError)
    made = ""
    for char in error.object[error.start : error.end]:
        plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
        made += _INSTEAD.get(char) or plain or by_number(char)
    return made, error.end


def prepare() -> None:
    """Make the standard streams take any text. A closed one stays None, and takes all in silence."""
    codecs.register_error("tablectl", _without)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="tablectl")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None:
        return
    stream.write("\n".join(escape(line) for line in text.split("\n")) + "\n")
    stream.flush()


def say(text: str = "") -> None:
    """Lines to standard output. Text of a peer goes through :func:`escape` first: newlines in it too."""
    if _Lost.reader or _Lost.fault:
        return
    try:
        _write(sys.stdout, text)
    except BrokenPipeError:
        silence()
    except OSError as fault:
        silence()
        _Lost.fault = fault.strerror or str(fault)


@contextmanager
def stdout() -> Iterator[TextIO]:
    """Standard output for the content of a file, byte for byte; that its reader went away is no error."""
    try:
        handle = os.open(os.devnull, os.O_WRONLY) if sys.stdout is None else os.dup(sys.stdout.fileno())
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            yield out
    except BrokenPipeError:
        silence()
    except OSError as fault:
        silence()
        _Lost.fault = fault.strerror or str(fault)


def complain(text: str) -> None:
    """Lines to standard error; where that is gone there is nobody to tell."""
    try:
        _write(sys.stderr, text)
    except OSError:
        return


def in_words(fault: Exception) -> str:
    """What went wrong, without the system's number for it; whoever tells it names the file."""
    return escape(fault.strerror if isinstance(fault, OSError) and fault.strerror else fault)


def say_json(value: Any) -> None:
    """A value on one line, for a program; pure ASCII."""
    say(json.dumps(value).replace("\x7f", "\\u007f"))


def silence() -> None:
    """Standard output has no reader any more."""
    _Lost.reader = True
    if sys.stdout is not None:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def reader_gone() -> bool:
    """Whether writing more is in vain."""
    return _Lost.reader


def finish(code: int) -> int:
    """Flush, and the exit code to end with."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        silence()
    except OSError as fault:
        silence()
        _Lost.fault = fault.strerror or str(fault)
    if _Lost.fault:
        complain(f"the output could not be written: {_Lost.fault}; what was asked for is done")
        return code or REFUSED
    return code
