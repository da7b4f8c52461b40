"""A hand that shoe, dealer and cards do not agree on: from the bytes to the game server.

House rules, section 5: `card-conflict`, `overdraw`, `shoe-disagrees`, `announce-differs`; a hand dealt
face down, a free hand; and what needs no hold. Each test is one row, or one way out of it.
"""

from __future__ import annotations

import pytest

from tablectl.cards import Outcome
from tests.e2e.conftest import Tables
from tests.e2e.harness import PIT_BOSS
from tests.e2e.irregularities import LONG, Shift, unheard

HAND = "2C 9D 3H KS"
"""Player 5, Banker 9."""
BANKER_WINS = "resulted: 2C 3H / 9D KS banker by"
BY_DEALER = LONG | {"dealing": {"confirm": "dealer", "overdraw": "void"}}
NEXT = LONG | {"dealing": {"overdraw": "next"}}
FACE_DOWN = LONG | {"dealing": {"deal": "face-down"}}


# --- card-conflict -----------------------------------------------------------------------------------


def burned_by_the_button(angel: Shift) -> None:
    """P2 is due, and the shoe's burn button was pressed."""
    angel.begin(HAND)
    angel.bets()
    angel.deal(2)
    angel.shoe.draw(burn=True)
    state = angel.on_hold(
        "card-conflict",
        "P2 is due, the shoe calls it burn",
        "accept, burn, rescan hand, correct, insert, move, void, shoe end",
    )
    assert state["holds"][0]["saw"] == {"label": "burn-count"}
    assert state["kept"] == ["?"]
    angel.refused("release", "is no way out now", action="keep")
    angel.refused("enter", "is on hold", position="P2", card="3H")


def test_card_conflict_keeps_the_order(angel: Shift) -> None:
    burned_by_the_button(angel)
    angel.release("accept")
    assert angel.cards()["P2"] == "3H"
    angel.deal(1)
    angel.refused("bets open", "result is not out", supervised=False)
    angel.shoe.press_result()  # of a hand that is not its own any more: not compared
    angel.do("confirm")
    assert angel.stands() == f"{BANKER_WINS} dealer"
    assert angel.story() == (
        "betting.opened betting.closed card.dealt*2 table.held card.dealt table.released card.dealt"
        " round.resulted"
    )
    angel.close_book()


def test_card_conflict_burned(angel: Shift) -> None:
    angel.begin("2C 9D 7S 3H KS")
    angel.bets()
    angel.deal(2)
    angel.shoe.draw(burn=True)
    angel.wait(lambda s: s["holds"], "the conflict")
    angel.release("burn")
    angel.deal(2)
    angel.finish()
    assert angel.stands().startswith(BANKER_WINS)
    assert angel.only("card.burned")["reason"] == "error"
    angel.close_book()


def test_card_conflict_void(angel: Shift) -> None:
    burned_by_the_button(angel)
    angel.pit("void")
    assert angel.stands() == "voided: P1=2C B1=9D"
    angel.close_book()


def test_card_conflict_tells_of_a_card_lost_on_the_way(angel: Shift) -> None:
    """The shoe numbers what it says: B1 never arrived, P2 comes where B1 is due."""
    angel.begin(HAND)
    angel.bets()
    angel.deal(1)
    with unheard(angel):
        angel.shoe.draw()
    angel.shoe.draw()
    angel.on_hold(
        "card-conflict",
        "B1 is due, the shoe calls it P2",
        "accept, burn, rescan hand, correct, insert, move, void, shoe end",
    )
    assert "scanner-gap" in {alert["alert"] for alert in angel.client.state()["alerts"]}
    angel.refused("insert", "no card lies at 'P3'", position="P3", card="9D")
    angel.pit("insert", position="B1", card="9D")
    angel.release("accept")
    angel.deal(1)
    angel.finish()
    assert angel.stands() == f"{BANKER_WINS} dealer"
    corrected = angel.only("hand.corrected")
    assert (corrected["before"], corrected["after"]) == ({"P1": "2C"}, {"P1": "2C", "B1": "9D"})
    angel.do("ack", alert="scanner-gap")
    angel.close_book()


# --- overdraw ----------------------------------------------------------------------------------------


