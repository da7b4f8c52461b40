"""The wire in virtual time: an emulated shoe's end, the reader's end, and the clock they share.  No thread.

The shoe's end takes the very steps that the emulators put on a real port. The reader's end does what the
reader thread does with a real one: settle, decode, tick, lose, look again; it uses the same states.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from tablectl_drivers.emulated.faults import Faults, Plug, Say, Step, Unplug, Wait
from tablectl_drivers.emulated.port import Port

from tablectl.clock import SECOND, Instant
from tablectl.reader import SETTLE
from tablectl.reader_state import Noise, Settling
from tablectl.scanner import (
    Arrival,
    Arrived,
    Backoff,
    Decoder,
    Discarded,
    Item,
    Reject,
    ScannerLost,
    ScannerRestored,
)

BEGAN = Instant(1_000 * SECOND, 1_790_000_000 * SECOND)


class Clock:
    """Virtual time, and what is to happen in it."""

    def __init__(self) -> None:
        self.now = BEGAN.boot
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._count = 0
        self.watched: list[tuple[Callable[[], int | None], Callable[[], None]]] = []
        """Deadlines that move: when, and what then."""

    def instant(self) -> Instant:
        return Instant(self.now, BEGAN.wall_at(self.now))

    def at(self, when: int, what: Callable[[], None]) -> None:
        self._count += 1
        heapq.heappush(self._due, (when, self._count, what))

    def run(self, until: int) -> None:
        """Let everything happen that is due up to ``until``."""
        while True:
            when, what = until + 1, None
            if self._due and self._due[0][0] < when:
                when, what = self._due[0][0], self._next
            for deadline, act in self.watched:
                moment = deadline()
                if moment is not None and moment < when:
                    when, what = moment, act
            if what is None:
                break
            self.now = max(self.now, when)
            what()
        self.now = max(self.now, until)

    def _next(self) -> None:
        heapq.heappop(self._due)[2]()


class Line(Port):
    """The port an emulated shoe speaks on. Its writer is the clock."""

    def __init__(self, clock: Clock, struck: Callable[[str], bool]) -> None:
        super().__init__()
        self._clock = clock
        self._struck = struck
        self._queue: list[Step] = []
        self.up = True
        self.busy_until = clock.now
        self.whole: tuple[int, int] = (0, 0)
        """From when until when copies of whole frames come, between which another frame may slip."""
        self.heard: Callable[[bytes], None] = lambda data: None
        self.plugged: Callable[[bool], None] = lambda up: None

    @property
    def device(self) -> str:
        return "virtual"

    def say(self, steps: Iterable[Step]) -> None:
        said = list(steps)
        at = max(self._clock.now, self.busy_until)
        whole = _whole(said)
        if whole and self.whole[1] > self._clock.now and self._struck("interleave"):
            # The first copy of this event comes before the last ones of the event before it.
            at = max(self._clock.now, self.whole[0]) + SECOND // 100
        begins = at
        for step in said:
            match step:
                case Wait(seconds):
                    at += round(seconds * SECOND)
                case _:
                    self._clock.at(at, lambda step=step: self._do(step))  # type: ignore[misc]
        self.busy_until = max(self.busy_until, at)
        self.whole = (begins, at) if whole else (0, 0)

    def _do(self, step: Step) -> None:
        match step:
            case Say(data):
                self._write(data)
            case Unplug():
                self.hang_up()
            case Plug():
                self.plug_in()

    def _write(self, data: bytes) -> None:
        if self.up and data:
            self.heard(data)

    def _up(self) -> None:
        if not self.up:
            self.up = True
            self.plugged(True)

    def _down(self) -> None:
        if self.up:
            self.up = False
            self.plugged(False)

    def flush(self) -> None:
        self._clock.run(self.busy_until)

    def close(self) -> None:
        self._down()


def _whole(steps: list[Step]) -> bool:
    said = {step.data for step in steps if isinstance(step, Say)}
    waits = [step.seconds for step in steps if isinstance(step, Wait)]
    return (
        len(said) == 1 and max(waits, default=0) < 0.1 and not any(isinstance(step, Unplug) for step in steps)
    )


class VirtualReader:
    """What the reader thread does with a port, at the moments at which it would."""

    def __init__(
        self, clock: Clock, line: Line, decoder: Decoder, deliver: Callable[[Arrival], None]
    ) -> None:
        self._clock = clock
        self._line = line
        self._decoder = decoder
        self._deliver = deliver
        self._backoff = Backoff()
        self._settling: Settling | None = None  # None: no link
        self._waiting = bytearray()  # in the line, while nobody reads it
        self._noise = Noise()
        self._lost = True
        self.bytes = 0
        self.told_noise = 0
        line.heard = self._heard
        line.plugged = self._plugged
        clock.watched.append((self._deadline, self._act))
        self._open()

    @property
    def connected(self) -> bool:
        """Open and settled."""
        return self._settling is not None and self._settling.done

    def _open(self) -> None:
        if not self._line.up:
            self._backoff = self._backoff.failed(self._clock.now)
            return
        self._settling = Settling(self._clock.now, SETTLE)
        if self._waiting:
            data = bytes(self._waiting)
            self._waiting.clear()
            self._received(data)

    def _heard(self, data: bytes) -> None:
        self.bytes += len(data)
        if self._settling is None:
            self._waiting += data
        else:
            self._received(data)

    def _received(self, data: bytes) -> None:
        settling = self._settling
        assert settling is not None
        settling.heard(self._clock.now)
        self._hand_over(self._decoder.feed(data, self._clock.now).items, settling.done)
        if not settling.done and settling.over(self._clock.now, True):
            self._settled()

    def _hand_over(self, items: tuple[Item, ...], settled: bool) -> None:
        at = self._clock.instant()
        for item in items:
            self._deliver(Arrived(item, at) if settled else Discarded(item, at))
            if isinstance(item, Reject) and self._noise.too_many(at.boot):
                self.told_noise += 1

    def _settled(self) -> None:
        assert self._settling is not None
        self._settling.done = True
        self._backoff = self._backoff.succeeded()
        self._noise = Noise()
        self._lost = False
        self._deliver(ScannerRestored("virtual", self._clock.instant()))

    def _plugged(self, up: bool) -> None:
        if up or self._settling is None:
            if not up:
                self._waiting.clear()
            return
        self._settling = None
        self._decoder.reset()
        self._backoff = self._backoff.failed(self._clock.now)
        if not self._lost:
            self._lost = True
            self._deliver(ScannerLost("scanner lost: unplugged", self._clock.instant()))

    def _deadline(self) -> int | None:
        if self._settling is None:
            return self._backoff.retry_at
        wanted = [self._decoder.next_deadline()]
        if not self._settling.done:
            wanted.append(self._settling.until)
        return min((w for w in wanted if w is not None), default=None)

    def _act(self) -> None:
        now, settling = self._clock.now, self._settling
        if settling is None:
            self._open()
            return
        deadline = self._decoder.next_deadline()
        if deadline is not None and now >= deadline:
            self._hand_over(self._decoder.tick(now).items, settling.done)
        if not settling.done and settling.over(now, False):
            self._settled()


class NotedFaults(Faults):
    """The emulators' faults, each told when it strikes."""

    def __init__(self, faults: Iterable[str], seed: int, note: Callable[[str], None]) -> None:
        super().__init__(list(faults), seed)
        self._note = note

    def strikes(self, name: str) -> bool:
        struck = super().strikes(name)
        if struck:
            self._note(name)
        return struck
