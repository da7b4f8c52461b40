"""Telling systemd how the service is: READY, STATUS, WATCHDOG, STOPPING (sd_notify(3))."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping


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
