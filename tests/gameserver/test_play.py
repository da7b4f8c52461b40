"""What players do over HTTP: who is let in, what is answered, what is shown, who is waited for."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest_asyncio

from tablectl.clock import iso
from tablectl.events import BettingClosed, BettingOpened, Event, TableOpened
from tablectl.gameserver.play import PAGE
from tablectl.gameserver.server import GameServer
from tests.gameserver.posting import SECRET, Request, body
from tests.gameserver.wagering import LIVE, result, shoe_started


class Site:
    """A server over real HTTP with table T07, and its players."""

    def __init__(self, server: GameServer, session: aiohttp.ClientSession) -> None:
        self.server = server
        self.session = session
        self.sequence = 0
        self.tokens: dict[str, str] = {}
        self.said: Any = None
        """What the last answer to the table told of who has placed."""

    async def tell(self, *events: Event) -> None:
        for event in events:
            self.sequence += 1
            self.said = await self._deliver([body(self.sequence, event)])

    async def probe(self) -> Any:
        """What the table is told of who has placed."""
        return await self._deliver([])

    async def _deliver(self, bodies: list[bytes]) -> Any:
        request = Request(bodies, at=int(time.time()))
        url = self.server.events_url.replace("{table}", "T07")
        async with self.session.post(url, data=request.content, headers=request.headers) as response:
            assert response.status == 200, await response.text()
            return (await response.json()).get("placed")

    async def opened(self) -> None:
        limits = LIVE.as_dict()["limits"]
        opened = TableOpened(
            rules=LIVE.name, currency="USD", limits=limits["bets"], max_winnings=limits["max_winnings"]
        )
        await self.tell(opened, shoe_started(1, LIVE))

    async def betting(self, round: int = 1, seconds: float = 20) -> None:
        closes = iso(time.time_ns() + int(seconds * 1e9))
        await self.tell(BettingOpened(shoe=1, round=round, seconds=seconds, closes_at=closes))

    async def results(self, name: str, round: int = 1) -> None:
        closed = BettingClosed(shoe=1, round=round, reason="timer", closed_at=iso(time.time_ns()))
        await self.tell(closed, result(name, round))

    async def player(self, name: str, balance: int = 1_000_00) -> None:
        self.tokens[name] = await self.server.add_player(name, "USD", balance)

    async def ask(self, path: str, player: str = "", data: Any = None) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.tokens[player]}"} if player else {}
        method = "GET" if data is None else "POST"
        async with self.session.request(
            method, self.server.url + path, json=data, headers=headers
        ) as response:
            return response.status, await response.json()

    async def place(self, player: str, *bets: tuple[str, int], round: str = "1/1", id: str = "") -> Any:
        asked = [{"area": area, "stake": stake} for area, stake in bets]
        data = {"id": id or f"r{time.monotonic_ns()}", "round": round, "bets": asked}
        status, answer = await self.ask("/v1/tables/T07/wagers", player, data)
        assert status == 200, answer
        return answer


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    server = GameServer(tmp_path / "server.db", [SECRET])
    server.store.sql("PRAGMA synchronous=OFF")
    await server.start()
    async with aiohttp.ClientSession() as session:
        made = Site(server, session)
        await made.opened()
        await made.player("ann")
        yield made
    await server.stop()


async def test_a_round_from_the_players_side(site: Site) -> None:
    await site.betting()
    answer = await site.place("ann", ("player", 10_00), ("tie", 4_99))
    assert [bet["accepted"] for bet in answer["bets"]] == [True, False]
    assert answer["bets"][1]["reason"]["code"] == "under"
    assert "Minimum" in answer["bets"][1]["reason"]["de"] and "minimum" in answer["bets"][1]["reason"]["en"]
    assert answer["balance"] == 990_00
    _, shown = await site.ask("/v1/tables/T07/play", "ann")
    assert shown["open"] and 18 < shown["seconds"] <= 20 and shown["round"] == "1/1"
    assert [(w["area"], w["stake"]) for w in shown["wagers"]] == [("player", 10_00)]
    assert shown["terms"]["areas"][0] == {
        "area": "player", "parts": ["player"], "min": 10_00, "max": 400_00, "max_winnings": 400_00,
    }  # fmt: skip
    await site.results("player")
    late = await site.place("ann", ("banker", 10_00))
    assert late["reason"]["code"] == "late" and late["bets"][0]["reason"]["code"] == "late"
    _, shown = await site.ask("/v1/tables/T07/play", "ann")
    assert not shown["open"] and shown["balance"] == 1_010_00 and shown["wagers"] == []
    assert shown["result"]["outcome"] == "player"
    assert [(b["area"], b["how"], b["won"]) for b in shown["result"]["bets"]] == [("player", "win", 10_00)]
    await site.betting(2)
    _, shown = await site.ask("/v1/tables/T07/play", "ann")
    assert shown["again"] == [{"area": "player", "stake": 10_00}]
    assert await site.ask("/v1/players/me", "ann") == (
        200, {"player": "ann", "currency": "USD", "balance": 1_010_00},
    )  # fmt: skip
    _, account = await site.ask("/v1/players/me/movements", "ann")
    assert [row["amount"] for row in account["movements"]] == [10_00, 10_00, -10_00, 1_000_00]
    _, page = await site.ask(
        f"/v1/players/me/movements?limit=1&before={account['movements'][1]['number']}", "ann"
    )
    assert [row["amount"] for row in page["movements"]] == [-10_00]


async def test_taking_back_over_http(site: Site) -> None:
    await site.betting()
    await site.place("ann", ("player", 10_00), ("2-way", 5_00))
    data: dict[str, Any] = {"id": "take-back-1", "round": "1/1", "areas": ["2-way"]}
    for _ in range(2):
        _, answer = await site.ask("/v1/tables/T07/wagers/take-back", "ann", data)
        assert (answer["bets"][0]["accepted"], answer["balance"]) == (True, 990_00)
    data = {"id": "take-back-2", "round": "1/1"}
    _, answer = await site.ask("/v1/tables/T07/wagers/take-back", "ann", data)
    assert answer["balance"] == 1_000_00
    status, answer = await site.ask("/v1/tables/T07/wagers/take-back", "ann", data | {"areas": ["tie"]})
    assert status == 422 and answer["error"], "the same id for something else"


NOTHING: tuple[tuple[dict[str, Any], str], ...] = (
    ({"id": "short"}, "id"),
    ({"id": 7}, "id"),
    ({"round": "1"}, "round"),
    ({"bets": []}, "bets"),
    ({"bets": "all"}, "bets"),
    ({"bets": [{"area": "player", "stake": 10.5}]}, "stake"),
    ({"bets": [{"area": "player", "stake": True}]}, "stake"),
    ({"bets": [{"area": "x y", "stake": 1}]}, "bet"),
    ({"bets": [{"area": "tie", "stake": 1}] * 21}, "20"),
    ({"more": "x" * 9000}, "bytes"),
)


async def test_a_request_that_says_nothing_is_told_what_is_wrong(site: Site) -> None:
    await site.betting()
    good = {"id": "good-request", "round": "1/1", "bets": [{"area": "player", "stake": 10_00}]}
    for change, word in NOTHING:
        status, answer = await site.ask("/v1/tables/T07/wagers", "ann", good | change)
        assert status == 400 and word in answer["error"], change


async def test_nobody_plays_without_a_token(site: Site) -> None:
    site.tokens["eve"] = "x" * 32
    asked: list[tuple[str, Any]] = [
        ("/v1/tables/T07/play", None), ("/v1/players/me", None), ("/v1/tables/T07/wagers", {}),
        ("/v1/players/me/movements", None), ("/v1/tables/T07/wagers/take-back", {}),
        ("/v1/tables/T07/wagers/done", {}),
    ]  # fmt: skip
    for path, data in asked:
        assert (await site.ask(path, "", data))[0] == 401
        assert (await site.ask(path, "eve", data))[0] == 401
    old = site.tokens["ann"]
    await site.player("ann", 0)
    assert (await site.ask("/v1/players/me", "ann"))[1]["balance"] == 1_000_00
    site.tokens["ann"] = old
    assert (await site.ask("/v1/players/me", "ann"))[0] == 401, "a new token makes the old one void"


async def test_the_dealer_learns_when_all_have_placed(site: Site) -> None:
    async def placed() -> tuple[int, int, bool]:
        _, answer = await site.ask("/v1/tables/T07/placed")
        assert "ann" not in str(answer)
        assert await site.probe() == (
            {"shoe": 1, "round": int(answer["round"][2:]), "players": answer["players"],
             "placed": answer["placed"]} if answer["open"] else None
        ), "the table is told the same while betting is open"  # fmt: skip
        return answer["players"], answer["placed"], answer["all_placed"]

    await site.player("bob")
    assert await placed() == (0, 0, False)
    assert site.said is None
    await site.betting()
    assert site.said == {"shoe": 1, "round": 1, "players": 0, "placed": 0}
    assert await placed() == (0, 0, False)
    for name in ("ann", "bob"):
        await site.ask("/v1/tables/T07/play", name)
    assert await placed() == (2, 0, False)
    await site.place("ann", ("player", 10_00))
    assert await placed() == (2, 1, False)
    done = {"id": "no-bet-here", "round": "1/1"}
    assert await site.ask("/v1/tables/T07/wagers/done", "bob", done) == (200, {"done": True})
    assert await placed() == (2, 2, True)
    await site.ask("/v1/tables/T07/wagers/take-back", "ann", {"id": "take-back", "round": "1/1"})
    assert await placed() == (2, 1, False)
    await site.results("player")
    assert (await placed())[2] is False
    assert site.said is None
    await site.betting(2)
    assert await placed() == (2, 0, False)
    assert (await site.ask("/v1/tables/T07/wagers/done", "bob", done))[1] == {"done": False}


async def test_who_waits_for_news_is_told_at_once(site: Site) -> None:
    _, shown = await site.ask("/v1/tables/T07/play", "ann")
    waiting = asyncio.create_task(site.ask(f"/v1/tables/T07/play?after={shown['version']}", "ann"))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    await site.betting(seconds=0.3)
    _, shown = await waiting
    assert shown["open"]
    begun = time.monotonic()
    while shown["open"]:  # the window's end is news too
        _, shown = await site.ask(f"/v1/tables/T07/play?after={shown['version']}", "ann")
    assert time.monotonic() - begun < 5 and shown["reason"]["code"] == "late"


async def test_who_waits_is_told_of_a_silence_when_betting_closes_by_it(site: Site) -> None:
    site.server.intake._windows.silence = 0.3
    await site.betting(seconds=60)
    _, shown = await site.ask("/v1/tables/T07/play", "ann")
    assert shown["open"] and shown["seconds"] > 50, "the countdown is the window's, silence or not"
    begun = time.monotonic()
    while shown["open"]:
        _, shown = await site.ask(f"/v1/tables/T07/play?after={shown['version']}", "ann")
    assert time.monotonic() - begun < 5 and shown["reason"]["code"] == "unlinked"
    await site.tell(BettingClosed(shoe=1, round=1, reason="timer", closed_at=iso(time.time_ns())))
    _, shown = await site.ask("/v1/tables/T07/play", "ann")
    assert shown["reason"]["code"] == "late"


async def test_too_many_waiting_requests_of_one_player_are_refused(site: Site) -> None:
    _, shown = await site.ask("/v1/tables/T07/play", "ann")
    path = f"/v1/tables/T07/play?after={shown['version']}"
    waiting = [asyncio.create_task(site.ask(path, "ann")) for _ in range(9)]
    first, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert [task.result()[0] for task in first] == [429]
    await site.betting()
    assert sorted([(await task)[0] for task in waiting]) == [*[200] * 8, 429]


async def test_the_page_asks_for_nothing_from_elsewhere(site: Site) -> None:
    files = {"/play/T07": "text/html", "/page/play.css": "text/css", "/page/play.js": "text/javascript"}
    for path, kind in (files | {"/page/words.js": "text/javascript"}).items():
        async with site.session.get(site.server.url + path) as response:
            assert (response.status, response.content_type) == (200, kind)
            policy = response.headers["Content-Security-Policy"]
            text = await response.text()
        assert policy.startswith("default-src 'none';") and "unsafe" not in policy
        assert "://" not in text and "innerHTML" not in text and "style=" not in text
    for path in ("/play/no%20table", "/page/nothing.js", "/page/../schema.py", "/page/.."):
        async with site.session.get(site.server.url + path) as response:
            assert response.status == 404


async def test_limits_are_for_everybody(site: Site) -> None:
    _, answer = await site.ask("/v1/tables/T07/limits")
    assert answer["table"] == "T07" and answer["terms"]["rules"] == "live-casino"
    assert (await site.ask("/v1/tables/T99/limits"))[1] == {"table": "T99", "terms": None}


def test_every_word_of_the_page_is_there_in_both_languages() -> None:
    text = (PAGE / "words.js").read_text()
    english, german = (
        set(re.findall(r"[ {]\"?([a-z_0-9-]+)\"?: \"", part)) for part in text.split("\n  de: {")
    )
    assert english == german and len(english) > 50
    used = set(re.findall(r"word\(\"([a-z_-]+)\"", (PAGE / "play.js").read_text()))
    used |= set(re.findall(r"data-word=\"([a-z]+)\"", (PAGE / "index.html").read_text()))
    assert used <= english
