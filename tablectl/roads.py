"""Score boards ("roads"): what a table draws of the results of a shoe.  Rules: baccarat, "Score boards".

Theory of operation.  Everything here is made from one list, the results of the shoe in order, so a board
after a correction is the board of the corrected list and nothing is ever patched.  Voided rounds are not in
that list.  A *run* is a row of results of one side, ties left out; the derived roads look at the lengths of
the runs alone, never at where the big road had room to draw them.

The bead plate has every result.  The big road has a run down a column; a run with no room below turns right
and stays in its row (dragon tail).  Each derived road asks, with k = 1, 2, 3 (big eye boy, small road,
cockroach pig), whether the big road repeats itself k columns later: red says yes, blue no.  They are drawn
as a big road of colours.

Columns and rows count from 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Generic, TypeVar

from tablectl.cards import Outcome, Side

ROWS = 6
"""Of every board."""

T = TypeVar("T")


class Colour(StrEnum):
    """An entry of a derived road."""

    RED = "red"
    BLUE = "blue"


class Road(StrEnum):
    """The derived roads."""

    BIG_EYE_BOY = "big-eye-boy"
    SMALL_ROAD = "small-road"
    COCKROACH_PIG = "cockroach-pig"


LAGS = {Road.BIG_EYE_BOY: 1, Road.SMALL_ROAD: 2, Road.COCKROACH_PIG: 3}
"""How many runs back each one looks (k)."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One result as far as a board shows it."""

    outcome: Outcome
    player_pair: bool = False
    banker_pair: bool = False
    natural: bool = False


@dataclass(frozen=True, slots=True)
class Placed(Generic[T]):
    """Something on a grid."""

    column: int
    row: int
    what: T


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the big road. ``side`` None: only ties so far. ``ties``: lines drawn through it."""

    column: int
    row: int
    side: Side | None
    ties: int = 0
    player_pair: bool = False
    banker_pair: bool = False


def bead_plate(marks: Sequence[Mark]) -> tuple[Placed[Mark], ...]:
    """Every result, column by column."""
    return tuple(Placed(*divmod(number, ROWS), mark) for number, mark in enumerate(marks))


def layout(things: Iterable[T]) -> tuple[Placed[T], ...]:
    """Runs of equal things as columns on a grid without an end to the right.

    A run begins on top, in the first free column right of where the one before began. It goes down while
    there is room, else right, and then stays in its row.
    """
    taken: set[tuple[int, int]] = set()
    placed: list[Placed[T]] = []
    start = -1
    for what, run in groupby(things):
        start += 1
        while (start, 0) in taken:
            start += 1
        column, row, turned = start, 0, False
        for depth, _ in enumerate(run):
            if depth:
                turned = turned or row + 1 == ROWS or (column, row + 1) in taken
                column, row = (column + 1, row) if turned else (column, row + 1)
            taken.add((column, row))
            placed.append(Placed(column, row, what))
    return tuple(placed)


def sides(marks: Iterable[Mark]) -> list[Side]:
    """Who won, ties left out."""
    return [Side(mark.outcome.value) for mark in marks if mark.outcome is not Outcome.TIE]


def big_road(marks: Sequence[Mark]) -> tuple[Cell, ...]:
    """The big road. A tie is a line through the last cell; ties before the first one are on the first."""
    placed = iter(layout(sides(marks)))
    cells: list[Cell] = []
    early = 0
    for mark in marks:
        if mark.outcome is Outcome.TIE:
            if cells:
                cells[-1] = replace(cells[-1], ties=cells[-1].ties + 1)
            else:
                early += 1
            continue
        at = next(placed)
        cells.append(
            Cell(at.column, at.row, at.what, 0 if cells else early, mark.player_pair, mark.banker_pair)
        )
    return tuple(cells) if cells or not early else (Cell(0, 0, None, early),)


def run_lengths(won: Iterable[Side]) -> list[int]:
    """How long each run was."""
    return [sum(1 for _ in run) for _, run in groupby(won)]


def derived(runs: Sequence[int], lag: int) -> tuple[Colour, ...]:
    """The entries of a derived road from the lengths of the runs. ``lag``: k.

    At the head of a run: are the run before it and the one ``lag`` before that equally long? Further down:
    blue only where the run ``lag`` before has just ended one cell higher.
    """
    entries = []
    for number, length in enumerate(runs):  # runs count from 0 here
        for depth in range(1, length + 1):
            if depth == 1:
                if number < lag + 1:
                    continue
                same = runs[number - 1] == runs[number - 1 - lag]
            else:
                if number < lag:
                    continue
                same = depth != runs[number - lag] + 1
            entries.append(Colour.RED if same else Colour.BLUE)
    return tuple(entries)


def derived_road(marks: Iterable[Mark], road: Road) -> tuple[Placed[Colour], ...]:
    """A derived road as it is drawn."""
    return layout(derived(run_lengths(sides(marks)), LAGS[road]))


def prediction(marks: Iterable[Mark], road: Road, side: Side) -> Colour | None:
    """The entry that the road gets if ``side`` wins the next round; None: none yet."""
    won, lag = sides(marks), LAGS[road]
    before = derived(run_lengths(won), lag)
    after = derived(run_lengths([*won, side]), lag)
    return after[-1] if len(after) > len(before) else None


def statistics(marks: Sequence[Mark]) -> dict[str, int]:
    """How often each happened: ``rounds``, ``player``, ``banker``, ``tie``, pairs and naturals."""
    outcomes = Counter(mark.outcome for mark in marks)
    return {"rounds": len(marks)} | {
        "player": outcomes[Outcome.PLAYER],
        "banker": outcomes[Outcome.BANKER],
        "tie": outcomes[Outcome.TIE],
        "player_pair": sum(mark.player_pair for mark in marks),
        "banker_pair": sum(mark.banker_pair for mark in marks),
        "natural": sum(mark.natural for mark in marks),
    }
