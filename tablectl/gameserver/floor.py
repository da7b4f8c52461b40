"""Where each table stands for who plays there: open or not, its shoe and round, the terms in force."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache

from tablectl.gameserver.messages import Message
from tablectl.gameserver.results import place
from tablectl.gameserver.store import Store
from tablectl.gameserver.terms import Terms, of_opened, of_shoe


@dataclass(frozen=True, slots=True)
class Floor:
    """One history of a table. The terms are numbers (:meth:`Floors.terms`); ``shoe_terms``: of this shoe."""

    table: str
    epoch: str
    open: bool = False
    shoe: int | None = None
    round: int | None = None
    opened_terms: int | None = None
    shoe_terms: int | None = None


class Floors:
    """The tables of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, table: str, epoch: str) -> Floor:
        """As it stands; a table nothing is known of is closed."""
        found = self._store.sql("SELECT * FROM floor WHERE table_id = ? AND epoch = ?", table, epoch)
        if not found:
            return Floor(table, epoch)
        _, _, is_open, *rest = found[0]
        return Floor(table, epoch, bool(is_open), *rest)

    def opens_new(self, message: Message) -> bool:
        """Whether a ``betting.opened`` is of a later round than any that was opened in its history."""
        shoe, number = place(message)
        if shoe is None or number is None:
            return False
        floor = self.of(message.table, message.epoch)
        return (shoe, number) > (floor.shoe or 0, floor.round or 0)

    def took(self, message: Message) -> Floor:
        """As it stands after that event, which is kept in the same transaction."""
        before = self.of(message.table, message.epoch)
        floor = self._after(before, message)
        if floor != before:
            self._store.sql(
                "REPLACE INTO floor VALUES (?, ?, ?, ?, ?, ?, ?)",
                *(floor.table, floor.epoch, floor.open, floor.shoe, floor.round),
                *(floor.opened_terms, floor.shoe_terms),
            )
        return floor

    def _after(self, floor: Floor, message: Message) -> Floor:
        shoe, number = place(message)
        match message.type:
            case "tablectl.table.opened.v1":
                return replace(floor, open=True, opened_terms=self._number(of_opened(message.data)))
            case "tablectl.table.closed.v1":
                return replace(floor, open=False)
            case "tablectl.shoe.started.v1":
                terms = self._number(of_shoe(message.data))
                return replace(floor, shoe=shoe, round=None, shoe_terms=terms)
            case "tablectl.betting.opened.v1":
                if shoe != floor.shoe:  # its shoe.started never came
                    floor = replace(floor, shoe_terms=None)
                return replace(floor, open=True, shoe=shoe, round=number)
        return floor

    def _number(self, terms: Terms | None) -> int | None:
        if terms is None:
            return None
        body = json.dumps(terms.as_dict(), sort_keys=True)
        self._store.sql("INSERT OR IGNORE INTO terms (body) VALUES (?)", body)
        return int(self._store.sql("SELECT number FROM terms WHERE body = ?", body)[0][0])

    def terms(self, number: int) -> Terms:
        """The terms kept under a number."""
        return _terms(self._store.sql("SELECT body FROM terms WHERE number = ?", number)[0][0])


@lru_cache(maxsize=64)
def _terms(body: str) -> Terms:
    """By what is kept, not by its number, which a rollback may give to others; read at each wager."""
    return Terms.from_dict(json.loads(body))
