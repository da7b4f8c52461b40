"""The local interface's answers about the journal itself: ``/v1/journal/…`` (``tablectl journal``).

No other program opens the database while the daemon runs, so what looks at it asks here, page by page: at
most 500 rows in a short transaction, a few requests at a time, and who does not read is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from aiohttp import web

from tablectl.api.commands import Commands, error, peer, record_of
from tablectl.api.forms import BadRequest, parse_body, parse_number
from tablectl.clock import SECOND
from tablectl.journal.backup import Backups
from tablectl.journal.pages import Wanted, facts, page, shoe_in_play
from tablectl.journal.reader import JournalReader
from tablectl.journal.rows import JournalFault
from tablectl.journal.verify import verify_span
from tablectl.table.reasons import problem

REVEAL = "journal show --reveal"
"""The command as it is written down."""
MOST = 10**12
MOST_SECONDS = 10**11
AT_ONCE = 2
"""Requests that are answered at the same time; the next one is told to come again."""
STALLED = 10.0
"""A client that takes nothing for so long (s) is cut off."""
CHUNK = 64 << 10
MOST_REST = 1.0

_NUMBERS = {"after": MOST, "upto": MOST, "shoe": 10**9, "round": 10**9}


class JournalRoutes:
    """The handlers, on the service loop; what reads the disk runs beside it."""

    def __init__(
        self,
        reader: JournalReader,
        commands: Commands,
        backups: Backups,
        mirror: Callable[[int], dict[str, object] | None],
    ) -> None:
        self._reader = reader
        self._commands = commands
        self._backups = backups
        self._mirror = mirror
        self._busy = 0

    def routes(self) -> list[web.RouteDef]:
        """Where they are found."""
        return [
            web.get("/v1/journal", self._facts),
            web.get("/v1/journal/rows", self._rows),
            web.post("/v1/journal/reveal", self._reveal),
            web.get("/v1/journal/verify", self._verify),
            web.get("/v1/journal/backup", self._backup_view),
            web.post("/v1/journal/backup", self._backup),
        ]

    async def _facts(self, request: web.Request) -> web.StreamResponse:
        def read() -> dict[str, Any]:
            found = facts(self._reader)
            return found | {"mirror": self._mirror(found["row"])}

        return await self._answer(request, read)

    async def _rows(self, request: web.Request) -> web.StreamResponse:
        try:
            wanted, since, until = _wanted(request)
        except BadRequest as bad:
            return error(400, str(bad))

        def read() -> dict[str, Any]:
            first, last = wanted.after, wanted.upto
            if since is not None:
                first = max(first, self._reader.row_at(since * SECOND - 1))
            if until is not None:
                row = self._reader.row_at(until * SECOND)
                last = row if last is None else min(last, row)
            return page(self._reader, replace(wanted, after=first, upto=last))

        return await self._answer(request, read)

    async def _reveal(self, request: web.Request) -> web.StreamResponse:
        """Rows with all that is in them, for a pit boss; that it was asked is in the journal before."""
        try:
            given = parse_body(
                await request.read(), frozenset({"id", "person", "pin", "reason", "after", "upto"})
            )
            for name in ("after", "upto"):
                if not isinstance(given.get(name), int) or not 0 <= given[name] <= MOST:
                    raise BadRequest(f"{name}: a row's number")
            if wrong := problem(given.get("reason") or ""):
                raise BadRequest(f"reason: {wrong}")
        except BadRequest as bad:
            return error(400, str(bad))
        first, last = given["after"] + 1, given["upto"]
        given["args"] = {"rows": f"{first}-{last}"}
        text = f"all of rows {first} to {last} was shown"
        asked = record_of(given, REVEAL, peer(request)[1], text, accepted=True)
        refused = await self._commands.written_down(asked, given.get("pin"))
        if refused is not None:
            return refused
        wanted = Wanted(after=given["after"], upto=last, reveal=True)
        return await self._answer(request, lambda: page(self._reader, wanted))

    async def _verify(self, request: web.Request) -> web.StreamResponse:
        after = parse_number(request.query.get("after", "0"), 0, MOST)
        if after is None:
            return error(400, "after: a row's number")
        number = after

        def read() -> dict[str, Any]:
            try:
                found = asdict(verify_span(self._reader, number))
            except JournalFault as fault:
                return {"fault": str(fault), "row": fault.row}
            with contextlib.suppress(JournalFault):  # in doubt it is hidden; a later span names the row
                if shoe_in_play(self._reader) is None:
                    return found
            return found | {"hash": None}

        begun = time.monotonic()
        answer = await self._answer(request, read)
        # Who asks for one span after another gets half of a processor at most: the table comes first.
        await asyncio.sleep(min(MOST_REST, time.monotonic() - begun))
        return answer

    async def _backup(self, request: web.Request) -> web.StreamResponse:
        if not self._backups.start():
            return error(409, "a backup is being made")
        return web.json_response(self._backups.view())

    async def _backup_view(self, request: web.Request) -> web.StreamResponse:
        return web.json_response(self._backups.view())

    async def _answer(self, request: web.Request, read: Callable[[], dict[str, Any]]) -> web.StreamResponse:
        if self._busy >= AT_ONCE:
            return error(503, "the journal is being read by others; try again")
        self._busy += 1
        try:
            try:
                found = await asyncio.to_thread(read)
            except (JournalFault, sqlite3.Error, OSError) as fault:
                return error(500, f"the journal cannot be read: {fault}")
            return await _sent(request, json.dumps(found).encode())
        finally:
            self._busy -= 1


async def _sent(request: web.Request, body: bytes) -> web.StreamResponse:
    """Send a long answer; a client that does not take it is cut off, and what waits for it is dropped."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.content_length = len(body)
    try:
        await response.prepare(request)
        for at in range(0, len(body), CHUNK):
            await asyncio.wait_for(response.write(body[at : at + CHUNK]), STALLED)
        await asyncio.wait_for(response.write_eof(), STALLED)
    except (ConnectionError, TimeoutError):
        if request.transport is not None:
            request.transport.abort()
    return response


def _wanted(request: web.Request) -> tuple[Wanted, int | None, int | None]:
    numbers: dict[str, int | None] = {}
    for name, most in (*_NUMBERS.items(), ("since", MOST_SECONDS), ("until", MOST_SECONDS)):
        text = request.query.get(name)
        numbers[name] = None if text is None else parse_number(text, 0, most)
        if text is not None and numbers[name] is None:
            raise BadRequest(f"{name}: a whole number")
    wanted = Wanted(
        after=numbers["after"] or 0,
        upto=numbers["upto"],
        shoe=numbers["shoe"],
        round=numbers["round"],
        public=request.query.get("public") == "1",
    )
    return wanted, numbers["since"], numbers["until"]
