"""The public events of a round: betting, cards, the result, and what is set right afterwards.

Numbered and published as ``tablectl.<TYPE>.v1`` (contract, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tablectl.cards import Outcome, Position
from tablectl.events.base import Event, private


@dataclass(frozen=True, slots=True, kw_only=True)
class BettingOpened(Event):
    """``seconds``: length of the window; ``closes_at``: its end by the table's wall clock."""

    TYPE = "betting.opened"
    seconds: float
    closes_at: str
    deadline_boot: int = private(0)
    deadline_wall: int = private(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BettingClosing(Event):
    TYPE = "betting.closing"
    seconds: float
    pips_left: int = private(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BettingClosed(Event):
    """``reason``: timer, command, restart, suspended or void."""

    TYPE = "betting.closed"
    reason: str
    closed_at: str
    closed_boot: int = private(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDealt(Event):
    """``points``: of the card; ``total``: of its hand; ``next``: player, banker or none.

    Face down (until ``hand.turned``): only the position is public.
    """

    TYPE = "card.dealt"
    position: Position
    card: str | None = None
    points: int | None = None
    total: int | None = None
    source: str = "scanner"
    next: str | None = None
    face: str | None = private()
    kept: bool = private(False)
    reserved: bool = private(False)
    """It was drawn in excess of an earlier hand and reserved for this one; counted then."""
    in_step: bool = private(False)
    """Whether the shoe's own label for it may be believed from here on."""
    approved_by: str | None = private()
    """For ``source = manual``: who entered it."""
    uses: str | None = private()
    """For ``source = manual``: where it lay since it was drawn, reserved or burned; counted then."""
    taken: int | None = private()
    """Which one it is of the cards that lie aside."""
    remind_boot: int | None = private()
    """When (boot ns) the dealer is reminded of the card that is due then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandTurned(Event):
    TYPE = "hand.turned"
    player: tuple[str, ...]
    banker: tuple[str, ...]
    next: str
    remind_boot: int | None = private()


@dataclass(frozen=True, slots=True, kw_only=True)
class HandCorrected(Event):
    """The cards of the round in play were set right, and dealt anew by order under the rule.

    ``before``, ``after``: position → card, the whole hand; ``?`` and no ``next`` while it lies face
    down. What no longer belongs to the hand is ``kept`` (``?``: not read) and counted as before.
    """

    TYPE = "hand.corrected"
    before: dict[str, str]
    after: dict[str, str]
    reason: str
    approved_by: str
    next: str | None = None
    how: str = private("")
    """The command: correct, insert, move, rescan or drop."""
    player: tuple[str, ...] = private(())
    banker: tuple[str, ...] = private(())
    kept: tuple[str, ...] = private(())
    uses: tuple[str, ...] = private(())
    """Where cards lay that were drawn before and are of this hand, or kept with it, again: reserved or
    burned."""
    taken: tuple[int, ...] = private(())
    """Which ones they are of the cards that lie aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandResult:
    """One hand of a finished round. ``points``: of each card; ``total``: 0 to 9."""

    cards: tuple[str, ...]
    points: tuple[int, ...]
    total: int
    natural: bool
    pair: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BetResult:
    """``result``: win, lose, push or stand; ``odds``: winnings per unit of a win, a decimal string."""

    result: str
    odds: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundResulted(Event):
    """The result, which settles bets. ``cancelled`` is always false here: a void is another event."""

    TYPE = "round.resulted"
    outcome: Outcome
    player: HandResult
    banker: HandResult
    bets: dict[str, BetResult]
    cancelled: bool = False
    confirmed_by: str = "automatic"
    free: bool = False
    revision: int = 1
    auto_open_boot: int | None = private()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundVoided(Event):
    """``cards`` that were never turned are told as ``?``.

    ``earlier``: the round was settled before and is not the one in play.
    """

    TYPE = "round.voided"
    reason: str
    cards: dict[str, str]
    approved_by: str
    faces: dict[str, str] | None = private()
    earlier: bool = private(False)
    uses_kept: bool = private(False)
    """For an earlier one: the cards kept in excess of it need no place any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundAmended(Event):
    """A settled round's result was wrong: ``before`` and ``after`` have the full shape of a result."""

    TYPE = "round.amended"
    before: dict[str, Any]
    after: dict[str, Any]
    reason: str
    approved_by: str
    revision: int
    uses: tuple[str, ...] = private(())
    """Where cards new to the hand lay that were counted already: kept, reserved, burned or used."""
    taken: tuple[int, ...] | None = private()
    """Which ones they were there: indexes into the cards kept, else into those that lie aside.

    None, in the first releases: the first cards there, for the first ones new to the hand.
    """
