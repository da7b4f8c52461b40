"""Which log lines and alerts of a long outage are worth it: an hour of it stays under 200 lines.

A link that is bad for an hour says so again and again; one that comes and goes (a balancer with one bad
server behind it) would tell each coming and each going, in the log and as public events of the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tablectl.clock import SECOND

SAME = 60 * SECOND
BURST = 20
REFILL = 30 * SECOND

ALERTS = 5
ALERT_EVERY = 300 * SECOND
"""Of a link that comes and goes so many alerts at once, then one in so long. What halts is told at once."""


@dataclass(slots=True)
class Bucket:
    """So many at once (``size``), then one in ``refill``. Boot ns."""

    size: int = ALERTS
    refill: int = ALERT_EVERY
    tokens: float = field(init=False)
    filled_at: int = 0

    def __post_init__(self) -> None:
        self.tokens = self.size

    def has(self, now: int) -> bool:
        """Whether there is one."""
        self.tokens = min(self.size, self.tokens + (now - self.filled_at) / self.refill)
        self.filled_at = now
        return self.tokens >= 1

    def take(self, now: int) -> bool:
        """Take one, if there is one."""
        if not self.has(now):
            return False
        self.tokens -= 1
        return True


@dataclass(slots=True)
class Lines:
    """The same text once a minute; different texts 20 at once, then one in 30 s. Boot ns."""

    bucket: Bucket = field(default_factory=lambda: Bucket(BURST, REFILL))
    text: str = ""
    text_at: int = 0
    left_out: int = 0

    def worth(self, now: int, text: str) -> int | None:
        """None: leave it out. Else write it; the number says how many were left out before it."""
        if not self.bucket.has(now) or (text == self.text and now - self.text_at < SAME):
            self.left_out += 1
            return None
        left_out, self.left_out = self.left_out, 0
        self.bucket.take(now)
        self.text, self.text_at = text, now
        return left_out
