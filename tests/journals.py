"""Journals of whole shoes, played by the simulator, for what reads, copies and cuts journals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tablectl.clock import Instant
from tablectl.events import Event, private_body, public_body
from tablectl.journal import Journal, Row
from tests.table.playing import Recorded, house

WALL = 1_796_000_000 * 10**9
DAY = 86_400 * 10**9


@cache
def played(shoes: int) -> tuple[Event, ...]:
    """The events of so many shoes, of a few rounds each."""
    game = Recorded(house(shoe={"decks": 1, "cutting_card": 30}), "journals")
    for _ in range(shoes):
        game.play_shoe()
    return tuple(game.events)


def rows_of(events: Sequence[Event], epoch: str, *, shoe_days: int = 1, wall: int = WALL) -> Iterator[Row]:
    """Rows as the core makes them; each shoe begins ``shoe_days`` days after the one before."""
    sequence = 0
    for number, event in enumerate(events, start=1):
        if event.TYPE == "shoe.started":
            wall += shoe_days * DAY
        at, body = Instant(number, wall + number), None
        if event.PUBLIC:
            sequence += 1
            body = public_body(event, table="T07", epoch=epoch, sequence=sequence, at=at, test=True)
        yield Row(number, sequence if event.PUBLIC else None, body, private_body(event, at), b"\x02raw")


def fill(path: Path, shoes: int = 3, *, shoe_days: int = 1) -> list[Row]:
    """Make the journal; its rows. All but the last event is acknowledged."""
    journal = Journal.open(path, "T07")
    rows = list(rows_of(played(shoes), journal.epoch, shoe_days=shoe_days))
    for at in range(0, len(rows), 500):
        journal.append(rows[at : at + 500])
    journal.set_acked(journal.last()[1] - 1)
    journal.close()
    return rows


def starts(rows: Sequence[Row]) -> list[int]:
    """The rows with which a shoe begins."""
    return [row.row for row in rows if b'"type":"shoe.started"' in row.private]
