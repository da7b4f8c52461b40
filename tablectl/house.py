"""House rules: everything about the game in which houses differ, as one frozen value.

A profile is a TOML file of these sections (``config/rules/``).  The resolved profile rides in the
journal with every shoe (``shoe.started``), so a later change of the file never changes a shoe in
play, and replay needs no configuration.  Odds and money are decimal strings, never floats.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal

_STRICT: dict[str, Any] = {"extra": "forbid"}


_PLAIN_DECIMAL = re.compile(r"[0-9]{1,12}(\.[0-9]{1,8})?", re.ASCII)
"""Nothing else that Decimal() takes (signs, exponents, underscores, blanks) belongs in a published odds."""


def _fail_unless(good: bool, key: str, wants: str, got: object) -> None:
    if not good:
        raise ValueError(f"{key}: {wants}, not {got!r}")


def _decimal(key: str, text: str, *, least: Decimal = Decimal(0)) -> Decimal:
    good = _PLAIN_DECIMAL.fullmatch(text) is not None and Decimal(text) >= least
    _fail_unless(good, key, f'a decimal in quotes, {least} or more ("0.95")', text)
    return Decimal(text)


@dataclass(frozen=True, slots=True)
class Burn:
    """Burn cards, in cards. ``by = "first-card"``: the first card's value is burned besides it."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    after_shuffle: int = 6
    dealer_change: int = 1
    error: int = 3
    by: Literal["count", "first-card", "none"] = "count"
    scanned: bool = True

    def __post_init__(self) -> None:
        for key in ("after_shuffle", "dealer_change", "error"):
            _fail_unless(0 <= getattr(self, key) <= 20, f"burn.{key}", "0 to 20 cards", getattr(self, key))

    @property
    def due_after_shuffle(self) -> int:
        """Cards due at the start of a shoe (by first card: that card; its value follows)."""
        return {"count": self.after_shuffle, "first-card": 1, "none": 0}[self.by]


@dataclass(frozen=True, slots=True)
class ShoeRules:
    """The shoe's life. ``cutting_card``: cards behind it; ``share``: part dealt that ends the shoe."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    decks: int = 8
    cutting_card: int = 52
    hands_after_cut: int = 0
    share: str | None = None
    inspection: bool = True

    def __post_init__(self) -> None:
        _fail_unless(1 <= self.decks <= 16, "shoe.decks", "1 to 16 decks", self.decks)
        _fail_unless(
            0 <= self.cutting_card < 52 * self.decks,
            "shoe.cutting_card",
            "a number of cards in the shoe",
            self.cutting_card,
        )
        _fail_unless(self.hands_after_cut in (0, 1), "shoe.hands_after_cut", "0 or 1", self.hands_after_cut)
        if self.share is not None:
            share = _decimal("shoe.share", self.share)
            _fail_unless(0 < share < 1, "shoe.share", 'between 0 and 1 ("0.89")', self.share)

    @property
    def cards(self) -> int:
        """Cards in a full shoe."""
        return 52 * self.decks

    @property
    def share_card(self) -> int | None:
        """Cards out (burns included) at which the share rule ends the shoe, or None."""
        return None if self.share is None else math.ceil(Decimal(self.share) * self.cards)


@dataclass(frozen=True, slots=True)
class Betting:
    """The betting window, in seconds. ``link_required``: none while the game server is owed something.

    ``beeper_ack``: none while a beeper that cannot be heard was not acknowledged (alert ``beeper``).
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    seconds: float = 20.0
    pips: int = 5
    pip_every: float = 1.0
    opens: Literal["command", "automatic"] = "command"
    pause: float = 5.0
    link_required: bool = True
    beeper_ack: bool = False

    def __post_init__(self) -> None:
        _fail_unless(0 < self.seconds <= 600, "betting.seconds", "more than 0, 600 at most", self.seconds)
        _fail_unless(0 <= self.pips <= 30, "betting.pips", "0 to 30 pips", self.pips)
        _fail_unless(0.01 <= self.pip_every <= 10, "betting.pip_every", "0.01 to 10 seconds", self.pip_every)
        _fail_unless(0 <= self.pause <= 600, "betting.pause", "0 to 600 seconds", self.pause)


@dataclass(frozen=True, slots=True)
class Dealing:
    """How a hand is dealt and its result announced.

    ``confirm = "default"`` becomes ``shoe`` with a shoe that has a result button, else ``automatic``.
    ``unread_seconds``: how long a wanted re-scan may take before the table is held.
    ``verdict_seconds``: how long the shoe's own verdict may take before the dealer is reminded.
    ``due_seconds``: after how long without the card that is due the dealer is reminded of it.
    ``overdraw``: what becomes of a card in excess of a hand: burned, the next round's first, or the
    round is void.
    ``early_card``: what may become of a card drawn before the close (one that lay face up in the shoe, say):
    the Player's first card or burned, as the pit boss says, or always burned.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    confirm: Literal["default", "automatic", "dealer", "shoe"] = "default"
    deal: Literal["face-up", "face-down"] = "face-up"
    overdraw: Literal["burn", "next", "void"] = "burn"
    early_card: Literal["either", "burn"] = "either"
    unread_seconds: float = 30.0
    verdict_seconds: float = 15.0
    due_seconds: float = 20.0

    def __post_init__(self) -> None:
        for key in ("unread_seconds", "verdict_seconds", "due_seconds"):
            _fail_unless(
                0 < getattr(self, key) <= 600, f"dealing.{key}", "0 to 600 seconds", getattr(self, key)
            )


BETS = ("player", "banker", "tie", "player_pair", "banker_pair")
"""Every single bet kind; 2-Way and 3-Way are a game server's combinations of these."""

