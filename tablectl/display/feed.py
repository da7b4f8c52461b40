"""The display over HTTP: the page, what it shows (``/v1/display``), and how that changes (``…/events``).

Made once for each commit and sent as the same bytes to every page.  A page is a reader only and may be slow,
asleep or gone: it has no queue, gets the newest when it takes something again, and is cut off when it takes
nothing.  A connection begins with everything, so there is nothing to catch up with.  Server-sent events:

``now``     milliseconds of the table's own clock, at the moment of sending; also the sign of life
``boards``  :func:`tablectl.display.model.boards_part`, when it has changed; null while it is not known
``table``   :func:`tablectl.display.model.table_part`

The boards are read from the journal whenever a round was settled or corrected, and kept until then.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tablectl.clock import Instant
from tablectl.display.model import MILLISECOND, About, boards_key, boards_part, shoe_shown, table_part
from tablectl.display.page_files import HEADERS, PageFile, page_files
from tablectl.display.rounds import Played, settled_rounds
from tablectl.events import ShoeStarted
from tablectl.journal.reader import JournalReader
from tablectl.journal.rows import JournalFault, decode_row
from tablectl.service import Published
from tablectl.table import State

MOST_PAGES = 128
"""Pages that are open at the same time."""
ALIVE = 2.0
"""How often (s) a page hears that the table is there; it says that it is lost after three times that."""
STALLED = 10.0
"""A page that takes nothing for so long (s) is cut off."""
PATIENCE = 0.25
"""How long (s) the table waits for its boards, before it is shown without."""

_UNREADABLE = (JournalFault, sqlite3.Error, OSError, ValueError, KeyError, TypeError)


def read_played(reader: JournalReader, shoe: int, upto: int) -> Played:
    """The rounds of a shoe as they stand after row ``upto``. Raises what reading a journal may raise."""
    started = reader.shoe_row(shoe, ShoeStarted.TYPE)
    if started is None:
        return Played()
    event = decode_row(started)[0]
    adopted = (event.adopted or {}) if isinstance(event, ShoeStarted) else {}
    rows = reader.settling_rows(shoe, started.row, upto)
    return Played(settled_rounds(decode_row(row)[0] for row in rows), int(adopted.get("rounds", 0)))


class Display:
    """Of one table, on the service loop. ``read(shoe, row)``: :func:`read_played`, off the loop."""

    def __init__(
        self,
        about: About,
        published: Published,
        read: Callable[[int, int], Played],
        clock: Callable[[], Instant],
        log: Any,
    ) -> None:
        self._about = about
        self._published = published
        self._read = read
        self._clock = clock
        self._log = log
        self._files, self._edition = page_files()
        self._pages: list[web.Request] = []
        self._played: Played | None = None
        self._key: tuple[object, ...] | None = None
        self._reading: tuple[tuple[object, ...], asyncio.Task[Played]] | None = None
        self._table = self._boards = b"null"
        self._made_of: tuple[Played | None, bool] = None, False
        self._fault = ""
        self._shows = False
        self._changed = asyncio.Event()

    # --- what is shown -----------------------------------------------------------------------------------

    async def run(self) -> None:
        """For ever: follow the table. Nothing that goes wrong here is a matter of the table."""
        while True:
            changed = self._published.changed
            try:
                await self._follow(self._published.state)
            except Exception as error:  # noqa: BLE001 a page that cannot be drawn must not stop a table
                self._tell("the display cannot be drawn", repr(error))
                self._shows = False
                self._hang_up()
            waiting = [asyncio.ensure_future(changed.wait())]
            if self._reading is not None:
                waiting.append(self._reading[1])  # type: ignore[arg-type]
            try:
                await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waiting[0].cancel()

    async def _follow(self, state: State) -> None:
        shoe = shoe_shown(state)
        key = boards_key(state)
        if self._reading is not None and self._reading[1].done():
            self._take()
        if key != self._key and self._reading is None:
            if shoe is None:
                self._played, self._key = None, key
            else:
                reading = asyncio.ensure_future(asyncio.to_thread(self._read, shoe, state.row))
                self._reading = key, reading
                await asyncio.wait([reading], timeout=PATIENCE)
                if reading.done():
                    self._take()
        self._show(state, self._played if key == self._key else None)

    def _take(self) -> None:
        """What was read of the journal. What cannot be read is tried again with the next commit."""
        assert self._reading is not None
        (key, task), self._reading = self._reading, None
        try:
            self._played, self._key, self._fault = task.result(), key, ""
        except _UNREADABLE as fault:
            self._tell("the rounds of the shoe cannot be read for the display", str(fault))
            self._played = self._key = None

    def _tell(self, what: str, error: str) -> None:
        """Once, however often it is tried."""
        if error != self._fault:
            self._fault = error
            self._log.error(what, error=error)

    def _show(self, state: State, played: Played | None) -> None:
        table = _json(table_part(state, self._about, played) | {"edition": self._edition})
        made_of = played, self._about.predictions and state.shoe is not None
        if self._shows and table == self._table and made_of == self._made_of:
            return
        # What is the same stays the same object: by that each page knows what it has.
        if table != self._table:
            self._table = table
        if made_of != self._made_of:
            predictions = made_of[1]
            self._boards = b"null" if played is None else _json(boards_part(played, predictions=predictions))
            self._made_of = made_of
        self._shows = True
        self._changed.set()
        self._changed = asyncio.Event()

    # --- who looks ----------------------------------------------------------------------------------------

    def routes(self) -> list[web.RouteDef]:
        """Where it is found."""
        return [
            *(web.get(file.path, _giving(file)) for file in self._files),
            web.get("/v1/display", self._all),
            web.get("/v1/display/events", self._events, allow_head=False),
        ]

    async def close(self) -> None:
        """Who looks is no reason to stay."""
        self._hang_up()

    def _hang_up(self) -> None:
        for page in self._pages:
            page.task.cancel()

    async def _all(self, request: web.Request) -> web.StreamResponse:
        if not self._shows:
            return _not_now("the display is not ready")
        body = b'{"now":%d,"table":%b,"boards":%b}' % (self._now(), self._table, self._boards)
        return web.Response(body=body, content_type="application/json", headers=HEADERS)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        if not self._shows:
            return _not_now("the display is not ready")
        # A page that hung up loses its transport at once, its handler only with the next write.
        if sum(one.transport is not None for one in self._pages) >= MOST_PAGES:
            return _not_now("too many pages look at this table")
        # A proxy that would keep it until there is more is asked not to.
        stream = {"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=stream | HEADERS)
        self._pages.append(request)
        try:
            await response.prepare(request)
            await self._feed(response)
        except (ConnectionError, TimeoutError):
            # It went away, or takes nothing: what waits for it is dropped.
            if request.transport is not None:
                request.transport.abort()
        finally:
            self._pages.remove(request)
        return response

    async def _feed(self, response: web.StreamResponse) -> None:
        table = boards = b""
        while True:
            changed = self._changed
            chunk = b"event: now\ndata: %d\n\n" % self._now()
            if boards is not self._boards:
                boards = self._boards
                chunk += b"event: boards\ndata: %b\n\n" % boards
            if table is not self._table:
                table = self._table
                chunk += b"event: table\ndata: %b\n\n" % table
            async with asyncio.timeout(STALLED):
                await response.write(chunk)
            try:
                async with asyncio.timeout(ALIVE):
                    await changed.wait()
            except TimeoutError:
                pass

    def _now(self) -> int:
        return self._clock().boot // MILLISECOND


def _json(made: dict[str, Any]) -> bytes:
    return json.dumps(made, separators=(",", ":")).encode()


def _giving(file: PageFile) -> Callable[[web.Request], Any]:
    async def give(request: web.Request) -> web.Response:
        return web.Response(body=file.body, content_type=file.content_type, charset="utf-8", headers=HEADERS)

    return give


def _not_now(why: str) -> web.Response:
    return web.Response(status=503, text=f"{why}\n", headers={"Retry-After": "5"} | HEADERS)
