"""What a request must look like: bounded in size, known fields, text without control characters."""

from __future__ import annotations

import json
import re
from typing import Any

from tablectl.table import Expect, Kind
from tablectl.table.inputs import COMMANDS
from tablectl.table.reasons import problem

TEXT = 512
"""The longest text of a field, in characters."""

MOST_EXPECTED = 10**12
"""The highest shoe, round or version that anybody has seen."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class BadRequest(Exception):
    """The request has no lawful form; the text says what is wrong."""


def parse_body(body: bytes, fields: frozenset[str]) -> dict[str, Any]:
    """A JSON object with an ``id`` and no other fields than these, its texts checked.

    Raises :class:`BadRequest`.
    """
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not JSON") from None
    if not isinstance(given, dict):
        raise BadRequest("the body is not a JSON object")
    unknown = set(given) - fields
    if unknown:
        raise BadRequest(f"unknown field {min(unknown)!r}"[:100])
    for field in ("id", "command", "person", "pin", "reason"):
        value = given.get(field)
        if value is not None and not (isinstance(value, str) and _clean(value)):
            raise BadRequest(f"{field}: text of at most {TEXT} characters without control characters")
    if not given.get("id"):
        raise BadRequest("id: a fresh text for every command is needed")
    return given


def parse_command(body: bytes) -> tuple[dict[str, Any], Kind]:
    """The checked fields of a command. Raises :class:`BadRequest`."""
    given = parse_body(body, frozenset({"id", "command", "args", "expect", "person", "pin", "reason"}))
    args = given.get("args") or {}
    if not isinstance(args, dict) or len(args) > 8:
        raise BadRequest("args: an object of texts")
    if not all(isinstance(v, str) and _clean(v) and _clean(k) for k, v in args.items()):
        raise BadRequest("args: texts without control characters")
    if given.get("command") not in {kind.value for kind in COMMANDS}:
        raise BadRequest(f"unknown command {str(given.get('command'))[:40]!r}")
    given["args"] = args
    return given, Kind(given["command"])


def parse_order(body: bytes, *, with_event: bool = False) -> dict[str, Any]:
    """The checked fields of a pit boss's order that is not the table's; ``event`` where it names one.

    Raises :class:`BadRequest`.
    """
    fields = {"id", "person", "pin", "reason"} | ({"event"} if with_event else set())
    given = parse_body(body, frozenset(fields))
    if wrong := problem(given.get("reason") or ""):
        raise BadRequest(f"reason: {wrong}")
    if with_event:
        event = given.get("event")
        if not isinstance(event, int) or isinstance(event, bool) or not 0 < event < 10**12:
            raise BadRequest("event: the number of an event")
        given["args"] = {"event": str(event)}
    return given


def _clean(text: str) -> bool:
    return len(text) <= TEXT and not _CONTROL.search(text)


def parse_expect(given: object) -> Expect:
    """``{"shoe", "round", "version"}`` as the table knows it. Raises :class:`BadRequest`."""
    if given is None:
        return Expect()
    if not isinstance(given, dict) or set(given) - {"shoe", "round", "version"}:
        raise BadRequest("expect: shoe, round and version")
    for value in given.values():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_EXPECTED:
            raise BadRequest(f"expect: whole numbers up to {MOST_EXPECTED}")
    if ("round" in given) != ("shoe" in given):
        raise BadRequest("expect: a round is named with its shoe, and a shoe with its round")
    where = f"{given['shoe']}/{given['round']}" if "round" in given else None
    return Expect(where, given.get("version"))


def parse_number(text: str, least: int, most: int) -> int | None:
    """A decimal number in that range; None for anything else, however long."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most))):
        return None
    return int(text) if least <= int(text) <= most else None
