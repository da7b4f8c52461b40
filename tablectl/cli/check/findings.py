"""What a check finds: a thing, its grade and a sentence."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

OK, WARN, FAIL = "ok", "warn", "FAIL"

SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """``grade``: ok, warn (it plays, but) or FAIL (it could not play)."""

    what: str
    grade: str
    text: str


def reach(what: str, address: str) -> Finding:
    """Whether something takes connections at ``tcp://host:port``."""
    try:
        parts = urlsplit(address)
        with socket.create_connection((parts.hostname or "", parts.port or 0), SECONDS):
            return Finding(what, OK, f"{address} takes connections")
    except (OSError, ValueError) as fault:
        return Finding(what, FAIL, f"{address}: {fault}")
