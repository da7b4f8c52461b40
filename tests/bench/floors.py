"""The floors: what a card's way could cost at the very least on this machine, measured beside it.

``Relay``: a thread reads a pseudo-terminal with pyserial and passes the bytes on to a socket.
``Commit``: one row into a SQLite file with ``synchronous=FULL``, on the journal's file system.
``Probe``: one signed empty batch to the game server and its answer, over a connection kept open.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import pty
import socket
import sqlite3
import threading
import time
import tty
from pathlib import Path
from urllib.parse import urlsplit

import serial

from tablectl.delivery.signing import parse_secrets, sign

FRAME = bytes.fromhex("05314481B8033446")
"""A card of an Angel Eye shoe."""
ROW_BYTES = 900
"""About what a dealt card takes in the journal."""


def boot() -> int:
    """CLOCK_BOOTTIME in ns: the clock the controller stamps with."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def raw_pty() -> tuple[int, int, str]:
    """Master, slave and the slave's path; no echo, no line editing."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    return master, slave, os.ttyname(slave)


class Relay:
    """Bytes in at a pseudo-terminal, out at a socket; a thread with pyserial between them."""

    def __init__(self) -> None:
        self._master, self._slave, path = raw_pty()
        self._in, self._out = socket.socketpair()
        self._port = serial.Serial(path, 9600, timeout=None, exclusive=True)
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(OSError, serial.SerialException):
            while data := self._port.read(max(1, self._port.in_waiting)):
                self._in.sendall(data)

    def measure(self, count: int, pause: float) -> list[float]:
        """Ns from the write to the arrival at the socket's other end, ``count`` times."""
        found = []
        for _ in range(count):
            time.sleep(pause)
            left = len(FRAME)
            begun = boot()
            os.write(self._master, FRAME)
            while left:
                left -= len(self._out.recv(left))
            found.append(float(boot() - begun))
        return found

    def close(self) -> None:
        """End the thread."""
        self._port.cancel_read()
        self._thread.join(2)
        self._port.close()
        for fd in (self._master, self._slave):
            os.close(fd)
        self._in.close()
        self._out.close()


class Commit:
    """A SQLite file like the journal's, with one table and no index."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("CREATE TABLE rows (row INTEGER PRIMARY KEY, body BLOB NOT NULL)")

    def measure(self, count: int, pause: float) -> list[float]:
        """Ns of one transaction with one row, ``count`` times."""
        found = []
        for _ in range(count):
            time.sleep(pause)
            body = os.urandom(ROW_BYTES)
            begun = boot()
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("INSERT INTO rows (body) VALUES (?)", (body,))
            self._db.execute("COMMIT")
            found.append(float(boot() - begun))
        return found

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class Probe:
    """The standard library's HTTP client against the game server."""

    def __init__(self, url: str, secret: str) -> None:
        parts = urlsplit(url)
        self._path = parts.path
        self._keys = parse_secrets([secret])
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=5)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def measure(self, count: int, pause: float) -> list[float]:
        """Ns from the request to the whole answer, ``count`` times."""
        found = []
        for _ in range(count):
            time.sleep(pause)
            headers = sign(self._keys, "floor-probe", int(time.time()), b"[]")
            headers["Content-Type"] = "application/cloudevents-batch+json"
            begun = boot()
            self._connection.request("POST", self._path, b"[]", headers)
            response = self._connection.getresponse()
            body = response.read()
            found.append(float(boot() - begun))
            if response.status != 200 or "next" not in json.loads(body):
                raise RuntimeError(f"the game server answers the probe with {response.status}: {body!r}")
        return found

    def close(self) -> None:
        """Hang up."""
        self._connection.close()
