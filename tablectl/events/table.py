"""The public events of a table between its rounds: opened and closed, dealers, card sets, shoes.

Numbered and published as ``tablectl.<TYPE>.v1`` (contract, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tablectl.events.base import Event, private


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
    fixed: bool = private(False)
    # It is his until the table is closed; a row of the first release does not say so.


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
    label: str = private("")
    """What the shoe calls it."""


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
