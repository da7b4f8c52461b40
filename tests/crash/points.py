"""Every boundary of a short shoe, one after the other: a play for each, in which the daemon dies just there.

The n-th of a kind is tried for n = 1, 2, 3 … until a play ends in which that one is not reached.  The next
start dies as well, somewhere by the seed, and the one after that goes on to the end.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.crash import boundaries, taking
from tests.crash.boundaries import Arm, Via
from tests.crash.play import CUT_AT, Crashed, play
from tests.crash.played import Played, compare

AT_A_START = frozenset({"make:before", "make:written", "make:after", "insert:row"})
"""Reached once in the life of a journal; what the game server makes it looks for at every start."""
MOST = 1_000
"""Boundaries of a kind that no short shoe has."""


@dataclass
class Found:
    """What a run over the boundaries came to."""

    boundaries: int = 0
    plays: int = 0
    deaths: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: Found) -> None:
        """Take another run's into the sum."""
        self.boundaries += other.boundaries
        self.plays += other.plays
        self.deaths += other.deaths
        self.faults += other.faults

    def __str__(self) -> str:
        return (
            f"{self.boundaries} boundaries, {self.plays} plays, {self.deaths} deaths, "
            f"{len(self.faults)} went wrong"
        )


def every_boundary(
    protocol: str,
    seed: int,
    via: Via,
    only: Sequence[str] = (),
    cut_at: int = CUT_AT,
    *,
    twice: bool = True,
    every: int = 1,
) -> Iterator[tuple[Arm, Found]]:
    """Die at each boundary, or at those of the kinds ``only``; after each play what was found so far.

    ``every``: at each so-manieth of a kind only, others by another seed; so many seeds in a row try all.
    """
    smooth = play(protocol, seed, via=via, cut_at=cut_at)
    found = Found(plays=1)
    for kind in only or every_kind(via):
        first = 1 + seed % min(every, max(1, smooth.reached[kind]))  # of the rare ones, one at least
        for nth in range(first, MOST, every):
            second = [_somewhere(smooth, via, f"{protocol} {seed} {kind} {nth}")] if twice else []
            arms = [(kind, nth), *second]
            found.plays += 1
            try:
                played = play(protocol, seed, arms, via, cut_at)
                reached = arms[0] in played.deaths
                found.boundaries += reached
                found.deaths += len(played.deaths)
                compare(played, smooth)
            except AssertionError as fault:
                where = f"{protocol} over {via}, seed {seed}, dying at {arms}: "
                found.faults.append(f"{fault}" if isinstance(fault, Crashed) else f"{where}{fault}")
                reached = nth < smooth.reached[kind]
            yield (kind, nth), found
            if not reached:
                break


def every_kind(via: Via) -> tuple[str, ...]:
    """Of the daemon and of the game server."""
    return boundaries.KINDS[via] + taking.KINDS[via]


def _somewhere(smooth: Played, via: Via, seed: str) -> Arm:
    """A boundary that the next process may come to."""
    chance = random.Random(seed)
    kind = chance.choice([k for k in every_kind(via) if k not in AT_A_START and smooth.reached[k]])
    return kind, chance.randint(1, max(1, smooth.reached[kind] // 2))
