"""What the display shows is what the journal says: after every event, and no sooner than it may be seen."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import DECK, Outcome
from tablectl.display.model import About, boards_key, boards_part, shoe_shown, table_part
from tablectl.display.rounds import Played, marks, settled_rounds
from tablectl.table import Kind, State
from tests.e2e.harness import standing
from tests.table.playing import BANKER_WINS, NATURAL, Play, house

ABOUT = About("T07", test=True)
TIE = "2C 2D 7H 7S"
"""Natural 9 against natural 9, a pair in neither hand."""


def played(events: list[ev.Event], state: State) -> Played:
    """As the feed reads it from the journal: the events of the shoe that is shown."""
    shoe = shoe_shown(state)
    return Played(settled_rounds(event for event in events if event.shoe == shoe))


def shown(play: Play) -> dict[str, Any]:
    return table_part(play.state, ABOUT, played(play.events, play.state))


def bare() -> Play:
    return Play(house(burn={"by": "none"})).idle()


# --- phases -------------------------------------------------------------------------------------------


def test_a_round_from_the_opening_of_betting_to_its_result() -> None:
    play = bare()
    at = shown(play)
    assert (at["phase"], at["shoe"], at["round"], at["result"]) == ("idle", 1, None, None)
    play.betting()
    at = shown(play)
    assert (at["phase"], at["round"], at["window"]) == ("betting", 1, 20_000)
    assert at["deadline"] * 1_000_000 == play.state.the_round.deadline
    play.wait(20)
    at = shown(play)
    assert (at["phase"], at["deadline"]) == ("no more bets", None)
    play.deal("2C 9D 3H")
    at = shown(play)
    assert at["player"] == {"cards": ["2C", "3H"], "total": 5}
    assert at["banker"] == {"cards": ["9D"], "total": 9}
    assert (at["phase"], at["next"], at["result"]) == ("dealing", "banker", None)
    play.deal("KS")
    at = shown(play)
    assert (at["phase"], at["round"]) == ("idle", None)
    assert at["result"] == {"round": 1, "outcome": "banker", "amended": False, "extras": ["banker_natural"]}
    assert (at["player"]["cards"], at["banker"]["total"]) == (["2C", "3H"], 9), "the hand stays to be seen"
    play.betting()
    assert shown(play)["result"] is None and shown(play)["player"] == {"cards": [], "total": None}


def test_a_closed_table_shows_no_shoe_and_a_table_without_one_none_either() -> None:
    play = Play(house())
    assert (shown(play)["phase"], shown(play)["shoe"], shown(play)["limits"]) == ("closed", None, None)
    play.opened()
    assert (shown(play)["phase"], shown(play)["shoe"]) == ("no shoe", None)
    assert shown(play)["limits"]["bets"]["player"] == ["10", "400"]
    assert shown(play)["limits"]["currency"] == "USD"


def test_last_hand_is_shown_from_its_announcement_to_the_end_of_the_shoe() -> None:
    play = bare()
    play.round(NATURAL)
    assert not shown(play)["last_hand"]
    play.do(Kind.CUT_CARD)
    assert shown(play)["last_hand"]
    play.round(BANKER_WINS)
    at = shown(play)
    assert (at["phase"], at["shoe"]) == ("shuffle due", 1), "the shoe's rounds stay until the next begins"
    assert at["result"]["round"] == 2 and not at["last_hand"]
    play.do(Kind.SHOE_NEW)
    at = shown(play)
    assert (at["shoe"], at["result"]) == (2, None)
    assert played(play.events, play.state) == Played()


def test_a_shoe_whose_start_is_withdrawn_leaves_the_last_one_on_the_display() -> None:
    play = bare()
    play.round(NATURAL)
    play.do(Kind.SHOE_END)
    before = shown(play)
    play.do(Kind.SHOE_NEW)
    assert (shown(play)["shoe"], shown(play)["result"]) == (2, None)
    play.do(Kind.SHOE_UNDO)
    assert shown(play) == before and before["shoe"] == 1
    play.do(Kind.AMEND, round="1/1", P1="8S")
    assert shown(play)["result"]["amended"] and shown(play)["player"]["total"] == 8
    play.do(Kind.SHOE_NEW)
    assert (shown(play)["shoe"], shown(play)["result"]) == (3, None)


def test_a_hold_is_shown_without_its_reason() -> None:
    play = bare().betting()
    play.deal("8S")
    at = shown(play)
    assert at["held"] and (at["phase"], at["player"]["cards"]) == ("betting", [])
    assert "8S" not in json.dumps(at) and "card-early" not in json.dumps(at)


def test_a_void_and_an_amendment_change_the_last_result() -> None:
    play = bare()
    play.round(NATURAL)
    play.do(Kind.AMEND, round="1/1", P1="8S")
    at = shown(play)
    assert (at["result"]["outcome"], at["result"]["amended"], at["player"]["total"]) == ("player", True, 8)
    play.do(Kind.VOID, round="1/1")
    at = shown(play)
    assert (at["result"]["outcome"], at["player"]["cards"]) == (None, [])
    assert boards_part(played(play.events, play.state), predictions=True)["bead"] == []


# --- what may not be seen ------------------------------------------------------------------------------


def test_face_down_cards_are_backs_until_they_are_turned() -> None:
    play = Play(house("classic", burn={"by": "none"})).no_more_bets()
    for count, card in enumerate(("2C", "9D", "3H", "KS"), start=1):
        play.deal(card)
        at = shown(play)
        assert len(at["player"]["cards"]) + len(at["banker"]["cards"]) == count
        assert {*at["player"]["cards"], *at["banker"]["cards"]} == {"?"}
        assert (at["player"]["total"], at["next"], at["phase"]) == (None, None, "dealing")
        assert not any(str(face) in json.dumps(at) for face in DECK)
    play.do(Kind.TURN)
    assert shown(play)["player"]["cards"] == ["2C", "3H"]


def test_burn_cards_are_never_seen() -> None:
    play = Play(house()).opened()
    play.do(Kind.SHOE_NEW)
    for card in ("2S", "3H", "4D"):
        play.deal(card)
        assert shown(play)["phase"] == "burning" and card not in json.dumps(shown(play))


# --- the boards ----------------------------------------------------------------------------------------

deeds = st.lists(
    st.one_of(
        st.sampled_from((NATURAL, BANKER_WINS, TIE)),
        st.sampled_from(("void now", "end")),
        st.tuples(st.sampled_from(("void", "amend")), st.integers(1, 4)),
    ),
    max_size=14,
)


@example([NATURAL, TIE, ("amend", 1), BANKER_WINS, ("void", 2), ("void", 3), "end", NATURAL])
@given(deeds)
def test_live_equals_rebuilt_after_whatever_was_corrected(done: list[Any]) -> None:
    """Boards kept while their key is the same are the boards made of the whole journal."""
    play = bare()
    kept: dict[tuple[object, ...], Played] = {}
    for deed in done:
        _do(play, deed)
        now = played(play.events, play.state)
        assert kept.setdefault(boards_key(play.state), now) == now
        assert marks(now.rounds) == marks(_independent(play))


def _do(play: Play, deed: Any) -> None:
    shoe = play.state.shoe
    match deed:
        case "void now":
            play.betting()
            play.do(Kind.VOID)
        case "end":
            play.do(Kind.SHOE_END)
            play.do(Kind.SHOE_NEW)
        case str(cards):
            if shoe is not None and shoe.counts[DECK_PLACE[cards.split()[0]]] < 8:
                play.round(cards)
        case (what, number):
            assert shoe is not None
            where = f"{shoe.number}/{number}"
            args = {"P1": "8S"} if what == "amend" else {}
            play.command(Kind(what), round=where, **args)  # refused where there is nothing to correct


DECK_PLACE = {str(card): card.number for card in DECK}


def _independent(play: Play) -> tuple[Any, ...]:
    """The same by the way the game server's rounds are checked: from the public events."""
    shoe = shoe_shown(play.state)
    public = [
        json.loads(ev.public_body(event, table="T", epoch="e", sequence=1, at=play.now(), test=True))
        for event in play.events
        if event.PUBLIC and event.shoe == shoe and event.round is not None
    ]
    stands = standing(public)
    found = []
    for where, (state, _, data) in stands.items():
        if state == "voided":
            continue
        kind = ev.RoundResulted if state == "resulted" else ev.RoundAmended
        found.append((int(where.split("/")[1]), kind, data))
    made = []
    for number, _, data in sorted(found, key=lambda one: one[0]):
        hands = [ev.HandResult(**data[side]) for side in ("player", "banker")]
        made.append(
            ev.RoundResulted(
                outcome=Outcome(data["outcome"]), player=hands[0], banker=hands[1], bets={},
                shoe=shoe, round=number,
            )
        )  # fmt: skip
    return settled_rounds(made)


def test_boards_say_what_the_rounds_were() -> None:
    play = bare()
    for cards in (BANKER_WINS, TIE, NATURAL, NATURAL, BANKER_WINS):
        play.round(cards)
    made = boards_part(played(play.events, play.state), predictions=True)
    assert [cell[2] for cell in made["bead"]] == ["banker", "tie", "player", "player", "banker"]
    assert made["big"][0] == [0, 0, "banker", 1, 0, 0]
    assert made["statistics"]["tie"] == 1 and made["statistics"]["rounds"] == 5
    assert set(made["predictions"]) == {"player", "banker"}
    assert json.loads(json.dumps(made)) == made
    assert boards_part(played(play.events, play.state), predictions=False)["predictions"] is None


@pytest.mark.parametrize("wrong", [{}, {"outcome": "nobody"}, {"outcome": "tie", "player": {}, "banker": 3}])
def test_an_amendment_that_is_no_result_is_told(wrong: dict[str, Any]) -> None:
    event = ev.RoundAmended(before={}, after=wrong, reason="", approved_by="", revision=2, shoe=1, round=1)
    with pytest.raises((ValueError, KeyError, TypeError)):
        settled_rounds([event])
