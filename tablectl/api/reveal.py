"""The form of a request to see every face of a round (``recall --reveal``)."""

from __future__ import annotations

from typing import Any

from tablectl.api.forms import BadRequest, parse_body
from tablectl.table.reasons import problem

REVEAL = "recall --reveal"
"""The command as it is written down."""

_FIELDS = frozenset({"id", "person", "pin", "reason", "shoe", "round"})
_MOST = 10**9


def parse_reveal(body: bytes) -> dict[str, Any]:
    """The checked fields. Raises :class:`BadRequest`."""
    given = parse_body(body, _FIELDS)
    for field in ("shoe", "round"):
        value = given.get(field)
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value < _MOST:
            raise BadRequest(f"{field}: a whole number from 1 on")
    why = problem(given.get("reason") or "")
    if why is not None:
        raise BadRequest(why)
    return given
