"""What the sequence numbers of an Angel Eye shoe say of messages that never came."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tablectl_drivers.angel_eye_numbers import SURE, Numbers

from tablectl.scanner import DeviceKind

GAP, DOUBT = DeviceKind.GAP, DeviceKind.DOUBT


def told(numbers: Numbers, number: int, place: int | None = None) -> DeviceKind | None:
    found = numbers.told(number, place)
    return found[0] if found else None


def at(number: int, after_nine: str = "either") -> Numbers:
    numbers = Numbers(after_nine)
    assert told(numbers, number) is None, "of what came before the first nobody can tell"
    return numbers


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("last", range(10))
@pytest.mark.parametrize("after_nine", ["either", "0", "1"])
def test_every_number_behind_every_other(after_nine: str, last: int, number: int) -> None:
    expected = None if number == last + 1 else GAP
    if last == 9 and number == 0:
        expected = GAP if after_nine == "1" else None
    if last == 9 and number == 1:
        expected = {"either": DOUBT, "0": GAP, "1": None}[after_nine]
    assert told(at(last, after_nine), number) is expected


def test_a_number_0_shows_that_there_is_one() -> None:
    for numbers in (at(0), at(9)):
        if numbers._last == 9:
            told(numbers, 0)
        for number in range(1, 10):
            assert told(numbers, number) is None
        assert told(numbers, 1) is GAP


def hand(numbers: Numbers, first: int) -> list[DeviceKind | None]:
    """Four cards and five other messages, numbered 1 to 9 from ``first`` on."""
    order = [(first - 1 + i) % 9 + 1 for i in range(9)]
    return [told(numbers, number, i if i < 4 else None) for i, number in enumerate(order)]


def test_a_shoe_that_has_no_0_is_believed_when_no_card_can_be_missing() -> None:
    numbers = Numbers()
    seen = []
    for _ in range(SURE):
        seen += hand(numbers, 8)  # P1 8, B1 9, P2 1
    assert set(seen) == {None}
    told(numbers, 8)
    told(numbers, 9)
    assert told(numbers, 1) is None, "now it is sure"
    told(numbers, 9)
    assert told(numbers, 0) is None, "and yet there is a 0"
    told(numbers, 9)
    assert told(numbers, 1) is GAP


@pytest.mark.parametrize("places", [*pairwise((0, 2, 1, 0)), (None, 1), (1, None), (None, None), (1, 1)])
def test_nothing_is_learned_where_a_card_may_be_missing(places: tuple[int | None, int | None]) -> None:
    numbers = Numbers()
    for _ in range(10):
        numbers.told(9, places[0])
        assert told(numbers, 1, places[1]) is DOUBT


def test_what_was_said_while_the_line_was_away_is_a_gap_and_teaches_nothing() -> None:
    numbers = at(9)
    numbers.told(9, 0)
    numbers.reconnected()
    assert told(numbers, 1, 1) is DOUBT
    numbers.reconnected()
    assert told(numbers, 4) is GAP


def test_a_start_begins_anew() -> None:
    numbers = at(5)
    numbers.started(1)
    assert told(numbers, 2) is None
