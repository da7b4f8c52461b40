"""Looks at the scanner once a second, and tells those who ask how it is (:mod:`tablectl.health`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tablectl.clock import SECOND, Instant
from tablectl.config_sections import HealthConfig, ScannerConfig
from tablectl.health import Condition, Limits, Seen, Watch, card_due
from tablectl.reader import Reader
from tablectl.reader.state import LogBudget
from tablectl.table import State, Trouble


class ScannerWatch:
    """``state``: the last committed state. :meth:`look` is called by one thread, :meth:`view` by any."""

    def __init__(
        self,
        scanner: ScannerConfig,
        health: HealthConfig,
        reader: Reader,
        state: Callable[[], State],
        log: Any,
        *,
        names_positions: bool = False,
    ) -> None:
        self._scanner = scanner
        self._reader = reader
        self._state = state
        self._log = log
        self._names_positions = names_positions
        self._budget = LogBudget()
        self._told = Condition.OK
        self._limits = _limits(health)
        self._watch = Watch(self._limits)

    def judge_by(self, health: HealthConfig) -> None:
        """From the next look on judge by these. Any thread may say so."""
        self._limits = _limits(health)

    def look(self, at: Instant) -> Iterator[Trouble]:
        """Once a second: the troubles there are with the scanner at ``at``."""
        seen = self._seen()
        self._watch = replace(self._watch, limits=self._limits).looked(seen, at.boot)
        self._note(at.boot, seen)
        yield from self._watch.alerts(seen, at)

    def view(self, now: int) -> dict[str, Any]:
        """What ``/v1/state`` tells of the scanner. ``now``: boot ns."""
        reader, seen, state = self._reader, self._seen(), self._state()
        report = self._watch.report(seen, now)
        counters = reader.counters
        last = counters.last_good
        return {
            "driver": self._scanner.driver,
            "device": self._scanner.device,
            "up": seen.up and state.scanner_up,
            "health": report.condition.value,
            "why": report.why,
            "names_positions": self._names_positions,
            "identity": reader.presence.identity or state.device,
            "where": reader.presence.where,
            "bytes": counters.bytes,
            "frames": counters.frames,
            "cards": counters.cards,
            "rejects": counters.rejects,
            "outages": counters.outages,
            "last_good_age": None if last is None else round((now - last) / SECOND, 1),
        }

    def _seen(self) -> Seen:
        there, counters, state = self._reader.presence, self._reader.counters, self._state()
        why = there.reason or ""
        # What the alert of the lost scanner says already is no news.
        refused_since = there.refused_since if why != state.scanner_why else None
        return Seen(
            up=there.connected,
            why=why,
            refused_since=refused_since,
            bytes=counters.bytes,
            frames=counters.frames,
            cards=counters.cards,
            rejects=counters.rejects,
            unknown=counters.unknown,
            due=card_due(state),
            swapped=any(alert == "scanner-changed" for alert, _ in state.alerts),
        )

    def _note(self, now: int, seen: Seen) -> None:
        """A line of log when it changed; the reader logs itself that the scanner is away."""
        report = self._watch.report(seen, now)
        if report.condition is self._told:
            return
        self._told = report.condition
        if report.condition is not Condition.ABSENT and self._budget.take(now) is not None:
            self._log.warning("scanner health", health=report.condition.value, why=report.why)


def _limits(health: HealthConfig) -> Limits:
    return Limits(
        mute_after=round(health.mute_after * SECOND),
        faulty_rejects=health.faulty_rejects,
        faulty_share=health.faulty_share,
        faulty_within=round(health.faulty_within * SECOND),
    )
