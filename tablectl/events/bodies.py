"""Events as bytes: the CloudEvent that is published, and the private JSON of a row.

``None`` means absent and is left out; 0 and false are kept.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from tablectl.clock import Instant, iso
from tablectl.events.base import Event
from tablectl.events.types import TYPES


def _private_names(cls: type[Event]) -> frozenset[str]:
    return frozenset(f.name for f in dataclasses.fields(cls) if f.metadata.get("private"))


_FIELDS = {cls: tuple(f.name for f in dataclasses.fields(cls)) for cls in TYPES.values()}
_PRIVATE = {cls: _private_names(cls) for cls in TYPES.values()}


_SIMPLE = frozenset({str, int, float, bool, type(None)})


def _plain(value: Any) -> Any:
    """JSON values of a field; dataclasses lose what is None."""
    if type(value) in _SIMPLE:
        return value
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
        return {name: _plain(v) for name, v in fields if v is not None}
    return value


def public_data(event: Event) -> dict[str, Any]:
    """The ``data`` object of a public event: its public fields, without those that are None.

    A name that Python keeps for itself ends in an underscore there, not here.
    """
    cls = type(event)
    values = ((n, getattr(event, n)) for n in _FIELDS[cls] if n not in _PRIVATE[cls])
    return {name.removesuffix("_"): _plain(value) for name, value in values if value is not None}


def private_data(event: Event) -> dict[str, Any]:
    """What only the journal keeps: the private fields, or all of a private event."""
    cls = type(event)
    names = _PRIVATE[cls] if cls.PUBLIC else _FIELDS[cls]
    values = ((n, getattr(event, n)) for n in _FIELDS[cls] if n in names)
    return {name: _plain(value) for name, value in values if value is not None}


def event_id(table: str, epoch: str, sequence: int) -> str:
    """The id of the public event ``sequence`` of one journal, for example ``T07-4f2a91-000000000123``."""
    return f"{table}-{epoch}-{sequence:012d}"


_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


def _dump(value: object) -> bytes:
    return _encode(value).encode("ascii")


def public_body(
    event: Event, *, table: str, epoch: str, sequence: int, at: Instant, test: bool, suffix: str = ""
) -> bytes:
    """The CloudEvents 1.0 JSON of a public event, made once and stored (contract, section 2).

    ``suffix``: of the id, for an event that goes out in place of the one with this sequence.
    """
    where = "table"
    if event.shoe is not None:
        where = f"shoe/{event.shoe}" + (f"/round/{event.round}" if event.round is not None else "")
    envelope: dict[str, Any] = {
        "specversion": "1.0",
        "id": event_id(table, epoch, sequence) + suffix,
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
