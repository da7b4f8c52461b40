"""The events of a round as a table sends them. What is settled follows from the cards, as at a table."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.cards import Card, Position
from tablectl.clock import SECOND, iso
from tablectl.conformance.kit import Kit
from tablectl.events import (
    BettingClosed,
    BettingOpened,
    CardDealt,
    Event,
    EventParked,
    RoundAmended,
    RoundResulted,
    RoundVoided,
    ShoeStarted,
    public_data,
)
from tablectl.house import HouseRules, Payouts
from tablectl.odds import bet_results, hand_result, outcome
from tablectl.rules import deal

BANKER, OTHER_SUIT, PLAYER, TIE = "AS 4S 2H 5S", "AS 4S 2H 5D", "9S 2D KH 3C", "4S 4D 4H 4C"
"""Hands, in the order of dealing. The second one is the first with one suit read wrong."""

RULES, PAYOUTS = HouseRules(name="conformance"), Payouts()

WHO = "Änne Ørsted"
"""Who approves everything; names are not ASCII everywhere."""


def instant(seconds_from_now: float) -> int:
    """Wall ns."""
    return time.time_ns() + int(seconds_from_now * SECOND)


@dataclass(frozen=True, slots=True)
class Round:
    """Its events. Nothing is sent by it."""

    shoe: int
    number: int

    @property
    def _where(self) -> dict[str, Any]:
        return {"shoe": self.shoe, "round": self.number}

    def opened(self, *, seconds: float = 20.0, closes_in: float = 20.0) -> BettingOpened:
        return BettingOpened(seconds=seconds, closes_at=iso(instant(closes_in)), **self._where)

    def closed(self, reason: str = "command", *, ago: float = 0.0) -> BettingClosed:
        return BettingClosed(reason=reason, closed_at=iso(instant(-ago)), **self._where)

    def dealt(self, cards: str = BANKER) -> list[CardDealt]:
        """A card event each, four cards at most."""
        made, totals = list[CardDealt](), {"P": 0, "B": 0}
        for position, text in zip(Position, cards.split(), strict=False):
            card, side = Card.parse(text), position[0]
            totals[side] = (totals[side] + card.points) % 10
            follows = "none" if position is Position.B2 else "banker" if side == "P" else "player"
            told = CardDealt(
                position=position, card=text, points=card.points, total=totals[side], next=follows,
                **self._where,
            )  # fmt: skip
            made.append(told)
        return made

    def face_down(self, count: int = 4) -> list[CardDealt]:
        """So many cards whose faces are told by ``hand.turned`` only."""
        return [CardDealt(position=position, **self._where) for position in [*Position][:count]]

    def result(
        self, cards: str = BANKER, *, revision: int = 1, free: bool = False, payouts: Payouts = PAYOUTS
    ) -> RoundResulted:
        laid, _ = deal([Card.parse(text) for text in cards.split()])
        player, banker = (
            hand_result([card for position, card in laid.items() if position[0] == side]) for side in "PB"
        )
        return RoundResulted(
            outcome=outcome(player, banker),
            player=player,
            banker=banker,
            bets={} if free else bet_results(player, banker, payouts),
            free=free,
            revision=revision,
            **self._where,
        )

    def amended(self, before: RoundResulted, cards: str) -> RoundAmended:
        """``before`` was wrong, ``cards`` is what lay there."""
        after = self.result(cards, revision=before.revision + 1, free=before.free)
        return RoundAmended(
            before=public_data(before),
            after=public_data(after),
            reason="misread",
            approved_by=WHO,
            revision=after.revision,
            **self._where,
        )

    def voided(self, cards: Mapping[str, str] | None = None) -> RoundVoided:
        return RoundVoided(reason="misdeal", cards=dict(cards or {}), approved_by=WHO, **self._where)

    def parked(self, kind: type[Event]) -> EventParked:
        """In place of this round's event of that type."""
        parked = f"tablectl.{kind.TYPE}.v1"
        return EventParked(parked_type=parked, reason="refused", approved_by=WHO, **self._where)


def shoe_started(number: int, *, rounds_before: int = 0) -> ShoeStarted:
    """``rounds_before``: it is taken over from another controller, which played so many."""
    adopted = {"out": 200, "rounds": rounds_before, "last_hand": False} if rounds_before else None
    return ShoeStarted(shoe=number, decks=8, rules=RULES.as_dict(), rules_hash=RULES.digest, adopted=adopted)


def next_round(kit: Kit) -> Round:
    """The round after the kit's last one, in its shoe."""
    kit.round += 1
    return Round(kit.shoe, kit.round)


def body_of(kit: Kit, event: Event, offset: int = 0) -> bytes:
    """Its bytes under the sequence wanted, or so many behind it."""
    return kit.event(kit.next + offset, event, suffix="-p" if isinstance(event, EventParked) else "")


def tell(kit: Kit, *told: tuple[Event, str]) -> None:
    """Each event alone, and what it is. The server must take them all."""
    for event, sent in told:
        kit.takes([body_of(kit, event)], sent)


def tell_at_once(kit: Kit, events: list[Event], sent: str) -> list[bytes]:
    """All in one batch, which the server must take; their bytes."""
    bodies = [body_of(kit, event, offset) for offset, event in enumerate(events)]
    kit.takes(bodies, sent, single=False)
    return bodies
