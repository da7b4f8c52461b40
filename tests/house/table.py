"""The table in the container: as the laboratory's (:mod:`tests.lab.table`), with an emulated shoe outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from tablectl.cards import Card
from tablectl.emulation import EmulatedShoe
from tablectl.plugins import load_emulator
from tests.house.machine import Machine
from tests.lab.table import CONFIG, ID, RULES, SOCKET, UNIT, Table

__all__ = ["CONFIG", "ID", "SOCKET", "UNIT", "HouseTable", "shoe"]

SHOE = f"""\
[table]
id = "{ID}"
test = true
rules = "lab"
[scanner]
driver = "bee-tek"
device = "/dev/shoe0"
"""
BURNING = RULES.replace('by = "none"', 'by = "count"')
CARDS = "2C 9D 3H KS " * 8


@contextmanager
def shoe() -> Iterator[tuple[EmulatedShoe, str]]:
    """An emulated shoe and its device on the host."""
    emulated = load_emulator("bee-tek").make(speed=50.0)
    try:
        device = str(Path(emulated.device).resolve())
        Path(device).chmod(0o666)  # the container's group dialout is another than ours
        yield emulated, device
    finally:
        emulated.close()


class HouseTable(Table):
    """With the shoe: what is drawn is read by the daemon inside."""

    def __init__(self, machine: Machine, emulated: EmulatedShoe) -> None:
        super().__init__(cast(Any, machine))  # what a table does to a guest, this one can do as well
        self.machine = machine
        self.emulated = emulated

    def begin(self, text: str = SHOE) -> dict[str, Any]:
        """Configure, start, and wait for the scanner."""
        self.start(text)
        return self.up()

    def in_play(self, cards: int = 2) -> dict[str, Any]:
        """Open, with so many cards of the first hand on the table."""
        self.emulated.load([Card.parse(card) for card in CARDS.split()], [])
        self.open()
        self.bets()
        self.draw(cards)
        return self.state()

    def draw(self, cards: int) -> None:
        """Draw, and wait until the table has counted them."""
        out = self.state()["shoe"]["out"]
        for _ in range(cards):
            assert self.emulated.draw() is not None
        self.out(out + cards)

    def pid(self, unit: str = UNIT) -> str:
        """The daemon's number inside the machine; "0": none runs."""
        return self.machine.show(unit, "MainPID")

    def epoch(self) -> str:
        """Names the journal."""
        answer = self.machine.http(SOCKET, "GET", "/v1/state")
        return str(json.loads(answer.out)["epoch"])
