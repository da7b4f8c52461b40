"""The reference game server's HTTP: one address takes events, the others read what is held.

What players do is in :mod:`tablectl.gameserver.play`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.typedefs import Handler

from tablectl.connections import Connections
from tablectl.gameserver.intake import Intake
from tablectl.gameserver.play import Play, routes
from tablectl.gameserver.store import Held, RoundRecord, Store
from tablectl.gameserver.surprise import is_everybodys
from tablectl.gameserver.turns import Turns

REQUEST_BYTES = 1 << 20
READ_SECONDS = 10.0
"""What a request's header, and then its body, may take."""
IDLE_SECONDS = 75.0
"""What a connection that was used may stay without a request: longer than a reverse proxy keeps one."""
RETRY = {"Retry-After": "5"}
MOST_ROUNDS = 1000
MOST_NUMBER = 10**9
"""No shoe has such a number, and no round."""

T = TypeVar("T")

log = logging.getLogger(__name__)


class Views:
    """The handlers. All work on the store is done in one thread, by ``turns``."""

    def __init__(self, store: Store, intake: Intake, turns: Turns) -> None:
        self._store = store
        self._intake = intake
        self._turns = turns

    async def _in_pool(self, call: Callable[..., T], *args: Any, **options: Any) -> T:
        run = functools.partial(call, *args, **options)
        return await asyncio.get_running_loop().run_in_executor(self._turns.looks, run)

    async def events(self, request: web.Request) -> web.Response:
        """``POST /v1/tables/{table}/events``."""
        body = await request.read()
        kind = request.headers.get("Content-Type", "")
        taking = functools.partial(
            self._intake.take, request.match_info["table"], kind, dict(request.headers), body
        )
        reply = await asyncio.get_running_loop().run_in_executor(self._turns.tables, taking)
        headers = RETRY if reply.status == 500 else None
        return web.json_response(reply.payload, status=reply.status, headers=headers)

    async def health(self, _: web.Request) -> web.Response:
        """``GET /healthz``."""
        return web.json_response({"ok": True, "tables": len(await self._in_pool(self._store.tables))})

    async def tables(self, _: web.Request) -> web.Response:
        """``GET /v1/tables``."""
        held = await self._in_pool(self._store.tables)
        return web.json_response({"tables": [await self._in_pool(self._table, one) for one in held]})

    async def table(self, request: web.Request) -> web.Response:
        """``GET /v1/tables/{table}``."""
        held = await self._held(request)
        return web.json_response(await self._in_pool(self._table, held))

    async def betting(self, request: web.Request) -> web.Response:
        """``GET /v1/tables/{table}/betting``."""
        return web.json_response(await self._in_pool(self._intake.betting, request.match_info["table"]))

    async def rounds(self, request: web.Request) -> web.Response:
        """``GET /v1/tables/{table}/rounds?shoe=&after=&limit=``; ``after``: ``SHOE/ROUND``, or a round."""
        held = await self._held(request)
        try:
            shoe = int(request.query["shoe"]) if "shoe" in request.query else None
            limit = min(MOST_ROUNDS, max(1, int(request.query.get("limit", "100"))))
            left, slash, right = request.query.get("after", "0/0").partition("/")
            after = (int(left), int(right)) if slash else (shoe or 0, int(left))
            if max(map(abs, (shoe or 0, *after))) >= MOST_NUMBER:
                raise ValueError
        except ValueError:
            return _error(400, "shoe and limit are numbers; after is SHOE/ROUND, or a round of that shoe")
        found = await self._in_pool(
            self._store.rounds, held.table, held.epoch, shoe=shoe, after=after, limit=limit + 1
        )
        return web.json_response(
            {"rounds": [_round(record) for record in found[:limit]], "more": len(found) > limit}
        )

    async def round(self, request: web.Request) -> web.Response:
        """``GET /v1/tables/{table}/rounds/{shoe}/{round}``."""
        held = await self._held(request)
        shoe, number = int(request.match_info["shoe"]), int(request.match_info["round"])
        record = await self._in_pool(self._store.round, held.table, held.epoch, shoe, number)
        if record is None:
            return _error(404, f"no result of round {shoe}/{number} is held")
        return web.json_response(_round(record))

    async def _held(self, request: web.Request) -> Held:
        table = request.match_info["table"]
        held = await self._in_pool(self._store.held, table)
        if held is None:
            raise web.HTTPNotFound(
                text=f'{{"error": "nothing is held of table {table}"}}', content_type="application/json"
            )
        return held

    def _table(self, held: Held) -> dict[str, Any]:
        return {
            **dataclasses.asdict(held),
            "rounds": self._store.count_rounds(held.table, held.epoch),
            "refused_epochs": self._store.refused_epochs(held.table),
        }


def _error(status: int, words: str) -> web.Response:
    return web.json_response({"error": words}, status=status)


def _round(record: RoundRecord) -> dict[str, Any]:
    return {**dataclasses.asdict(record), "outcome": record.result.get("outcome")}


@web.middleware
async def _readable(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuses what is no text, before a handler makes something of it."""
    try:
        for _, value in request.raw_headers:
            value.decode()
    except UnicodeError:
        return _error(400, "a header of the request is no UTF-8")
    return await handler(request)


@web.middleware
async def _in_trouble(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What fails is said as all else is, and what was begun is rolled back."""
    try:
        return await handler(request)
    except (ConnectionError, web.HTTPException):
        raise
    except Exception as trouble:
        log.error("a request could not be served", exc_info=trouble)
        if is_everybodys(trouble):
            status, words = 503, "the game server cannot read or write its data at the moment"
        else:
            status, words = 500, "a fault in the game server: its log tells whoever runs it where"
        answer = _error(status, f"{words}; nothing was changed")
        answer.headers.update(RETRY)
        return answer


def connections(most: int) -> Connections:
    """``most`` at once; an eighth of the places, 64 at most, is for controllers: no player takes those."""
    return Connections(
        most,
        IDLE_SECONDS,
        kept=min(64, most // 8),
        is_order=lambda request: request.path.endswith("/events"),
        header=READ_SECONDS,
        body=READ_SECONDS,
        answer=_error,
    )


def make_app(store: Store, intake: Intake, turns: Turns, bound: Connections) -> web.Application:
    """The aiohttp application over an open store."""
    views, players = Views(store, intake, turns), Play(store, intake.bank, turns)
    app = web.Application(client_max_size=REQUEST_BYTES, middlewares=[bound.serve, _readable, _in_trouble])
    table = "/v1/tables/{table:[A-Za-z0-9_-]{1,16}}"
    app.add_routes(
        [
            web.post(f"{table}/events", views.events),
            web.get("/v1/tables", views.tables),
            web.get(table, views.table),
            web.get(f"{table}/betting", views.betting),
            web.get(f"{table}/rounds", views.rounds),
            web.get(f"{table}/rounds/{{shoe:[0-9]{{1,9}}}}/{{round:[0-9]{{1,9}}}}", views.round),
            web.get("/healthz", views.health),
            *routes(players),
        ]
    )
    app.on_startup.append(players.listen)
    app.on_shutdown.append(players.hush)
    return app
