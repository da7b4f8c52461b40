"""A proxy between a controller and its game server that does everything a network and a bad server can do.

It sits on the wire (TCP), understands just enough HTTP to tell requests apart, and chooses what happens to
each one by a seeded generator, so that a run can be repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable

REQUEST_BYTES = 1 << 20

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Chaos:
    """``share``: of the requests to which something happens. ``deadline``: the sender's own, in seconds."""

    def __init__(
        self, upstream: tuple[str, int], seed: int, *, share: float = 0.5, deadline: float = 0.15
    ) -> None:
        self._upstream = upstream
        self._chance = random.Random(seed)
        self._share = share
        self._deadline = deadline
        self.done: Counter[str] = Counter()
        """What happened, and how often."""
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.quiet = False
        """Whether everything is let through from now on."""

    async def start(self) -> int:
        """Listen; the port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while True:
                request = await _message(reader)
                name = self._choose()
                self.done[name] += 1
                if not await WAYS[name](self, request, writer):
                    break
        except (OSError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(OSError):
                writer.close()

    def _choose(self) -> str:
        if self.quiet or self._chance.random() >= self._share:
            return "through"
        names = [name for name in WAYS if name != "through"]
        return self._chance.choices(names, [0.3 if name in SLOW else 1.0 for name in names])[0]

    async def _ask(self, request: bytes) -> bytes:
        """The server's own answer."""
        reader, writer = await asyncio.open_connection(*self._upstream)
        try:
            writer.write(request)
            return await _message(reader)
        finally:
            writer.close()

    # --- what may happen; True: the connection stays ------------------------------------------------------

    async def through(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        writer.write(await self._ask(request))
        await writer.drain()
        return True

    async def latency(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(self._chance.uniform(0, self._deadline / 2))
        return await self.through(request, writer)

    async def reset_before(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """The server never sees it."""
        _reset(writer)
        return False

    async def half_request(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """The server sees a part of it."""
        _, upstream = await asyncio.open_connection(*self._upstream)
        upstream.write(request[: self._chance.randrange(1, len(request))])
        await upstream.drain()
        upstream.close()
        _reset(writer)
        return False

    async def lost_answer(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Committed, and nobody is told."""
        await self._ask(request)
        _reset(writer)
        return False

    async def half_answer(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        answer = await self._ask(request)
        writer.write(answer[: self._chance.randrange(1, len(answer))])
        await writer.drain()
        return False

    async def half_open(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Committed or not, and silence."""
        if self._chance.random() < 0.5:
            await self._ask(request)
        await asyncio.sleep(2 * self._deadline)
        return False

    async def late_answer(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """The right answer, when nobody waits for it any more."""
        answer = await self._ask(request)
        await asyncio.sleep(1.2 * self._deadline)
        writer.write(answer)
        await writer.drain()
        return False

    async def trickle(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        answer = await self._ask(request)
        for byte in answer:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(2 * self._deadline / len(answer))
        return True

    async def corrupt(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """A byte of the body is another one: it may still be JSON."""
        head, _, body = (await self._ask(request)).partition(b"\r\n\r\n")
        at = self._chance.randrange(len(body))
        spoiled = body[:at] + bytes([self._chance.randrange(256)]) + body[at + 1 :]
        writer.write(head + b"\r\n\r\n" + spoiled)
        await writer.drain()
        return True

    async def wrong_next(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Too low, too high, or no number at all."""
        answer = await self._ask(request)
        true = json.loads(answer.partition(b"\r\n\r\n")[2]).get("next", 1)
        wrong = self._chance.choice([true - 5, true - 1, true + 1, true + 7, 1, 0, -1, 10**9, "x", None, 1.5])
        writer.write(_answer(self._chance.choice([200, 409]), {"next": wrong}))
        await writer.drain()
        return True

    async def too_many(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        wait = self._chance.choice(["0", "1", "3", "Mon, 30 Nov 2020 00:00:00 GMT", "soon"])
        writer.write(_answer(429, {"error": "slow down"}, f"Retry-After: {wait}\r\n"))
        await writer.drain()
        return True

    async def refused(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """Something between answers for the server, which may have taken it."""
        if self._chance.random() < 0.5:
            await self._ask(request)
        status = self._chance.choice([301, 400, 401, 403, 404, 408, 413, 422, 425, 500, 502, 503, 504])
        writer.write(_answer(status, {"error": "no"}))
        await writer.drain()
        return True

    async def portal(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """A page to log in."""
        body = b"<html>Log in</html>"
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        return True

    async def twice(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """The network delivers it two times."""
        await self._ask(request)
        return await self.through(request, writer)

    async def at_once(self, request: bytes, writer: asyncio.StreamWriter) -> bool:
        """And at the same time."""
        answers = await asyncio.gather(self._ask(request), self._ask(request))
        writer.write(self._chance.choice(answers))
        await writer.drain()
        return True


Way = Callable[[Chaos, bytes, asyncio.StreamWriter], Awaitable[bool]]

WAYS: dict[str, Way] = {
    name: getattr(Chaos, name)
    for name in (
        "through", "latency", "reset_before", "half_request", "lost_answer", "half_answer", "half_open",
        "late_answer", "trickle", "corrupt", "wrong_next", "too_many", "refused", "portal", "twice",
        "at_once",
    )
}  # fmt: skip
SLOW = frozenset({"half_open", "late_answer", "trickle"})


async def _message(reader: asyncio.StreamReader) -> bytes:
    """One request or answer with a Content-Length."""
    head = await reader.readuntil(b"\r\n\r\n")
    found = _LENGTH.search(head)
    size = int(found[1]) if found else 0
    if size > REQUEST_BYTES:
        raise ValueError(size)
    return head + await reader.readexactly(size)


def _answer(status: int, payload: object, headers: str = "") -> bytes:
    body = json.dumps(payload).encode()
    return f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
