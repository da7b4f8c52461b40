"""Where the reference game server can die: around each write and commit, and in the middle of an answer.

As :mod:`tests.crash.boundaries`, in the game server's process.  Every kind begins with :data:`OURS`.
Between two writes of one transaction there is one place, so only what comes before each is named.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from typing import Any

from aiohttp import web
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from tests.crash.boundaries import Boundaries, Via

OURS = "server-"

_WRITES = {
    "BEGIN": "begin:before",
    "INSERT": "write:before",
    "REPLACE": "write:before",
    "DELETE": "write:before",
    "COMMIT": "commit:before",
}

_TELLING: dict[Via, tuple[str, ...]] = {
    "http": ("answer:before", "answer:middle", "answer:after"),
    "nats": tuple(f"{name}:{when}" for name in ("consumer", "ack", "told") for when in ("before", "after")),
}

KINDS: dict[Via, tuple[str, ...]] = {
    via: (
        *(
            f"{OURS}{name}"
            for name in ("make:before", "make:after", *dict.fromkeys(_WRITES.values()), "commit:after")
        ),
        *(f"{OURS}{name}" for name in telling),
    )
    for via, telling in _TELLING.items()
}
"""Every kind, in the order in which an event passes them."""


def install(at: Boundaries) -> None:
    """Wrap what the game server of this process will use."""
    _store(at)
    _answers(at)
    for owner, name, kind in (
        (JetStreamContext, "add_consumer", "consumer"),
        (Msg, "ack", "ack"),
        (Msg, "respond", "told"),
    ):
        _around(at, owner, name, OURS + kind)


def _store(at: Boundaries) -> None:
    class Watched(sqlite3.Connection):
        """The store's connection."""

        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            word = sql.split(None, 1)[0]
            if word in _WRITES:
                at.reach(OURS + _WRITES[word])
            found = super().execute(sql, parameters)
            if word == "COMMIT":
                at.reach(OURS + "commit:after")
            return found

        def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
            at.reach(OURS + "make:before")
            found = super().executescript(sql_script)
            at.reach(OURS + "make:after")
            return found

    sqlite3.connect = partial(sqlite3.connect, factory=Watched)  # type: ignore[assignment]


def _answers(at: Boundaries) -> None:
    write_eof = web.Response.write_eof

    async def answer(self: web.Response, data: bytes = b"") -> None:
        if self._req is None or self._req.method != "POST":
            await write_eof(self, data)
            return
        at.reach(OURS + "answer:before")
        at.reach(OURS + "answer:middle", partial(_half, self))
        await write_eof(self, data)
        at.reach(OURS + "answer:after")

    web.Response.write_eof = answer  # type: ignore[method-assign]


def _half(response: web.Response) -> None:
    """The head of the answer and half of its body are on the way."""
    assert isinstance(response.body, bytes)
    request = response._req
    assert request is not None and request.transport is not None
    head = f"HTTP/1.1 {response.status} {response.reason}\r\nContent-Type: {response.content_type}\r\n"
    whole = f"{head}Content-Length: {len(response.body)}\r\n\r\n".encode()
    request.transport.write(whole + response.body[: len(response.body) // 2])


def _around(at: Boundaries, owner: Any, name: str, kind: str) -> None:
    plain = getattr(owner, name)

    async def call(*args: Any, **options: Any) -> Any:
        at.reach(f"{kind}:before")
        found = await plain(*args, **options)
        at.reach(f"{kind}:after")
        return found

    setattr(owner, name, call)
