"""Talking to a table's daemon: HTTP over its unix socket, in bounded time, with no trust in what comes back.

On the standard library alone, because quick commands import neither aiohttp nor pydantic.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from tablectl.timely import Deadline

SECONDS = 15.0
"""For one request, all in all: `bets open` waits 2 for the link, a commit up to 10 for a slow disk."""

MOST_ANSWER = 32 * 2**20
MOST_LINE = 4 * 2**20
"""Bytes of an answer and of one line of an event stream."""

IDLE_SECONDS = 60.0
"""The daemon says something on a stream more often than this."""


class NotReachable(Exception):
    """The daemon does not answer; the text names the socket and the way out. It may hold a peer's bytes."""


class Interrupted(NotReachable):
    """The daemon was reached, but no whole answer came: whether it acted is not known."""


class NoStream(Interrupted):
    """The daemon was reached, but answered with a refusal instead of a stream."""

    def __init__(self, path: str, status: int, answer: Mapping[str, Any]) -> None:
        super().__init__(f"{path}: no event stream, but HTTP {status}")
        self.status = status
        self.answer = answer


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


_WAYS_OUT: dict[type[OSError], str] = {
    FileNotFoundError: "there is no such socket; is the daemon running (systemctl status 'tablectl@*')?",
    ConnectionRefusedError: "nobody listens there: it is down; systemctl status 'tablectl@*' says why",
    PermissionError: "you may not use it; join the group tablectl",
    BlockingIOError: "the daemon takes no more connections; try again",
    TimeoutError: "the daemon takes no connection; try again",
}


CROWDED_SECONDS = 2.0
"""How long a place in the daemon's line is tried for."""


class Client:
    """One daemon. Every request opens its own connection."""

    def __init__(self, path: str | Path, seconds: float = SECONDS) -> None:
        self.path = str(path)
        self._seconds = seconds

    def get(self, resource: str) -> tuple[int, dict[str, Any]]:
        """Status and JSON object of a resource. Raises :class:`NotReachable`."""
        return self._ask("GET", resource, None)

    def post(self, resource: str, body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and JSON object that answer ``body``. Raises :class:`NotReachable`."""
        return self._ask("POST", resource, json.dumps(body).encode())

    def state(self, newer: int | None = None) -> dict[str, Any]:
        """The committed state; with ``newer``, once a row newer than that is committed, or after a while."""
        status, body = self.get("/v1/state" + ("" if newer is None else f"?newer={newer}"))
        if status != 200:
            raise Interrupted(f"{self.path}: no state, but HTTP {status}")
        return body

    def command(self, command: Mapping[str, Any]) -> tuple[bool, str]:
        """Send a command: whether it was accepted, and the answer in words."""
        status, body = self.post("/v1/commands", command)
        return status == 200, str(body.get("answer") or body.get("error") or status)

    def _connect(self, seconds: float) -> _Connection:
        until = time.monotonic() + min(seconds, CROWDED_SECONDS)
        connection = _Connection(self.path, seconds)
        try:
            while True:
                try:
                    connection.connect()
                    return connection
                except BlockingIOError:  # others stand in line: for a moment, a hold has time
                    if time.monotonic() > until:
                        raise
                    connection.close()
                    time.sleep(0.01)
        except (OSError, ValueError) as fault:
            connection.close()
            why = next((text for kind, text in _WAYS_OUT.items() if isinstance(fault, kind)), str(fault))
            raise NotReachable(f"{self.path}: {why}") from None

    def _ask(self, method: str, resource: str, body: bytes | None) -> tuple[int, dict[str, Any]]:
        with closing(self._connect(self._seconds)) as connection:
            try:
                headers = {} if body is None else {"Content-Type": "application/json"}
                with Deadline(connection.sock, self._seconds):
                    connection.request(method, resource, body, headers)
                    response = connection.getresponse()
                    answer = response.read(MOST_ANSWER + 1)
            except TimeoutError:
                raise Interrupted(f"{self.path}: no answer within {self._seconds:g} s") from None
            except (OSError, http.client.HTTPException, ValueError) as fault:
                raise Interrupted(f"{self.path}: no usable answer: {_words(fault)}") from None
        if len(answer) > MOST_ANSWER:
            raise Interrupted(f"{self.path}: the answer is longer than {MOST_ANSWER} bytes")
        if response.length:
            raise Interrupted(f"{self.path}: the answer breaks off")
        return response.status, self._object(answer)

    def _object(self, answer: bytes) -> dict[str, Any]:
        try:
            value = json.loads(answer)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Interrupted(f"{self.path}: what answers there is not tablectl")
        return value

    def events(self, resource: str, body: Mapping[str, Any] | None = None) -> Iterator[str]:
        """The data of each server-sent event, as it comes; ends when the daemon ends it. ``body``: posted.

        Raises :class:`NotReachable`, :class:`NoStream` for a refusal, and :class:`Interrupted` for a stream
        that breaks off.
        """
        with closing(self._connect(self._seconds)) as connection:
            line = connection.sock
            try:
                headers = {"Accept": "text/event-stream"}
                if body is None:
                    connection.request("GET", resource, headers=headers)
                else:
                    headers["Content-Type"] = "application/json"
                    connection.request("POST", resource, json.dumps(body).encode(), headers)
                response = connection.getresponse()
                if response.status != 200:
                    raise NoStream(self.path, response.status, _refusal(response.read(MOST_LINE)))
                line.settimeout(IDLE_SECONDS)
                yield from _data(response)
            except TimeoutError:
                raise Interrupted(f"{self.path}: silent for {IDLE_SECONDS:g} s") from None
            except (OSError, http.client.HTTPException, ValueError) as fault:
                raise Interrupted(f"{self.path}: {_words(fault)}") from None


def _refusal(answer: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _words(fault: Exception) -> str:
    return str(fault)[:200] or type(fault).__name__


def _data(response: http.client.HTTPResponse) -> Iterator[str]:
    lines: list[str] = []
    size = 0
    while line := response.readline(MOST_LINE + 1):
        size += len(line)
        if size > MOST_LINE:
            raise ValueError(f"an event is longer than {MOST_LINE} bytes")
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.startswith("data:"):
            lines.append(text[5:].removeprefix(" "))
        elif not text:
            if lines:
                yield "\n".join(lines)
            lines, size = [], 0
