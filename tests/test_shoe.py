"""The shoe's counting, what cannot be, and what does not look shuffled."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.cards import DECK, Card
from tablectl.frozen import replace
from tablectl.shoe import Shoe


def drawn(cards: list[Card | None], decks: int = 8) -> Shoe:
    shoe = Shoe(1, decks)
    for card in cards:
        shoe = shoe.take(card)
    return shoe


def named(text: str) -> list[Card | None]:
    return [None if name == "??" else Card.parse(name) for name in text.split()]


@settings(max_examples=100)
@given(st.lists(st.none() | st.sampled_from(DECK), max_size=120))
def test_every_card_out_is_counted_once(cards: list[Card | None]) -> None:
    shoe = drawn(cards)
    assert shoe.out == len(cards)
    assert shoe.left == 416 - len(cards)
    assert list(shoe.drawn) == cards
    assert [shoe.counts[card.number] for card in DECK] == [cards.count(card) for card in DECK]
    assert list(shoe.order) == [255 if card is None else card.number for card in cards]


def test_a_ninth_copy_cannot_be() -> None:
    eight = Card.parse("8S")
    shoe = drawn([eight] * 7)
    assert shoe.problem(eight) is None
    assert shoe.take(eight).problem(eight) == "copy 9 of 8S in a shoe of 8 decks"
    assert shoe.take(eight).problem(Card.parse("8H")) is None
    assert shoe.take(eight).take(eight).excess() == ("8S",)


def test_card_417_cannot_be_and_left_is_never_negative() -> None:
    shoe = drawn(list(DECK * 8))
    assert (shoe.out, shoe.left) == (416, 0)
    assert shoe.excess() == ()
    assert shoe.problem(None) == "card 417 from a shoe of 416 cards"
    assert shoe.take(None).left == 0


@pytest.mark.parametrize(
    ("cards", "pattern"),
    [
        ("AS 2S 3S 4S 5S 6S", "factory order"),
        ("6S 5S 4S 3S 2S AS", "factory order"),
        ("JC QC KC AS 2S 3S", "factory order"),
        ("JS QS KS AH 2H 3H", "factory order"),
        ("8S 8H 8D 8C 8S 8H 8D", "7 cards of one rank"),
        ("2S 4S 6S 8S TS QS AS 3S 5S 7S 9S JS KS", "13 cards of one suit"),
        ("2S 9H 4D KC 7S 3H 5C 2S 9H 4D KC 7S 3H", "a sequence of 6 cards came a second time"),
    ],
)
def test_patterns_of_an_unshuffled_shoe(cards: str, pattern: str) -> None:
    faces = named(cards)
    assert drawn(faces[:-1]).unshuffled() is None, "not before the last card makes it"
    told = drawn(faces).unshuffled()
    assert told is not None and pattern in told
    assert not any(str(card) in told for card in faces), "burn cards are secret, so no face is named"


@pytest.mark.parametrize("cards", ["AS 2S 3S ?? 5S 6S 7S", "8S 8H 8D ?? 8S 8H 8D 8C", "", "8S"])
def test_cards_that_were_not_read_make_no_pattern(cards: str) -> None:
    assert drawn(named(cards)).unshuffled() is None


def test_honest_shoes_hardly_ever_look_unshuffled() -> None:
    rng = random.Random(7)
    alarms = 0
    for _ in range(60):
        cards: list[Card | None] = list(DECK * 8)
        rng.shuffle(cards)
        shoe = Shoe(1, 8)
        for card in cards:
            shoe = shoe.take(card)
            alarms += shoe.unshuffled() is not None
    assert alarms == 0


def test_changing_a_frozen_value() -> None:
    shoe = drawn(named("8S"))
    assert replace(shoe, number=2) == Shoe(2, 8, shoe.drawn, shoe.counts, order=shoe.order)
    assert shoe.number == 1
    with pytest.raises(TypeError, match="no such field: nubmer"):
        replace(shoe, nubmer=2)
