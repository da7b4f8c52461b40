"""A link to the game server with moods: it forwards, and now and then everything goes wrong that can.

An HTTP server between daemon and game server, in a thread. What it forwards it forwards byte for byte; in
a mood it delays, drops, lies, or lets the game server take the events and says something else.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Awaitable, Callable

import aiohttp
from aiohttp import web

MOODS = (
    "late",
    "lost-answer",
    "lost-request",
    "reset-answer",
    "silent",
    "trickle",
    "html",
    "garbage",
    "redirect",
    "busy",
    "broken",
    "unknown-table",
    "go-back",
    "ahead",
    "refused",
)
SILENCE = 3.0
"""How long (s) a silent server keeps a connection; longer than the daemon waits."""


class MoodyLink:
    """Listens on :attr:`url` and forwards to ``target``. ``mood`` may be set from any thread; "" is none."""

    def __init__(self, target: str, port: int, seed: int) -> None:
        self.mood = ""
        self.struck: Counter[str] = Counter()
        self.url = f"http://127.0.0.1:{port}"
        self._target = target
        self._port = port
        self._chance = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._ready, self._stop = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="moody link", daemon=True)

    def start(self) -> None:
        """Listen."""
        self._thread.start()
        assert self._ready.wait(10)

    def stop(self) -> None:
        """End."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        app = web.Application(client_max_size=1 << 20)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self._port).start()
        async with aiohttp.ClientSession() as self._session:
            self._ready.set()
            await self._stop.wait()
            await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body, mood = await request.read(), self.mood
        if mood:
            self.struck[mood] += 1

        async def forward() -> tuple[int, bytes]:
            headers = {
                k: v for k, v in request.headers.items() if k.lower() not in ("host", "content-length")
            }
            url = self._target + request.path_qs
            async with self._session.request(request.method, url, data=body, headers=headers) as answer:
                return answer.status, await answer.read()

        try:
            return await self._answer(request, mood, forward)
        except aiohttp.ClientError:
            _drop(request)
            raise web.HTTPBadGateway from None

    async def _answer(
        self, request: web.Request, mood: str, forward: Callable[[], Awaitable[tuple[int, bytes]]]
    ) -> web.StreamResponse:
        match mood:
            case "late":
                await asyncio.sleep(self._chance.uniform(0.05, 0.8))
            case "lost-request":
                _drop(request)
                return web.Response(status=502)
            case "lost-answer" | "reset-answer":
                await forward()
                _drop(request)
                return web.Response(status=502)
            case "silent":
                if self._chance.random() < 0.5:
                    await forward()
                await asyncio.sleep(SILENCE)
            case "trickle":
                return await self._trickle(request, *await forward())
            case "html":
                await forward()
                return web.Response(text="<html>Welcome to the portal</html>", content_type="text/html")
            case "garbage":
                return web.Response(body=self._chance.randbytes(200), content_type="application/json")
            case "redirect":
                return web.Response(status=302, headers={"Location": self.url + "/elsewhere"})
            case "busy":
                return web.Response(status=429, headers={"Retry-After": "1"})
            case "broken":
                if self._chance.random() < 0.5:
                    await forward()
                return web.Response(status=self._chance.choice((500, 502, 503, 504)))
            case "unknown-table":
                return web.json_response({"error": "no such table"}, status=404)
            case "refused":
                return web.json_response({"error": "not this event"}, status=422)
            case "go-back" | "ahead":
                return self._lie(mood, *await forward())
            case _:
                pass
        status, answer = await forward()
        return web.Response(status=status, body=answer, content_type="application/json")

    async def _trickle(self, request: web.Request, status: int, answer: bytes) -> web.StreamResponse:
        response = web.StreamResponse(status=status, headers={"Content-Type": "application/json"})
        await response.prepare(request)
        for at in range(len(answer)):
            await response.write(answer[at : at + 1])
            await asyncio.sleep(0.1)
        return response

    def _lie(self, mood: str, status: int, answer: bytes) -> web.Response:
        """Another next than the server's own."""
        wanted = int(json.loads(answer).get("next", 1))
        lie = max(1, wanted - self._chance.randint(1, 30)) if mood == "go-back" else wanted + 1_000
        return web.json_response({"next": lie}, status=status)


def _drop(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
