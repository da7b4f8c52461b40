"""Running the reference game server: embedded in a loop, or as a program of its own."""

from __future__ import annotations

import asyncio
import resource
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from tablectl.gameserver.app import connections, make_app
from tablectl.gameserver.betting import SILENCE
from tablectl.gameserver.intake import Intake
from tablectl.gameserver.store import Store
from tablectl.gameserver.turns import Turns
from tablectl.logs import setup_logging

if TYPE_CHECKING:
    from tablectl.gameserver.stream import StreamIntake

INTAKE_PATH = "/v1/tables/{table}/events"
"""Where events are taken, under the base address."""

MOST_CONNECTIONS = 4096
SPARE = 640
"""Descriptors that are not for connections: files, and what the loop takes in before it can turn it away."""


class GameServer:
    """The server. ``secrets``: one or two ``whsec_…``; ``port`` 0 takes a free one, told by :attr:`url`.

    ``nats``: servers (with commas between) from whose stream events are taken besides. ``most``: connections
    at once; else as many as the process's limit of open files bears.

    Raises :class:`ValueError` for a bad secret.
    """

    def __init__(
        self,
        db_path: Path,
        secrets: Sequence[str],
        host: str = "127.0.0.1",
        port: int = 0,
        accept_test: bool = False,
        *,
        nats: str | None = None,
        nats_credential: str = "",
        silence: float = SILENCE,
        most: int | None = None,
    ) -> None:
        self.store = Store(db_path)
        try:
            self.intake = intake = Intake(self.store, secrets, accept_test=accept_test, silence=silence)
        except ValueError:
            self.store.close()
            raise
        self._turns = Turns()
        self._most = _bearable() if most is None else most
        self._connections = connections(self._most)
        app = make_app(self.store, intake, self._turns, self._connections)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        self._listening: asyncio.Server | None = None
        self._watching: asyncio.Task[None] | None = None
        self.stream: StreamIntake | None = None
        if nats is not None:
            from tablectl.gameserver.stream import StreamIntake

            self.stream = StreamIntake(nats, self.store, intake, self._turns.tables, nats_credential)
        self._nats = nats
        self._consuming: asyncio.Task[None] | None = None
        self._accept_test = accept_test
        self._host = host
        self._port = port

    async def start(self) -> None:
        """Listen. Raises :class:`OSError` when the address cannot be had."""
        await self._runner.setup()
        made = self._connections.factory(self._runner)
        loop = asyncio.get_running_loop()
        # The loop takes in so many, a few times over, before the first of them can be turned away.
        backlog = max(8, min(128, self._most // 4))
        self._listening = await loop.create_server(made, self._host, self._port, backlog=backlog)
        self._port = self._listening.sockets[0].getsockname()[1]
        self._watching = asyncio.create_task(self._connections.watch(self._runner))
        if self.stream is not None:
            self._consuming = asyncio.create_task(self.stream.run())

    async def stop(self) -> None:
        """Finish what is being taken, then close."""
        if self._listening is not None:
            self._listening.close()
        for task in (self._consuming, self._watching):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        await self._runner.cleanup()
        self._turns.shutdown()
        self.store.close()

    async def add_player(self, name: str, currency: str = "USD", deposit: int = 0) -> str:
        """Make a player; the token. Raises :class:`ValueError` (:meth:`Players.add`)."""
        add = self.intake.bank.players.add
        return await asyncio.get_running_loop().run_in_executor(
            self._turns.looks, add, name, currency, deposit
        )

    def play_url(self, table: str, token: str = "") -> str:
        """The page of a player. The token stands behind ``#``: no browser sends that to a server."""
        return f"{self.url}/play/{table}" + (f"#{token}" if token else "")

    @property
    def url(self) -> str:
        """The base address, for example ``http://127.0.0.1:8080``."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def events_url(self) -> str:
        """The address for a controller's configuration, with ``{table}`` to be expanded."""
        return self.url + INTAKE_PATH

    @property
    def about(self) -> str:
        """What a person who started it wants to know: where it listens, what to configure, what it takes."""
        test = "accepted" if self._accept_test else "refused (403); --accept-test takes them"
        return (
            f"game server at {self.url}\n"
            f'a controller\'s configuration: [server] url = "{self.events_url}"\n'
            + (f'over NATS: kind = "nats", url = "{self._nats}"\n' if self._nats else "")
            + f"events of test tables: {test}"
        )


def _bearable() -> int:
    """Connections that leave descriptors over; a full process could not even turn one away."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(8, min(MOST_CONNECTIONS, max(soft // 3, soft - SPARE)))


def _raise_limit() -> None:
    """As many open files as this process may allow itself, and are wanted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + SPARE
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def run_gameserver(
    db_path: Path,
    secrets: Sequence[str],
    host: str,
    port: int,
    *,
    accept_test: bool = False,
    nats: str | None = None,
    nats_credential: str = "",
    on_ready: Callable[[GameServer], None] = lambda server: None,
) -> None:
    """Serve until SIGTERM or SIGINT. ``on_ready`` is called when it listens. Call it in the main thread."""

    setup_logging("console", "warning")
    _raise_limit()

    async def serve() -> None:
        server = GameServer(
            db_path, secrets, host, port, accept_test, nats=nats, nats_credential=nats_credential
        )
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        try:
            await server.start()
            on_ready(server)
            await ended.wait()
        finally:
            await server.stop()

    asyncio.run(serve())


def accept_epoch(db_path: Path, table: str, epoch: str) -> int:
    """A person accepts another history of a table, with the server running or not; the event wanted next.

    Raises :class:`LookupError` when that history never came (it names those that did), and
    :class:`FileNotFoundError` without a database.
    """
    if not db_path.exists():
        raise FileNotFoundError(f"{db_path}: no game server's database")
    store = Store(db_path)
    try:
        return store.accept_epoch(table, epoch).next
    finally:
        store.close()
