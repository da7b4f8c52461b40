"""A dealer and a pit boss who live through crashes by the rules, and a console that notes what it is told.

The cards of every shoe follow from the seed, whatever happens; a card that was drawn and not read is
entered by the pit boss where it lies.  So a play with crashes must come to the same rounds as one without.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tablectl.cards import Card
from tablectl.demo.scripted_dealer import ScriptedDealer
from tablectl.local import Client, NotReachable

AGAIN = 0.02
"""Seconds between two tries to reach a daemon that is being started."""


@dataclass
class Told:
    """What left the daemon: answers by command id, states as (row, sequence), events of the stream."""

    answers: dict[str, tuple[bool, str]] = field(default_factory=dict)
    states: set[tuple[int, int]] = field(default_factory=set)
    events: list[str] = field(default_factory=list)


class Console(Client):
    """Repeats a command under the same id until it is answered, as a person's console does."""

    def __init__(self, path: Path, told: Told, stop: Callable[[], bool]) -> None:
        super().__init__(path)
        self._told = told
        self._stop = stop

    def state(self, newer: int | None = None) -> dict[str, Any]:
        found = super().state(newer)
        self._told.states.add((found["row"], found["sequence"]))
        return found

    def command(self, command: Mapping[str, Any]) -> tuple[bool, str]:
        while True:
            try:
                status, body = self.post("/v1/commands", command)
            except NotReachable:
                if self._stop():
                    raise
                time.sleep(AGAIN)
                continue
            if "accepted" in body:  # 503 and the like are no answer of the table
                self._told.answers[str(command["id"])] = body["accepted"], body["answer"]
            return status == 200, str(body.get("answer") or body.get("error") or status)


class Follower:
    """Follows the event stream from its beginning, over every restart; call :meth:`follow` in a thread."""

    def __init__(self, path: Path, told: Told, stop: Callable[[], bool]) -> None:
        self._client = Client(path)
        self._told = told
        self._stop = stop

    def follow(self) -> None:
        while not self._stop():
            try:
                for event in self._client.events(f"/v1/events?after={len(self._told.events)}"):
                    self._told.events.append(event)
            except NotReachable:
                time.sleep(AGAIN)


class SteadyDealer(ScriptedDealer):
    """A scripted dealer whose shoes follow from the seed, with a pit boss who enters what was not read."""

    def __init__(self, *given: Any, seed: int, **options: Any) -> None:
        super().__init__(*given, seed=seed, **options)
        self._seed = seed
        self._drawn = 0

    def _new_shoe(self, state: dict[str, Any]) -> bool:
        self._random = random.Random(f"{self._seed} {self.ledger.shoes}")
        self._drawn = 0
        return super()._new_shoe(state)

    def _draw(self, state: dict[str, Any], *, burn: bool = False) -> Card | None:
        self._drawn += 1
        return super()._draw(state, burn=burn)

    def _on_hold(self, state: dict[str, Any]) -> None:
        ways = {way["action"] for way in state["ways"]}
        missing = None if state["kept"] or "enter" not in ways else self._missing(state)
        if missing is not None:
            self._supervised(
                "enter",
                {"position": state["round"]["due"], "card": missing},
                state,
                "training: it lies there",
            )
        elif "keep" in ways and self._screen_is_right(state):
            self._supervised("release", {"action": "keep"}, state, "training: both were drawn")
        elif state["phase"] == "burning" and "burn done" in ways and self._drawn > state["shoe"]["out"]:
            self._supervised("burn done", {"count": "1"}, state, "training: it was burned")
        elif state["phase"] == "burning" and "cards-confirmed" in ways:
            self._supervised("release", {"action": "cards-confirmed"}, state, "training: cards counted")
        else:
            super()._on_hold(state)

    def _missing(self, state: dict[str, Any]) -> str | None:
        """The one card that lies there behind those on the screen."""
        laid = state["round"]["cards"] if state["round"] else {}
        order = [laid[p] for p in ("P1", "B1", "P2", "B2", "P3", "B3") if p in laid]
        table = [str(card) for card in self._table]
        return table[-1] if table[:-1] == order and len(table) == len(order) + 1 else None
