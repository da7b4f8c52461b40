"""The shoe: what has left it, where its cutting card was, and what cannot be true of it.

Pure counting. No card is ever invented: a shoe knows only what was drawn from it, and says so
when that cannot be (:meth:`Shoe.problem`) or does not look shuffled (:meth:`Shoe.unshuffled`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from tablectl.cards import DECK, Card

_RUN_IN_ORDER = 6
_RUN_OF_RANK = 6
_RUN_OF_SUIT = 16
_REPEATED = 6
"""Lengths at which a shuffled eight-deck shoe shows such a pattern less than once in 10,000 shoes."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The cutting card came out after ``out`` cards. It may be told twice: by the shoe and by a person."""

    out: int
    by_scanner: bool
    by_command: bool


@dataclass(frozen=True, slots=True)
class Shoe:
    """One shoe in play. ``drawn``: every face out of it in order, None where unread or uncounted.

    ``rounds``: the last round number given. ``last_round``: the number of the last hand, once the
    cutting card is out. ``announced``: whether "last hand" was called.
    """

    number: int
    decks: int
    drawn: tuple[Card | None, ...] = ()
    counts: tuple[int, ...] = (0,) * len(DECK)
    burned: tuple[str, ...] = ()
    rounds: int = 0
    cut: Cut | None = None
    last_round: int | None = None
    announced: bool = False

    @property
    def size(self) -> int:
        """Cards of a full shoe."""
        return self.decks * len(DECK)

    @property
    def out(self) -> int:
        """Cards that have left the shoe: dealt, burned or kept."""
        return len(self.drawn)

    @property
    def left(self) -> int:
        """Cards still in it; never negative."""
        return max(0, self.size - self.out)

    def take(self, card: Card | None) -> Shoe:
        """The shoe after one more card left it; ``None``: its face is not known."""
        counts = self.counts
        if card is not None:
            i = card.number
            counts = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
        return replace(self, drawn=(*self.drawn, card), counts=counts)

    def problem(self, card: Card | None) -> str | None:
        """Why drawing ``card`` next cannot be, in words, or None."""
        if self.out >= self.size:
            return f"card {self.out + 1} from a shoe of {self.size} cards"
        if card is not None and self.counts[card.number] >= self.decks:
            return f"copy {self.counts[card.number] + 1} of {card} in a shoe of {self.decks} decks"
        return None

    def unshuffled(self) -> str | None:
        """Why the latest cards do not look shuffled, or None."""
        tail = self.drawn[-_RUN_OF_SUIT:]
        if None in tail[-_RUN_IN_ORDER:] or len(tail) < _RUN_IN_ORDER:
            return None
        known = [card for card in tail if card is not None]
        last = known[-_RUN_IN_ORDER:]
        steps = {(b.number - a.number) % len(DECK) for a, b in pairwise(last)}
        if steps in ({1}, {len(DECK) - 1}):
            return f"{_RUN_IN_ORDER} cards in factory order ({' '.join(map(str, last))})"
        if len({card.rank for card in known[-_RUN_OF_RANK:]}) == 1:
            return f"{_RUN_OF_RANK} cards of one rank in a row ({last[-1].rank})"
        if len(known) == _RUN_OF_SUIT and len({card.suit for card in known}) == 1:
            return f"{_RUN_OF_SUIT} cards of one suit in a row ({last[-1].suit})"
        if self._repeats(tuple(last)):
            return f"a sequence came a second time ({' '.join(map(str, last))})"
        return None

    def _repeats(self, last: tuple[Card, ...]) -> bool:
        earlier = self.drawn[:-1]
        # Looked up from the newest card: few places match it, so the scan stays cheap.
        final = last[-1]
        for end in range(_REPEATED - 1, len(earlier)):
            if earlier[end] is final and earlier[end - _REPEATED + 1 : end + 1] == last:
                return True
        return False

    def excess(self) -> tuple[str, ...]:
        """Faces drawn more often than the shoe holds them, by name."""
        return tuple(str(card) for card in DECK for _ in range(max(0, self.counts[card.number] - self.decks)))


def full_shoe(decks: int) -> tuple[Card, ...]:
    """All cards of a shoe in factory order."""
    return DECK * decks
