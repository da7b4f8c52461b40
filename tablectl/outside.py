"""What lies around a table and is no part of its state: scanner, link, journal, beeper, locked-out names.

Read by whoever shows the table: ``/v1/state`` and the metrics tell the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tablectl.delivery.link import ServerLink
from tablectl.gate import Gate
from tablectl.journal_mirror import Mirror
from tablectl.journal_writer import JournalWriter
from tablectl.scanner_watch import ScannerWatch
from tablectl.signals import Signals


@dataclass(slots=True)
class Outside:
    """``acked``: the last event the game server has. ``rounds``: results announced since the start."""

    scanner: ScannerWatch
    writer: JournalWriter
    signals: Signals
    link: ServerLink
    gate: Gate
    acked: int
    last_result: dict[str, Any] | None
    mirror: Mirror | None = None
    rounds: int = 0
    misplaced: str = ""
    """What is not in its place of the journal, so that no round may begin."""

    def resulted(self, data: dict[str, Any]) -> None:
        """A result was committed."""
        self.last_result = data
        self.rounds += 1

    def view(self, now: int, row: int) -> dict[str, Any]:
        """What ``/v1/state`` tells besides the table's own state. ``now``: boot ns; ``row``: the newest."""
        why, trouble = self.link.why, self.writer.trouble
        misplaced = "journal-place" if self.misplaced else None
        return {
            "scanner": self.scanner.view(now),
            "link": {"good": why is None, "why": why or "", "configured": self.link.configured},
            "journal": {
                "state": self.writer.state,
                "cause": self.writer.cause,
                "depth": self.writer.depth,
                "error": self.writer.error,
                "alert": misplaced if trouble is None else trouble.code,
                "why": self.misplaced if trouble is None else trouble.present,
            },
            "mirror": None if self.mirror is None else self.mirror.view(row),
            "beeper": {"why": self.signals.trouble or ""},
            "pins": {"locked_out": self.gate.locked_out, "lock_outs": self.gate.lock_outs},
            "results": self.rounds,
            "acked": self.acked,
        }
