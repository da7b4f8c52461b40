"""Trying the beepers of a table at work: no command of the table, nothing is written down, no PIN."""

from __future__ import annotations

import asyncio
import json

from aiohttp import web

from tablectl.service import Published
from tablectl.signals import PATTERNS, Signals
from tablectl.table import Phase


class SignalRoute:
    """``POST /v1/signal`` with ``{"pattern": "close"}``. Runs on the service loop."""

    def __init__(self, published: Published, signals: Signals) -> None:
        self._published = published
        self._signals = signals
        self._one = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """Where it is found."""
        return [web.post("/v1/signal", self._signal)]

    async def _signal(self, request: web.Request) -> web.Response:
        """The answer comes when the pattern is over: ``{"pattern", "beepers": {NAME: why not, or ""}}``."""
        try:
            given = json.loads(await request.read())
        except (ValueError, RecursionError):
            return _error(400, "the body is not JSON")
        pattern = given.get("pattern") if isinstance(given, dict) and set(given) == {"pattern"} else None
        if pattern not in PATTERNS:
            return _error(400, f"pattern: one of {', '.join(PATTERNS)}")
        if self._one.locked():
            return _error(409, "another signal is being tried; wait for its end")
        async with self._one:
            # Now, not before: a beep while bets are taken means that no more are.
            if self._published.state.phase is Phase.BETTING:
                return _error(
                    409, "betting is open, and a beep means no more bets; try again after the close"
                )
            told = await asyncio.to_thread(self._signals.try_out, pattern)
        return web.json_response(
            {"pattern": pattern, "beepers": {name: why or "" for name, why in told.items()}}
        )


def _error(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)
