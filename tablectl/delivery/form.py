"""What every side of the delivery agrees on: media types, an event's id, how long an answer may be.

Its sender, the reference game server, the conformance kit and ``tablectl check`` take it from here.
"""

from __future__ import annotations

import re

SINGLE_TYPE = "application/cloudevents+json"
BATCH_TYPE = "application/cloudevents-batch+json"

ANSWER_BYTES = 64 << 10
"""Longest answer of a game server that is read."""

EVENT_ID = re.compile(
    r"(?P<table>[A-Za-z0-9_-]{1,16})-(?P<epoch>[0-9a-f]{6})-(?P<sequence>[0-9]{12,18})(?P<instead>-[ps])?"
)
"""The id of an event; ``instead``: it goes out in place of another."""


def words_of(answer: object) -> str:
    """The server's own words for people in its answer (JSON), short and printable; empty: it says none."""
    said = (
        next((answer[k] for k in ("error", "message", "detail") if k in answer), "")
        if isinstance(answer, dict)
        else ""
    )
    return re.sub(r"[^\x20-\x7e\xa1-\u1fff]", "", said)[:200] if isinstance(said, str) else ""
