"""The end-to-end tests count drawn cards against counted ones; this is the test of the counting itself."""

from __future__ import annotations

import pytest

from tablectl import events as ev
from tablectl.cards import Position
from tests.e2e.harness import counted_cards, missed


def test_cards_that_were_drawn_unseen_are_missed() -> None:
    assert missed(["8S", "9S", "KH"], ["8S", "9S", "KH"]) == 0
    assert missed(["8S", "KH"], ["8S", "9S", "KH"]) == 1
    assert missed([], ["8S"]) == 1


@pytest.mark.parametrize("counted", ["8S 8S", "9S 8S", "8S 9S KH 2C", "2C"])
def test_cards_counted_twice_invented_or_out_of_order_are_found(counted: str) -> None:
    with pytest.raises(AssertionError, match="was not drawn then"):
        missed(counted.split(), ["8S", "9S", "KH"])


def test_every_way_out_of_the_shoe_counts_once() -> None:
    events: list[ev.Event] = [
        ev.CardBurned(shoe=1, reason="shuffle", left=0, shoe_left=415, card="2C"),
        ev.CardDealt(shoe=1, round=1, position=Position.P1, card="8S"),
        ev.CardDealt(shoe=1, round=1, position=Position.B1, face="9S"),
        ev.ScanKept(shoe=1, round=1, card="KH", label="", code="overdraw"),
        ev.CardBurned(shoe=1, reason="error", left=0, shoe_left=412, card="KH", kept=True),
        ev.TableClosed(),
    ]
    assert counted_cards(events) == ["2C", "8S", "9S", "KH"]
