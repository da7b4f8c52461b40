"""How the delivery stands, as ``/v1/delivery`` and ``tablectl delivery status`` tell it.

The same keys at every moment: without a game server, while a secret is missing, before the journal is read,
and while it runs. A monitor, or a pit boss at three in the morning, never has to guess what is not said.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tablectl.clock import SECOND
from tablectl.delivery import ways
from tablectl.delivery.outbox import Link, Outbox, Trouble


def standing(
    url: str,
    link: Link,
    box: Outbox,
    trouble: Trouble | None,
    parked: Iterable[int],
    never: str = "",
    again: int | None = None,
) -> dict[str, Any]:
    """While it runs. ``halted``: nothing is sent until ``delivery retry``; ``parked``: events that were.

    ``never``: what would never be sent if it went on with ``delivery start-at``. ``again``: as of
    :func:`tries_in`.
    """
    return {
        "url": url,
        "good": link.good,
        "why": link.reason,
        "newest": box.head,
        "acked": box.acked,
        "owed": box.owed,
        "trouble": None if trouble is None else trouble.text,
        "way_out": None if trouble is None else _way_out(trouble),
        "halted": trouble is not None and trouble.halts,
        "refused": None if trouble is None else trouble.refused,
        "wanted": None if trouble is None else trouble.wanted,
        "kept_from": box.kept_from,
        "never_sent": never or None,
        "parked": sorted(parked),
        "last_error": box.last_error,
        "tries_in": again,
    }


def not_begun(
    url: str | None, why: str, newest: int, acked: int, *, way_out: str | None = None
) -> dict[str, Any]:
    """Before anything is sent. ``url`` None: nobody is owed anything. ``way_out``: a person must act."""
    return {
        "url": url,
        "good": False,
        "why": why,
        "newest": newest,
        "acked": acked,
        "owed": 0 if url is None else newest - acked,
        "trouble": None if way_out is None else why,
        "way_out": way_out,
        "halted": False,
        "refused": None,
        "wanted": None,
        "kept_from": None,
        "never_sent": None,
        "parked": None,
        "last_error": None,
        "tries_in": None,
    }


def tries_in(box: Outbox, now: int) -> int | None:
    """Seconds until what failed is tried again, as the policy waits; None: all is well, or halted."""
    halted = box.trouble is not None and box.trouble.halts
    if halted or box.last_error is None:
        return None
    return max(0, -(-(box.not_before - now) // SECOND))


def _way_out(trouble: Trouble) -> str:
    return trouble.way if trouble.halts else f"{trouble.way} {ways.AGAIN}".strip()
