"""The small states a reader thread keeps: is the line settled, is it noise, may a line be logged.  Pure.

All instants and spans are CLOCK_BOOTTIME nanoseconds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tablectl.clock import SECOND

BAD_LINES = 50
BAD_WITHIN = 10 * SECOND


class Settling:
    """Whether a freshly opened line may be believed.

    Bytes that waited in the line are old scans. The line is settled once ``span`` has passed, a wait has
    found it empty, and it was quiet for a third of ``span``, so that a frame which began in the settling
    time does not end after it. A line that never falls quiet settles after four times ``span``.
    """

    def __init__(self, opened: int, span: int) -> None:
        self.until = opened + span
        """When to look again."""
        self._quiet = span // 3
        self._last = opened + 4 * span

    def heard(self, now: int) -> None:
        """Bytes arrived at ``now``."""
        self.until = max(self.until, min(now + self._quiet, self._last))

    def over(self, now: int, bytes_waited: bool) -> bool:
        """Whether the line is settled now; ``bytes_waited``: the last wait ended because bytes were there."""
        return now >= self._last or (now >= self.until and not bytes_waited)


class Noise:
    """Tells once when a line gives mostly rubbish: :data:`BAD_LINES` within :data:`BAD_WITHIN`.

    Armed again after as long a time without a bad line.
    """

    def __init__(self) -> None:
        self._recent: deque[int] = deque(maxlen=BAD_LINES)
        self._told = False

    def too_many(self, now: int) -> bool:
        """Note a bad line at ``now``; whether people must be told."""
        if self._recent and now - self._recent[-1] > BAD_WITHIN:
            self._told = False
        self._recent.append(now)
        if self._told or len(self._recent) < BAD_LINES or now - self._recent[0] > BAD_WITHIN:
            return False
        self._told = True
        return True


@dataclass(slots=True)
class LogBudget:
    """How many lines a device may write into the log: ``burst`` at once, then one each ``every``.

    The defaults stay under 200 in an hour whatever a loose plug does.
    """

    burst: int = 20
    every: int = 30 * SECOND
    held_back: int = 0
    _spent: int = 0
    _since: int = field(default=0)

    def take(self, now: int) -> int | None:
        """None if the line must be held back, else how many were held back before it."""
        earned = (now - self._since) // self.every
        if earned > 0:
            self._spent = max(0, self._spent - earned)
            self._since += earned * self.every
        if self._spent >= self.burst:
            self.held_back += 1
            return None
        self._spent += 1
        held, self.held_back = self.held_back, 0
        return held
