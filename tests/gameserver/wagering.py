"""A game server's money side in a test's hand: a table that tells events, and players who place."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from tablectl.cards import Card
from tablectl.clock import iso
from tablectl.events import (
    BettingClosed,
    BettingOpened,
    Event,
    EventParked,
    RoundResulted,
    ShoeStarted,
    TableOpened,
    public_data,
)
from tablectl.gameserver.bank import Bank
from tablectl.gameserver.intake import Intake
from tablectl.gameserver.players import Player
from tablectl.gameserver.store import Store
from tablectl.gameserver.wagers import Bet
from tablectl.house import HouseRules
from tablectl.odds import bet_results, hand_result, outcome
from tablectl.profiles import load_rules
from tablectl.rules import deal
from tests.gameserver.posting import NOW, SECRET, Request, body

LIVE = load_rules("live-casino")
TIES_STAND = load_rules("classic")

DEALT = {  # Player's and Banker's cards
    "player": "9S 2D KH 3C",
    "banker": "2S 9D 3H KC",
    "banker six": "2S 6D KH KC 3S",
    "tie": "9S 9D KH KC",
    "player pair": "4S 2D 4H 3C",
    "both pairs": "2S 3D 2H 3C 9S",
    "tie with pairs": "4S 4D 4H 4C",
}
"""Rounds by name: cards in the order they are dealt."""


def result(name: str, round: int = 1, shoe: int = 1, rules: HouseRules = LIVE, **more: Any) -> RoundResulted:
    """The result of a round of :data:`DEALT`, or of cards in the order they are dealt."""
    cards = [Card.parse(text) for text in DEALT.get(name, name).split()]
    laid, over = deal(cards)
    assert not over
    player, banker = (
        hand_result([card for at, card in laid.items() if at[0] == side]) for side in ("P", "B")
    )
    return RoundResulted(
        shoe=shoe,
        round=round,
        outcome=outcome(player, banker),
        player=player,
        banker=banker,
        bets=bet_results(player, banker, rules.payouts),
        **more,
    )


class Wagering:
    """One table and its server. Times are s since the start, both clocks'."""

    def __init__(self, path: Path | str, rules: HouseRules = LIVE, *, shoe: int = 1) -> None:
        self.path = Path(path)
        self.rules = rules
        self.now = 0.0
        self.sequence = 0
        self.shoe = shoe
        self.round = 0
        self._ids = itertools.count(10_000_000)
        self.start()

    def start(self) -> None:
        """The server, or the server again."""
        self.store = Store(self.path)
        self.store.sql("PRAGMA synchronous=OFF")  # the order of writing is what these tests are about
        self.intake = Intake(
            self.store,
            [SECRET],
            clock=lambda: int((NOW + self.now) * 1e9),
            monotonic=lambda: 5_000 + self.now,
        )
        self.bank: Bank = self.intake.bank

    def hurries(self) -> None:
        """For a hundred thousand rounds: no other process reads this database, and no power is cut."""
        for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=MEMORY", "cache_size=-65536"):
            self.store.sql(f"PRAGMA {pragma}")

    def tell(self, *events: Event, **options: Any) -> int:
        """Send events; the status."""
        bodies = [body(self.sequence + 1 + i, event) for i, event in enumerate(events)]
        reply = self.send(bodies, **options)
        if reply == 200:
            self.sequence += len(events)
        return reply

    def send(self, bodies: list[bytes], **options: Any) -> int:
        """Send bodies as they are."""
        request = Request(bodies, at=int(NOW + self.now), **options)
        reply = self.intake.take("T07", request.headers["Content-Type"], request.headers, request.content)
        return reply.status

    def opened(self) -> None:
        """The table and its shoe."""
        limits = self.rules.as_dict()["limits"]
        told = TableOpened(
            rules=self.rules.name, currency=limits["currency"], limits=limits["bets"],
            max_winnings=limits["max_winnings"],
        )  # fmt: skip
        assert self.tell(told) == 200
        self.new_shoe()

    def new_shoe(self) -> None:
        assert self.tell(shoe_started(self.shoe, self.rules)) == 200

    def betting(self, seconds: float = 20.0) -> str:
        """Open betting on the next round; its name."""
        self.round += 1
        assert self.tell(self.opening(seconds)) == 200
        return f"{self.shoe}/{self.round}"

    def opening(self, seconds: float = 20.0) -> BettingOpened:
        at = iso(int((NOW + self.now + seconds) * 1e9))
        return BettingOpened(shoe=self.shoe, round=self.round, seconds=seconds, closes_at=at)

    def closing(self) -> BettingClosed:
        at = iso(int((NOW + self.now) * 1e9))
        return BettingClosed(shoe=self.shoe, round=self.round, reason="timer", closed_at=at)

    def closed(self) -> None:
        """No more bets."""
        assert self.tell(self.closing()) == 200

    def results(self, name: str, *, at_once: bool = False, **more: Any) -> RoundResulted:
        """Close, and tell the result of this round; ``at_once``: in one batch."""
        told = result(name, self.round, self.shoe, self.rules, **more)
        if not at_once:
            self.closed()
        assert self.tell(*([self.closing()] if at_once else []), told) == 200
        return told

    def player(self, name: str = "ann", balance: int = 1_000_00) -> Player:
        self.bank.players.add(name, self.rules.limits.currency, balance)
        return Player(name, self.rules.limits.currency)

    def place(self, who: Player, /, *, at: Any = "", request: Any = "", **bets: int) -> list[str]:
        """Place bets (``two_way`` is 2-way); the code of each refusal, "" where it was taken."""
        asked = [
            Bet({"two_way": "2-way", "three_way": "3-way"}.get(area, area), n) for area, n in bets.items()
        ]
        number = at or f"{self.shoe}/{self.round}"
        answer = self.bank.place(who, "T07", request or f"r{next(self._ids)}", number, asked)
        return [one["reason"]["code"] if one["reason"] else "" for one in answer["bets"]]

    def take_back(self, player: Player, *areas: str) -> list[str]:
        number = f"{self.shoe}/{self.round}"
        answer = self.bank.take_back(player, "T07", f"r{next(self._ids)}", number, areas or None)
        return [one["reason"]["code"] if one["reason"] else "" for one in answer["bets"]]

    def balance(self, player: Player) -> int:
        return self.bank.players.balance(player)

    def sound(self) -> bool:
        """Whether the books are right; fails with what is wrong."""
        assert self.bank.ledger.audit() == []
        return True


def shoe_started(shoe: int, rules: HouseRules) -> ShoeStarted:
    return ShoeStarted(shoe=shoe, decks=8, rules=rules.as_dict(), rules_hash=rules.digest)


def set_aside(round: int, what: str = "round.resulted", shoe: int = 1) -> EventParked:
    """In place of what the server refused."""
    return EventParked(
        shoe=shoe, round=round, parked_type=f"tablectl.{what}.v1", reason="x", approved_by="bo"
    )


def data_of(event: Event) -> dict[str, Any]:
    """As an amendment holds a result."""
    return public_data(event)
