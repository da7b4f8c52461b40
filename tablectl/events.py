"""Everything that can happen at a table, as frozen values: the one definition of the event stream.

The table's state is the fold of these events, live and on replay.  A *public* event is numbered
and goes to the game server as a CloudEvent of type ``tablectl.<TYPE>.v1``; a *private* one stays in
the journal.  A public event may have private fields too (:func:`private`): burn faces, instants of
the monotonic clock; they never leave the journal.  Fields hold plain JSON values.

``None`` means absent and is left out of the JSON; 0 and false are kept.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tablectl.cards import Outcome, Position
from tablectl.clock import Instant, iso


def private(default: Any = None) -> Any:
    """A field of a public event which only the journal keeps."""
    return field(default=default, metadata={"private": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all. ``shoe`` and ``round`` are numbers, None outside of one."""

    TYPE: ClassVar[str] = ""
    PUBLIC: ClassVar[bool] = True

    shoe: int | None = None
    round: int | None = None


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
    TYPE = "inspection.recorded"
    method: str
    attested_by: tuple[str, ...]
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    note: str | None = None


# --- public: shoe ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ShoeStarted(Event):
    """``rules``: the full resolved profile; ``rules_hash``: SHA-256 of its canonical JSON."""

    TYPE = "shoe.started"
    decks: int
    rules: dict[str, Any]
    rules_hash: str
    note: str | None = None


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
    """``dealt``: cards dealt to hands or kept out of them; ``burned``: the burn faces, now told."""

    TYPE = "shoe.ended"
    reason: str
    rounds: int
    dealt: int
    burned: tuple[str, ...]
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    approved_by: str | None = None


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
    opened_boot: int = private(0)
    deadline_boot: int = private(0)


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
    in_step: bool = private(False)
    """Whether the shoe's own label for it may be believed from here on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandTurned(Event):
    TYPE = "hand.turned"
    player: tuple[str, ...]
    banker: tuple[str, ...]
    next: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandCorrected(Event):
    TYPE = "hand.corrected"
    before: dict[str, str]
    after: dict[str, str]
    reason: str
    approved_by: str
    next: str


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
    TYPE = "round.voided"
    reason: str
    cards: dict[str, str]
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundAmended(Event):
    TYPE = "round.amended"
    before: dict[str, Any]
    after: dict[str, Any]
    reason: str
    approved_by: str
    revision: int


# --- public: trouble -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TableHeld(Event):
    """``codes``: every hold now in force; ``message``: the newest in the dealer's words."""

    TYPE = "table.held"
    codes: tuple[str, ...]
    message: str
    code: str = private("")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableReleased(Event):
    """``action``: the way out that was taken; ``codes`` (private): the holds it ended."""

    TYPE = "table.released"
    action: str
    reason: str
    approved_by: str
    codes: tuple[str, ...] = private(())


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannerLost(Event):
    TYPE = "scanner.lost"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScannerRestored(Event):
    TYPE = "scanner.restored"
    identity: str = private("")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySkipped(Event):
    TYPE = "history.skipped"
    first: int
    last: int


