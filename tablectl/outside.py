"""What lies around a table and is no part of its state: scanner, link, journal, beeper, locked-out names.

Read by whoever shows the table: ``/v1/state`` and the metrics tell the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tablectl.clock import SECOND
from tablectl.config import ScannerConfig
from tablectl.delivery.link import ServerLink
from tablectl.gate import Gate
from tablectl.journal_writer import JournalWriter
from tablectl.reader import Reader
from tablectl.signals import Signals


@dataclass(slots=True)
class Outside:
    """``acked``: the last event the game server has. ``rounds``: results announced since the start."""

    scanner: ScannerConfig
    reader: Reader
    writer: JournalWriter
    signals: Signals
    link: ServerLink
    gate: Gate
    acked: int
    last_result: dict[str, Any] | None
    rounds: int = 0

    def resulted(self, data: dict[str, Any]) -> None:
        """A result was committed."""
        self.last_result = data
        self.rounds += 1

    def view(self, *, scanner_up: bool, now: int) -> dict[str, Any]:
        """What ``/v1/state`` tells besides the table's own state. ``now``: boot ns."""
        counters = self.reader.counters
        last = counters.last_good
        why = self.link.why
        return {
            "scanner": {
                "driver": self.scanner.driver,
                "device": self.scanner.device,
                "up": self.reader.connected and scanner_up,
                "why": self.reader.reason or "",
                "bytes": counters.bytes,
                "frames": counters.frames,
                "rejects": counters.rejects,
                "last_good_age": None if last is None else round((now - last) / SECOND, 1),
            },
            "link": {"good": why is None, "why": why or ""},
            "journal": {"state": self.writer.state, "depth": self.writer.depth, "error": self.writer.error},
            "beeper": {"why": self.signals.trouble or ""},
            "pins": {"locked_out": self.gate.locked_out},
            "results": self.rounds,
            "acked": self.acked,
        }
