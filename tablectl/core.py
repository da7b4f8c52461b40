"""The core thread: the one place where inputs meet the table's state.

It takes inputs from a bounded inbox in the order they came, lets ``decide`` say what they do, fires
the effects, numbers the rows and hands them to the journal.  It waits for nothing downstream: only
when the journal's queue is at its hard bound does it stop, and then so does the table.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from tablectl.answered import Answer, Answers
from tablectl.clock import SECOND, Instant, now
from tablectl.events import CommandRecorded, Event, private_body, public_body
from tablectl.journal.rows import Place, Row
from tablectl.journal.writer import QUEUE_ROWS, Batch, JournalWriter
from tablectl.scanner import Arrived, Discarded
from tablectl.table import (
    Around,
    Command,
    Input,
    JournalFilled,
    Say,
    Signal,
    State,
    Tick,
    decide,
    evolve,
    next_deadline,
)

if TYPE_CHECKING:
    from tablectl.signals import Signals

INBOX = 10_000
"""Most inputs that wait. A scan waits for room, a command is told to come again."""

WAIT = 0.25
"""Longest wait (s) before the clock is looked at again: a suspended machine wakes late."""


@dataclass(frozen=True, slots=True)
class Record:
    """A private event to write down that is no input of the table: a PIN attempt, a delivery retry.

    ``with_it``: what is written in the same commit before it, and not if it was answered already.
    """

    event: Event
    at: Instant
    with_it: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Posted:
    """An input on its way to the core, with who wants to know the answer."""

    given: Input | Record
    reply: Callable[[Answer], None] | None = None


@dataclass(frozen=True, slots=True)
class Durable:
    """What a committed batch means to the outside. ``decided``: when (boot ns)."""

    state: State
    said: tuple[str, ...] = ()
    reply: Callable[[Answer], None] | None = None
    answer: Answer | None = None
    decided: int = 0


@dataclass(frozen=True, slots=True)
class Identity:
    """What the core writes on every event."""

    table: str
    epoch: str
    test: bool


class Core:
    """The thread that owns the state. ``around`` may be replaced by any thread; the rest is its own."""

    def __init__(
        self,
        state: State,
        identity: Identity,
        around: Around,
        writer: JournalWriter,
        signals: Signals,
        on_crash: Callable[[BaseException], None],
        *,
        clock: Callable[[], Instant] = now,
        trace: Callable[[Input | Record, int], None] | None = None,
        flight: Callable[[int, object, Sequence[Event]], None] = lambda *_: None,
    ) -> None:
        self.around = around
        self.progress = clock().boot
        self._state = state
        self._identity = identity
        self._writer = writer
        self._signals = signals
        self._on_crash = on_crash
        self._clock = clock
        self._trace = trace
        self._flight = flight
        self._inbox: SimpleQueue[Posted | None] = SimpleQueue()
        self._answers = Answers()
        self._thread = threading.Thread(target=self._run, name="core", daemon=True)

    # --- for other threads ---------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, timeout: float = 2.0) -> bool:
        """Decide what has come, then end. Whether it ended within ``timeout`` s."""
        self._inbox.put(None)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def put(self, given: Input | Record) -> None:
        """Hand in what must not be lost; waits while the inbox is full."""
        while self._inbox.qsize() >= INBOX and self._thread.is_alive():
            time.sleep(0.001)
        self._inbox.put(Posted(given))

    def offer(self, given: Input | Record, reply: Callable[[Answer], None] | None = None) -> bool:
        """Hand in a command; False when the inbox is full: the sender is to come again."""
        if self._inbox.qsize() >= INBOX:
            return False
        self._inbox.put(Posted(given, reply))
        return True

    def knows(self, id_: str) -> bool:
        """Whether a command with this id was decided, committed or not; may be asked by any thread."""
        return self._answers.has(id_)

    @property
    def full(self) -> bool:
        """Whether a scan has to wait for room."""
        return self._inbox.qsize() >= INBOX

    @property
    def shoe(self) -> int | None:
        """The shoe in play as decided, committed or not; None: there is none."""
        shoe = self._state.shoe
        return None if shoe is None else shoe.number

    def remember(self, event: CommandRecorded, where: str, version: int) -> None:
        """At replay, before the start: the answer a recorded command got."""
        self._answers.store(event, Answer(event.accepted, event.answer, where, version, event.asks))

    # --- the thread --------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while self._turn():
                pass
        except BaseException as error:  # noqa: BLE001 the thread's end is always told
            self._on_crash(error)

    def _turn(self) -> bool:
        moment = self._clock()
        self.progress = moment.boot
        deadline = next_deadline(self._state)
        wait = WAIT if deadline is None else min(WAIT, (deadline - moment.boot) / SECOND)
        try:
            posted = self._inbox.get(timeout=wait) if wait > 0 else self._inbox.get_nowait()
        except Empty:
            moment = self._clock()
            self._watch_journal(moment)
            if deadline is not None and deadline <= moment.boot:
                self._step(Tick(moment), moment)
            return True
        if posted is None:
            return False
        self._take(posted)
        return True

    def _take(self, posted: Posted) -> None:
        given = posted.given
        moment = self._clock()
        self._watch_journal(moment)
        asked = _asked(given)
        known = None if asked is None else self._answers.find(asked)
        if isinstance(known, Answer):
            # Through the journal's queue, so that it too is told only after the first one's commit.
            self._writer.put(Batch((), Durable(self._state, (), posted.reply, known, moment.boot)))
        elif isinstance(known, CommandRecorded):
            self._record(known, moment, posted.reply)
        elif isinstance(given, Record):
            self._record(given.event, moment, posted.reply, given.with_it)
        else:
            self._step(given, moment, posted.reply)

    def _record(
        self,
        event: Event,
        moment: Instant,
        reply: Callable[[Answer], None] | None,
        with_it: tuple[Event, ...] = (),
    ) -> None:
        """Write down what is no input of the table; a command among them is answered and remembered."""
        for one in with_it:
            self._state = evolve(self._state, one)
        answer, state = None, self._state
        if isinstance(event, CommandRecorded):
            shoe, round_ = state.shoe, state.round
            event = replace(
                event,
                shoe=None if shoe is None else shoe.number,
                round=None if round_ is None else round_.number,
            )
            answer = Answer(event.accepted, event.answer, state.where, state.version, event.asks)
            self._answers.store(event, answer)
        self._state = evolve(state, event)
        self._flight(moment.boot, "written down", (*with_it, event))
        durable = Durable(self._state, (), reply, answer, moment.boot)
        self._commit((*with_it, event), moment, b"", durable)

    def _step(self, given: Input, moment: Instant, reply: Callable[[Answer], None] | None = None) -> None:
        decision = decide(self._state, given, moment, self._surroundings())
        said = []
        for effect in decision.effects:
            match effect:
                case Signal(pattern=pattern):
                    self._signals.play(pattern)
                case Say(text=text):
                    said.append(text)
        self._state = decision.state
        if self._trace is not None:
            self._trace(given, self._clock().boot)
        self._flight(moment.boot, given, decision.events)
        answer = None
        if isinstance(given, Command):
            after = decision.state
            answer = Answer(not decision.refused, decision.answer, after.where, after.version, decision.asks)
            self._answers.store(given, answer)
        if not decision.events and reply is None:
            return
        raw = given.item.raw if isinstance(given, Arrived | Discarded) else b""
        durable = Durable(decision.state, tuple(said), reply, answer, moment.boot)
        self._commit(decision.events, moment, raw, durable)

    def _commit(self, events: tuple[Event, ...], moment: Instant, raw: bytes, durable: Durable) -> None:
        state = durable.state
        row = state.row - len(events)
        sequence = state.sequence - sum(event.PUBLIC for event in events)
        who = self._identity
        rows = []
        for event in events:
            row += 1
            body = None
            if event.PUBLIC:
                sequence += 1
                body = public_body(
                    event, table=who.table, epoch=who.epoch, sequence=sequence, at=moment, test=who.test
                )
            number = sequence if event.PUBLIC else None
            where = Place(event.TYPE, event.shoe, event.round)
            rows.append(Row(row, number, body, private_body(event, moment), raw, where))
        self._writer.put(Batch(tuple(rows), durable))

    def _watch_journal(self, moment: Instant) -> None:
        """Hold the table before the journal's queue is full; it resumes by itself well below."""
        held = any(hold.code == "journal" for hold in self._state.holds)
        depth = self._writer.depth
        if not held and depth >= QUEUE_ROWS * 3 // 4:
            self._step(JournalFilled(moment, full=True), moment)
        elif held and depth < QUEUE_ROWS // 4 and self._writer.state == "ok":
            self._step(JournalFilled(moment, full=False), moment)

    def _surroundings(self) -> Around:
        """What is around now, with the journal's own condition."""
        writer = self._writer
        if writer.state == "ok" and writer.depth < QUEUE_ROWS * 3 // 4:
            return self.around
        why = writer.error or "the disk is slow"
        return replace(self.around, journal_why=why)


def _asked(given: Input | Record) -> Command | CommandRecorded | None:
    """The command in what was handed in, if it is one."""
    if isinstance(given, Command):
        return given
    event = given.event if isinstance(given, Record) else None
    return event if isinstance(event, CommandRecorded) else None
