"""The shoe's life at the table: burns, the cutting card at every moment, refusals, counts, the end."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tablectl import events as ev
from tablectl.cards import DECK
from tablectl.clock import SECOND
from tablectl.scanner import DeviceKind
from tablectl.table import Kind, Phase, Started, evolve, offered
from tablectl.table.state import State
from tests.table.playing import ANGEL_EYE, NATURAL, Play, house
from tests.table.test_transitions import empty_shoe

SIX = "2S KD 3S 6H 6C 2H"
"""A hand of six cards."""

AFTER = pytest.mark.parametrize("hands_after_cut", [0, 1])
TELLERS = pytest.mark.parametrize("first", ["shoe", "dealer"])


def fill(play: Play, out: int) -> None:
    """Have ``out`` cards out of the shoe, by burning what is not dealt."""
    while play.stands(Phase.IDLE) and play.out < out:
        count = min(20, out - play.out)
        play.do(Kind.BURN, count=str(count))
        for _ in range(count):
            play.scan(mixed(play))


def mixed(play: Play) -> str:
    """A card that a shuffled shoe may hold next."""
    assert play.state.shoe is not None
    return MIXED[play.state.shoe.out]


def _mixed() -> list[str]:
    """A shuffled shoe, with the cards of three natural hands kept for its end."""
    kept = NATURAL.split() * 3
    rest = [str(card) for card in DECK * 8]
    for card in kept:
        rest.remove(card)
    random.Random(3).shuffle(rest)
    return rest + kept


MIXED = _mixed()


def tell_cut(play: Play, who: str) -> None:
    if who == "shoe":
        play.device(DeviceKind.CUT_CARD)
    else:
        play.do(Kind.CUT_CARD)


def other(who: str) -> str:
    return "dealer" if who == "shoe" else "shoe"


# --- what is withdrawn -----------------------------------------------------------------------------------


@pytest.mark.parametrize("hold", [False, True], ids=["free", "held"])
def test_a_card_that_was_drawn_and_not_read_ends_what_may_be_withdrawn(hold: bool) -> None:
    play = _shoe_begun()
    play.scan(None)
    assert play.state.unread and play.out == 0
    assert "it can only be ended: shoe end" in play.refused(Kind.SHOE_UNDO)
    play = Play()
    play.no_more_bets()
    play.do(Kind.CUT_CARD)
    play.scan(None)
    if hold:
        play.do(Kind.HOLD)
    assert "cards were drawn since the cutting card" in play.refused(Kind.CUT_UNDO)


# --- burns --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "more"), [("4C", 4), ("AS", 1), ("9H", 9), ("TD", 10), ("JS", 10), ("QH", 10), ("KC", 10)]
)
def test_first_card_burn(first: str, more: int) -> None:
    play = Play(house("atlantic-city"))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.scan(first)
    assert play.of(ev.CardBurned)[-1].left == more
    for i in range(more):
        assert play.stands(Phase.BURNING)
        play.scan(MIXED[i])
    assert play.stands(Phase.IDLE)
    assert play.state.shoe is not None and play.state.shoe.left == 416 - 1 - more


def test_first_card_four_leaves_411() -> None:
    play = Play(house("atlantic-city"))
    play.idle("4C 2S 9H KD 3S")
    assert play.state.shoe is not None and play.state.shoe.left == 411


def test_no_burn_where_the_house_has_none() -> None:
    play = Play(house("atlantic-city", burn={"by": "none"}))
    play.opened()
    play.do(Kind.SHOE_NEW)
    assert play.stands(Phase.IDLE)


def test_six_burns_after_the_shuffle_by_default() -> None:
    play = Play()
    play.idle()
    assert [e.left for e in play.of(ev.CardBurned)] == [5, 4, 3, 2, 1, 0]
    assert [e.shoe_left for e in play.of(ev.CardBurned)] == [415, 414, 413, 412, 411, 410]
    assert {e.reason for e in play.of(ev.CardBurned)} == {"shuffle"}


def _changed() -> Play:
    """A dealer change on a shoe that was played, one card due for it."""
    play = Play()
    play.round(NATURAL)
    play.do(Kind.SIGN_IN, name="Emil", pickup="right")
    return play


def _first_card() -> Play:
    play = Play(house("atlantic-city")).opened()
    play.do(Kind.SHOE_NEW)
    return play


def test_burns_that_are_ordered_while_others_are_due_add_up() -> None:
    """The first card's value, what a pit boss orders besides, and each with its own reason."""
    play = _first_card()
    play.do(Kind.BURN, count="2")
    play.scan("9S")
    assert play.state.burns_due == 11
    play.do(Kind.BURN, count="1")
    play.deal(" ".join(MIXED[:12]))
    assert play.stands(Phase.IDLE) and not play.state.held
    reasons = [e.reason for e in play.of(ev.CardBurned)]
    assert reasons == ["shuffle"] * 10 + ["pit boss"] * 3

    play = _changed()
    play.do(Kind.BURN, count="2")
    play.deal("AS 5C JD")
    assert play.stands(Phase.IDLE)
    assert [e.reason for e in play.of(ev.CardBurned)][-3:] == ["dealer change", "pit boss", "pit boss"]


