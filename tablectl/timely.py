"""One HTTP exchange within one time, all in all: a socket's own begins anew with every byte that drips.

For commands, on the standard library alone: what is quick imports no aiohttp.
"""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Mapping


class Deadline:
    """Cuts a connection off when its time is up, however slowly something still comes; in a handshake too."""

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._struck = False
        # Of its own: encryption takes the descriptor of the one it is given, and an encrypted one has no dup.
        self._socket = socket.socket(fileno=os.dup(sock.fileno()))
        self._timer = threading.Timer(max(0.0, seconds), self._strike)
        self._timer.daemon = True

    def __enter__(self) -> Deadline:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Raises :class:`TimeoutError` if it struck, whatever that looked like: it may be a short answer."""
        self._timer.cancel()
        self._socket.close()
        if self._struck and (kind is None or issubclass(kind, Exception)):
            raise TimeoutError("it took too long")

    def _strike(self) -> None:
        self._struck = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def connect(
    host: str, port: int, seconds: float, context: ssl.SSLContext | None = None
) -> http.client.HTTPConnection:
    """An open connection, encrypted by ``context``. Raises :class:`OSError`."""
    end = time.monotonic() + seconds
    made = http.client.HTTPConnection(host, port, timeout=seconds)
    raw = socket.create_connection((host, port), seconds)
    try:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with Deadline(raw, end - time.monotonic()):
            made.sock = raw if context is None else context.wrap_socket(raw, server_hostname=host)
    except BaseException:
        (made.sock or raw).close()
        raise
    if context is not None:
        made.default_port = http.client.HTTPS_PORT  # so that the host is named without it
    return made


def exchange(
    connection: http.client.HTTPConnection,
    method: str,
    resource: str,
    body: bytes | None,
    headers: Mapping[str, str],
    *,
    seconds: float,
    most: int,
) -> tuple[int, bytes]:
    """Status and at most so many bytes of the answer.

    Raises :class:`TimeoutError` after ``seconds``, or :class:`OSError`, :class:`http.client.HTTPException`.
    """
    with Deadline(connection.sock, seconds):
        connection.request(method, resource, body, dict(headers))
        response = connection.getresponse()
        return response.status, response.read(most)
