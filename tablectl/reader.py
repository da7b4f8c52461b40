"""The reader thread: takes a scanner's bytes the moment they arrive and hands their meaning to the table.

One thread owns one device. It opens the link, lets the line settle, waits on the link and a wake-up
descriptor, stamps what it reads, feeds the decoder and delivers the items. A lost device is told once,
closed first, and looked for again under the same configured name until it is back.

    connect ── opened ──► settle ── quiet ──► play ── lost ──► (close, reset, backoff) ──► connect
                          items are Discarded  items are Arrived

An event loop would read up to its longest stall late; a thread that only reads does not.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import structlog

from tablectl import clock as _clock
from tablectl.clock import SECOND, Instant
from tablectl.reader_say import Mouth, drain
from tablectl.reader_state import BAD_LINES, BAD_WITHIN, LogBudget, Noise, Settling
from tablectl.scanner import (
    Arrival,
    Arrived,
    Backoff,
    Decoded,
    DeviceEvent,
    DeviceKind,
    Discarded,
    Driver,
    Item,
    Link,
    LinkFault,
    Reject,
    ScannerLost,
    ScannerRestored,
)

SETTLE = 150_000_000
"""Default settling time of a freshly opened line, ns."""

STOOD_STILL = SECOND
"""A wait (ns) longer than this was no wait of this thread's own: the arrival is not known."""

_TURN = SECOND // 2  # the longest wait of the loop: `progress` must move at least once a second
_SPEAK_AGAIN = 10_000_000  # how soon a line that was busy is tried again for what is to be said, ns
_EMPTY_READS = 3  # a dead port is "ready" and gives nothing, for ever (pyserial issue 17)

T = TypeVar("T")


class _Lost(Exception):
    """The link failed: only calls of the link raise it, so a full disk in a tap is no lost scanner."""


def _guard(call: Callable[[], T]) -> T:
    try:
        return call()
    except (LinkFault, OSError) as fault:
        raise _Lost(str(fault)) from fault


