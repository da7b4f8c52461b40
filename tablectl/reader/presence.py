"""Whether a device is there, and everybody who must know: table, log, beeper, and who has speeds tried.

The reader's thread finds it out and alone changes it; anybody may read it. A lost device is told once,
however often opening it fails.
"""

from __future__ import annotations

from collections.abc import Callable

from tablectl.clock import Instant
from tablectl.reader.intake import Intake
from tablectl.reader.log import DeviceLog
from tablectl.reader.say import Mouth
from tablectl.reader.trial import TRYING, Trial, TrialSlot
from tablectl.scanner import Arrival, Backoff, Link, ScannerLost, ScannerRestored


class Presence:
    """Of the one device of a reader. ``deliver`` takes what the table is told."""

    def __init__(
        self,
        deliver: Callable[[Arrival], None],
        log: DeviceLog,
        intake: Intake,
        mouth: Mouth,
        trials: TrialSlot,
    ) -> None:
        self._deliver = deliver
        self._log = log
        self._intake = intake
        self._mouth = mouth
        self._trials = trials
        self._told_lost = False
        self._tried = False
        self.connected: bool = False
        """Open and settled."""
        self.backoff: Backoff = Backoff()
        """When opening is tried again."""
        self.reason: str | None = None
        """Why the device is away now, for people; None while it is there."""
        self.refused_since: int | None = None
        """Since when (boot ns) the device is there and may not be opened."""
        self.identity: str = ""
        """Which device is, or was last, at the table; empty: none yet."""
        self.where: str = ""
        """Where it hangs now; empty while it is away."""

    def lost(self, reason: str, at: Instant, *, refused: bool) -> None:
        """The device cannot be read. ``refused``: it is there, and may not be opened."""
        if refused and self.refused_since is None:
            self.backoff = self.backoff.succeeded()  # it has just been plugged in: it will be let in soon
        self.where = ""
        self.refused_since = (self.refused_since or at.boot) if refused else None
        self.backoff = self.backoff.failed(at.boot)
        changed, self.reason = reason != self.reason, reason
        self._mouth.line_is(reason)
        self._trials.line_is(reason)
        if not self._told_lost:
            self._told_lost = True
            self._intake.outage()
            self._deliver(ScannerLost(reason, at))
            self._log("warning", "scanner lost", at.boot, reason=reason)
        elif changed and not refused:  # which passes by itself, or becomes an alert
            self._log("warning", "scanner still away", at.boot, reason=reason)

    def restored(self, link: Link, at: Instant) -> None:
        """``link`` is settled: what it says from now on counts."""
        # A trial of line speeds that found the device as it left it took nothing away.
        same = (self.identity, self.where) == (link.identity, link.where)
        untold = self._tried and same and not self._told_lost
        self.backoff = self.backoff.succeeded()
        self._told_lost = self._tried = False
        self._intake.ready()
        self.reason = self.refused_since = None
        self.identity, self.where = link.identity, link.where
        self.connected = True
        self._mouth.line_is(None)
        if not untold:
            self._deliver(ScannerRestored(link.identity, at, link.where))
        self._trials.line_is(None)
        old = {"discarded": self._intake.discarded} if self._intake.discarded else {}
        self._log("info", "scanner ready", at.boot, identity=link.identity, where=link.where, **old)

    def closes(self) -> None:
        """The line is about to be closed, for whatever reason."""
        self.connected = False
        self._mouth.line_is("its line was closed")

    def tries(self, trial: Trial, at: Instant) -> None:
        """Other line speeds are about to be tried, which is no loss."""
        self._tried = True
        self.reason = TRYING
        self._log("info", TRYING, at.boot, speeds=trial.speeds)
        self._mouth.line_is(None)  # a beep finds the line busy, which is no fault of the beeper
