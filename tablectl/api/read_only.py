"""The read-only address: the display, metrics and health over TCP, for who is not on this machine's socket.

It takes no command and shows nothing that ``/v1/state`` hides.  It never keeps a table from playing: an
address that cannot be had is an alert.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler

from tablectl.connections import Connections
from tablectl.display.feed import MOST_PAGES

MOST = MOST_PAGES + 32
"""Connections at once: however many pages are open, who watches the table gets in."""

IDLE = 15.0
"""Seconds one may stay without a request, or with half of one."""

HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'",
}


@web.middleware
async def _careful(request: web.Request, handler: Handler) -> web.StreamResponse:
    response = await handler(request)
    if not response.prepared:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)  # the display's page may run its own code
    return response


class ReadOnly:
    """Listens on ``host``, ``port``. ``alarm(code, text)`` is told where that fails."""

    def __init__(
        self, host: str, port: int, routes: Sequence[web.RouteDef], alarm: Callable[[str, str], None]
    ) -> None:
        self._host = host
        self._port = port
        self._alarm = alarm
        self._connections = Connections(MOST, IDLE)
        app = web.Application(client_max_size=1024, middlewares=[self._connections.serve, _careful])
        app.add_routes(routes)
        options: dict[str, Any] = {"access_log": None, "shutdown_timeout": 0.5, "keepalive_timeout": IDLE}
        self._runner = web.AppRunner(app, **options)

    async def start(self) -> None:
        """Bind and listen, on the service loop."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            self._alarm(
                "read-only-address",
                f"{self._host}:{self._port} cannot be opened ({why}): monitors do not see this table.",
            )

    async def watch(self) -> None:
        """For ever: who keeps a connection and asks for nothing is cut off."""
        await self._connections.watch(self._runner)

    async def stop(self) -> None:
        """Close it."""
        await self._runner.cleanup()
