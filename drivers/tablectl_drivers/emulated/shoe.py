"""The inside of a shoe: cards in their order and cutting cards, and the shoe's own game logic.  Pure.

The hand here is drawn by a rule of its own, written down from 58 Pa. Code § 631a.11 and sharing nothing
with the controller's: an emulated shoe is a second witness, so the two can contradict each other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tablectl.cards import Card, Outcome
from tablectl.scanner import Label

# Banker's two-card total -> the Player third cards (by point value) on which Banker draws.
_BANKER_DRAWS_ON = (
    "0123456789",
    "0123456789",
    "0123456789",
    "01234567" + "9",
    "234567",
    "4567",
    "67",
    "",
)


class Stock:
    """Cards and cutting cards, in the order they come out. A cutting card is None."""

    def __init__(self, cards: Sequence[Card] = (), cutting_cards: Sequence[int] = ()) -> None:
        """``cutting_cards``: each the number of cards before it. Raises :class:`ValueError`."""
        for depth in cutting_cards:
            if not 0 <= depth <= len(cards):
                raise ValueError(
                    f"a cutting card behind {depth} cards does not fit in a shoe of {len(cards)}"
                )
        self._order: deque[Card | None] = deque()
        for i in range(len(cards) + 1):
            self._order.extend([None] * list(cutting_cards).count(i))
            self._order.extend(cards[i : i + 1])

    @property
    def left(self) -> int:
        """Cards (without cutting cards) still inside."""
        return len(self._order) - self._order.count(None)

    @property
    def empty(self) -> bool:
        """Whether nothing at all is inside."""
        return not self._order

    @property
    def cutting_card_next(self) -> bool:
        """Whether the next thing out is the cutting card."""
        return bool(self._order) and self._order[0] is None

    def draw(self) -> Card | None:
        """The next card, or None for the cutting card. Raises :class:`IndexError` if the shoe is empty."""
        return self._order.popleft()

    def put_off(self, cards: int) -> None:
        """Move the cutting card at the front behind the next ``cards`` cards."""
        cut = self._order.popleft()
        self._order.insert(min(cards, len(self._order)), cut)


class OwnHand:
    """The hand as the shoe sees it: where the next card belongs, and who has won."""

    def __init__(self) -> None:
        self._drawn: dict[Label, Card] = {}

    @property
    def count(self) -> int:
        """Cards drawn into this hand."""
        return len(self._drawn)

    def due(self) -> Label | None:
        """Where the next card belongs; None if the hand is complete."""
        for label in (Label.P1, Label.B1, Label.P2, Label.B2):
            if label not in self._drawn:
                return label
        player = self._points(Label.P1, Label.P2)
        banker = self._points(Label.B1, Label.B2)
        if player >= 8 or banker >= 8 or Label.B3 in self._drawn:
            return None
        third = self._drawn.get(Label.P3)
        if third is None:
            if player <= 5:
                return Label.P3
            return Label.B3 if banker <= 5 else None
        return Label.B3 if str(third.points) in _BANKER_DRAWS_ON[banker] else None

    def take(self, card: Card) -> Label:
        """Put ``card`` where it is due. Raises :class:`ValueError` if the hand is complete."""
        label = self.due()
        if label is None:
            raise ValueError("the hand is complete")
        self._drawn[label] = card
        return label

    def outcome(self) -> Outcome:
        """The higher total, of the cards there are."""
        player = self._points(Label.P1, Label.P2, Label.P3)
        banker = self._points(Label.B1, Label.B2, Label.B3)
        if player == banker:
            return Outcome.TIE
        return Outcome.PLAYER if player > banker else Outcome.BANKER

    def pair(self, first: Label, second: Label) -> bool:
        """Whether these two cards are there and have one rank."""
        cards = [self._drawn[label] for label in (first, second) if label in self._drawn]
        return len(cards) == 2 and cards[0].rank == cards[1].rank

    def _points(self, *labels: Label) -> int:
        return sum(self._drawn[label].points for label in labels if label in self._drawn) % 10
