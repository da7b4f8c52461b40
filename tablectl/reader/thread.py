"""The reader thread: takes a scanner's bytes the moment they arrive and hands their meaning to the table.

One thread owns one device. It opens the link, lets the line settle, waits on the link and a wake-up
descriptor, stamps what it reads, feeds the decoder and delivers the items. A lost device is told once,
closed first, and looked for again under the same configured name until it is back (who is told of it:
:mod:`tablectl.reader.presence`).

    connect ── opened ──► settle ── quiet ──► play ── lost ──► (close, reset, backoff) ──► connect
                          items are Discarded  items are Arrived

While the table is closed a technician may have other line speeds tried on it (:mod:`tablectl.reader.trial`).

An event loop would read up to its longest stall late; a thread that only reads does not.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import structlog

from tablectl import clock as _clock
from tablectl.clock import SECOND, Instant
from tablectl.reader.intake import Counters, Intake
from tablectl.reader.line import Line, Lost
from tablectl.reader.log import DeviceLog
from tablectl.reader.opening import Opening
from tablectl.reader.presence import Presence
from tablectl.reader.say import Mouth, drain
from tablectl.reader.state import Settling
from tablectl.reader.trial import Trial, TrialSlot
from tablectl.scanner import Arrival, Driver, Link, LinkFault, LinkRefused

SETTLE = 150_000_000
"""Default settling time of a freshly opened line, ns."""

_TURN = SECOND // 2  # the longest wait of the loop: `progress` must move at least once a second
_SPEAK_AGAIN = 10_000_000  # how soon a line that was busy is tried again for what is to be said, ns


def _milliseconds(span: int) -> int:
    """``span`` ns for poll, rounded up: waking before a deadline would spin."""
    return max(0, -(-span // 1_000_000))


class Reader:
    """The thread that reads one device.

    ``deliver`` is called in that thread, for every item in order; it must not block and must not raise.
    ``tap`` gets each piece of bytes with its arrival, before it is decoded. ``settle`` (ns) is how long a
    fresh line is listened to before its cards count. ``refused`` and ``pinned``, asked at every opening
    before a byte is read: see :class:`~tablectl.reader.opening.Opening`. ``on_crash`` is called once, in the
    thread, if anything unexpected ends it; the process should then end too.
    """

    def __init__(
        self,
        driver: Driver,
        device: str,
        settings: Mapping[str, Any],
        deliver: Callable[[Arrival], None],
        *,
        settle: int = SETTLE,
        clock: Callable[[], Instant] = _clock.now,
        tap: Callable[[bytes, Instant], None] | None = None,
        refused: Callable[[str], str | None] = lambda _: None,
        pinned: str | None = None,
        log: Any = None,
        on_crash: Callable[[BaseException], None] | None = None,
    ) -> None:
        self._opening = Opening(driver, device, settings, refused, pinned)
        self._settle = settle
        self._clock = clock
        self._on_crash = on_crash
        self._log = DeviceLog(log if log is not None else structlog.get_logger("reader"), device)
        self._intake = Intake(
            driver.decoder(settings), deliver, tap, lambda text, now: self._log("warning", text, now)
        )
        self._mouth = Mouth()
        self._trials = TrialSlot()
        self.presence = Presence(deliver, self._log, self._intake, self._mouth, self._trials)
        self._stopping = False
        self._wake: int | None = None
        self._thread = threading.Thread(target=self._main, name=f"reader {device}", daemon=True)
        self.progress: int = clock().boot
        """When the loop last turned (ns); at least once a second except while :attr:`connecting`."""
        self.connecting: bool = False
        """Inside a call that opens or closes the device, which may take seconds."""

    # --- for other threads ---------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread; once only."""
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._mouth.opens(self._wake)
        self._thread.start()

    def stop(self, timeout: float = 5.0) -> bool:
        """Ask the thread to end and wait for it, ``timeout`` seconds at most. Whether it has ended.

        The thread closes its own link. May be called twice, and before :meth:`start`.
        """
        self._stopping = True
        if self._wake is None:
            return True
        os.eventfd_write(self._wake, 1)
        self._thread.join(timeout)
        if self._thread.is_alive():
            return False
        self._mouth.opens(None)
        os.close(self._wake)
        self._wake = None
        return True

    @property
    def counters(self) -> Counters:
        """How far what the device says gets: a frozen value, replaced after each piece of bytes."""
        return self._intake.counters

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def say(self, data: bytes) -> bool:
        """Have ``data`` (a beep) written to the device by the thread that owns it, between two frames.

        Waits for that, 0.3 s at most; False: the line was busy and nothing was sent. Raises
        :class:`OSError` when the scanner is away. A write that fails is a lost scanner like any other.
        """
        return self._mouth.say(data)

    def try_speeds(self, trial: Trial) -> None:
        """Have the thread that owns the device try other line speeds; ``trial.over`` says when it is back.

        Raises :class:`~tablectl.reader.trial.NotNow`. Whether anybody plays is for the caller to know.
        """
        self._trials.ask(trial)
        self._mouth.nudge()

    # --- for a trial, in the thread ------------------------------------------------------------

    @contextmanager
    def in_call(self) -> Iterator[None]:
        """Around what opens or closes a device."""
        self.connecting = True
        try:
            yield
        finally:
            self.connecting = False
            self.turned()

    def turned(self) -> Instant:
        """The loop has turned: the time."""
        now = self._clock()
        self.progress = now.boot
        return now

    def stopping(self) -> bool:
        """Whether the thread is to end."""
        return self._stopping

    # --- the thread ----------------------------------------------------------------------------

    def _main(self) -> None:
        try:
            while not self._stopping:
                self._pause()
                link = None if self._stopping else self._connect()
                if link is None:
                    continue
                try:
                    self._serve(link)
                except Lost as lost:
                    self._shut(link)  # first: the port's name must be free before it is looked for again
                    self._intake.broken(self._clock())
                    self.presence.lost(str(lost), self._clock(), refused=False)
                except BaseException:
                    self._shut(link)
                    raise
                else:
                    self._shut(link)
                    self._intake.broken(self._clock())
                    self._try_speeds()
        except BaseException as fault:  # noqa: BLE001  the supervisor decides; a dead reader must be known
            self._log("error", "reader thread failed", self._clock().boot, error=repr(fault))
            if self._on_crash is not None:
                self._on_crash(fault)
        finally:
            self._trials.line_is("its reader has ended")

    def _connect(self) -> Link | None:
        try:
            with self.in_call():
                return self._opening.link()
        except (LinkFault, OSError) as fault:
            self.presence.lost(str(fault), self._clock(), refused=isinstance(fault, LinkRefused))
            return None

    def _shut(self, link: Link) -> None:
        self.presence.closes()
        with self.in_call():
            link.close()

    def _try_speeds(self) -> None:
        """If somebody has asked for it; afterwards the line is opened as the configuration says."""
        trial = self._trials.begin()
        if trial is None:
            return
        self.presence.tries(trial, self._clock())
        trial.run(self._opening, self)

    def _pause(self) -> None:
        """Wait until the next try is due, or a stop; at the first start not at all."""
        poller = select.poll()
        poller.register(self._wake_fd(), select.POLLIN)
        while not self._stopping:
            now = self.turned().boot
            due = self.presence.backoff.retry_at
            if due is None or now >= due:
                return
            poller.poll(_milliseconds(min(due - now, _TURN)))
            drain(self._wake_fd())

    def _serve(self, link: Link) -> None:
        """Read ``link`` until it is lost (:class:`Lost`), the reader is stopped, or a trial waits."""
        line = Line(link)
        poller = select.poll()
        poller.register(line.fileno(), select.POLLIN)
        poller.register(self._wake_fd(), select.POLLIN)
        wake = self._wake_fd()
        intake = self._intake
        intake.opened()
        settling = Settling(self.turned().boot, self._settle)
        while not (self._stopping or self._trials.waits):
            looked = intake.looked = self.turned().boot
            woken = [fd for fd, _ in poller.poll(self._wait_ms(settling, looked))]
            ready = any(fd != wake for fd in woken)
            if wake in woken:
                drain(wake)
            if ready:
                data = line.read()
                at = self._clock()
                if data:
                    settling.heard(at.boot)
                    line.write(intake.heard(data, at))
            line.write(intake.passed(self._clock()))
            # By the moment before the look: however late this thread is, bytes that were there then are old.
            if not intake.settled and settling.over(looked, ready):
                self.presence.restored(link, self._clock())
            # Last, after what the device waits for, and not into a frame.
            if self._mouth.waits and not intake.in_frame:
                self._mouth.speak(line.fileno(), line.write)

    def _wait_ms(self, settling: Settling, now: int) -> int:
        until = now + _TURN
        deadline = self._intake.next_deadline()
        if deadline is not None:
            until = min(until, deadline)
        if not self._intake.settled:
            until = min(until, settling.until)
        if self._mouth.waits:
            until = min(until, now + _SPEAK_AGAIN)
        return _milliseconds(until - now)

    def _wake_fd(self) -> int:
        if self._wake is None:
            raise RuntimeError("the reader was not started")
        return self._wake
