"""Hours of play on every protocol with a bad line and a clumsy dealer: no wrong result, every hold explained.

Each seed is a shift of its own; ``python -m tests.shift PROTOCOL SEED`` plays it again, exactly.
"""

from __future__ import annotations

import os

import pytest

from tests.shift.protocols import PROTOCOLS
from tests.shift.shift import Shift
from tests.shift.truth import Wrong

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
HOURS = 8.0 if SOAK else 0.3
SEEDS = range(1, 11) if SOAK else range(1, 3)

each = pytest.mark.parametrize("name", sorted(PROTOCOLS))


@pytest.mark.soak
@pytest.mark.timeout(900 if SOAK else 60)
@each
@pytest.mark.parametrize("seed", SEEDS)
def test_no_result_is_wrong_and_every_hold_has_a_cause(name: str, seed: int) -> None:
    tally = Shift(PROTOCOLS[name], seed).play(HOURS)
    assert tally.results > 15 * HOURS
    assert tally.results + tally.voids == tally.rounds


@each
def test_everything_that_can_go_wrong_does(name: str) -> None:
    left = set(PROTOCOLS[name].faults) - {"cut-mid-hand"}  # once a shoe, late
    for seed in range(1, 30):
        if left:
            shift = Shift(PROTOCOLS[name], seed, rare=5)
            shift.play(0.3)
            left -= set(shift.truth.tally.faults)
    assert not left


@each
def test_without_faults_nothing_is_held(name: str) -> None:
    tally = Shift(PROTOCOLS[name], 5, rare=1e9).play(0.3)
    assert not tally.holds
    assert not tally.voids
    assert tally.results > 15


@each
def test_a_seed_is_the_same_shift_again(name: str) -> None:
    one, again, other = (Shift(PROTOCOLS[name], seed, rare=10) for seed in (7, 7, 8))
    for shift in (one, again, other):
        shift.play(0.1)
    assert one.truth.results == again.truth.results
    assert one.truth.tally == again.truth.tally
    assert one.truth.results != other.truth.results


def test_a_hold_that_nothing_led_to_is_found() -> None:
    shift = Shift(PROTOCOLS["angel-eye"], 1, rare=1e9)
    with pytest.raises(Wrong, match="hold card-conflict without a cause"):
        shift.truth.held("card-conflict")
