"""What becomes of a device's bytes on the reader's thread: decoded, handed over in order, counted.

Cards are handed over first and counted afterwards: the card is what somebody waits for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tablectl.clock import SECOND, Instant
from tablectl.reader.state import Noise, Told
from tablectl.scanner import (
    Arrival,
    Arrived,
    Decoded,
    Decoder,
    DeviceEvent,
    DeviceKind,
    Discarded,
    Item,
    Reject,
    Scan,
    ToldLate,
)

STOOD_STILL = SECOND
"""A wait (ns) longer than this was no wait of this thread's own: the arrival is not known."""

NOT_LOOKED = 6 * SECOND // 10
"""A read so long (ns) after the last look is late: the longest wait of this thread is 0.5 s."""


@dataclass(frozen=True, slots=True)
class Counters:
    """How far what the device says gets. Each stuck counter is another fault (line, baud rate, driver)."""

    bytes: int = 0
    frames: int = 0
    """Whole frames, also those of an unknown code. A notice is none: half a message may have led to it."""
    cards: int = 0
    rejects: int = 0
    unknown: int = 0
    """Frames among the rejects: what they say is unknown."""
    last_good: int | None = None
    """When the last frame came that was no reject, CLOCK_BOOTTIME in ns."""
    outages: int = 0


class Intake:
    """The decoder of one device, and where its items go. Called by the reader's thread only.

    ``looked``: when the thread last looked at the line before a wait; ``settled``: whether what comes now
    counts (see :class:`~tablectl.reader.state.Settling`). Both are kept up to date by the reader.
    """

    def __init__(
        self,
        decoder: Decoder,
        deliver: Callable[[Arrival], None],
        tap: Callable[[bytes, Instant], None] | None,
        warn: Callable[[str, int], None],
    ) -> None:
        self._decoder = decoder
        self._told_late = decoder if isinstance(decoder, ToldLate) else None
        self._deliver = deliver
        self._tap = tap
        self._warn = warn
        self._noise = Noise()
        self.counters = Counters()
        self.looked = 0
        self.settled = False
        self.discarded = 0
        """Items that waited in the line this time, and count for nothing."""

    def heard(self, data: bytes, at: Instant) -> bytes:
        """Bytes arrived. What is to be sent back."""
        if self._tap is not None:
            self._tap(data, at)
        if self._told_late is not None and at.boot - self.looked > NOT_LOOKED:
            self._told_late.late(self.looked, at.boot)
        return self._handle(data, self._decoder.feed(data, at.boot), at)

    def passed(self, at: Instant) -> bytes:
        """Time came this far. What is to be sent back."""
        self._tell(self._noise.passed(at.boot), at)
        deadline = self._decoder.next_deadline()
        if deadline is None or at.boot < deadline:
            return b""
        return self._handle(b"", self._decoder.tick(at.boot), at)

    def next_deadline(self) -> int | None:
        """When :meth:`passed` is wanted (boot ns), or None."""
        decoder, noise = self._decoder.next_deadline(), self._noise.due
        return decoder if noise is None else noise if decoder is None else min(decoder, noise)

    @property
    def in_frame(self) -> bool:
        """Whether the decoder waits for the rest of something: nothing should be sent into it."""
        return self._decoder.next_deadline() is not None

    def opened(self) -> None:
        """A fresh line: what comes is old until it is settled."""
        self.settled = False
        self.discarded = 0

    def ready(self) -> None:
        """The line is settled: from here on all counts."""
        self.settled = True

    def broken(self, at: Instant) -> None:
        """The line is gone, and with it whatever was half-read."""
        self._tell(self._noise.summary(at.boot), at)
        self._decoder.reset()

    def outage(self) -> None:
        """The device went away."""
        self.counters = replace(self.counters, outages=self.counters.outages + 1)

    def _handle(self, data: bytes, decoded: Decoded, at: Instant) -> bytes:
        for item in decoded.items:
            if isinstance(item, Reject):
                self._refuse(item, at)
            else:
                self._hand_over(item, at)
        self._counted(len(data), decoded.items, at)
        return decoded.replies

    def _refuse(self, item: Reject, at: Instant) -> None:
        """Hand over what means nothing, or only count it where there is too much of it.

        A message that was lost may have been a card, and so may a whole code that is none: it was scanned.
        """
        if self._noise.only_counted(at.boot, item.raw, maybe_card=item.lost or item.framed):
            return
        self._hand_over(item, at)
        self._tell(self._noise.bad(at.boot), at)

    def _tell(self, told: Told | None, at: Instant) -> None:
        """A notice about the noise on the line. Its bytes are for the journal, they may tell of a card."""
        if told is None:
            return
        ending = f", the last one ending in {told.last.hex(' ')}" if told.last else ""
        self._hand_over(DeviceEvent(DeviceKind.NOTICE, told.last, told.text + ending), at)
        self._warn(told.text, at.boot)

    def _hand_over(self, item: Item, at: Instant) -> None:
        if at.boot - self.looked > STOOD_STILL:
            # This thread, the process or the machine stood still: the bytes may be as old as its last
            # look, and what was drawn while betting was open is no card of the hand.
            at = Instant(self.looked, at.wall_at(self.looked))
        self.discarded += not self.settled
        self._deliver(Arrived(item, at) if self.settled else Discarded(item, at))

    def _counted(self, size: int, items: tuple[Item, ...], at: Instant) -> None:
        """Count what came."""
        good = cards = rejects = unknown = 0
        for item in items:
            match item:
                case Scan():
                    good, cards = good + 1, cards + 1
                case Reject(framed=framed):
                    rejects, unknown = rejects + 1, unknown + framed
                case DeviceEvent(kind=kind):
                    good += kind is not DeviceKind.NOTICE
        old = self.counters
        self.counters = Counters(
            old.bytes + size,
            old.frames + good + unknown,
            old.cards + cards,
            old.rejects + rejects,
            old.unknown + unknown,
            at.boot if good else old.last_good,
            old.outages,
        )
