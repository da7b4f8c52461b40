"""Reading what a controller sends: events cut out of a request byte for byte, and checked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn

SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
MOST_EVENTS = 100
MOST_SEQUENCE = 10**18
"""An id has eighteen digits for it at most, and a database's numbers end soon behind."""

_ID = re.compile(
    r"(?P<table>[A-Za-z0-9_-]{1,16})-(?P<epoch>[0-9a-f]{6})-(?P<sequence>[0-9]{12,18})(?P<instead>-[ps])?"
)
_PROBE = re.compile(r"(?P<table>[A-Za-z0-9_-]{1,16})-(?P<epoch>[0-9a-f]{6})-probe")
_INSTEAD = {"tablectl.event.parked.v1": "-p", "tablectl.history.skipped.v1": "-s"}
"""What stands behind the id of an event that comes in place of another; only these have it."""


class Unreadable(Exception):
    """The request holds no lawful events; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Message:
    """One event of a request. ``body``: its own bytes."""

    id: str
    table: str
    epoch: str
    sequence: int
    type: str
    test: bool
    data: dict[str, Any]
    body: bytes


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _cut(text: str, at: int) -> tuple[Any, str, int]:
    """The JSON value that begins at ``at``, its text, and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"no JSON: {error}") from None
    return value, text[at:end], end


def _elements(text: str) -> list[tuple[Any, str]]:
    """The elements of a JSON array, each with its own text."""
    found: list[tuple[Any, str]] = []
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        raise Unreadable("a batch is a JSON array of events")
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]" or found:
        value, own, at = _cut(text, at)
        found.append((value, own))
        at = _skip(text, at)
        if text[at : at + 1] == "]":
            break
        if text[at : at + 1] != ",":
            raise Unreadable("no JSON: the array is broken off")
        at = _skip(text, at + 1)
    if _skip(text, at + 1) != len(text):
        raise Unreadable("no JSON: something follows the array")
    return found


def read(body: bytes, *, batch: bool) -> list[Message]:
    """The events of a request; a batch may be empty. Raises :class:`Unreadable`."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"no UTF-8: {error}") from None
    if batch:
        messages = [_message(value, own) for value, own in _elements(text)]
    else:
        start = _skip(text, 0)
        value, own, end = _cut(text, start)
        if _skip(text, end) != len(text):
            raise Unreadable("no JSON: something follows the event")
        messages = [_message(value, own)]
    if len(messages) > MOST_EVENTS:
        raise Unreadable(f"a batch holds at most {MOST_EVENTS} events, not {len(messages)}")
    for before, after in pairwise(messages):
        if (after.epoch, after.sequence) != (before.epoch, before.sequence + 1):
            raise Unreadable(f"a batch is in sequence: {after.id} cannot follow {before.id}")
    return messages


def _message(value: Any, own: str) -> Message:
    if not isinstance(value, dict):
        raise Unreadable("an event is a JSON object")
    event_id = value.get("id")
    parts = _ID.fullmatch(event_id) if isinstance(event_id, str) else None
    if parts is None:
        raise Unreadable(f"an event's id is TABLE-EPOCH-SEQUENCE, not {event_id!r:.80}")
    wants = {
        "specversion": "1.0",
        "source": f"/tables/{parts['table']}",
        "sequence": parts["sequence"],
        "epoch": parts["epoch"],
        "datacontenttype": "application/json",
    }
    for key, want in wants.items():
        if value.get(key) != want:
            raise Unreadable(f"{event_id}: {key} is {want!r}, not {value.get(key)!r:.80}")
    kind, data, test = value.get("type"), value.get("data"), value.get("tabletest", False)
    if not isinstance(kind, str) or not isinstance(data, dict) or not isinstance(test, bool):
        raise Unreadable(f"{event_id}: type is a text, data an object, tabletest true or false")
    if not kind.isprintable():  # half a character, which JSON can write, is no text for a database
        raise Unreadable(f"{event_id}: type is a name, not {kind!r:.80}")
    sequence = int(parts["sequence"])
    if sequence < 1 or parts["sequence"] != f"{sequence:012d}":
        raise Unreadable(f"{event_id}: a sequence is a number from 1, in twelve digits")
    if not kind.isprintable():  # a lone surrogate can be stored nowhere
        raise Unreadable(f"{event_id}: the type is no printable text")
    if parts["instead"] != _INSTEAD.get(kind):
        raise Unreadable(f"{event_id}: the id of {kind:.80} ends with {_INSTEAD.get(kind, 'its sequence')}")
    return Message(
        id=str(event_id),
        table=parts["table"],
        epoch=parts["epoch"],
        sequence=sequence,
        type=kind,
        test=test,
        data=data,
        body=own.encode(),
    )


def claimed(table: str, body: bytes) -> tuple[str, int] | None:
    """Epoch and sequence of the event of ``table`` that a message says it is, lawful or not."""
    try:
        parts = _ID.fullmatch(json.loads(body)["id"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    if parts is None or parts["table"] != table or not int(parts["sequence"]):
        return None
    return parts["epoch"], int(parts["sequence"])


def probe_history(message_id: str) -> tuple[str, str] | None:
    """Table and epoch a probe speaks for; None for ``tablectl check`` on a PC that has no journal yet."""
    parts = _PROBE.fullmatch(message_id)
    return None if parts is None else (parts["table"], parts["epoch"])
