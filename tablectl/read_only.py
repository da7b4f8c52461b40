"""The read-only address: metrics and health over TCP, for a monitor that is not on this machine's socket.

It takes no command and shows nothing that ``/v1/state`` hides.  It never keeps a table from playing: an
address that cannot be had is an alert.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

MOST_CONNECTIONS = 32
"""Connections at once; the oldest that asks for nothing makes room."""

IDLE = 15.0
"""Seconds a connection may stay without a request, or with half of one."""

LOOK = 1.0
"""How often (s) that is looked at."""

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
}


class ReadOnly:
    """Listens on ``host``, ``port`` (0: any). ``alarm(code, text)`` is told where that fails."""

    def __init__(
        self,
        host: str,
        port: int,
        routes: Callable[[], Sequence[web.RouteDef]],
        alarm: Callable[[str, str], None],
    ) -> None:
        self._host = host
        self._port = port
        self._routes = routes
        self._alarm = alarm
        self._runner: web.AppRunner | None = None
        self._serving: set[web.RequestHandler] = set()
        self._quiet: dict[web.RequestHandler, float] = {}

    @property
    def port(self) -> int | None:
        """Where it listens; None: it does not."""
        addresses: list[Any] = [] if self._runner is None else self._runner.addresses
        return addresses[0][1] if addresses else None

    async def start(self) -> None:
        """Bind and listen, on the service loop."""
        app = web.Application(client_max_size=1024, middlewares=[self._serve])
        app.add_routes(self._routes())
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5, keepalive_timeout=IDLE)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            self._alarm(
                "read-only-address",
                f"{self._host}:{self._port} cannot be opened ({why}): monitors do not see this table.",
            )

    async def stop(self) -> None:
        """Close it."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def watch(self) -> None:
        """For ever: cut off who keeps a connection and asks for nothing. aiohttp itself lets them stay."""
        while True:
            await asyncio.sleep(LOOK)
            self._look(asyncio.get_running_loop().time())

    def _look(self, now: float) -> None:
        server = None if self._runner is None else self._runner.server
        if server is None:
            return
        there = list(server.connections)
        self._quiet = {one: self._quiet.get(one, now) for one in there if one not in self._serving}
        oldest = sorted(self._quiet, key=self._quiet.__getitem__)
        for one in oldest:
            crowded = len(there) > MOST_CONNECTIONS
            if (crowded or now - self._quiet[one] > IDLE) and one.transport is not None:
                one.transport.abort()
                there.remove(one)

    @web.middleware
    async def _serve(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if len(self._serving) >= MOST_CONNECTIONS:
            return web.Response(status=503, text="too many at once\n", headers={"Retry-After": "5"})
        self._serving.add(request.protocol)
        try:
            response = await handler(request)
        finally:
            self._serving.discard(request.protocol)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response
