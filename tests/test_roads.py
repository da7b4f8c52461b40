"""The score boards: published vectors, and another way to say each rule."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.cards import Outcome, Side
from tablectl.roads import (
    LAGS,
    ROWS,
    Cell,
    Colour,
    Mark,
    Road,
    bead_plate,
    big_road,
    derived,
    derived_road,
    layout,
    prediction,
    run_lengths,
    sides,
    statistics,
)

OUTCOMES = {"B": Outcome.BANKER, "P": Outcome.PLAYER, "T": Outcome.TIE}
marks_of = st.lists(
    st.builds(Mark, st.sampled_from(Outcome), st.booleans(), st.booleans(), st.booleans()), max_size=90
)


def marks(letters: str) -> list[Mark]:
    return [Mark(OUTCOMES[letter]) for letter in letters]


def letters(colours: tuple[Colour, ...]) -> str:
    return "".join(colour.value[0].upper() for colour in colours)


def at(letters_: str) -> list[tuple[int, int]]:
    return [(cell.column, cell.row) for cell in big_road(marks(letters_))]


@pytest.mark.parametrize(
    ("results", "entries"),
    [
        ("BPBBPPB", "RBBRR"),
        ("BPPP", "BR"),
        ("BPB", "R"),
        ("BBPP", "R"),
        ("BBPPP", "RB"),
        ("BBPPPP", "RBR"),
        ("BTPTB", "R"),
        ("", ""),
        ("BBBBBB", ""),
        ("BP", ""),
    ],
)
def test_big_eye_boy(results: str, entries: str) -> None:
    assert letters(derived(run_lengths(sides(marks(results))), 1)) == entries


@pytest.mark.parametrize(("lengths", "lag", "entries"), [([3, 2, 2, 1], 2, "RB"), ([3, 2, 1, 2, 1], 3, "RB")])
def test_small_road_and_cockroach_pig(lengths: list[int], lag: int, entries: str) -> None:
    assert letters(derived(lengths, lag)) == entries


def by_cells(runs: list[int], lag: int) -> list[Colour]:
    """The rule as croupiers learn it, by looking at the cells ``lag`` columns to the left.

    In a column: red if there is a cell beside, or none beside this one and none beside the one above; blue
    if the column beside ends just above. On top: the other colour than had the last run gone on.
    """
    found = []
    for column, length in enumerate(runs):
        for row in range(length):
            if row:
                if column - lag < 0:
                    continue
                beside = runs[column - lag]
                found.append(Colour.BLUE if row >= beside and row - 1 < beside else Colour.RED)
            elif column - 1 - lag >= 0:
                beside, depth = runs[column - 1 - lag], runs[column - 1]
                would = Colour.BLUE if depth >= beside and depth - 1 < beside else Colour.RED
                found.append(Colour.RED if would is Colour.BLUE else Colour.BLUE)
    return found


@given(marks_of, st.sampled_from(Road))
def test_derived_roads_are_those_of_the_cells_beside(results: list[Mark], road: Road) -> None:
    runs = run_lengths(sides(results))
    assert list(derived(runs, LAGS[road])) == by_cells(runs, LAGS[road])
    drawn = derived_road(results, road)
    assert [one.what for one in drawn] == by_cells(runs, LAGS[road])


@given(marks_of, st.sampled_from(Road), st.sampled_from(Side))
def test_a_prediction_is_what_comes(results: list[Mark], road: Road, side: Side) -> None:
    before = derived_road(results, road)
    after = derived_road([*results, Mark(Outcome(side.value))], road)
    told = prediction(results, road, side)
    assert [one.what for one in after] == [one.what for one in before] + ([told] if told else [])


def test_a_run_turns_right_at_the_bottom_and_at_another_tail_and_stays_in_its_row() -> None:
    assert at("BBBBBBBB") == [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 5), (2, 5)]
    tail = at("B" * 8 + "P" * 7)
    assert tail[8:] == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4)]
    nested = at("B" * 8 + "P" * 7 + "B" * 6)
    assert nested[15:] == [(2, 0), (2, 1), (2, 2), (2, 3), (3, 3), (4, 3)]
    below = at("B" * 9 + "P" * 2)
    assert below[9:] == [(1, 0), (1, 1)], "room below is used again after the tail of another"


def test_a_run_that_has_no_room_below_its_first_cell_goes_along_the_top() -> None:
    """Tail behind tail fills the rows from below; the next run begins right of what lies on top."""
    results = "".join(side * (14 - 2 * number) for number, side in enumerate("BPBPBP"))
    cells = at(results)
    assert len(set(cells)) == len(cells)
    top = [column for column, row in cells if row == 0]
    assert top == sorted(top)
    assert at(results + "B")[-1] == (top[-1] + 1, 0)


@given(marks_of)
def test_cells_of_the_big_road(results: list[Mark]) -> None:
    won = sides(results)
    cells = big_road(results)
    ties = sum(mark.outcome is Outcome.TIE for mark in results)
    assert sum(cell.ties for cell in cells) == ties
    if not won:
        assert cells == ((Cell(0, 0, None, ties),) if ties else ())
        return
    assert [cell.side for cell in cells] == won
    assert len({(cell.column, cell.row) for cell in cells}) == len(cells)
    assert all(0 <= cell.row < ROWS for cell in cells)
    here = iter(cells)
    start = -1
    for _, run in groupby(won):
        one = [next(here) for _ in run]
        assert one[0].row == 0 and one[0].column > start
        start = one[0].column
        for up, down in pairwise(one):
            assert (down.column, down.row) in ((up.column, up.row + 1), (up.column + 1, up.row))
        moves = [down.column - up.column for up, down in pairwise(one)]
        assert moves == sorted(moves), "once turned it stays in its row"
    pairs = [(m.player_pair, m.banker_pair) for m in results if m.outcome is not Outcome.TIE]
    assert [(cell.player_pair, cell.banker_pair) for cell in cells] == pairs


def test_ties_before_the_first_cell_are_on_the_first() -> None:
    assert big_road(marks("TT")) == (Cell(0, 0, None, 2),)
    assert big_road(marks("TTBTP")) == (Cell(0, 0, Side.BANKER, 3), Cell(1, 0, Side.PLAYER))


@given(marks_of)
def test_the_bead_plate_has_every_result_column_by_column(results: list[Mark]) -> None:
    plate = bead_plate(results)
    assert [one.what for one in plate] == results
    assert [one.column * ROWS + one.row for one in plate] == list(range(len(results)))


@given(marks_of)
def test_statistics(results: list[Mark]) -> None:
    told = statistics(results)
    assert told["rounds"] == told["player"] + told["banker"] + told["tie"] == len(results)
    assert told["player_pair"] == len([mark for mark in results if mark.player_pair])


def test_an_empty_shoe_has_empty_boards() -> None:
    assert (bead_plate([]), big_road([]), layout([]), statistics([])["rounds"]) == ((), (), (), 0)
