"""Two equal cards in a row, taken by the scanner for one card read twice: the dealer counts the second."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.scanner import DeviceKind, Label
from tablectl.table.inputs import Kind
from tests.table.playing import Play, house


def table(**sections: Mapping[str, object]) -> Play:
    return Play(house(**sections))  # type: ignore[arg-type]


def burning() -> Play:
    play = table().opened()
    play.do(Kind.SHOE_NEW)
    return play


def bounced(play: Play, card: str) -> Play:
    play.device(DeviceKind.BOUNCE, card=Card.parse(card))
    return play


def dealing(cards: str, **rules: Mapping[str, object]) -> Play:
    play = table(**rules).idle()
    play.no_more_bets()
    play.deal(cards)
    return play


def test_the_second_card_takes_the_position_that_is_due() -> None:
    play = bounced(dealing("8S 3D"), "3D")
    out = play.out
    play.do(Kind.SAME_AGAIN)
    (dealt,) = [e for e in play.last.events if isinstance(e, ev.CardDealt)]
    assert (dealt.position, dealt.card, play.out) == ("P2", "3D", out + 1)


def test_nothing_is_counted_unless_the_dealer_says_so() -> None:
    play = dealing("8S 3D")
    out = play.out
    done = play.device(DeviceKind.BOUNCE, card=Card.parse("3D"))
    assert (play.out, play.state.held) == (out, False)
    assert any("same-again" in effect.text for effect in done.effects if hasattr(effect, "text"))


@pytest.mark.parametrize("between", ["card", "command", "round"])
def test_it_is_over_with_the_next_card_and_used_once(between: str) -> None:
    play = bounced(dealing("8S 3D"), "3D")
    if between == "card":
        play.scan("5H")
    elif between == "command":
        play.do(Kind.SAME_AGAIN)
    else:
        play.do(Kind.VOID)
    assert "read twice" in play.refused(Kind.SAME_AGAIN)


def test_many_reads_of_one_card_are_one_second_card_at_most() -> None:
    play = dealing("8S 3D")
    for _ in range(5):
        bounced(play, "3D")
    play.do(Kind.SAME_AGAIN)
    play.refused(Kind.SAME_AGAIN)


def test_behind_a_complete_hand_it_is_one_in_excess() -> None:
    play = bounced(dealing("9S 2H KD 3C", dealing={"confirm": "dealer"}), "3C")
    play.do(Kind.SAME_AGAIN)
    assert play.codes == ["overdraw"]


def test_under_a_hold_it_is_kept() -> None:
    play = dealing("8S 3D")
    play.do(Kind.HOLD)
    play.scan("KS")
    bounced(play, "KS").do(Kind.SAME_AGAIN)
    assert [str(kept.card) for kept in play.state.loose] == ["KS", "KS"]


def test_no_face_is_told_where_it_may_be_burned_or_lies_face_down() -> None:
    down = {"dealing": {"deal": "face-down", "confirm": "dealer"}}
    for play, card in ((burning(), "KC"), (dealing("KC", **down), "KC")):
        done = play.device(DeviceKind.BOUNCE, card=Card.parse(card))
        assert not [e for e in done.events if e.PUBLIC]
        assert card not in "".join(getattr(effect, "text", "") for effect in done.effects)
        done = play.do(Kind.SAME_AGAIN)
        assert card not in done.answer


def test_a_burn_card_read_twice_can_be_two() -> None:
    play = burning()
    due = play.state.burns_due
    play.scan("KC")
    bounced(play, "KC").do(Kind.SAME_AGAIN)
    assert play.state.burns_due == due - 2


def test_one_that_the_shoe_cannot_hold_is_kept_with_a_hold() -> None:
    play = dealing("8S", shoe={"decks": 1, "cutting_card": 14})
    bounced(play, "8S").do(Kind.SAME_AGAIN)
    assert play.codes == ["integrity"]


def test_without_a_shoe_there_is_nothing_to_count() -> None:
    play = table().opened()
    bounced(play, "8S")
    assert play.state.bounced is None
    play.refused(Kind.SAME_AGAIN)


def test_it_says_nothing_of_the_label_of_a_shoe_that_names_positions() -> None:
    play = dealing("8S 3D")
    bounced(play, "3D").do(Kind.SAME_AGAIN)
    play.scan("5H", Label.NONE)
    assert not play.state.held


def unsure(play: Play, card: str) -> Play:
    play.device(DeviceKind.BOUNCE, card=Card.parse(card), unsure=True)
    return play


@pytest.mark.parametrize("phase", ["burning", "dealing", "complete"])
def test_where_the_scanner_cannot_tell_people_are_asked_before_play_goes_on(phase: str) -> None:
    play = burning() if phase == "burning" else dealing("9S 2H KD" if phase == "dealing" else "9S 2H KD 3C")
    if phase == "burning":
        play.scan("KD")
    if phase == "complete":
        play = dealing("9S 2H KD 3C", dealing={"confirm": "dealer"})
    out = play.out
    unsure(play, "KD" if phase != "complete" else "3C")
    assert play.codes == ["card-missed"] and play.out == out
    assert "cannot tell" in play.state.holds[0].message and "3C" not in play.state.holds[0].message
    play.release("keep")
    assert not play.state.held and play.out == out


def test_the_second_one_takes_its_place_by_same_again_under_that_hold() -> None:
    play = unsure(dealing("8S KC"), "KC")
    play.do(Kind.SAME_AGAIN)
    play.release("accept")
    assert [str(card) for card in play.state.the_round.dealt] == ["8S", "KC", "KC"]
    assert not play.state.held


def test_a_card_of_the_same_read_is_kept_and_the_missing_one_goes_before_it() -> None:
    """The line stood still: King, the King again, and the next card came at once."""
    play = unsure(dealing("4S KC"), "KC")
    play.scan("2H")
    play.do(Kind.INSERT, position="P2", card="KC")
    play.release("accept")
    assert [str(card) for card in play.state.the_round.dealt] == ["4S", "KC", "KC", "2H"]
