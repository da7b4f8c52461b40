"""What people say of a shoe: taken back, taken over, counted by hand or by the scanner."""

from __future__ import annotations

import pytest

from tablectl import events as ev
from tablectl.cards import DECK
from tablectl.scanner import DeviceKind
from tablectl.table import Kind, Phase
from tests.table.playing import NATURAL, Play, house

# --- taken back -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["dealer", "shoe"])
def test_the_cutting_card_is_taken_back_until_the_next_card(by: str) -> None:
    play = Play()
    play.idle()
    play.do(Kind.CUT_CARD) if by == "dealer" else play.device(DeviceKind.CUT_CARD)
    play.do(Kind.CUT_UNDO)
    event = play.of(ev.CutCardWithdrawn)[-1]
    assert event.approved_by == "Pia" and play.state.the_shoe.last_round is None
    play.round(NATURAL)
    assert play.stands(Phase.IDLE), "it was not the last hand"
    play.device(DeviceKind.CUT_CARD)
    assert play.state.the_shoe.last_round == 2
    play.no_more_bets()
    play.scan("9S")
    assert "cards were drawn since" in play.refused(Kind.CUT_UNDO)


def test_what_the_house_rule_ends_is_not_taken_back() -> None:
    play = Play(house(shoe={"share": "0.01"}))
    play.idle()
    assert play.state.the_shoe.cut is not None
    assert "by the share" in play.refused(Kind.CUT_UNDO)


def test_a_new_shoe_is_taken_back_until_a_card_is_drawn() -> None:
    play = Play()
    play.opened()
    before = play.state
    play.do(Kind.SHOE_NEW)
    play.do(Kind.SHOE_UNDO)
    assert play.stands(Phase.NO_SHOE) and play.state.inspected == before.inspected
    assert play.state.shoe_since_open is False
    ended = play.of(ev.ShoeEnded)[-1]
    assert ended.withdrawn and ended.rounds == ended.dealt == 0 and "withdrawn" in ended.reason
    play.do(Kind.SHOE_NEW)
    assert play.state.the_shoe.number == 2, "the number is used up"
    play.scan("2S")
    assert "it can only be ended" in play.refused(Kind.SHOE_UNDO)


def test_a_shoe_in_which_a_round_began_is_not_taken_back() -> None:
    play = Play(house(burn={"by": "none"}))
    play.idle("")
    play.do(Kind.BETS_OPEN)
    play.do(Kind.VOID)
    assert "it can only be ended" in play.refused(Kind.SHOE_UNDO)


# --- taken over from another controller ------------------------------------------------------------------


def test_a_shoe_goes_on_with_counts_only() -> None:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_ADOPT, number="12", out="200", rounds="33")
    started = play.of(ev.ShoeStarted)[-1]
    assert started.adopted == {"out": 200, "rounds": 33, "last_hand": False}
    assert play.stands(Phase.IDLE) and play.out == 200 and play.state.the_shoe.left == 216
    play.round(NATURAL)
    assert play.result().round == 34 and play.out == 204


def test_an_adopted_last_hand_is_the_last() -> None:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_ADOPT, number="12", out="370", rounds="70", last_hand="yes")
    assert play.of(ev.LastHandAnnounced)[-1].round == 71
    play.round(NATURAL)
    assert play.stands(Phase.SHUFFLE_DUE) and play.of(ev.ShoeEnded)[-1].rounds == 71


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"number": "0", "out": "0", "rounds": "0"}, "a number from 1"),
        ({"number": "1", "out": "417", "rounds": "0"}, "0 to 416"),
        ({"number": "1", "out": "10", "rounds": "3"}, "take 12 cards at least"),
        ({"number": "x", "out": "10", "rounds": "1"}, "a number from"),
        ({}, "a number from"),
    ],
)
def test_what_cannot_be_adopted_is_refused(args: dict[str, str], says: str) -> None:
    play = Play()
    play.opened()
    assert says in play.refused(Kind.SHOE_ADOPT, **args)


# --- counted ---------------------------------------------------------------------------------------------


def counting() -> Play:
    play = Play(house(shoe={"decks": 1, "cutting_card": 5}))
    play.opened()
    play.do(Kind.INSPECT, method="scan")
    return play


def test_a_count_by_scanner_names_what_is_missing_and_extra() -> None:
    play = counting()
    for card in DECK[:-1]:
        play.scan(str(card))
    play.scan("8S")
    play.scan(None)
    assert play.state.counting is not None and play.state.counting.out == 52
    assert play.beeps == ["reject"]
    play.do(Kind.INSPECT, method="scan-done")
    event = play.of(ev.InspectionRecorded)[-1]
    assert (event.method, event.counted) == ("scan", 52)
    assert (event.missing, event.extra) == (("KC",), ("8S",))
    assert event.attested_by == ("Dora", "Pia") and not event.complete
    assert "KC" in play.last.answer and not play.state.inspected
    assert "to be inspected" in play.refused(Kind.SHOE_NEW)
    play.do(Kind.INSPECT, method="by-hand", missing="KC", replaced="KC")
    assert play.state.inspected
    play.do(Kind.SHOE_NEW)


