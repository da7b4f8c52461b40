"""Cards: names, points, places in the deck, and that nothing else is a card."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.cards import DECK, RANKS, SUITS, Card, Position, Side


def test_a_deck_is_fifty_two_cards_with_their_names() -> None:
    assert len(set(DECK)) == 52
    assert {str(card) for card in DECK} == {r + s for r in "A23456789TJQK" for s in "SHDC"}
    assert [card.number for card in DECK] == list(range(52))


@pytest.mark.parametrize(
    ("rank", "points"), list(zip("A23456789TJQK", [1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0], strict=True))
)
def test_points(rank: str, points: int) -> None:
    assert {Card.parse(rank + suit).points for suit in SUITS} == {points}


def test_parse_gives_the_one_card_of_its_name() -> None:
    for card in DECK:
        assert Card.parse(str(card)) is card
        assert Card(card.rank, card.suit) == card
        assert pickle.loads(pickle.dumps(card)) == card


@pytest.mark.parametrize(
    "text", ["", "8", "8s", "s8", "10S", "1S", "8S ", " 8S", "8\u2660", "８S", "XX", "h11", "?", "8SS", "0S"]
)
def test_nothing_else_is_a_card(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        Card.parse(text)


@given(st.text(max_size=4))
def test_no_text_but_a_name_is_a_card(text: str) -> None:
    if text in {str(card) for card in DECK}:
        return
    with pytest.raises(ValueError, match="is not a card"):
        Card.parse(text)


@pytest.mark.parametrize(("rank", "suit"), [("1", "S"), ("A", "X"), ("10", "S"), ("", ""), ("a", "s")])
def test_a_card_cannot_be_made_wrong(rank: str, suit: str) -> None:
    with pytest.raises(ValueError, match="is not a card"):
        Card(rank, suit)


def test_positions_stand_in_deal_order_and_know_their_hand() -> None:
    assert [p.value for p in Position] == ["P1", "B1", "P2", "B2", "P3", "B3"]
    assert [p.side for p in Position] == [Side.PLAYER, Side.BANKER] * 3
    assert len(RANKS) == 13
