"""Connections to an HTTP server of ours that ask for nothing: cut off, so that they never fill the process.

aiohttp lets a peer keep a connection with half a request, or none, for ever; a thousand of them take the
descriptors that a scanner needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from aiohttp import web
from aiohttp.typedefs import Handler

LOOK = 1.0
"""How often (s) they are looked at."""
BODY_WAIT = 5.0
"""How long (s) the rest of a request may take."""
TRUSTED = 5.0
"""Where room is made, who was answered before counts as so much (s) less quiet than who never asked."""


def _text(status: int, words: str) -> web.Response:
    return web.Response(status=status, text=f"{words}\n")


class Connections:
    """``most`` at once: the oldest that asks for nothing makes room; ``idle`` (s): how long one may be so.

    ``kept``: so many of them are for orders (``is_order``: a POST) only, that whoever asks keeps out nobody
    who acts. ``who`` names whom a request is from: he has ``share`` of them for his questions, and as many
    for his orders. ``header`` (s): how long one may be without its first whole request; ``body`` (s): and
    with half a body. ``answer`` makes a refusal.
    """

    def __init__(
        self,
        most: int,
        idle: float,
        *,
        kept: int = 0,
        share: int | None = None,
        who: Callable[[web.Request], object] = lambda _: None,
        is_order: Callable[[web.Request], bool] = lambda request: request.method == "POST",
        header: float | None = None,
        body: float | None = None,
        answer: Callable[[int, str], web.Response] = _text,
    ) -> None:
        self._most = most
        self._idle = idle
        self._kept = kept
        self._share = float("inf") if share is None else share
        self._who = who
        self._is_order = is_order
        self._header = idle if header is None else header
        self._body = body
        self._answer = answer
        self._serving: dict[web.RequestHandler, tuple[object, bool]] = {}
        self._quiet: dict[web.RequestHandler, float] = {}
        self._half: dict[web.RequestHandler, float] = {}
        self._answered: set[web.RequestHandler] = set()

    @web.middleware
    async def serve(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """To be the application's first middleware."""
        protocol, order = request.protocol, self._is_order(request)
        mine = self._who(request), order
        most = self._most if order else self._most - self._kept
        if not self._has_room(mine, most):
            full = self._answer(503, "too many at once")
            full.headers["Retry-After"] = "5"
            return full
        self._serving[protocol] = mine
        try:
            if request.can_read_body:
                self._half[protocol] = _now()
                wait = BODY_WAIT if self._body is None else self._body
                try:
                    await asyncio.wait_for(request.read(), wait)  # kept for the handler
                except TimeoutError:
                    return self._broken_off(408, f"the request did not arrive within {wait:g} s")
                except (web.RequestPayloadError, ConnectionError):
                    return self._broken_off(400, "the body breaks off, or is not in the encoding it names")
                finally:
                    self._half.pop(protocol, None)
            return await handler(request)
        finally:
            self._serving.pop(protocol, None)
            self._quiet[protocol] = _now()
            self._answered.add(protocol)

    def _has_room(self, mine: tuple[object, bool], most: int) -> bool:
        if len(self._serving) < min(most, self._share):
            return True  # without a look at each of thousands
        # Whoever hung up loses its transport at once; its handler only notices later.
        live = [of for one, of in self._serving.items() if one.transport is not None]
        if live.count(mine) >= self._share:
            return False
        return len(live) < most or (mine[1] and self._cut_off(list(self._half)))

    def _broken_off(self, status: int, words: str) -> web.Response:
        answer = self._answer(status, words)
        answer.force_close()
        return answer

    def factory(self, runner: web.AppRunner) -> Callable[[], asyncio.BaseProtocol]:
        """For ``loop.create_server``: bounds what is open at the door, where a second is too long to wait."""

        def made() -> asyncio.BaseProtocol:
            assert runner.server is not None
            there = runner.server.connections
            if len(there) >= self._most and not self._make_room(there):
                return _Full()
            one = runner.server()
            self._quiet[one] = _now()
            return one

        return made

    def _make_room(self, there: Iterable[web.RequestHandler]) -> bool:
        """Whether there is a place: the oldest that asks for nothing, or has half a body, gives its own."""
        live = [one for one in there if one.transport is not None and not one.transport.is_closing()]
        if len(live) < self._most:
            return True
        return self._cut_off([one for one in live if one not in self._serving or one in self._half])

    def _cut_off(self, may_go: list[web.RequestHandler]) -> bool:
        """Whether one of them was there to be cut off; the oldest is."""
        oldest = min((one for one in may_go if one.transport is not None), key=self._worth, default=None)
        if oldest is None or oldest.transport is None:
            return False
        oldest.transport.abort()
        return True

    def _worth(self, one: web.RequestHandler) -> float:
        """Since when it asks for nothing; the smallest goes first."""
        if one in self._half:
            return self._half[one]
        return self._quiet.get(one, _now()) + (TRUSTED if one in self._answered else 0.0)

    async def watch(self, runner: web.AppRunner) -> None:
        """For ever: look after the connections of ``runner``."""
        while True:
            await asyncio.sleep(LOOK)
            if runner.server is not None:
                self._look(runner.server.connections, _now())

    def _look(self, there: list[web.RequestHandler], now: float) -> None:
        self._quiet = {one: self._quiet.get(one, now) for one in there if one not in self._serving}
        self._answered.intersection_update(there)
        left = len(there)
        for one in sorted(self._quiet, key=self._quiet.__getitem__):
            most = self._idle if one in self._answered else self._header
            if (left > self._most or now - self._quiet[one] > most) and one.transport is not None:
                one.transport.abort()
                left -= 1


class _Full(asyncio.Protocol):
    """There is no place: every other connection is being served."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(
            b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n"
            b"Content-Length: 0\r\nConnection: close\r\n\r\n"
        )
        transport.close()


def _now() -> float:
    return asyncio.get_running_loop().time()
