"""Burns, cutting card, the count of a shoe and what becomes of it: from the bytes to the game server.

House rules, section 5: `burn-over`, `burn-wrong`, `shoe-empty`, `integrity`; section 4: what is withdrawn,
taken over and counted. Each test is one row, or one way out of it.
"""

from __future__ import annotations

import pytest

from tablectl.cards import DECK, Card
from tests.e2e.conftest import Tables
from tests.e2e.harness import BARE, PIT_BOSS, running
from tests.e2e.irregularities import LONG, Shift, fault

HAND = "2C 9D 3H KS"
BANKER_WINS = "resulted: 2C 3H / 9D KS banker by automatic"
BURNING = LONG | {"burn": {"by": "count", "after_shuffle": 2}, "dealing": {"unread_seconds": 0.3}}
ONE_DECK = BARE | {"shoe": {"decks": 1, "cutting_card": 10, "inspection": True}}


@pytest.fixture
def burning(tables: Tables) -> Shift:
    """Two burn cards after each shuffle."""
    return tables("bee-tek", BURNING)


def burn(table: Shift, cards: int) -> None:
    for _ in range(cards):
        table.shoe.draw(burn=True)
    table.counted()


# --- burn-over, burn-wrong ---------------------------------------------------------------------------


def test_burn_over_is_burned(burning: Shift) -> None:
    burning.begin(f"7S 8S 8H {HAND}")
    burn(burning, 3)
    message = "One burn card too many was drawn."
    state = burning.on_hold("burn-over", message, "burn, correct, shoe end")
    assert state["kept"] == ["?"] and state["holds"][0]["saw"] == {"label": "none"}
    burning.refused("bets open", message, supervised=False)
    burning.refused("release", "is no way out now", action="keep")
    burning.release("burn")
    burning.bets()
    burning.deal(4)
    assert burning.stands() == BANKER_WINS
    assert burning.story() == (
        "card.burned*2 table.held card.burned table.released betting.opened betting.closed card.dealt*4"
        " round.resulted"
    )
    assert not any(face in str(burning.told()) for face in ("7S", "8S", "8H"))
    burning.close_book()


def test_burn_wrong_forgotten_no_bet_opens(burning: Shift) -> None:
    burning.begin(f"7S 8S {HAND}")
    burning.refused("bets open", "burn cards are due; burn them first", supervised=False)
    burn(burning, 1)
    burning.refused("bets open", "burn cards are due; burn them first", supervised=False)
    burn(burning, 1)
    burning.bets()
    burning.deal(4)
    assert burning.stands() == BANKER_WINS
    burning.close_book()


def test_burn_wrong_too_few_seen_is_told_by_hand(burning: Shift) -> None:
    burning.begin(f"7S {HAND}")
    burn(burning, 1)
    burning.shoe.slip("8S")
    burning.refused("burn done", "hold, then burn done", supervised=False, count="1")
    burning.do("hold", text="one slipped through")
    burning.on_hold("called", "one slipped through", "resume, burn done, shoe end")
    burning.do("burn done", count="1")
    burning.refused("burn done", "on hold", supervised=False, count="1")
    burning.release("resume")
    assert burning.client.state()["phase"] == "idle"
    burning.bets()
    burning.deal(4)
    assert burning.stands() == BANKER_WINS
    burning.close_book(unknown=1)


def too_many_told(burning: Shift) -> None:
    burning.begin(HAND)
    for card in ("7S", "8S", "8H"):
        burning.shoe.slip(card)
    burning.do("hold", text="the scanner was covered")
    burning.do("burn done", count="3")
    burning.on_hold("called, burn-wrong", "2 were due, 3 were burned.", "keep, resume, shoe end")
    burning.refused("burn done", "on hold", supervised=False, count="1")


def test_burn_wrong_too_many_kept(burning: Shift) -> None:
    too_many_told(burning)
    burning.release("keep")
    burning.release("resume")
    burning.bets()
    burning.deal(4)
    assert burning.stands() == BANKER_WINS
    assert [data["left"] for data in burning.every("card.burned")] == [1, 0, 0]
    burning.close_book(unknown=3)


def test_burn_wrong_shoe_end(burning: Shift) -> None:
    too_many_told(burning)
    burning.pit("shoe end")
    assert burning.story() == "table.held card.burned*3 table.held shoe.ended table.released"
    assert len(burning.only("shoe.ended")["burned"]) == 3
    burning.close_book()


