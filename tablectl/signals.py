"""Beeps: fired and forgotten, skipped when late, never queued.

A beeper may take ten seconds, raise, or be missing; nothing waits for it. The one thread here plays what
lies in a one-slot mailbox; what lies there too long is thrown away, because a beep for the past misleads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

import structlog

from tablectl import clock as _clock
from tablectl.clock import Instant

PATTERNS: tuple[str, ...] = ("pip", "close", "accept", "reject", "hold")
"""``pip``: the last seconds of betting; ``close``: no more bets; ``accept``, ``reject``: a scan; ``hold``."""

LATE = 300_000_000
"""A pattern older than this (ns) is not played."""

SLOW = 2_000_000_000
"""A beeper that takes longer than this (ns) for one pattern is in trouble."""


class Beeper(Protocol):
    """A thing that makes itself heard; found by the entry-point group ``tablectl.beepers``.

    Both methods are called by one thread only. The entry point is ``make(settings) -> Beeper``, which
    raises :class:`ValueError` naming a setting it cannot use and touches no device.
    """

    def play(self, pattern: str) -> None:
        """Play one of :data:`PATTERNS`. May block; any exception means it could not be heard."""

    def close(self) -> None:
        """Let go of the device."""


class Signals:
    """Plays patterns on a beeper from a thread of its own."""

    def __init__(
        self,
        beeper: Beeper,
        *,
        clock: Callable[[], Instant] = _clock.now,
        log: Any = None,
    ) -> None:
        self._beeper = beeper
        self._clock = clock
        self._log = log if log is not None else structlog.get_logger("signals")
        self._changed = threading.Condition()
        self._slot: tuple[str, int] | None = None
        self._stopping = False
        self._busy_since: int | None = None
        self._fault: str | None = None
        self._thread = threading.Thread(target=self._main, name="signals", daemon=True)
        self.played = 0
        self.skipped = 0
        """Patterns thrown away: late, or overtaken by the next one."""

    def start(self) -> None:
        """Start the thread; once only."""
        self._thread.start()

    def stop(self, timeout: float = 1.0) -> bool:
        """End the thread; a beeper that hangs is left behind after ``timeout`` seconds. Whether it ended."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(timeout)
        return not self._thread.is_alive()

    def play(self, pattern: str) -> None:
        """Ask for a pattern and return at once. Raises :class:`ValueError` for an unknown one."""
        if pattern not in PATTERNS:
            raise ValueError(f"{pattern!r} is no pattern; there are {', '.join(PATTERNS)}")
        at = self._clock().boot
        with self._changed:
            if self._slot is not None:
                self.skipped += 1
            self._slot = pattern, at
            self._changed.notify()

    @property
    def trouble(self) -> str | None:
        """Why the beeper cannot be relied on ("announce by voice"), or None. Any thread may look."""
        busy = self._busy_since
        if busy is not None and self._clock().boot - busy > SLOW:
            return "the beeper does not answer"
        return self._fault

    def _main(self) -> None:
        while (taken := self._take()) is not None:
            pattern, at = taken
            began = self._clock().boot
            if began - at > LATE:
                self.skipped += 1
                continue
            self._busy_since = began
            try:
                self._beeper.play(pattern)
            except Exception as fault:  # noqa: BLE001  whatever a beeper does, the table plays on
                self._failed(str(fault) or repr(fault))
            else:
                took = self._clock().boot - began
                if took > SLOW:
                    self._failed(f"the beeper took {took / 1e9:.1f} s")
                else:
                    self._worked()
            finally:
                self._busy_since = None
        try:
            self._beeper.close()
        except Exception as fault:  # noqa: BLE001
            self._log.warning("beeper did not close", reason=str(fault))

    def _take(self) -> tuple[str, int] | None:
        with self._changed:
            while self._slot is None and not self._stopping:
                self._changed.wait()
            taken, self._slot = self._slot, None
            return None if self._stopping else taken

    def _failed(self, reason: str) -> None:
        if self._fault is None:
            self._log.warning("the beeper failed: announce by voice", reason=reason)
        self._fault = reason

    def _worked(self) -> None:
        self.played += 1
        if self._fault is not None:
            self._log.info("the beeper works again")
        self._fault = None
