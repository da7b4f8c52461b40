"""A small client of a table's local interface, on the standard library alone.

One connection, kept open; made again when the controller went away.  Quick commands use it because it
imports neither aiohttp nor pydantic.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from pathlib import Path
from typing import Any

ANSWER_BYTES = 4 << 20


class NotReachable(Exception):
    """The controller does not answer; the text names the socket and why."""


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


class LocalClient:
    """Requests to one table's socket. Not for use by two threads at once.

    Every method raises :class:`NotReachable` when there is no answer within ``timeout`` seconds.
    """

    def __init__(self, path: Path, timeout: float = 15.0) -> None:
        self.path = path
        self._timeout = timeout
        self._connection: _UnixConnection | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def request(self, method: str, target: str, body: object = None) -> tuple[int, Any]:
        """Status and JSON body. Never repeats by itself: a command carries its own id for that."""
        payload = None if body is None else json.dumps(body).encode()
        try:
            if self._connection is None:
                self._connection = _UnixConnection(self.path, self._timeout)
            self._connection.request(
                method, target, payload, {"Content-Type": "application/json"} if payload else {}
            )
            response = self._connection.getresponse()
            raw = response.read(ANSWER_BYTES + 1)
            if len(raw) > ANSWER_BYTES:
                raise NotReachable(f"{self.path}: the answer is longer than {ANSWER_BYTES} bytes")
            return response.status, json.loads(raw)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise NotReachable(f"{self.path}: {str(error) or type(error).__name__}") from None
        except BaseException:
            with contextlib.suppress(OSError):
                self.close()
            raise

    def state(self, newer: int | None = None) -> dict[str, Any]:
        """The committed state; with ``newer``, once a row newer than that is committed."""
        status, body = self.request("GET", "/v1/state" + ("" if newer is None else f"?newer={newer}"))
        if status != 200 or not isinstance(body, dict):
            raise NotReachable(f"{self.path}: no state ({status})")
        return body

    def command(self, command: dict[str, Any]) -> tuple[bool, str]:
        """Whether it was accepted, and the answer in words."""
        status, body = self.request("POST", "/v1/commands", command)
        if not isinstance(body, dict):
            raise NotReachable(f"{self.path}: no answer ({status})")
        return status == 200, str(body.get("answer") or body.get("error") or status)
