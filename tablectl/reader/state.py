"""The small states a reader thread keeps: is the line settled, is it noise, may a line be logged.  Pure.

All instants and spans are CLOCK_BOOTTIME nanoseconds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from tablectl.clock import SECOND

BAD_LINES = 50
BAD_WITHIN = 10 * SECOND
FEW = 5
"""Fewer bad lines than these within :data:`BAD_WITHIN`, and the noise is over."""
ASKED_EACH = SECOND // 2
"""No dealer draws two cards in this time, ns: one question about them is enough."""
SHOWN = 16
"""Bytes of a bad line that a notice shows."""


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


class Told(NamedTuple):
    """What people must be told of a noisy line, and the end of its last bad one."""

    text: str
    last: bytes = b""


class Noise:
    """Tells when a line gives mostly rubbish, and keeps the rubbish out of the journal.

    After :data:`BAD_LINES` bad lines within :data:`BAD_WITHIN` people are told, and further ones are only
    counted: a notice each :data:`BAD_WITHIN` says how many and shows the last. So until they are fewer than
    :data:`FEW`; then the next ones are handed over again.

    One that may have been a card is handed over all the same, or nobody would look: one each
    :data:`ASKED_EACH`, which is as fast as cards come and keeps the journal from filling.
    """

    def __init__(self) -> None:
        self._recent: deque[int] = deque(maxlen=BAD_LINES)
        self._count = 0
        self._since = 0
        self._last = b""
        self._asked = -ASKED_EACH
        self.due: int | None = None
        """When :meth:`passed` is wanted; None while bad lines are handed over one by one."""

    def bad(self, now: int) -> Told | None:
        """A bad line came at ``now`` and was handed over; what people must be told, if it is one too many."""
        self._recent.append(now)
        noisy = self.due is not None
        if noisy or len(self._recent) < BAD_LINES or now - self._recent[0] > BAD_WITHIN:
            return None
        self._since, self.due = now, now + BAD_WITHIN
        return Told(f"{BAD_LINES} unreadable lines in {BAD_WITHIN // SECOND} s: check baud rate and cable")

    def only_counted(self, now: int, raw: bytes, *, maybe_card: bool) -> bool:
        """Whether the bad line that comes at ``now`` is only counted."""
        if self.due is None:
            return False
        if maybe_card and now - self._asked >= ASKED_EACH:
            self._asked = now
            return False
        self._recent.append(now)
        self._count += 1
        self._last = raw
        return True

    def passed(self, now: int) -> Told | None:
        """Time came this far; what people must be told now."""
        if self.due is None or now < self.due:
            return None
        notice = self.summary(now)
        if sum(now - at < BAD_WITHIN for at in self._recent) < FEW:
            self.due = None
            self._recent.clear()
        else:
            self.due = now + BAD_WITHIN
        return notice

    def summary(self, now: int) -> Told | None:
        """How many bad lines were only counted since the last notice; None: none."""
        if not self._count:
            return None
        count, self._count = self._count, 0
        seconds, self._since = max(1, round((now - self._since) / SECOND)), now
        return Told(f"{count} more unreadable lines in {seconds} s", self._last[-SHOWN:])


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