def test_burn_card_unreadable_for_too_long_is_burned_unread(burning: Shift) -> None:
    burning.begin(f"7S 8S {HAND}")
    with fault(burning, "unreadable:1"):
        burning.shoe.draw(burn=True)
    burning.on_hold("card-unreadable", "No card was scanned in its place.", "burn, rescan, shoe end")
    burning.refused("release", "is no way out now", action="accept")
    burning.refused("enter", "on hold", position="P1", card="7S")
    burning.release("burn")
    burn(burning, 1)
    burning.bets()
    burning.deal(4)
    assert burning.stands() == BANKER_WINS
    burning.close_book(unknown=1)


# --- shoe-empty --------------------------------------------------------------------------------------


def second_cutting_card(angel: Shift) -> None:
    angel.begin(HAND, (0, 2))
    angel.shoe.draw()  # the cutting card
    angel.wait(lambda s: s["shoe"]["last_hand"], "the coming hand is the last")
    angel.bets()
    angel.deal(2)
    angel.shoe.draw()  # the one behind the last card
    message = "The shoe is exhausted: no card is left in it."
    angel.on_hold("shoe-empty", message, "correct, void, shoe end")
    angel.refused("release", "is no way out now", action="keep")
    angel.refused("enter", message, position="P2", card="3H")
    angel.refused("insert", message, position="P2", card="3H")


def test_shoe_empty_void(angel: Shift) -> None:
    second_cutting_card(angel)
    angel.pit("void")
    assert angel.stands() == "voided: P1=2C B1=9D"
    assert angel.client.state()["phase"] == "shuffle due"
    assert angel.story() == (
        "cut_card.drawn last_hand.announced betting.opened betting.closed card.dealt*2 table.held"
        " round.voided shoe.ended table.released"
    )
    angel.close_book()


def test_shoe_empty_shoe_end(angel: Shift) -> None:
    second_cutting_card(angel)
    angel.pit("shoe end")
    assert angel.stands() == "voided: P1=2C B1=9D"
    assert angel.only("shoe.ended")["integrity"] is True, "414 cards were never seen"
    angel.close_book()
    angel.refused("shoe new", "count them first: shoe inspect", supervised=False)
    angel.pit("shoe inspect", method="by-hand")


def test_shoe_empty_by_our_own_count(bee: Shift) -> None:
    """Taken over with six cards left; one is burned, and the hand wants six."""
    bee.begin("")
    number = bee.client.state()["shoe"]["number"] + 1
    bee.pit("shoe end")
    bee.shoe.load([Card.parse(card) for card in ["7S", "2S", "3D", "AH", "TC", "5C"]])
    bee.pit("shoe adopt", number=str(number), out="410", rounds="70", last_hand="")
    bee.do("bets open")
    bee.shoe.draw()
    bee.wait(lambda s: s["holds"], "an early card")
    bee.release("burn")
    bee.do("bets close")
    for _ in range(5):
        bee.shoe.draw()
    bee.on_hold("shoe-empty", "no card is left", "correct, void, shoe end")
    assert bee.client.state()["shoe"]["left"] == 0
    bee.refused("insert", "no card is left", position="B3", card="4D")
    bee.pit("void")
    assert bee.stands() == "voided: P1=2S B1=3D P2=AH B2=TC P3=5C"
    bee.settle()
    bee.check_everything()
    bee.pit("shoe end")


# --- integrity ---------------------------------------------------------------------------------------


def test_integrity_ninth_copy_corrected(bee: Shift) -> None:
    bee.begin(f"{'9D ' * 8}{HAND}")
    bee.pit("burn", count="8")
    burn(bee, 8)
    bee.bets()
    bee.deal(1)
    bee.shoe.misread("9H")
    bee.counted()
    state = bee.on_hold(
        "integrity",
        "This was copy 9 of 9D in a shoe of 8 decks.",
        "rescan hand, correct, insert, move, amend, void, shoe end",
    )
    assert state["kept"] == ["?"]
    bee.refused("release", "is no way out now", action="keep")
    bee.refused("release", "is no way out now", action="accept")
    bee.pit("correct", position="K1", card="9H")
    bee.release("accept")
    bee.release("keep")
    bee.deal(2)
    assert bee.stands() == "resulted: 2C 3H / 9H KS banker by automatic"
    assert "integrity" in bee.alerts()
    bee.do("ack", alert="integrity")
    bee.close_book()


