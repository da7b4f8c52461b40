"""Whatever is asked and told, in whatever order: no stake is paid twice, and no event stops the table.

A controller with a fault, and a player with a program of their own, send what nobody meant. Each step here
is drawn at random, most of them unlawful; after each one the books are right, and what was refused has
changed nothing.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tablectl.cards import Position
from tablectl.events import CardDealt, RoundAmended, RoundVoided, TableClosed, TableOpened
from tablectl.gameserver.betting import Window
from tablectl.profiles import load_rules
from tests.gameserver.posting import EPOCH
from tests.gameserver.wagering import DEALT, Wagering, data_of, result, set_aside

SOAK = "TABLECTL_SOAK" in os.environ
GAMES, STEPS = (1500, 80) if SOAK else (20, 50)
AREAS = ("player", "banker", "tie", "player_pair", "banker_pair", "2-way", "3-way")
START = 10_000_00


class Anyhow:
    """One table, and two players of whom nobody knows what they want."""

    def __init__(self, path: Path, chance: random.Random) -> None:
        profile = chance.choice(["live-casino", "classic", "commission-free", "atlantic-city"])
        self.chance = chance
        self.table = Wagering(path, load_rules(profile))
        self.table.opened()
        self.players = [self.table.player(name, START) for name in ("ann", "bob")]
        self.ever_closed: set[tuple[int, int]] = set()
        self.deposits = 2 * START

    def round(self) -> int:
        """Most often the newest."""
        return self.table.round if self.chance.random() < 0.7 else self.chance.randint(1, 4)

    def step(self) -> None:
        often, seldom = (self.opens, self.ends, self.places), (self.closes, self.deals, self.table_or_shoe)
        rest = (self.takes_back, self.parks, self.amends, self.voids)
        act: Callable[[], None] = self.chance.choice([*often, *often, *rest, *rest, *seldom])
        act()

    def places(self) -> None:
        areas = self.chance.choices(["player", "banker", "tie", "two_way", "three_way"], k=3)
        self.table.place(self.chance.choice(self.players), **dict.fromkeys(areas, 1000))

    def takes_back(self) -> None:
        areas = self.chance.choices(AREAS, k=self.chance.randint(0, 6))
        self.table.take_back(self.chance.choice(self.players), *areas)

    def opens(self) -> None:
        if self.chance.random() < 0.6:
            self.table.round += 1
        events = [self.table.opening()] + [self.table.closing()] * (self.chance.random() < 0.3)
        self._told(self.table.tell(*events))
        for follows in (self.places, self.places, self.takes_back):
            if self.chance.random() < 0.5:
                follows()

    def closes(self) -> None:
        self._told(self.table.tell(self.table.closing()))

    def deals(self) -> None:
        told = CardDealt(
            shoe=self.table.shoe, round=max(1, self.table.round), position=Position.P1, card="8S", points=8,
            total=8, source="scanner", next="banker",
        )  # fmt: skip
        self._told(self.table.tell(told))

    def ends(self) -> None:
        told = result(self._dealt(), max(1, self.round()), self.table.shoe, self.table.rules)
        self._told(self.table.tell(told))

    def _dealt(self) -> str:
        return self.chance.choice([*DEALT, "tie", "tie"])

    def parks(self) -> None:
        self._told(self.table.tell(set_aside(max(1, self.round()), shoe=self.table.shoe)))

    def amends(self) -> None:
        shoe, number = self.table.shoe, max(1, self.round())
        held = self.table.store.round("T07", EPOCH, shoe, number)
        revision = (held.revision if held else 0) + 1
        after = data_of(result(self._dealt(), number, shoe, self.table.rules, revision=revision))
        before = held.result if held is not None and "bets" in held.result else after
        told = RoundAmended(
            shoe=shoe, round=number, before=before, after=after, reason="x", approved_by="bo",
            revision=revision,
        )  # fmt: skip
        self._told(self.table.tell(told))

    def voids(self) -> None:
        number = max(1, self.round())
        told = RoundVoided(shoe=self.table.shoe, round=number, reason="x", cards={}, approved_by="bo")
        self._told(self.table.tell(told))

    def table_or_shoe(self) -> None:
        if self.chance.random() < 0.4:
            self.table.shoe, self.table.round = self.table.shoe + 1, 0
            self.table.new_shoe()
        elif self.chance.random() < 0.5:
            self._told(self.table.tell(TableClosed()))
        else:
            limits = self.table.rules.as_dict()["limits"]
            told = TableOpened(
                rules="x", currency=limits["currency"], limits=limits["bets"],
                max_winnings=limits["max_winnings"],
            )  # fmt: skip
            self._told(self.table.tell(told))

    def _told(self, status: int) -> None:
        assert status in (200, 422), status

    def is_right(self) -> None:
        ledger, currency = self.table.bank.ledger, self.table.rules.limits.currency
        assert self.table.sound()
        lying = ledger.balance("stakes/T07", currency)
        purses = sum(self.table.balance(player) for player in self.players)
        assert lying >= 0
        assert purses + lying + ledger.balance("house", currency) == self.deposits
        self._windows_stay_closed()
        for player in self.players:
            on_the_table = self.table.bank.book.lying("T07", player.name)
            stands = [wager.part for wager in on_the_table if wager.state == "stands"]
            assert len(stands) == len(set(stands)), "two stakes of a player stand on one area"

    def _windows_stay_closed(self) -> None:
        """Betting on a round is over once, whatever comes after."""
        window: Window | None = self.table.intake.window("T07")[0]
        if window is None or not isinstance(window.shoe, int) or not isinstance(window.round, int):
            return
        place = window.shoe, window.round
        if self.table.bank.now("T07").reason is None:
            assert place not in self.ever_closed, f"betting on {place} is open again"
        elif window.why:
            self.ever_closed.add(place)


@pytest.mark.soak
@pytest.mark.timeout(1800 if SOAK else 60)
@pytest.mark.parametrize("part", range(6 if SOAK else 1))
def test_the_books_are_right_after_every_step(tmp_path: Path, part: int) -> None:
    for game in range(part, GAMES, 6 if SOAK else 1):
        chance = random.Random(game)
        anyhow = Anyhow(tmp_path / f"{game}.db", chance)
        for step in range(STEPS):
            try:
                anyhow.step()
                anyhow.is_right()
            except Exception as fault:
                raise AssertionError(f"game {game}, step {step}") from fault
        anyhow.table.store.close()