def test_no_more_burns_are_ordered_than_cards_are_left() -> None:
    play = Play().opened()
    play.do(Kind.SHOE_ADOPT, number="5", out="414", rounds="70", last_hand="no")
    play.do(Kind.BURN, count="2")
    assert "2 are due to be burned already" in play.refused(Kind.BURN, count="1")
    play.deal("AS 5C")
    play.do(Kind.SIGN_IN, name="Emil", pickup="right")
    assert play.stands(Phase.IDLE), "nobody can draw the card of a dealer change"


@pytest.mark.parametrize(
    ("begun", "drawn", "told"),
    [
        (lambda: _shoe_begun(), "2S 3H 4D 5C 6S 7H 8H 9H", "6 were due, 8 were burned."),
        (lambda: _first_card(), "4C 2C 3C 4D 5D 6D 7D", "5 were due, 7 were burned."),
        (lambda: _changed(), "2S 3H", "1 were due, 2 were burned."),
    ],
    ids=["shuffle", "first card", "dealer change"],
)
def test_more_burned_than_due_under_a_hold_is_told_with_the_numbers(
    begun: Callable[[], Play], drawn: str, told: str
) -> None:
    play = begun()
    play.do(Kind.HOLD, text="a card fell")
    play.deal(drawn)
    play.release("burn")
    assert play.codes == ["burn-wrong"] and told in play.state.holds[0].message
    play.release("keep")
    assert play.stands(Phase.IDLE) and not play.state.held


def test_as_many_as_due_or_fewer_under_a_hold_are_no_fault() -> None:
    play = _shoe_begun()
    play.do(Kind.HOLD)
    play.deal("2S 3H 4D 5C")
    play.release("burn")
    assert not play.state.held and play.state.burns_due == 2
    play.do(Kind.HOLD)
    play.deal("6S 7H")
    play.release("burn")
    assert not play.state.held and play.stands(Phase.IDLE)


def _shoe_begun() -> Play:
    play = Play().opened()
    play.do(Kind.SHOE_NEW)
    return play


@pytest.mark.parametrize("ordered", [0, 2])
@pytest.mark.parametrize(("count", "right"), [(1, False), (2, True), (11, True), (12, False), (28, False)])
def test_what_the_first_card_cannot_have_asked_for_is_held(count: int, right: bool, ordered: int) -> None:
    play = Play(house("atlantic-city", burn={"by": "first-card", "scanned": False})).opened()
    play.do(Kind.SHOE_NEW)
    if ordered:
        play.do(Kind.BURN, count=str(ordered))
    play.do(Kind.BURN_DONE, count=str(count + ordered))
    assert play.stands(Phase.IDLE) and play.out == count + ordered
    assert play.codes == ([] if right else ["burn-wrong"])
    if not right:
        told = f"{2 + ordered} to {11 + ordered} were due, {count + ordered} were burned."
        assert told in play.state.holds[0].message