def test_integrity_an_earlier_read_of_the_hand_corrected(bee: Shift) -> None:
    bee.begin(f"{'9D ' * 7} 9D 9D 3H KS")
    bee.pit("burn", count="7")
    burn(bee, 7)
    bee.bets()
    bee.shoe.misread("2C")
    bee.deal(1)
    bee.on_hold(
        "integrity",
        "This was copy 9 of 9D",
        "drop, rescan hand, correct, insert, move, amend, void, shoe end",
    )
    bee.refused("correct", "is that card already", position="P1", card="9D")
    bee.pit("correct", position="P1", card="2C")
    bee.refused("bets open", "on hold", supervised=False)
    bee.release("accept")
    bee.release("keep")
    bee.deal(2)
    assert bee.stands() == BANKER_WINS
    assert bee.only("hand.corrected")["after"] == {"P1": "2C"}
    bee.close_book()


def test_integrity_survives_the_void_and_ends_with_the_shoe(bee: Shift) -> None:
    bee.begin(f"{'9D ' * 8}{HAND}")
    bee.pit("burn", count="8")
    burn(bee, 8)
    bee.bets()
    bee.deal(2)
    bee.pit("void")
    assert bee.stands() == "voided: P1=2C"
    bee.on_hold("integrity", "copy 9 of 9D", "amend, shoe end")
    bee.refused("release", "is no way out now", action="keep")
    bee.refused("bets open", "cannot be right", supervised=False)
    bee.close_book()
    bee.pit("shoe end")
    ended = bee.only("shoe.ended")
    assert (ended["integrity"], ended["extra"], ended["approved_by"]) == (True, ["9D"], PIT_BOSS.name)
    bee.close_book()
    bee.refused("shoe new", "count them first: shoe inspect", supervised=False)
    bee.pit("shoe inspect", method="by-hand", extra="9D", foreign="a joker")
    found = bee.only("inspection.recorded")
    assert (found["extra"], found["foreign"], found["attested_by"]) == (
        ["9D"],
        ["a joker"],
        ["Dora", PIT_BOSS.name],
    )


def test_integrity_the_shoe_says_empty_with_cards_missing(angel: Shift) -> None:
    angel.begin(HAND, (4, 4))
    angel.bets()
    angel.deal(4)
    angel.finish()
    angel.shoe.draw()
    angel.wait(lambda s: s["shoe"]["last_hand"], "the coming hand is the last")
    angel.shoe.draw()
    angel.on_hold("integrity", "412 cards are not accounted for", "keep, amend, shoe end")
    angel.refused("bets open", "on hold", supervised=False)
    angel.refused("release", "is no way out now", action="burn")
    angel.pit("shoe end")
    ended = angel.only("shoe.ended")
    assert (ended["integrity"], ended["left"], len(ended["missing"])) == (True, 412, 412)
    assert angel.stands().startswith("resulted"), "earlier rounds stand"
    angel.close_book()
    angel.pit("shoe inspect", method="by-hand")


# --- withdrawn, taken over ---------------------------------------------------------------------------


def test_shoe_new_withdrawn(burning: Shift) -> None:
    burning.begin("")
    burning.begin("")  # after another one, whichever scenario came first
    number = burning.client.state()["shoe"]["number"]
    burning.pit("shoe new undo")
    assert burning.client.state()["phase"] == "shuffle due"
    burning.refused("shoe new undo", "the shoe has ended; next: shoe new")
    assert burning.story() == "shoe.ended"
    assert burning.only("shoe.ended")["reason"].startswith("withdrawn")
    burning.new_shoe(f"7S 8S {HAND}")
    assert burning.client.state()["shoe"]["number"] == number + 1
    burn(burning, 1)
    burning.refused("shoe new undo", "it can only be ended: shoe end")
    burn(burning, 1)
    burning.refused("shoe new undo", "it can only be ended: shoe end")
    burning.bets()
    burning.deal(4)
    assert burning.stands(f"{number + 1}/1") == BANKER_WINS
    burning.close_book()