PAIRS = BETS[3:]


@dataclass(frozen=True, slots=True)
class Payouts:
    """Odds are winnings per unit staked. ``banker_six``: on a Banker win with a total of 6."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    player: str = "1"
    banker: str = "0.95"
    banker_six: str = "0.95"
    tie: str = "8"
    pair: str = "11"
    side_bets: tuple[Literal["player_pair", "banker_pair"], ...] = ("player_pair", "banker_pair")
    combinations: tuple[Literal["2-way", "3-way"], ...] = ()
    on_tie: Literal["returned", "stands"] = "returned"
    standing: Literal["withdrawable", "locked"] = "withdrawable"
    rounding: Literal["down", "half-even", "half-up"] = "down"

    def __post_init__(self) -> None:
        for key in ("player", "banker", "banker_six", "tie", "pair"):
            _decimal(f"payouts.{key}", getattr(self, key))
        _fail_unless(
            not self.combinations or len(self.side_bets) == 2,
            "payouts.combinations",
            "only where both pairs are offered",
            self.combinations,
        )

    @property
    def offered(self) -> tuple[str, ...]:
        """The single bet kinds the house offers, in layout order."""
        return tuple(bet for bet in BETS if bet not in PAIRS or bet in self.side_bets)


@dataclass(frozen=True, slots=True)
class Limit:
    """Least and most stake of one bet, as decimals of the currency's major unit."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    min: str
    max: str

    def __post_init__(self) -> None:
        low, high = _decimal("min", self.min), _decimal("max", self.max)
        _fail_unless(high >= low, "max", f"min ({self.min}) or more, else no stake fits", self.max)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a player may stake and win; the controller only tells it to the game server."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    currency: str = "USD"
    bets: dict[str, Limit] = field(default_factory=dict)
    max_winnings: dict[str, str] = field(default_factory=dict)
    below_minimum: Literal["reject", "raise"] = "reject"
    chips: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _fail_unless(
            len(self.currency) == 3 and self.currency.isascii() and self.currency.isupper(),
            "limits.currency",
            "three capital letters (ISO 4217)",
            self.currency,
        )
        for section, names in (("bets", self.bets), ("max_winnings", self.max_winnings)):
            for bet in names:
                _fail_unless(bet in BETS, f"limits.{section}", f"one of {', '.join(BETS)}", bet)
        for bet, text in self.max_winnings.items():
            _decimal(f"limits.max_winnings.{bet}", text)
        for chip in self.chips:
            _decimal("limits.chips", chip)


@dataclass(frozen=True, slots=True)
class HouseRules:
    """One complete profile. Raises :class:`ValueError`, naming section and key, for what cannot be."""

    __pydantic_config__: ClassVar[dict[str, Any]] = _STRICT
    name: str
    burn: Burn = Burn()
    shoe: ShoeRules = ShoeRules()
    betting: Betting = Betting()
    dealing: Dealing = Dealing()
    payouts: Payouts = Payouts()
    limits: Limits = field(default_factory=Limits)

    def resolved(self, *, result_button: bool) -> HouseRules:
        """The profile with ``confirm = "default"`` settled by what the shoe can do."""
        if self.dealing.confirm != "default":
            return self
        confirm: Literal["shoe", "automatic"] = "shoe" if result_button else "automatic"
        return dataclasses.replace(self, dealing=dataclasses.replace(self.dealing, confirm=confirm))

    @property
    def unlimited(self) -> tuple[str, ...]:
        """The offered bets without limits: any stake is taken, from the smallest coin up."""
        return tuple(bet for bet in self.payouts.offered if bet not in self.limits.bets)

    @property
    def impossible_stakes(self) -> tuple[str, ...]:
        """Offered bets and combinations whose limits no stake fits, each with its key and why.

        No part of what makes a profile: a journal that has such a shoe must be read for ever.
        """
        bets = self.limits.bets
        faults = [
            f"limits.bets.{bet}.max: more than 0, else no stake fits, not {bets[bet].max!r}"
            for bet in self.payouts.offered
            if bet in bets and not Decimal(bets[bet].max)
        ]
        for name in self.payouts.combinations:
            parts = (*PAIRS, "tie") if name == "3-way" else PAIRS
            known = [bets[part] for part in parts if part in bets]
            low = max((Decimal(limit.min) for limit in known), default=Decimal(0))
            high = min((Decimal(limit.max) for limit in known), default=low)
            if high < low:
                faults.append(
                    f"payouts.combinations: no stake on {name} fits the limits of all its bets: "
                    f"one has a min of {low}, another a max of {high} (limits.bets)"
                )
        return tuple(faults)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON values; :meth:`from_dict` takes them back."""
        plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(self)))
        return plain

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the canonical JSON: two tables play alike if and only if it is equal."""
        text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> HouseRules:
        """A profile from what :meth:`as_dict` gave. Lists become tuples again."""

        def section(name: str) -> dict[str, Any]:
            return {k: tuple(v) if isinstance(v, list) else v for k, v in plain[name].items()}

        limits = section("limits")
        limits["bets"] = {bet: Limit(**limit) for bet, limit in limits["bets"].items()}
        return cls(
            name=plain["name"],
            burn=Burn(**section("burn")),
            shoe=ShoeRules(**section("shoe")),
            betting=Betting(**section("betting")),
            dealing=Dealing(**section("dealing")),
            payouts=Payouts(**section("payouts")),
            limits=Limits(**limits),
        )
