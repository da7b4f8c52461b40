"""The game server over real HTTP: taking, reading, starting and stopping."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from tablectl.gameserver.server import GameServer, accept_epoch
from tests.gameserver.posting import EPOCH, SECRET, Request, body, resulted


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[GameServer]:
    made = GameServer(tmp_path / "server.db", [SECRET])
    await made.start()
    yield made
    await made.stop()


@pytest_asyncio.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as made:
        yield made


async def post(
    session: aiohttp.ClientSession, server: GameServer, *bodies: bytes, **options: Any
) -> tuple[int, Any]:
    request = Request(list(bodies), at=int(time.time()), **options)
    url = server.events_url.replace("{table}", "T07")
    async with session.post(url, data=request.content, headers=request.headers) as response:
        return response.status, await response.json()


async def get(session: aiohttp.ClientSession, server: GameServer, path: str) -> tuple[int, Any]:
    async with session.get(server.url + path) as response:
        return response.status, await response.json()


async def test_what_was_taken_can_be_read(session: aiohttp.ClientSession, server: GameServer) -> None:
    events = [body(n, resulted((n - 1) % 4 + 1, shoe=(n - 1) // 4 + 1)) for n in range(1, 9)]
    assert await post(session, server, events[0], single=True) == (200, {"next": 2})
    assert await post(session, server, *events[1:]) == (200, {"next": 9})
    await post(session, server, body(9, epoch="bbbbbb"), epoch="bbbbbb")
    about = {"table": "T07", "epoch": EPOCH, "next": 9, "rounds": 8, "refused_epochs": ["bbbbbb"]}
    assert await get(session, server, "/v1/tables") == (200, {"tables": [about]})
    assert await get(session, server, "/v1/tables/T07") == (200, about)
    assert await get(session, server, "/healthz") == (200, {"ok": True, "tables": 1})

    status, one = await get(session, server, "/v1/tables/T07/rounds/2/3")
    assert (status, one["state"], one["outcome"], one["revision"]) == (200, "resulted", "banker", 1)
    assert (one["result"]["player"]["total"], one["result"]["banker"]["total"]) == (3, 9)
    assert one["result"]["bets"]["banker"] == {"result": "win", "odds": "0.95"}

    async def names(query: str) -> tuple[list[tuple[int, int]], bool]:
        _, page = await get(session, server, f"/v1/tables/T07/rounds{query}")
        return [(r["shoe"], r["round"]) for r in page["rounds"]], page["more"]

    every = [(shoe, n) for shoe in (1, 2) for n in (1, 2, 3, 4)]
    assert await names("") == (every, False)
    assert await names("?limit=3") == (every[:3], True)
    assert await names("?limit=3&after=1/3") == (every[3:6], True)
    assert await names("?shoe=2&after=2") == (every[6:], False)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/tables/T99", 404),
        ("/v1/tables/T99/rounds", 404),
        ("/v1/tables/T07/rounds/1/99", 404),
        ("/v1/tables/T07/rounds?shoe=x", 400),
        ("/v1/tables/T07/rounds?after=x", 400),
        *(
            (f"/v1/tables/T07/rounds?{query}", 400)
            for number in (2**63, -(2**63) - 1, 10**30)
            for query in (f"shoe={number}", f"after={number}", f"after=1/{number}", f"after={number}/1")
        ),
    ],
)
async def test_what_cannot_be_read_is_said(
    session: aiohttp.ClientSession, server: GameServer, path: str, status: int
) -> None:
    await post(session, server, body(1))
    got, payload = await get(session, server, path)
    assert got == status
    assert payload["error"]


async def test_a_request_too_large_or_by_the_wrong_method_is_refused(
    session: aiohttp.ClientSession, server: GameServer
) -> None:
    url = server.events_url.replace("{table}", "T07")
    async with session.post(url, data=b"x" * (1 << 20 | 1)) as response:
        assert response.status == 413
    async with session.put(url, data=b"x") as response:
        assert response.status == 405


async def test_a_bad_secret_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="whsec_"):
        GameServer(tmp_path / "x.db", ["passphrase"])


async def test_a_person_accepts_a_history_while_it_runs(
    session: aiohttp.ClientSession, server: GameServer, tmp_path: Path
) -> None:
    await post(session, server, body(1))
    status, answer = await post(session, server, epoch="bbbbbb")
    assert (status, answer["epoch"]) == (403, EPOCH)
    assert accept_epoch(tmp_path / "server.db", "T07", "bbbbbb") == 1
    assert await post(session, server, body(1, epoch="bbbbbb")) == (200, {"next": 2})
    with pytest.raises(FileNotFoundError):
        accept_epoch(tmp_path / "none.db", "T07", "bbbbbb")
    assert accept_epoch(tmp_path / "server.db", "T07", EPOCH) == 2, "one that was held before"


SERVE = """
import sys
from pathlib import Path
from tablectl.gameserver.server import run_gameserver
run_gameserver(Path(sys.argv[1]), [sys.argv[2]], "127.0.0.1", 0, on_ready=lambda s: print(s.url, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_as_a_program_it_stops_cleanly_when_told(tmp_path: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-c", SERVE, str(tmp_path / "server.db"), SECRET]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        os.kill(process.pid, number)
        assert process.wait(5) == 0