def test_a_whole_set_is_complete() -> None:
    play = counting()
    play.deal(" ".join(map(str, DECK)))
    assert "being counted" in play.refused(Kind.SHOE_NEW)
    play.do(Kind.INSPECT, method="scan-done")
    assert play.state.inspected and play.of(ev.InspectionRecorded)[-1].missing == ()


def test_a_count_is_given_up_and_begun_again() -> None:
    play = counting()
    play.deal("8S 9S")
    assert "under way" in play.refused(Kind.INSPECT, method="scan")
    assert "under way" in play.refused(Kind.INSPECT)
    play.do(Kind.INSPECT, method="scan-cancel")
    assert play.state.counting is None
    assert "no count" in play.refused(Kind.INSPECT, method="scan-done")
    assert "no count" in play.refused(Kind.INSPECT, method="scan-cancel")
    assert "by-hand or by scan" in play.refused(Kind.INSPECT, method="weighing")


def test_a_count_of_eight_decks_with_a_deck_missing_is_not_finished() -> None:
    play = Play()
    play.opened()
    play.do(Kind.INSPECT, method="scan")
    for _ in range(6):
        play.deal(" ".join(map(str, DECK)))
    assert "only 312 of 416" in play.refused(Kind.INSPECT, method="scan-done")


def test_what_was_found_by_hand_is_told_by_name() -> None:
    play = Play()
    play.opened()
    play.do(
        Kind.INSPECT, method="by-hand", missing="KS", extra="8D", foreign="a joker, blue back", damaged="5C"
    )
    event = play.of(ev.InspectionRecorded)[-1]
    assert (event.missing, event.extra, event.foreign, event.damaged) == (
        ("KS",),
        ("8D",),
        ("a joker", "blue back"),
        ("5C",),
    )
    assert not event.complete and "KS 5C" in play.last.answer
    assert "is not a card" in play.refused(Kind.INSPECT, method="by-hand", missing="KX")


# --- the end of a shoe -----------------------------------------------------------------------------------


def test_the_end_tells_what_is_left_and_what_is_missing() -> None:
    play = Play(house(shoe={"cutting_card": 400}))
    play.no_more_bets()
    play.deal("9S 2H")
    play.device(DeviceKind.CUT_CARD)
    play.device(DeviceKind.CUT_CARD)
    assert play.codes == ["shoe-empty"]
    play.do(Kind.SHOE_END)
    ended = play.of(ev.ShoeEnded)[-1]
    assert (ended.left, ended.integrity) == (408, True) and len(ended.missing) == 408
    assert "count them first" in play.refused(Kind.SHOE_NEW)


def test_a_shoe_that_ended_well_is_not_in_doubt() -> None:
    play = Play()
    play.idle()
    play.do(Kind.SHOE_END)
    ended = play.of(ev.ShoeEnded)[-1]
    assert (ended.left, ended.integrity, ended.missing) == (410, None, ())


def test_burns_may_be_told_by_hand_when_the_scanner_died_in_them() -> None:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.deal("2S 3H")
    play.lose()
    play.do(Kind.BURN_DONE, count="4")
    assert play.stands(Phase.IDLE) and play.out == 6
    play.release("cards-confirmed")
    assert play.state.the_shoe.unknown == 4


def test_the_dealer_is_reminded_of_a_card_that_is_due() -> None:
    play = Play()
    play.round("2S KD 3S")
    assert not play.wait(19).effects
    play.wait(1)
    assert play.said == ["A card is due: Banker's card"]
    assert not play.wait(60).effects, "once"


@pytest.mark.parametrize("way", [Kind.VOID, Kind.SHOE_END])
def test_missing_cards_are_remembered_whichever_way_the_shoe_ends(way: Kind) -> None:
    play = Play(house(shoe={"cutting_card": 400}))
    play.idle()
    play.device(DeviceKind.CUT_CARD)
    play.no_more_bets()
    play.deal("9S 2H")
    play.device(DeviceKind.CUT_CARD)
    assert play.codes == ["shoe-empty"]
    play.do(way)
    ended = play.of(ev.ShoeEnded)[-1]
    assert ended.integrity and len(ended.missing) == 408 and not play.state.held
    assert "count them first" in play.refused(Kind.SHOE_NEW)
