"""The private events: rows that only the journal keeps."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.events.base import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerStarted(Event):
    """A process began on this journal: scanner and server unknown, all deadlines void."""

    TYPE = "controller.started"
    PUBLIC = False
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRecorded(Event):
    """A command and what came of it. ``answer``: the sentence its sender got; ``asks``: the argument that it
    asks for."""

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
    saw_round: str | None = None
    saw_version: int | None = None
    """What its sender saw: the round, the state's version."""
    asks: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryParked(Event):
    """From here on ``body`` is sent in place of the public event ``event``, which the game server refused.

    ``parked_type``: of that event, without prefix and version. ``revision``: of the result it told, 0 for a
    void; None when it settles no bets.
    """

    TYPE = "delivery.parked"
    PUBLIC = False
    event: int
    body: str
    parked_type: str
    revision: int | None
    reason: str
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverySkipped(Event):
    """From here on ``body`` is sent in place of the public events ``first`` to ``last``."""

    TYPE = "delivery.skipped"
    PUBLIC = False
    first: int
    last: int
    body: str
    reason: str
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsRemoved(Event):
    """The journal's rows up to ``upto`` are removed from here on, as too old.

    ``sequence``, ``hash`` (hex): the newest event up to that row, and its hash. In the chain, so that nobody
    can remove more and say that it was this.
    """

    TYPE = "rows.removed"
    PUBLIC = False
    upto: int
    sequence: int
    hash: str


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
    """A card could not be read; the next scan takes its position.

    ``hold_boot``: when that becomes a hold; None: it is one.
    """

    TYPE = "scan.unread"
    PUBLIC = False
    label: str
    hold_boot: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardDropped(Event):
    """The newest card kept with a hold was one card read twice: the repeat is not counted any more.

    ``taken``: it was burned or reserved meanwhile; which one it is of the cards that lie aside. ``burned``:
    it was a burn card that was due; which one of those that came last, and how many are ``left`` to burn now.
    """

    TYPE = "card.dropped"
    PUBLIC = False
    approved_by: str
    taken: int | None = None
    burned: int | None = None
    left: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadNamed(Event):
    """A card that could not be read until its round was void was read after all: this is its face.

    ``taken``: which one it is of the cards that lie aside.
    """

    TYPE = "unread.named"
    PUBLIC = False
    card: str
    taken: int
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsReserved(Event):
    """The cards kept are the first ones of the next hand."""

    TYPE = "cards.reserved"
    PUBLIC = False
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNamed(Event):
    """The ``place``-th kept card (from 1) was not read, or read wrong: this is its face."""

    TYPE = "kept.named"
    PUBLIC = False
    place: int
    before: str | None
    card: str
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMoved(Event):
    """The ``place``-th kept card (from 1) came as the ``to``-th."""

    TYPE = "kept.moved"
    PUBLIC = False
    place: int
    to: int
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RescanBegan(Event):
    """Cards that lie on the table are scanned again: ``what`` is ``hand`` or a position."""

    TYPE = "rescan.began"
    PUBLIC = False
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRescanned(Event):
    """A card on the table was scanned again; it is not counted."""

    TYPE = "card.rescanned"
    PUBLIC = False
    card: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CardTagged(Event):
    """The card just taken has this number of its own (RFID). ``again``: scanned again on the table."""

    TYPE = "card.tagged"
    PUBLIC = False
    tag: str
    again: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSwapped(Event):
    """Another device reads the same cards from here on: its start signal and its numbers are its own."""

    TYPE = "device.swapped"
    PUBLIC = False
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CountBegan(Event):
    """The whole set is counted by the scanner (``decks`` of it)."""

    TYPE = "count.began"
    PUBLIC = False
    decks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CardCounted(Event):
    """One card of that count; None: it could not be read, or is no card of this table."""

    TYPE = "card.counted"
    PUBLIC = False
    card: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountEnded(Event):
    """The count was given up; an attested one ends with ``inspection.recorded``."""

    TYPE = "count.ended"
    PUBLIC = False


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
    """Something the shoe said that changes no card. ``ends_step``: its labels are no longer believed.

    ``card``: of a ``bounce``, the card that was read twice.
    """

    TYPE = "device.noted"
    PUBLIC = False
    kind: str
    text: str
    ends_step: bool = False
    card: str | None = None


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
