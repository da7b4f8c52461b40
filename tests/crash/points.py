"""Every boundary of a short shoe, one after the other: a play for each, in which the daemon dies just there.

The n-th of a kind is tried for n = 1, 2, 3 … until a play ends in which that one is not reached.  The next
start dies as well, somewhere by the seed, and the one after that goes on to the end.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.crash.boundaries import KINDS, Arm
from tests.crash.play import CUT_AT, Played, compare, play

AT_A_START = frozenset({"make:before", "make:written", "make:after"})
"""Reached once in the life of a journal."""
MOST = 1_000
"""Boundaries of a kind that no short shoe has."""


@dataclass
class Found:
    """What a run over the boundaries came to."""

    plays: int = 0
    deaths: int = 0
    faults: list[str] = field(default_factory=list)


def every_boundary(
    protocol: str, seed: int, kinds: Sequence[str] = KINDS, cut_at: int = CUT_AT, *, twice: bool = True
) -> Iterator[tuple[Arm, Found]]:
    """Die at each boundary of these kinds; after each play what was found so far."""
    smooth = play(protocol, seed, cut_at=cut_at)
    found = Found(plays=1)
    for kind in kinds:
        for nth in range(1, MOST):
            arms = [(kind, nth), *([_somewhere(smooth, f"{protocol} {seed} {kind} {nth}")] if twice else [])]
            found.plays += 1
            try:
                played = play(protocol, seed, arms, cut_at)
                reached = arms[0] in played.deaths
                found.deaths += len(played.deaths)
                compare(played, smooth)
            except AssertionError as fault:
                found.faults.append(f"{protocol}, seed {seed}, dying at {arms}: {fault}")
                reached = nth < smooth.reached[kind]
            yield (kind, nth), found
            if not reached:
                break


def _somewhere(smooth: Played, seed: str) -> Arm:
    """A boundary that the next process may come to."""
    chance = random.Random(seed)
    kind = chance.choice([k for k in KINDS if k not in AT_A_START and smooth.reached[k]])
    return kind, chance.randint(1, max(1, smooth.reached[kind] // 2))