def test_burn_one_and_four_and_ten_hands_of_49_cards() -> None:
    play = Play(house("atlantic-city"))
    play.idle("4C 2S 9H KD 3S")
    hands = ["7S KH 8D QC 3H 6S", "KS KH QD TH JC 5S", SIX, *[NATURAL] * 4]
    hands += [f"6S TH KC JC 7{suit}" for suit in "DCH"]
    cards = sum(len(hand.split()) for hand in hands)
    assert (len(hands), cards) == (10, 49)
    for hand in hands:
        play.round(hand)
    assert play.state.shoe is not None
    assert (play.state.shoe.out, play.state.shoe.left, play.state.shoe.rounds) == (54, 362, 10)
    again = State()
    for event in play.events:
        again = evolve(again, event)
    assert again == play.state, "the same after a restart"
    play.give(Started(play.now(), "1"))
    assert (play.state.shoe.out, play.state.shoe.left) == (54, 362)


def test_a_dealers_pick_up_direction_stays_from_sign_in_to_close() -> None:
    play = Play().idle()
    play.do(Kind.SIGN_IN, name="Emil", pickup="right")  # each has his own
    play.do(Kind.SIGN_OUT)
    answer = play.refused(Kind.SIGN_IN, name="Dora", pickup="right")
    assert "Dora picks the cards up left" in answer and "sign-in Dora --pickup left" in answer
    play.do(Kind.SHOE_END)
    play.do(Kind.SIGN_IN, name="Dora", pickup="left")
    play.do(Kind.SHOE_NEW)
    first = play.of(ev.ShoeStarted)[-1]
    assert first.carry is not None and ["Emil", "right"] in first.carry["pickups"]
    play.do(Kind.SHOE_END)
    assert "Emil picks the cards up right" in play.refused(Kind.SIGN_IN, name="Emil", pickup="left")
    play.do(Kind.INSPECT)
    play.do(Kind.CLOSE)
    play.do(Kind.OPEN)
    play.do(Kind.SIGN_IN, name="Dora", pickup="right")


def test_dealer_change_burns_one_between_rounds() -> None:
    play = Play()
    play.idle()
    play.do(Kind.SIGN_IN, name="Emil", pickup="right")
    assert play.stands(Phase.IDLE), "none on a new shoe before its first round"
    play.round(NATURAL)
    play.do(Kind.SIGN_OUT)
    play.do(Kind.SIGN_IN, name="Emil", pickup="right")
    assert play.stands(Phase.IDLE), "the same dealer came back"
    play.do(Kind.SIGN_IN, name="Dora", pickup="left")
    assert play.stands(Phase.BURNING)
    assert "burn 1" in play.last.answer
    assert "burn cards are due" in play.refused(Kind.BETS_OPEN)
    play.scan("5S")
    assert play.stands(Phase.IDLE)
    assert play.of(ev.CardBurned)[-1].reason == "dealer change"


def test_first_sign_in_of_a_table_is_no_change() -> None:
    play = Play()
    play.opened()
    assert [e.dealer for e in play.of(ev.DealerChanged)] == ["Dora"]
    assert not play.of(ev.BurnsOrdered)


def test_error_burn_and_burns_at_discretion_only_between_rounds() -> None:
    play = Play()
    play.betting()
    assert "betting is open" in play.refused(Kind.BURN_ERROR)
    assert "betting is open" in play.refused(Kind.BURN, count="2")
    play.wait(20)
    play.deal(NATURAL)
    play.do(Kind.BURN_ERROR)
    assert play.state.burns_due == 3
    play.deal("2S 9H 4D")
    assert [e.reason for e in play.of(ev.CardBurned)][-3:] == ["error"] * 3
    play.do(Kind.BURN, count="2")
    play.deal("2S 9H")
    assert play.stands(Phase.IDLE)
    for bad in ("0", "21", "", "x", "-1", "1_0", "１", "99999999"):
        assert "a number from 1 to 20" in play.refused(Kind.BURN, count=bad)


