"""Events and signed requests for the game server's tests."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field

from tablectl.cards import Outcome
from tablectl.clock import Instant
from tablectl.delivery.outbox import message_id
from tablectl.delivery.signing import parse_secret, sign
from tablectl.events import BetResult, Event, HandResult, RoundResulted, TableClosed, event_id, public_body

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
    return HandResult(
        cards=cards, points=points, total=sum(points) % 10, natural=False, pair=cards[0][0] == cards[1][0]
    )


def resulted(round: int, *, shoe: int = 1) -> RoundResulted:
    """Banker wins 9 to 3."""
    return RoundResulted(
        shoe=shoe, round=round, outcome=Outcome.BANKER, player=hand("AS", "2H"), banker=hand("4S", "5S"),
        bets={"banker": BetResult(result="win", odds="0.95"), "player": BetResult(result="lose")},
    )  # fmt: skip


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
