"""What a table would make of a recording: its pure rules, played from a sound beginning.

A recording begins anywhere. If its first cards are labelled burn cards, they are those of a new shoe; else it
is played as if the burn were done and betting closed just before its first card. Before a card that comes
between two rounds the bets are opened and closed, as the dealer did at the real table; a hold ends nothing,
what comes next is played into it.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tablectl.clock import SECOND, Instant
from tablectl.house import HouseRules
from tablectl.scanner import Arrived, Item, Label, Scan, ScannerRestored, Traits
from tablectl.table import (
    Around,
    Command,
    Decision,
    Expect,
    Kind,
    Phase,
    Say,
    Started,
    State,
    Tick,
    decide,
    next_deadline,
)

_START = Instant(10**12, 1_790_000_000 * SECOND)
_BURNS = frozenset({Label.BURN, Label.BURN_COUNT})


@dataclass(frozen=True, slots=True)
class Step:
    """What one item did, and where the table is after it. ``holds``: new ones; ``said``: to the dealer."""

    events: tuple[str, ...]
    holds: tuple[str, ...]
    said: tuple[str, ...]
    phase: str
    where: str


def burns_at_begin(items: Sequence[Item]) -> int:
    """How many cards are labelled burn cards before the first that is not."""
    cards = [item for item in items if isinstance(item, Scan)]
    return sum(1 for _ in itertools.takewhile(lambda card: card.label in _BURNS, cards))


class Rehearsal:
    """Betting closes as the first card comes, or the shoe is new and ``burns`` cards are to be burned."""

    def __init__(self, rules: HouseRules, traits: Traits, *, burns: int) -> None:
        rules = rules.resolved(result_button=traits.has_result_button)
        rules = dataclasses.replace(
            rules,
            shoe=dataclasses.replace(rules.shoe, inspection=False),
            betting=dataclasses.replace(rules.betting, link_required=False, opens="command"),
            burn=dataclasses.replace(rules.burn, by="count", scanned=True, after_shuffle=min(burns, 20)),
        )
        self._around = Around(rules, traits)
        self.state = State()
        self._now = _START
        self._give(Started(self._now, "rehearsal"))
        self._give(ScannerRestored("recording", self._now))
        self._command(Kind.OPEN)
        self._command(Kind.SIGN_IN, name="recording", pickup="left")
        self._command(Kind.SHOE_NEW)
        # No round yet: what the shoe says before its first card (stand-by, start) it says between two rounds.

    def play(self, at: int, item: Item) -> Step:
        """One item ``at`` ns since the recording's start."""
        self._pass_to(at)
        if isinstance(item, Scan):
            self._between_rounds()
        before = {hold.code for hold in self.state.holds}
        decision = self._give(Arrived(item, self._now))
        said = tuple(effect.text for effect in decision.effects if isinstance(effect, Say))
        events = tuple(type(event).TYPE for event in decision.events if type(event).PUBLIC)
        holds = tuple(hold.message for hold in self.state.holds if hold.code not in before)
        return Step(events, holds, said, self.state.phase.value, self.state.where)

    def _between_rounds(self) -> None:
        if self.state.held:
            return
        if self.state.phase is Phase.IDLE:
            self._command(Kind.BETS_OPEN)
        if self.state.phase is Phase.BETTING:
            self._command(Kind.BETS_CLOSE)

    def _pass_to(self, at: int) -> None:
        """Let the table's own deadlines come due."""
        until = max(self._now.boot, _START.boot + at)
        while (deadline := next_deadline(self.state)) is not None and deadline <= until:
            self._now = Instant(max(self._now.boot, deadline), _START.wall_at(deadline))
            self._give(Tick(self._now))
            if next_deadline(self.state) == deadline:
                break
        self._now = Instant(until, _START.wall_at(until))

    def _command(self, kind: Kind, **args: str) -> None:
        given = Command(
            kind, self._now, "rehearsal", args, "recording", True, expect=Expect(version=self.state.version)
        )
        self._give(given)

    def _give(self, given: Arrived | Command | Started | ScannerRestored | Tick) -> Decision:
        decision = decide(self.state, given, self._now, self._around)
        self.state = decision.state
        return decision