def test_cut_card_withdrawn(bee: Shift) -> None:
    bee.begin(f"{HAND} 9S 2H KD 3C")
    bee.bets()
    bee.deal(1)
    bee.do("cut-card")
    assert bee.client.state()["shoe"]["last_hand"]
    bee.pit("cut-card undo")
    state = bee.client.state()["shoe"]
    assert not state["cut"] and not state["last_hand"]
    bee.refused("cut-card undo", "was not told yet")
    bee.deal(3)
    assert bee.client.state()["phase"] == "idle", "not the last hand"
    bee.bets()
    bee.deal(1)
    bee.do("cut-card")
    bee.deal(1)
    bee.refused("cut-card undo", "cards were drawn since")
    bee.deal(1)
    bee.shoe.draw()
    bee.phase("shuffle due")
    assert bee.story() == (
        "betting.opened betting.closed card.dealt cut_card.drawn last_hand.announced cut_card.withdrawn"
        " card.dealt*3 round.resulted betting.opened betting.closed card.dealt cut_card.drawn"
        " last_hand.announced card.dealt*3 round.resulted shoe.ended"
    )
    bee.close_book()


def test_shoe_adopted_goes_on_with_counts_only(bee: Shift) -> None:
    bee.begin("")
    number = bee.client.state()["shoe"]["number"]
    bee.refused(
        "shoe adopt", "none of this is due", number=str(number + 7), out="40", rounds="8", last_hand=""
    )
    bee.pit("shoe end")
    bee.shoe.load([Card.parse(card) for card in HAND.split()])
    bee.refused("shoe adopt", "a number from", number=str(number), out="40", rounds="8", last_hand="")
    bee.refused("shoe adopt", "8 rounds take 32 cards", number="90", out="31", rounds="8", last_hand="")
    adopted = number + 7
    bee.pit("shoe adopt", number=str(adopted), out="40", rounds="8", last_hand="yes")
    state = bee.client.state()
    assert (state["shoe"]["out"], state["shoe"]["rounds"], state["shoe"]["last_hand"]) == (40, 8, True)
    bee.bets()
    for _ in range(4):
        bee.shoe.draw()
    bee.phase("shuffle due")
    assert bee.stands(f"{adopted}/9") == BANKER_WINS
    started = bee.only("shoe.started")
    assert started["adopted"] == {"out": 40, "rounds": 8, "last_hand": True}
    ended = bee.every("shoe.ended")[-1]
    assert (ended["shoe"], ended["dealt"], ended["left"]) == (adopted, 44, 372)
    bee.settle()
    bee.check_everything()


# --- counting the set --------------------------------------------------------------------------------


def test_inspection_by_scanner_names_what_is_missing_and_extra() -> None:
    """A deck without the king of spades, with a second nine of diamonds; one card cannot be read at once."""
    with running("bee-tek", overrides=ONE_DECK) as rig:
        rig.do("open")
        status, answer = rig.command("shoe inspect", supervised=True, expect={"version": 0}, method="scan")
        assert status == 409
        rig.do("sign-in", name="Dora", pickup="left")
        status, answer = rig.command("shoe new")
        assert status == 409 and "to be inspected" in answer["answer"]
        names = [str(card) for card in DECK if str(card) != "KS"] + ["9D"]
        rig.do("shoe inspect", supervised=True, method="scan")
        rig.shoe.load([Card.parse(name) for name in names])
        for _ in range(52):
            rig.shoe.draw()
        state = rig.wait(lambda s: s["counting"]["counted"] == 52, "the live count")
        assert (state["counting"]["of"], state["counting"]["extra"]) == (52, ["9D"])
        assert not state["holds"] and state["shoe"] is None, "counting is not dealing"
        status, answer = rig.command("shoe new")
        assert status == 409 and "being counted" in answer["answer"]
        said = rig.do("shoe inspect", supervised=True, method="scan-done", foreign="a joker")["answer"]
        assert "missing: KS; extra: 9D; foreign: a joker" in said
        status, answer = rig.command("shoe new")
        assert status == 409, "not while a card is missing"
        rig.do("shoe inspect", supervised=True, method="by-hand", missing="KS", replaced="KS")
        rig.new_shoe(HAND)
        rig.settle()
        found = [
            event["data"] for event in rig.public() if event["type"] == "tablectl.inspection.recorded.v1"
        ]
        assert [(f["method"], f["missing"], f["extra"], f.get("counted")) for f in found] == [
            ("scan", ["KS"], ["9D"], 52),
            ("by-hand", ["KS"], [], None),
        ]
        assert found[0]["attested_by"] == ["Dora", PIT_BOSS.name]
        rig.check_everything()
        assert rig.client.state()["shoe"]["out"] == 0
