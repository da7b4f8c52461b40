"""A card too early, too many, not read, read twice, out of order: from the bytes to the game server.

House rules, section 5: `card-early` to `two-cards`. Each test is one row, or one way out of it.
"""

from __future__ import annotations

from tests.e2e.harness import PIT_BOSS
from tests.e2e.irregularities import Shift, fault

HAND = "2C 9D 3H KS"
"""Player 5, Banker 9."""
EARLY = "A card was drawn while betting was open."


# --- card-early --------------------------------------------------------------------------------------


def open_with_a_card(bee: Shift, cards: str) -> None:
    bee.begin(cards)
    bee.do("bets open")
    bee.deal(1)
    state = bee.on_hold("card-early", EARLY, "burn, correct, void, shoe end")
    assert state["kept"] == ["?"], "its face may become a burn card's"
    assert state["holds"][0]["saw"] == {"label": "none"}, "no bytes either: they name the face"
    assert state["phase"] == "betting" and 0 < state["round"]["seconds_left"] <= 60, "the window runs on"
    bee.refused("release", "is no way out now", action="as-p1")
    bee.refused("release", "is no way out now", action="resume")
    bee.refused("bets open", EARLY, supervised=False)
    assert bee.story() == "betting.opened table.held"


def test_card_early_as_p1(bee: Shift) -> None:
    open_with_a_card(bee, HAND)
    bee.do("bets close")
    bee.on_hold("card-early", EARLY, "as-p1, accept, burn, correct, insert, void, shoe end")
    bee.refused("bets close", EARLY, supervised=False)
    bee.release("as-p1")
    assert bee.cards() == {"P1": "2C"}
    bee.deal(3)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    assert bee.story() == (
        "betting.opened table.held betting.closed card.dealt table.released card.dealt*3 round.resulted"
    )
    assert bee.only("betting.closed")["closed_at"] <= bee.only("betting.opened")["closes_at"]
    released = bee.only("table.released")
    assert (released["action"], released["approved_by"]) == ("as-p1", PIT_BOSS.name)
    bee.close_book()


def test_card_early_burned(bee: Shift) -> None:
    open_with_a_card(bee, f"7S {HAND}")
    bee.release("burn")
    bee.do("bets close")
    bee.deal(4)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    assert bee.story() == (
        "betting.opened table.held card.burned table.released betting.closed card.dealt*4 round.resulted"
    )
    assert "7S" not in str(bee.told()), "a burn face is secret until the shoe has ended"
    bee.close_book()
    bee.pit("shoe end")
    assert bee.only("shoe.ended")["burned"] == ["7S"]
    bee.close_book()


def test_card_early_void(bee: Shift) -> None:
    open_with_a_card(bee, HAND)
    bee.pit("void")
    assert bee.stands() == "voided:"
    assert bee.story() == "betting.opened table.held betting.closed round.voided table.released"
    assert bee.only("betting.closed")["reason"] == "void"
    assert bee.client.state()["kept"] == []
    bee.close_book()


# --- card-idle, burn-over ----------------------------------------------------------------------------


def test_card_idle_is_burned(bee: Shift) -> None:
    bee.begin(f"7S {HAND}")
    bee.deal(1)
    message = "A card was drawn when none was due."
    bee.on_hold("card-idle", message, "burn, correct, shoe end")
    bee.refused("bets open", message, supervised=False)
    bee.refused("void", "no round is in play")
    bee.refused("release", "is no way out now", action="accept")
    bee.release("burn")
    bee.bets()
    bee.deal(4)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    assert bee.story().startswith("table.held card.burned table.released betting.opened")
    bee.close_book()


# --- card-unreadable ---------------------------------------------------------------------------------


def test_card_unreadable_once_is_scanned_again_without_a_hold(bee: Shift) -> None:
    bee.begin("2C 9D 9D 3H KS")
    bee.bets()
    bee.deal(1)
    with fault(bee, "unreadable:1"):
        bee.shoe.draw()
    state = bee.wait(lambda s: s["unread"] == 1, "a re-scan is wanted")
    assert not state["holds"] and "The card could not be read: scan it again" in str(state["say"])
    bee.refused("enter", "the table is not on hold", position="B1", card="9D")
    bee.shoe.scan_again()
    bee.counted()
    bee.deal(2)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    assert bee.story() == "betting.opened betting.closed card.dealt*4 round.resulted"
    sources = [data["source"] for data in bee.every("card.dealt")]
    assert sources == ["scanner", "rescan", "scanner", "scanner"]
    bee.close_book()


