"""Delivery over real HTTP: to the reference game server, and to servers that do everything wrong."""

from __future__ import annotations

import asyncio
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from aiohttp import web
from standardwebhooks.webhooks import Webhook

from tablectl.clock import SECOND, Instant, now
from tablectl.delivery import ways
from tablectl.delivery.answers import Answer, Failed
from tablectl.delivery.http import HttpDelivery
from tablectl.delivery.job import Job
from tablectl.delivery.placed import Placed
from tablectl.delivery.tls import TlsFiles
from tablectl.delivery.transport import Transport
from tablectl.gameserver.server import GameServer, accept_epoch
from tablectl.journal import Journal, JournalReader
from tests.delivery.durable import Durable
from tests.gameserver.posting import OTHER_SECRET, SECRET

SERVE = """
import sys
from pathlib import Path
from tablectl.gameserver.server import run_gameserver
run_gameserver(Path(sys.argv[1]), [sys.argv[2]], "127.0.0.1", int(sys.argv[3]),
             on_ready=lambda s: print(1, flush=True))
"""


class Sender(Durable[HttpDelivery]):
    """A table's journal and its delivery over HTTP."""

    def __init__(self, path: Path, url: str, **options: Any) -> None:
        super().__init__(path, partial(HttpDelivery, url, [SECRET]), **options)

    async def all_taken(self) -> None:
        await self.all_stored()
        await self.good()


Answering = Callable[[web.Request, int], Awaitable[web.StreamResponse]]


class Hostile:
    """A server that answers by a test's own function, given the number of the request (from 1)."""

    def __init__(self, answering: Answering) -> None:
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self._answering = answering
        self._runner = web.AppRunner(self._app(), handler_cancellation=True, shutdown_timeout=0.1)
        self.url = ""

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        return app

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.read())
        self.headers.append(dict(request.headers))
        return await self._answering(request, len(self.bodies))

    async def start(self) -> None:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/{{table}}"

    async def stop(self) -> None:
        await self._runner.cleanup()

    @property
    def sent(self) -> list[bytes]:
        """What came, without the probes."""
        return [body for body in self.bodies if body != b"[]"]


class Rig:
    def __init__(self, tmp_path: Path) -> None:
        self.path = tmp_path / "T07.db"
        self.server_db = tmp_path / "server.db"
        self._open: list[Any] = []

    async def server(self, port: int = 0) -> GameServer:
        made = GameServer(self.server_db, [SECRET], port=port)
        await made.start()
        self._open.append(made)
        return made

    async def hostile(self, answering: Answering) -> Hostile:
        made = Hostile(answering)
        await made.start()
        self._open.append(made)
        return made

    def sender(self, url: str, **options: Any) -> Sender:
        made = Sender(self.path, url, **options).start()
        self._open.append(made)
        return made

    async def stop(self, one: Any) -> None:
        self._open.remove(one)
        await one.stop()

    async def close(self) -> None:
        for one in reversed(self._open):
            await one.stop()


@pytest_asyncio.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    made = Rig(tmp_path)
    yield made
    await made.close()


def held(server: GameServer) -> list[bytes]:
    return [taken.body for taken in server.store.events("T07", limit=10_000)]


def next_is(request: web.Request, wanted: object) -> web.Response:
    return web.json_response({"next": wanted})


