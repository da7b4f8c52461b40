"""The display over HTTP: every page gets the same and all of it, and none can hurt the table."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer

from tablectl.api.read_only import HEADERS, MOST, ReadOnly
from tablectl.clock import Instant
from tablectl.display import feed
from tablectl.display.feed import Display, read_played
from tablectl.display.model import About, boards_part, table_part
from tablectl.display.page_files import page_files
from tablectl.display.rounds import Played, settled_rounds
from tablectl.journal import JournalReader
from tablectl.service import Published
from tests.journals import fill
from tests.table.playing import BANKER_WINS, NATURAL, Play, house

NOW = Instant(5_000_000_000, 0)
Client = TestClient[web.Request, web.Application]


class Table:
    """A display, what it is told, and a client of it."""

    def __init__(self) -> None:
        self.play = Play(house(burn={"by": "none"})).idle()
        self.published = Published(self.play.state)
        self.reads: list[tuple[int, int]] = []
        self.trouble: Exception | None = None
        self.display = Display(
            About("T07"), self.published, self._read, lambda: NOW, structlog.get_logger("test")
        )
        self.app = web.Application()
        self.app.add_routes(self.display.routes())
        self.client: Client

    def _read(self, shoe: int, row: int) -> Played:
        self.reads.append((shoe, row))
        if self.trouble is not None:
            raise self.trouble
        return Played(settled_rounds(event for event in self.play.events if event.shoe == shoe))

    def publish(self) -> None:
        self.published.now_is(self.play.state, (), 0)

    async def all(self) -> dict[str, Any]:
        async with self.client.get("/v1/display") as response:
            assert response.status == 200
            return dict(await response.json())

    async def until(self, what: str, wanted: Any) -> dict[str, Any]:
        async with asyncio.timeout(5):
            while True:
                made = await self.all()
                if made["table"][what] == wanted:
                    return made
                await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def shown() -> AsyncIterator[Table]:
    table = Table()
    following = asyncio.create_task(table.display.run())
    async with TestClient(TestServer(table.app)) as client:
        table.client = client
        async with asyncio.timeout(5):
            while not table.display._shows:
                await asyncio.sleep(0)
        try:
            yield table
        finally:
            await table.display.close()
            following.cancel()


async def take(response: ClientResponse, count: int) -> list[tuple[str, Any]]:
    """The next events of a stream."""
    found: list[tuple[str, Any]] = []
    async with asyncio.timeout(5):
        while len(found) < count:
            name = (await response.content.readline()).decode().strip().removeprefix("event: ")
            data = json.loads((await response.content.readline()).decode().strip().removeprefix("data: "))
            assert await response.content.readline() == b"\n"
            found.append((name, data))
    return found


async def test_a_connection_begins_with_everything_and_goes_on_with_what_changes() -> None:
    async with shown() as table, table.client.get("/v1/display/events") as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        first = await take(response, 3)
        assert [name for name, _ in first] == ["now", "boards", "table"]
        assert first[0][1] == 5_000
        assert first[2][1]["phase"] == "idle" and first[1][1]["statistics"]["rounds"] == 0
        table.play.betting()
        table.publish()
        assert [name for name, _ in await take(response, 2)] == ["now", "table"], "the boards are the same"
        table.play.wait(20)
        table.play.deal(BANKER_WINS)
        table.publish()
        (_, boards, told) = await take(response, 3)
        assert boards[1]["statistics"]["banker"] == 1 and told[1]["result"]["outcome"] == "banker"
        everything = await table.all()
        assert everything == {"now": 5_000, "table": told[1], "boards": boards[1]}


async def test_the_journal_is_read_when_a_round_was_settled_and_only_then() -> None:
    async with shown() as table:
        assert len(table.reads) == 1
        table.play.round(NATURAL)
        table.publish()
        await table.until("phase", "idle")
        await table.until(
            "result", {"round": 1, "outcome": "player", "amended": False, "extras": ["player_natural"]}
        )
        assert len(table.reads) == 2
        for _ in range(3):
            table.play.wait(1)
            table.publish()
        table.play.betting()
        table.publish()
        await table.until("phase", "betting")
        assert len(table.reads) == 2


async def test_boards_that_cannot_be_read_are_not_shown_and_come_back() -> None:
    async with shown() as table:
        table.trouble = sqlite3.OperationalError("disk I/O error")
        table.play.round(NATURAL)
        table.publish()
        async with asyncio.timeout(5):
            while (await table.all())["boards"] is not None:
                await asyncio.sleep(0)
        made = await table.all()
        assert made["table"]["result"] is None, "nothing is said that is not known"
        table.trouble = None
        table.play.betting()
        table.publish()
        made = await table.until("phase", "betting")
        assert made["boards"]["statistics"]["rounds"] == 1


async def test_the_table_does_not_wait_for_its_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "PATIENCE", 0.0)
    go_on = asyncio.Event()

    async def slow(_: Any, shoe: int, row: int) -> Played:
        await go_on.wait()
        return Played()

    async with shown() as table:
        monkeypatch.setattr(asyncio, "to_thread", slow)
        table.play.round(NATURAL)
        table.publish()
        async with asyncio.timeout(5):
            while (await table.all())["boards"] is not None:
                await asyncio.sleep(0)
        table.play.betting()
        table.publish()
        assert (await table.until("phase", "betting"))["boards"] is None
        go_on.set()
        async with asyncio.timeout(5):
            while (await table.all())["boards"] is None:
                await asyncio.sleep(0)


async def test_a_model_that_cannot_be_made_hangs_up_and_nothing_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown() as table, table.client.get("/v1/display/events") as response:
        await take(response, 3)
        made = table_part

        def broken(*_: Any) -> dict[str, Any]:
            raise AssertionError("a fault of ours")

        monkeypatch.setattr(feed, "table_part", broken)
        table.play.betting()
        table.publish()
        with contextlib.suppress(Exception):
            async with asyncio.timeout(5):
                assert await response.content.read() == b""
        async with table.client.get("/v1/display") as again:
            assert again.status == 503, "nothing is shown rather than something old"
        monkeypatch.setattr(feed, "table_part", made)
        table.play.wait(20)
        table.publish()
        async with asyncio.timeout(5):
            while not table.display._shows:
                await asyncio.sleep(0)
        assert (await table.all())["table"]["phase"] == "no more bets"


async def test_pages_are_bounded_and_one_that_takes_nothing_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feed, "MOST_PAGES", 2)
    monkeypatch.setattr(feed, "STALLED", 0.1)
    monkeypatch.setattr(feed, "ALIVE", 0.01)
    async with shown() as table:
        server = table.client.server
        assert server.port is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1 << 10)
        writer.write(b"GET /v1/display/events HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" in await reader.readline()
        async with table.client.get("/v1/display/events") as second:
            assert second.status == 200
            async with table.client.get("/v1/display/events") as third:
                assert third.status == 503 and third.headers["Retry-After"]
            # The first one reads no more, and everything is large now.
            monkeypatch.setattr(feed, "boards_part", lambda *_, **__: {"x": "y" * (8 << 20)})
            table.play.round(NATURAL)
            table.publish()
            reading = asyncio.create_task(second.content.read())
            async with asyncio.timeout(5):
                while len(table.display._pages) > 1:
                    await asyncio.sleep(0.01)
            assert not reading.done(), "who reads is not cut off"
            reading.cancel()
        writer.close()


async def test_files_are_a_browsers_own_and_may_only_ask_this_table() -> None:
    files, edition = page_files()
    assert {file.path for file in files} >= {"/", "/display/display.js", "/display/display.css"}
    assert len(edition) == 12
    async with shown() as table:
        for file in files:
            async with table.client.get(file.path) as response:
                assert await response.read() == file.body
                policy = response.headers["Content-Security-Policy"]
                assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
                assert "unsafe" not in policy and response.headers["X-Content-Type-Options"] == "nosniff"
        assert (await table.all())["table"]["edition"] == edition
    for file in files:
        text = file.body.decode()
        assert "innerHTML" not in text and "eval(" not in text
        for address in ("https://", "http://"):
            assert text.replace("http://www.w3.org/2000/svg", "").count(address) == 0, file.path


async def test_pages_leave_room_for_a_monitor_at_the_read_only_address() -> None:
    assert MOST >= feed.MOST_PAGES + 32
    table = Table()
    routes = [*table.display.routes(), web.get("/healthz", _healthy)]
    read_only = ReadOnly("127.0.0.1", 0, routes, lambda code, text: None)
    async with TestClient(TestServer(read_only._runner.app)) as client:
        async with client.get("/healthz") as response:
            assert response.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
        async with client.get("/") as page:
            assert "script-src 'self'" in page.headers["Content-Security-Policy"]


async def _healthy(_: web.Request) -> web.Response:
    return web.Response(text="ok")


def test_rounds_are_read_from_a_real_journal(tmp_path: Any) -> None:
    rows = fill(tmp_path / "j.db", 2)
    reader = JournalReader.open(tmp_path / "j.db")
    try:
        last = rows[-1].row
        everything = read_played(reader, 2, last)
        assert everything.rounds and everything.unseen == 0
        assert [one.number for one in everything.rounds] == list(range(1, len(everything.rounds) + 1))
        begun = next(row.row for row in reversed(rows) if b'"type":"shoe.started"' in row.private)
        before = read_played(reader, 2, begun)
        assert before.rounds == ()
        assert read_played(reader, 3, last) == Played()
    finally:
        reader.close()


def test_an_adopted_shoe_says_what_is_not_known() -> None:
    assert boards_part(Played(unseen=12), predictions=True)["unseen"] == 12
