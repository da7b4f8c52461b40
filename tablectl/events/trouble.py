"""The public events of what goes wrong: holds, the scanner, alerts, and what the game server does not take.

Numbered and published as ``tablectl.<TYPE>.v1`` (contract, section 2).
"""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.events.base import Event, private


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
    """An event that the game server refused was set aside, under its own sequence (id with suffix ``-p``).

    No row has it: see :class:`tablectl.events.DeliveryParked`.
    """

    TYPE = "event.parked"
    parked_type: str
    reason: str
    approved_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistorySkipped(Event):
    """The events ``from`` to ``to`` are kept no more; ``to`` + 1 follows. Its sequence is ``from`` (id with
    suffix ``-s``).

    No row has it: see :class:`tablectl.events.DeliverySkipped`.
    """

    TYPE = "history.skipped"
    from_: int
    to: int
