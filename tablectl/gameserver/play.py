"""HTTP for players: the page, what it shows, and what a player does. docs/wagers.md has it in a table."""

from __future__ import annotations

import asyncio
import functools
import json
import re
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web

from tablectl.gameserver import model
from tablectl.gameserver.bank import Bank, OtherRequest
from tablectl.gameserver.money import MOST
from tablectl.gameserver.players import Player
from tablectl.gameserver.store import Store
from tablectl.gameserver.turns import Turns
from tablectl.gameserver.wagers import MOST_BETS, Bet
from tablectl.gameserver.waiting import News, TooMany

LONGEST = 10.0
"""Seconds a request waits for news at most."""
LOOKING = 8
"""Of those who only look so many are dealt with at once: thousands that one piece of news wakes would else be
one long turn of the loop, which answers a table's event, too."""
REQUEST_BYTES = 8192
MOST_HISTORY = 200

PAGE = Path(__file__).parent / "page"
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_ROUND = re.compile(r"[0-9]{1,9}/[0-9]{1,9}")
_NAMED = {"id": (_REQUEST_ID, "8 to 64 of A-Z a-z 0-9 _ -"), "round": (_ROUND, "SHOE/ROUND")}
_AREA = re.compile(r"[a-z0-9_-]{1,16}")

T = TypeVar("T")


class _Bad(Exception):
    """The request says nothing that can be done; the message says why."""


Handler = Callable[["Play", web.Request], Coroutine[Any, Any, web.Response]]


def _telling(handler: Handler) -> Handler:
    """A handler that answers a request which cannot be done with what is wrong with it."""

    @functools.wraps(handler)
    async def told(play: Play, request: web.Request) -> web.Response:
        try:
            return await handler(play, request)
        except _Bad as bad:
            return _error(400, str(bad))
        except OtherRequest as other:
            return _error(422, str(other))

    return told


class Play:
    """The handlers. All work on the store is done in one thread, by ``turns``."""

    def __init__(self, store: Store, bank: Bank, turns: Turns) -> None:
        self._store = store
        self._bank = bank
        self._turns = turns
        self._looking = asyncio.Semaphore(LOOKING)
        self.news = News()

    async def _in_turn(self, request: web.Request, call: Callable[..., T], *args: Any) -> T:
        """Who places goes before whoever looks: his word must not come late by them."""
        loop, run = asyncio.get_running_loop(), functools.partial(call, *args)
        if request.method == "POST":
            return await loop.run_in_executor(self._turns.wagers, run)
        async with self._looking:
            return await loop.run_in_executor(self._turns.looks, run)

    async def listen(self, _: web.Application) -> None:
        """At the start: what changes in the pool's thread is told on the loop."""
        loop = asyncio.get_running_loop()

        def changed(table: str) -> None:
            loop.call_soon_threadsafe(self.news.changed, table)

        self._bank.on_change = changed

    async def hush(self, _: web.Application) -> None:
        """At the end: who waits is answered."""
        self.news.close()

    # --- for everybody --------------------------------------------------------------------------------------

    async def page(self, request: web.Request) -> web.Response:
        """``GET /play/{table}`` and ``GET /page/{file}``."""
        file = PAGE / request.match_info.get("file", "index.html")
        body = await asyncio.to_thread(file.read_bytes)
        return web.Response(body=body, content_type=_TYPES[file.suffix], charset="utf-8", headers=HEADERS)

    async def limits(self, request: web.Request) -> web.Response:
        """``GET /v1/tables/{table}/limits``."""
        table = request.match_info["table"]

        def asked() -> dict[str, Any]:
            return {"table": table, "terms": model.limits(self._bank, self._bank.now(table))}

        return _json(await self._in_turn(request, asked))

    async def placed(self, request: web.Request) -> web.Response:
        """``GET /v1/tables/{table}/placed``: for the dealer."""
        table = request.match_info["table"]
        return _json(await self._in_turn(request, model.placed, self._bank, table, time.monotonic()))

    # --- for one player -------------------------------------------------------------------------------------

    async def me(self, request: web.Request) -> web.Response:
        """``GET /v1/players/me``."""
        player = await self._player(request)
        balance = await self._in_turn(request, self._bank.players.balance, player)
        return _json({"player": player.name, "currency": player.currency, "balance": balance})

    async def movements(self, request: web.Request) -> web.Response:
        """``GET /v1/players/me/movements?before=&limit=``: the player's account, newest first."""
        player = await self._player(request)
        try:
            limit = min(MOST_HISTORY, max(1, int(request.query.get("limit", "50"))))
            before = min(1 << 62, max(0, int(request.query.get("before", str(1 << 62)))))
        except ValueError:
            return _error(400, "before and limit are numbers")
        rows = await self._in_turn(request, self._bank.players.movements, player, before, limit)
        return _json({"movements": rows})

    async def play(self, request: web.Request) -> web.Response:
        """``GET /v1/tables/{table}/play?after=VERSION``: what the page shows, as soon as it is newer."""
        player, table = await self._player(request), request.match_info["table"]
        await self._in_turn(request, self._here, table, player.name)
        after = request.query.get("after", "")
        if after == self.news.version(table):
            now = await self._in_turn(request, self._bank.now, table)
            # A window that ends by this server's own clock is news that no event brings.
            seconds = min(LONGEST, now.unheard + 0.01) if now.reason is None else LONGEST
            try:
                with self.news.one_of(player.name):
                    await self.news.after(table, after, seconds)
            except TooMany:
                return _error(429, "too many requests of this player wait already")
        version = self.news.version(table)
        shown = await self._in_turn(request, model.seen_by, self._bank, self._store, player, table)
        return _json({"version": version, **shown})

    def _here(self, table: str, player: str) -> None:
        if self._store.held(table) is not None:
            self._bank.presence.seen(table, player, time.monotonic())

    @_telling
    async def place(self, request: web.Request) -> web.Response:
        """``POST /v1/tables/{table}/wagers`` {id, round, bets: [{area, stake}]}."""
        player, table = await self._player(request), request.match_info["table"]
        asked = await _asked(request, "bets")
        bets = _bets(asked["bets"])
        return _json(
            await self._in_turn(request, self._bank.place, player, table, asked["id"], asked["round"], bets)
        )

    @_telling
    async def take_back(self, request: web.Request) -> web.Response:
        """``POST /v1/tables/{table}/wagers/take-back`` {id, round, areas: […] or absent for all}."""
        player, table = await self._player(request), request.match_info["table"]
        asked = await _asked(request)
        areas = _areas(asked["areas"]) if "areas" in asked else None
        return _json(
            await self._in_turn(
                request, self._bank.take_back, player, table, asked["id"], asked["round"], areas
            )
        )

    @_telling
    async def done(self, request: web.Request) -> web.Response:
        """``POST /v1/tables/{table}/wagers/done`` {round}: no bet more in this round."""
        player, table = await self._player(request), request.match_info["table"]
        asked = await _asked(request)

        def note() -> bool:
            now = self._bank.now(table)
            if now.reason is not None or now.round != asked["round"]:
                return False
            assert now.floor.shoe is not None and now.floor.round is not None
            self._bank.presence.done(table, player.name, (now.floor.epoch, now.floor.shoe, now.floor.round))
            return True

        return _json({"done": await self._in_turn(request, note)})

    async def _player(self, request: web.Request) -> Player:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        player = None
        if kind.lower() == "bearer" and token.isascii() and 0 < len(token) <= 100:
            player = await self._in_turn(request, self._bank.players.by_token, token)
        if player is None:
            raise web.HTTPUnauthorized(
                text='{"error": "send the token of a player: Authorization: Bearer TOKEN"}',
                content_type="application/json",
                headers={"WWW-Authenticate": "Bearer"},
            )
        return player


