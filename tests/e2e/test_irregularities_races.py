"""Two consoles at once: of two commands of the same sight exactly one is carried out.

Two real clients, each with its own connection to the real daemon; the other one is told what is already
so, and the game server is told of one event.
"""

from __future__ import annotations

import pytest

from tests.e2e.consoles import TIMES, Order, at_once, one_won
from tests.e2e.irregularities import Shift

HAND = "2C 9D 3H KS"


def two_on_the_table(table: Shift, cards: str = HAND) -> None:
    table.begin(cards)
    table.bets()
    table.deal(2)
    table.do("hold", text="wait")


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_correct_and_void(bee: Shift) -> None:
    for _ in range(TIMES):
        two_on_the_table(bee)
        bee.shoe.drawn[bee.shoe.loaded] = "4C"
        correct, void = Order("correct", {"position": "P1", "card": "4C"}), Order("void")
        where = bee.client.state()["where"]
        if one_won(at_once(bee, correct, void)) == 0:
            assert bee.cards() == {"P1": "4C", "B1": "9D"}
            assert bee.story().endswith("table.held hand.corrected")
        else:
            assert bee.stands(where) == "voided: P1=2C B1=9D"
            assert bee.story().endswith("table.held round.voided table.released")
    bee.settle()
    bee.check_everything()


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_void_and_void_tells_that_it_is_void_already(bee: Shift) -> None:
    for _ in range(TIMES):
        two_on_the_table(bee)
        where = bee.client.state()["where"]
        one_won(at_once(bee, Order("void"), Order("void")), f"round {where} is void, approved by pit")
        assert len(bee.every("round.voided")) == 1
        bee.close_book()


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_release_accept_and_release_burn(bee: Shift) -> None:
    for _ in range(TIMES):
        two_on_the_table(bee)
        bee.deal(1)
        orders = [Order("release", {"action": action}) for action in ("accept", "burn")]
        if one_won(at_once(bee, *orders)) == 0:
            assert bee.cards() == {"P1": "2C", "B1": "9D", "P2": "3H"}
            assert bee.every("card.burned") == []
        else:
            assert bee.cards() == {"P1": "2C", "B1": "9D"}
            bee.only("card.burned")
        bee.only("table.released")
        bee.close_book()


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_release_and_hold_again_names_the_holds(bee: Shift) -> None:
    """The dealer calls another hold while the pit boss releases the first: what was not seen is not ended."""
    for _ in range(TIMES):
        two_on_the_table(bee)
        orders = [
            Order("release", {"action": "resume"}),
            Order("hold", {"because": "two-cards"}, supervised=False),
        ]
        if one_won(at_once(bee, *orders)) == 1:
            bee.on_hold(
                "called, two-cards",
                "drawn at once",
                "keep, resume, rescan hand, correct, insert, move, enter, void, shoe end",
            )
        bee.close_book()


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_insert_and_insert_is_inserted_once(bee: Shift) -> None:
    for _ in range(TIMES):
        two_on_the_table(bee, "2C 3H KS")
        bee.shoe.slip("9D")
        order = Order("insert", {"position": "B1", "card": "9D"})
        one_won(at_once(bee, order, order))
        assert bee.cards() == {"P1": "2C", "B1": "9D", "P2": "3H"}
        bee.only("hand.corrected")
        bee.close_book()


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_keep_and_void_of_a_complete_hand(bee: Shift) -> None:
    for _ in range(TIMES):
        bee.begin(HAND)
        bee.bets()
        bee.deal(3)
        bee.do("hold", because="two-cards")
        where = bee.client.state()["where"]
        orders = [Order("release", {"action": "keep"}), Order("void")]
        if one_won(at_once(bee, *orders)) == 0:
            bee.deal(1)
            assert bee.stands(where) == "resulted: 2C 3H / 9D KS banker by automatic"
        else:
            assert bee.stands(where) == "voided: P1=2C B1=9D P2=3H"
        assert len([kind for kind, _ in bee.told() if kind in ("round.resulted", "round.voided")]) == 1
        bee.close_book()