def test_overdraw_is_burned_and_the_lawful_result_stands(bee: Shift) -> None:
    bee.begin(f"{HAND} 7S 8S 8H 8D")
    bee.bets()
    bee.deal(4)
    bee.wait(lambda s: s["round"] is None, "the result is out")
    bee.deal(1)
    message = "A card was drawn in excess of the hand."
    bee.on_hold("overdraw", message, "burn, correct, shoe end")
    bee.refused("release", "is no way out now", action="next")
    bee.refused("burn-error", message)
    bee.release("burn")
    bee.pit("burn-error")
    assert bee.client.state()["burns_due"] == 3
    for _ in range(3):
        bee.shoe.draw(burn=True)
    bee.phase("idle")
    assert bee.stands() == f"{BANKER_WINS} automatic"
    assert bee.story() == (
        "betting.opened betting.closed card.dealt*4 round.resulted table.held card.burned table.released"
        " card.burned*3"
    )
    bee.close_book()


def test_overdraw_before_the_result_told_by_the_shoe(angel: Shift) -> None:
    angel.begin(f"{HAND} 7S")
    angel.bets()
    angel.deal(4)
    angel.phase("complete")
    angel.deal(1)
    state = angel.on_hold(
        "overdraw",
        "A card was drawn in excess of the hand.",
        "burn, rescan hand, correct, insert, move, void, shoe end",
    )
    assert state["kept"] == ["?"]
    angel.refused("confirm", "on hold", supervised=False)
    angel.release("burn")
    angel.refused("release", "not on hold", action="burn")
    assert angel.every("round.resulted") == []
    angel.do("confirm")
    assert angel.stands() == f"{BANKER_WINS} dealer"
    angel.close_book()


def test_overdraw_is_the_next_rounds_first(tables: Tables) -> None:
    table = tables("bee-tek", NEXT)
    table.begin(f"{HAND} 9S 2H KD 3C")
    table.bets()
    table.deal(4)
    table.wait(lambda s: s["round"] is None, "the result is out")
    table.deal(1)
    table.on_hold("overdraw", "in excess", "next, correct, shoe end")
    table.refused("release", "is no way out now", action="burn")
    table.release("next")
    assert table.client.state()["reserved"] == 1
    table.do("bets open")
    assert table.cards() == {}
    table.do("bets close")
    assert table.cards() == {"P1": "9S"}
    table.deal(3)
    assert table.stands() == "resulted: 9S KD / 2H 3C player by automatic"
    assert table.story() == (
        "betting.opened betting.closed card.dealt*4 round.resulted table.held table.released"
        " betting.opened betting.closed card.dealt*4 round.resulted"
    )
    table.close_book()


def test_overdraw_voids_the_round_by_house_rule(tables: Tables) -> None:
    table = tables("bee-tek", BY_DEALER)
    table.begin(f"{HAND} 7S")
    table.bets()
    table.deal(5)
    table.on_hold("overdraw", "in excess", "rescan hand, correct, insert, move, void, shoe end")
    table.refused("release", "is no way out now", action="burn")
    table.pit("void")
    assert table.stands() == "voided: P1=2C B1=9D P2=3H B2=KS"
    assert table.story() == (
        "betting.opened betting.closed card.dealt*4 table.held round.voided table.released"
    )
    table.close_book()


# --- shoe-disagrees ----------------------------------------------------------------------------------


def shoe_says_player(angel: Shift) -> None:
    angel.begin(HAND)
    angel.bets()
    angel.deal(4)
    angel.phase("complete")
    angel.shoe.press_result(Outcome.PLAYER)
    state = angel.on_hold(
        "shoe-disagrees",
        "The shoe says player, the cards say banker.",
        "keep, rescan hand, correct, insert, move, void, shoe end",
    )
    assert state["holds"][0]["saw"]["bytes"].startswith("05"), "the verdict's own bytes"
    angel.refused("confirm", "The shoe says player", supervised=False)
    assert angel.every("round.resulted") == [], "nothing is out before somebody decided"


def test_shoe_disagrees_and_the_cards_are_kept(angel: Shift) -> None:
    shoe_says_player(angel)
    angel.release("keep")
    angel.shoe.press_result()  # the shoe has had its say
    angel.do("confirm")
    assert angel.stands() == f"{BANKER_WINS} dealer"
    assert angel.story() == (
        "betting.opened betting.closed card.dealt*4 table.held table.released round.resulted"
    )
    angel.close_book()


