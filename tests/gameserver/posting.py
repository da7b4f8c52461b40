"""Events and signed requests for the game server's tests."""

from __future__ import annotations

import base64
import dataclasses
from dataclasses import dataclass, field
from typing import Any

from tablectl.cards import Outcome
from tablectl.clock import Instant
from tablectl.delivery.outbox import message_id
from tablectl.delivery.signing import parse_secret, sign
from tablectl.events import (
    BetResult,
    Event,
    HandResult,
    RoundAmended,
    RoundResulted,
    RoundVoided,
    TableClosed,
    event_id,
    public_body,
    public_data,
)

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(bytes(32)).decode()
SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
NOW = 1_796_000_000
EPOCH = "4f2a91"


def body(
    sequence: int, event: Event | None = None, *, epoch: str = EPOCH, table: str = "T07", test: bool = False
) -> bytes:
    """A public event's bytes; the time in them follows from the sequence."""
    at = Instant(sequence, (NOW + sequence) * 10**9)
    return public_body(event or TableClosed(), table=table, epoch=epoch, sequence=sequence, at=at, test=test)


def hand(*cards: str) -> HandResult:
    points = tuple(min("A23456789TJQK".index(card[0]) + 1, 10) % 10 for card in cards)
    total = sum(points) % 10
    natural = len(cards) == 2 and total >= 8
    return HandResult(
        cards=cards, points=points, total=total, natural=natural, pair=cards[0][0] == cards[1][0]
    )


def resulted(round: int, *, shoe: int = 1) -> RoundResulted:
    """Banker wins 9 to 3."""
    return RoundResulted(
        shoe=shoe, round=round, outcome=Outcome.BANKER, player=hand("AS", "2H"), banker=hand("4S", "5S"),
        bets={
            "player": BetResult(result="lose"), "banker": BetResult(result="win", odds="0.95"),
            "tie": BetResult(result="lose"),
        },
    )  # fmt: skip


def amended(round: int, *, revision: int, **changes: Any) -> RoundAmended:
    """The 4S was the 4H. ``changes``: other values in ``after``."""
    before = resulted(round)
    after = dataclasses.replace(before, banker=hand("4H", "5S"), revision=revision, **changes)
    return RoundAmended(
        shoe=1, round=round, before=public_data(before), after=public_data(after), reason="misread",
        approved_by="Ann", revision=revision,
    )  # fmt: skip


VOIDED = RoundVoided(shoe=1, round=7, reason="x", cards={"P1": "AS"}, approved_by="Ann")
"""Round 7 is void."""


@dataclass(frozen=True)
class Request:
    """A signed request of these event bodies; ``[]`` is the probe."""

    bodies: list[bytes]
    secret: str = SECRET
    at: int = NOW
    single: bool = False
    epoch: str = EPOCH
    content: bytes = field(init=False)
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        content = self.bodies[0] if self.single else b"[" + b",".join(self.bodies) + b"]"
        ids = [event_id("T07", self.epoch, n) for n in range(1, len(self.bodies) + 1)]
        named = message_id("T07", self.epoch, ids)
        object.__setattr__(self, "content", content)
        object.__setattr__(
            self,
            "headers",
            sign([parse_secret(self.secret)], named, self.at, content)
            | {"Content-Type": SINGLE if self.single else BATCH},
        )
