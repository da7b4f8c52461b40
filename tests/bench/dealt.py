"""One table under the stopwatch: real cards on a pseudo-terminal, stamped at every stage of their way.

The table's own runtime plays in this process under test rules (no burn, short windows, results by
themselves, betting only with a good link); the game server is another process.  One card is on its way
at a time, as at a table.
"""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tablectl.cards import DECK, Card
from tablectl.config import load_config
from tablectl.core import Durable
from tablectl.demo.files import write_config
from tablectl.journal_writer import Batch
from tablectl.local import Client
from tablectl.rules import next_position
from tablectl.runtime import Runtime
from tablectl.scanner import Arrived, Label, Scan
from tablectl.scripted_dealer import PitBoss
from tablectl.table import Phase
from tests.bench.floors import boot
from tests.bench.wires import SerialWire, Wire

RULES: dict[str, dict[str, Any]] = {
    "burn": {"by": "none"},
    "shoe": {"inspection": False},
    "betting": {"seconds": 0.05, "pips": 0, "link_required": True},
    "dealing": {"confirm": "automatic"},
}
PATIENCE = 10.0
CUT_AT = 60
"""Cards left when the cutting card is announced: the hand after it is the last."""


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


class BenchTable:
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
        self._random = random.Random(seed)
        self._wire = wire or SerialWire()
        self._changed = threading.Condition()
        self._stamps: dict[str, int] = {}
        self._sequence = 0
        self._acked = 0
        self._phase = Phase.CLOSED
        self._shoe: list[Card] = []
        path = write_config(
            folder,
            table=table,
            shoe=self._wire.driver,
            device=self._wire.device,
            url=url,
            secret=secret,
            pit_boss=PitBoss("bench", "0000"),
            speed=1.0,
            overrides=RULES,
            settings=self._wire.settings,
        )
        self._runtime = _Runtime(load_config(path), trace=self._decided, on_stored=self._stored)
        self._runtime.acknowledged = self._taken_by_server
        self._runtime.start()
        self._client = Client(self._runtime.config.socket_path)
        self._wait(lambda: self._runtime.state.scanner_up, "the scanner")
        self._command("open")
        self._command("sign-in", name="bench", pickup="left")

    def close(self) -> None:
        """Stop the table."""
        self._runtime.stop()
        self._wire.close()

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
            self._phase = durable.state.phase
            self._changed.notify_all()

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
            player: list[int] = []
            banker: list[int] = []
            while (due := next_position(player, banker)) is not None:
                card = self._shoe.pop()
                time.sleep(pause)
                found.append(self._one(self._wire.message(Label(due.value), card)))
                (player if due.side.value == "player" else banker).append(card.points)
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

    def _begin_round(self) -> None:
        if self._phase in (Phase.NO_SHOE, Phase.SHUFFLE_DUE):
            self._shoe = list(DECK * 8)
            self._random.shuffle(self._shoe)
            self._wire.standby()
            time.sleep(0.05)
            self._command("shoe new")
        elif len(self._shoe) <= CUT_AT:
            self._command("cut-card")
        self._command("bets open")
        self._wait(
            lambda: self._phase is Phase.NO_MORE_BETS and self._acked == self._sequence,
            "the close of betting",
        )

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > end:
                raise TimeoutError(f"waited for {what}; {self._why()}")
            with self._changed:
                self._changed.wait(0.02)

    def _why(self) -> str:
        state = self._runtime.state
        return f"phase {state.phase.value}, holds {[h.message for h in state.holds]}"

    def _command(self, command: str, **args: str) -> None:
        until = time.monotonic() + PATIENCE
        while True:
            accepted, answer = self._client.command(
                {"id": uuid.uuid4().hex, "command": command, "args": args}
            )
            if accepted:
                return
            if time.monotonic() > until:
                raise RuntimeError(answer)
            time.sleep(0.05)