def unread_twice(bee: Shift, cards: str) -> None:
    bee.begin(cards)
    bee.bets()
    bee.deal(1)
    with fault(bee, "unreadable:1"):
        bee.shoe.draw()
        bee.wait(lambda s: s["unread"] == 1, "a re-scan is wanted")
        bee.shoe.scan_again()
    state = bee.on_hold("card-unreadable", "It was tried twice.", "rescan, correct, enter, void, shoe end")
    saw = state["holds"][0]["saw"]
    assert bytes.fromhex(saw["bytes"]).startswith(b"["), "the offending scan with its bytes"
    bee.refused("release", "is no way out now", action="keep")
    bee.refused("insert", "could not be read", position="B1", card="9D")
    bee.refused("confirm", "could not be read", supervised=False)


def test_card_unreadable_entered_by_hand(bee: Shift) -> None:
    unread_twice(bee, "2C 9D 9D 3H KS")
    bee.refused("enter", "B1 is due, not 'P2'", position="P2", card="9D")
    bee.refused("enter", "card", position="B1", card="11X")
    bee.pit("enter", position="B1", card="9D")
    bee.deal(2)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    assert [data["source"] for data in bee.every("card.dealt")] == ["scanner", "manual", "scanner", "scanner"]
    assert bee.only("table.released")["action"] == "enter"
    bee.close_book()


def test_card_unreadable_scanned_once_more(bee: Shift) -> None:
    unread_twice(bee, "2C 9D 9D 9D 3H KS")
    bee.release("rescan")
    assert not bee.client.state()["holds"]
    bee.shoe.scan_again()
    bee.counted()
    bee.deal(2)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    assert bee.every("card.dealt")[1]["source"] == "rescan"
    bee.close_book()


def test_card_unreadable_void(bee: Shift) -> None:
    unread_twice(bee, "2C 9D 9D")
    bee.pit("void")
    assert bee.stands() == "voided: P1=2C"
    bee.close_book(unknown=1)


def test_card_unreadable_keyed_into_the_shoe_and_entered(angel: Shift) -> None:
    """An Angel Eye names the place of the card that it could not read, and reports its error."""
    angel.begin(HAND)
    angel.bets()
    angel.deal(1)
    with fault(angel, "unreadable:1"):
        angel.shoe.draw()
    angel.wait(lambda s: s["unread"] == 1, "a re-scan is wanted")
    angel.do("hold", text="it is torn")
    angel.refused("release", "is no way out now", action="as-p1")
    angel.pit("enter", position="B1", card="9D")
    angel.release("resume")
    angel.deal(2)
    angel.finish()
    assert angel.stands() == "resulted: 2C 3H / 9D KS banker by dealer"
    angel.close_book()


# --- card-missed -------------------------------------------------------------------------------------


def test_card_missed_with_nothing_drawn_after_it_is_scanned(bee: Shift) -> None:
    bee.begin(HAND)
    bee.bets()
    bee.deal(1)
    bee.shoe.slip("9D")
    bee.shoe.scan_again()  # the next scan is the card's own
    bee.counted()
    bee.deal(2)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    assert bee.every("table.held") == []
    bee.close_book()


def test_card_missed_inserted_and_all_dealt_again(bee: Shift) -> None:
    """Seen a card later: what came behind it moves up, and a card drawn for nothing is in excess."""
    bee.begin("2C 3H KS 4S")
    bee.bets()
    bee.deal(4)
    bee.shoe.slip("9D")  # behind the first
    assert bee.cards() == {"P1": "2C", "B1": "3H", "P2": "KS", "B2": "4S"}
    bee.do("hold", because="card-missed", text="B1 slipped through")
    ways = "keep, rescan hand, correct, insert, move, enter, void, shoe end"
    bee.on_hold("card-missed", "B1 slipped through", ways)
    bee.refused("release", "is no way out now", action="burn")
    bee.refused("insert", "no card lies at 'B3'", position="B3", card="9D")
    bee.pit("insert", position="B1", card="9D")
    bee.on_hold(
        "card-missed, overdraw",
        "It no longer belongs to the hand.",
        "burn, rescan hand, correct, insert, move, void, shoe end",
    )
    assert bee.cards() == {"P1": "2C", "B1": "9D", "P2": "3H", "B2": "KS"}
    bee.refused("release", "is no way out now", action="keep")
    bee.release("burn")
    bee.release("keep")
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    corrected = bee.only("hand.corrected")
    assert corrected["before"] == {"P1": "2C", "B1": "3H", "P2": "KS", "B2": "4S"}
    assert corrected["after"] == {"P1": "2C", "B1": "9D", "P2": "3H", "B2": "KS"}
    assert (corrected["next"], corrected["approved_by"]) == ("none", PIT_BOSS.name)
    assert bee.story() == (
        "betting.opened betting.closed card.dealt*4 table.held hand.corrected table.held card.burned"
        " table.released*2 round.resulted"
    )
    bee.close_book()


