"""After an outage: everything is accepted, in order, in few requests, one at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from aiohttp import web

from tablectl.clock import SECOND, Instant, now
from tests.delivery.test_http import Rig, held


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    made = Rig(tmp_path)
    yield made
    await made.close()


async def test_ten_minutes_against_a_window_of_five(rig: Rig) -> None:
    """What was signed during the outage would be too old: every try is signed anew, the bytes stay."""
    behind = [600 * SECOND]

    def clock() -> Instant:
        moment = now()
        return Instant(moment.boot, moment.wall - behind[0])

    server = await rig.server()
    port = int(server.url.rsplit(":", 1)[1])
    await rig.stop(server)
    sender = rig.sender(server.events_url, clock=clock)
    sender.play(5)
    await sender.until(lambda: sender.delivery.outbox and sender.outbox.failures >= 2)
    behind[0] = 0  # ten minutes later
    server = await rig.server(port)
    sender.delivery.retry()
    await sender.all_taken()
    assert held(server) == sender.bodies
    assert sender.alarms == []


async def test_what_came_in_an_hour_goes_out_in_order_one_request_at_a_time(rig: Rig) -> None:
    under_way, most, wanted, sizes = 0, 0, 1, list[int]()

    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        nonlocal under_way, most, wanted
        under_way += 1
        most = max(most, under_way)
        events = json.loads(await request.read())
        await asyncio.sleep(0.01)
        for event in events if isinstance(events, list) else [events]:
            assert int(event["sequence"]) == wanted
            wanted += 1
        if events:
            sizes.append(len(events) if isinstance(events, list) else 1)
        under_way -= 1
        return web.json_response({"next": wanted})

    hostile = await rig.hostile(answering)
    sender = rig.sender("http://127.0.0.1:1/{table}")
    sender.play(200)
    await sender.until(lambda: sender.delivery.outbox and sender.outbox.failures)
    await rig.stop(sender)
    sender = rig.sender(hostile.url)
    await sender.all_taken()
    assert (most, sizes, wanted) == (1, [100, 100], 201)


async def test_many_tables_do_not_come_back_at_the_same_moment() -> None:
    """The jitter spreads them over half of each pause."""
    from tablectl.delivery.actions import Probe
    from tablectl.delivery.answers import Failed
    from tablectl.delivery.outbox import BACKOFF_CAP, Outbox

    pauses = set()
    for table in range(300):
        box = Outbox.begin(0, head=0, acked=0)
        for _ in range(8):
            box = box.sending(Probe()).answered(0, Failed("gone"), table / 300)
        pauses.add(box.not_before // SECOND)
    assert len(pauses) >= BACKOFF_CAP // SECOND // 2
    assert max(pauses) <= BACKOFF_CAP // SECOND
