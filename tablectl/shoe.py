"""The shoe: what has left it, where its cutting card was, and what cannot be true of it.

Pure counting. No card is ever invented: a shoe knows only what was drawn from it, and says so
when that cannot be (:meth:`Shoe.problem`) or does not look shuffled (:meth:`Shoe.unshuffled`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tablectl.cards import DECK, RANKS, Card
from tablectl.frozen import replace

_RUN_IN_ORDER = _REPEATED = 6
_RUN_OF_RANK = 7
_RUN_OF_SUIT = 13
"""Lengths at which a shuffled eight-deck shoe shows such a pattern less than once in 10,000 shoes."""

_UNKNOWN = 255


@dataclass(frozen=True, slots=True)
class Cut:
    """The cutting card came out after ``out`` cards. It may be told twice: by the shoe and by a person."""

    out: int
    by_scanner: bool
    by_command: bool


@dataclass(frozen=True)  # no slots: see tablectl.frozen
class Shoe:
    """One shoe in play. ``drawn``: every face out of it in order, None where unread or uncounted.

    ``order``: the same as deck numbers in bytes (255 for None), so that patterns are found fast.
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
    order: bytes = b""

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
        counts, number = self.counts, _UNKNOWN
        if card is not None:
            number = card.number
            counts = (*counts[:number], counts[number] + 1, *counts[number + 1 :])
        order = self.order + number.to_bytes(1, "big")
        return replace(self, drawn=(*self.drawn, card), counts=counts, order=order)

    def untake(self, card: Card | None, *, before: int | None = None) -> Shoe:
        """The shoe without the newest ``card`` drawn from it, or among the first ``before`` cards: one read
        counted twice.

        Raises :class:`ValueError` when there is none.
        """
        at = self._newest(card, before)
        counts = self.counts
        if card is not None:
            n = card.number
            counts = (*counts[:n], counts[n] - 1, *counts[n + 1 :])
        return replace(
            self,
            drawn=self.drawn[:at] + self.drawn[at + 1 :],
            counts=counts,
            order=self.order[:at] + self.order[at + 1 :],
        )

    def exchange(self, was: Card | None, card: Card | None) -> Shoe:
        """The shoe with the newest ``was`` drawn from it known to be ``card``; the number of cards stays.

        Raises :class:`ValueError` when there is none.
        """
        at = self._newest(was)
        counts = list(self.counts)
        if was is not None:
            counts[was.number] -= 1
        if card is not None:
            counts[card.number] += 1
        number = _UNKNOWN if card is None else card.number
        return replace(
            self,
            drawn=(*self.drawn[:at], card, *self.drawn[at + 1 :]),
            counts=tuple(counts),
            order=self.order[:at] + number.to_bytes(1, "big") + self.order[at + 1 :],
        )

    def recount(self, before: Sequence[Card | None], after: Sequence[Card | None]) -> Shoe:
        """The shoe after some of its cards, ``before``, turned out to be ``after``.

        Each physical card keeps its count: only what there is more or less of is taken or untaken.
        """
        gone, come = list(before), []
        for card in after:
            if card in gone:
                gone.remove(card)
            else:
                come.append(card)
        shoe = self
        while gone and come:
            shoe = shoe.exchange(gone.pop(0), come.pop(0))
        for card in gone:
            shoe = shoe.untake(card)
        for card in come:
            shoe = shoe.take(card)
        return shoe

    def _newest(self, card: Card | None, before: int | None = None) -> int:
        for at in range((len(self.drawn) if before is None else before) - 1, -1, -1):
            if self.drawn[at] == card:
                return at
        raise ValueError(f"{card or 'a card that was not read'} was not drawn from this shoe")

    def problem(self, card: Card | None) -> str | None:
        """Why drawing ``card`` next cannot be, in words, or None."""
        if self.out >= self.size:
            return f"card {self.out + 1} from a shoe of {self.size} cards"
        if card is not None and self.counts[card.number] >= self.decks:
            return f"copy {self.counts[card.number] + 1} of {card} in a shoe of {self.decks} decks"
        return None

    def unshuffled(self) -> str | None:
        """Why the latest cards do not look shuffled, or None. Names no face: burn cards are secret."""
        order = self.order
        last = order[-_RUN_IN_ORDER:]
        if len(last) < _RUN_IN_ORDER or _UNKNOWN in last:
            return None
        step = (last[1] - last[0]) % len(DECK)
        if step in (1, len(DECK) - 1) and all((b - a) % len(DECK) == step for a, b in pairwise(last)):
            return f"{_RUN_IN_ORDER} cards in factory order"
        if order.find(last, 0, -1) >= 0:
            return f"a sequence of {_REPEATED} cards came a second time"
        if _run(order, _RUN_OF_RANK, lambda number: number % len(RANKS)):
            return f"{_RUN_OF_RANK} cards of one rank in a row"
        if _run(order, _RUN_OF_SUIT, lambda number: number // len(RANKS)):
            return f"{_RUN_OF_SUIT} cards of one suit in a row"
        return None

    def excess(self) -> tuple[str, ...]:
        """Faces drawn more often than the shoe holds them, by name."""
        return tuple(str(card) for card in DECK for _ in range(max(0, self.counts[card.number] - self.decks)))

    def unseen(self) -> tuple[str, ...]:
        """Faces of a full shoe that were not drawn, by name."""
        return tuple(str(card) for card in DECK for _ in range(max(0, self.decks - self.counts[card.number])))

    @property
    def unknown(self) -> int:
        """Cards out whose faces are not known."""
        return self.out - sum(self.counts)

    @property
    def sound(self) -> bool:
        """Whether what was drawn can have been in the shoe."""
        return self.out <= self.size and not any(count > self.decks for count in self.counts)


def _run(order: bytes, length: int, trait: Callable[[int], int]) -> bool:
    """Whether the latest ``length`` cards are known and share a trait."""
    run = order[-length:]
    shared = trait(run[-1])
    if trait(run[-2]) != shared:  # nearly always: the rest is not looked at
        return False
    return len(run) == length and _UNKNOWN not in run and all(trait(number) == shared for number in run)
