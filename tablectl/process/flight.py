"""The flight recorder: the last messages inside the process, written to a file when something goes wrong.

The journal says what the table decided; this says what led there: every batch of bytes as it arrived, every
input with the events that came of it, what the game server's link did. Noting costs one append to a bounded
list, without a lock; words are made only when it is written.  A recording holds card faces as the journal
does, so it lies beside it, for the same eyes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tablectl import __version__
from tablectl.clock import Instant, iso
from tablectl.events import Event
from tablectl.item_words import hex_of, item_words
from tablectl.private_files import FILE
from tablectl.scanner import Arrived, Discarded
from tablectl.table import Command

MESSAGES = 1024
"""How many are kept."""

KEPT = 10
"""Recordings of a table's faults that stay, and as many that were asked for; an older one makes room."""

MOST_TEXT = 2000
"""Characters of one message that are written."""


@dataclass(frozen=True, slots=True)
class Decided:
    """What the core took, and the events that came of it."""

    given: object
    events: tuple[Event, ...]


class FlightRecorder:
    """The last messages of one table. :meth:`note` and :meth:`decided` are safe from any thread."""

    def __init__(self, size: int = MESSAGES) -> None:
        self._messages: deque[tuple[int, str, object]] = deque(maxlen=size)

    def note(self, boot: int, what: str, told: object) -> None:
        """``what`` happened at ``boot`` (ns): bytes, or anything with a ``str``."""
        self._messages.append((boot, what, told))

    def decided(self, boot: int, given: object, events: Sequence[Event]) -> None:
        """The table took ``given``, and these events came of it."""
        self._messages.append((boot, "decided", Decided(given, tuple(events))))

    def lines(self) -> Iterator[dict[str, Any]]:
        """The messages, oldest first, as JSON objects."""
        for boot, what, told in list(self._messages):
            yield {"boot": boot, "what": what, **_words(told)}

    def write(self, folder: Path, table: str, why: str, at: Instant, *, asked: bool = False) -> Path:
        """Write them to a new file in ``folder``, one JSON object a line, and remove the oldest recordings.

        A recording whose name is of a later time than ``at`` was made before a clock was put back, so it is
        older than all the others. ``asked``: no fault, somebody wanted it; such ones never push out those of
        a fault. Raises :class:`OSError` where that cannot be.
        """
        stamp = iso(at.wall).replace("-", "").replace(":", "").split(".")[0]
        name = f"{table}-flight-asked" if asked else f"{table}-flight"
        lines = list(self.lines())
        header = {"flight": 1, "table": table, "version": __version__, "why": why, "time": iso(at.wall)}
        path, descriptor = _new(folder, f"{name}-{stamp}")
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 a descriptor, for its mode
            for line in ({**header, "boot": at.boot}, *lines):
                file.write(json.dumps(line) + "\n")
        ours = re.compile(re.escape(name) + r"-(\d{8}T\d{6})Z?(-\d)?\.jsonl", re.ASCII)
        made = {one: found.group(1, 2) for one in folder.iterdir() if (found := ours.fullmatch(one.name))}
        second = stamp.removesuffix("Z")

        def age(one: Path) -> tuple[bool, str, str]:
            then, number = made[one]
            return then <= second, then, number or ""

        for old in sorted(made, key=age)[:-KEPT]:
            with contextlib.suppress(OSError):
                old.unlink()
        return path


def _new(folder: Path, name: str) -> tuple[Path, int]:
    """A new file, and its descriptor, under a name that is not taken: a fault seldom comes alone."""
    for number in range(KEPT):
        path = folder / (f"{name}.jsonl" if not number else f"{name}-{number}.jsonl")
        with contextlib.suppress(FileExistsError):
            return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE)
    raise FileExistsError(f"{folder / name}.jsonl: {KEPT} recordings of this second are there already")


def _words(told: object) -> dict[str, Any]:
    match told:
        case bytes():
            return {"hex": _cut(hex_of(told))}
        case Decided(given=given, events=events):
            return {"input": _cut(_input(given)), "events": [_event(event) for event in events]}
        case _:
            return {"text": _cut(str(told))}


def _input(given: object) -> str:
    match given:
        case Arrived(item=item, at=at) | Discarded(item=item, at=at):
            return f"{type(given).__name__.lower()} at {at.boot}: {item_words(item)}"
        case Command():
            args = " ".join(f"{key}={value}" for key, value in given.args.items())
            return f"{given.kind.value} {args} by {given.person}, uid {given.uid}, id {given.id}"
        case _:
            return str(given)


def _event(event: Event) -> str:
    facts = {key: value for key, value in asdict(event).items() if value is not None}
    return _cut(f"{event.TYPE} {json.dumps(facts, default=str)}")


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} … {len(text) - MOST_TEXT} more"