def test_card_missed_void(bee: Shift) -> None:
    bee.begin("2C 3H")
    bee.bets()
    bee.deal(2)
    bee.do("hold", because="card-missed", text="nobody knows which")
    bee.pit("void")
    assert bee.stands() == "voided: P1=2C B1=3H"
    assert not bee.client.state()["holds"]
    bee.close_book()


# --- card-twice --------------------------------------------------------------------------------------


def read_twice(bee: Shift) -> None:
    bee.begin("2C 9D 9D 3H KS 4S")
    bee.bets()
    bee.deal(2)


def test_card_twice_dropped(bee: Shift) -> None:
    read_twice(bee)
    bee.shoe.scan_again()
    state = bee.wait(lambda s: s["shoe"]["out"] == 3, "the same card again")
    assert not state["holds"], "two equal cards are lawful: never told by equality"
    bee.do("hold", because="card-twice")
    ways = "drop, keep, rescan hand, correct, insert, move, void, shoe end"
    bee.on_hold("card-twice", "One card was read twice.", ways)
    bee.refused("release", "is no way out now", action="burn")
    bee.release("drop")
    assert bee.cards() == {"P1": "2C", "B1": "9D"}
    bee.deal(2)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    corrected = bee.only("hand.corrected")
    assert corrected["before"]["P2"] == "9D" and "P2" not in corrected["after"]
    bee.close_book()


def test_card_twice_both_kept(bee: Shift) -> None:
    read_twice(bee)
    bee.deal(1)
    bee.do("hold", because="card-twice")
    bee.release("keep")
    assert bee.cards() == {"P1": "2C", "B1": "9D", "P2": "9D"}
    bee.deal(1)  # Player 1, Banker 2
    bee.deal(2)
    assert bee.stands() == "resulted: 2C 9D KS / 9D 3H 4S banker by automatic"
    assert bee.every("hand.corrected") == []
    bee.close_book()


def test_card_twice_told_by_the_number_of_the_frame_is_one_card(angel: Shift) -> None:
    angel.begin(HAND)
    angel.bets()
    with fault(angel, "duplicate:1"):
        angel.deal(4)
        angel.finish()
    assert angel.stands() == "resulted: 2C 3H / 9D KS banker by shoe"
    assert angel.every("table.held") == []
    angel.close_book()


# --- two-cards ---------------------------------------------------------------------------------------


def test_two_cards_put_in_the_order_seen_on_video(bee: Shift) -> None:
    bee.begin("2C 3H 9D KS")
    bee.bets()
    bee.deal(3)  # 3H and 9D came at once: 9D was the first
    bee.do("hold", because="two-cards")
    bee.on_hold(
        "two-cards",
        "their order must be certain, on video",
        "keep, rescan hand, correct, insert, move, void, shoe end",
    )
    bee.refused("move", "is there already", position="B1", to="B1")
    bee.refused("move", "no card lies at 'B2'", position="B1", to="B2")
    bee.pit("move", position="P2", to="B1")
    bee.release("keep")
    bee.deal(1)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    corrected = bee.only("hand.corrected")
    assert corrected["before"] == {"P1": "2C", "B1": "3H", "P2": "9D"}
    assert corrected["after"] == {"P1": "2C", "B1": "9D", "P2": "3H"}
    assert corrected["next"] == "banker"
    bee.close_book()


def test_two_cards_kept_in_one_order_and_accepted_in_another(bee: Shift) -> None:
    bee.begin("2C 3H 9D KS")
    bee.bets()
    bee.deal(1)
    bee.do("hold", because="two-cards")
    bee.deal(2)
    bee.on_hold(
        "two-cards",
        "Two cards were drawn at once",
        "accept, burn, rescan hand, correct, insert, move, void, shoe end",
    )
    bee.refused("move", "there is no kept card K3; kept are: K1, K2", position="K3", to="K1")
    bee.refused("release", "is no way out now", action="keep")
    bee.pit("move", position="K1", to="K2")
    bee.release("accept")
    assert bee.cards() == {"P1": "2C", "B1": "9D", "P2": "3H"}
    bee.deal(1)
    assert bee.stands() == "resulted: 2C 3H / 9D KS banker by automatic"
    bee.close_book()


def test_two_cards_void(bee: Shift) -> None:
    bee.begin("2C 3H 9D")
    bee.bets()
    bee.deal(3)
    bee.do("hold", because="two-cards")
    bee.pit("void")
    assert bee.stands() == "voided: P1=2C B1=3H P2=9D"
    bee.close_book()
