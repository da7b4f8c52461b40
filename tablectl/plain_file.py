"""Reading a file that a configuration or a command names: at once, bounded, and only if it is a file.

A name may lead to a pipe, where a reader waits for ever, to a device without an end, to a file of a gigabyte,
or to TOML that is made to exhaust who parses it. Every such file is read here.
"""

from __future__ import annotations

import errno
import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 20
"""Of a file of the configuration: a card table has some thousands of bytes."""
MOST_DEEP = 16
"""Tables and lists within one another; a configuration has four."""
MOST_DOTS = 100
"""In one line: an address has ten."""


def must_be_file(path: Path) -> None:
    """Raises :class:`OSError` if there is none, or it is something else than a file. Opens nothing."""
    try:
        found = path.stat()
    except ValueError:  # a NUL
        raise OSError(errno.EINVAL, "is no name of a file", str(path)) from None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "is no file", str(path))


def read_file(path: Path, most: int = MOST_BYTES) -> bytes:
    """What is in it. Raises :class:`OSError`, whose ``strerror`` says why not, also when it is longer.

    What is no file is not even opened: that alone may do something to a device.
    """
    must_be_file(path)
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):  # another one by now
            raise OSError(errno.EINVAL, "is no file", str(path))
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"longer than {most} bytes; is it the right file?")
    return content


def parse_toml(text: str) -> dict[str, Any]:
    """A document of a sane shape. Raises :class:`ValueError`, which for bad TOML has the line.

    Refused besides bad TOML: what is nested deeper than :data:`MOST_DEEP`, whole numbers of more than 64 bits
    and NUL in a text. No setting has them, and whoever shows, stores or opens such a value fails over it.
    """
    for number, line in enumerate(text.splitlines(), 1):  # the parser takes the square of them in time
        if line.count(".") > MOST_DOTS and not line.lstrip().startswith("#"):
            raise ValueError(f"line {number}: more than {MOST_DOTS} dots")
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"nested deeper than {MOST_DEEP}") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # int() takes some thousand digits
        raise ValueError("a number in it has too many digits") from None
    found: list[tuple[str, object, int]] = [("", document, 0)]
    while found:
        where, value, deep = found.pop()
        if deep > MOST_DEEP:
            raise ValueError(f"{where[:80]}: nested deeper than {MOST_DEEP}")
        if isinstance(value, Mapping):
            found += [(f"{where}.{key}".lstrip("."), one, deep + 1) for key, one in value.items()]
            if any("\0" in key for key in value):
                raise ValueError(f"{where or 'a key'}: a name with a NUL in it")
        elif isinstance(value, list):
            found += [(where, one, deep + 1) for one in value]
        elif isinstance(value, str) and "\0" in value:
            raise ValueError(f"{where}: a text with a NUL in it")
        elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"{where}: a number of more than 64 bits")
    return document
