"""Which log lines of a long outage are worth writing: an hour of it stays under 200 lines."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.clock import SECOND

SAME = 60 * SECOND
BURST = 20
REFILL = 30 * SECOND


@dataclass(slots=True)
class Lines:
    """The same text once a minute; different texts 20 at once, then one in 30 s. Boot ns."""

    tokens: float = BURST
    filled_at: int = 0
    text: str = ""
    text_at: int = 0
    left_out: int = 0

    def worth(self, now: int, text: str) -> int | None:
        """None: leave it out. Else write it; the number says how many were left out before it."""
        self.tokens = min(BURST, self.tokens + (now - self.filled_at) / REFILL)
        self.filled_at = now
        if self.tokens < 1 or (text == self.text and now - self.text_at < SAME):
            self.left_out += 1
            return None
        left_out, self.left_out = self.left_out, 0
        self.tokens -= 1
        self.text, self.text_at = text, now
        return left_out
