"""Beeps: fired and forgotten, skipped when late, never queued.

A beeper may take ten seconds, raise, or be missing; nothing waits for it. Each beeper has a thread of its
own that plays what lies in its one-slot mailbox; what lies there too long is thrown away, because a beep
for the past misleads. Several beepers (a lamp and a loudspeaker) know nothing of each other.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog

from tablectl import clock as _clock
from tablectl.beeper import Beeper, Checked, Hushed, OfScanner
from tablectl.clock import Instant
from tablectl.scanner import PATTERNS

__all__ = ["LATE", "PATTERNS", "SLOW", "Beeper", "Checked", "Hushed", "OfScanner", "Signals"]

LATE = 300_000_000
"""A pattern older than this (ns) is not played."""

SLOW = 5_000_000_000
"""A beeper that takes longer than this (ns) for one pattern is in trouble; the longest pattern takes 3 s."""

AGAIN = 5.0
"""How often (s) a beeper in trouble is looked at, without a sound."""


@dataclass(slots=True)
class _Asked:
    """A pattern in the mailbox. ``done`` for somebody who waits; then ``why`` it was not heard."""

    pattern: str
    at: int
    late: int = LATE
    done: threading.Event | None = None
    why: str | None = None

    def finish(self, why: str | None) -> None:
        self.why = why
        if self.done is not None:
            self.done.set()


class _Voice:
    """One beeper and its thread."""

    def __init__(self, beeper: Beeper, name: str, clock: Callable[[], Instant], log: Any) -> None:
        self.name = name
        self._beeper = beeper
        self._clock = clock
        self._log = log
        self._changed = threading.Condition()
        self._slot: _Asked | None = None
        self._playing: str | None = None
        self._stopping = False
        self._busy_since: int | None = None
        self._fault: str | None = None
        self._found_by_looking = False
        self._thread = threading.Thread(target=self._main, name=f"signals {name}".strip(), daemon=True)
        self.played = 0
        self.skipped = 0

    def start(self) -> None:
        self._thread.start()

    def tell_to_stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify()
            if self._playing is not None:
                self._hush()

    def ended(self, until: float) -> bool:
        """Wait for the thread's end, until a moment of the monotonic clock."""
        if self._thread.is_alive():
            self._thread.join(max(0.0, until - time.monotonic()))
        return not self._thread.is_alive()

    def ask(self, asked: _Asked) -> None:
        with self._changed:
            if self._slot is not None:
                self.skipped += 1
                self._slot.finish("left out: another signal came")
            self._slot = asked
            self._changed.notify()
            if asked.pattern == "close" and self._playing not in (None, "close"):
                self._hush()  # no more bets: that waits for no pip to end

    @property
    def trouble(self) -> str | None:
        busy = self._busy_since
        if busy is not None and self._clock().boot - busy > SLOW:
            return "the beeper does not answer"
        return self._fault

    def _hush(self) -> None:
        if isinstance(self._beeper, Hushed):
            self._beeper.hush()

    # --- the thread ----------------------------------------------------------------------------

    def _main(self) -> None:
        self._look()
        while not self._stopping:
            asked = self._take()
            if asked is not None:
                self._sound(asked)
                self._playing = None
            elif not self._stopping:
                self._look()
        try:
            self._beeper.close()
        except Exception as fault:  # noqa: BLE001  whatever a beeper does, the table plays on
            self._log.warning("beeper did not close", reason=str(fault))

    def _take(self) -> _Asked | None:
        """The next pattern; None to stop, or when a beeper in trouble is to be looked at."""
        with self._changed:
            while self._slot is None and not self._stopping:
                if not self._changed.wait(AGAIN if self._fault is not None else None):
                    return None
            taken, self._slot = self._slot, None
            if taken is None or self._stopping:
                return None
            self._playing = taken.pattern
            if isinstance(self._beeper, Hushed):
                self._beeper.ready()  # behind the lock: who hushes from now on means this pattern
            return taken

    def _sound(self, asked: _Asked) -> None:
        began = self._clock().boot
        if began - asked.at > asked.late:
            self.skipped += 1
            asked.finish("left out: the beeper was busy until it was too late")
            return
        try:
            with self._busy(began):
                self._beeper.play(asked.pattern)
        except Exception as fault:  # noqa: BLE001
            self._failed(str(fault) or repr(fault), looking=False)
        else:
            took = self._clock().boot - began
            if took > SLOW:
                self._failed(f"the beeper took {took / 1e9:.1f} s", looking=False)
            else:
                self.played += 1
                self._works()
        asked.finish(self._fault)

    def _look(self) -> None:
        """See whether the beeper is there, if it can tell."""
        if not isinstance(self._beeper, Checked):
            return
        try:
            with self._busy(self._clock().boot):
                self._beeper.check()
        except Exception as fault:  # noqa: BLE001
            if self._fault is None or self._found_by_looking:
                self._failed(str(fault) or repr(fault), looking=True)
        else:
            # That it is there does not yet mean that it can be heard, once a pattern was not.
            if self._found_by_looking:
                self._works()

    @contextmanager
    def _busy(self, since: int) -> Iterator[None]:
        self._busy_since = since
        try:
            yield
        finally:
            self._busy_since = None

    def _failed(self, reason: str, *, looking: bool) -> None:
        if self._fault is None:
            self._log.warning("the beeper failed: announce by voice", reason=reason)
        self._fault = reason
        self._found_by_looking = looking

    def _works(self) -> None:
        if self._fault is not None:
            self._log.info("the beeper works again")
        self._fault = None
        self._found_by_looking = False


