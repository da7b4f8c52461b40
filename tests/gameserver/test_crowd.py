"""A game server and too many, or bad, peers: controllers get in, the log stays a log, a full disk is said."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import resource
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog

from tablectl.gameserver.server import GameServer, _bearable
from tablectl.logs import setup_logging
from tests.gameserver.posting import SECRET, Request, body, resulted

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Crowd:
    """Peers of a server with a few places, byte by byte."""

    def __init__(self, server: GameServer) -> None:
        self.server = server
        self.port = int(server.url.rpartition(":")[2])
        self.all: list[Streams] = []

    async def send(self, raw: bytes) -> Streams:
        one = await asyncio.open_connection("127.0.0.1", self.port)
        self.all.append(one)
        one[1].write(raw)
        return one

    async def ask(self, raw: bytes) -> tuple[int, str]:
        """Status and header of the answer; 0 when it is cut off."""
        reader, writer = await self.send(raw)
        with contextlib.suppress(ConnectionError):
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)).decode()
            writer.close()
            return int(head[9:12]), head
        return 0, ""

    async def event(self, number: int = 1) -> tuple[int, str]:
        sent = Request([body(number, resulted(number))], at=int(time.time()))
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.headers.items())
        return await self.ask(post("events", head, sent.content))

    def open(self) -> int:
        assert self.server._runner.server is not None
        return sum(one.transport is not None for one in self.server._runner.server.connections)


def post(path: str, head: str, content: bytes) -> bytes:
    first = f"POST /v1/tables/T07/{path} HTTP/1.1\r\nHost: t\r\nContent-Length: {len(content)}\r\n"
    return f"{first}{head}\r\n".encode() + content


@pytest.fixture(autouse=True)
def _logging() -> Iterator[None]:
    before = list(logging.getLogger().handlers)
    setup_logging("json", "info")
    yield
    logging.getLogger().handlers[:] = before
    logging.captureWarnings(False)
    structlog.reset_defaults()


@contextlib.asynccontextmanager
async def crowd(folder: Path, most: int) -> AsyncIterator[Crowd]:
    server = GameServer(folder / "server.db", [SECRET], most=most)
    server.store.sql("PRAGMA synchronous=OFF")
    await server.start()
    made = Crowd(server)
    try:
        yield made
    finally:
        for _, writer in made.all:
            writer.close()
        await server.stop()


HALVES = {
    "a header": b"GET /healthz HTTP/1.1\r\nHost: t\r\nX",
    "a body": b"POST /v1/tables/T07/events HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\nab",
    "nothing": b"",
}


@pytest.mark.parametrize("half", HALVES.values(), ids=list(HALVES))
async def test_however_many_send_half_of_something_a_controller_gets_in(
    tmp_path: Path, half: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    async with crowd(tmp_path, 16) as many:
        for number in range(1, 4):
            for _ in range(40):
                await many.send(half)
                await many.server.add_player(f"p{len(many.all)}")  # the server takes it in meanwhile
            assert many.open() >= 15
            assert (await many.event(number))[0] == 200
            assert many.open() <= 16 + 1
    assert capsys.readouterr().err == ""


async def test_players_that_wait_leave_places_for_controllers(tmp_path: Path) -> None:
    async with crowd(tmp_path, 16) as many:
        assert (await many.event())[0] == 200
        tokens = [await many.server.add_player(name) for name in ("ann", "bob")]
        reader, _ = await many.send(plays(tokens[0]))
        length = int((await reader.readuntil(b"\r\n\r\n")).lower().split(b"content-length: ")[1].split()[0])
        version = json.loads(await reader.readexactly(length))["version"]
        waiting = [await many.send(plays(token, version)) for token in tokens for _ in range(7)]
        async with asyncio.timeout(5):
            while len(many.server._connections._serving) < 14:
                await asyncio.sleep(0.001)
        status, head = await many.ask(plays(tokens[1]))
        assert status == 503 and "Retry-After: 5" in head and "application/json" in head
        assert (await many.event(2))[0] == 200
        for reader, _ in waiting:  # and nobody who waited was cut off
            assert (await reader.readuntil(b"\r\n"))[9:12] == b"200"


def plays(token: str, after: str = "") -> bytes:
    line = f"GET /v1/tables/T07/play?after={after} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {token}"
    return f"{line}\r\n\r\n".encode()


def test_the_bound_leaves_descriptors_over() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        for soft, bound in ((1024, 384), (4096, 3456), (16384, 4096)):
            if before[1] == resource.RLIM_INFINITY or soft <= before[1]:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
                assert _bearable() == bound
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


BAD = {
    "no HTTP": (b"\x16\x03\x01\r\n\r\n", 400),
    "a header's value": (b"GET /healthz HTTP/1.1\r\nHost: t\r\nA: \x00\r\n\r\n", 400),
    "a token": (b"GET /v1/players/me HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer \xff\xfe\r\n\r\n", 400),
    "an id": (
        b"POST /v1/tables/T07/events HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nwebhook-id: \xff\r\n"
        b"webhook-timestamp: 1\r\nwebhook-signature: v1,\xff\r\n\r\n[]",
        400,
    ),
    "gzip": (post("wagers", "Content-Encoding: gzip\r\n", b"abcde"), 400),
    "an expectation": (
        b"POST /v1/tables HTTP/1.1\r\nHost: t\r\nExpect: \xca\r\nContent-Length: 1\r\n\r\n",
        None,
    ),
    "a path": (b"GET /v1/tables/%ff%00 HTTP/1.1\r\nHost: t\r\n\r\n", 404),
}


async def test_bytes_that_are_no_request_are_refused_in_a_line_of_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with crowd(tmp_path, 64) as many:
        for _ in range(5):
            for name, (raw, status) in BAD.items():
                got, _ = await many.ask(raw)
                assert status is None or got == status, name
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["event"], told["level"]) == ("a request that is no HTTP was refused", "warning")


async def test_a_full_disk_is_said_moves_nothing_and_passes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with crowd(tmp_path, 64) as many:
        assert (await many.event())[0] == 200
        store = many.server.store
        store.sql(f"PRAGMA max_page_count={store.sql('PRAGMA page_count')[0][0]}")
        number = 2
        while (answer := await many.event(number))[0] == 200:
            number += 1
        assert answer[0] == 503 and "Retry-After: 5" in answer[1] and "application/json" in answer[1]
        held = store.held("T07")
        assert held is not None and held.next == number
        store.sql("PRAGMA max_page_count=1000000")
        assert (await many.event(number))[0] == 200
    (line,) = capsys.readouterr().err.splitlines()
    assert "OperationalError: database or disk is full" in json.loads(line)["error"]
