"""What follows a commit, on the service loop: a line in the log, the event's way out, a word to the pit.

Nothing is told outside before it is in the journal; here it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tablectl.core import Durable
from tablectl.delivering import Delivering
from tablectl.delivery.instead import INSTEAD, instead_of
from tablectl.events import event_id
from tablectl.journal import Outgoing
from tablectl.journal.rows import Row, decode_row
from tablectl.journal.writer import Batch
from tablectl.outside import Outside
from tablectl.process.life_log import LifeLog
from tablectl.table import State


class AfterCommit:
    """For one table's journal (``epoch``). ``alarm(code, text)`` raises an alert, ``over`` ends it."""

    def __init__(
        self,
        table: str,
        epoch: str,
        outside: Outside,
        delivering: Delivering,
        *,
        alarm: Callable[[str, str], None],
        over: Callable[[str, str], None],
        log: Any,
    ) -> None:
        self._table = table
        self._epoch = epoch
        self._outside = outside
        self._delivering = delivering
        self._alarm = alarm
        self._over = over
        self._unsettled: tuple[tuple[int, int], ...] = ()
        self._life = LifeLog(log)

    def stored(self, durable: Durable, batches: tuple[Batch, ...]) -> None:
        """These rows were committed, and with them the table is as ``durable`` says."""
        fresh: list[Outgoing] = []
        decided = durable.decided
        for batch in batches:
            for row in batch.rows:
                self._life.stored(row)
                if row.where is not None and row.where.type in INSTEAD:
                    self._instead(row)
                if row.sequence is None or row.public is None:
                    continue
                if not fresh and isinstance(batch.token, Durable):
                    decided = batch.token.decided
                fresh.append(
                    Outgoing(row.sequence, event_id(self._table, self._epoch, row.sequence), row.public)
                )
                if row.where is not None and row.where.type == "round.resulted":
                    self._outside.resulted(json.loads(row.public)["data"])
        if durable.state.unsettled != self._unsettled:
            self.tell_unsettled(durable.state)
        if self._delivering.sender is not None:
            self._delivering.sender.wake(durable.state.sequence, decided, fresh)

    def tell_unsettled(self, state: State) -> None:
        """The pit is told of rounds whose bets nobody has settled, at a start again."""
        before, self._unsettled = self._unsettled, state.unsettled
        if before and not state.unsettled:
            self._over("round-unsettled", "Over: every round that was parked has been voided or amended.")
        elif state.unsettled:
            rounds = ", ".join(f"{shoe}/{number}" for shoe, number in state.unsettled)
            self._alarm(
                "round-unsettled",
                f"The game server refused how it ended, and it was parked: round {rounds}. Its bets are "
                "unsettled until it is voided or amended.",
            )

    def _instead(self, row: Row) -> None:
        """A pit boss's word on what goes out in place of something is durable."""
        one = instead_of(decode_row(row)[0], self._table, self._epoch)
        if one is not None and self._delivering.sender is not None:
            self._delivering.sender.sends_instead(one)