def _milliseconds(span: int) -> int:
    """``span`` ns for poll, rounded up: waking before a deadline would spin."""
    return max(0, -(-span // 1_000_000))


@dataclass(frozen=True, slots=True)
class Counters:
    """How far what the device says gets. Each stuck counter is another fault (line, baud rate, driver)."""

    bytes: int = 0
    frames: int = 0
    """Items that are no :class:`~tablectl.scanner.Reject`."""
    rejects: int = 0
    last_good: int | None = None
    """When the last frame came, CLOCK_BOOTTIME in ns."""
    outages: int = 0


class Reader:
    """The thread that reads one device.

    ``deliver`` is called in that thread, for every item in order; it must not block and must not raise.
    ``tap`` gets each piece of bytes with its arrival, before it is decoded. ``settle`` (ns) is how long a
    fresh line is listened to before its cards count. ``refused`` is asked at every opening, before a byte is
    read, why the device at a path may not be used here; None: it may. ``on_crash`` is called once, in the
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
        log: Any = None,
        on_crash: Callable[[BaseException], None] | None = None,
    ) -> None:
        self._driver = driver
        self._device = device
        self._settings = settings
        self._deliver = deliver
        self._settle = settle
        self._clock = clock
        self._tap = tap
        self._refused = refused
        self._on_crash = on_crash
        self._decoder = driver.decoder(settings)
        self._logger = log if log is not None else structlog.get_logger("reader")
        self._log_budget = LogBudget()
        self._backoff = Backoff()
        self._noise = Noise()
        self._mouth = Mouth()
        self._looked = 0  # before the wait that brought what is being handled
        self._told_lost = False
        self._stopping = False
        self._wake: int | None = None
        self._thread = threading.Thread(target=self._main, name=f"reader {device}", daemon=True)
        self.counters = Counters()
        """A frozen value, replaced after each piece of bytes."""
        self.progress: int = clock().boot
        """When the loop last turned (ns); at least once a second except while :attr:`connecting`."""
        self.connecting: bool = False
        """Inside a call that opens or closes the device, which may take seconds."""
        self.connected: bool = False
        """Open and settled."""
        self.reason: str | None = None
        """Why the device is away now, for people; None while it is there."""

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
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def say(self, data: bytes) -> bool:
        """Have ``data`` (a beep) written to the device by the thread that owns it, between two frames.

        Waits for that, 0.3 s at most; False: the line was busy and nothing was sent. Raises
        :class:`OSError` when the scanner is away. A write that fails is a lost scanner like any other.
        """
        return self._mouth.say(data)

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
                except _Lost as lost:
                    self._shut(link)  # first: the port's name must be free before it is looked for again
                    self._decoder.reset()
                    self._lost(str(lost))
                except BaseException:
                    self._shut(link)
                    raise
                else:
                    self._shut(link)
        except BaseException as fault:  # noqa: BLE001  the supervisor decides; a dead reader must be known
            self._log("error", "reader thread failed", self._clock().boot, error=repr(fault))
            if self._on_crash is not None:
                self._on_crash(fault)

    def _connect(self) -> Link | None:
        self.connecting = True
        try:
            self._may_open(self._device)
            link = self._driver.open(self._device, self._settings)
            try:
                # Once more by what was really opened: the name may lead elsewhere by now.
                self._may_open(f"/proc/self/fd/{link.fileno()}")
            except BaseException:
                link.close()
                raise
            return link
        except (LinkFault, OSError) as fault:
            self._lost(str(fault))
            return None
        finally:
            self.connecting = False
            self._turned()

    def _may_open(self, path: str) -> None:
        why = self._refused(path)
        if why is not None:
            raise LinkFault(f"{self._device}: {why}")

    def _shut(self, link: Link) -> None:
        self.connected = False
        self.connecting = True
        self._mouth.line_is("its line was closed")
        try:
            link.close()
        finally:
            self.connecting = False
            self._turned()

    def _lost(self, reason: str) -> None:
        at = self._clock()
        self._backoff = self._backoff.failed(at.boot)
        changed, self.reason = reason != self.reason, reason
        self._mouth.line_is(reason)
        if not self._told_lost:
            self._told_lost = True
            self.counters = replace(self.counters, outages=self.counters.outages + 1)
            self._deliver(ScannerLost(reason, at))
            self._log("warning", "scanner lost", at.boot, reason=reason)
        elif changed:
            self._log("warning", "scanner still away", at.boot, reason=reason)

    def _pause(self) -> None:
        """Wait until the next try is due, or a stop; at the first start not at all."""
        poller = select.poll()
        poller.register(self._wake_fd(), select.POLLIN)
        while not self._stopping:
            now = self._turned()
            due = self._backoff.retry_at
            if due is None or now >= due:
                return
            poller.poll(_milliseconds(min(due - now, _TURN)))
            drain(self._wake_fd())

    def _serve(self, link: Link) -> None:
        """Read ``link`` until it is lost (:class:`_Lost`) or the reader is stopped."""
        poller = select.poll()
        poller.register(_guard(link.fileno), select.POLLIN)
        poller.register(self._wake_fd(), select.POLLIN)
        wake = self._wake_fd()
        settling = Settling(self._turned(), self._settle)
        empty = 0
        while not self._stopping:
            looked = self._looked = self._turned()
            woken = [fd for fd, _ in poller.poll(self._wait_ms(settling, looked))]
            ready = any(fd != wake for fd in woken)
            if wake in woken:
                drain(wake)
            if ready:
                data = _guard(link.read)
                at = self._clock()
                if data:
                    empty = 0
                    settling.heard(at.boot)
                    self._received(link, data, at, settling)
                else:
                    empty += 1
                    if empty >= _EMPTY_READS:
                        raise _Lost("scanner lost: its port is ready but gives nothing; check the cable")
            at = self._clock()
            deadline = self._decoder.next_deadline()
            if deadline is not None and at.boot >= deadline:
                self._handle(link, b"", self._decoder.tick(at.boot), at, settling)
            # By the moment before the look: however late this thread is, bytes that were there then are old.
            if not settling.done and settling.over(looked, ready):
                settling.done = True
                self._restored(link)
            # Last, and not into a frame: a decoder that waits for the rest of one has a deadline for it.
            if self._mouth.waits and self._decoder.next_deadline() is None:
                _guard(lambda: self._mouth.speak(link.fileno(), link.write))

    def _wait_ms(self, settling: Settling, now: int) -> int:
        until = now + _TURN
        deadline = self._decoder.next_deadline()
        if deadline is not None:
            until = min(until, deadline)
        if not settling.done:
            until = min(until, settling.until)
        if self._mouth.waits:
            until = min(until, now + _SPEAK_AGAIN)
        return _milliseconds(until - now)

    def _received(self, link: Link, data: bytes, at: Instant, settling: Settling) -> None:
        if self._tap is not None:
            self._tap(data, at)
        self._handle(link, data, self._decoder.feed(data, at.boot), at, settling)

    def _handle(self, link: Link, data: bytes, decoded: Decoded, at: Instant, settling: Settling) -> None:
        # Handed over first, counted afterwards: the card is what somebody waits for.
        for item in decoded.items:
            self._hand_over(item, at, settling.done)
        self._counted(len(data), decoded.items, at, settling)
        if decoded.replies:
            _guard(lambda: link.write(decoded.replies))

    def _counted(self, size: int, items: tuple[Item, ...], at: Instant, settling: Settling) -> None:
        """Count what came; tell once when it is mostly rubbish."""
        rejects = sum(isinstance(item, Reject) for item in items)
        frames = len(items) - rejects
        old = self.counters
        self.counters = Counters(
            old.bytes + size,
            old.frames + frames,
            old.rejects + rejects,
            at.boot if frames else old.last_good,
            old.outages,
        )
        for _ in range(rejects):
            if self._noise.too_many(at.boot):
                text = f"{BAD_LINES} unreadable lines in {BAD_WITHIN // SECOND} s: check baud rate and cable"
                self._hand_over(DeviceEvent(DeviceKind.NOTICE, b"", text), at, settling.done)
                self._log("warning", text, at.boot)

    def _hand_over(self, item: Item, at: Instant, settled: bool) -> None:
        if at.boot - self._looked > STOOD_STILL:
            # This thread, the process or the machine stood still: the bytes may be as old as its last
            # look, and what was drawn while betting was open is no card of the hand.
            at = Instant(self._looked, at.wall_at(self._looked))
        self._deliver(Arrived(item, at) if settled else Discarded(item, at))

    def _restored(self, link: Link) -> None:
        at = self._clock()
        self._backoff = self._backoff.succeeded()
        self._told_lost = False
        self._noise = Noise()
        self.reason = None
        self.connected = True
        self._mouth.line_is(None)
        self._deliver(ScannerRestored(link.identity, at))
        self._log("info", "scanner ready", at.boot, identity=link.identity)

    def _log(self, level: str, text: str, now: int, **facts: Any) -> None:
        held_back = self._log_budget.take(now)
        if held_back is None:
            return
        if held_back:
            facts["held_back"] = held_back
        getattr(self._logger, level)(text, device=self._device, **facts)

    def _turned(self) -> int:
        self.progress = self._clock().boot
        return self.progress

    def _wake_fd(self) -> int:
        if self._wake is None:
            raise RuntimeError("the reader was not started")
        return self._wake