def test_one_burn_too_many_holds_and_its_face_stays_secret() -> None:
    play = Play()
    play.idle()
    play.scan("KD")
    assert play.codes == ["burn-over"] and play.out == 7
    assert "KD" not in str([ev.public_data(e) for e in play.events if e.PUBLIC])
    play.release("burn")
    assert play.out == 7 and len(play.of(ev.CardBurned)) == 7
    assert play.stands(Phase.IDLE) and not play.state.held


def test_burns_that_do_not_pass_the_scanner() -> None:
    play = Play(house(burn={"scanned": False}))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.do(Kind.BURN_DONE, count="6")
    assert (play.state.phase, play.out, play.codes) == (Phase.IDLE, 6, [])
    assert [(e.left, e.shoe_left) for e in play.of(ev.CardBurned)] == [(5 - i, 415 - i) for i in range(6)]
    play.do(Kind.BURN, count="3")
    play.do(Kind.BURN_DONE, count="2")
    assert (play.out, play.codes, play.state.burns_due) == (8, [], 1), "the rest is still due"
    play.do(Kind.BURN_DONE, count="2")
    assert (play.out, play.codes) == (10, ["burn-wrong"])
    play.release("keep")
    assert play.stands(Phase.IDLE)


def test_burns_by_value_that_do_not_pass_the_scanner() -> None:
    play = Play(house(burn={"scanned": False, "by": "first-card"}))
    play.opened()
    play.do(Kind.SHOE_NEW)
    play.do(Kind.BURN_DONE, count="5")
    assert (play.state.phase, play.out, play.codes) == (Phase.IDLE, 5, [])


def test_burn_done_is_refused_where_burns_are_scanned() -> None:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_NEW)
    assert "scan them" in play.refused(Kind.BURN_DONE, count="6")


def test_burn_faces_are_told_when_the_shoe_has_ended() -> None:
    play = Play()
    play.idle("2S 3H 4D 5C 6S 7H")
    play.round("9S 2H KD 3C")
    play.do(Kind.SHOE_END)
    ended = play.of(ev.ShoeEnded)[-1]
    assert ended.burned == ("2S", "3H", "4D", "5C", "6S", "7H")
    assert (ended.rounds, ended.dealt, ended.reason, ended.approved_by) == (1, 4, "training: test", "Pia")


# --- the cutting card -----------------------------------------------------------------------------------


@AFTER
@TELLERS
@pytest.mark.parametrize("moment", ["burning", "idle", "betting", "no more bets"])
def test_cutting_card_before_p1_makes_the_coming_hand_the_last(
    moment: str, first: str, hands_after_cut: int
) -> None:
    play = Play(house(shoe={"hands_after_cut": hands_after_cut, "cutting_card": 400}))
    if moment == "burning":
        play.opened()
        play.do(Kind.SHOE_NEW)
    else:
        play.idle()
        play.round(NATURAL)
        if moment == "betting":
            play.betting()
        elif moment == "no more bets":
            play.no_more_bets()
    out = play.out
    expected = 1 if moment == "burning" else 2
    tell_cut(play, first)
    assert [e.round for e in play.of(ev.LastHandAnnounced)] == [expected], "announced at once"
    tell_cut(play, other(first))
    assert len(play.of(ev.CutCardDrawn)) == len(play.of(ev.LastHandAnnounced)) == 1, "the same card"
    assert play.out == out, "never counted"
    if moment == "burning":
        play.deal("2S 9H 4D KC 7S 3H")
    if moment in ("burning", "idle"):
        play.betting()
    if moment != "no more bets":
        play.wait(20)
    play.deal(NATURAL)
    assert play.result().player.cards == ("9S", "KD"), "never a position"
    assert play.stands(Phase.SHUFFLE_DUE)
    assert play.of(ev.ShoeEnded)[-1].rounds == expected


