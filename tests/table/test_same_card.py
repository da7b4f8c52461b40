"""Cards with a number of their own (RFID): the same one is never two, and is taken where it is asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.scanner import Arrived, DeviceEvent, DeviceKind, Label, Scan
from tablectl.table import Decision, Phase
from tablectl.table.inputs import Kind, Started
from tests.table.playing import Play, house


def new(play: Play, card: str, tag: str) -> Decision:
    """The reader tells a card that it has not seen lately."""
    play.pass_time(1)
    return play.give(Arrived(Scan(Card.parse(card), Label.NONE, b"x", tag), play.now()))


def again(play: Play, card: str, tag: str) -> Decision:
    """The reader tells that a card came to it again."""
    play.pass_time(1)
    item = DeviceEvent(DeviceKind.BOUNCE, b"x", card=Card.parse(card), tag=tag)
    return play.give(Arrived(item, play.now()))


def dealing(*cards: str) -> Play:
    """A hand begun with ``cards``, each with its own tag, in order: t1, t2 ..."""
    play = Play(house(dealing={"confirm": "dealer"})).no_more_bets()
    for number, card in enumerate(cards, 1):
        new(play, card, f"t{number}")
    return play


@pytest.mark.parametrize("tells", [new, again])
def test_the_same_tag_is_one_card_without_a_hint_however_late_it_comes(
    tells: Callable[[Play, str, str], Decision],
) -> None:
    play = dealing("8S", "KH")
    out, held = play.out, play.state.held
    tells(play, "8S", "t1")
    assert (play.out, play.state.held, play.beeps) == (out, held, [])
    assert play.said == ["That card was read before: it counts once"]
    assert "no card read twice" in play.refused(Kind.SAME_AGAIN)


def test_another_tag_of_the_same_face_is_another_card() -> None:
    play = dealing("8S")
    new(play, "8S", "t9")
    assert [str(card) for card in play.state.the_round.dealt] == ["8S", "8S"]


def test_a_restart_does_not_forget_which_cards_were_drawn() -> None:
    play = dealing("8S", "KH")
    play.give(Started(play.now(), "1"))
    out = play.out
    new(play, "KH", "t2")  # to the reader's fresh memory it is new
    assert play.out == out and not play.state.loose


def test_a_whole_hand_is_scanned_again_by_the_same_cards() -> None:
    play = dealing("8S", "KH", "3D")
    play.do(Kind.RESCAN, what="hand")
    for number, card in enumerate(("8S", "KH", "3D"), 1):
        again(play, card, f"t{number}")
        again(play, card, f"t{number}")  # it lies on the reader a little longer
    assert play.state.rescan is not None
    assert [str(card) for card in play.state.rescan.cards] == ["8S", "KH", "3D"]
    out = play.out
    play.release("rescanned")
    assert play.stands(Phase.DEALING) and play.out == out and not play.state.held


def test_one_card_is_scanned_again() -> None:
    play = dealing("8S", "KH")
    play.do(Kind.RESCAN)
    again(play, "KH", "t2")
    play.release("rescanned")
    assert [str(card) for card in play.state.the_round.dealt] == ["8S", "KH"]


def test_a_count_takes_each_card_once_though_it_was_just_dealt() -> None:
    play = dealing("8S", "KH")
    play.do(Kind.VOID)
    play.do(Kind.SHOE_END)
    play.do(Kind.INSPECT, method="scan")
    for _ in range(2):
        again(play, "8S", "t1")
        new(play, "KH", "t2")
    assert play.state.counting is not None and play.state.counting.out == 2
    play.do(Kind.INSPECT, method="scan-cancel")
    play.do(Kind.SHOE_NEW)
    before = play.out
    new(play, "8S", "t1")
    assert play.out == before + 1, "it was shuffled: a card of the next shoe"


@pytest.mark.parametrize("where", ["burning", "dealing", "betting"])
def test_a_card_the_reader_knows_and_this_shoe_does_not_is_asked_about(where: str) -> None:
    """Of another pack, or read before the line was ready: neither played nor passed over in silence."""
    play = Play(house(dealing={"confirm": "dealer"}))
    if where == "burning":
        play.opened().do(Kind.SHOE_NEW)
    else:
        play.betting() if where == "betting" else play.no_more_bets()
    out = play.out
    again(play, "8S", "t1")
    assert play.codes == ["card-missed"] and play.out == out
    assert "same-again" in play.state.holds[0].message
    play.do(Kind.SAME_AGAIN)
    assert [str(kept.card) for kept in play.state.loose] == ["8S"]


def test_without_a_shoe_it_is_a_word_at_most() -> None:
    play = Play().opened()
    again(play, "8S", "t1")
    assert not play.state.held and play.state.bounced is None


def test_a_row_is_written_for_cards_with_a_tag_only() -> None:
    play = dealing("8S")
    assert [event.tag for event in play.of(ev.CardTagged)] == ["t1"]
    play.scan("KH")
    assert len(play.of(ev.CardTagged)) == 1


@given(st.lists(st.tuples(st.sampled_from(["8S t1", "8S t2", "KH t3", "5C t4"]), st.booleans()), max_size=12))
@settings(max_examples=40, deadline=None)
def test_no_tag_is_ever_two_cards(seen: list[tuple[str, bool]]) -> None:
    """However a reader tells of four cards, each is out of the shoe once at most, or people are asked."""
    play = Play(house(dealing={"confirm": "dealer"})).no_more_bets()
    before = play.out
    for one, fresh in seen:
        (new if fresh else again)(play, *one.split())
    assert play.out - before <= len({one for one, _ in seen})
    missed = {one for one, _ in seen if one.split()[1] not in play.state.tags}
    assert not missed or play.state.held
