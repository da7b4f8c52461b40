"""Which of the usual ports of a TCP serial server answer at one address. No network is searched."""

from __future__ import annotations

import errno
import selectors
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

SECONDS = 3.0
"""For all ports together: they are tried at the same time."""

_MOXA_REAL_COM = "MOXA in Real COM mode: set the port to TCP server mode"
PORTS: dict[int, str] = {
    **{4000 + number: f"MOXA NPort, TCP server mode, port {number}" for number in range(1, 17)},
    **{949 + number: _MOXA_REAL_COM for number in range(1, 17)},
    23: "Telnet: no raw mode, unless the server is set so",
    2101: "Digi, raw socket, port 1",
    8899: "USR and HF serial servers",
    10001: "Lantronix and Perle, port 1",
}
"""Ports and what usually listens there, by the makers' manuals."""

USABLE = frozenset(port for port, what in PORTS.items() if what != _MOXA_REAL_COM and port != 23)
"""Those that give the bytes as they are."""


@dataclass(frozen=True, slots=True)
class Answers:
    """``open``: ports that take connections. ``refused``: ports that said no. ``why``: nothing answered."""

    open: tuple[int, ...]
    refused: tuple[int, ...]
    why: str = ""


def try_ports(
    host: IPv4Address | IPv6Address, ports: tuple[int, ...] = tuple(PORTS), seconds: float = SECONDS
) -> Answers:
    """Connect to each port and hang up at once."""
    family = socket.AF_INET if host.version == 4 else socket.AF_INET6
    opened, refused, why = [], [], "nothing answers: check its power, its network cable and the address"
    with selectors.DefaultSelector() as waiting:
        for port in ports:
            sock = socket.socket(family, socket.SOCK_STREAM)
            sock.setblocking(False)
            waiting.register(sock, selectors.EVENT_WRITE, port)
            fault = sock.connect_ex((str(host), port))
            if fault not in (0, errno.EINPROGRESS):
                why = _words(fault)
                _done(waiting, sock)
                if fault == errno.ECONNREFUSED:
                    refused.append(port)
        end = time.monotonic() + seconds
        while waiting.get_map() and (left := end - time.monotonic()) > 0:
            for key, _ in waiting.select(left):
                sock = key.fileobj  # type: ignore[assignment]
                fault = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if fault == 0:
                    opened.append(int(key.data))
                elif fault == errno.ECONNREFUSED:
                    refused.append(int(key.data))
                else:
                    why = _words(fault)
                _done(waiting, sock)
        for key in list(waiting.get_map().values()):
            _done(waiting, key.fileobj)  # type: ignore[arg-type]
    return Answers(tuple(sorted(opened)), tuple(sorted(refused)), "" if opened or refused else why)


def _done(waiting: selectors.BaseSelector, sock: socket.socket) -> None:
    waiting.unregister(sock)
    with suppress(OSError):
        sock.close()


def _words(fault: int) -> str:
    match fault:
        case errno.ENETUNREACH | errno.EHOSTUNREACH:
            return "there is no way to that address: check the network cable and this machine's own address"
        case _:
            return f"{errno.errorcode.get(fault, fault)}: check its power, its network cable and the address"
