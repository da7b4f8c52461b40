"""Kill -9 at random moments of a play that goes on: nothing is lost, nothing told twice.

``python -m tests.crash kills`` does it two thousand times.
"""

from __future__ import annotations

import random

import pytest

from tests.crash.kills import kill_at_random
from tests.e2e.harness import SOAK


@pytest.mark.soak
@pytest.mark.timeout(900 if SOAK else 60)
@pytest.mark.parametrize("protocol", ["angel-eye", "bee-tek"] if SOAK else ["bee-tek"])
def test_killed_at_random_moments_nothing_is_lost_or_told_twice(protocol: str) -> None:
    seed = random.SystemRandom().randrange(10**6) if SOAK else 1
    print(f"seed {seed}")  # pytest shows it when the test fails
    found = kill_at_random(protocol, seed, 200 if SOAK else 2)
    assert found.kills and found.cards
    if SOAK:
        assert found.rounds  # two kills may both fall into the burn of a shoe
