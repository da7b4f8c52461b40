"""An index column says where a row is looked for, and is outside of its hash: what it hides is named.

One row of each kind is altered in each of those columns. Whatever is then asked, the answer is the one of
before or the row is named with the words of ``verify``.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

from tablectl.events import Event, RoundAmended, RoundVoided
from tablectl.journal import Journal, JournalFault, JournalReader
from tablectl.journal.pages import Wanted, page, shoe_in_play
from tablectl.journal.rounds import said
from tests.journals import WALL, played, rows_of

SHOES = 3
LATE: tuple[Event, ...] = (
    RoundAmended(
        shoe=1, round=1, before={}, after={"outcome": "tie"}, reason="a: b", approved_by="Pia", revision=2
    ),
    RoundVoided(shoe=2, round=2, reason="a: b", approved_by="Pia", cards={}),
)
"""What changes a round when another shoe is in play."""
COLUMNS = (
    "sequence = NULL", "sequence = 99999", "type = 'zz'", "type = 'betting.opened'", "type = 'shoe.ended'",
    "shoe = 99", "shoe = NULL", "round = 1000", "round = NULL", "round = 1",
)  # fmt: skip
STEP = 7
"""Of all kinds with all columns every so many are tried; all of them in the long run."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three shoes, the last of them in play, with a round of each of the first changed in the third."""
    path = tmp_path_factory.mktemp("journal") / "T07.db"
    events = list(played(SHOES))
    while events[-1].TYPE != "round.resulted":
        events.pop()
    with closing(Journal.open(path, "T07")) as journal:
        journal.append(list(rows_of([*events, *LATE], journal.epoch)))
    return path


def exported(reader: JournalReader, wanted: Wanted) -> list[Any]:
    found, after = list[Any](), 0
    while True:
        one = page(reader, Wanted(after, None, wanted.shoe, wanted.round, public=wanted.public), 40)
        found += one["rows"]
        if one["after"] is None:
            return found
        after = one["after"]


def sent(reader: JournalReader) -> list[bytes]:
    found: list[bytes] = []
    while more := reader.bodies(len(found) + 1, 30):
        found += [one.body for one in more]
    return found


def recent(reader: JournalReader, most: int) -> list[Any]:
    return [(where, reader.round_rows(*where)) for where in reader.recent_rounds(most)]


def of_a_time(reader: JournalReader) -> list[Any]:
    found = [reader.round_at(WALL + n * 86_400 * 10**9 + 2000) for n in range(SHOES + 1)]
    return [(where, where and reader.round_rows(*where)) for where in found]


ROUNDS = ((1, 1), (2, 1), (2, 2), (2, 3), (3, 1))
WAYS: dict[str, Callable[[JournalReader], object]] = {
    "to send": sent,
    "recent": lambda r: recent(r, 50),
    "of a time": of_a_time,
    "starts and ends": lambda r: [
        r.shoe_row(shoe, kind) for shoe in (1, 2, 3) for kind in ("shoe.started", "shoe.ended")
    ],
    "exported": lambda r: exported(r, Wanted(public=True)),
    "in play": shoe_in_play,
    **{f"round {n}": lambda r, n=n: r.round_rows(*n) for n in ROUNDS},  # type: ignore[misc]
    "export of a round": lambda r: exported(r, Wanted(shoe=2, round=2, public=True)),
    "export of a shoe": lambda r: exported(r, Wanted(shoe=2, public=True)),
    "shoe": lambda r: r.shoe_rows(2),
}


@contextmanager
def altered(path: Path, column: str, row: int) -> Iterator[None]:
    """For a while. ``column``: ``NAME = VALUE``; what the file itself does not allow is not altered."""
    name = column.partition(" = ")[0]
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        ((was,),) = db.execute(f"SELECT {name} FROM rows WHERE row = ?", (row,))
        try:
            db.execute(f"UPDATE OR IGNORE rows SET {column} WHERE row = ?", (row,))
            yield
        finally:
            db.execute(f"UPDATE rows SET {name} = ? WHERE row = ?", (was, row))


def one_of_each(reader: JournalReader) -> dict[str, int]:
    """A row of each kind, in the second shoe where it can be."""
    found: dict[str, int] = {}
    for row in reader.every_row():
        where = said(row)
        if where.shoe in (None, 2) or where.type not in found:
            if where.shoe == 2 and where.round is not None and where.round > 2:
                continue
            found[where.type] = row.row
    return found | {"newest": reader.last()[0], "first": 1}


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_no_index_column_hides_a_row(path: Path) -> None:
    with closing(JournalReader.open(path)) as reader:
        before = {name: way(reader) for name, way in WAYS.items()}
        assert all(before.values())
        every = product(one_of_each(reader).items(), COLUMNS)
        for (kind, row), column in islice(every, None, None, 1 if os.environ.get("TABLECTL_SOAK") else STEP):
            with altered(path, column, row):
                words = ""
                try:
                    reader.verify()
                except JournalFault as fault:
                    words = str(fault)
                for name, way in WAYS.items():
                    try:
                        told = way(reader)
                    except JournalFault as fault:
                        assert str(fault) == words, (kind, row, column, name)
                    else:
                        assert told == before[name], (kind, row, column, name)
