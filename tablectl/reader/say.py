"""What another thread wants to tell a scanner (its own beep): one slot that only the reader empties.

A beep is worth nothing late and must never come between a card and its acknowledgement, so the reader
takes it when the line is quiet, and who asked takes it back when that did not come soon enough.
"""

from __future__ import annotations

import os
import select
import stat
import threading
from collections.abc import Callable
from contextlib import suppress

LATE_SECONDS = 0.3
"""Bytes that could not be sent within this time are not sent."""


class Away(OSError):
    """The scanner is not there to be told anything; the text says why."""


class _Words:
    """Bytes in the slot. ``fault``: why they were not sent; ``sent`` once they were."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.done = threading.Event()
        self.sent = False
        self.fault: str | None = None


class Mouth:
    """The slot. ``wake`` makes the reader look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._slot: _Words | None = None
        self._wake: int | None = None
        self._away: str | None = "the scanner is not connected yet"

    # --- who speaks ----------------------------------------------------------------------------

    def say(self, data: bytes, seconds: float = LATE_SECONDS) -> bool:
        """Hand ``data`` to the reader and wait until it is sent. False: the line was busy, nothing was sent.

        Raises :class:`Away` when the scanner is not there, or is lost by this very write.
        """
        words = _Words(data)
        with self._lock:
            if self._away is not None or self._wake is None:
                raise Away(f"the scanner is away: {self._away or 'its reader has ended'}")
            if self._slot is not None:
                self._slot.done.set()  # overtaken
            self._slot = words
            os.eventfd_write(self._wake, 1)
        words.done.wait(seconds)
        with self._lock:
            if self._slot is words:
                self._slot = None
        if words.fault is not None:
            raise Away(words.fault)
        return words.sent

    def nudge(self) -> None:
        """Make the reader look, whatever for."""
        with self._lock:
            if self._wake is not None:
                os.eventfd_write(self._wake, 1)

    # --- the reader ----------------------------------------------------------------------------

    def opens(self, wake: int | None) -> None:
        """The descriptor that wakes the reader; None: it has ended, and the number may be another's soon."""
        with self._lock:
            self._wake = wake

    def line_is(self, away: str | None) -> None:
        """Whether the device can be told anything now: None, or why not. What waits is refused."""
        with self._lock:
            self._away = away
            if away is not None and self._slot is not None:
                self._slot.fault = f"the scanner is away: {away}"
                self._slot.done.set()
                self._slot = None

    @property
    def waits(self) -> bool:
        """Whether there is something to send."""
        return self._slot is not None

    def speak(self, fd: int, write: Callable[[bytes], None]) -> None:
        """Send what waits, if the line takes it without waiting. Raises what ``write`` raises."""
        if not _takes(fd):
            return
        with self._lock:  # held while it is sent: who gave up waiting must know whether it was
            words, self._slot = self._slot, None
            if words is None:
                return
            try:
                write(words.data)
                words.sent = True
            except BaseException as fault:
                words.fault = f"the scanner is away: {fault}"
                raise
            finally:
                words.done.set()


def _takes(fd: int) -> bool:
    """Whether a write would not wait; of what is no line (a USB link's own descriptor) that is assumed."""
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return True  # closed under us: the write tells
    if not (stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)):
        return True
    poller = select.poll()
    poller.register(fd, select.POLLOUT)
    return bool(poller.poll(0))


def drain(wake: int) -> None:
    """Take the wake-up: one that is left would wake the reader for ever."""
    with suppress(BlockingIOError):
        os.eventfd_read(wake)
