"""What lies around a table and is no part of its state: scanner, link, journal, beeper, locked-out names.

Read by whoever shows the table: ``/v1/state`` and the metrics tell the same.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from tablectl.delivery.link import ServerLink
from tablectl.delivery.placed import Placed
from tablectl.gate import Gate
from tablectl.journal.mirror import Mirror
from tablectl.journal.writer import JournalWriter
from tablectl.scanner_watch import ScannerWatch
from tablectl.signals import Signals
from tablectl.table import Phase, State


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

    def placed(self, state: State) -> dict[str, Any] | None:
        """How many have placed, as :func:`placed_view`."""
        return placed_view(self.link.placed, state)

    def view(self, now: int, state: State) -> dict[str, Any]:
        """What ``/v1/state`` tells besides the table's own ``state`` (committed). ``now``: boot ns."""
        why, trouble = self.link.why, self.writer.trouble
        misplaced = "journal-place" if self.misplaced else None
        return {
            "scanner": self.scanner.view(now),
            "link": {"good": why is None, "why": why or "", "configured": self.link.configured},
            "placed": self.placed(state),
            "journal": {
                "state": self.writer.state,
                "cause": self.writer.cause,
                "depth": self.writer.depth,
                "error": self.writer.error,
                "alert": misplaced if trouble is None else trouble.code,
                "why": self.misplaced if trouble is None else trouble.present,
            },
            "mirror": None if self.mirror is None else self.mirror.view(state.row),
            "beeper": {"why": self.signals.trouble or ""},
            "pins": {"locked_out": self.gate.locked_out, "lock_outs": self.gate.lock_outs},
            "results": self.rounds,
            "acked": self.acked,
        }


def placed_view(placed: Placed | None, state: State) -> dict[str, Any] | None:
    """Who has placed, for the dealer; None: no betting is open, or nothing is said of its round."""
    shoe, now = state.shoe, state.round
    if placed is None or state.phase is not Phase.BETTING or shoe is None or now is None:
        return None
    if (placed.shoe, placed.round) != (shoe.number, now.number):
        return None
    return asdict(placed) | {"all": placed.all}