def test_shoe_disagrees_and_a_card_is_corrected(angel: Shift) -> None:
    """The shoe was right: B1 is no nine."""
    angel.begin("8S 9D KD KS")
    angel.bets()
    angel.deal(1)
    angel.shoe.misread("7D")
    angel.deal(2)
    angel.shoe.press_result(Outcome.PLAYER)
    angel.wait(lambda s: s["holds"], "the shoe disagrees")
    angel.refused("correct", "is that card already", position="B1", card="9D")
    angel.refused("correct", "no card lies at 'P3'", position="P3", card="9D")
    angel.pit("correct", position="B1", card="7D")
    angel.release("keep")
    assert angel.every("round.resulted") == []
    angel.do("confirm", outcome="player")
    assert angel.stands() == "resulted: 8S KD / 7D KS player by dealer"
    corrected = angel.only("hand.corrected")
    assert (corrected["before"]["B1"], corrected["after"]["B1"]) == ("9D", "7D")
    angel.close_book()


def test_corrected_hand_that_goes_on_is_over_for_the_shoe(angel: Shift) -> None:
    """The shoe took B1 for a natural and calls what is due now in excess: the pit boss lets it lie."""
    angel.begin(f"{HAND} 2D 5H")
    angel.bets()
    angel.deal(1)
    angel.shoe.misread("AD")
    angel.deal(2)
    angel.do("hold", text="B1 is an ace")
    angel.pit("correct", position="B1", card="AD")
    assert angel.client.state()["round"]["due"] == "P3"
    angel.release("resume")
    for position in ("P3", "B3"):
        angel.deal(1)
        angel.wait(lambda s: s["holds"], "the shoe says: overdraw")
        angel.release("accept")
        assert position in angel.cards()
    angel.do("confirm")
    assert angel.stands() == "resulted: 2C 3H 2D / AD KS 5H player by dealer"
    angel.close_book()


def test_shoe_disagrees_void(angel: Shift) -> None:
    shoe_says_player(angel)
    angel.pit("void")
    assert angel.stands() == "voided: P1=2C B1=9D P2=3H B2=KS"
    angel.close_book()


def test_shoe_disagrees_after_the_result_is_an_alert(angel: Shift) -> None:
    angel.begin(HAND)
    angel.bets()
    angel.deal(4)
    angel.finish()
    angel.shoe.press_result(Outcome.TIE)
    angel.wait(lambda s: any(a["alert"] == "shoe-disagrees" for a in s["alerts"]), "the alert")
    assert not angel.client.state()["holds"]
    assert angel.stands() == f"{BANKER_WINS} shoe"
    angel.do("ack", alert="shoe-disagrees")
    angel.close_book()


# --- announce-differs --------------------------------------------------------------------------------


def announced_player(tables: Tables, cards: str = HAND, misread: str = "") -> Shift:
    table = tables("bee-tek", BY_DEALER)
    table.begin(cards)
    table.bets()
    table.deal(1)
    if misread:
        table.shoe.misread(misread)
    table.deal(3 - bool(misread))
    table.phase("complete")
    assert table.do("confirm", outcome="player")["answer"].startswith("on hold: announced player")
    table.on_hold(
        "announce-differs",
        "Announced player, the cards say banker: Player 5, Banker 9",
        "keep, rescan hand, correct, insert, move, void, shoe end",
    )
    table.refused("confirm", "Announced player", supervised=False)
    assert table.every("round.resulted") == [], "nothing is out before somebody decided"
    return table


def test_announce_differs_and_the_cards_are_kept(tables: Tables) -> None:
    table = announced_player(tables)
    table.release("keep")
    table.do("confirm", outcome="banker")
    assert table.stands() == f"{BANKER_WINS} dealer"
    assert table.story() == (
        "betting.opened betting.closed card.dealt*4 table.held table.released round.resulted"
    )
    table.close_book()


def test_announce_differs_and_a_card_is_corrected(tables: Tables) -> None:
    table = announced_player(tables, "2C 9D 3H KS 2D", misread="6D")
    table.pit("correct", position="B1", card="6D")
    table.release("keep")
    table.deal(1)
    table.do("confirm", outcome="player")
    assert table.stands() == "resulted: 2C 3H 2D / 6D KS player by dealer"
    corrected = table.only("hand.corrected")
    assert (corrected["before"]["B1"], corrected["after"]["B1"], corrected["next"]) == ("9D", "6D", "player")
    kinds = [kind for kind, _ in table.told()]
    assert kinds.index("hand.corrected") < kinds.index("round.resulted"), "right outside before the result"
    table.close_book()


def test_announce_differs_void(tables: Tables) -> None:
    table = announced_player(tables)
    table.pit("void")
    assert table.stands() == "voided: P1=2C B1=9D P2=3H B2=KS"
    table.close_book()


