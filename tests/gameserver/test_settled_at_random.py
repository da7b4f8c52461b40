"""Settlement against an independent calculation, money conserved to the cent; the edges in the long run.

The calculation here knows its own drawing rule, its own payouts by the profile's name, and works in whole
cents; of the program it takes nothing.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from pathlib import Path

import pytest

from tablectl.cards import Card
from tablectl.events import RoundAmended, RoundResulted, RoundVoided
from tablectl.gameserver.settlement import end
from tablectl.gameserver.terms import of_shoe
from tablectl.odds import bet_results, hand_result
from tablectl.profiles import load_rules
from tablectl.rules import Proof, deal, prove
from tests.gameserver.wagering import Wagering, data_of, result, set_aside, shoe_started

SOAK = "TABLECTL_SOAK" in os.environ
PIECES, ROUNDS = (4, 25_000) if SOAK else (1, 100)
"""In each of the four profiles so many pieces of so many rounds, which may run side by side."""
HANDS = 1_000_000 if SOAK else 6_000

PROFILES = ("live-casino", "classic", "commission-free", "atlantic-city")
STANDS = ("classic", "commission-free")
LIMITS = {
    "live-casino": ((10_00, 400_00), (5_00, 50_00)),
    "atlantic-city": ((5_00, 300_00), (5_00, 300_00)),
    "classic": ((1, 500_00), (1, 500_00)),
    "commission-free": ((1, 500_00), (1, 500_00)),
}
"""Least and most on Player and Banker, and on the others."""
SHOE = [rank + suit for rank in "A23456789TJQK" for suit in "SHDC"] * 8

# --- the independent calculation ----------------------------------------------------------------------------


COUNTS = {card: "A23456789".find(card[0]) + 1 for card in SHOE}


def points(cards: list[str]) -> int:
    return sum(map(COUNTS.__getitem__, cards)) % 10


DRAWS = {0: "0123456789", 1: "0123456789", 2: "0123456789", 3: "012345679", 4: "234567", 5: "4567", 6: "67"}


def dealt(cards: list[str]) -> tuple[list[str], list[str], int]:
    """Player's hand, Banker's, and how many cards were used."""
    player, banker, rest = [cards[0], cards[2]], [cards[1], cards[3]], cards[4:]
    if max(points(player), points(banker)) >= 8:
        return player, banker, 4
    third = None
    if points(player) <= 5:
        third = rest.pop(0)
        player.append(third)
    if str(points([third])) in DRAWS.get(points(banker), "") if third else points(banker) <= 5:
        banker.append(rest.pop(0))
    return player, banker, len(player) + len(banker)


def net(profile: str, part: str, stake: int, player: list[str], banker: list[str]) -> int | None:
    """What a single bet wins or loses, in cents; None: it stands."""
    left, right = points(player), points(banker)
    if part in ("player_pair", "banker_pair"):
        hand = player if part == "player_pair" else banker
        return 11 * stake if hand[0][0] == hand[1][0] else -stake
    if part == "tie":
        return min(8 * stake, 400_00 if profile == "live-casino" else 10**12) if left == right else -stake
    if left == right:
        return None if profile in STANDS else 0
    if (part == "player") != (left > right):
        return -stake
    if part == "player":
        won = stake
    elif profile == "commission-free":
        won = stake // 2 if right == 6 else stake
    else:
        won = 95 * stake // 100
    return min(won, 10**12 if profile != "live-casino" else 400_00 if part == "player" else 380_00)


PARTS = {"two_way": ("player_pair", "banker_pair"), "three_way": ("player_pair", "banker_pair", "tie")}


@dataclass
class Own:
    """One player in the independent books."""

    balance: int
    standing: dict[str, int] = field(default_factory=dict)


def wanted(chance: random.Random, profile: str) -> dict[str, int]:
    """A mix of bets that is lawful at that table."""
    areas = ["player", "banker", "tie"]
    if profile == "live-casino":
        areas += chance.choice([["player_pair", "banker_pair"], ["two_way"], []])
        if "two_way" not in areas and chance.random() < 0.3:
            areas = ["player", "banker", "three_way"]
    main, side = LIMITS[profile]
    chosen = [area for area in areas if chance.random() < 0.5]
    return {area: chance.randint(*(main if area in ("player", "banker") else side)) for area in chosen}


def settled(
    profile: str, own: Own, bets: dict[str, int], hands: list[list[str]]
) -> tuple[int, dict[str, int]]:
    """The balance after the round, and what stands."""
    balance, stands = own.balance, {}
    for part, stake in bets.items():
        won = net(profile, part, stake, hands[0], hands[1])
        if won is None:
            stands[part] = stake
        else:
            balance += stake + won
    return balance, stands


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("piece", range(PIECES))
@pytest.mark.parametrize("profile", PROFILES)
def test_every_round_is_settled_as_by_hand(tmp_path: Path, profile: str, piece: int) -> None:
    chance = random.Random(f"{profile} {piece}")
    rules = load_rules(profile)
    table = Wagering(tmp_path / "server.db", rules)
    table.hurries()
    table.opened()
    names = ("ann", "bob", "eva")
    players = {name: table.player(name, 10**12) for name in names}
    own = {name: Own(10**12) for name in names}
    cards: list[str] = []
    for _ in range(ROUNDS):
        if len(cards) < 60:
            cards = chance.sample(SHOE, len(SHOE))
            if table.round:
                table.shoe, table.round = table.shoe + 1, 0
                table.new_shoe()
        table.betting()
        bets: dict[str, dict[str, int]] = {}
        for name, one in own.items():
            asked = wanted(chance, profile)
            for part in list(one.standing):
                if chance.random() < 0.3:  # withdrawn
                    assert table.take_back(players[name], part) == [""]
                    one.balance += one.standing.pop(part)
                asked.pop(part, None)
            assert set(table.place(players[name], **asked)) <= {""} if asked else True
            singles = {p: s for area, s in asked.items() for p in PARTS.get(area, (area,))}
            one.balance -= sum(singles.values())
            bets[name] = {**one.standing, **singles}
        player, banker, used = dealt(cards)
        first = [player, banker]
        told = table.results(" ".join(cards[:used]), at_once=True)
        del cards[:used]
        ending, last = chance.random(), first
        if ending < 0.04:
            void = RoundVoided(shoe=table.shoe, round=table.round, reason="x", cards={}, approved_by="Ann")
            assert table.tell(void) == 200
        elif ending < 0.1:  # misread cards, set right before the next betting
            seen = chance.sample(SHOE, 6)
            player, banker, used = dealt(seen)
            last = [player, banker]
            after = result(" ".join(seen[:used]), table.round, table.shoe, rules, revision=2)
            amended = RoundAmended(
                shoe=table.shoe, round=table.round, before=data_of(told), after=data_of(after), reason="x",
                approved_by="Ann", revision=2,
            )  # fmt: skip
            assert table.tell(amended) == 200
        for name, one in own.items():
            if ending < 0.04:
                one.balance, one.standing = one.balance + sum(bets[name].values()), {}
            else:
                _, stood = settled(profile, one, bets[name], first)
                one.balance, one.standing = settled(profile, one, bets[name], last)
                if not stood and one.standing:  # it cannot begin to stand late
                    one.balance, one.standing = one.balance + sum(one.standing.values()), {}
            assert table.balance(players[name]) == one.balance, (table.shoe, table.round, name, bets[name])
    lying = sum(sum(one.standing.values()) for one in own.values())
    currency = rules.limits.currency
    house = table.bank.ledger.balance("house", currency)
    assert house == 3 * 10**12 - sum(one.balance for one in own.values()) - lying
    assert table.bank.ledger.balance("stakes/T07", currency) == lying
    assert table.sound()


# --- any round set right at any time ------------------------------------------------------------------------


@dataclass
class Stake:
    """One stake, with the rounds it lay on. ``over``: it ended on the last of them; ``taken`` back there."""

    part: str
    amount: int
    path: list[int]
    over: bool = False
    taken: bool = False

    def on(self, round: int) -> bool:
        return round in self.path and not (self.taken and self.path[-1] == round)

    def ends(self, round: int) -> None:
        self.path = self.path[: self.path.index(round) + 1]
        self.over, self.taken = True, False


Hands = list[list[str]] | None
"""The final word on a round: both hands; None: void."""


def value(stakes: list[Stake], final: dict[int, Hands]) -> int:
    """What all stakes have won or lost for the balance; what still lies there is away."""
    total = 0
    for one in stakes:
        if not one.over:
            total -= 0 if one.taken else one.amount
        elif (hands := final[one.path[-1]]) is not None:
            total += net("classic", one.part, one.amount, *hands) or 0
    return total


def likely(chance: random.Random) -> tuple[list[str], list[str], int, list[str]]:
    """A round that is a tie more often than others."""
    while True:
        cards = chance.sample(SHOE, 6)
        player, banker, used = dealt(cards)
        if points(player) == points(banker) or chance.random() < 0.15:
            return player, banker, used, cards


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_any_round_may_be_set_right_at_any_time(tmp_path: Path) -> None:
    chance, rules = random.Random(11), load_rules("classic")
    for game in range(200 if SOAK else 24):
        table = Wagering(tmp_path / f"{game}.db", rules)
        table.opened()
        ann = table.player(balance=10**9)
        stakes: list[Stake] = []
        final: dict[int, Hands] = {}
        told: dict[int, RoundResulted] = {}
        parked: set[int] = set()
        for _ in range(12):
            waiting = [o for o in stakes if not o.over and not o.taken and o.path[-1] not in parked]
            table.betting()
            for one in waiting:
                one.path.append(table.round)
                if chance.random() < 0.2:
                    assert table.take_back(ann, one.part) == [""]
                    one.taken = True
            for part in ("player", "banker", "tie"):
                amount = chance.randint(1, 500_00)
                if chance.random() < 0.4 and table.place(ann, **{part: amount}) == [""]:
                    stakes.append(Stake(part, amount, [table.round]))
            player, banker, used, cards = likely(chance)
            if chance.random() < 0.15:  # its result is refused, and set aside by a pit boss
                told[table.round] = result(" ".join(cards[:used]), table.round, 1, rules)
                parked.add(table.round)
                assert table.tell(set_aside(table.round)) == 200
            else:
                told[table.round] = table.results(" ".join(cards[:used]))
                final[table.round] = [player, banker]
            for one in stakes:
                if table.round in parked:
                    break
                if one.on(table.round) and net("classic", one.part, 1, player, banker) is not None:
                    one.ends(table.round)
            while chance.random() < 0.5:
                number = chance.randint(1, table.round)
                if number in parked or final[number] is not None:
                    _set_right(table, chance, number, stakes, final, told, parked)
                assert table.balance(ann) == 10**9 + value(stakes, final), (game, table.round, number)
                assert table.sound()
            assert table.balance(ann) == 10**9 + value(stakes, final), (game, table.round)


def _set_right(
    table: Wagering,
    chance: random.Random,
    number: int,
    stakes: list[Stake],
    final: dict[int, Hands],
    told: dict[int, RoundResulted],
    parked: set[int],
) -> None:
    late = number in parked and number != table.round
    parked.discard(number)
    if chance.random() < 0.3:
        void = RoundVoided(shoe=1, round=number, reason="x", cards={}, approved_by="Ann")
        assert table.tell(void) == 200
        final[number] = None
    else:
        player, banker, used, cards = likely(chance)
        before = told[number]
        revision = before.revision + 1
        after = result(" ".join(cards[:used]), number, 1, table.rules, revision=revision)
        amended = RoundAmended(
            shoe=1, round=number, before=data_of(before), after=data_of(after), reason="x", approved_by="Ann",
            revision=revision,
        )  # fmt: skip
        assert table.tell(amended) == 200
        final[number], told[number] = [player, banker], after
    hands = final[number]
    for one in stakes:
        if one.on(number) and (late or hands is None or net("classic", one.part, 1, *hands) is not None):
            one.ends(number)


BANKER = {
    "live-casino": "Banker, 5 % commission",
    "commission-free": "Banker, even money, half on a win with 6",
}

# --- the edges ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def proof() -> Iterator[Proof]:
    """The exact counts, by the enumeration of ``tablectl rules --verify``."""
    yield prove()


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("profile", ["live-casino", "commission-free"])
def test_bets_lose_in_the_long_run_what_the_exact_edges_say(proof: Proof, profile: str) -> None:
    rules = load_rules(profile)
    terms = of_shoe({"rules": shoe_started(1, rules).rules})
    assert terms is not None
    exact = proof.edges()
    edges = {
        "player": exact["Player"],
        "tie": exact["Tie, 8 to 1"],
        "banker": exact[
            "Banker, 5 % commission"
            if profile == "live-casino"
            else "Banker, even money, half on a win with 6"
        ],
    }
    if profile == "live-casino":
        edges |= dict.fromkeys(("player_pair", "banker_pair"), exact["Pair, 11 to 1"])
    stake = 20_00
    chance = random.Random(7)
    shoe = [Card.parse(text) for text in SHOE]
    total, squares = dict.fromkeys(edges, 0), dict.fromkeys(edges, 0)
    for _ in range(HANDS):
        laid, _ = deal(chance.sample(shoe, 6))
        player, banker = (hand_result([c for at, c in laid.items() if at[0] == side]) for side in "PB")
        bets = bet_results(player, banker, rules.payouts)
        for area in edges:
            ended = end(area, stake, bets, terms)
            won = 0 if ended.how == "stand" else ended.back + ended.won - stake
            total[area] += won
            squares[area] += won * won
    for area, edge in edges.items():
        mean = Fraction(total[area], HANDS * stake)
        deviation = sqrt(squares[area] / HANDS / stake**2 - float(mean) ** 2)
        assert abs(float(mean + edge)) < 4 * deviation / sqrt(HANDS), (area, float(mean), float(edge))
