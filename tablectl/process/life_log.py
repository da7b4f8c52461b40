"""A table's life in the log: rounds, shoes, holds and alerts as the journal has them, each with its round.

One line for what a person looks for at three in the morning, none for a card: no face is ever logged, and an
hour without scanner and server stays a few lines.  Everything else is in the journal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tablectl.journal.rows import Row

TOLD: Mapping[str, tuple[str, ...]] = {
    "table.opened": ("rules",),
    "table.closed": (),
    "dealer.changed": ("dealer",),
    "shoe.started": ("decks",),
    "shoe.ended": ("reason", "rounds", "missing", "extra"),
    "betting.closed": ("reason",),
    "round.resulted": ("outcome", "confirmed_by", "free"),
    "round.voided": ("reason", "approved_by"),
    "round.amended": ("reason", "approved_by", "revision"),
    "hand.corrected": ("reason", "approved_by"),
    "table.held": ("codes",),
    "table.released": ("action", "reason", "approved_by"),
    "scanner.lost": ("reason",),
    "scanner.restored": (),
    "alert.raised": ("alert", "message"),
    "alert.acknowledged": ("alert",),
}
"""Event types that are logged, and which of their fields."""

_BAD = frozenset({"table.held", "scanner.lost", "alert.raised", "round.voided", "round.amended"})


class LifeLog:
    """Writes to ``log``, which knows the table's name already."""

    def __init__(self, log: Any) -> None:
        self._log = log

    def stored(self, row: Row) -> None:
        """A committed row."""
        if row.public is None or row.where is None or row.where.type not in TOLD:
            return
        where, data = row.where, json.loads(row.public)["data"]
        facts = {key: data[key] for key in TOLD[where.type] if data.get(key) not in (None, False, [])}
        if where.shoe is not None:
            facts["round"] = f"{where.shoe}/{'-' if where.round is None else where.round}"
        tell = self._log.warning if where.type in _BAD else self._log.info
        tell(where.type, sequence=row.sequence, **facts)