async def test_a_retry_survives_the_refusal_of_what_went_out_before_it(rig: Rig) -> None:
    """The server was mended while it was about to refuse once more."""
    under_way, ordered = asyncio.Event(), asyncio.Event()

    async def answering(request: web.Request, number: int) -> web.StreamResponse:
        if await request.read() == b"[]":
            return next_is(request, 1)
        if not ordered.is_set():
            under_way.set()
            await ordered.wait()
            return web.json_response({"error": "x"}, status=422)
        return next_is(request, 2)

    server = await rig.hostile(answering)
    sender = rig.sender(server.url)
    sender.play()
    await under_way.wait()
    sender.delivery.retry()
    ordered.set()
    await sender.all_taken()
    assert sender.alarms == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "it ended the connection without an answer"),
        (b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"next"', "in the middle of its answer"),
        (b"220 mail.example ESMTP ready\r\n\r\n", "what it answers is no HTTP"),
    ],
)
async def test_how_a_server_breaks_off_is_told_in_words(rig: Rig, said: bytes, words: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"[]")
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        sender = rig.sender(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        await sender.until(lambda: sender.links and "the game server broke off" in sender.links[-1][1])
    assert words in sender.links[-1][1]


# --- the good way -----------------------------------------------------------------------------------------


async def test_events_arrive_once_in_order_byte_for_byte(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender(server.events_url)
    await sender.until(lambda: sender.links[-1:] == [(True, "")])
    for _ in range(5):
        sender.play()
    await sender.all_taken()
    sender.play(250)
    await sender.all_taken()
    assert held(server) == sender.bodies
    assert len(held(server)) == 255
    assert sender.alarms == []


async def test_what_was_stored_before_the_start_is_delivered_with_a_lost_cursor_too(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender(server.events_url)
    sender.play(150)
    await sender.all_taken()
    await rig.stop(sender)
    journal = Journal.open(rig.path, "T07")
    journal.set_acked(0)
    journal.close()
    again = rig.sender(server.events_url)
    await again.all_taken()
    again.play(3)
    await again.all_taken()
    assert held(server) == again.bodies


async def test_nothing_is_sent_before_the_end_of_a_doubt_is_in_the_journal(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a start behind it, from the old word in the file, would call it lost."""
    server = await rig.server()
    sender = rig.sender(server.events_url)
    sender.play(3)
    await sender.all_taken()
    await rig.stop(sender)
    journal = Journal.open(rig.path, "T07")
    journal._doubt(3)
    journal.close()
    looks: list[int | None] = []
    really = JournalReader.sure

    def sure(reader: JournalReader) -> int | None:
        looks.append(really(reader))
        return looks[-1]

    monkeypatch.setattr(JournalReader, "sure", sure)
    monkeypatch.setattr("tablectl.delivery.sender.LOOK", 0.02)
    unsaved: list[int] = []  # the disk is full, or the process is killed
    doubting = rig.sender(server.events_url, on_acked=unsaved.append)
    doubting.play(4)
    await doubting.until(lambda: unsaved and len(looks) > 4)
    assert len(held(server)) == 3
    await rig.stop(doubting)
    again = rig.sender(server.events_url)
    await again.all_taken()
    assert (again.alarms, len(held(server)), looks[-1]) == ([], 7, None)


async def test_a_good_first_answer_ends_the_doubt_about_lost_rows_though_it_moves_nothing(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender(server.events_url)
    sender.play(3)
    await sender.all_taken()
    await rig.stop(sender)
    journal = Journal.open(rig.path, "T07")
    journal._doubt(3)
    assert journal.sure() == 3
    journal.close()
    again = rig.sender(server.events_url)
    await again.until(lambda: again.links[-1:] == [(True, "")])
    assert again.journal.sure() is None, "else a later start would take a lost answer for lost rows"


@pytest.mark.parametrize("more", [1, 6, 7, 8, 20])
@pytest.mark.parametrize("again", ["restart", "retry", "grown before"])
async def test_a_journal_that_was_put_back_never_passes_for_the_history_the_server_has(
    rig: Rig, more: int, again: str
) -> None:
    """Its events under those numbers are others: however far it grows, none counts as delivered unseen."""
    server = await rig.server()
    sender = rig.sender(server.events_url)
    sender.play(7)
    await sender.all_taken()
    await rig.stop(sender)
    back = {path: path.read_bytes() for path in rig.path.parent.glob("T07.db*")}
    sender = rig.sender(server.events_url)
    sender.play(7)
    await sender.all_taken()
    await rig.stop(sender)
    for path in rig.path.parent.glob("T07.db*"):
        path.unlink()
    for path, content in back.items():
        path.write_bytes(content)
    taken = held(server)

    sender = Sender(rig.path, server.events_url)
    if again == "grown before":
        sender.play(more)
    rig._open.append(sender.start())
    await sender.until(lambda: sender.alarms)
    if again != "grown before":
        sender.play(more)
    if again == "retry":
        sender.alarms.clear()
        sender.delivery.retry()
        await sender.until(lambda: sender.alarms)
    elif again == "restart":
        await rig.stop(sender)
        sender = rig.sender(server.events_url)
        await sender.until(lambda: sender.alarms)
    assert {code for code, _ in sender.alarms} == {"delivery-halted"}
    assert sender.outbox.acked == 7
    assert not sender.links[-1][0]
    assert held(server) == taken


async def test_the_link_follows_a_server_that_goes_and_comes_back_in_mid_stream(rig: Rig) -> None:
    server = await rig.server()
    port = int(server.url.rsplit(":", 1)[1])
    sender = rig.sender(server.events_url, deadline=1.0)
    for _ in range(3):
        sender.play(20)
        await sender.until(lambda: sender.journal.acked())
        await rig.stop(server)
        sender.play(7)
        await sender.until(lambda: not sender.links[-1][0])
        server = await rig.server(port)
        await sender.all_taken()
    assert held(server) == sender.bodies
    assert sender.alarms == []


async def test_a_server_killed_in_mid_stream_has_every_event_once(rig: Rig, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-c", SERVE, str(rig.server_db), SECRET, str(port)]
    sender = rig.sender(f"http://127.0.0.1:{port}/v1/tables/{{table}}/events")
    for turn in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            await asyncio.to_thread(process.stdout.readline)
            sender.delivery.retry()
            for _ in range(30):
                sender.play(3)
                await asyncio.sleep(0)
            await sender.until(lambda: sender.journal.acked() > turn * 90)  # noqa: B023 used at once
            process.kill()
    server = await rig.server(port)
    sender.delivery.retry()
    await sender.all_taken()
    assert held(server) == sender.bodies
    assert server.store.count_rounds("T07", sender.journal.epoch) == 270


async def test_a_replaced_server_gets_everything_again(rig: Rig, tmp_path: Path) -> None:
    server = await rig.server()
    sender = rig.sender(server.events_url)
    sender.play(120)
    await sender.all_taken()
    await rig.stop(sender)
    rig.server_db = tmp_path / "new.db"
    new = await rig.server()
    sender = rig.sender(new.events_url)
    await sender.all_taken()
    assert held(new) == sender.bodies


async def test_another_history_is_refused_with_an_alarm_until_accepted(rig: Rig, tmp_path: Path) -> None:
    server = await rig.server()
    sender = rig.sender(server.events_url)
    sender.play(5)
    await sender.all_taken()
    await rig.stop(sender)
    rig.path = tmp_path / "replaced.db"
    other = rig.sender(server.events_url)
    other.play(2)
    await other.until(lambda: other.alarms)
    ((code, text),) = other.alarms
    assert code == "delivery-link"
    assert "second controller, a replaced PC" in text
    assert not other.links[-1][0]
    assert len(held(server)) == 5
    accept_epoch(rig.server_db, "T07", other.journal.epoch)
    other.delivery.retry()
    await other.all_taken()
    assert held(server) == other.bodies


async def test_a_journal_restored_from_yesterday_halts(rig: Rig) -> None:
    server = await rig.server()
    sender = rig.sender(server.events_url)
    sender.play(5)
    await sender.all_taken()
    yesterday = rig.path.with_name("yesterday.db")
    sender.journal._db.execute("VACUUM INTO ?", (str(yesterday),))
    sender.play(5)
    await sender.all_taken()
    await rig.stop(sender)
    rig.path = yesterday
    old = rig.sender(server.events_url)
    await old.until(lambda: old.alarms)
    assert old.alarms[0][0] == "delivery-halted"
    assert "the server is ahead of this journal" in old.alarms[0][1]


async def test_a_wrong_secret_and_a_wrong_clock_are_told_apart(rig: Rig) -> None:
    server = await rig.server()

    def late() -> Instant:
        moment = now()
        return Instant(moment.boot, moment.wall - 600 * SECOND)

    sender = rig.sender(server.events_url, clock=late)
    await sender.until(lambda: sender.alarms)
    assert re.search(r"60[01] s behind", sender.alarms[0][1])
    assert "its clock and ours differ by" in sender.alarms[0][1]
    await rig.stop(sender)
    wrong = Sender(rig.path, server.events_url)
    wrong.delivery._keys = (bytes(32),)
    wrong.start()
    await wrong.until(lambda: wrong.alarms)
    assert "no signature fits" in wrong.alarms[0][1]
    await wrong.stop()


# --- requests as the contract says ------------------------------------------------------------------------


async def test_requests_are_signed_anew_and_sent_byte_for_byte_the_same(rig: Rig) -> None:
    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        body = await request.read()
        if body == b"[]":
            return next_is(request, 1)
        return web.Response(status=503) if len(hostile.sent) < 3 else next_is(request, 2)

    hostile = await rig.hostile(answering)
    wall = [1_796_000_000]

    def clock() -> Instant:
        wall[0] += 1
        return Instant(now().boot, wall[0] * SECOND)

    sender = rig.sender(hostile.url, clock=clock)
    sender.play()
    await sender.all_taken()
    assert hostile.sent[:3] == [sender.bodies[0]] * 3
    sends = [h for b, h in zip(hostile.bodies, hostile.headers, strict=True) if b != b"[]"]
    assert {h["webhook-id"] for h in sends} == {f"T07-{sender.journal.epoch}-000000000001"}
    assert len({h["webhook-timestamp"] for h in sends}) == 3
    assert len({h["webhook-signature"] for h in sends}) == 3
    assert {h["Content-Type"] for h in sends} == {"application/cloudevents+json"}


async def test_a_batch_is_the_stored_bodies_and_the_witness_verifies_all(rig: Rig) -> None:
    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        body = await request.read()
        Webhook(SECRET).verify(body, dict(request.headers), json_parse=False)
        assert request.path == "/T07"
        return next_is(request, 1 if body == b"[]" else 4)

    hostile = await rig.hostile(answering)
    journal = Sender(rig.path, hostile.url)
    journal.play(3)
    journal.journal.close()
    sender = rig.sender(hostile.url)
    await sender.all_taken()
    assert hostile.bodies[:2] == [b"[]", b"[" + b",".join(sender.bodies) + b"]"]
    epoch = sender.journal.epoch
    assert hostile.headers[1]["webhook-id"] == f"T07-{epoch}-000000000001_T07-{epoch}-000000000003"
    assert hostile.headers[0]["Content-Type"] == "application/cloudevents-batch+json"


async def test_whatever_is_said_of_who_has_placed_the_events_go_on(rig: Rig) -> None:
    good = '{"shoe": 1, "round": 2, "players": 3, "placed": 2}'
    odd = ["null", "7", "NaN", "1e999", '"x"', "[1]", "{}", "[" * 50 + "]" * 50, good.replace("2}", "4}")]

    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        text = f'{{"next": {n}, "placed": {good if n == 3 else odd[n % len(odd)]}}}'  # 1 is the probe
        return web.Response(text=text, content_type="application/json")

    hostile = await rig.hostile(answering)
    sender = rig.sender(hostile.url)
    for _ in range(2 * len(odd)):
        await sender.all_taken()
        sender.play()
    await sender.all_taken()
    told = {why for _, why in sender.links[1:]} - {
        "the game server is owed events older than 2 s"
    }  # a slow machine
    assert (told, sender.alarms) == ({""}, [])
    assert sender.placed == [Placed(1, 2, 3, 2)]
    assert hostile.sent == sender.bodies


async def test_an_idle_link_is_probed_every_five_seconds(rig: Rig) -> None:
    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        return next_is(request, 1)

    hostile = await rig.hostile(answering)
    hurry = now().boot

    def clock() -> Instant:  # ten times as fast
        moment = now()
        return Instant(hurry + (moment.boot - hurry) * 10, moment.wall)

    sender = rig.sender(hostile.url, clock=clock)
    started = time.monotonic()
    await sender.until(lambda: len(hostile.bodies) >= 4)
    assert set(hostile.bodies) == {b"[]"}
    assert time.monotonic() - started > 1.4
    assert sender.links == [(False, "the game server has not answered yet"), (True, "")]


# --- servers that do everything wrong ---------------------------------------------------------------------


async def test_a_server_that_commits_and_drops_the_connection_has_one_result(rig: Rig) -> None:
    server = await rig.server()
    dropped: list[bytes] = []

    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        body = await request.read()
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                server.url + "/v1/tables/T07/events", data=body, headers=request.headers
            ) as response,
        ):
            payload = await response.json()
        if body != b"[]" and body not in dropped:
            dropped.append(body)
            assert request.transport is not None
            request.transport.abort()
        return web.json_response(payload, status=response.status)

    hostile = await rig.hostile(answering)
    sender = rig.sender(hostile.url)
    sender.play(3)
    await sender.all_taken()
    assert dropped
    assert held(server) == sender.bodies
    assert server.store.count_rounds("T07", sender.journal.epoch) == 3


def answer(next_: int) -> bytes:
    body = b'{"next": %d}' % next_
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


UNASKED = [answer(999), answer(7) + answer(8), answer(9)[:20], answer(9)[:-1], b"\r\n", b"x"]


@pytest.mark.parametrize("unasked", UNASKED)
async def test_what_comes_unasked_on_a_kept_connection_is_no_answer(unasked: bytes) -> None:
    """A part of one spoils the answer that follows it, and then the try has failed."""
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        while await reader.readuntil(b"[]"):
            requests += 1
            writer.write(answer(requests))
            said.set()
            await asked.wait()
            writer.write(unasked)
            await writer.drain()
            said.set()

    said, asked = asyncio.Event(), asyncio.Event()
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    transport = Transport(url, "T07", 5.0, TlsFiles(), now)
    for wanted in (1, 2):
        asked.clear()
        got = await transport.post([b"key"], "T07-probe", [])
        assert got == Answer(200, {"next": wanted}) or isinstance(got, Failed) or got.body is None
        said.clear()
        asked.set()
        await said.wait()
        for _ in range(5):
            await asyncio.sleep(0)  # what the server has sent is there: the loop reads it
    await transport.close()
    server.close()


async def test_an_answer_after_the_deadline_does_not_count_and_the_same_bytes_go_again(rig: Rig) -> None:
    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        if await request.read() == b"[]":
            return next_is(request, 1)
        if len(hostile.sent) == 1:
            await asyncio.sleep(0.5)
        return next_is(request, 2)

    hostile = await rig.hostile(answering)
    sender = rig.sender(hostile.url, deadline=0.2)
    sender.play()
    await sender.all_taken()
    assert hostile.sent == sender.bodies * 2
    assert any("no answer from the game server within 0.2 s" in reason for _, reason in sender.links)


async def redirect(request: web.Request, n: int) -> web.StreamResponse:
    return web.json_response({"next": 2}, status=301 + n % 2 * 6, headers={"Location": "/elsewhere"})


async def html(request: web.Request, n: int) -> web.StreamResponse:
    return web.Response(text="<html>Log in to the Wi-Fi</html>", content_type="text/html")


async def endless(request: web.Request, n: int) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b" " * 10_000)


async def trickle(request: web.Request, n: int) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    for byte in b'{"next": 2}' * 100:
        await response.write(bytes([byte]))
        await asyncio.sleep(0.05)
    return response


async def mute(request: web.Request, n: int) -> web.StreamResponse:
    await asyncio.sleep(60)
    raise AssertionError


async def deep(request: web.Request, n: int) -> web.StreamResponse:
    return web.Response(text="[" * 60_000)


@pytest.mark.parametrize(
    ("answering", "reason"),
    [
        (redirect, f"a redirect, which is not followed. {ways.URL}"),
        (html, f'answers 200 without {{"next": N}}, which acknowledges nothing. {ways.URL}'),
        (endless, "longer than 64 KiB"),
        (trickle, "no answer from the game server within 0.3 s"),
        (mute, "no answer from the game server within 0.3 s"),
        (deep, 'answers 200 without {"next": N}'),
    ],
)
async def test_what_is_no_acknowledgement_delays_nothing_and_stops_at_once(
    rig: Rig, answering: Answering, reason: str
) -> None:
    hostile = await rig.hostile(answering)
    sender = rig.sender(hostile.url, deadline=0.3)
    sender.play()
    await sender.until(lambda: len(hostile.bodies) >= 2 and reason in sender.links[-1][1])
    assert sender.outbox.acked == 0
    assert sender.links[-1][0] is False
    assert {h.get("Host") for h in hostile.headers} == {hostile.url.split("/")[2]}
    started = time.monotonic()
    await rig.stop(sender)
    assert time.monotonic() - started < 2.5


async def test_always_422_to_the_12th_event_alarms_and_keeps_the_order(rig: Rig) -> None:
    taken: list[int] = []

    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        events = await request.json()
        for event in events if isinstance(events, list) else [events]:
            if int(event["sequence"]) == 12:
                return web.json_response({"error": "\x1b[2Jno such bet"}, status=422)
        if events:
            first, last = (
                (int(events[0]["sequence"]), int(events[-1]["sequence"]))
                if isinstance(events, list)
                else (int(events["sequence"]),) * 2
            )
            taken.extend(range(first, last + 1))
        return next_is(request, (taken[-1] if taken else 0) + 1)

    hostile = await rig.hostile(answering)
    sender = rig.sender(hostile.url)
    sender.play(30)
    await sender.until(lambda: sender.alarms)
    sender.play(5)
    await asyncio.sleep(0.1)
    assert taken == list(range(1, 12))
    refused = 'the server refuses event 12: the game server answers 422: "[2Jno such bet"'
    assert sender.alarms == [("delivery-halted", f"{refused}. {ways.refused(12)}")]
    assert sender.journal.acked() == 11


@pytest.mark.parametrize(("header", "least"), [("120", 119), ("9" * 10, 299)])
async def test_retry_after_is_obeyed(rig: Rig, header: str, least: int) -> None:
    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        return web.Response(status=429, headers={"Retry-After": header})

    hostile = await rig.hostile(answering)
    sender = rig.sender(hostile.url)
    await sender.until(lambda: sender.delivery.outbox and sender.outbox.failures)
    left = (sender.outbox.not_before - now().boot) / SECOND
    assert least < left <= 300
    sender.play()
    await asyncio.sleep(0.1)
    assert len(hostile.bodies) == 1


async def test_a_server_that_is_not_there(rig: Rig) -> None:
    sender = rig.sender("http://127.0.0.1:1/{table}")
    await sender.until(lambda: sender.links and "cannot be reached" in sender.links[-1][1])
    assert sender.alarms == []


async def test_a_name_that_does_not_exist_or_hangs_holds_up_nothing(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: time.sleep(3))
    sender = rig.sender("http://nowhere.invalid/{table}", deadline=0.2)
    await sender.until(lambda: sender.links and "within 0.2 s" in sender.links[-1][1])
    started = time.monotonic()
    await rig.stop(sender)
    assert time.monotonic() - started < 2.5


async def test_a_journal_that_cannot_be_read_is_tried_again(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = await rig.server()
    sender = rig.sender(server.events_url)
    await sender.until(lambda: sender.links[-1:] == [(True, "")])
    with monkeypatch.context() as broken:
        broken.setattr("tablectl.journal.JournalReader.bodies", lambda *_: [])
        sender.play()
        await sender.until(lambda: "the journal cannot be read" in sender.links[-1][1])
    await sender.all_taken()


@pytest.mark.parametrize("change", ["sequence = NULL", "type = 'x'", "raw = x'00'"])
async def test_a_damaged_row_halts_the_delivery_once_what_comes_before_it_is_sent(
    rig: Rig, change: str
) -> None:
    server = await rig.server()
    sender = Sender(rig.path, server.events_url)
    sender.play(30)
    bodies = sender.bodies
    with closing(sqlite3.connect(rig.path)) as db, db:
        db.execute(f"UPDATE rows SET {change} WHERE row = 21")
    sender.start()
    try:
        await sender.until(lambda: sender.alarms)
        assert held(server) == bodies[:20]
        ((code, text),) = sender.alarms
        assert code == "delivery-halted" and "T07.db: row 21: " in text
        assert "restore a backup (tablectl journal restore)" in text
        assert sender.journal.acked() == 20 and not sender.links[-1][0]
    finally:
        await sender.stop()


@pytest.mark.parametrize("url", ["", "ftp://x/", "http://", "/path", "http://u:p@host/", "http://[x/"])
async def test_a_bad_address_or_secret_is_refused_at_load(rig: Rig, url: str) -> None:
    with pytest.raises(ValueError, match="the game server's address"):
        Sender(rig.path, url)


async def test_two_secrets_send_two_signatures(rig: Rig) -> None:
    async def answering(request: web.Request, n: int) -> web.StreamResponse:
        for secret in (SECRET, OTHER_SECRET):
            Webhook(secret).verify(await request.read(), dict(request.headers))
        return next_is(request, 1)

    hostile = await rig.hostile(answering)
    journal = Journal.open(rig.path, "T07")
    links: list[bool] = []
    job = Job(
        journal.reader, "T07", journal.epoch, lambda link: links.append(link.good), lambda _: None, print
    )
    delivery = HttpDelivery(hostile.url, [SECRET, OTHER_SECRET], job)
    task = asyncio.create_task(delivery.run())
    async with asyncio.timeout(5):
        while True not in links:
            await asyncio.sleep(0.01)
    task.cancel()
