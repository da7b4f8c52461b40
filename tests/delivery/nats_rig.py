"""A journal, its delivery over a real NATS server, and the reference game server that consumes."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from pathlib import Path
from typing import Any

from nats.aio.client import Client

from tablectl.clock import Instant, now
from tablectl.delivery.nats import NatsDelivery
from tablectl.gameserver.server import GameServer
from tests.delivery.durable import Durable
from tests.gameserver.posting import SECRET
from tests.nats_server import NatsServer

HURRY = 10
_BEGUN = now().boot


def hurried() -> Instant:
    """The clock of the tests, by which the policy's pauses are short."""
    moment = now()
    return Instant(_BEGUN + (moment.boot - _BEGUN) * HURRY, moment.wall)


class Sender(Durable[NatsDelivery]):
    """A table's journal and its delivery over NATS."""

    def __init__(self, path: Path, url: str, table: str = "T07", **options: Any) -> None:
        made = {"deadline": 2.0, "clock": hurried, **options}
        credential = made.pop("credential", None)
        super().__init__(path, partial(NatsDelivery, url, credential=credential), table, **made)

    @property
    def why(self) -> str:
        """What is the matter with the link, as last told."""
        return self.links[-1][1] if self.links else ""

    async def all_taken(self, server: GameServer, seconds: float = 8.0) -> None:
        """The game server holds everything."""

        def held() -> bool:
            found = server.store.held(self.table)
            return found is not None and found.next == self.journal.last()[1] + 1

        await self.all_stored(seconds)
        await self.until(held, seconds)


class Rig:
    """Everything in one folder; what is open is closed at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "T07.db"
        self.nats = NatsServer(folder).start()
        self._open: list[Any] = []

    def restart(self, more: str = "") -> None:
        """The NATS server again, with the same store and port."""
        self.nats.kill()
        self.nats = NatsServer(self.folder, more, self.nats.port).start()

    async def server(self, db: str = "server.db", **options: Any) -> GameServer:
        made = GameServer(self.folder / db, [SECRET], nats=self.nats.url, **options)
        await made.start()
        self._open.append(made)
        assert made.stream is not None
        await asyncio.wait_for(made.stream.consuming.wait(), 5)
        return made

    def sender(self, url: str = "", **options: Any) -> Sender:
        made = Sender(options.pop("path", self.path), url or self.nats.url, **options).start()
        self._open.append(made)
        return made

    async def stop(self, one: Any) -> None:
        self._open.remove(one)
        await one.stop()

    @contextlib.asynccontextmanager
    async def client(self) -> Any:
        made = Client()
        await made.connect(self.nats.url, allow_reconnect=False)
        yield made
        await made.close()

    async def close(self) -> None:
        for one in reversed(self._open):
            await one.stop()
        self.nats.kill()


class Thief:
    """A TCP proxy that loses what the server says, from a moment on, and then the connection."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.steals = False
        self.deaf = False
        """Takes connections, and says nothing on them."""
        self.muted: set[asyncio.StreamWriter] = set()
        self.stolen = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.StreamWriter] = set()
        self.url = ""

    async def start(self) -> Thief:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"nats://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    def mute(self) -> None:
        """From now on nothing passes over the connections that are there; new ones are good."""
        self.muted |= self._lines

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for line in self._lines:
            line.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.deaf:
            self._lines.add(writer)
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._lines |= {writer, back}
        with contextlib.suppress(OSError):
            await asyncio.gather(self._carry(reader, back, False), self._carry(there, writer, True))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answers: bool) -> None:
        while data := await reader.read(65536):
            if writer in self.muted:
                continue
            if answers and self.steals and b'"seq"' in data:
                self.steals = False
                self.stolen.set()
                break
            writer.write(data)
            await writer.drain()
        writer.close()
