"""The drawing rule of baccarat (punto banco) and its exact proof.

Who draws is decided by :func:`draws`, on point values alone; the table, the simulator and the
enumeration behind ``tablectl rules --verify`` all ask this one function.  The rule is data
(:class:`DrawingTable`); source: New Jersey Administrative Code as adopted in 58 Pa. Code
section 631a.11, cell by cell.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from tablectl.cards import Card, Outcome, Position, Side


@dataclass(frozen=True, slots=True)
class DrawingTable:
    """The drawing rule as data.

    ``player``: two-card totals on which the Player draws. ``banker_alone``: totals on which the
    Banker draws when the Player stood. ``banker``: for each Banker total, the point values of the
    Player's third *card* (not the total) on which the Banker draws.
    """

    player: frozenset[int]
    banker_alone: frozenset[int]
    banker: tuple[frozenset[int], ...]
    natural: frozenset[int] = frozenset({8, 9})


_ANY = frozenset(range(10))

PUNTO_BANCO = DrawingTable(
    player=frozenset(range(6)),
    banker_alone=frozenset(range(6)),
    banker=(
        _ANY,
        _ANY,
        _ANY,
        _ANY - {8},
        frozenset({2, 3, 4, 5, 6, 7}),
        frozenset({4, 5, 6, 7}),
        frozenset({6, 7}),
        frozenset(),
        frozenset(),
        frozenset(),
    ),
)
"""The rule every house plays."""


def total(points: Sequence[int]) -> int:
    """Point count of a hand: the last digit of the sum, 0 to 9."""
    return sum(points) % 10


def draws(player: Sequence[int], banker: Sequence[int], table: DrawingTable = PUNTO_BANCO) -> Side | None:
    """Which hand the next card goes to, from the point values dealt so far; None: no more cards.

    The first four cards alternate, Player first. Raises nothing: hands longer than the rule
    allows simply draw no more.
    """
    p, b = len(player), len(banker)
    if p < 2 or b < 2:
        return Side.PLAYER if p <= b else Side.BANKER
    if b > 2 or p > 3:
        return None
    p_two = (player[0] + player[1]) % 10
    b_two = (banker[0] + banker[1]) % 10
    if p_two in table.natural or b_two in table.natural:
        return None
    if p_two in table.player:
        if p == 2:
            return Side.PLAYER
        return Side.BANKER if player[2] in table.banker[b_two] else None
    return Side.BANKER if p == 2 and b_two in table.banker_alone else None


_PLAYER_POSITIONS = (Position.P1, Position.P2, Position.P3)
_BANKER_POSITIONS = (Position.B1, Position.B2, Position.B3)


def next_position(
    player: Sequence[int], banker: Sequence[int], table: DrawingTable = PUNTO_BANCO
) -> Position | None:
    """The position the next card is dealt to, or None."""
    side = draws(player, banker, table)
    if side is None:
        return None
    return _PLAYER_POSITIONS[len(player)] if side is Side.PLAYER else _BANKER_POSITIONS[len(banker)]


def outcome_of(player_total: int, banker_total: int) -> Outcome:
    """The higher count wins."""
    if player_total == banker_total:
        return Outcome.TIE
    return Outcome.PLAYER if player_total > banker_total else Outcome.BANKER


def is_natural(cards: Sequence[Card]) -> bool:
    """8 or 9 in two cards, per hand, also when both tie."""
    return len(cards) == 2 and total([c.points for c in cards]) >= 8


def is_pair(cards: Sequence[Card]) -> bool:
    """The first two cards have the same rank; suit does not matter, a third card changes nothing."""
    return len(cards) >= 2 and cards[0].rank == cards[1].rank


def deal(cards: Sequence[Card]) -> tuple[dict[Position, Card], tuple[Card, ...]]:
    """Lay ``cards`` out in order under the rule: what lies where, and the cards in excess."""
    laid: dict[Position, Card] = {}
    player: list[int] = []
    banker: list[int] = []
    for i, card in enumerate(cards):
        position = next_position(player, banker)
        if position is None:
            return laid, tuple(cards[i:])
        laid[position] = card
        (player if position.side is Side.PLAYER else banker).append(card.points)
    return laid, ()


# --- the exact proof ------------------------------------------------------------------------------


@dataclass(slots=True)
class Proof:
    """Exact counts over all ordered six-card draws from a shoe, and what follows from them."""

    decks: int
    draws: int = 0
    outcomes: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))
    banker_six: int = 0
    cards: dict[int, int] = field(default_factory=lambda: {4: 0, 5: 0, 6: 0})

    def share(self, count: int) -> Fraction:
        """A count as a share of all draws."""
        return Fraction(count, self.draws)

    def edges(self) -> dict[str, Fraction]:
        """House edges of the standard wagers, as exact fractions of the stake."""
        banker = self.share(self.outcomes[Outcome.BANKER])
        player = self.share(self.outcomes[Outcome.PLAYER])
        tie = self.share(self.outcomes[Outcome.TIE])
        six = self.share(self.banker_six)
        same_rank = Fraction(4 * self.decks - 1, 52 * self.decks - 1)
        return {
            "Banker, 5 % commission": player - banker * Fraction(95, 100),
            "Player": banker - player,
            "Tie, 8 to 1": 1 - 9 * tie,
            "Banker, even money, half on a win with 6": player - banker + six / 2,
            "Pair, 11 to 1": 1 - 12 * same_rank,
        }


def prove(table: DrawingTable = PUNTO_BANCO, decks: int = 8) -> Proof:
    """Enumerate every ordered six-card draw, by point values with their multiplicities.

    The walk follows :func:`draws` card by card, so that it proves the code that decides at the
    table and not a copy. A hand that ends early stands for all draws of the cards behind it.
    """
    left = [4 * decks] * 10
    left[0] = 16 * decks
    size = 52 * decks
    proof = Proof(decks)
    proof.draws = math.perm(size, 6)
    ended: Counter[tuple[int, int, int]] = Counter()

    def walk(player: tuple[int, ...], banker: tuple[int, ...], ways: int) -> None:
        side = draws(player, banker, table)
        if side is None:
            ended[len(player) + len(banker), sum(player) % 10, sum(banker) % 10] += ways
            return
        for points in range(10):
            count = left[points]
            if count:
                left[points] -= 1
                if side is Side.PLAYER:
                    walk((*player, points), banker, ways * count)
                else:
                    walk(player, (*banker, points), ways * count)
                left[points] += 1

    walk((), (), 1)
    for (dealt, player_total, banker_total), hands in ended.items():
        count = hands * math.perm(size - dealt, 6 - dealt)
        outcome = outcome_of(player_total, banker_total)
        proof.outcomes[outcome] += count
        proof.cards[dealt] += count
        if outcome is Outcome.BANKER and banker_total == 6:
            proof.banker_six += count
    return proof


EXPECTED_8_DECKS = {
    "draws": 4_998_398_275_503_360,
    "banker": 2_292_252_566_437_888,
    "player": 2_230_518_282_592_256,
    "tie": 475_627_426_473_216,
    "banker six": 269_232_304_455_680,
    "4 cards": 1_893_735_611_458_560,
    "5 cards": 1_516_734_808_780_800,
    "6 cards": 1_587_927_855_264_000,
}
"""What the rule must give from eight decks; ``tablectl rules --verify`` holds a proof against it."""


def counts(proof: Proof) -> dict[str, int]:
    """The counts of a proof by the names of :data:`EXPECTED_8_DECKS`."""
    return {
        "draws": proof.draws,
        "banker": proof.outcomes[Outcome.BANKER],
        "player": proof.outcomes[Outcome.PLAYER],
        "tie": proof.outcomes[Outcome.TIE],
        "banker six": proof.banker_six,
        **{f"{n} cards": proof.cards[n] for n in (4, 5, 6)},
    }


def banker_matrix(table: DrawingTable = PUNTO_BANCO) -> list[tuple[int, str, str]]:
    """The Banker's rows as a house prints them: total, D or S per third-card value 0-9, Player stood.

    Asked of :func:`draws`, with hands that reach each cell.
    """
    rows = []
    for banker_total in range(8):
        banker = (0, banker_total)
        cells = "".join(
            "D" if draws((0, 0, third), banker, table) is Side.BANKER else "S" for third in range(10)
        )
        stood = "D" if draws((0, 6), banker, table) is Side.BANKER else "S"
        rows.append((banker_total, cells, stood))
    return rows


def player_row(table: DrawingTable = PUNTO_BANCO) -> str:
    """D or S for Player two-card totals 0-7, asked of :func:`draws`."""
    return "".join("D" if draws((0, n), (0, 0), table) is Side.PLAYER else "S" for n in range(8))
