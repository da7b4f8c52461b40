"""How a wager ends: from the ``bets`` of the result event and the wager's own terms, and nothing else.

No baccarat is known here.  What has ended once may end otherwise: an amended or void round ends all its
wagers anew, and the ledger keeps both (:mod:`tablectl.gameserver.book`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tablectl.events import BetResult
from tablectl.gameserver.money import MOST, TooMuch, winnings
from tablectl.gameserver.terms import Terms

Ends = Literal["win", "lose", "push", "stand", "void"]


@dataclass(frozen=True, slots=True)
class Ended:
    """``back``: the part of the stake that is returned, ``won``: what the house pays besides."""

    how: Ends
    back: int = 0
    won: int = 0
    odds: str | None = None
    capped: bool = False
    """The house's most winnings was less than the odds give."""


def end(area: str, stake: int, bets: Mapping[str, BetResult], terms: Terms) -> Ended:
    """How a stake on one single bet ends. A bet that is not named was not offered: it is returned.

    Raises :class:`TooMuch` for winnings beyond all measure.
    """
    bet = bets.get(area)
    match bet.result if bet is not None else "push":
        case "win":
            assert bet is not None
            odds = bet.odds or "0"
            exact = winnings(stake, odds, terms.rounding)
            won = min(exact, terms.max_winnings.get(area, exact))
            if won > MOST:
                raise TooMuch(f"a stake of {stake} at {odds} on {area} wins more than there is")
            return Ended("win", stake, won, odds, capped=won < exact)
        case "lose":
            return Ended("lose")
        case "stand":
            return Ended("stand")
    return Ended("push", stake)


def voided(stake: int) -> Ended:
    """All of it goes back."""
    return Ended("void", stake)


def in_time(ended: Ended, stake: int, may_stand: bool) -> Ended:
    """What comes of it where it may stand, or may not: nothing can begin to stand late, it is returned."""
    if ended.how == "stand" and not may_stand:
        return Ended("push", stake)
    return ended
