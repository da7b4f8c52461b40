"""Whether all have placed: the dealer may close early when nobody is waited for.

A player is at a table while their page asks for news of it. Pure; time is an argument (monotonic s).
"""

from __future__ import annotations

from dataclasses import dataclass, field

AWAY = 30.0
"""Seconds without a word after which a player is not at the table any more."""

Place = tuple[str, int, int]
"""Epoch, shoe and round."""


@dataclass(slots=True)
class Presence:
    """Who is at which table, and who needs no more time in a round."""

    _seen: dict[tuple[str, str], float] = field(default_factory=dict)
    _done: dict[tuple[str, str], Place] = field(default_factory=dict)

    def seen(self, table: str, player: str, now: float) -> None:
        """A word of that player at that table."""
        self._seen[table, player] = now

    def done(self, table: str, player: str, place: Place) -> None:
        """The player wants no bet more in that round."""
        self._done[table, player] = place

    def at(self, table: str, now: float) -> frozenset[str]:
        """Who is there. Forgets who is not."""
        for key in [key for key, seen in self._seen.items() if now - seen > AWAY]:
            del self._seen[key]
            self._done.pop(key, None)
        return frozenset(player for at, player in self._seen if at == table)

    def are_done(self, table: str, place: Place) -> frozenset[str]:
        """Who wants no bet more in that round."""
        return frozenset(player for (at, player), of in self._done.items() if at == table and of == place)
