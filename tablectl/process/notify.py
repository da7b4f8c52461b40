"""Telling systemd how the service is: READY, RELOADING, STATUS, WATCHDOG, STOPPING (sd_notify(3))."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping
from typing import Any


def notify(text: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Send ``text`` to the service manager; False when there is none or it does not listen."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address or address[0] not in "/@":
        return False
    if address[0] == "@":
        address = "\0" + address[1:]
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.settimeout(0.2)
        sock.sendto(text.encode(), address)
        return True
    return False


MOST = 300
"""Characters of a status: a line of ``systemctl status``."""


def status(view: Mapping[str, Any]) -> str:
    """A table in one line for ``systemctl status``, from what ``/v1/state`` tells.

    Nothing in it ticks, so that it changes only when something does.
    """
    where = view["where"].strip("-/")
    parts = [f"{view['phase']} {where}".strip()]
    if view["holds"]:
        parts.append("HOLD " + ", ".join(hold["code"] for hold in view["holds"]))
    if view["journal"]["why"]:
        parts.append(f"JOURNAL: {short(view['journal']['why'])}")
    parts.append(f"scanner {view['scanner']['health']}")
    link = view["link"]
    parts.append("link good" if link["good"] else f"link bad ({short(link['why'])})")
    return short("; ".join(parts), MOST)


def short(text: str, most: int = 60) -> str:
    """``text`` on one line, cut to ``most`` characters."""
    line = "".join(c if c.isprintable() else " " for c in "; ".join(text.splitlines()))
    return line if len(line) <= most else line[: most - 1] + "…"