class Signals:
    """Plays patterns on every beeper, each in a thread of its own. ``names``: what people call them."""

    def __init__(
        self,
        *beepers: Beeper,
        names: Sequence[str] = (),
        clock: Callable[[], Instant] = _clock.now,
        log: Any = None,
    ) -> None:
        self._log = log if log is not None else structlog.get_logger("signals")
        self._clock = clock
        self._voices = self._made(beepers, names or [""] * len(beepers))

    def _made(self, beepers: Sequence[Beeper], names: Sequence[str]) -> tuple[_Voice, ...]:
        several = len(beepers) > 1
        return tuple(
            _Voice(beeper, name, self._clock, self._log.bind(beeper=name) if several else self._log)
            for beeper, name in zip(beepers, names, strict=True)
        )

    def start(self) -> None:
        """Start the threads; once only."""
        for voice in self._voices:
            voice.start()

    def stop(self, timeout: float = 1.0) -> bool:
        """End the threads; a beeper that hangs is left behind after ``timeout`` s. Whether all ended."""
        until = time.monotonic() + timeout
        for voice in self._voices:
            voice.tell_to_stop()
        ended = [voice.ended(until) for voice in self._voices]
        return all(ended)

    def become(self, beepers: Mapping[str, Beeper], timeout: float = 1.0) -> None:
        """From now on play on these, by name. The old ones end first, for they may hold the same device.

        One that hangs is left behind after ``timeout`` s. Patterns asked for meanwhile are for the new ones.
        """
        old, new = self._voices, self._made(list(beepers.values()), list(beepers))
        self._voices = new
        until = time.monotonic() + timeout
        for voice in old:
            voice.tell_to_stop()
        for voice in old:
            voice.ended(until)
        for voice in new:
            voice.start()

    def play(self, pattern: str) -> None:
        """Ask for a pattern and return at once. Raises :class:`ValueError` for an unknown one."""
        _known(pattern)
        at = self._clock().boot
        for voice in self._voices:
            voice.ask(_Asked(pattern, at))

    def try_out(self, pattern: str, late: int = LATE) -> dict[str, str | None]:
        """Play a pattern and wait for its end: for each beeper by name why it was not heard, None if it was.

        For technicians, not for the table: it takes as long as the slowest beeper, ten seconds at most.
        ``late`` (ns): how long it may wait for a beeper that is busy.
        """
        _known(pattern)
        at = self._clock().boot
        asked = [(voice, _Asked(pattern, at, late, threading.Event())) for voice in self._voices]
        for voice, one in asked:
            voice.ask(one)
        until = time.monotonic() + 2 * SLOW / 1e9
        told = {}
        for voice, one in asked:
            assert one.done is not None
            ended = one.done.wait(max(0.0, until - time.monotonic()))
            told[voice.name] = one.why if ended else "the beeper does not answer"
        return told

    @property
    def played(self) -> int:
        """Patterns that were heard, over all beepers."""
        return sum(voice.played for voice in self._voices)

    @property
    def skipped(self) -> int:
        """Patterns thrown away: late, or overtaken by the next one."""
        return sum(voice.skipped for voice in self._voices)

    @property
    def trouble(self) -> str | None:
        """Why a beeper cannot be relied on ("announce by voice"), or None. Any thread may look."""
        several = len(self._voices) > 1
        whys = [f"{name}: {why}" if several else why for name, why in self.troubles.items()]
        return "; ".join(whys) or None

    @property
    def troubles(self) -> dict[str, str]:
        """The beepers by name that cannot be relied on, and why. Any thread may look."""
        return {voice.name: why for voice in self._voices if (why := voice.trouble)}


def _known(pattern: str) -> None:
    if pattern not in PATTERNS:
        raise ValueError(f"{pattern!r} is no pattern; there are {', '.join(PATTERNS)}")
