"""Files as a power cut leaves them, rebuilt from the record of what a process did to them (``shim.c``).

The disk may have kept any of what was written since the last sync of a file, sector by sector in any order;
of creations, renamings and removals since the last sync of the folder any beginning.  What a completed sync
covers is there.
"""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

SECTOR = 512

_HEAD = struct.Struct("<cBIQ")

Survives = Literal["nothing", "all", "some"]


@dataclass(frozen=True, slots=True)
class Step:
    """One record of the shim. ``what``: its letter."""

    what: str
    name: str
    at: int
    part: bytes


@cache
def shim(folder: Path) -> Path:
    """The shim, compiled into ``folder``. Raises :class:`FileNotFoundError` without a compiler."""
    library = folder / "powercut.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl", "-lpthread"], check=True
    )
    return library


def environment(library: Path, folder: Path, record: Path, **more: int) -> dict[str, str]:
    """For a process whose files in ``folder`` are recorded. ``more``: DIE_AT, FAIL_AT, FAIL_DIES."""
    return {
        "LD_PRELOAD": str(library),
        "POWERCUT_FOLDER": str(folder),
        "POWERCUT_LOG": str(record),
        **{f"POWERCUT_{name}": str(value) for name, value in more.items()},
    }


def steps(record: Path) -> list[Step]:
    """What was recorded, in order."""
    data, at, found = record.read_bytes(), 0, list[Step]()
    while at + _HEAD.size <= len(data):
        what, named, length, offset = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        name, part = data[at : at + named], data[at + named : at + named + length]
        at += named + length
        found.append(Step(what.decode(), name.decode(), offset, part))
    return found


@dataclass(slots=True)
class _File:
    safe: bytearray = field(default_factory=bytearray)
    """Its content at the last sync."""
    since: list[Step] = field(default_factory=list)
    """What was done to it since."""
    syncing: int | None = None
    """How much of ``since`` the sync under way covers."""


class Disk:
    """A folder's files while the record is played: what is safe, and what is not yet."""

    def __init__(self) -> None:
        self._files: dict[int, _File] = {}
        self._safe: dict[str, int] = {}
        self._names: dict[str, int] = {}
        self._since: list[dict[str, int]] = []
        """The folder after each change since its last sync."""

    def do(self, step: Step) -> None:
        """One more step happened."""
        match step.what:
            case "C":
                number = len(self._files)
                self._files[number] = _File()
                self._named({**self._names, step.name: number})
            case "R":
                rest = {name: number for name, number in self._names.items() if name != step.name}
                self._named({**rest, step.part.decode(): self._names[step.name]})
            case "U":
                self._named({name: n for name, n in self._names.items() if name != step.name})
            case "W" | "T":
                self._file(step).since.append(step)
            case "F":
                self._file(step).syncing = len(self._file(step).since)
            case "f":
                file = self._file(step)
                covered = file.since[: file.syncing]
                file.safe = _applied(file.safe, covered)
                file.since = file.since[len(covered) :]
                # A sync of a new file takes its name with it on the file systems that this runs on, but no
                # standard says so: the name is safe only with the folder.
            case "X":  # what was written since the last sync never comes to the disk, unless written again
                self._file(step).since = []
            case "D":
                self._safe, self._since = self._names, []
            case _:
                pass

    def _file(self, step: Step) -> _File:
        return self._files[self._names[step.name]]

    def _named(self, names: dict[str, int]) -> None:
        self._names = names
        self._since.append(names)

    def cut(self, folder: Path, survives: Survives, chance: random.Random) -> None:
        """Write into ``folder`` what is left when the power fails now."""
        match survives:
            case "nothing":
                names = self._safe
            case "all":
                names = self._names
            case "some":
                names = chance.choice([self._safe, *self._since])
        for name, number in names.items():
            file = self._files[number]
            match survives:
                case "nothing":
                    data = file.safe
                case "all":
                    data = _applied(file.safe, file.since)
                case "some":
                    data = _applied(file.safe, file.since, lambda: chance.random() < 0.5)
            (folder / name).write_bytes(data)


def _applied(data: bytearray, done: list[Step], kept: Callable[[], bool] | None = None) -> bytearray:
    """``data`` after these steps; with ``kept``, only those sectors and truncations for which it says so."""
    data = bytearray(data)
    for step in done:
        if step.what == "T":
            if kept is None or kept():
                del data[step.at :]
                data.extend(bytes(step.at - len(data)))
            continue
        end = step.at + len(step.part)
        at = step.at
        while at < end:
            upto = end if kept is None else min(end, (at // SECTOR + 1) * SECTOR)
            if kept is None or kept():
                data.extend(bytes(max(0, upto - len(data))))
                data[at:upto] = step.part[at - step.at : upto - step.at]
            at = upto
    return data