# --- face down ---------------------------------------------------------------------------------------


def test_face_down_hand_with_a_correction_before_the_turn(tables: Tables) -> None:
    table = tables("bee-tek", FACE_DOWN)
    table.begin(HAND)
    table.bets()
    table.shoe.misread("4C")
    table.wait(lambda s: s["round"]["face_down"] == 1, "the card is seen")
    table.deal(3)
    state = table.client.state()
    assert (state["round"]["cards"], state["round"]["face_down"], state["round"]["next"]) == ({}, 4, None)
    table.refused("confirm", "", supervised=False)
    table.do("hold", text="the first card is a four")
    table.refused("correct", "no card lies at 'P3'", position="P3", card="4C")
    table.pit("correct", position="P1", card="4C")
    table.release("resume")
    assert not any(card in str(table.told()) for card in ("2C", "4C", "9D", "3H", "KS")), "not before turn"
    hidden = dict.fromkeys(("P1", "B1", "P2", "B2"), "?")
    corrected = table.only("hand.corrected")
    assert (corrected["before"], corrected["after"]) == (hidden, hidden) and "next" not in corrected
    table.do("turn")
    assert table.stands() == "resulted: 4C 3H / 9D KS banker by automatic"
    turned = table.only("hand.turned")
    assert (turned["player"], turned["banker"], turned["next"]) == (["4C", "3H"], ["9D", "KS"], "none")
    assert table.story() == (
        "betting.opened betting.closed card.dealt*4 table.held hand.corrected table.released hand.turned"
        " round.resulted"
    )
    table.close_book()


def test_face_down_card_drawn_before_the_turn(tables: Tables) -> None:
    table = tables("bee-tek", FACE_DOWN)
    table.begin("2S 3D AH TC 5C 4D")
    table.bets()
    table.deal(5)
    table.on_hold("unturned", "First: turn.", "burn, turn, correct, move, void, shoe end")
    table.refused("release", "is no way out now", action="accept")
    table.do("turn")
    table.release("accept")
    table.deal(1)
    assert table.stands() == "resulted: 2S AH 5C / 3D TC 4D player by automatic"
    table.close_book()


# --- no hold -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards", "stands"),
    [
        # Laid to the wrong spot: what counts is the order they were drawn in, which the scanner has.
        (HAND, "2C 3H / 9D KS banker"),
        # The Player stands on 6 and was given the fifth card all the same: it is the Banker's third.
        ("6S TH KD JC 7D", "6S KD / TH JC 7D banker"),
    ],
    ids=["wrong spot, right order", "player given the banker's third"],
)
def test_no_hold_for_what_the_order_of_the_cards_settles(bee: Shift, cards: str, stands: str) -> None:
    bee.begin(cards)
    bee.bets()
    bee.deal(len(cards.split()))
    assert bee.stands() == f"resulted: {stands} by automatic"
    assert bee.every("table.held") == []
    bee.close_book()


def test_no_hold_for_a_third_card_forgotten_it_stays_due(bee: Shift) -> None:
    bee.begin("2S KD AS 6H 4C")
    bee.bets()
    bee.deal(4)
    state = bee.client.state()
    assert (state["phase"], state["round"]["due"], state["holds"]) == ("dealing", "P3", [])
    assert state["round"]["words"] == "Player 3, Banker 6: Player draws"
    bee.refused("confirm", "a hand is being dealt; finish it", supervised=False)
    bee.refused("bets open", "a hand is being dealt; finish it", supervised=False)
    bee.deal(1)
    assert bee.stands() == "resulted: 2S AS 4C / KD 6H player by automatic"
    bee.close_book()


def test_free_hand_has_no_wagers_and_is_published_as_free(bee: Shift) -> None:
    bee.begin(HAND)
    status, answer = bee.command("hand free")
    assert status == 403 and "pit boss" in answer["error"]
    bee.pit("hand free")
    bee.refused("hand free", "")
    bee.deal(4)
    assert bee.stands() == f"{BANKER_WINS} automatic"
    result = bee.only("round.resulted")
    assert (result["free"], result["bets"]) == (True, {})
    assert bee.story() == "card.dealt*4 round.resulted"
    commands = [e for e in bee.journal_events() if getattr(e, "command", "") == "hand free"]
    assert {getattr(e, "person", None) for e in commands} == {None, PIT_BOSS.name}
    bee.close_book()
