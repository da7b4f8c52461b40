"""A serial port at the far end of a network: a TCP serial server such as a MOXA NPort.

Such a server stays "connected" when its cable is out, so keepalive probes tell (after 30 s, then
three 10 s apart); pyserial's own socket link cannot set them. While something written (a beep, an
acknowledgement) is unanswered the kernel sends that again and no probes, for a quarter of an hour unless
TCP_USER_TIMEOUT bounds it (tcp(7)). One reader only: a server that is set to one connection refuses the
second.
"""

from __future__ import annotations

import errno
import re
import socket
from contextlib import suppress
from ipaddress import ip_address

from tablectl.scanner import LinkFault, LinkRefused

CONNECT_SECONDS = 3.0
WRITE_SECONDS = 1.0
KEEP_IDLE, KEEP_INTERVAL, KEEP_COUNT = 30, 10, 3
UNANSWERED_MS = (KEEP_IDLE + KEEP_INTERVAL * KEEP_COUNT) * 1000
"""What was written may stay unacknowledged as long as a silent line is believed."""

_READ_AT_MOST = 4096
_ADDRESS = re.compile(r"tcp://(\[[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]|[A-Za-z0-9][\w.-]*):([0-9]{1,5})/?", re.ASCII)


def parse_address(device: str) -> tuple[str, int]:
    """Host and port of ``tcp://host:port``; :class:`ValueError` if it is anything else."""
    found = _ADDRESS.fullmatch(device)
    host, port = (found[1].strip("[]"), int(found[2])) if found else ("", 0)
    if not 1 <= port <= 65535 or not _is_host(host):
        raise ValueError(f"device: {device!r} is not tcp://host:port, for example tcp://192.168.127.254:4001")
    return host, port


def _is_host(text: str) -> bool:
    """A name, or a whole address: the system would take 192.168.1 for 192.168.0.1."""
    if ":" not in text and text.strip("0123456789."):
        return True
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


class TcpLink:
    """An open connection to a serial server. Raises :class:`~tablectl.scanner.LinkFault`."""

    def __init__(self, device: str) -> None:
        host, port = parse_address(device)
        self.identity = device
        try:
            self._socket = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
        except OSError as fault:
            raise _not_connected(device, fault) from fault
        try:
            if self._socket.getsockname() == self._socket.getpeername():
                # A retry towards a port of this machine can meet itself: TCP's simultaneous open.
                raise ConnectionRefusedError(errno.ECONNREFUSED, "nobody listens")
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEP_IDLE)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, KEEP_INTERVAL)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, KEEP_COUNT)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNANSWERED_MS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.setblocking(False)
            self.where = "{}:{}".format(*self._socket.getpeername()[:2])
        except OSError as fault:
            self.close()
            raise _not_connected(device, fault) from fault

    def fileno(self) -> int:
        """The descriptor to wait on; -1 once closed."""
        return self._socket.fileno()

    def read(self) -> bytes:
        """What has arrived, without waiting; ``b""`` if nothing has."""
        try:
            data = self._socket.recv(_READ_AT_MOST)
        except (BlockingIOError, InterruptedError):
            return b""
        except (OSError, ValueError) as fault:
            raise _lost(fault) from fault
        if not data:
            raise LinkFault(
                "scanner lost: the serial server closed the connection; check its power and cable"
            )
        return data

    def write(self, data: bytes) -> None:
        """Send all of ``data``, within a second."""
        try:
            self._socket.settimeout(WRITE_SECONDS)
            self._socket.sendall(data)
            self._socket.setblocking(False)
        except (OSError, ValueError) as fault:
            raise _lost(fault) from fault

    def close(self) -> None:
        """Hang up; never raises."""
        with suppress(OSError):
            self._socket.close()


def _lost(fault: BaseException) -> LinkFault:
    match fault:
        case OSError(errno=errno.ETIMEDOUT | errno.EHOSTUNREACH | errno.ENETUNREACH):
            return LinkFault(
                "scanner lost: the serial server does not answer; check the network cable and its power"
            )
        case _:
            return LinkFault(f"scanner lost: {fault}; check the serial server and its network cable")


def _not_connected(device: str, fault: OSError) -> LinkFault:
    match fault:
        case OSError(errno=errno.ECONNREFUSED):
            return LinkRefused(
                f"{device} refused: another reader may be connected, and only one may read a scanner;"
                " or the serial server is not in TCP server mode on this port"
            )
        case socket.gaierror():
            return LinkFault(
                f"{device}: no such host; write its address in numbers, or check the name server"
            )
        case TimeoutError() | OSError(errno=errno.EHOSTUNREACH | errno.ENETUNREACH):
            return LinkFault(f"{device} does not answer: check the serial server's power and network cable")
        case _:
            return LinkFault(f"{device} cannot be reached: {fault}")
