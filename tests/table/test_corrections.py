"""Setting a hand right: whatever is corrected, the cards lie as the rule deals them and each counts once."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import DECK, Card, Outcome
from tablectl.rules import deal
from tablectl.scanner import DeviceKind, Label
from tablectl.table import Kind, Phase, Started, offered
from tests.table.playing import ANGEL_EYE, NATURAL, Play, house

DEALER: dict[str, Any] = {"dealing": {"confirm": "dealer"}}


def held(cards: str, **sections: dict[str, Any]) -> Play:
    """A hand of these cards, with a hold over it before its result is out."""
    play = Play(house(**{**DEALER, **sections}))
    play.round(cards)
    play.do(Kind.HOLD)
    return play


def corrected(play: Play) -> ev.HandCorrected:
    event: ev.HandCorrected = play.of(ev.HandCorrected)[-1]
    return event


def laid(play: Play) -> dict[str, str]:
    return {position.value: str(card) for position, card in play.state.the_round.cards.items()}


def counts(play: Play, *faces: str) -> list[int]:
    return [play.state.the_shoe.counts[Card.parse(face).number] for face in faces]


# --- the cases from the field ----------------------------------------------------------------------------


def test_a_card_dealt_and_not_read_is_inserted_and_moves_the_later_ones() -> None:
    play = held("2S KD 3S")  # B1 was dealt and not read: what was read as B1 is P2
    out = play.out
    play.do(Kind.INSERT, position="B1", card="2H")
    event = corrected(play)
    assert event.before == {"P1": "2S", "B1": "KD", "P2": "3S"}
    assert event.after == laid(play) == {"P1": "2S", "B1": "2H", "P2": "KD", "B2": "3S"}
    assert (event.how, event.next, event.approved_by) == ("insert", "player", "Pia")
    assert play.out == out + 1 and play.state.the_round.due == "P3"


def test_a_card_moved_leaves_no_copy_behind() -> None:
    play = held("2S KD 3S")
    out = play.out
    play.do(Kind.MOVE, position="P2", to="B1")
    assert laid(play) == {"P1": "2S", "B1": "3S", "P2": "KD"}
    assert play.out == out and play.state.the_round.due == "B2"
    assert corrected(play).next == "banker"


def test_the_whole_hand_scanned_again_doubles_no_count() -> None:
    play = held("2S KD 3S 6H")
    out, before = play.out, counts(play, "2S", "KD", "3S", "6H", "8C")
    play.do(Kind.RESCAN, what="hand")
    play.deal("2S KD 3S 8C")
    assert play.out == out and laid(play)["B2"] == "6H", "nothing is taken before a pit boss says so"
    play.release("rescanned")
    assert laid(play) == {"P1": "2S", "B1": "KD", "P2": "3S", "B2": "8C"}
    assert play.out == out
    assert counts(play, "2S", "KD", "3S", "6H", "8C") == [*before[:3], before[3] - 1, before[4] + 1]
    assert play.stands(Phase.COMPLETE), "a natural 8: no more cards"
    assert play.codes == ["called"]


def test_one_card_scanned_again() -> None:
    play = Play(house(**DEALER))
    play.round("2S KD 3S")
    play.do(Kind.RESCAN)
    assert play.codes == ["rescan"]
    play.scan("7D")
    play.release("rescanned")
    assert laid(play)["P2"] == "7D" and play.codes == [] and play.out == 9
    assert corrected(play).before["P2"] == "3S"


def test_a_scan_again_that_agrees_changes_nothing() -> None:
    play = held("2S KD 3S")
    play.do(Kind.RESCAN, what="hand")
    play.deal("2S KD 3S")
    play.release("rescanned")
    assert not play.of(ev.HandCorrected) and play.out == 9 and play.codes == ["called"]


def test_a_hand_scanned_again_by_half_drops_no_card_in_silence() -> None:
    play = held("2S KD 3S 6H 4C")  # the sixth card is not due; the fifth is the Player's third
    play.scan("5D")
    play.do(Kind.RESCAN, what="hand")
    assert "0 of the 6 cards" in play.refused(Kind.RELEASE, action="rescanned")
    play.deal("2S KD")
    answer = play.refused(Kind.RELEASE, action="rescanned")
    assert "2 of the 6 cards of this round were scanned again: scan the rest" in answer
    assert "release keep" in answer and "release fewer" in answer
    assert "fewer" in offered(play.state) and "rescanned" not in offered(play.state)
    play.deal("3S 6H 4C 5D")
    assert "fewer" not in offered(play.state)
    play.release("rescanned")
    assert play.out == 12 and len(play.state.loose) == 1


def test_a_card_that_could_not_be_read_is_one_of_those_to_be_scanned_again() -> None:
    play = Play(house(**DEALER))
    play.round("2S KD")
    play.scan(None)
    play.do(Kind.RESCAN, what="hand")
    play.deal("2S KD")
    assert "2 of the 3 cards" in play.refused(Kind.RELEASE, action="rescanned")
    play.scan("3S")
    play.release("rescanned")
    assert laid(play) == {"P1": "2S", "B1": "KD", "P2": "3S"} and play.out == 9


def test_a_pit_boss_may_say_that_fewer_cards_lie_there_than_were_counted() -> None:
    play = held("2S KD 3S 6H")
    play.do(Kind.RESCAN, what="hand")
    play.deal("2S KD 3S")
    play.release("fewer")
    assert laid(play) == {"P1": "2S", "B1": "KD", "P2": "3S"} and play.out == 9
    released = play.of(ev.TableReleased)[-1]
    assert (released.action, released.approved_by) == ("fewer", "Pia")


def test_cards_scanned_again_that_cannot_be_are_given_up() -> None:
    play = Play(house(shoe={"decks": 1, "cutting_card": 0}, **DEALER))
    play.idle()
    play.round("2D KD 3S")
    play.do(Kind.RESCAN, what="hand")
    play.deal("2S KD 3S")  # 2S was burned
    answer = play.refused(Kind.RELEASE, action="rescanned")
    assert "copy 2 of 2S" in answer and "release keep" in answer
    play.release("keep")


def test_one_card_to_be_scanned_again_is_scanned_first() -> None:
    play = Play(house(**DEALER))
    play.round("2S KD")
    play.do(Kind.RESCAN)
    answer = play.refused(Kind.RELEASE, action="rescanned")
    assert "the card was not scanned again: scan first" in answer and "release keep" in answer


def test_a_scan_again_given_up() -> None:
    play = Play(house(**DEALER))
    play.round("2S KD 3S")
    play.do(Kind.RESCAN, what="hand")
    play.deal("4S")
    play.release("keep")
    assert not play.state.held and play.state.rescan is None and play.out == 9
    play.scan("6H")
    assert laid(play)["B2"] == "6H" and play.out == 10


def test_a_card_drawn_while_nobody_looked_is_found_by_scanning_again() -> None:
    play = Play()
    play.round("2S KD")
    play.give(Started(play.now(), "2"))
    play.restore()
    play.do(Kind.RESCAN, what="hand")
    play.deal("2S KD 3S")
    play.release("rescanned")
    assert play.codes == [], "all cards on the table were read again: nothing of the restart is in doubt"
    assert laid(play) == {"P1": "2S", "B1": "KD", "P2": "3S"} and play.out == 9


def test_an_unread_card_in_a_scan_again_is_asked_for_again() -> None:
    play = held("2S KD")
    play.do(Kind.RESCAN, what="hand")
    play.scan(None)
    assert play.beeps == ["reject"] and play.state.rescan is not None and play.state.rescan.cards == ()


# --- what follows by the rule ----------------------------------------------------------------------------


def test_cards_that_are_no_longer_lawful_become_overdraw() -> None:
    play = held("2S KD 3S 6H 4C 5D")  # Player 5 draws a four, Banker 6 stands: the sixth is in excess
    assert len(laid(play)) == 5 and play.codes == ["overdraw", "called"] and len(play.state.loose) == 1
    play.release("burn")
    play.do(Kind.HOLD)
    play.do(Kind.CORRECT, position="P2", card="6S")  # Player 8: a natural, no third card
    assert laid(play) == {"P1": "2S", "B1": "KD", "P2": "6S", "B2": "6H"}
    assert [str(k.card) for k in play.state.loose] == ["4C"] and "overdraw" in play.codes
    assert play.stands(Phase.COMPLETE) and play.out == 6 + 6
    play.release("burn")
    play.do(Kind.CONFIRM)
    assert play.result().player.cards == ("2S", "6S")


def test_a_missing_card_becomes_due() -> None:
    play = held("9S 2H KD 3C")
    play.do(Kind.CORRECT, position="P1", card="4S")
    assert play.stands(Phase.DEALING) and play.state.the_round.due == "P3"
    assert corrected(play).next == "player"
    play.release("resume")
    play.scan("6D")
    assert play.state.the_round.due == "B3"


def test_a_correction_does_not_release_the_table() -> None:
    play = held(NATURAL)
    for position, card in (("P1", "8S"), ("P2", "AS"), ("B1", "5C")):
        play.do(Kind.CORRECT, position=position, card=card)
        assert play.codes == ["called"] and not play.of(ev.RoundResulted)
    play.release("resume")
    play.do(Kind.CONFIRM)
    assert play.result().player.cards == ("8S", "AS")


def test_corrected_back_and_forth_counts_once() -> None:
    play = held(NATURAL)
    before = play.state.the_shoe.counts
    for card in ("8S", "9S", "AD", "8S", "9S"):
        play.do(Kind.CORRECT, position="P1", card=card)
    assert play.state.the_shoe.counts == before and play.out == 10


def test_nothing_is_corrected_without_a_hold() -> None:
    play = Play(house(**DEALER))
    play.round("2S KD 3S")
    for kind in (Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER):
        assert "first: hold" in play.refused(kind, position="P1", to="B1", card="8S")


@pytest.mark.parametrize(
    ("kind", "args", "says"),
    [
        (Kind.CORRECT, {"position": "P3", "card": "8S"}, "no card lies at 'P3'"),
        (Kind.CORRECT, {"position": "P1", "card": "1S"}, "is not a card"),
        (Kind.CORRECT, {"position": "P1", "card": "9S"}, "is that card already"),
        (Kind.CORRECT, {"position": "K1", "card": "9S"}, "no kept card K1"),
        (Kind.CORRECT, {"position": "x" * 400, "card": "9S"}, "no card lies at 'xxxxxxxxxx'"),
        (Kind.CORRECT, {}, "is not a card"),
        (Kind.INSERT, {"position": "B3", "card": "8S"}, "no card lies at 'B3'"),
        (Kind.MOVE, {"position": "P1", "to": "P1"}, "is there already"),
        (Kind.MOVE, {"position": "P1", "to": "B2"}, "no card lies at 'B2'"),
        (Kind.ENTER, {"position": "P1", "card": "8S"}, "P2 is due"),
        (Kind.ENTER, {"position": "P2", "card": "zz"}, "is not a card"),
        (Kind.RESCAN, {"what": "B2"}, "no card lies at 'B2'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_is_refused_with_the_reason(kind: Kind, args: dict[str, str], says: str) -> None:
    play = held("9S 2H")
    assert says in play.refused(kind, **args)


def test_a_ninth_copy_is_refused_and_a_way_back_is_not() -> None:
    play = Play(house(**DEALER))
    play.idle("8S 8S 8S 8S 8S 8S")
    play.round("8S 3D 8S 4C")
    play.do(Kind.HOLD)
    assert "copy 9 of 8S" in play.refused(Kind.CORRECT, position="B1", card="8S")
    assert "copy 9 of 8S" in play.refused(Kind.INSERT, position="B1", card="8S")
    play.do(Kind.CORRECT, position="P1", card="8H")
    play.do(Kind.CORRECT, position="B1", card="8S")


# --- integrity: an earlier read was wrong ----------------------------------------------------------------


def ninth(play: Play) -> Play:
    play.idle("8S 8S 8S 8S 8S 8S")
    play.round("8S 3D 8S")
    play.scan("8S")
    assert play.codes == ["integrity"] and "integrity" in play.alerts
    return play


def test_integrity_ends_when_a_wrong_read_is_set_right() -> None:
    play = ninth(Play())
    assert "keep" not in offered(play.state) and "accept" not in offered(play.state)
    play.do(Kind.CORRECT, position="P1", card="8C")
    assert "accept" in offered(play.state)
    play.release("accept")
    assert play.codes == ["integrity"], "the hand was set right, the fault is still to be released"
    play.release("keep")
    play.scan("2C")
    assert play.result().player.cards == ("8C", "8S") and play.result().banker.cards == ("3D", "8S", "2C")
    assert play.out == 11


def test_integrity_by_a_kept_card_that_was_read_wrong() -> None:
    play = ninth(Play())
    play.do(Kind.CORRECT, position="K1", card="2C")
    play.release("accept")
    play.release("keep")
    assert play.stands(Phase.DEALING) and laid(play)["B2"] == "2C" and not play.state.held


def test_integrity_by_a_repeat_is_dropped() -> None:
    play = ninth(Play())
    play.release("drop")
    assert play.codes == [] and play.out == 9 and play.state.the_round.due == "B2"


def test_integrity_by_a_card_of_an_earlier_round_is_amended() -> None:
    play = Play()
    play.idle("8S 8S 8S 8S 8S 8S")
    play.round("8S 3D AS 4C")
    play.no_more_bets()
    play.deal("8S 8S")
    assert play.codes == ["integrity"]
    play.do(Kind.AMEND, round="1/1", P1="8H")
    play.release("accept")
    play.release("keep")
    assert play.codes == [] and play.out == 12 and counts(play, "8S", "8H") == [8, 1]
    assert play.of(ev.RoundAmended)[-1].round == 1 and play.state.the_round.number == 2


# --- enter: the scanner is dead --------------------------------------------------------------------------


def test_a_hand_is_finished_by_hand_when_the_shoe_is_dead() -> None:
    play = Play()
    play.round("2S KD")
    play.lose()
    for position, card in (("P2", "3S"), ("B2", "6H"), ("P3", "4C")):
        assert "enter" in offered(play.state)
        play.do(Kind.ENTER, position=position, card=card)
    dealt = play.of(ev.CardDealt)[-3:]
    assert [(d.position, d.card, d.source) for d in dealt] == [
        ("P2", "3S", "manual"),
        ("B2", "6H", "manual"),
        ("P3", "4C", "manual"),
    ]
    assert play.codes == ["device-lost"] and play.stands(Phase.COMPLETE)
    assert "enter" not in offered(play.state)
    play.release("cards-confirmed")
    assert play.result().outcome is Outcome.PLAYER and play.out == 6 + 5
    assert "the scanner is not there" in play.refused(Kind.BETS_OPEN)


def test_entering_the_card_that_could_not_be_read_ends_the_hold() -> None:
    play = Play()
    play.no_more_bets()
    play.deal("9S 2H KD")
    play.scan(None)
    play.scan(None)
    play.do(Kind.ENTER, position="B2", card="3C")
    assert not play.state.held and play.result().banker.cards == ("2H", "3C")
    assert play.of(ev.TableReleased)[-1].action == "enter"


def test_entering_needs_dealer_and_pit_boss() -> None:
    play = Play()
    play.no_more_bets()
    play.deal("9S")
    play.do(Kind.HOLD)
    play.state = dataclasses.replace(play.state, dealer=None)
    assert "first: sign-in" in play.refused(Kind.ENTER, position="B1", card="3C")


# --- read twice, drawn at once, kept cards ---------------------------------------------------------------


def test_a_repeat_in_the_hand_is_taken_back() -> None:
    play = Play()
    play.round("KC KC")
    play.do(Kind.HOLD, because="card-twice")
    play.release("drop")
    assert laid(play) == {"P1": "KC"} and play.out == 7 and play.codes == []


def test_a_card_is_never_dropped_that_is_not_the_one_before_again() -> None:
    play = Play()
    play.round("KC KD")
    play.do(Kind.HOLD, because="card-twice")
    assert "drop" not in offered(play.state)
    assert "no way out" in play.refused(Kind.RELEASE, action="drop")


def test_two_cards_at_once_are_put_in_order() -> None:
    play = Play()
    play.round("9S 2H")
    play.do(Kind.HOLD, because="two-cards")
    play.deal("3C KD")
    play.do(Kind.MOVE, position="K2", to="K1")
    play.release("accept")
    assert play.result().player.cards == ("9S", "KD") and play.result().banker.cards == ("2H", "3C")


def test_a_kept_card_is_moved_into_the_hand() -> None:
    play = held("9S 2H KD 3C")
    play.scan("5D")
    play.do(Kind.MOVE, position="K1", to="B1")
    # Player 9 and 2 is 1, Banker 5 and K is 5: the Player draws what was the fourth card.
    assert laid(play) == {"P1": "9S", "B1": "5D", "P2": "2H", "B2": "KD", "P3": "3C"}
    assert play.out == 11 and not play.state.loose


def test_an_unread_kept_card_is_named() -> None:
    play = Play()
    play.betting()
    play.scan(None)
    play.wait(20)
    assert "accept" not in offered(play.state)
    play.do(Kind.CORRECT, position="K1", card="9S")
    assert play.out == 7 and counts(play, "9S") == [1]
    play.release("as-p1")
    assert laid(play) == {"P1": "9S"}


@pytest.mark.parametrize("code", ["card-missed", "card-twice", "two-cards"])
def test_what_only_a_person_sees_is_held_for_only_with_a_hand_on_the_table(code: str) -> None:
    play = Play()
    play.idle()
    assert "no hand lies on the table" in play.refused(Kind.HOLD, because=code)
    play.no_more_bets()
    play.do(Kind.HOLD, because=code)
    assert play.codes == [code]
    assert "already" in play.refused(Kind.HOLD, because=code)


def test_nobody_holds_for_what_the_controller_sees() -> None:
    play = Play()
    play.round("9S")
    assert "is put on hold for" in play.refused(Kind.HOLD, because="integrity")


# --- face down -------------------------------------------------------------------------------------------


def test_a_correction_before_the_turn_tells_no_face() -> None:
    play = Play(house("classic"))
    play.round("2S KD 3S 6H")
    play.do(Kind.HOLD)
    play.do(Kind.CORRECT, position="P2", card="7C")
    event = corrected(play)
    assert event.before == event.after == dict.fromkeys(("P1", "B1", "P2", "B2"), "?") and event.next is None
    assert "7C" not in str(ev.public_data(event)) and "7C" not in play.last.answer
    play.do(Kind.TURN)
    assert play.of(ev.HandTurned)[-1].player == ("2S", "7C")
    assert play.out == 10


def test_a_card_inserted_before_the_turn_puts_the_fifth_aside_untold() -> None:
    play = Play(house("classic"))
    play.round("2S KD 3S 6H")
    play.do(Kind.HOLD)
    play.do(Kind.INSERT, position="B1", card="7C")
    assert play.codes == ["called", "unturned"] and len(play.state.the_round.cards) == 4 and play.out == 11


# --- labels ----------------------------------------------------------------------------------------------


def test_after_a_correction_the_shoes_labels_are_not_believed() -> None:
    play = Play(house(**DEALER), ANGEL_EYE)
    play.no_more_bets()
    play.deal_labelled("P1=2S B1=KD P2=3S")
    play.do(Kind.HOLD)
    play.do(Kind.INSERT, position="B1", card="2H")
    play.release("resume")
    play.scan("5D", Label.B2)
    assert laid(play)["P3"] == "5D" and play.codes == []


def test_a_swapped_device_may_say_that_it_starts() -> None:
    play = Play(house(**DEALER), ANGEL_EYE)
    play.no_more_bets()
    play.deal_labelled("P1=2S B1=KD")
    play.lose()
    play.do(Kind.DEVICE_SWAP)
    play.restore()
    play.device(DeviceKind.STARTED)
    assert play.codes == ["device-lost"]
    play.release("cards-confirmed")
    play.scan("3S", Label.P1)
    assert laid(play)["P2"] == "3S"
    play.device(DeviceKind.STARTED)
    assert play.codes == ["shoe-restarted"], "expected once"


# --- any of them, in any order ---------------------------------------------------------------------------

FACES = st.sampled_from([str(card) for card in DECK])
STEPS = st.lists(
    st.tuples(
        st.sampled_from([Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER]),
        st.integers(0, 7),
        st.integers(0, 7),
        FACES,
    ),
    max_size=8,
)


@given(st.lists(FACES, min_size=1, max_size=6), STEPS)
def test_after_any_corrections_the_hand_is_what_the_rule_deals(
    cards: list[str], steps: list[tuple[Kind, int, int, str]]
) -> None:
    play = Play(house(**DEALER))
    play.idle()
    play.no_more_bets()
    play.do(Kind.HOLD)
    play.deal(" ".join(cards))
    if "accept" in offered(play.state):
        play.release("accept")
    if not play.state.held:
        play.do(Kind.HOLD)
    physical = sorted(cards)
    for kind, a, b, face in steps:
        r = play.state.the_round
        places = [*(p.value for p in r.cards), *(f"K{i + 1}" for i in range(len(play.state.loose)))]
        due = r.due.value if r.due else "P1"
        at, to = (places[n % len(places)] if places else due for n in (a, b))
        before = dict(
            zip(places, [*map(str, r.dealt), *(str(k.card) for k in play.state.loose)], strict=True)
        )
        done = play.command(kind, position=due if kind is Kind.ENTER else at, to=to, card=face)
        if not done.refused:
            if kind is Kind.CORRECT:
                physical.remove(before[at])
            if kind is not Kind.MOVE:
                physical.append(face)
        now = play.state.the_round
        hand = list(now.dealt)
        assert deal(hand) == (now.cards, ()), "nothing lies where the rule would not put it"
        kept = [str(k.card) for k in play.state.loose]
        assert sorted([*map(str, hand), *kept]) == sorted(physical)
        assert play.out == 6 + len(physical)


def test_while_cards_are_scanned_again_the_hand_stays_as_it_lies() -> None:
    play = held("9S 2H KD")
    play.scan("3C")
    play.do(Kind.RESCAN, what="B1")
    for kind in (Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER):
        assert "on hold" in play.refused(kind, position="P1", to="B1", card="8S")
    assert {"accept", "correct", "drop"}.isdisjoint(offered(play.state))
    play.lose()
    play.release("keep")
    assert play.codes == ["called", "device-lost"] and len(play.state.loose) == 1, (
        "a dead scanner is no dead end"
    )


def test_the_first_card_of_a_hand_repeats_none_of_the_hand_before() -> None:
    play = Play()
    play.round("9S 2H KD 3C")
    play.no_more_bets()
    play.scan("3C")
    play.do(Kind.HOLD, because="card-twice")
    assert "drop" not in offered(play.state)
