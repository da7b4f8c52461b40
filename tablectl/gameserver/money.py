"""Money is a whole number of the currency's smallest unit (cents); odds are exact fractions. Never a float.

**The rounding rule, stated once:** the winnings of one single bet are stake × odds, worked out exactly and
then rounded once to whole minor units by the house's rule (``payouts.rounding``, default ``down``). Nothing
else is ever rounded: 0.30 on Banker at 0.95 wins 0.285, that is 0.28. 2-Way and 3-Way are single bets here.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Literal

Rounding = Literal["down", "half-even", "half-up"]

MOST = 10**15
"""Minor units; more than this is on no account, is staked or won by no one, and fits any database."""

_PLAIN = re.compile(r"[0-9]{1,15}(\.[0-9]{1,8})?", re.ASCII)

_PLACES = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX"), 0),
    **dict.fromkeys(("UYI", "VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}


MOST_STAKE = 10**12
"""Minor units of one single bet: at odds of a thousand it wins no more than there is."""


class TooMuch(Exception):
    """Winnings beyond all measure; the message says of what."""


def places(currency: str) -> int:
    """Decimal places of a currency's smallest unit (ISO 4217): 2, but for the few that differ."""
    return _PLACES.get(currency, 2)


def minor(amount: str, currency: str, *, up: bool = False) -> int:
    """A decimal of the major unit in minor units. What is finer is cut off, or counts as a whole (``up``).

    Raises :class:`ValueError` for what is no decimal, and for more than :data:`MOST`.
    """
    if _PLAIN.fullmatch(amount) is None:
        raise ValueError(f"no amount: {amount:.40}")
    exact = Fraction(amount) * 10 ** places(currency)
    whole: int = -(-exact.numerator // exact.denominator) if up else exact.numerator // exact.denominator
    if not 0 <= whole <= MOST:
        raise ValueError(f"no amount: {amount}")
    return whole


def shown(amount: int, currency: str, point: str = ".") -> str:
    """Minor units as people read them: ``-12.50 USD``."""
    digits = places(currency)
    sign, whole = "-" if amount < 0 else "", abs(amount)
    text = f"{whole // 10**digits}{point}{whole % 10**digits:0{digits}d}" if digits else str(whole)
    return f"{sign}{text} {currency}"


def winnings(stake: int, odds: str, rounding: Rounding) -> int:
    """What ``stake`` wins at ``odds`` (winnings per unit, a decimal): the rounding rule above."""
    exact: Fraction = stake * Fraction(odds)
    won: int
    match rounding:
        case "down":
            won = int(exact)
        case "half-even":
            won = round(exact)
        case "half-up":
            won = (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)
    return won
