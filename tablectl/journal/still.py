"""What a start would make of a journal, found out by the code of a start, and not a byte is changed.

For ``tablectl check`` while the table is stopped: who looks holds the table's lock
(:func:`tablectl.lock.while_stopped`), so nobody writes meanwhile.
"""

from __future__ import annotations

import contextlib
import sqlite3
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tablectl.journal.file import LOGS, beside, open_existing
from tablectl.journal.kind import must_fit
from tablectl.journal.reader import JournalReader
from tablectl.journal.repair import faults_of, must_be_free, must_have_one_name, plan, refuse_new
from tablectl.journal.replaced import ready_for
from tablectl.journal.replay import replay_journal
from tablectl.journal.rows import JournalFault


@dataclass(frozen=True, slots=True)
class Foretold:
    """A start succeeds. ``text``: what it finds, in words; ``mends``: it has to repair something first."""

    text: str
    mends: bool = False


def foretell(path: Path, table: str, busy: Callable[[], object] = lambda: None, *, test: bool) -> Foretold:
    """What a start of ``table`` does with the journal at ``path``. ``test``: as the configuration has it.

    Raises what the start would raise: :class:`JournalFault`, :class:`JournalUnavailable`. ``busy`` is called
    now and then; what it raises ends the look.
    """
    with faults_of(path):
        must_be_free(path)
        ready = ready_for(path)
        if ready is None and not path.exists():
            refuse_new(path)
            return Foretold("not there yet: a new history begins")
        must_have_one_name(ready or path)
        with reading(ready or path) as reader:
            found = plan(reader, table, busy)
            must_fit(reader, test, found.upto)
            said = found.mended.said
            if not said or found.upto is not None:  # else an index is damaged, by which the rows are found
                _replay(reader, busy, found.upto)
            row = reader.last()[0] if found.upto is None else found.upto
            text = f"history {reader.epoch}, up to row {row}"
            if found.why.startswith("schema"):
                text += (
                    "; the next start writes it anew, as this version does, and keeps it as it was beside it"
                )
        if ready is not None:
            said = "; ".join(one for one in ("a replacement that was cut short is finished", said) if one)
        return Foretold(f"the next start repairs it: {said}" if said else text, bool(said))


def _replay(reader: JournalReader, busy: Callable[[], object], upto: int | None) -> None:
    if upto is not None and upto <= reader.anchor().row:
        return
    reader.upto = upto
    try:
        replay_journal(reader, busy, upto)
    except JournalFault as fault:
        # Where a torn end is cut off all pages are written anew, and with them those that cannot be read.
        if upto is None or not isinstance(fault.__cause__, sqlite3.Error):
            raise


@contextlib.contextmanager
def reading(path: Path) -> Iterator[JournalReader]:
    """A reader of a journal that nobody writes, which leaves its files and what lies beside them alone.

    An ordinary one makes the two files of a log where there are none and leaves them there, perhaps as
    another user's. The index of a log (``-shm``) is taken as nobody's word: SQLite makes its own in memory.
    Where there is none it has to make the file, which is removed again; where the log's first bytes are
    damaged it makes the one that is there anew. Raises as :meth:`JournalReader.open`.
    """
    there = {suffix for suffix in LOGS if beside(path, suffix).exists()}
    logs = (beside(path, suffix) for suffix in ("-wal", "-journal"))
    log = any(one.exists() and one.stat().st_size for one in logs)
    try:
        index = "&readonly_shm=1" if "-shm" in there and _begins_well(beside(path, "-wal")) else ""
        db, meta = open_existing(path, f"ro{index}" if log else "ro&immutable=1")
        with contextlib.closing(JournalReader(path, db, meta["table"], meta["epoch"])) as reader:
            yield reader
    finally:
        for suffix in set(LOGS) - there:
            beside(path, suffix).unlink(missing_ok=True)


def _begins_well(log: Path) -> bool:
    """Whether the sum in a log's head fits; else SQLite would try for ten seconds to read it, and give up."""
    if not log.is_file():
        return False
    with log.open("rb") as file:
        head = file.read(32)
    if len(head) < 32:
        return False
    one = two = 0
    words = struct.unpack(f"{'>' if head[3] & 1 else '<'}6I", head[:24])
    for first, second in zip(words[::2], words[1::2], strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return (one, two) == struct.unpack(">2I", head[24:])
