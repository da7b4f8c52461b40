"""One table of the fleet: a whole table on a pseudo-terminal, dealt at in time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from tablectl.core import Durable
from tablectl.journal.writer import Batch
from tablectl.table import Phase
from tests.bench.dealing import DealtTable
from tests.bench.wires import SerialWire

PATIENCE = 60.0
BETTING = 0.35
CARD = 0.08
"""Parts of a round: the betting window, and the pause before each card."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result: its event's sequence, and when (boot ns) its last card was decided."""

    table: str
    sequence: int
    decided: int


class FleetTable(DealtTable):
    """``seconds``: how long one round lasts from one opening of the bets to the next."""

    def __init__(self, folder: Path, name: str, url: str, secret: str, seconds: float, seed: int) -> None:
        self.results: list[Result] = []
        self.late = 0
        self._seconds = seconds
        super().__init__(
            folder, name, url, secret, seed, SerialWire(), betting=seconds * BETTING, patience=PATIENCE
        )

    def _stored(self, durable: Durable, batches: tuple[Batch, ...]) -> None:
        for batch in batches:
            for row in batch.rows:
                if row.where is not None and row.where.type == "round.resulted" and row.sequence is not None:
                    assert isinstance(batch.token, Durable)
                    self.results.append(Result(self.name, row.sequence, batch.token.decided))
        super()._stored(durable, batches)

    def play(self, rounds: int, begin: float) -> None:
        """So many rounds, the first one at ``begin`` (monotonic s) or, in a fleet, somewhat later."""
        self._sit_down()
        due = begin + self._random.random() * self._seconds
        for _ in range(rounds):
            time.sleep(max(0.0, due - time.monotonic()))
            self.late += time.monotonic() > due + self._seconds / 2
            due = max(due, time.monotonic() - self._seconds / 2) + self._seconds
            self._round()
        if self._phase is Phase.IDLE:
            self._wait(lambda: not self.runtime.state.holds, "no hold")

    def _round(self) -> None:
        self._begin_round()
        self._wait(lambda: self._phase is Phase.NO_MORE_BETS, "the close of betting")
        known = len(self.results)
        for message in self._hand():
            time.sleep(self._seconds * CARD)
            self._wire.say(message)
        self._wait(lambda: len(self.results) > known, "the result")
        self._wire.standby()

    @property
    def owed(self) -> int:
        """Events that the stream has not stored."""
        sender = self.runtime.delivery
        box = None if sender is None else sender.outbox
        return self.runtime.state.sequence if box is None else self.runtime.state.sequence - box.acked
