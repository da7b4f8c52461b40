"""Cards and positions: what lies on a baccarat table.

A card is written rank then suit: ``8S TH QD AC``. Point value and rank are two things: a ten
counts 0 like a king, but never pairs with one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

RANKS = "A23456789TJQK"
SUITS = "SHDC"

_POINTS = {rank: min(i, 10) % 10 for i, rank in enumerate(RANKS, start=1)}
_SUIT_PLACE = {suit: i * len(RANKS) for i, suit in enumerate(SUITS)}


@dataclass(frozen=True, slots=True)
class Card:
    """One card face, for example ``Card("8", "S")``. Use :meth:`parse` or :data:`DECK` to get one."""

    rank: str
    suit: str
    points: int = field(init=False, repr=False, compare=False)
    """Point value, 0 to 9: ace 1, two to nine at face value, ten and pictures 0."""
    number: int = field(init=False, repr=False, compare=False)
    """Place in a factory-ordered deck, 0 to 51."""

    def __post_init__(self) -> None:
        if self.rank not in _POINTS or self.suit not in _SUIT_PLACE:
            raise ValueError(f"{self.rank!r} of {self.suit!r} is not a card")
        object.__setattr__(self, "points", _POINTS[self.rank])
        object.__setattr__(self, "number", _SUIT_PLACE[self.suit] + RANKS.index(self.rank))

    def __str__(self) -> str:
        return self.rank + self.suit

    @classmethod
    def parse(cls, text: str) -> Card:
        """The card named by exactly two characters, rank then suit, upper case.

        Raises :class:`ValueError` for anything else; there is no default card.
        """
        try:
            return _BY_NAME[text]
        except (KeyError, TypeError):
            raise ValueError(
                f"{text!r} is not a card: write rank (A 2-9 T J Q K) and suit (S H D C), for example 8S"
            ) from None


DECK: tuple[Card, ...] = tuple(Card(rank, suit) for suit in SUITS for rank in RANKS)
"""The 52 cards in factory order."""

_BY_NAME = {str(card): card for card in DECK}


class Side(StrEnum):
    """A hand of the round."""

    PLAYER = "player"
    BANKER = "banker"


class Position(StrEnum):
    """A place on the layout; the members stand in deal order."""

    P1 = "P1"
    B1 = "B1"
    P2 = "P2"
    B2 = "B2"
    P3 = "P3"
    B3 = "B3"

    @property
    def side(self) -> Side:
        """The hand this position belongs to."""
        return Side.PLAYER if self._value_[0] == "P" else Side.BANKER


class Outcome(StrEnum):
    """How a round ends."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"
