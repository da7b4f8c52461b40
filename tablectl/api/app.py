"""The local interface: HTTP over the table's unix socket (contract, section 4).

It shows only what is committed.  Commands are in :mod:`tablectl.api.commands`, the past in
:mod:`tablectl.api.past`, the forms of requests in :mod:`tablectl.api.forms`; what a command means is
for the table to decide.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sqlite3
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tablectl.api.commands import Commands, error, peer, peer_of
from tablectl.api.forms import parse_number
from tablectl.api.metrics import Metrics
from tablectl.api.past import PastRoutes
from tablectl.clock import SECOND, Instant, now
from tablectl.connections import Connections
from tablectl.journal import JournalFault, JournalReader, Outgoing
from tablectl.lock import TableLocked
from tablectl.past.looking_back import LookingBack
from tablectl.profiles import ConfigError
from tablectl.service import Published
from tablectl.views import state_view, with_present

BODY = 16 * 1024
"""The longest body of a request."""
NEWER_WAIT = 5.0
"""How long (s) ``/v1/state?newer=ROW`` waits for a newer row before it answers all the same."""
SEEN = 0.5
"""Who follows the state asks again within so long (s) after each answer."""
MOST = 10**12
"""The highest row or sequence number that is asked for."""
PING = 15.0
"""How often (s) an idle event stream says that it is there."""
STALLED = 10.0
"""A client that takes no byte for so long (s) is cut off."""
_UNREADABLE = (JournalFault, sqlite3.Error)
"""What reading stored events may raise."""
MOST_STREAMS = 64
"""How many clients may follow events at the same time."""
MOST_CONNECTIONS = 256
KEPT_FOR_ORDERS = 32
SHARE = 96
"""Requests of one user that are answered at the same time, of those that ask and of those that order."""
IDLE = 60.0
"""A connection that asks for nothing for so long (s) is cut off."""


@dataclass(slots=True)
class Facts:
    """What the interface tells besides the state; filled in by the runtime."""

    table: str
    epoch: str
    test: bool
    extra: Callable[[], dict[str, Any]]
    delivery: Callable[[], dict[str, Any]]
    last_result: Callable[[], dict[str, Any] | None]
    health: Callable[[], str | None]


class Api:
    """The application and its socket. All methods run on the service loop."""

    def __init__(
        self,
        socket_path: Path,
        facts: Facts,
        published: Published,
        commands: Commands,
        reader: JournalReader,
        back: LookingBack,
        *,
        clock: Callable[[], Instant] = now,
        more: Sequence[web.RouteDef] = (),
    ) -> None:
        self._path = socket_path
        self._facts = facts
        self._published = published
        self._commands = commands
        self._reader = reader
        self._back = back
        self._clock = clock
        self._more = more
        self._connections = Connections(
            MOST_CONNECTIONS, IDLE, kept=KEPT_FOR_ORDERS, share=SHARE, who=lambda request: peer(request)[1]
        )
        self._runner: web.AppRunner | None = None
        self._bound = False
        self._following: list[web.Request] = []

    async def start(self) -> None:
        """Bind and listen; a left-over socket is replaced. Raises :class:`TableLocked` if it is in use."""
        app = web.Application(client_max_size=BODY, middlewares=[self._connections.serve])
        app.add_routes(
            [
                web.get("/v1/state", self._state),
                *self._commands.routes(),
                web.get("/v1/delivery", self._delivery),
                web.get("/v1/events", self._events),
                *PastRoutes(self._published, self._back).routes(),
                *self.read_only_routes(),
                *self._more,
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        _clear(self._path)
        await web.UnixSite(self._runner, str(self._path)).start()
        self._bound = True
        # Only now: the umask of a service would leave it closed to the group.
        self._path.chmod(0o660)

    def read_only_routes(self) -> list[web.RouteDef]:
        """What may be shown to anybody who reaches it: no command, no event, no past."""
        return [web.get("/healthz", self._healthz), web.get("/metrics", Metrics(self._view).answer)]

    async def watch(self) -> None:
        """For ever: who keeps a connection and asks for nothing is cut off."""
        assert self._runner is not None
        await self._connections.watch(self._runner)

    async def stop(self) -> None:
        """Remove the socket's file, if it is ours, and close. Who follows events is no reason to stay."""
        if self._bound:
            self._path.unlink(missing_ok=True)
        for request in self._following:
            request.task.cancel()
        if self._runner is not None:
            await self._runner.cleanup()

    # --- looking -------------------------------------------------------------------------------------

    async def _state(self, request: web.Request) -> web.Response:
        newer = parse_number(request.query.get("newer", ""), 0, MOST)
        if newer is not None:
            await self._wait_for_row(newer)
        return web.json_response(self._view())

    def _view(self) -> dict[str, Any]:
        """Everything that is shown of the table as it is now."""
        facts = self._facts
        view = {"table": facts.table, "epoch": facts.epoch, "test": facts.test}
        state, now = self._published.state, self._clock()
        view |= state_view(state, now)
        view = with_present(view | facts.extra())
        view["last_result"] = facts.last_result()
        view["say"] = self._published.said.last(state.version, now.boot)
        return view

    async def _wait_for_row(self, row: int) -> None:
        """Answer only once a newer row is committed or something beside the state is new, or after a while.

        Who asks names no number of what is beside: what came just before may not have been seen yet. Who has
        seen a row that is not there yet has seen another history, and is told of this one at once.
        """
        if row > self._published.state.row:
            return
        published, now = self._published, self._clock().boot
        beside, at = published.beside, published.beside_at
        seconds = NEWER_WAIT if at is None or now - at > SEEN * SECOND else SEEN
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while published.state.row <= row and published.beside == beside:
                    await published.changed.wait()

    async def _healthz(self, request: web.Request) -> web.Response:
        why = self._facts.health()
        view = self._view()
        journal = {name: view["journal"][name] for name in ("state", "cause", "why")}
        also = {"alerts": [one["alert"] for one in view["alerts"]], "journal": journal}
        # A disk in trouble is no reason to end the process: what waits for the disk would be lost.
        if why is None:
            return web.json_response({"ok": True, **also})
        return web.json_response({"ok": False, "why": why, **also}, status=503)

    async def _delivery(self, request: web.Request) -> web.Response:
        return web.json_response(self._facts.delivery())

    async def _events(self, request: web.Request) -> web.StreamResponse:
        text = request.headers.get("Last-Event-ID") or request.query.get("after")
        at = self._published.state.sequence if text is None else parse_number(text, 0, MOST)
        if at is None:
            return error(400, "after: the sequence number of the last event seen")
        # A client that hung up loses its transport at once, its handler only with the next write.
        if sum(one.transport is not None for one in self._following) >= MOST_STREAMS:
            return error(503, "too many clients follow events")
        try:
            if at > (head := await self._head(at)):
                return self._another_history(at, head)
            await self._behind(at)
        except _UNREADABLE as fault:
            return error(500, f"the journal cannot be read: {fault}")
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        self._following.append(request)
        try:
            await response.prepare(request)
            await self._follow(response, at)
        except (ConnectionError, TimeoutError, *_UNREADABLE):
            # It went away or stopped reading, and resumes by sequence. What waits for it is dropped. Where
            # the journal is bad, who resumes is told.
            if request.transport is not None:
                request.transport.abort()
        finally:
            self._following.remove(request)
        return response

    async def _head(self, at: int) -> int:
        """The newest event; what was read from the journal a moment ago may not be published yet."""
        published = self._published.state.sequence
        return published if at <= published else (await asyncio.to_thread(self._reader.last))[1]

    def _another_history(self, at: int, head: int) -> web.Response:
        """Who has seen event ``at`` saw another history; who waits until this one is as long misses it."""
        why = (
            f"event {at} is not there, the newest is {head}: an older journal was put back since, or a new "
            f"one begun; follow from {head} or before"
        )
        told = {"error": why, "epoch": self._facts.epoch, "sequence": head}
        return web.json_response(told, status=409)

    async def _behind(self, at: int) -> list[Outgoing]:
        return await asyncio.to_thread(self._reader.bodies, at + 1, 100)

    async def _follow(self, response: web.StreamResponse, at: int) -> None:
        """Write what is committed behind event ``at``, for ever."""
        while True:
            changed = self._published.changed
            page = await self._behind(at)
            for event in page:
                chunk = b"id: %d\ndata: %s\n\n" % (event.sequence, event.body)
                await asyncio.wait_for(response.write(chunk), STALLED)
                at = event.sequence
            if not page:
                try:
                    await asyncio.wait_for(changed.wait(), PING)
                except TimeoutError:
                    await asyncio.wait_for(response.write(b": ping\n\n"), STALLED)


def _clear(path: Path) -> None:
    """Remove the socket that a dead process left. Raises :class:`TableLocked` if somebody listens there.

    :class:`ConfigError` if it is something else, which nobody may remove but who put it there.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise ConfigError(
                f"api.socket: {path} is there already and is no socket: move it away, or name another"
            )
        with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as sock:
            sock.settimeout(1.0)
            try:
                sock.connect(str(path))
            except ConnectionRefusedError:
                path.unlink()
                return
            except (BlockingIOError, TimeoutError):
                who = "a process that takes no more connections"
            else:
                who = "process {} of user {}".format(*peer_of(sock))
        raise TableLocked(f"{path}: {who} listens there already; stop that one first, or use another socket")


def socket_folder(path: Path) -> None:
    """Make the folder of a socket, closed to others, where systemd has not."""
    if not path.parent.is_dir():
        path.parent.mkdir(mode=0o700, parents=True)
        path.parent.chmod(0o750)  # whatever the umask: who may speak to it must get at it
