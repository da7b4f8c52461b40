"""Power cuts at every moment of a recorded life: whatever was told before is in the journal afterwards."""

from __future__ import annotations

import random
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tablectl.events import CommandRecorded
from tablectl.journal import Journal, JournalFault, decode_row
from tablectl.journal.rows import Row
from tests.crash.disk import Disk, Step, Survives

_EVENT = re.compile(rb'"sequence": ?"(\d{12})"')
_ROW = re.compile(rb'"row": ?(\d+)')
_ANSWER = re.compile(rb'\{"id": ?"([0-9a-f]{32})", ?"accepted"')


@dataclass
class Told:
    """What was said outside up to some moment: the newest event and row, and the commands answered."""

    sequence: int = 0
    row: int = 0
    commands: set[str] = field(default_factory=set)

    def heard(self, said: bytes) -> bool:
        """More was said; whether it told something new."""
        before = self.sequence, self.row, len(self.commands)
        self.sequence = max([self.sequence, *(int(n) for n in _EVENT.findall(said))])
        self.row = max([self.row, *(int(n) for n in _ROW.findall(said))])
        self.commands |= {id_.decode() for id_ in _ANSWER.findall(said)}
        return before != (self.sequence, self.row, len(self.commands))


@dataclass
class Cuts:
    """How many power cuts were tried, at how many moments, and what went wrong."""

    moments: int = 0
    cuts: int = 0
    faults: list[str] = field(default_factory=list)


def cut_everywhere(
    record: Sequence[Step],
    name: str,
    table: str,
    final: Sequence[Row],
    *,
    seed: int = 1,
    every: int = 1,
    since: int = 0,
) -> Cuts:
    """Cut the power after every ``every``-th moment that changes anything, and look what is left.

    ``final``: the rows of the whole life, of which what is left must be a beginning. ``since``: the step of
    the record with which to begin to cut.
    """
    disk, told, found, chance = Disk(), Told(), Cuts(), random.Random(seed)
    commands = {row.row: _command(row) for row in final}
    for at, step in enumerate(record):
        if step.what == "S":
            if not told.heard(step.part):
                continue
        else:
            disk.do(step)
            if step.what == "F":
                continue
        if at < since:
            continue
        found.moments += 1
        if found.moments % every:
            continue
        kinds: tuple[Survives, ...] = ("nothing", "all", "some", "some")
        for survives in kinds:
            found.cuts += 1
            folder = Path(tempfile.mkdtemp(prefix="tablectl-cut-"))
            try:
                disk.cut(folder, survives, chance)
                _look(folder / name, table, told, final, commands)
            except AssertionError as fault:
                found.faults.append(
                    f"after step {at} ({step.what} {step.name}), {survives} survives: {fault}"
                )
            finally:
                shutil.rmtree(folder)
    return found


def _command(row: Row) -> str | None:
    try:
        event, _ = decode_row(row)
    except JournalFault:  # a row of no table, of a test that only writes
        return None
    return event.id if isinstance(event, CommandRecorded) else None


def _look(path: Path, table: str, told: Told, final: Sequence[Row], commands: dict[int, str | None]) -> None:
    """The daemon's own start on what is left. Raises :class:`AssertionError`."""
    if not path.exists():
        assert not told.row and not told.sequence, f"event {told.sequence} was told, and there is no journal"
    try:
        journal = Journal.open(path, table)
    except JournalFault as fault:
        raise AssertionError(f"the journal is refused: {fault}") from fault
    try:
        rows = list(journal.every_row())
        assert journal.verify() == len(rows)
        assert rows == list(final[: len(rows)]), "other rows than were written"
        assert len(rows) >= told.row, f"row {told.row} was told, the last one left is {len(rows)}"
        last = journal.last()[1]
        assert last >= told.sequence, f"event {told.sequence} was told, the last one left is {last}"
        lost = told.commands - {commands[row.row] for row in rows}
        assert not lost, f"{len(lost)} commands were answered and are lost"
    finally:
        journal.close()
