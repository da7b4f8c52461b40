"""The pure table at full speed: whole shoes through the same ``decide`` and ``evolve`` as the daemon.

There is no port, no clock and no file; time is a number that this module counts up.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tablectl import events as ev
from tablectl.cards import DECK, Card
from tablectl.clock import SECOND, Instant
from tablectl.house import HouseRules
from tablectl.scanner import Arrived, DeviceEvent, DeviceKind, Label, Scan, ScannerRestored
from tablectl.table import Around, Command, Kind, Phase, State, Tick, decide
from tablectl.table.inputs import Expect, Input


@dataclass(slots=True)
class Tally:
    """What came of some shoes."""

    shoes: int = 0
    rounds: int = 0
    cards: int = 0
    seconds: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    rounds_by_shoe: list[int] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """The figures by name, as ``simulate --json`` prints them."""
        mean = self.rounds / self.shoes
        variance = sum((n - mean) ** 2 for n in self.rounds_by_shoe) / max(1, self.shoes - 1)
        return {
            "shoes": self.shoes,
            "rounds": self.rounds,
            "rounds_per_shoe": round(mean, 4),
            "rounds_per_shoe_sd": round(variance**0.5, 4),
            "rounds_per_shoe_range": [min(self.rounds_by_shoe), max(self.rounds_by_shoe)],
            "outcomes": {name: round(n / self.rounds, 6) for name, n in sorted(self.outcomes.items())},
            "cards_per_hand": {
                str(n): round(count / self.rounds, 6) for n, count in sorted(self.lengths.items())
            },
            "cards": self.cards,
            "cards_per_second": round(self.cards / self.seconds) if self.seconds else None,
        }


class Simulation:
    """A table with a dealer who never errs. ``rules`` as configured for a shoe that only streams cards."""

    def __init__(self, rules: HouseRules, seed: int | str) -> None:
        self.rules = rules.resolved(result_button=False)
        self.around = Around(self.rules)
        self.random = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self.state = State()
        self.time = 1
        self.tally = Tally()
        self.shoe: list[Card] = []
        self.cut_at: int | None = None
        self._give(ScannerRestored("simulated", self._now()))
        self._command(Kind.OPEN)
        self._command(Kind.SIGN_IN, name="simulated", pickup="left")
        if self.rules.shoe.inspection:
            self._command(Kind.INSPECT)

    def play_shoe(self) -> None:
        """One shoe from ``shoe new`` to its end."""
        cards = list(DECK * self.rules.shoe.decks)
        self.random.shuffle(cards)
        self.shoe = cards[::-1]
        self.cut_at = self.rules.shoe.cutting_card if self.rules.shoe.share is None else None
        self._command(Kind.SHOE_NEW)
        while self.state.phase is Phase.BURNING:
            self._draw()
        while self.state.phase is Phase.IDLE:
            self._play_round()
        self.tally.shoes += 1
        self.tally.rounds_by_shoe.append(self.state_rounds)

    def _play_round(self) -> None:
        self._command(Kind.BETS_OPEN)
        self.time += int(self.rules.betting.seconds * SECOND)
        self._give(Tick(self._now()))
        dealt = 0
        while self.state.phase in (Phase.NO_MORE_BETS, Phase.DEALING):
            dealt += self._draw()
            if dealt == 4 and self.state.round is not None and not self.state.round.turned:
                self._command(Kind.TURN)
        if self.state.phase is Phase.COMPLETE:
            self._command(Kind.CONFIRM)
        self.tally.rounds += 1
        self.tally.lengths[dealt] += 1

    def _draw(self) -> int:
        """Draw the next card, the cutting card before it if that is next; how many cards came."""
        if len(self.shoe) == self.cut_at:
            self.cut_at = None
            self._give(Arrived(DeviceEvent(DeviceKind.CUT_CARD, b""), self._now()))
        self._give(Arrived(Scan(self.shoe.pop(), Label.NONE, b""), self._now()))
        self.tally.cards += 1
        return 1

    def _now(self) -> Instant:
        self.time += 1
        return Instant(self.time, self.time)

    def _command(self, kind: Kind, **args: str) -> None:
        expect = Expect(version=self.state.version)
        command = Command(
            kind,
            self._now(),
            args=args,
            person="pit",
            supervisor=True,
            reason="training: simulation",
            expect=expect,
        )
        self._give(command)

    def _give(self, given: Input) -> None:
        decision = decide(self.state, given, given.at, self.around)
        if decision.refused or decision.state.held:
            raise AssertionError(f"the simulated dealer erred: {decision}")
        for event in decision.events:
            if isinstance(event, ev.RoundResulted):
                self.tally.outcomes[event.outcome.value] += 1
            elif isinstance(event, ev.ShoeEnded):
                self.state_rounds = event.rounds
        self.state = decision.state


def simulate(rules: HouseRules, shoes: int, seed: int | str) -> Tally:
    """Play ``shoes`` shoes; ``seconds`` of the tally is the processor time it took."""
    simulation = Simulation(rules, seed)
    begun = time.process_time()
    for _ in range(shoes):
        simulation.play_shoe()
    simulation.tally.seconds = time.process_time() - begun
    return simulation.tally
