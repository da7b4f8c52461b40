"""Places where the daemon meets the outside world, and a death at any one of them.

In a child process of a test everything that leaves the process is counted as it is reached: a statement
to the journal, what is told after the commit, an answer to a command, an event on a stream, a step of a
request to the game server or to NATS.  At the one that the test named the process kills itself as the
kernel would: no handler runs, nothing is flushed.  The product knows nothing of this: :func:`install` wraps
the libraries under it, so that a changed journal or delivery is still seen.

The game server's own places are those of :mod:`tests.crash.taking`.
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import aiohttp
from aiohttp import web
from nats.aio.client import Client
from nats.aio.transport import TcpTransport

from tablectl.runtime import Runtime

Arm = tuple[str, int]
"""Kind of a boundary, and the how-manieth of its kind since the process started (from 1)."""

Via = Literal["http", "nats"]
"""The way to the game server."""

_STATEMENTS = {"BEGIN": "begin", "INSERT": "insert", "UPDATE": "cursor", "COMMIT": "commit"}

_ASKED = ("publish", "ask", "look")
"""What goes over NATS: an event to the stream, a question to the game server, one to JetStream."""

_SENDING: dict[Via, tuple[str, ...]] = {
    "http": tuple(f"request:{when}" for when in ("start", "headers", "written", "answered")),
    "nats": tuple(f"{name}:{when}" for name in _ASKED for when in ("before", "written", "answered")),
}

KINDS: dict[Via, tuple[str, ...]] = {
    via: (
        *("make:before", "make:written", "make:after"),
        *(f"{name}:{when}" for name in _STATEMENTS.values() for when in ("before", "after")),
        "insert:row",
        *("durable:before", "durable:after"),
        *("answer:before", "answer:after", "stream:before", "stream:after"),
        *sending,
        *("acked:before", "acked:after"),
    )
    for via, sending in _SENDING.items()
}
"""Every kind of boundary of the daemon, in the order in which an event passes them."""


class Boundaries:
    """Counts the boundaries reached, and dies at ``arm``."""

    def __init__(self, arm: Arm | None) -> None:
        self.counts: Counter[str] = Counter()
        self._arm = arm
        self._lock = threading.Lock()

    def reach(self, kind: str, last: Callable[[], object] = lambda: None) -> None:
        """The process is at a boundary of this kind now. ``last``: what it does if it dies here."""
        with self._lock:
            self.counts[kind] += 1
            if self._arm == (kind, self.counts[kind]):
                last()
                os.kill(os.getpid(), signal.SIGKILL)


def install(at: Boundaries) -> None:
    """Wrap what the daemon of this process will use."""
    _journal(at)
    _told(at)
    _requests(at)
    _nats(at)


def _wrapped(owner: Any, name: str, before: Callable[[], None], after: Callable[[], None]) -> None:
    plain = getattr(owner, name)

    def call(*args: Any, **options: Any) -> Any:
        before()
        found = plain(*args, **options)
        after()
        return found

    setattr(owner, name, call)


def _journal(at: Boundaries) -> None:
    class Watched(sqlite3.Connection):
        """A connection whose writing statements are boundaries."""

        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            kind = _STATEMENTS.get(sql.split(None, 1)[0])
            if kind is None:
                return super().execute(sql, parameters)
            at.reach(f"{kind}:before")
            found = super().execute(sql, parameters)
            at.reach(f"{kind}:after")
            return found

        def executemany(self, sql: str, parameters: Iterable[Any], /) -> sqlite3.Cursor:
            at.reach("insert:before")
            found = super().executemany(sql, self._each(parameters))
            at.reach("insert:after")
            return found

        def _each(self, rows: Iterable[Any]) -> Iterator[Any]:
            for row in rows:
                yield row
                at.reach("insert:row")  # it is in, the next one is not

        def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
            at.reach("make:before")
            found = super().executescript(sql_script)
            at.reach("make:written")
            return found

    sqlite3.connect = partial(sqlite3.connect, factory=Watched)  # type: ignore[assignment]
    _wrapped(Path, "rename", lambda: at.reach("make:before"), lambda: at.reach("make:after"))


def _told(at: Boundaries) -> None:
    _wrapped(Runtime, "_durable", lambda: at.reach("durable:before"), lambda: at.reach("durable:after"))
    _wrapped(Runtime, "_set_acked", lambda: at.reach("acked:before"), lambda: at.reach("acked:after"))
    write_eof, write = web.Response.write_eof, web.StreamResponse.write

    async def answer(self: web.Response, data: bytes = b"") -> None:
        ours = self._req is not None and self._req.path == "/v1/commands"
        if ours:
            at.reach("answer:before")
        await write_eof(self, data)
        if ours:
            at.reach("answer:after")

    async def stream(self: web.StreamResponse, data: bytes) -> None:
        at.reach("stream:before")
        await write(self, data)
        at.reach("stream:after")

    web.Response.write_eof = answer  # type: ignore[method-assign]
    web.StreamResponse.write = stream  # type: ignore[method-assign,assignment]


def _requests(at: Boundaries) -> None:
    def reached(kind: str) -> Callable[..., Any]:
        async def reach(*_: object) -> None:
            at.reach(kind)

        return reach

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(reached("request:start"))
    trace.on_request_headers_sent.append(reached("request:headers"))
    trace.on_request_chunk_sent.append(reached("request:written"))
    trace.on_request_end.append(reached("request:answered"))  # the server has committed, nothing is read
    plain = aiohttp.ClientSession.__init__
    aiohttp.ClientSession.__init__ = lambda self, *a, **o: plain(  # type: ignore[method-assign]
        self, *a, **{"trace_configs": [trace], **o}
    )


def _nats(at: Boundaries) -> None:
    request: Callable[..., Any] = Client.request
    writelines: Callable[..., Any] = TcpTransport.writelines

    async def asked(self: Client, subject: str, *given: Any, **options: Any) -> Any:
        at.reach(f"{_asked(subject)}:before")
        found = await request(self, subject, *given, **options)
        at.reach(f"{_asked(subject)}:answered")  # it is stored, nobody here has read so
        return found

    def written(self: TcpTransport, payload: list[bytes]) -> None:
        writelines(self, payload)
        for command in payload:
            if found := re.match(rb"H?PUB (\S+) ", command):
                at.reach(f"{_asked(found[1].decode())}:written")  # the kernel has it, no answer is here

    Client.request = asked  # type: ignore[method-assign]
    TcpTransport.writelines = written  # type: ignore[method-assign]


def _asked(subject: str) -> str:
    return {"events": "publish", "link": "ask"}.get(subject.rsplit(".", 1)[-1], "look")
