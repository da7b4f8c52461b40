"""Rounds whose result is out: void, amended, disputed: from the bytes to the game server.

Never an edit: each is an event of its own, with before and after, and the cards stay used.
"""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Tables
from tests.e2e.consoles import TIMES, Order, at_once, one_won
from tests.e2e.harness import PIT_BOSS
from tests.e2e.irregularities import LONG, Shift

HAND = "2C 9D 3H KS"
"""Player 5, Banker 9."""
NEXT_HAND = "9S 2H KD 3C"
BANKER_WINS = "resulted: 2C 3H / 9D KS banker by automatic"
VOID_RULE = LONG | {"dealing": {"overdraw": "void"}}
SOON_DUE = LONG | {"dealing": {"due_seconds": 0.2}}


def played(table: Shift, cards: str = HAND) -> str:
    """One round of four cards; its name."""
    where = f"{table.client.state()['shoe']['number']}/{table.client.state()['shoe']['rounds'] + 1}"
    table.bets()
    table.deal(4)
    table.wait(lambda s: s["round"] is None, "the result is out")
    assert (table.client.state()["settled"] or {}).get("where") == where
    return where


# --- void ---------------------------------------------------------------------------------------


def test_earlier_round_void(bee: Shift) -> None:
    bee.begin(f"{HAND} {NEXT_HAND}")
    where = played(bee)
    bee.bets()
    bee.deal(2)
    bee.refused("void", "has no result and is not void", round="77/1")
    bee.pit("void", round=where)
    assert bee.cards() == {"P1": "9S", "B1": "2H"}, "the hand in play goes on"
    bee.refused("void", f"round {where} is void already", round=where)
    bee.refused("amend", f"round {where} is void already", round=where, P1="4C")
    bee.deal(2)
    assert bee.stands(where) == "voided: P1=2C B1=9D P2=3H B2=KS"
    assert bee.stands() == "resulted: 9S KD / 2H 3C player by automatic"
    assert bee.story() == (
        "betting.opened betting.closed card.dealt*4 round.resulted betting.opened betting.closed"
        " card.dealt*2 round.voided card.dealt*2 round.resulted"
    )
    assert bee.only("round.voided")["approved_by"] == PIT_BOSS.name
    bee.close_book()


def test_round_of_an_earlier_shoe_void(bee: Shift) -> None:
    bee.begin(HAND)
    where = played(bee)
    bee.begin(NEXT_HAND)
    bee.pit("void", round=where)
    assert bee.client.state()["shoe"]["out"] == 0, "its cards are not this shoe's"
    assert bee.stands(where).startswith("voided")
    assert bee.story() == "round.voided"
    played(bee)
    bee.close_book()


def test_overdraw_after_the_result_voids_the_round_by_house_rule(tables: Tables) -> None:
    table = tables("bee-tek", VOID_RULE)
    table.begin(f"{HAND} 7S")
    where = played(table)
    table.deal(1)
    table.on_hold("overdraw", "in excess", "correct, void, shoe end")
    table.refused("void", "void SHOE/ROUND")
    table.refused("release", "is no way out now", action="burn")
    table.pit("void", round=where)
    state = table.client.state()
    assert (state["holds"], state["kept"], state["phase"]) == ([], [], "idle")
    assert table.stands(where) == "voided: P1=2C B1=9D P2=3H B2=KS"
    assert table.story().endswith("round.resulted table.held round.voided table.released")
    table.close_book()


# --- amend --------------------------------------------------------------------------------------


def test_earlier_round_amended_twice_and_then_void(bee: Shift) -> None:
    """P1 was read wrong: a six, then, on a second look, a five."""
    bee.begin(f"2C 9D 3H KS {NEXT_HAND}")
    bee.bets()
    bee.shoe.misread("5C")
    bee.deal(3)
    bee.wait(lambda s: s["round"] is None, "the result is out")
    where = bee.client.state()["settled"]["where"]
    bee.bets()
    bee.deal(2)
    in_play = bee.client.state()["where"]
    bee.refused("amend", f"round {in_play} has no result yet", round=in_play, P1="4C")
    bee.refused("amend", "the cards it has already", round=where, P1="2C")
    bee.refused("amend", "no finished hand", round=where, P3="4C")
    bee.refused("amend", "a position is one of", round=where, X1="4C")
    bee.pit("amend", round=where, P1="6C")
    assert bee.client.state()["settled"]["what"] == f"amended to tie, approved by {PIT_BOSS.name}"
    assert bee.stands(where) == "amended: 6C 3H / 9D KS tie by amended"
    assert bee.cards() == {"P1": "9S", "B1": "2H"}, "never the hand in play"
    bee.pit("amend", round=where, P1="5C")
    assert bee.stands(where) == "amended: 5C 3H / 9D KS banker by amended"
    first, second = bee.every("round.amended")
    assert (first["revision"], second["revision"]) == (2, 3)
    assert first["before"] == bee.every("round.resulted")[0]
    assert second["before"] == first["after"]
    assert (
        first["before"]["bets"]["tie"]["result"] == "lose"
        and first["after"]["bets"]["tie"]["result"] == "win"
    )
    bee.deal(2)
    bee.close_book()
    bee.pit("void", round=where)
    assert bee.stands(where) == "voided: P1=5C B1=9D P2=3H B2=KS"
    bee.refused("amend", f"round {where} is void already", round=where, P1="2C")
    bee.close_book()


