"""The benchmark's arithmetic: a wrong median or a kind aim would make every figure worthless."""

from __future__ import annotations

import math

import pytest

from tests.bench.figures import Aim, figure, latency_aims, percentile


def test_percentiles_are_values_that_were_measured() -> None:
    assert percentile([5.0, 1.0, 3.0], 0.5) == 3.0
    assert percentile(range(1, 101), 0.99) == 99
    assert percentile([7.0], 0.99) == 7.0
    with pytest.raises(ValueError, match="nothing"):
        percentile([], 0.5)


def test_a_figure_is_in_microseconds_over_all_rounds() -> None:
    found = figure("x", [[1000.0, 3000.0, 2000.0], [8000.0, 9000.0]])
    assert (found.median, found.p99, found.count) == (3.0, 9.0, 5)
    assert found.rounds == (2.0, 8.5)


def test_an_aim_is_met_up_to_its_bound_and_never_by_what_was_not_measured() -> None:
    assert Aim("x", 3.0, 3.0).met
    assert not Aim("x", 3.1, 3.0).met
    assert not Aim("x", math.nan, 3.0).met
    assert "MISSED" in Aim("x", 4.0, 2.0).line()
    assert "2.00" in Aim("x", 4.0, 2.0).line()


def test_the_aims_are_relative_to_the_floors_of_the_same_run() -> None:
    names = {"relay": 100, "commit": 400, "http": 500, "decision": 290, "durable": 900, "acked": 2101}
    aims = latency_aims({name: figure(name, [[value * 1000.0]]) for name, value in names.items()})
    assert [aim.most for aim in aims] == [300.0, 5000.0, pytest.approx(897.0), 2100.0]
    assert [aim.met for aim in aims] == [True, True, False, False]
