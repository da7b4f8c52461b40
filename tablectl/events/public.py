"""The public events: numbered and published as ``tablectl.<TYPE>.v1`` (contract, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tablectl.cards import Outcome, Position
from tablectl.events.base import Event, private

# --- public: table and people ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOpened(Event):
    TYPE = "table.opened"
    rules: str
    currency: str
    limits: dict[str, Any]
    max_winnings: dict[str, str]
    profile: dict[str, Any] = private()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableClosed(Event):
    TYPE = "table.closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class DealerChanged(Event):
    """``dealer`` absent: signed out. ``pickup``: direction the cards are picked up, for the shift."""

    TYPE = "dealer.changed"
    dealer: str | None = None
    pickup: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectionRecorded(Event):
    """The set was counted, ``method`` by-hand or scan. Cards by name; ``foreign`` in the finder's words.

    ``counted``: how many passed the scanner, when counted by it.
    """

    TYPE = "inspection.recorded"
    method: str
    attested_by: tuple[str, ...]
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    note: str | None = None
    foreign: tuple[str, ...] = ()
    damaged: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    counted: int | None = None
    complete: bool = private(True)
    """Whether the set may be played: what was missing or damaged is replaced."""


# --- public: shoe ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoeStarted(Event):
    """``rules``: the full resolved profile; ``rules_hash``: SHA-256 of its canonical JSON."""

    TYPE = "shoe.started"
    decks: int
    rules: dict[str, Any]
    rules_hash: str
    note: str | None = None
    adopted: dict[str, Any] | None = None
    """A shoe taken over from another controller in mid-shoe: ``out``, ``rounds``, ``last_hand``."""
    carry: dict[str, Any] | None = private()
    """The table just before, where a replay may begin (:mod:`tablectl.table.checkpoint`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardBurned(Event):
    """``left``: burn cards still due. ``shoe_left``: cards left in the shoe. The face is secret."""

    TYPE = "card.burned"
    reason: str
    left: int
    shoe_left: int
    card: str | None = private()
    kept: bool = private(False)
    """The card was counted when it was kept with a hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoeEnded(Event):
    """``dealt``: cards dealt to hands or kept out of them; ``burned``: the burn faces, now told.

    ``left``: cards not drawn. ``missing``: by name what is neither drawn nor in the shoe, where that
    can be known. ``integrity``: it ended with cards that cannot be right.
    """

    TYPE = "shoe.ended"
    reason: str
    rounds: int
    dealt: int
    burned: tuple[str, ...]
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    approved_by: str | None = None
    left: int | None = None
    integrity: bool | None = None
    withdrawn: bool = private(False)
    """``shoe new`` was taken back before a card was drawn: the table stands where it stood."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutCardDrawn(Event):
    """``out``: cards out of the shoe before it. ``by``: scanner, dealer, or share (by the share rule)."""

    TYPE = "cut_card.drawn"
    by: str
    out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CutCardWithdrawn(Event):
    TYPE = "cut_card.withdrawn"
    approved_by: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastHandAnnounced(Event):
    """``round`` is the number of the last hand, which may be still to come."""

    TYPE = "last_hand.announced"


# --- public: round ---------------------------------------------------------------------------------


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
    """Where the first cards new to the hand lay that were counted already: kept, reserved or burned."""


# --- public: trouble -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHeld(Event):
    """``codes``: every hold now in force; ``message``: the newest in the dealer's words."""

    TYPE = "table.held"
    codes: tuple[str, ...]
    message: str
    code: str = private("")
    saw: dict[str, str] | None = private()
    """What the controller saw: ``label``, and the scan's ``bytes`` where they tell no hidden face."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReleased(Event):
    """``action``: the way out that was taken; ``codes`` (private): the holds it ended."""

    TYPE = "table.released"
    action: str
    reason: str
    approved_by: str
    codes: tuple[str, ...] = private(())
    unread_boot: int | None = private()
    """Until when (boot ns) a card that could not be read is wanted again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannerLost(Event):
    TYPE = "scanner.lost"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannerRestored(Event):
    TYPE = "scanner.restored"
    identity: str = private("")
    where: str = private("")
    """Empty in rows of the first release, whose identities changed with the port's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRaised(Event):
    TYPE = "alert.raised"
    alert: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertAcknowledged(Event):
    TYPE = "alert.acknowledged"
    alert: str
    acknowledged_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventParked(Event):
    TYPE = "event.parked"
    parked_type: str
    reason: str
    approved_by: str
