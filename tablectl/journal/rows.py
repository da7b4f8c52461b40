"""One row of the journal: what it holds, how rows are chained, and the event read back from it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tablectl.clock import Instant
from tablectl.events import TYPES, Event


class JournalFault(Exception):
    """The journal cannot be trusted or used. The message names file, place and way out.

    ``row``: the first bad row, where one is.
    """

    def __init__(self, text: str, *, row: int | None = None) -> None:
        super().__init__(text)
        self.row = row


class JournalUnavailable(OSError):
    """The disk or the file is full, busy or failing just now: what is in it may be right. Try again."""


MOST_ROW = (1 << 63) - 1
"""No row has a greater number."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a row can be found by. Read out of its JSON, kept in index columns outside of the hash."""

    type: str
    shoe: int | None
    round: int | None


@dataclass(frozen=True, slots=True)
class Row:
    """``row``: 1, 2, 3 … without a gap. ``sequence``: of a public event, likewise; None for a private row.

    ``public``: the CloudEvent as it is sent, None for a private row. ``private``: the JSON of
    :func:`tablectl.events.private_body`. ``raw``: the scanner's own bytes, empty if none.
    """

    row: int
    sequence: int | None
    public: bytes | None
    private: bytes
    raw: bytes = b""
    where: Place | None = field(default=None, compare=False)
    """What the JSON says too (:func:`place`), from whoever made the row; None: it is read there."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """The row the kept ones follow: its number, the newest event up to it, and its hash."""

    row: int
    sequence: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A stored public event as the game server gets it, byte for byte."""

    sequence: int
    id: str
    body: bytes


def _framed(value: bytes | None) -> bytes:
    return b"\xff" * 8 if value is None else len(value).to_bytes(8, "big") + value


def genesis(table: str, epoch: str) -> bytes:
    """The hash before the first row: rows of one journal do not fit into another's chain."""
    parts = (b"tablectl journal 1", table.encode(), epoch.encode())
    return hashlib.sha256(b"".join(_framed(p) for p in parts)).digest()


def chained(previous: bytes, row: Row) -> bytes:
    """The hash of ``row`` after the one whose hash is ``previous`` (SHA-256, every field framed)."""
    sequence = None if row.sequence is None else str(row.sequence).encode()
    fields = (str(row.row).encode(), sequence, row.public, row.private, row.raw)
    return hashlib.sha256(previous + b"".join(_framed(f) for f in fields)).digest()


def place(row: Row) -> Place:
    """Type, shoe and round of a row. Raises :class:`ValueError` when its JSON is none."""
    private = json.loads(row.private)
    data = private["data"] if row.public is None else json.loads(row.public)["data"]
    return Place(private["type"], data.get("shoe"), data.get("round"))


@cache
def _adapter(event_type: str) -> tuple[TypeAdapter[Any], dict[str, None]] | None:
    """What makes the event, and its fields without a default: None is left out of the JSON."""
    cls: type[Event] | None = TYPES.get(event_type)
    if cls is None:
        return None
    needed = (f for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING)
    return TypeAdapter(cls), {f.name: None for f in needed}


def decode_row(row: Row) -> tuple[Event, Instant]:
    """The event of a row, public and private fields together, and when it was decided.

    Raises :class:`JournalFault` for a type this program does not know and for fields that do not fit.
    """
    try:
        private = json.loads(row.private)
        at = Instant(int(private["boot"]), int(private["wall"]))
        public = {} if row.public is None else json.loads(row.public)["data"]
        found = _adapter(private["type"])
        if found is not None:
            adapter, absent = found
            event: Event = adapter.validate_python({**absent, **public, **private["data"]})
            return event, at
        why = f"the event type {private['type']!r} is unknown"
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        why = str(error)
    raise JournalFault(
        f"journal row {row.row}: {why}; it was written by another version of tablectl "
        "(run that one) or is damaged (restore a backup)"
    )
