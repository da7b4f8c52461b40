"""No beeper: for tables where the dealer announces by voice, and for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl_drivers.options import refuse_unknown


class NullBeeper:
    """Makes no sound."""

    def play(self, pattern: str) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def make(settings: Mapping[str, Any]) -> NullBeeper:
    """The silent beeper; it has no settings. Raises :class:`ValueError` naming one it is given."""
    refuse_unknown(settings)
    return NullBeeper()
