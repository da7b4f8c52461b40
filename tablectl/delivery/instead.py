"""What goes out in place of stored events: one that was refused and parked, a history that is kept no more.

A pit boss decides it, and the body is made once: it stands in a private row of its own
(:class:`~tablectl.events.DeliveryParked`, :class:`~tablectl.events.DeliverySkipped`), committed before it
is sent, so that every try, after any crash, sends the same bytes. The event's own row is never touched.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tablectl.clock import Instant
from tablectl.events import (
    DeliveryParked,
    DeliverySkipped,
    Event,
    EventParked,
    HistorySkipped,
    event_id,
    public_body,
)
from tablectl.journal import JournalReader
from tablectl.journal.rows import Outgoing, decode_row

PARKED = "-p"
SKIPPED = "-s"
"""Suffixes of their ids."""

INSTEAD = (DeliveryParked.TYPE, DeliverySkipped.TYPE)
"""The rows that do."""

_SETTLING = ("round.resulted", "round.voided", "round.amended")


@dataclass(frozen=True, slots=True)
class Instead:
    """``outgoing`` goes out in place of the events from its own sequence to ``last``."""

    outgoing: Outgoing
    last: int

    @property
    def skips(self) -> bool:
        """Whether it stands for a part of the history, and not for one event."""
        return self.outgoing.id.endswith(SKIPPED)


def instead_of(event: Event, table: str, epoch: str) -> Instead | None:
    """What a private row lets go out; None for any other row."""
    match event:
        case DeliveryParked(event=sequence, body=body):
            id_ = event_id(table, epoch, sequence) + PARKED
            return Instead(Outgoing(sequence, id_, body.encode()), sequence)
        case DeliverySkipped(first=first, last=last, body=body):
            return Instead(Outgoing(first, event_id(table, epoch, first) + SKIPPED, body.encode()), last)
    return None


def decided(before: dict[int, Instead], one: Instead) -> bool:
    """Note ``one``, which was committed behind those ``before``. Whether it goes out.

    The first word on a sequence stands: its bytes may be at the game server already, and others under the
    same number are another history. Only a skip comes behind a park, of what is kept no more since.
    """
    held = before.get(one.outgoing.sequence)
    if held is not None and (held.skips or not one.skips):
        return False
    before[one.outgoing.sequence] = one
    return True


def all_instead(reader: JournalReader) -> dict[int, Instead]:
    """Everything of a journal that goes out in place of something, by the sequence it goes out under."""
    found: dict[int, Instead] = {}
    for kind in (DeliverySkipped.TYPE, DeliveryParked.TYPE):
        for row in reader.rows_of_type(kind):
            one = instead_of(decode_row(row)[0], reader.table, reader.epoch)
            if one is not None:
                decided(found, one)
    return found


def park(stored: Outgoing, epoch: str, at: Instant, reason: str, approved_by: str) -> DeliveryParked:
    """The row that parks a stored event, with the body that goes out instead."""
    event = json.loads(stored.body)
    data: dict[str, Any] = event["data"]
    kind = str(event["type"]).removeprefix("tablectl.").removesuffix(".v1")
    shoe, number = data.get("shoe"), data.get("round")
    parked = EventParked(
        shoe=shoe, round=number, parked_type=event["type"], reason=reason, approved_by=approved_by
    )
    body = public_body(
        parked,
        table=event["source"].removeprefix("/tables/"),
        epoch=epoch,
        sequence=stored.sequence,
        at=at,
        test=event.get("tabletest", False),
        suffix=PARKED,
    )
    return DeliveryParked(
        shoe=shoe,
        round=number,
        event=stored.sequence,
        body=body.decode(),
        parked_type=kind,
        revision=int(data.get("revision", 0)) if kind in _SETTLING else None,
        reason=reason,
        approved_by=approved_by,
    )


def skip(
    table: str, epoch: str, at: Instant, first: int, last: int, reason: str, approved_by: str, *, test: bool
) -> DeliverySkipped:
    """The row that skips events of the history, with the body that goes out instead."""
    body = public_body(
        HistorySkipped(from_=first, to=last),
        table=table,
        epoch=epoch,
        sequence=first,
        at=at,
        test=test,
        suffix=SKIPPED,
    )
    return DeliverySkipped(first=first, last=last, body=body.decode(), reason=reason, approved_by=approved_by)


def cut(wanted: range, instead: Iterable[int]) -> range:
    """``wanted`` up to before the next event in whose place a skip goes; just that one if it comes first."""
    for sequence in sorted(instead):
        if sequence == wanted.start:
            return range(sequence, sequence + 1)
        if sequence in wanted:
            return range(wanted.start, sequence)
    return wanted


def never_sent(wanted: int, kept_from: int, oldest: bytes) -> str:
    """What a game server never gets that starts at ``kept_from``; ``oldest``: the body of that event."""
    data = json.loads(oldest)["data"]
    shoe, number = data.get("shoe"), data.get("round")
    before = ""
    if shoe is not None:
        before = f": everything before {f'shoe {shoe}' if number is None else f'round {shoe}/{number}'}"
    count = kept_from - wanted
    which = f"event {wanted}" if count == 1 else f"{count} events ({wanted} to {kept_from - 1})"
    return f"the game server never gets {which}{before}"