@AFTER
@TELLERS
@pytest.mark.parametrize("after_cards", [1, 2, 3, 4, 5])
def test_cutting_card_within_a_hand(after_cards: int, first: str, hands_after_cut: int) -> None:
    play = Play(house(shoe={"hands_after_cut": hands_after_cut, "cutting_card": 400}))
    play.no_more_bets()
    cards = SIX.split()
    play.deal(" ".join(cards[:after_cards]))
    out = play.out
    tell_cut(play, first)
    tell_cut(play, other(first))
    assert play.out == out and not play.state.held
    assert len(play.of(ev.CutCardDrawn)) == 1
    announced_now = len(play.of(ev.LastHandAnnounced))
    assert announced_now == (1 if hands_after_cut == 0 else 0)
    play.deal(" ".join(cards[after_cards:]))
    assert play.result().outcome == "banker"
    _finish(play, hands_after_cut)


@AFTER
@TELLERS
def test_cutting_card_after_the_last_card_before_the_result(first: str, hands_after_cut: int) -> None:
    play = Play(
        house(dealing={"confirm": "dealer"}, shoe={"hands_after_cut": hands_after_cut, "cutting_card": 400})
    )
    play.round(NATURAL)
    assert play.stands(Phase.COMPLETE)
    tell_cut(play, first)
    tell_cut(play, other(first))
    assert len(play.of(ev.LastHandAnnounced)) == (1 if hands_after_cut == 0 else 0)
    play.do(Kind.CONFIRM)
    _finish(play, hands_after_cut)


def _finish(play: Play, hands_after_cut: int) -> None:
    if hands_after_cut:
        assert [e.round for e in play.of(ev.LastHandAnnounced)] == [2], "one more, announced after this one"
        assert play.stands(Phase.IDLE)
        play.no_more_bets()
        play.deal(NATURAL)
        if play.stands(Phase.COMPLETE):
            play.do(Kind.CONFIRM)
    assert play.stands(Phase.SHUFFLE_DUE)
    assert len(play.of(ev.LastHandAnnounced)) == 1
    assert play.of(ev.ShoeEnded)[-1].rounds == 1 + hands_after_cut


@AFTER
def test_second_report_from_the_shoe_means_it_is_empty(hands_after_cut: int) -> None:
    rules = house(shoe={"hands_after_cut": hands_after_cut, "cutting_card": 400})
    play = Play(rules)
    play.no_more_bets()
    play.deal("2S KD 3S")
    play.device(DeviceKind.CUT_CARD)
    play.device(DeviceKind.CUT_CARD)
    assert play.codes == ["shoe-empty"]
    play.do(Kind.VOID)
    assert not play.state.held

    play = Play(rules)
    play.idle()
    play.device(DeviceKind.CUT_CARD)
    play.device(DeviceKind.CUT_CARD)
    assert play.codes == ["integrity"], "410 cards are not accounted for"
    assert "410 cards" in play.of(ev.TableHeld)[-1].message
    play.do(Kind.SHOE_END)
    assert "count" in play.refused(Kind.SHOE_NEW)


def test_an_empty_shoe_ends_with_the_second_report() -> None:
    play = empty_shoe()
    play.device(DeviceKind.CUT_CARD)
    play.device(DeviceKind.CUT_CARD)
    assert play.stands(Phase.SHUFFLE_DUE) and not play.state.count_due
    assert play.of(ev.ShoeEnded)[-1].reason == "the shoe is empty"


def test_second_report_under_a_hold_never_loses_a_kept_card() -> None:
    play = Play(house(shoe={"cutting_card": 400}))
    play.idle()
    play.device(DeviceKind.CUT_CARD)
    play.scan("KD")
    play.device(DeviceKind.CUT_CARD)
    assert play.codes == ["burn-over", "integrity"] and len(play.state.loose) == 1
    assert "409 cards are not accounted for" in play.state.holds[1].message, "as without a hold"
    play.release("burn")
    assert play.codes == ["integrity"]
    play.do(Kind.SHOE_END)
    assert not play.state.held and play.stands(Phase.SHUFFLE_DUE) and play.state.count_due


