"""A whole table and the hand that deals at it: a real runtime, and a shoe on a real wire.

Test rules: no burn, no inspection, results by themselves, betting only with a good link.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tablectl.cards import DECK, Card
from tablectl.config import Config, load_config
from tablectl.core import Durable
from tablectl.demo.files import write_config
from tablectl.demo.scripted_dealer import PitBoss
from tablectl.journal.writer import Batch
from tablectl.local import Client, NotReachable
from tablectl.rules import next_position
from tablectl.runtime import Runtime
from tablectl.scanner import Label
from tablectl.table import Phase
from tests.bench.wires import Wire

CUT_AT = 60
"""Cards left when the cutting card is announced: the hand after it is the last."""


def rules(betting: float) -> dict[str, dict[str, Any]]:
    """House rules with betting windows of so many seconds."""
    return {
        "burn": {"by": "none"},
        "shoe": {"inspection": False},
        "betting": {"seconds": betting, "pips": 0, "link_required": True},
        "dealing": {"confirm": "automatic"},
    }


class DealtTable:
    """``betting``: seconds of a window. ``patience``: how long (s) anything may take."""

    def __init__(
        self,
        folder: Path,
        name: str,
        url: str,
        secret: str,
        seed: int,
        wire: Wire,
        *,
        betting: float,
        patience: float,
    ) -> None:
        self.name = name
        self._wire = wire
        self._patience = patience
        self._random = random.Random(seed)
        self._changed = threading.Condition()
        self._phase = Phase.CLOSED
        self._shoe: list[Card] = []
        path = write_config(
            folder,
            table=name,
            shoe=wire.driver,
            device=wire.device,
            url=url,
            secret=secret,
            pit_boss=PitBoss("bo", "0000"),
            speed=1.0,
            overrides=rules(betting),
            settings=wire.settings,
        )
        self.runtime = self._made(load_config(path))
        self.runtime.start()
        self._client = Client(self.runtime.config.socket_path, patience / 2)

    def _made(self, config: Config) -> Runtime:
        return Runtime(config, on_stored=self._stored)

    def close(self) -> None:
        """Stop the table."""
        self.runtime.stop()
        self._wire.close()

    def _stored(self, durable: Durable, batches: tuple[Batch, ...]) -> None:
        """On the journal's thread."""
        with self._changed:
            self._phase = durable.state.phase
            self._changed.notify_all()

    # --- the dealer -------------------------------------------------------------------------------------

    def _sit_down(self) -> None:
        self._wait(lambda: self.runtime.state.scanner_up, "the scanner")
        self._command("open")
        self._command("sign-in", name="bo", pickup="left")

    def _begin_round(self) -> None:
        """A new shoe or the cutting card where it is time, and the bets open."""
        if self._phase in (Phase.NO_SHOE, Phase.SHUFFLE_DUE):
            self._shoe = list(DECK * 8)
            self._random.shuffle(self._shoe)
            self._wire.standby()
            time.sleep(0.05)
            self._command("shoe new")
        elif len(self._shoe) <= CUT_AT:
            self._command("cut-card")
        self._command("bets open")

    def _hand(self) -> Iterator[bytes]:
        """What the shoe says of each card of a hand, in the order of the rule."""
        player: list[int] = []
        banker: list[int] = []
        while (due := next_position(player, banker)) is not None:
            card = self._shoe.pop()
            yield self._wire.message(Label(due.value), card)
            (player if due.side.value == "player" else banker).append(card.points)

    def _wait(self, until: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + self._patience
        while not until():
            if time.monotonic() > end:
                raise TimeoutError(f"{self.name}: waited for {what}; {self._why()}")
            with self._changed:
                self._changed.wait(0.2)

    def _why(self) -> str:
        state = self.runtime.state
        return f"phase {state.phase.value}, holds {[hold.message for hold in state.holds]}"

    def _command(self, command: str, **args: str) -> None:
        until, answer = time.monotonic() + self._patience, ""
        while time.monotonic() < until:
            with contextlib.suppress(NotReachable):
                body = {"id": uuid.uuid4().hex, "command": command, "args": args}
                accepted, answer = self._client.command(body)
                if accepted:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"{self.name}: {command}: {answer}")
