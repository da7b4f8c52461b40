"""Whose turn it is at the store: decided by who waits, and never by the clock."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tablectl.gameserver.play import LOOKING
from tablectl.gameserver.server import GameServer
from tablectl.gameserver.turns import IN_A_ROW, Turns
from tests.gameserver.posting import SECRET, Request, body


def served(waiting: str) -> str:
    """The order in which the work is done that comes in this order: t(able), w(ager), l(ook)."""
    turns, busy, done = Turns(), threading.Event(), list[str]()
    lines = {"t": turns.tables, "w": turns.wagers, "l": turns.looks}
    turns.tables.submit(busy.wait)  # under way, while all of it comes
    for one in waiting:
        lines[one].submit(done.append, one)
    busy.set()
    turns.shutdown()
    return "".join(done)


@pytest.mark.parametrize("crowd", [1, 2000])
def test_a_tables_event_goes_before_all_that_players_ask(crowd: int) -> None:
    assert served("l" * crowd + "w" + "t").startswith("tw")


def test_whoever_waits_behind_others_comes_to_his_turn() -> None:
    row = "t" * (IN_A_ROW - 1)
    assert served("l" + "w" + "t" * 100)[: IN_A_ROW + 4] == f"{row}twltt"
    order = served("w" * 200 + "l" * 4)
    assert [at for at, one in enumerate(order) if one == "l"] == [
        IN_A_ROW + n * (IN_A_ROW + 1) for n in range(4)
    ]
    assert len(order) == 204


def test_a_line_keeps_its_order() -> None:
    turns, done = Turns(), list[int]()
    for number in range(100):
        turns.looks.submit(done.append, number)
    turns.shutdown()
    assert done == list(range(100))


def test_work_that_fails_is_who_waits_fors_and_the_next_is_done() -> None:
    turns, busy = Turns(), threading.Event()
    turns.tables.submit(busy.wait)
    failed: Future[Any] = turns.looks.submit(lambda: 1 // 0)
    given_up = turns.looks.submit(pytest.fail, "it was cancelled")
    assert given_up.cancel()
    done = turns.looks.submit(lambda: 7)
    busy.set()
    assert isinstance(failed.exception(5), ZeroDivisionError)
    assert done.result(5) == 7
    turns.shutdown()
    with pytest.raises(RuntimeError):
        turns.looks.submit(lambda: 7)
    assert not any(line.waiting for line in (turns.tables, turns.wagers, turns.looks))


async def test_each_request_stands_in_its_line_and_few_of_a_crowd_at_once(tmp_path: Path) -> None:
    """What a thousand ask by one piece of news is no thousand things to do before the loop hears a table."""
    server, busy = GameServer(tmp_path / "server.db", [SECRET]), threading.Event()
    await server.start()
    token, turns = await server.add_player("ann"), server._turns
    turns.tables.submit(busy.wait)
    event = Request([body(1)], at=int(time.time()))
    url, mine = f"{server.url}/v1/tables/T07", {"Authorization": f"Bearer {token}"}
    try:
        async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:

            async def asked(method: str, path: str, **options: Any) -> None:
                async with session.request(method, f"{url}/{path}", **options) as answer:
                    assert answer.status == 200

            for _ in range(2 * LOOKING):
                group.create_task(asked("GET", "play", headers=mine))
            bet = {"id": "12345678", "round": "1/1", "bets": [{"area": "tie", "stake": 1}]}
            group.create_task(asked("POST", "wagers", headers=mine, json=bet))
            group.create_task(asked("POST", "events", headers=event.headers, data=event.content))
            async with asyncio.timeout(5):
                lines = (turns.tables, turns.wagers, turns.looks)
                while [len(line.waiting) for line in lines] != [1, 1, LOOKING]:
                    await asyncio.sleep(0.001)
                await asyncio.sleep(0.01)
            assert [len(line.waiting) for line in lines] == [1, 1, LOOKING]
            busy.set()
    finally:
        busy.set()
        await server.stop()
