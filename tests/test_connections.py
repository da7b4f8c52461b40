"""A server of ours and peers that mean no good: commands always get in, and the log stays a log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from aiohttp import web

from tablectl.connections import Connections
from tablectl.logs import setup_logging


@pytest.fixture
def _logging() -> Iterator[None]:
    before = list(logging.getLogger().handlers)
    yield
    logging.getLogger().handlers[:] = before
    logging.captureWarnings(False)
    structlog.reset_defaults()


class Server:
    """Answers ``/now`` at once, with the length of the body, and ``/wait`` when it is told to."""

    def __init__(self, path: Path, connections: Connections) -> None:
        self.path = path
        self.connections = connections
        self.go_on = asyncio.Event()
        app = web.Application(client_max_size=1024, middlewares=[connections.serve])
        app.add_routes([web.route("*", "/now", self._now), web.route("*", "/wait", self._wait)])
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)

    async def _now(self, request: web.Request) -> web.Response:
        return web.json_response(len(await request.read()))

    async def _wait(self, request: web.Request) -> web.Response:
        await self.go_on.wait()
        return web.json_response(0)

    async def send(self, raw: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_unix_connection(str(self.path))
        writer.write(raw)
        return reader, writer

    async def ask(self, raw: bytes, *, ends: bool = False) -> bytes:
        """The status of what is answered; empty when it is cut off."""
        reader, writer = await self.send(raw)
        if ends:
            writer.write_eof()
        try:
            line = await asyncio.wait_for(reader.readline(), 5)
            return line[9:12]
        except ConnectionError:
            return b""
        finally:
            writer.close()

    async def serving(self, count: int) -> None:
        async with asyncio.timeout(5):
            while len(self.connections._serving) != count:
                await asyncio.sleep(0.001)


@contextlib.asynccontextmanager
async def served(folder: Path, connections: Connections) -> AsyncIterator[Server]:
    server = Server(folder / "s", connections)
    await server.runner.setup()
    await web.UnixSite(server.runner, str(server.path)).start()
    try:
        yield server
    finally:
        server.go_on.set()
        await server.runner.cleanup()


def request(method: str, path: str, *more: str, body: bytes = b"") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: t", *more, "", ""]).encode() + body


ASKS, WAITS, ORDERS = request("GET", "/now"), request("GET", "/wait"), request("POST", "/now")

BAD = {
    "long line": b"GET /" + b"0" * 9000 + b" HTTP/1.1\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    "no method": b"G\x00T / HTTP/1.1\r\n\r\n",
    "body breaks off": request("POST", "/now", "Content-Length: 100", body=b"abc"),
    "no gzip": request("POST", "/now", "Content-Encoding: gzip", "Content-Length: 5", body=b"abcde"),
    "no deflate": request("GET", "/now", "Content-Encoding: deflate", "Content-Length: 5", body=b"abcde"),
    "no chunks": request("POST", "/now", "Transfer-Encoding: chunked", body=b"zzz\r\n"),
    "half a chunk": request("POST", "/now", "Transfer-Encoding: chunked", body=b"5\r\nab"),
    "two lengths": request("POST", "/now", "Content-Length: 5", "Content-Length: 6", body=b"abcde"),
    "too long": request("POST", "/now", "Content-Length: 2000", body=b"a" * 2000),
    "no expectation": request("POST", "/now", "Expect: nothing", "Content-Length: 3", body=b"abc"),
}


@pytest.mark.usefixtures("_logging")
async def test_no_request_writes_a_traceback_or_floods_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setup_logging("json", "info")
    async with served(tmp_path, Connections(10, 15.0)) as server:
        for raw in BAD.values():
            for _ in range(20):
                assert await server.ask(raw, ends=True) in (b"", b"400", b"413", b"417")
        assert await server.ask(ASKS) == b"200"
    lines = capsys.readouterr().err.splitlines()
    told = [json.loads(line) for line in lines]
    assert [(one["event"], one["level"]) for one in told] == [
        ("a request that is no HTTP was refused", "warning")
    ]


@pytest.mark.usefixtures("_logging")
def test_what_libraries_say_is_a_line_and_of_one_kind_a_few(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("json", "info")
    library = logging.getLogger("library")
    for number in range(100):
        try:
            raise ValueError("\x1b[2J\u202e" + "x" * 5_000)
        except ValueError:
            library.exception("peer %d said\nno", number)
    library.info("not worth a line")
    library.warning("another kind")
    one, *more, last = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(more) == 4 and last["event"] == "another kind" and last["level"] == "warning"
    assert (one["event"], one["level"], one["logger"]) == ("peer 0 said; no", "error", "library")
    assert one["error"].startswith("ValueError: \\x1b[2J\\u202exxx") and len(one["error"]) < 400
    assert "test_connections.py" in one["at"]


async def test_a_connection_that_is_used_is_not_cut_off_however_long_it_lasts(tmp_path: Path) -> None:
    """Quiet is what has not been served for so long, and not what was quiet whenever somebody looked."""
    connections = Connections(10, 15.0)
    async with served(tmp_path, connections) as server:
        reader, writer = await server.send(b"")
        now = asyncio.get_running_loop().time

        def look(later: float) -> None:
            assert server.runner.server is not None
            connections._look(list(server.runner.server.connections), now() + later)

        for _ in range(60):
            for one in connections._quiet:  # as if half a second passed
                connections._quiet[one] -= 0.5
            look(0)
            writer.write(ASKS)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            await reader.readexactly(1)
        look(14.9)
        assert not reader.at_eof() and len(connections._quiet) == 1
        look(15.1)
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()


async def test_who_asks_keeps_nobody_out_who_orders(tmp_path: Path) -> None:
    users = iter([1] * 20 + [2] * 20)
    async with served(tmp_path, Connections(16, 60, kept=4, share=8, who=lambda _: next(users))) as server:
        held = [await server.send(WAITS) for _ in range(19)]
        await server.serving(8)
        assert await server.ask(ASKS) == b"503", "his share"
        held += [await server.send(WAITS) for _ in range(5)]
        await server.serving(12)
        assert await server.ask(ASKS) == b"503", "nobody asks any more"
        for _ in range(3):
            assert await server.ask(ORDERS) == b"200"
        for _, writer in held:  # they hang up: at once there is room, though nobody looked after them
            writer.close()
        async with asyncio.timeout(5):
            while await server.ask(ASKS) != b"200":
                pass


async def test_half_a_body_holds_a_place_for_a_while_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablectl.connections.BODY_WAIT", 0.05)
    half = request("POST", "/now", "Content-Length: 100", body=b"abc")
    async with served(tmp_path, Connections(3, 60, kept=1)) as server:
        held = [await server.send(half) for _ in range(3)]
        await server.serving(3)
        assert await server.ask(ASKS) == b"503"
        assert await server.ask(ORDERS) == b"200", "the oldest of them is cut off for an order"
        answers = [(await reader.readline())[9:12] for reader, _ in held]
        assert answers == [b"", b"408", b"408"]
        for _, writer in held:
            writer.close()
        assert await server.ask(ASKS) == b"200"


async def test_half_a_header_may_take_less_long_than_a_pause_between_requests(tmp_path: Path) -> None:
    connections = Connections(10, 75.0, header=10.0)
    async with served(tmp_path, connections) as server:
        half, _ = await server.send(request("GET", "/now")[:-3])
        used, writer = await server.send(ASKS)
        assert (await used.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        await used.readexactly(1)
        assert server.runner.server is not None
        now, there = asyncio.get_running_loop().time(), server.runner.server.connections
        connections._look(there, now)  # the first look at the one that asked for nothing yet
        connections._look(there, now + 9.9)
        await asyncio.sleep(0)
        assert len(server.runner.server.connections) == 2
        connections._look(there, now + 10.1)
        with contextlib.suppress(ConnectionError):
            assert await asyncio.wait_for(half.read(), 5) == b""
        writer.write(ASKS)
        assert (await used.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
