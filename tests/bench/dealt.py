"""One table under the stopwatch: real cards on a wire, stamped at every stage of their way.

The table's own runtime plays in this process; the game server is another process.  One card is on its way
at a time, as at a table.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tablectl.config import Config
from tablectl.core import Durable
from tablectl.journal.writer import Batch
from tablectl.runtime import Runtime
from tablectl.scanner import Arrived, Scan
from tablectl.table import Phase
from tests.bench.dealing import DealtTable
from tests.bench.floors import boot
from tests.bench.wires import SerialWire, Wire

BETTING = 0.05
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Way:
    """One card's stamps, all in ns after its bytes were written."""

    read: int
    taken: int
    decision: int
    durable: int
    acked: int


class _Runtime(Runtime):
    """The runtime, which also says what the game server has acknowledged."""

    acknowledged: Callable[[int], None] = staticmethod(lambda sequence: None)

    def _set_acked(self, sequence: int) -> None:
        self.acknowledged(sequence)
        super()._set_acked(sequence)


class BenchTable(DealtTable):
    """A running table and the hand that deals at it."""

    def __init__(
        self,
        folder: Path,
        url: str,
        secret: str,
        seed: int = 1,
        *,
        wire: Wire | None = None,
        table: str = "BENCH",
    ) -> None:
        self._stamps: dict[str, int] = {}
        self._sequence = 0
        self._acked = 0
        super().__init__(
            folder, table, url, secret, seed, wire or SerialWire(), betting=BETTING, patience=PATIENCE
        )
        self._sit_down()

    def _made(self, config: Config) -> Runtime:
        made = _Runtime(config, trace=self._decided, on_stored=self._stored)
        made.acknowledged = self._taken_by_server
        return made

    # --- on the table's own threads ------------------------------------------------------------------

    def _decided(self, given: object, at: int) -> None:
        if isinstance(given, Arrived) and isinstance(given.item, Scan):
            self._stamps["read"] = given.at.boot
            self._stamps["decision"] = at

    def _stored(self, durable: Durable, batches: tuple[Batch, ...]) -> None:
        at = boot()
        with self._changed:
            if "decision" in self._stamps and "durable" not in self._stamps:
                self._stamps["durable"] = at
                self._stamps["taken"] = durable.decided
                self._stamps["sequence"] = durable.state.sequence
            self._sequence = durable.state.sequence
            super()._stored(durable, batches)

    def _taken_by_server(self, sequence: int) -> None:
        at = boot()
        with self._changed:
            if sequence >= self._stamps.get("sequence", 1 << 62):
                self._stamps.setdefault("acked", at)
            self._acked = sequence
            self._changed.notify_all()

    # --- the dealer --------------------------------------------------------------------------------------

    def deal(self, count: int, pause: float) -> list[Way]:
        """At least ``count`` cards in whole hands, each ``pause`` s after the one before was acknowledged."""
        found: list[Way] = []
        while len(found) < count:
            self._begin_round()
            self._wait(
                lambda: self._phase is Phase.NO_MORE_BETS and self._acked == self._sequence,
                "the close of betting",
            )
            for message in self._hand():
                time.sleep(pause)
                found.append(self._one(message))
        return found

    def _one(self, message: bytes) -> Way:
        with self._changed:
            self._stamps.clear()
        begun = boot()
        self._wire.say(message)
        with self._changed:
            if not self._changed.wait_for(lambda: "acked" in self._stamps, PATIENCE):
                raise TimeoutError(f"a card did not arrive: only {sorted(self._stamps)}; {self._why()}")
            stamps = dict(self._stamps)
            self._stamps.clear()
        return Way(*(stamps[name] - begun for name in ("read", "taken", "decision", "durable", "acked")))