def _complete_with_left(left: int, **dealing: str) -> Play:
    """A complete hand, the cutting card told by the shoe, and so many cards left in it."""
    rules = house(shoe={"cutting_card": 400}, dealing={"confirm": "dealer", **dealing})
    play = Play(rules, ANGEL_EYE).opened()
    play.do(Kind.SHOE_ADOPT, number="5", out=str(416 - 4 - left), rounds="70", last_hand="no")
    # Six cards must be left for betting to open.
    play.device(DeviceKind.CUT_CARD)
    play.no_more_bets()
    play.deal(NATURAL)
    return play


@pytest.mark.parametrize("deal", ["face-up", "face-down"])
def test_a_shoe_that_says_it_is_empty_keeps_no_complete_hand_from_its_result(deal: str) -> None:
    """The second report comes with the hand complete: nothing is wanted from the shoe any more."""
    play = _complete_with_left(2, deal=deal)
    if deal == "face-down":
        play.device(DeviceKind.CUT_CARD)
        assert play.codes == ["shoe-empty"], "that the hand is complete would tell what lies there"
        assert "keep" not in offered(play.state)
        play.do(Kind.TURN)
        play.release("keep")
    else:
        play.device(DeviceKind.CUT_CARD)
    assert play.codes == ["integrity"] and "2 cards are not accounted" in play.state.holds[-1].message
    play.release("keep")
    play.do(Kind.CONFIRM)
    assert play.result().outcome == "player"


def test_all_cards_out_and_the_hand_complete_is_no_hold() -> None:
    play = Play(house(shoe={"cutting_card": 400}, dealing={"confirm": "dealer"}), ANGEL_EYE).opened()
    play.do(Kind.SHOE_ADOPT, number="5", out="410", rounds="70", last_hand="no")
    play.device(DeviceKind.CUT_CARD)
    play.no_more_bets()
    play.deal(SIX)
    assert play.stands(Phase.COMPLETE) and play.out == 416
    play.device(DeviceKind.CUT_CARD)
    assert not play.state.held
    play.do(Kind.CONFIRM)
    assert play.stands(Phase.SHUFFLE_DUE) and not play.state.count_due


def test_a_hand_that_a_correction_completes_is_no_longer_kept_by_an_empty_shoe() -> None:
    play = Play(house(shoe={"cutting_card": 400}, dealing={"confirm": "dealer"}), ANGEL_EYE).opened()
    play.do(Kind.SHOE_ADOPT, number="5", out="410", rounds="70", last_hand="no")
    play.device(DeviceKind.CUT_CARD)
    play.no_more_bets()
    play.deal("2S KD 3S 6H")
    play.device(DeviceKind.CUT_CARD)
    assert play.codes == ["shoe-empty"] and "keep" not in offered(play.state)
    play.do(Kind.CORRECT, position="B2", card="9H")
    play.release("keep")
    assert play.codes == ["integrity"], "two cards are not accounted for"
    play.release("keep")
    play.do(Kind.CONFIRM)


def test_dealer_may_say_it_twice() -> None:
    play = Play(house(shoe={"cutting_card": 400}))
    play.idle()
    play.do(Kind.CUT_CARD)
    play.do(Kind.CUT_CARD)
    assert len(play.of(ev.CutCardDrawn)) == 1 and not play.state.held


@pytest.mark.parametrize(("out", "alert"), [(364 - 27, True), (364 - 26, False)])
def test_a_cutting_card_far_from_its_place_is_an_alert(out: int, alert: bool) -> None:
    play = Play()
    play.idle(" ".join(MIXED[:6]))
    fill(play, out)
    play.device(DeviceKind.CUT_CARD)
    assert ("cutting-card-place" in play.alerts) is alert