# --- reading requests ----------------------------------------------------------------------


async def _asked(request: web.Request, *wanted: str) -> dict[str, Any]:
    """The request's JSON object, with an id and a round that can be such. Raises :class:`_Bad`."""
    if request.content_length is not None and request.content_length > REQUEST_BYTES:
        raise _Bad(f"a request has at most {REQUEST_BYTES} bytes")
    try:
        body = await request.read()  # it is here: the connection's bound has waited for it
        if len(body) > REQUEST_BYTES:
            raise _Bad(f"a request has at most {REQUEST_BYTES} bytes")
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise _Bad("the request is no JSON") from None
    if not isinstance(asked, dict):
        raise _Bad("a request is a JSON object")
    for name, (form, example) in _NAMED.items():
        value = asked.get(name)
        if not isinstance(value, str) or form.fullmatch(value) is None:
            raise _Bad(f"{name} is {example}")
    for name in wanted:
        if name not in asked:
            raise _Bad(f"{name} is missing")
    return asked


def _bets(value: object) -> list[Bet]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_BETS:
        raise _Bad(f"bets is a list of 1 to {MOST_BETS}")
    bets = []
    for one in value:
        if not isinstance(one, dict) or not _is_area(one.get("area")):
            raise _Bad("a bet is an object of area and stake")
        stake = one.get("stake")
        if not isinstance(stake, int) or isinstance(stake, bool):
            raise _Bad("a stake is a whole number of minor units")
        if abs(stake) > MOST:
            raise _Bad("no stake is so much")
        bets.append(Bet(one["area"], stake))
    return bets


def _areas(value: object) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST_BETS or not all(map(_is_area, value)):
        raise _Bad("areas is a list of areas")
    return value


def _is_area(value: object) -> bool:
    return isinstance(value, str) and _AREA.fullmatch(value) is not None


def _json(payload: object) -> web.Response:
    return web.json_response(payload, headers={"Cache-Control": "no-store"})


def _error(status: int, words: str) -> web.Response:
    return web.json_response({"error": words}, status=status)


def routes(play: Play) -> list[web.RouteDef]:
    """What the application serves besides the intake."""
    table = "/v1/tables/{table:[A-Za-z0-9_-]{1,16}}"
    files = "|".join(sorted(re.escape(file.name) for file in PAGE.iterdir() if file.suffix in _TYPES))
    return [
        web.get("/play/{table:[A-Za-z0-9_-]{1,16}}", play.page),
        web.get(f"/page/{{file:{files}}}", play.page),
        web.get(f"{table}/limits", play.limits),
        web.get(f"{table}/placed", play.placed),
        web.get(f"{table}/play", play.play),
        web.post(f"{table}/wagers", play.place),
        web.post(f"{table}/wagers/take-back", play.take_back),
        web.post(f"{table}/wagers/done", play.done),
        web.get("/v1/players/me", play.me),
        web.get("/v1/players/me/movements", play.movements),
    ]
