"""Connections to an HTTP server of ours that ask for nothing: cut off, so that they never fill the process.

aiohttp lets a peer keep a connection with half a request, or none, for ever; a thousand of them take the
descriptors that a scanner needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler

LOOK = 1.0
"""How often (s) they are looked at."""
BODY_WAIT = 5.0
"""How long (s) the rest of a request may take."""


class Connections:
    """``most`` at once: the oldest that asks for nothing makes room; ``idle`` (s): how long one may be so.

    ``kept``: so many of them are for orders (POST) only, that whoever asks keeps out nobody who acts. ``who``
    names whom a request is from: he has ``share`` of them for his questions, and as many for his orders.
    """

    def __init__(
        self,
        most: int,
        idle: float,
        *,
        kept: int = 0,
        share: int | None = None,
        who: Callable[[web.Request], object] = lambda _: None,
    ) -> None:
        self._most = most
        self._idle = idle
        self._kept = kept
        self._share = most if share is None else share
        self._who = who
        self._serving: dict[web.RequestHandler, tuple[object, bool]] = {}
        self._quiet: dict[web.RequestHandler, float] = {}

    @web.middleware
    async def serve(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """To be the application's first middleware."""
        order = request.method == "POST"
        mine = self._who(request), order
        # Whoever hung up loses its transport at once; its handler only notices later.
        live = [of for one, of in self._serving.items() if one.transport is not None]
        most = self._most if order else self._most - self._kept
        if len(live) >= most or live.count(mine) >= self._share:
            return web.Response(status=503, text="too many at once\n", headers={"Retry-After": "5"})
        self._serving[request.protocol] = mine
        try:
            if request.can_read_body:
                try:
                    await asyncio.wait_for(request.read(), BODY_WAIT)  # kept for the handler
                except (web.RequestPayloadError, ConnectionError, TimeoutError):
                    return _broken_off()
            return await handler(request)
        finally:
            self._serving.pop(request.protocol, None)
            self._quiet[request.protocol] = asyncio.get_running_loop().time()

    async def watch(self, runner: web.AppRunner) -> None:
        """For ever: look after the connections of ``runner``."""
        while True:
            await asyncio.sleep(LOOK)
            if runner.server is not None:
                self._look(list(runner.server.connections), asyncio.get_running_loop().time())

    def _look(self, there: list[web.RequestHandler], now: float) -> None:
        self._quiet = {one: self._quiet.get(one, now) for one in there if one not in self._serving}
        left = len(there)
        for one in sorted(self._quiet, key=self._quiet.__getitem__):
            if (left > self._most or now - self._quiet[one] > self._idle) and one.transport is not None:
                one.transport.abort()
                left -= 1


def _broken_off() -> web.Response:
    answer = web.Response(status=400, text="the body breaks off, or is not in the encoding it names\n")
    answer.force_close()
    return answer
