"""``/v1/raw``: the technician's tap as server-sent events, one JSON object each (:mod:`tablectl.reader.tap`).

The first is the ``header``, and once a second comes a ``state`` with the reader's counters. The bytes show
burn faces and cards that lie face down, so while a shoe is in play a pit boss asks (POST, with PIN and
reason) and that is written down before; without one anybody who may use the socket looks (GET). A tap ends,
with an ``end``, when a shoe comes into play that it was not opened for.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable

from aiohttp import web

from tablectl.api.commands import Commands, error, peer, record_of
from tablectl.api.forms import BadRequest, parse_order
from tablectl.clock import SECOND, Instant
from tablectl.reader.tap import Entry, Source

RAW = "scan --raw"
"""The command as it is written down."""

MOST_LISTENERS = 4
EVERY = 1.0
"""How often (s) the counters are told."""
STALLED = 10.0
"""A listener that takes no byte for so long (s) is cut off."""

SHOE_IN_PLAY = (
    "a shoe is in play, and its bytes show burn cards and cards face down: a pit boss asks, "
    'with --as NAME and --reason CODE: WORDS, for example "device: dead shoe"'
)


class RawRoutes:
    """The tap's handlers, on the service loop. ``shoe``: the number of the shoe in play, if one is."""

    def __init__(
        self, source: Source, commands: Commands, shoe: Callable[[], int | None], clock: Callable[[], Instant]
    ) -> None:
        self._source = source
        self._commands = commands
        self._shoe = shoe
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        """Where they are found."""
        return [web.get("/v1/raw", self._free), web.post("/v1/raw", self._supervised)]

    async def _free(self, request: web.Request) -> web.StreamResponse:
        return error(403, SHOE_IN_PLAY) if self._shoe() is not None else await self._stream(request, None)

    async def _supervised(self, request: web.Request) -> web.StreamResponse:
        try:
            given = parse_order(await request.read())
        except BadRequest as bad:
            return error(400, str(bad))
        shoe = self._shoe()
        given["args"] = {} if shoe is None else {"shoe": str(shoe)}
        what = "the scanner's bytes are shown" + ("" if shoe is None else f", shoe {shoe} in play")
        asked = record_of(given, RAW, peer(request)[1], what, accepted=True)
        refused = await self._commands.written_down(asked, given.get("pin"))
        return await self._stream(request, shoe) if refused is None else refused

    async def _stream(self, request: web.Request, shoe: int | None) -> web.StreamResponse:
        tap = self._source.tap
        if len(tap) >= MOST_LISTENERS:
            return error(503, f"{MOST_LISTENERS} listen already; end one of them first")
        response = stream()
        there, wake = bell()
        started = self._clock()
        listener = tap.add(started.boot, wake)
        try:
            await response.prepare(request)
            await write(response, self._source.header(started, shoe))
            told = 0
            while self._shoe() in (None, shoe):
                there.clear()
                for entry in listener.take():
                    if self._shoe() not in (None, shoe):
                        break
                    await write(response, entry)
                now = self._clock().boot
                if now >= told + int(EVERY * SECOND):
                    told = now
                    await write(response, self._source.state(now, started.boot))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(there.wait(), EVERY / 2)
            await write(response, {"kind": "end", "text": SHOE_IN_PLAY})
        except (ConnectionError, TimeoutError):
            if request.transport is not None:
                request.transport.abort()
        finally:
            tap.remove(listener)
        return response


def stream() -> web.StreamResponse:
    """An answer of events, one record each; to be prepared."""
    return web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})


def bell() -> tuple[asyncio.Event, Callable[[], None]]:
    """An event of the running loop, and how any thread sets it."""
    loop, there = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(there.set)

    return there, wake


async def write(response: web.StreamResponse, entry: Entry) -> None:
    """Send one record. Raises :class:`TimeoutError` when it is not taken, :class:`ConnectionError`."""
    chunk = b"data: " + json.dumps(entry).encode() + b"\n\n"
    await asyncio.wait_for(response.write(chunk), STALLED)
