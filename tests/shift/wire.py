"""The wire in virtual time: an emulated shoe's end, the reader's end, and the clock they share.  No thread.

The shoe's end takes the very steps that the emulators put on a real port. The reader's end does what the
reader thread does with a real one: settle, decode, tick, lose, look again; it uses the same states.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from tablectl_drivers.emulated.faults import Faults, Plug, Say, Step, Unplug, Wait
from tablectl_drivers.emulated.port import Ask, Port

from tablectl.clock import SECOND, Instant
from tablectl.reader.intake import Counters, Intake
from tablectl.reader.state import Settling
from tablectl.reader.thread import SETTLE
from tablectl.scanner import Arrival, Backoff, Decoder, ScannerLost, ScannerRestored
from tests.shift.protocols import LATE

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


@dataclass(frozen=True)
class _Await:
    """The answer to a try of ``ask`` is awaited."""

    ask: Ask
    number: int


class Line(Port):
    """The port an emulated shoe speaks on. Its writer is the clock."""

    def __init__(self, clock: Clock, struck: Callable[[str], bool]) -> None:
        super().__init__()
        self._clock = clock
        self._struck = struck
        self._queue: deque[Step | Ask | _Await] = deque()
        self._idle = True
        self._awaited: tuple[_Await, int] | None = None
        self._spoke = 0
        self._copies = (0, 0)
        """From when until when copies of a whole frame come, between which another frame may slip."""
        self.up = True
        self.heard: Callable[[bytes], None] = lambda data: None
        self.plugged: Callable[[bool], None] = lambda up: None

    @property
    def device(self) -> str:
        return "virtual"

    @property
    def busy(self) -> bool:
        """Whether it still has something to say, or had a moment ago."""
        return not self._idle or self._spoke > self._clock.now - SECOND

    def answer(self, data: bytes) -> None:
        """The reader sent ``data``."""
        if self.up:
            self._hear(data)
            self._answered()

    def say(self, steps: Iterable[Step | Ask]) -> None:
        said = list(steps)
        begins, length = self._clock.now, _copies(said)
        if length and self._copies[1] > begins and self._struck("interleave"):
            # The first copy of this event comes before the last ones of the event before it.
            at = max(begins, self._copies[0]) + SECOND // 100
            for step in said:
                if isinstance(step, Say):
                    self._clock.at(at, partial(self._do, step))
                elif isinstance(step, Wait):
                    at += round(step.seconds * SECOND)
            self._copies = (0, 0)
            return
        self._copies = (begins, begins + length) if length and self._idle else (0, 0)
        self._queue.extend(said)
        if self._idle:
            self._idle = False
            self._clock.at(begins, self._pump)

    def _pump(self) -> None:
        while self._queue:
            match self._queue.popleft():
                case Wait(seconds):
                    self._clock.at(self._clock.now + round(seconds * SECOND), self._pump)
                    return
                case Ask() as ask:
                    while not ask.answers.empty():
                        ask.answers.get()
                    self._try(ask, 0)
                case _Await() as awaited:
                    until = self._clock.now + round(awaited.ask.seconds * SECOND)
                    self._awaited = (awaited, until)
                    self._clock.at(until, self._answered)
                    self._clock.at(self._clock.now, self._answered)
                    return
                case step:
                    self._do(step)
        self._idle = True

    def _try(self, ask: Ask, number: int) -> None:
        if number < len(ask.tries):
            self._queue.extendleft([_Await(ask, number), *reversed(ask.tries[number])])

    def _answered(self) -> None:
        if self._awaited is None:
            return
        (awaited, until), ask = self._awaited, self._awaited[0].ask
        answer = None if ask.answers.empty() else ask.answers.get()
        if answer is None and self._clock.now < until:
            return
        self._awaited = None
        if not (answer or (answer is None and not ask.on_silence)):
            self._try(ask, awaited.number + 1)
        self._clock.at(self._clock.now, self._pump)

    def _do(self, step: Step) -> None:
        match step:
            case Say(data):
                self._write(data)
            case Unplug():
                self.hang_up()
            case Plug():
                self.plug_in()

    def _write(self, data: bytes) -> None:
        self._spoke = self._clock.now
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
        while not self._idle:
            self._clock.run(self._clock.now + SECOND // 10)

    def close(self) -> None:
        self._down()


def _copies(steps: list[Step | Ask]) -> int:
    """How long (ns) copies of one whole frame take, and nothing else is said; 0: it is not so."""
    waits = [step.seconds for step in steps if isinstance(step, Wait)]
    said = {step.data for step in steps if isinstance(step, Say)}
    plain = all(isinstance(step, Say | Wait) for step in steps)
    if len(said) != 1 or not plain or max(waits, default=1) > 0.1:
        return 0
    return round(sum(waits) * SECOND)


class VirtualReader:
    """What the reader thread does with a port, when it would do so; its intake is the real one."""

    def __init__(
        self,
        clock: Clock,
        line: Line,
        decoder: Decoder,
        deliver: Callable[[Arrival], None],
        waiting: bytes = b"",
    ) -> None:
        self._clock = clock
        self._line = line
        self._deliver = deliver
        self._intake = Intake(decoder, deliver, None, lambda text, now: None)
        self._backoff = Backoff()
        self._settling: Settling | None = None  # None: no link
        self._waiting = bytearray(waiting)  # in the line, while nobody reads it
        self._lost = True
        line.heard = self._heard
        line.plugged = self._plugged
        self._watched = (self._deadline, self._act)
        clock.watched.append(self._watched)
        self._open()

    def killed(self) -> bytearray:
        """Its process is no more. What is said from here on waits in the line, which is what is returned."""
        self._clock.watched.remove(self._watched)
        kept = bytearray()
        self._line.heard = kept.extend
        self._line.plugged = lambda up: kept.clear()
        return kept

    @property
    def counters(self) -> Counters:
        """Bytes, frames, rejects."""
        return self._intake.counters

    def _open(self) -> None:
        if not self._line.up:
            self._backoff = self._backoff.failed(self._clock.now)
            return
        self._intake.opened()
        self._settling = Settling(self._clock.now, SETTLE)
        if self._waiting:
            data = bytes(self._waiting)
            self._waiting.clear()
            self._heard(data)

    def _heard(self, data: bytes) -> None:
        if self._settling is None:
            self._waiting += data
            return
        self._settling.heard(self._clock.now)
        self._intake.looked = self._clock.now
        self._line.answer(self._intake.heard(data, self._clock.instant()))
        self._settle(True)

    def _settle(self, bytes_waited: bool) -> None:
        settling = self._settling
        if settling is None or self._intake.settled:
            return
        if not settling.over(self._clock.now, bytes_waited):
            return
        self._backoff = self._backoff.succeeded()
        self._lost = False
        self._intake.ready()
        self._deliver(ScannerRestored("virtual", self._clock.instant()))

    def _plugged(self, up: bool) -> None:
        if up:
            return
        self._waiting.clear()
        if self._settling is None:
            return
        self._settling = None
        self._intake.broken(self._clock.instant())
        self._backoff = self._backoff.failed(self._clock.now)
        if not self._lost:
            self._lost = True
            self._deliver(ScannerLost("scanner lost: unplugged", self._clock.instant()))

    def _deadline(self) -> int | None:
        if self._settling is None:
            return self._backoff.retry_at
        wanted = [self._intake.next_deadline()]
        if not self._intake.settled:
            wanted.append(self._settling.until)
        return min((w for w in wanted if w is not None), default=None)

    def _act(self) -> None:
        if self._settling is None:
            self._open()
            return
        self._intake.looked = self._clock.now
        self._line.answer(self._intake.passed(self._clock.instant()))
        self._settle(False)


class NotedFaults(Faults):
    """The emulators' faults, each told when it strikes."""

    def __init__(self, faults: Iterable[str], seed: int, note: Callable[[str], None]) -> None:
        super().__init__(list(faults), seed)
        self._note = note
        self._struck: set[str] = set()

    def strikes(self, name: str) -> bool:
        struck = super().strikes(name)
        if struck:
            self._struck.add(name)
            self._note(name)
        return struck

    def on_the_wire(self, frame: bytes, copies: int, gap: float) -> list[Step]:
        self._struck.clear()
        steps = super().on_the_wire(frame, copies, gap)
        if "duplicate" in self._struck and self._struck & {"stall", "freeze"}:
            self._note(LATE)
        return steps
