"""Whether a table's threads move, and what people must be told that no thread can tell itself.

Only what is here decides whether the watchdog is fed (see docs/threads.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import structlog

from tablectl.clock import SECOND, Instant
from tablectl.core import Core
from tablectl.journal.trouble import JournalTrouble
from tablectl.journal.writer import JournalWriter
from tablectl.reader import Reader
from tablectl.service import Service
from tablectl.signals import Signals
from tablectl.table import Trouble

STALE = 5 * SECOND
"""A thread that made no progress for so long keeps the watchdog from being fed."""
CONNECTING = 60 * SECOND
COMMITTING = 60 * SECOND
LOGGED_EVERY = 60 * SECOND
QUIET = 5 * SECOND
"""A journal in trouble: how often the log says it, and how soon it may say that it is over."""


@dataclass(slots=True)
class Supervision:
    """The threads of one table, and the clock they are watched by."""

    core: Core
    reader: Reader
    writer: JournalWriter
    service: Service
    signals: Signals
    clock: Callable[[], Instant]
    crashed: threading.Event
    more: Callable[[Instant], Iterable[Trouble]] = lambda _: ()
    """Troubles of others that :meth:`watch` asks for."""
    log: Any = field(default_factory=lambda: structlog.get_logger("tablectl"))
    _logged: tuple[str, int] | None = None
    """The journal's trouble that the log told last, and when; None once it told that it is over."""
    _untold: dict[str, Trouble] = field(default_factory=dict)
    _there: frozenset[str] = frozenset()
    _journal: tuple[int, int] = (-1, 0)
    """How far the journal's thread was when it last was seen to move or to have nothing to do, and when."""

    def unhealthy(self) -> str | None:
        """Which thread does not move, or None: then the watchdog may be fed (design, section 1)."""
        moment = self.clock().boot
        if self.crashed.is_set():
            return "a thread ended"
        # A core that waits for room in the journal of a disk in trouble does what it must: a new process
        # would wait for the same disk, and the rows that wait with it would be lost.
        waits = self.writer.full and self.writer.state != "ok"
        if not waits and moment - self.core.progress > STALE:
            return "the core does not move"
        if moment - self.service.progress > STALE:
            return "the service loop does not move"
        limit = CONNECTING if self.reader.connecting else STALE
        if not (waits and self.core.full) and moment - self.reader.progress > limit:
            return "the reader does not move"
        since = self.writer.committing_since
        if since is not None and moment - since > COMMITTING:
            return "the journal hangs in one commit"
        if self._journal_stands(moment):
            return "the journal does not move"
        return None

    def _journal_stands(self, moment: int) -> bool:
        """Whether rows wait, no disk is to blame, and none was taken for :data:`STALE`."""
        writer, (turns, since) = self.writer, self._journal
        waits = writer.depth and writer.committing_since is None and writer.state == "ok"
        if not waits or writer.turns != turns:
            self._journal = writer.turns, moment
            return False
        return moment - since > STALE

    def watch(self) -> None:
        """Once a second: troubles that have begun since, and those not told yet."""
        self._log_journal(self.writer.trouble)
        untold, self._untold = self._untold, {}
        now = dict(self._troubles())
        begun = {
            trouble.code: replace(trouble, news="anew")
            for what, trouble in now.items()
            if what not in self._there
        }
        for trouble in (untold | begun).values():
            self._raise(trouble)
        self._there = frozenset(now)

    def _troubles(self) -> Iterator[tuple[str, Trouble]]:
        """Everything that is wrong now, by what it is: a second beeper that dies is told again."""
        for trouble in self._others():
            yield trouble.code, trouble
        dead = self.signals.troubles
        why = "; ".join(f"{name}: {why}" for name, why in dead.items())
        text = f"The beeper cannot be heard ({why}): announce by voice."
        for name in dead:
            yield f"beeper {name}", Trouble(self.clock(), "beeper", text)

    def _others(self) -> Iterator[Trouble]:
        at = self.clock()
        if (trouble := self.writer.trouble) is not None:
            yield Trouble(at, trouble.code, trouble.past)
        yield from self.more(at)

    def _log_journal(self, trouble: JournalTrouble | None) -> None:
        """A line when the journal cannot be written, and each :data:`LOGGED_EVERY` while it is so.

        The alert says so too, but it is a row, and is stored only when it is over.
        """
        moment = self.clock().boot
        if trouble is None:
            if self._logged is not None and moment - self._logged[1] >= QUIET:
                self._logged = None
                self.log.info("the journal is written again")
            return
        code, at = self._logged or ("", 0)
        if code != trouble.code or moment - at >= LOGGED_EVERY:
            self._logged = trouble.code, moment
            waiting = self.writer.depth
            self.log.error("the journal is in trouble", reason=trouble.present, rows_waiting=waiting)

    def alarm(self, code: str, text: str) -> None:
        """Raise an alert, anew if its text is another; tried again by :meth:`watch` if the inbox is full."""
        self._raise(Trouble(self.clock(), code, text, news="anew"))

    def over(self, code: str, text: str) -> None:
        """What an alert told of is over: if nobody has acknowledged it yet, its text says so."""
        self._raise(Trouble(self.clock(), code, text, news="over"))

    def once(self, code: str, text: str) -> None:
        """Raise an alert whose text stays until it is acknowledged: nobody makes rows of it at will."""
        self._raise(Trouble(self.clock(), code, text))

    def _raise(self, trouble: Trouble) -> None:
        if not self.core.offer(trouble):
            self._untold[trouble.code] = trouble
