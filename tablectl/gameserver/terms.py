"""The terms a wager is taken on: offered bets, limits, most winnings, rounding. From the table's own events.

``shoe.started`` carries the whole profile and rules for that shoe; ``table.opened`` tells limits before
there is a shoe, for display. Unknown fields are ignored; what cannot be read gives no terms, and without
terms no wager is taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from tablectl.gameserver.money import Rounding, minor

SINGLE = ("player", "banker", "tie", "player_pair", "banker_pair")
"""Every single bet, in layout order."""

COMBINED: Mapping[str, tuple[str, ...]] = {
    "2-way": ("player_pair", "banker_pair"),
    "3-way": ("player_pair", "banker_pair", "tie"),
}
"""The same stake on each of these single bets, settled one by one (baccarat, section 6)."""

_CHIPS = ("1", "5", "25", "100", "500")


@dataclass(frozen=True, slots=True)
class Terms:
    """Money in minor units. ``limits``: least and most of a single bet; one that is not named has none."""

    rules: str
    currency: str
    offered: tuple[str, ...]
    combinations: tuple[str, ...] = ()
    limits: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    max_winnings: Mapping[str, int] = field(default_factory=dict)
    below_minimum: Literal["reject", "raise"] = "reject"
    standing: Literal["withdrawable", "locked"] = "withdrawable"
    rounding: Rounding = "down"
    chips: tuple[int, ...] = ()

    def parts(self, area: str) -> tuple[str, ...]:
        """The single bets an area stands for; none for what is not offered."""
        if area in self.offered:
            return (area,)
        return COMBINED[area] if area in self.combinations else ()

    def limit(self, area: str) -> tuple[int, int | None]:
        """Least and most stake of an area; a combination keeps the limits of all its bets."""
        known = [self.limits[part] for part in self.parts(area) if part in self.limits]
        return max((low for low, _ in known), default=1), min((high for _, high in known), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; :meth:`from_dict` takes them back."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Terms:
        limits = {area: (low, high) for area, (low, high) in plain["limits"].items()}
        lists = {name: tuple(plain[name]) for name in ("offered", "combinations", "chips")}
        return cls(**{**plain, **lists, "limits": limits})


def of_opened(data: Mapping[str, Any]) -> Terms | None:
    """What ``table.opened`` says, for display before a shoe is there; None when it cannot be read."""
    try:
        offered = tuple(area for area in SINGLE if area in data["limits"]) or SINGLE[:3]
        return _terms(str(data["rules"]), data, data["limits"], data["max_winnings"], offered, {})
    except _UNREADABLE:
        return None


def of_shoe(data: Mapping[str, Any]) -> Terms | None:
    """The terms of a shoe, from its ``shoe.started``; None when they cannot be read."""
    try:
        rules = data["rules"]
        limits, payouts = rules["limits"], rules["payouts"]
        side = [area for area in SINGLE[3:] if area in payouts["side_bets"]]
        offered = (*SINGLE[:3], *side)
        return _terms(str(rules["name"]), limits, limits["bets"], limits["max_winnings"], offered, payouts)
    except _UNREADABLE:
        return None


_UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def _terms(
    rules: str,
    house: Mapping[str, Any],
    bets: Mapping[str, Any],
    most: Mapping[str, Any],
    offered: tuple[str, ...],
    payouts: Mapping[str, Any],
) -> Terms:
    currency = str(house["currency"])
    limits = {
        area: (max(1, minor(bets[area]["min"], currency, up=True)), minor(bets[area]["max"], currency))
        for area in offered
        if area in bets
    }
    chips = [minor(str(chip), currency) for chip in house.get("chips") or _CHIPS]
    combined = [name for name in COMBINED if name in payouts.get("combinations", ())]
    return Terms(
        rules=rules,
        currency=currency,
        offered=offered,
        combinations=tuple(n for n in combined if set(COMBINED[n]) <= set(offered)),
        limits=limits,
        max_winnings={area: minor(most[area], currency) for area in offered if area in most},
        below_minimum="raise" if house.get("below_minimum") == "raise" else "reject",
        standing="locked" if payouts.get("standing") == "locked" else "withdrawable",
        rounding=_rounding(payouts.get("rounding", "down")),
        chips=tuple(chip for chip in chips if chip > 0),
    )


def _rounding(said: object) -> Rounding:
    if said not in get_args(Rounding):
        raise ValueError(f"no rounding rule: {said!r}")
    return cast("Rounding", said)
