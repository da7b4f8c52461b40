"""Hours of play with faults on every side at once; ``python -m tests.day SEED`` plays a whole day."""

from __future__ import annotations

import random

import pytest

from tests.day.day import Day
from tests.e2e.harness import SOAK

HOURS, SPEED, OFTEN = (4.0, 100.0, 4.0) if SOAK else (0.4, 1000.0, 2.0)
GROWS_MB = 12.0


@pytest.mark.soak
@pytest.mark.timeout(900 if SOAK else 90)
@pytest.mark.parametrize("protocol", ["angel-eye", "bee-tek"] if SOAK else ["angel-eye"])
def test_journal_server_and_cards_agree_after_all_of_it(protocol: str) -> None:
    seed = random.SystemRandom().randrange(10**6) if SOAK else 1
    print(f"seed {seed}")  # pytest shows it when the test fails
    figures = Day(protocol, seed, HOURS, SPEED, OFTEN).play()
    assert figures.rows
    if SOAK:
        assert figures.faults
        assert figures.results > 5 * HOURS
        for name, (before, after) in figures.memory.items():
            assert after - before < GROWS_MB, f"{name} grew from {before:.0f} to {after:.0f} MB"
        for name, (fewer, more) in figures.descriptors.items():
            assert abs(more - fewer) <= 5, f"{name}: {fewer} descriptors, then {more}"