def test_share_rule_acts_as_a_cutting_card_at_the_371st_card() -> None:
    play = Play(house("atlantic-city", burn={"by": "count"}))
    play.idle(" ".join(MIXED[:6]))
    fill(play, 368)
    play.no_more_bets()
    play.deal("9S 2H")
    assert play.out == 370 and not play.of(ev.CutCardDrawn)
    play.scan("KD")
    cut = play.of(ev.CutCardDrawn)[-1]
    assert (cut.by, cut.out) == ("share", 371)
    assert [e.round for e in play.of(ev.LastHandAnnounced)] == [1]
    play.scan("3C")
    assert play.stands(Phase.SHUFFLE_DUE)


def test_share_rule_counts_burns_and_before_p1_the_coming_hand_is_the_last() -> None:
    play = Play(house("atlantic-city", burn={"by": "count"}, shoe={"hands_after_cut": 1}))
    play.idle(" ".join(MIXED[:6]))
    fill(play, 371)
    assert [e.out for e in play.of(ev.CutCardDrawn)] == [371]
    play.round(NATURAL)
    assert play.stands(Phase.SHUFFLE_DUE)


# --- the end of the shoe ---------------------------------------------------------------------------------


def test_three_cards_left_and_a_hand_begun() -> None:
    play = Play()
    play.idle(" ".join(MIXED[:6]))
    fill(play, 410)
    play.betting()
    for card in MIXED[410:413]:
        play.scan(card)
    assert play.codes == ["card-early"]
    play.release("burn")
    play.wait(20)
    assert play.state.shoe is not None and play.state.shoe.left == 3
    play.deal(" ".join(MIXED[413:416]))
    assert play.codes == ["shoe-empty"] and "exhausted" in play.state.holds[0].message
    rows = play.state.row
    for _ in range(3):
        play.wait(60)
    assert play.state.row == rows, "silence: nothing invented, no busy loop"
    assert play.stands(Phase.DEALING) and len(play.of(ev.ShoeStarted)) == 1
    assert play.refused(Kind.SHOE_NEW)
    play.do(Kind.VOID)
    assert "only 0 cards are left" in play.refused(Kind.BETS_OPEN)


def test_no_betting_with_fewer_than_six_cards() -> None:
    play = Play()
    play.idle(" ".join(MIXED[:6]))
    fill(play, 411)
    assert "only 5 cards are left" in play.refused(Kind.BETS_OPEN)
    assert "only 5 cards are left" in play.refused(Kind.HAND_FREE)


@pytest.mark.parametrize("cards_dealt", [None, 0, 1, 2, 3, 4, 5, 6])
def test_shoe_new_is_refused_in_a_round_with_the_state_named(cards_dealt: int | None) -> None:
    play = Play(house(dealing={"confirm": "dealer"}))
    if cards_dealt is None:
        play.betting()
    else:
        play.no_more_bets()
        play.deal(" ".join(SIX.split()[:cards_dealt]))
    before = play.state
    answer = play.refused(Kind.SHOE_NEW)
    assert f"phase {before.phase.value}" in answer
    assert play.state.round == before.round and play.state.shoe == before.shoe


def test_shoe_new_between_rounds_needs_the_old_one_to_be_ended() -> None:
    play = Play()
    play.idle()
    assert "phase idle" in play.refused(Kind.SHOE_NEW)
    play.do(Kind.SHOE_END)
    play.do(Kind.SHOE_NEW)
    assert play.state.shoe is not None and (play.state.shoe.number, play.state.shoe.out) == (2, 0)
    play.deal("2S 9H 4D KC 7S 3H")
    play.round(NATURAL)
    assert (play.result().shoe, play.result().round) == (2, 1)


