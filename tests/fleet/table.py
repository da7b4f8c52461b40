"""One table of the fleet: a real runtime on a pseudo-terminal, and the hand that deals at it in time."""

from __future__ import annotations

import contextlib
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
from tablectl.local import Client, NotReachable
from tablectl.rules import next_position
from tablectl.runtime import Runtime
from tablectl.scanner import Label
from tablectl.scripted_dealer import PitBoss
from tablectl.table import Phase
from tests.bench.wires import SerialWire

PATIENCE = 60.0
CUT_AT = 60
"""Cards left when the cutting card is announced."""
BETTING = 0.35
CARD = 0.08
"""Parts of a round: the betting window, and the pause before each card."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result: its event's sequence, and when (boot ns) its last card was decided."""

    table: str
    sequence: int
    decided: int


def rules(seconds: float) -> dict[str, dict[str, Any]]:
    """House rules of a table whose rounds last so long."""
    return {
        "burn": {"by": "none"},
        "shoe": {"inspection": False},
        "betting": {"seconds": seconds * BETTING, "pips": 0, "link_required": True},
        "dealing": {"confirm": "automatic"},
    }


class FleetTable:
    """``seconds``: how long one round lasts from one opening of the bets to the next."""

    def __init__(self, folder: Path, name: str, url: str, secret: str, seconds: float, seed: int) -> None:
        self.name = name
        self.results: list[Result] = []
        self.late = 0
        self._seconds = seconds
        self._random = random.Random(seed)
        self._wire = SerialWire()
        self._changed = threading.Condition()
        self._phase = Phase.CLOSED
        self._shoe: list[Card] = []
        path = write_config(
            folder,
            table=name,
            shoe=self._wire.driver,
            device=self._wire.device,
            url=url,
            secret=secret,
            pit_boss=PitBoss("fleet", "0000"),
            speed=1.0,
            overrides=rules(seconds),
            settings=self._wire.settings,
        )
        self.runtime = Runtime(load_config(path), on_stored=self._stored)
        self.runtime.start()
        self._client = Client(self.runtime.config.socket_path, 30.0)

    def close(self) -> None:
        self.runtime.stop()
        self._wire.close()

    def _stored(self, durable: Durable, batches: tuple[Batch, ...]) -> None:
        """On the journal's thread."""
        for batch in batches:
            for row in batch.rows:
                if row.where is not None and row.where.type == "round.resulted" and row.sequence is not None:
                    assert isinstance(batch.token, Durable)
                    self.results.append(Result(self.name, row.sequence, batch.token.decided))
        with self._changed:
            self._phase = durable.state.phase
            self._changed.notify_all()

    # --- the dealer -----------------------------------------------------------------------------------------

    def play(self, rounds: int, begin: float) -> None:
        """So many rounds, the first one at ``begin`` (monotonic s) or, in a fleet, somewhat later."""
        self._wait(lambda: self.runtime.state.scanner_up, "the scanner")
        self._command("open")
        self._command("sign-in", name="fleet", pickup="left")
        due = begin + self._random.random() * self._seconds
        for _ in range(rounds):
            time.sleep(max(0.0, due - time.monotonic()))
            self.late += time.monotonic() > due + self._seconds / 2
            due = max(due, time.monotonic() - self._seconds / 2) + self._seconds
            self._round()
        if self._phase is Phase.IDLE:
            self._wait(lambda: not self.runtime.state.holds, "no hold")

    def _round(self) -> None:
        if self._phase in (Phase.NO_SHOE, Phase.SHUFFLE_DUE):
            self._shoe = list(DECK * 8)
            self._random.shuffle(self._shoe)
            self._wire.standby()
            time.sleep(0.05)
            self._command("shoe new")
        elif len(self._shoe) <= CUT_AT:
            self._command("cut-card")
        self._command("bets open")
        self._wait(lambda: self._phase is Phase.NO_MORE_BETS, "the close of betting")
        player: list[int] = []
        banker: list[int] = []
        known = len(self.results)
        while (due := next_position(player, banker)) is not None:
            time.sleep(self._seconds * CARD)
            card = self._shoe.pop()
            self._wire.say(self._wire.message(Label(due.value), card))
            (player if due.side.value == "player" else banker).append(card.points)
        self._wait(lambda: len(self.results) > known, "the result")
        self._wire.standby()

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            if time.monotonic() > end:
                state = self.runtime.state
                holds = [hold.message for hold in state.holds]
                raise TimeoutError(
                    f"{self.name}: waited for {what}; phase {state.phase.value}, holds {holds}"
                )
            with self._changed:
                self._changed.wait(0.2)

    def _command(self, command: str, **args: str) -> None:
        until, answer = time.monotonic() + PATIENCE, ""
        while time.monotonic() < until:
            with contextlib.suppress(NotReachable):
                body = {"id": uuid.uuid4().hex, "command": command, "args": args}
                accepted, answer = self._client.command(body)
                if accepted:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"{self.name}: {command}: {answer}")

    @property
    def owed(self) -> int:
        """Events that the stream has not stored."""
        sender = self.runtime.delivery
        box = None if sender is None else sender.outbox
        return self.runtime.state.sequence if box is None else self.runtime.state.sequence - box.acked
