"""What one device may write into the log: bounded, however loose its plug is."""

from __future__ import annotations

from typing import Any

from tablectl.reader.state import LogBudget


class DeviceLog:
    """A ``logger`` for the lines about ``device``; those that are too many are counted and told later."""

    def __init__(self, logger: Any, device: str) -> None:
        self._logger = logger
        self._device = device
        self._budget = LogBudget()

    def __call__(self, level: str, text: str, now: int, **facts: Any) -> None:
        """A line at ``now`` (boot ns), unless it is one too many."""
        held_back = self._budget.take(now)
        if held_back is None:
            return
        if held_back:
            facts["held_back"] = held_back
        getattr(self._logger, level)(text, device=self._device, **facts)