def test_a_ninth_copy_holds_and_the_next_shoe_waits_for_a_count() -> None:
    play = Play()
    play.idle("8S 8S 2H 8S 8S 8S")
    play.round("8S 3D 8S 4C")
    play.no_more_bets()
    play.scan("8S")
    assert play.codes == [], "the eighth is lawful"
    play.scan("8S")
    assert play.codes == ["integrity"]
    assert "copy 9 of 8S" in play.state.holds[0].message
    assert play.state.shoe is not None and play.state.shoe.left == 416 - play.out
    play.do(Kind.VOID)
    assert play.codes == ["integrity"], "a void does not end it"
    assert "on hold" in play.refused(Kind.BETS_OPEN)
    play.do(Kind.SHOE_END)
    assert play.of(ev.ShoeEnded)[-1].extra == ("8S",)
    assert "count them first" in play.refused(Kind.SHOE_NEW)
    assert "counted before closing" in play.refused(Kind.CLOSE)
    play.do(Kind.INSPECT)
    play.do(Kind.SHOE_NEW)


def test_void_of_the_last_hand_under_integrity_leaves_no_hold_without_a_way_out() -> None:
    play = Play(house(shoe={"cutting_card": 400}))
    play.idle("8S 8S 2H 8S 8S 8S")
    play.round("8S 3D 8S 4C")
    play.do(Kind.CUT_CARD)
    play.no_more_bets()
    play.deal("8S 8S")
    assert play.codes == ["integrity"]
    play.do(Kind.VOID)
    assert play.stands(Phase.SHUFFLE_DUE) and not play.state.held and play.state.count_due


def test_card_417_holds_and_left_never_goes_negative() -> None:
    play = Play()
    play.idle(" ".join(MIXED[:6]))
    fill(play, 416)
    assert play.state.shoe is not None and play.state.shoe.left == 0
    play.scan("8S")
    assert play.codes == ["integrity"]
    assert play.state.shoe.left == 0


def test_a_shoe_in_factory_order_is_an_alert_and_nothing_else() -> None:
    play = Play()
    play.opened()
    play.do(Kind.SHOE_NEW)
    for card in DECK[:6]:
        play.scan(str(card))
    assert play.alerts == ["unshuffled"]
    assert play.stands(Phase.IDLE) and not play.state.held
    play.no_more_bets()
    for card in DECK[6:10]:
        play.scan(str(card))
    assert len(play.of(ev.AlertRaised)) == 1 and not play.of(ev.RoundVoided)
    play.do(Kind.ACK, alert="unshuffled")
    assert play.alerts == []


def test_the_devices_start_signal_never_starts_a_shoe() -> None:
    play = Play()
    play.idle()
    play.device(DeviceKind.STARTED)
    assert play.alerts == ["shoe-restarted"]
    play.no_more_bets()
    play.device(DeviceKind.STARTED)
    assert play.codes == ["shoe-restarted"]
    assert play.state.shoe is not None and play.state.shoe.number == 1 and play.out == 6


def test_inspection_before_the_first_shoe_and_before_closing() -> None:
    play = Play()
    play.restore()
    play.do(Kind.OPEN)
    assert "sign-in" in play.refused(Kind.SHOE_NEW)
    assert "sign-in" in play.refused(Kind.INSPECT)
    play.do(Kind.SIGN_IN, name="Dora", pickup="left")
    assert "shoe inspect" in play.refused(Kind.SHOE_NEW)
    play.do(Kind.INSPECT)
    assert play.of(ev.InspectionRecorded)[-1].attested_by == ("Dora", "Pia")
    play.do(Kind.SHOE_NEW)
    play.deal("2S 9H 4D KC 7S 3H")
    play.do(Kind.SHOE_END)
    assert "counted before closing" in play.refused(Kind.CLOSE)
    play.do(Kind.INSPECT)
    play.do(Kind.CLOSE)
    assert play.stands(Phase.CLOSED)


def test_a_card_handled_without_a_shoe_is_written_down_with_an_error_beep() -> None:
    play = Play()
    play.scan("8S")
    assert play.stands(Phase.CLOSED) and play.beeps == ["reject"]
    play.opened()
    play.scan("8S")
    play.scan(None)
    assert [e.why for e in play.of(ev.ScanPassed)] == [
        "handling: closed",
        "handling: no shoe",
        "handling: no shoe",
    ]
    assert not play.state.held and play.boot > SECOND
