"""What a journal is asked about rounds and shoes; each question reads few rows, however long it is.

An index only says where to look. What is asked for lies between two rows with which something else began:
every row in between is read in its order and checked, and those that are wanted are chosen by what they say.
So a row that its index column or an index hides is named, not left out.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence

from tablectl.journal.rows import MOST_ROW, Anchor, Place, Row, place

_BEGINS = ("betting.opened", "hand.freed")
"""With these a round begins."""
_BOUNDS = (*_BEGINS, "shoe.started")
_ENDS = frozenset({"round.resulted", "round.voided", "round.amended"})
_DECISION = 12
"""Most rows of one decision behind the one that settles a round."""
_NO_ROW = "row IN ()"
_LATER = """
SELECT row FROM (SELECT row, CAST(public AS TEXT) AS text FROM rows
    WHERE type IN ('round.amended', 'round.voided') AND row > ?)
WHERE CASE WHEN json_valid(text) THEN json_extract(text, '$.data.shoe') = ?
    AND ifnull(?, json_extract(text, '$.data.round')) = json_extract(text, '$.data.round') ELSE 1 END
"""
"""What changes a round long after it, by what it says: of these there are few."""


def said(row: Row) -> Place:
    """What a row that was checked says it is."""
    return row.where or place(row)


class RoundQueries:
    """The questions about the past of a :class:`tablectl.journal.JournalReader`."""

    @abstractmethod
    def _all(self, sql: str, *values: object) -> list[tuple[object, ...]]: ...

    @abstractmethod
    def _rows(self, where: str, *values: object) -> list[Row]: ...

    @abstractmethod
    def in_order(self, where: str, after: int = 0) -> Iterator[Row]: ...

    @abstractmethod
    def last(self) -> tuple[int, int]: ...

    @abstractmethod
    def anchor(self) -> Anchor: ...

    def lies(self, shoe: int, round: int | None = None) -> str:
        """The condition that leads to every row of a shoe, or of one round, and to those around them."""
        first = self._seed(shoe, round)
        if first is None:
            return _NO_ROW
        begin = self._bound_before(first, shoe, round or 0)
        end = self._bound_behind(first, shoe, MOST_ROW if round is None else round)
        sql = "SELECT row FROM rows WHERE shoe = ? AND ifnull(?, round) IS round"
        stray = {int(str(row)) for (row,) in self._all(sql, shoe, round)}
        stray |= {int(str(row)) for (row,) in self._all(_LATER, end, shoe, round)}
        span = f"row BETWEEN {begin} AND {end}"
        outside = ", ".join(f"({row})" for row in sorted(stray) if not begin <= row <= end)
        # With OR in it every row of the journal would be looked at.
        both = f"row IN (SELECT row FROM rows WHERE {span} UNION VALUES {outside})"  # noqa: S608
        return both if outside else span

    def _seed(self, shoe: int, round: int | None) -> int | None:
        """The first row of that shoe or round; of one whose begin is not there, of what came before it."""
        begun = f"SELECT 1 FROM rows WHERE shoe = ? AND round = ? AND type IN {_BEGINS}"  # noqa: S608
        if round is not None and self._one(begun, shoe, round) is None:
            round = self._one("SELECT max(round) FROM rows WHERE shoe = ? AND round < ?", shoe, round)
        if round is None:
            return self._one("SELECT min(row) FROM rows WHERE shoe = ?", shoe)
        return self._one("SELECT min(row) FROM rows WHERE shoe = ? AND round = ?", shoe, round)

    def _one(self, sql: str, *values: object) -> int | None:
        found = self._all(sql, *values)
        return None if not found or found[0][0] is None else int(str(found[0][0]))

    def _bound_before(self, row: int, shoe: int, round: int) -> int:
        """The newest row up to ``row`` with which an earlier round or shoe began; else the first kept one."""
        sql = (
            "SELECT row FROM rows WHERE type = ? AND row <= ? AND (+shoe, ifnull(round, 0)) < (?, ?) "
            "ORDER BY row DESC LIMIT 1"
        )
        found = [self._one(sql, kind, row, shoe, round) for kind in _BOUNDS]
        return max(self.anchor().row + 1, *(one or 0 for one in found))

    def _bound_behind(self, row: int, shoe: int, round: int) -> int:
        """The first row behind ``row`` with which a later round or shoe began; else the last one."""
        sql = (
            "SELECT row FROM rows WHERE type = ? AND row > ? AND (+shoe, ifnull(round, 0)) > (?, ?) "
            "ORDER BY row LIMIT 1"
        )
        found = [self._one(sql, kind, row, shoe, round) for kind in _BOUNDS]
        return min((one for one in found if one is not None), default=self.last()[0])

    def round_rows(self, shoe: int, round: int) -> list[Row]:
        """Every row of one round, public and private, in order."""
        rows = self.in_order(self.lies(shoe, round))
        return [row for row in rows if (said(row).shoe, said(row).round) == (shoe, round)]

    def recent_rounds(self, limit: int = 50) -> list[tuple[int, int]]:
        """The newest rounds that began, as (shoe, round), newest first.

        Some events carry the number of a round still to come, as the last hand's announcement does. One
        whose begin is hidden is not among them: the rows of the round before it then lead to that row.
        """
        found: dict[tuple[int, int], int] = {}
        for kind in _BEGINS:
            # Each by its own index entry, newest first: quick however long the journal is.
            for row in self._rows("type = ? ORDER BY row DESC LIMIT ?", kind, limit):
                found.setdefault((said(row).shoe or 0, said(row).round or 0), row.row)
        return sorted(found, key=lambda one: found[one], reverse=True)[:limit]

    def round_at(self, wall: int) -> tuple[int, int] | None:
        """The round in play at a wall time (ns), or the last one before it, as (shoe, round).

        Rows stand in the order of time, unless the machine's clock was set back: then one of the rows
        of that time is taken.
        """
        low = self.row_at(wall)
        sql = "type = ? AND row <= ? ORDER BY row DESC LIMIT 1"
        found = [row for kind in _BEGINS for row in self._rows(sql, kind, low)]
        if not found:
            return None
        where = said(max(found, key=lambda row: row.row))
        return where.shoe or 0, where.round or 0

    def row_at(self, wall: int) -> int:
        """The newest row up to a wall time (ns); the one before the first kept row when all are later."""
        low, (high, _) = self.anchor().row, self.last()
        while low < high:
            middle = (low + high + 1) // 2
            found = self._rows("row = ?", middle)  # none: it was removed meanwhile, as too old
            if not found or int(json.loads(found[0].private)["wall"]) <= wall:
                low = middle
            else:
                high = middle - 1
        return low

    def shoe_row(self, shoe: int, event_type: str, after: int = 0) -> Row | None:
        """The newest row of this type that concerns a shoe and none of its rounds, behind ``after``."""
        where = "shoe = ? AND round IS NULL AND type = ? AND row > ? ORDER BY row DESC LIMIT 1"
        if found := self._rows(where, shoe, event_type, after):
            return found[0]
        # That there is none is seen where it would be: before the first round, or behind the last one.
        place = shoe if event_type == "shoe.started" else shoe + 1
        begin = self._bound_before(MOST_ROW, place, 0)
        end = self._bound_behind(begin, place, 0)
        sought = Place(event_type, shoe, None)
        rows = self.in_order(f"row BETWEEN {begin} AND {end}", after)
        return max((row for row in rows if said(row) == sought), key=lambda row: row.row, default=None)

    def shoe_rows(self, shoe: int, first: int = 0) -> list[Row]:
        """Every row of a shoe and its rounds from ``first`` on, in order."""
        return [row for row in self.in_order(self.lies(shoe), first - 1) if said(row).shoe == shoe]

    def settling_rows(self, shoe: int, first: int, last: int) -> list[Row]:
        """The rows from ``first`` to ``last`` that say how a round of a shoe stands, in order."""
        types = ", ".join("?" * len(_ENDS))
        where = f"shoe = ? AND row >= ? AND row <= ? AND type IN ({types}) ORDER BY row"
        return self._rows(where, shoe, first, last, *sorted(_ENDS))

    def commands_of(self, rows: Sequence[Row]) -> list[Row]:
        """The commands that ended or changed a round in the decisions of ``rows``, and are no rows of it.

        Their own row stands behind what they did, when that round is in play no more.
        """
        known, found = {row.row for row in rows}, dict[int, Row]()
        for row in rows:
            what = json.loads(row.private)
            if what["type"] not in _ENDS:
                continue
            for near in self._rows("row > ? AND row <= ? ORDER BY row", row.row, row.row + _DECISION):
                if said(near).type != "command.recorded" or near.row in known:
                    continue
                if json.loads(near.private)["boot"] == what["boot"]:
                    found[near.row] = near
        return [found[number] for number in sorted(found)]
