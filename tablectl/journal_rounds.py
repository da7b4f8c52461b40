"""What a journal is asked about rounds and shoes; each question reads few rows, however long it is."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence

from tablectl.journal_rows import Anchor, Row

_BEGINS = ("betting.opened", "hand.freed")
"""With these a round begins."""
_ENDS = frozenset({"round.resulted", "round.voided", "round.amended"})
_DECISION = 12
"""Most rows of one decision behind the one that settles a round."""


class RoundQueries:
    """The questions about the past of a :class:`tablectl.journal.JournalReader`."""

    @abstractmethod
    def _all(self, sql: str, *values: object) -> list[tuple[object, ...]]: ...

    @abstractmethod
    def _rows(self, where: str, *values: object) -> list[Row]: ...

    @abstractmethod
    def last(self) -> tuple[int, int]: ...

    @abstractmethod
    def anchor(self) -> Anchor: ...

    def round_rows(self, shoe: int, round: int) -> list[Row]:
        """Every row of one round, public and private, in order."""
        return self._rows("shoe = ? AND round = ? ORDER BY row", shoe, round)

    def recent_rounds(self, limit: int = 50) -> list[tuple[int, int]]:
        """The newest rounds that began, as (shoe, round), newest first.

        Some events carry the number of a round still to come, as the last hand's announcement does.
        """
        found: dict[tuple[int, int], int] = {}
        for kind in _BEGINS:
            # Each by its own index entry, newest first: quick however long the journal is.
            sql = "SELECT shoe, round, row FROM rows WHERE type = ? ORDER BY row DESC LIMIT ?"
            for shoe, number, row in self._all(sql, kind, limit):
                found.setdefault((int(str(shoe)), int(str(number))), int(str(row)))
        return sorted(found, key=lambda one: found[one], reverse=True)[:limit]

    def round_at(self, wall: int) -> tuple[int, int] | None:
        """The round in play at a wall time (ns), or the last one before it, as (shoe, round).

        Rows stand in the order of time, unless the machine's clock was set back: then one of the rows
        of that time is taken.
        """
        low = self.row_at(wall)
        began = 0
        for kind in _BEGINS:
            ((row_number,),) = self._all("SELECT max(row) FROM rows WHERE type = ? AND row <= ?", kind, low)
            began = max(began, int(str(row_number or 0)))
        found = self._all("SELECT shoe, round FROM rows WHERE row = ?", began)
        return None if not found else (int(str(found[0][0])), int(str(found[0][1])))

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
        found = self._rows(where, shoe, event_type, after)
        return found[0] if found else None

    def shoe_rows(self, shoe: int, first: int = 0) -> list[Row]:
        """Every row of a shoe and its rounds from ``first`` on, in order."""
        return self._rows("shoe = ? AND row >= ? ORDER BY row", shoe, first)

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
            where = "type = 'command.recorded' AND row > ? AND row <= ? ORDER BY row"
            for near in self._rows(where, row.row, row.row + _DECISION):
                if near.row not in known and json.loads(near.private)["boot"] == what["boot"]:
                    found[near.row] = near
        return [found[number] for number in sorted(found)]