# --- private: what only the journal keeps ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerStarted(Event):
    """A process began on this journal: scanner and server unknown, all deadlines void."""

    TYPE = "controller.started"
    PUBLIC = False
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRecorded(Event):
    """A command and what came of it. ``answer``: the sentence its sender got."""

    TYPE = "command.recorded"
    PUBLIC = False
    id: str
    command: str
    args: dict[str, str]
    person: str | None
    supervisor: bool
    uid: int | None
    accepted: bool
    answer: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PinAttempted(Event):
    TYPE = "pin.attempted"
    PUBLIC = False
    person: str
    good: bool
    uid: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnsOrdered(Event):
    """``count`` cards are due to be burned. ``first_card``: the first one's value adds to it."""

    TYPE = "burns.ordered"
    PUBLIC = False
    count: int
    reason: str
    first_card: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnsDone(Event):
    """Burns that did not pass the scanner: ``count`` cards are out, their faces unknown."""

    TYPE = "burns.done"
    PUBLIC = False
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeHandOrdered(Event):
    TYPE = "hand.freed"
    PUBLIC = False
    approved_by: str
    boot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanKept(Event):
    """A card that left the shoe and has no place yet: counted, kept with the hold ``code``."""

    TYPE = "scan.kept"
    PUBLIC = False
    card: str | None
    label: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanUnread(Event):
    """A card could not be read; the next scan takes its position. ``hold_boot``: when that is a hold."""

    TYPE = "scan.unread"
    PUBLIC = False
    label: str
    hold_boot: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPassed(Event):
    """A scan that is no part of the game: handling, discarded, or bytes that mean nothing."""

    TYPE = "scan.passed"
    PUBLIC = False
    why: str
    card: str | None = None
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceNoted(Event):
    """Something the shoe said that changes no card. ``ends_step``: its labels are no longer believed."""

    TYPE = "device.noted"
    PUBLIC = False
    kind: str
    text: str
    ends_step: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnouncementAwaited(Event):
    """The hand is complete and waits for the shoe's verdict until ``remind_boot``, or for the dealer."""

    TYPE = "announcement.awaited"
    PUBLIC = False
    remind_boot: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminded(Event):
    """A reminder was given, or betting did not open by itself: the deadline named is spent."""

    TYPE = "reminded"
    PUBLIC = False
    what: str
    text: str


TYPES: dict[str, type[Event]] = {
    cls.TYPE: cls
    for cls in list(globals().values())
    if isinstance(cls, type) and issubclass(cls, Event) and cls is not Event
}
"""Every event class by its type name."""

PUBLIC_TYPES = tuple(name for name, cls in TYPES.items() if cls.PUBLIC)


def _private_names(cls: type[Event]) -> frozenset[str]:
    return frozenset(f.name for f in dataclasses.fields(cls) if f.metadata.get("private"))


_FIELDS = {cls: tuple(f.name for f in dataclasses.fields(cls)) for cls in TYPES.values()}
_PRIVATE = {cls: _private_names(cls) for cls in TYPES.values()}


def _plain(value: Any) -> Any:
    """JSON values of a field; dataclasses lose what is None."""
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
        return {name: _plain(v) for name, v in fields if v is not None}
    return value


def public_data(event: Event) -> dict[str, Any]:
    """The ``data`` object of a public event: its public fields, without those that are None."""
    cls = type(event)
    values = ((n, getattr(event, n)) for n in _FIELDS[cls] if n not in _PRIVATE[cls])
    return {name: _plain(value) for name, value in values if value is not None}


def private_data(event: Event) -> dict[str, Any]:
    """What only the journal keeps: the private fields, or all of a private event."""
    cls = type(event)
    names = _PRIVATE[cls] if cls.PUBLIC else _FIELDS[cls]
    values = ((n, getattr(event, n)) for n in _FIELDS[cls] if n in names)
    return {name: _plain(value) for name, value in values if value is not None}


def event_id(table: str, epoch: str, sequence: int) -> str:
    """The id of the public event ``sequence`` of one journal, for example ``T07-4f2a91-000000000123``."""
    return f"{table}-{epoch}-{sequence:012d}"


def _dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


def public_body(event: Event, *, table: str, epoch: str, sequence: int, at: Instant, test: bool) -> bytes:
    """The CloudEvents 1.0 JSON of a public event, made once and stored (contract, section 2)."""
    where = "table"
    if event.shoe is not None:
        where = f"shoe/{event.shoe}" + (f"/round/{event.round}" if event.round is not None else "")
    envelope: dict[str, Any] = {
        "specversion": "1.0",
        "id": event_id(table, epoch, sequence),
        "source": f"/tables/{table}",
        "type": f"tablectl.{event.TYPE}.v1",
        "subject": where,
        "time": iso(at.wall),
        "sequence": f"{sequence:012d}",
        "epoch": epoch,
        "datacontenttype": "application/json",
    }
    if test:
        envelope["tabletest"] = True
    envelope["data"] = public_data(event)
    return _dump(envelope)


def private_body(event: Event, at: Instant) -> bytes:
    """The private JSON of any event's row: its type, both clocks, and what only the journal keeps."""
    return _dump({"type": event.TYPE, "boot": at.boot, "wall": at.wall, "data": private_data(event)})
