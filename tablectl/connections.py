"""Connections to an HTTP server of ours that ask for nothing: cut off, so that they never fill the process.

aiohttp lets a peer keep a connection with half a request, or none, for ever; a thousand of them take the
descriptors that a scanner needs.
"""

from __future__ import annotations

import asyncio

from aiohttp import web
from aiohttp.typedefs import Handler

LOOK = 1.0
"""How often (s) they are looked at."""


class Connections:
    """``most`` at once: the oldest that asks for nothing makes room; ``idle`` (s): how long one may be so."""

    def __init__(self, most: int, idle: float) -> None:
        self._most = most
        self._idle = idle
        self._serving: set[web.RequestHandler] = set()
        self._quiet: dict[web.RequestHandler, float] = {}

    @web.middleware
    async def serve(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """To be the application's first middleware."""
        if len(self._serving) >= self._most:
            return web.Response(status=503, text="too many at once\n", headers={"Retry-After": "5"})
        self._serving.add(request.protocol)
        try:
            return await handler(request)
        finally:
            self._serving.discard(request.protocol)

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
