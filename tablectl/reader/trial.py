"""A trial of other line speeds, run by the thread that owns the device while nobody plays.

The reader closes its line, listens at each speed for a bounded time and counts what comes of it; then it
opens its line again as the configuration says, whatever happened meanwhile. What is heard in a trial goes to
who asked for it and to nobody else: the table never sees it, nor do the reader's own counters.
"""

from __future__ import annotations

import select
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Protocol

from tablectl.clock import SECOND, Instant
from tablectl.reader.intake import Intake
from tablectl.reader.line import Line, Lost
from tablectl.reader.opening import Opening
from tablectl.scanner import Arrival, Link, LinkFault

TRYING = "other line speeds are being tried"
"""Why the scanner is away meanwhile, for people."""

_LEFT_OVER = 50_000_000  # so long (ns) what comes at a new speed was heard at the one before
_TURN_MS = 50  # how soon the end of a trial is noticed


class NotNow(Exception):
    """No trial can begin; the text says why."""


@dataclass(frozen=True, slots=True)
class Trying:
    """A speed (baud) is listened at now, for ``seconds`` at most."""

    speed: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it. ``frames``: understood ones. ``fault``: why the port did not serve at this speed."""

    speed: int
    bytes: int = 0
    frames: int = 0
    rejects: int = 0
    fault: str = ""


class Host(Protocol):
    """What a trial needs of the reader whose thread runs it."""

    def in_call(self) -> AbstractContextManager[None]:
        """Around what opens or closes a device."""

    def turned(self) -> Instant:
        """The time; to be asked at least once a second."""

    def stopping(self) -> bool:
        """Whether the reader is to end."""


class Trial:
    """One trial. ``tell``, ``heard`` and ``arrived`` are called in the reader's thread and must not block."""

    each = 4 * SECOND
    """How long (ns) each speed is listened at; a card every two seconds is enough."""
    whole = 30 * SECOND
    """How long (ns) all may last, the opening and closing of the port included."""

    def __init__(
        self,
        speeds: tuple[int, ...],
        *,
        tell: Callable[[Trying | Tried, Instant], None],
        heard: Callable[[bytes, Instant], None],
        arrived: Callable[[Arrival], None],
    ) -> None:
        self.speeds = speeds
        self._tell = tell
        self._heard = heard
        self._arrived = arrived
        self.asked = self.begun = False
        """Handed to the reader; taken by it."""
        self.fits: int | None = None
        """The speed at which a frame was understood."""
        self.stopped = ""
        """Why it ended before its time."""
        self.lost = ""
        """Why the scanner is not back at its own speed."""
        self.over = threading.Event()
        """The line is as before, or lost: nothing of the trial is left."""

    def abort(self, why: str) -> None:
        """End it at once. From any thread; the first word counts, and one that comes too late does not."""
        if not self.over.is_set():
            self.stopped = self.stopped or why

    def run(self, opening: Opening, host: Host) -> None:
        """Listen at each speed. In the reader's thread, while its own line is closed."""
        end = host.turned().boot + self.whole
        for speed in self.speeds:
            if self._ended(host):
                return
            begun = host.turned()
            if begun.boot >= end:
                self.abort("its time was over")
                return
            until = min(begun.boot + self.each, end)
            self._tell(Trying(speed, round((until - begun.boot) / SECOND, 1)), begun)
            tried = self._try(replace(opening, settings={**opening.settings, "baud": speed}), host, until)
            self._tell(replace(tried, speed=speed), host.turned())
            if tried.frames:
                self.fits = speed
                return

    def _try(self, opening: Opening, host: Host, until: int) -> Tried:
        intake = Intake(opening.driver.decoder(opening.settings), self._arrived, self._heard, _unsaid)
        try:
            with host.in_call():
                link = opening.link()
        except (LinkFault, OSError) as fault:
            return Tried(0, fault=str(fault))
        why = ""
        try:
            self._listen(link, intake, host, until)
        except Lost as lost:
            why = str(lost)
        finally:
            with host.in_call():
                link.close()
        counters = intake.counters
        return Tried(0, counters.bytes, counters.frames - counters.unknown, counters.rejects, why)

    def _listen(self, link: Link, intake: Intake, host: Host, until: int) -> None:
        """Until a frame is understood, the time is over, or the trial is. Raises :class:`Lost`."""
        line, poller = Line(link), select.poll()
        poller.register(line.fileno(), select.POLLIN)
        believed = host.turned().boot + _LEFT_OVER
        while not self._ended(host):
            now = intake.looked = host.turned().boot
            counters = intake.counters
            if now >= until or counters.frames > counters.unknown:
                return
            if poller.poll(_TURN_MS):
                data, at = line.read(), host.turned()
                if data and at.boot >= believed:
                    line.write(intake.heard(data, at))
            line.write(intake.passed(host.turned()))

    def _ended(self, host: Host) -> bool:
        return bool(self.stopped) or host.stopping()


def _unsaid(text: str, now: int) -> None:
    """That a line is noisy at a wrong speed is no news."""


class TrialSlot:
    """Where a trial waits for the reader, one at a time, until the line is as it was before."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._there = False
        self._trial: Trial | None = None

    def ask(self, trial: Trial) -> None:
        """Have it run. Raises :class:`NotNow`."""
        with self._lock:
            if self._trial is not None:
                raise NotNow(TRYING)
            if not self._there:
                raise NotNow("the scanner is not there")
            trial.asked = True
            self._trial = trial

    # --- the reader ----------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Whether there is one to run."""
        trial = self._trial
        return trial is not None and not trial.begun

    def begin(self) -> Trial | None:
        """The one to run now, if there is one."""
        with self._lock:
            if not self.waits:
                return None
            assert self._trial is not None
            self._trial.begun = True
            return self._trial

    def line_is(self, lost: str | None) -> None:
        """The configured line is ready (None), or why it is not. Either way a trial that ran is over."""
        with self._lock:
            self._there = lost is None
            trial = self._trial
            if trial is not None and (trial.begun or lost is not None):
                trial.lost = lost or ""
                trial.over.set()
                self._trial = None