def test_amended_round_with_a_card_that_was_not_counted(bee: Shift) -> None:
    """The natural was none: the third cards, drawn and not scanned, are told now."""
    bee.begin(NEXT_HAND + " 2C")
    bee.bets()
    bee.deal(1)
    bee.shoe.misread("2S")
    bee.deal(2)
    where = bee.client.state()["settled"]["where"]
    bee.refused("amend", "no finished hand", round=where, P1="4S")
    bee.shoe.slip("4H")
    bee.shoe.slip("5H")
    bee.refused("amend", "no finished hand", round=where, P1="4S", P3="4H")
    bee.shoe.drawn[bee.shoe.drawn.index("9S", bee.shoe.loaded)] = "4S"
    bee.pit("amend", round=where, P1="4S", B1="2S", P3="4H", B3="5H")
    assert bee.stands(where) == "amended: 4S KD 4H / 2S 3C 5H player by amended"
    assert bee.client.state()["shoe"]["out"] == 6
    bee.close_book()


def test_integrity_an_earlier_round_amended(bee: Shift) -> None:
    """The ninth nine of diamonds: in the round before, B1 was none."""
    bee.begin(f"{'9D ' * 7} {HAND} 9S 9D KD 3C")
    bee.pit("burn", count="7")
    for _ in range(7):
        bee.shoe.draw(burn=True)
    bee.counted()
    bee.bets()
    bee.deal(1)
    bee.shoe.misread("9H")
    bee.deal(2)
    where = bee.client.state()["settled"]["where"]
    bee.bets()
    bee.deal(2)
    bee.on_hold(
        "integrity",
        "This was copy 9 of 9D in a shoe of 8 decks.",
        "rescan hand, correct, insert, move, amend, void, shoe end",
    )
    bee.refused("amend", "no finished hand", round=where, B1="2H")
    bee.pit("amend", round=where, B1="9H")
    bee.release("accept")
    bee.release("keep")
    bee.deal(2)
    assert bee.stands(where) == "amended: 2C 3H / 9H KS banker by amended"
    assert bee.stands() == "resulted: 9S KD / 9D 3C player by automatic"
    bee.do("ack", alert="integrity")
    bee.close_book()


def test_round_that_the_rule_would_have_dealt_otherwise_is_void(angel: Shift) -> None:
    angel.begin(HAND)
    angel.bets()
    angel.deal(1)
    angel.shoe.misread("3D")
    angel.deal(2)
    angel.finish()
    where = angel.client.state()["settled"]["where"]
    angel.refused("amend", "then only a void is left", round=where, B1="3D")
    angel.pit("void", round=where)
    assert angel.stands(where) == "voided: P1=2C B1=9D P2=3H B2=KS"
    angel.settle()
    angel.check_everything()


# --- card due -----------------------------------------------------------------------------------


def test_third_card_forgotten_is_reminded_of_and_holds_nothing(tables: Tables) -> None:
    table = tables("bee-tek", SOON_DUE)
    table.begin("2S KD AS 6H 4C")
    table.bets()
    table.deal(4)
    state = table.wait(lambda s: any("A card is due" in text for text in s["say"]), "the reminder")
    assert (state["phase"], state["holds"], state["round"]["due"]) == ("dealing", [], "P3")
    table.deal(1)
    assert table.stands() == "resulted: 2S AS 4C / KD 6H player by automatic"
    table.close_book()


# --- two consoles -------------------------------------------------------------------------------


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_amend_and_amend_of_the_same_round_one_wins(bee: Shift) -> None:
    for _ in range(TIMES):
        bee.begin(HAND)
        where = played(bee)
        at = bee.shoe.loaded
        orders = [Order("amend", {"round": where, "P1": card}) for card in ("6C", "5C")]
        bee.shoe.drawn[at] = ("6C", "5C")[one_won(at_once(bee, *orders), f"round {where} is amended to ")]
        assert bee.only("round.amended")["revision"] == 2
        bee.close_book()


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_amend_and_void_of_the_same_round_one_wins(bee: Shift) -> None:
    for _ in range(TIMES):
        bee.begin(HAND)
        where = played(bee)
        orders = [Order("amend", {"round": where, "P1": "6C"}), Order("void", {"round": where})]
        if one_won(at_once(bee, *orders), f"round {where} is ") == 0:
            bee.shoe.drawn[bee.shoe.loaded] = "6C"
            assert bee.stands(where) == "amended: 6C 3H / 9D KS tie by amended"
        else:
            assert bee.stands(where) == "voided: P1=2C B1=9D P2=3H B2=KS"
        assert len([kind for kind, _ in bee.told() if kind in ("round.amended", "round.voided")]) == 1
        bee.close_book()
