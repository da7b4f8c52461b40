"""How many players have placed, as a game server may say it beside its answer. No I/O, no clock.

It is for the dealer's eyes and decides nothing: the game server is asked a little more often while it says
so, and what is no such word is as if it had said nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tablectl.clock import SECOND

MOST = 10**9 - 1
"""No shoe or round has a higher number, and no table more players."""
AGE = 10 * SECOND
"""What was said longer ago may be true no more."""
ASK_EVERY = SECOND
"""How long after an answer that said so it is asked again."""
QUIET = 10
"""And not before so many times as long as that answer took: a slow server is asked as often as ever."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Of one round: how many ``players`` are at the table, and how many of them have ``placed`` or passed."""

    shoe: int
    round: int
    players: int
    placed: int

    @property
    def all(self) -> bool:
        """Whether somebody is there, and nobody is waited for."""
        return 0 < self.players == self.placed


def placed_in(answer: object) -> Placed | None:
    """What an answer (JSON) says under ``placed``; None: nothing, or nothing that makes sense."""
    said = answer.get("placed") if isinstance(answer, dict) else None
    if not isinstance(said, dict):
        return None
    numbers: list[Any] = [said.get(name) for name in ("shoe", "round", "players", "placed")]
    if not all(type(number) is int and 0 <= number <= MOST for number in numbers):
        return None
    found = Placed(*numbers)
    return found if found.shoe and found.round and found.placed <= found.players else None


def asked_after(took: int) -> int:
    """How long (ns) after an answer that said so it is asked again. ``took``: how long that one took."""
    return max(ASK_EVERY, QUIET * took)
