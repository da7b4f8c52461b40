"""The local interface's answers about the past: rounds, derivations, shoes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tablectl.api.forms import parse_number
from tablectl.clock import SECOND
from tablectl.journal import JournalFault
from tablectl.past.explain import NotExplained
from tablectl.past.looking_back import LookingBack
from tablectl.service import Published
from tablectl.table import State

MOST_ROUNDS = 500
MOST_SECONDS = 10**11
"""The latest moment (Unix seconds) that is asked for."""

_ROUND = "{shoe:[0-9]{1,9}}/{round:[0-9]{1,9}}"


class PastRoutes:
    """The handlers that only look back. All run on the service loop, their reading beside it."""

    def __init__(self, published: Published, back: LookingBack) -> None:
        self._published = published
        self._back = back

    def routes(self) -> list[web.RouteDef]:
        """Where they are found."""
        return [
            web.get("/v1/rounds", self._rounds),
            web.get(f"/v1/rounds/{_ROUND}", self._round),
            web.get(f"/v1/rounds/{_ROUND}/explain", self._explain),
            web.get("/v1/shoes/{shoe:[0-9]{1,9}|last}/report", self._shoe),
        ]

    async def _rounds(self, request: web.Request) -> web.Response:
        if "at" in request.query:
            return await self._round_at(request.query["at"])
        last = parse_number(request.query.get("last", "10"), 1, MOST_ROUNDS)
        if last is None:
            return _error(400, f"last: a number from 1 to {MOST_ROUNDS}")
        number = last
        return await self._answer(lambda state: {"rounds": self._back.rounds(state, number)}, "")

    async def _round_at(self, text: str) -> web.Response:
        seconds = parse_number(text, 0, MOST_SECONDS)
        if seconds is None:
            return _error(400, "at: a moment in Unix seconds")
        # To the end of that second: a round that opened within it was in play.
        wall = (seconds + 1) * SECOND - 1

        def read(state: State) -> dict[str, Any]:
            found = self._back.round_at(state, wall)
            return {"rounds": [] if found is None else [found]}

        return await self._answer(read, "")

    async def _round(self, request: web.Request) -> web.Response:
        shoe, number = _where(request)
        return await self._answer(lambda state: self._back.round(state, shoe, number), _none(shoe, number))

    async def _explain(self, request: web.Request) -> web.Response:
        shoe, number = _where(request)
        return await self._answer(lambda state: self._back.explain(state, shoe, number), _none(shoe, number))

    async def _shoe(self, request: web.Request) -> web.Response:
        asked = request.match_info["shoe"]
        shoe = self._published.state.newest_shoe if asked == "last" else int(asked)
        none = "there was no shoe yet" if asked == "last" else f"there is no shoe {shoe} in this journal"
        return await self._answer(lambda state: self._back.shoe(state, shoe), none)

    async def _answer(self, read: Callable[[State], dict[str, Any] | None], none: str) -> web.Response:
        """What is read beside the loop, by the state of now: a shoe that ends meanwhile is not over yet."""
        try:
            found = await asyncio.to_thread(read, self._published.state)
        except NotExplained as why:
            return _error(409, str(why))
        except (JournalFault, sqlite3.Error, OSError) as fault:
            return _error(500, f"the journal cannot be read: {fault}")
        return _error(404, none) if found is None else web.json_response(found)


def _where(request: web.Request) -> tuple[int, int]:
    return int(request.match_info["shoe"]), int(request.match_info["round"])


def _none(shoe: int, number: int) -> str:
    return f"there is no round {shoe}/{number} in this journal"


def _error(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)
