"""Medians, percentiles and the aims: what the benchmark says of its stamps.  No clock, no I/O."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured many times, in microseconds. ``rounds``: the median of each round."""

    name: str
    median: float
    p99: float
    count: int
    rounds: tuple[float, ...] = ()

    def line(self) -> str:
        """A line of the table that is printed."""
        spread = f"  rounds {min(self.rounds):.0f} to {max(self.rounds):.0f}" if self.rounds else ""
        return f"{self.name:<46} {self.median:>9.0f} {self.p99:>9.0f} {self.count:>6}{spread}"


HEAD = f"{'microseconds':<46} {'median':>9} {'p99':>9} {'n':>6}"


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value which at least ``share`` of them do not exceed. :class:`ValueError` for none."""
    if not values:
        raise ValueError("nothing was measured")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def figure(name: str, rounds: Sequence[Sequence[float]]) -> Figure:
    """All rounds of one thing together. Values in nanoseconds."""
    micros = [[value / 1000 for value in values] for values in rounds if values]
    every = [value for values in micros for value in values]
    return Figure(
        name,
        statistics.median(every) if every else math.nan,
        percentile(every, 0.99),
        len(every),
        tuple(statistics.median(values) for values in micros),
    )


@dataclass(frozen=True, slots=True)
class Aim:
    """What is wanted of one figure. ``measured`` and ``most`` are in ``unit``."""

    name: str
    measured: float
    most: float
    unit: str = "us"
    how: str = ""

    @property
    def met(self) -> bool:
        """Whether it is so. What was not measured (NaN) is not met."""
        return self.measured <= self.most

    def line(self) -> str:
        """A line of the table that is printed: the figure, the most it may be, and their ratio."""
        verdict = "met" if self.met else "MISSED"
        ratio = self.measured / self.most if self.most else math.inf
        return (
            f"{self.name:<46} {self.measured:>9.1f} of {self.most:>9.1f} {self.unit:<3}"
            f" {ratio:>6.2f}  {verdict:<6} {self.how}".rstrip()
        )


def latency_aims(figures: dict[str, Figure]) -> list[Aim]:
    """The aims of a card's way, relative to the floors of the same run."""
    decision, durable, acked = figures["decision"], figures["durable"], figures["acked"]
    relay, commit, http = figures["relay"], figures["commit"], figures["http"]
    return [
        Aim("decision, median", decision.median, 3 * relay.median, how="3 x relay"),
        Aim("decision, p99", decision.p99, 5000.0, how="5 ms"),
        Aim(
            "durable, median",
            durable.median,
            (decision.median + commit.median) * 1.3,
            how="1.3 x (decision + commit)",
        ),
        Aim(
            "acknowledged, median",
            acked.median,
            (durable.median + http.median) * 1.5,
            how="1.5 x (durable + HTTP)",
        ),
    ]
