"""The reference game server in a thread beside the table."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from pathlib import Path

from tablectl.gameserver.server import GameServer


class GameServerThread:
    """The reference game server in a thread of its own loop."""

    def __init__(self, db: Path, secret: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(db, secret), name="gameserver", daemon=True)
        self._server: GameServer | None = None
        self.url = ""
        self.events_url = ""

    def start(self) -> None:
        """Start and wait until it listens. Raises what went wrong."""
        self._thread.start()
        self._ready.wait(20)
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        """Stop and wait."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def player(self, table: str, name: str, deposit: int) -> str:
        """Make a player with ``deposit`` (minor units): the address of the page at that table."""
        assert self._server is not None
        adding = self._server.add_player(name, deposit=deposit)
        token = asyncio.run_coroutine_threadsafe(adding, self._loop).result(10)
        return self._server.play_url(table, token)

    def _run(self, db: Path, secret: str) -> None:
        try:
            self._loop.run_until_complete(self._serve(db, secret))
        except BaseException as error:  # noqa: BLE001 told by start()
            self._error = error
        finally:
            self._ready.set()
            self._loop.close()

    async def _serve(self, db: Path, secret: str) -> None:
        server = self._server = GameServer(db, [secret], accept_test=True)
        await server.start()
        self.url, self.events_url = server.url, server.events_url
        self._ready.set()
        await self._stop.wait()
        await server.stop()
