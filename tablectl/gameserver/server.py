"""Running the reference game server: embedded in a loop, or as a program of its own."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from aiohttp import web

from tablectl.gameserver.app import make_app
from tablectl.gameserver.betting import SILENCE
from tablectl.gameserver.intake import Intake
from tablectl.gameserver.store import Store

if TYPE_CHECKING:
    from tablectl.gameserver.stream import StreamIntake

INTAKE_PATH = "/v1/tables/{table}/events"
"""Where events are taken, under the base address."""


class GameServer:
    """The server. ``secrets``: one or two ``whsec_…``; ``port`` 0 takes a free one, told by :attr:`url`.

    ``nats``: servers (with commas between) from whose stream events are taken besides.

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
    ) -> None:
        self.store = Store(db_path)
        try:
            self.intake = intake = Intake(self.store, secrets, accept_test=accept_test, silence=silence)
        except ValueError:
            self.store.close()
            raise
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="gameserver")
        self._runner = web.AppRunner(
            make_app(self.store, intake, self._pool), access_log=None, shutdown_timeout=1.0
        )
        self.stream: StreamIntake | None = None
        if nats is not None:
            from tablectl.gameserver.stream import StreamIntake

            self.stream = StreamIntake(nats, self.store, intake, self._pool, nats_credential)
        self._nats = nats
        self._consuming: asyncio.Task[None] | None = None
        self._accept_test = accept_test
        self._host = host
        self._port = port

    async def start(self) -> None:
        """Listen. Raises :class:`OSError` when the address cannot be had."""
        await self._runner.setup()
        await web.TCPSite(self._runner, self._host, self._port).start()
        self._port = self._runner.addresses[0][1]
        if self.stream is not None:
            self._consuming = asyncio.create_task(self.stream.run())

    async def stop(self) -> None:
        """Finish what is being taken, then close."""
        if self._consuming is not None:
            self._consuming.cancel()
            await asyncio.wait({self._consuming})
        await self._runner.cleanup()
        self._pool.shutdown()
        self.store.close()

    async def add_player(self, name: str, currency: str = "USD", deposit: int = 0) -> str:
        """Make a player; the token. Raises :class:`ValueError` (:meth:`Players.add`)."""
        add = self.intake.bank.players.add
        return await asyncio.get_running_loop().run_in_executor(self._pool, add, name, currency, deposit)

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
