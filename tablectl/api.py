"""The local interface: HTTP over the table's unix socket (contract, section 4).

It shows only what is committed and answers a command only after its commit.  Every input is bounded
in size and checked here for form; what it means is for the table to decide.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import stat
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from tablectl.clock import SECOND, Instant, now
from tablectl.core import Answer, Core, Record
from tablectl.events import PinAttempted
from tablectl.journal import JournalReader
from tablectl.pins import Attempts, PitBosses
from tablectl.service import Published
from tablectl.table import Command, Expect, Kind
from tablectl.table.inputs import COMMANDS, SUPERVISED
from tablectl.views import round_view, state_view

BODY = 16 * 1024
TEXT = 512
LINK_WAIT = 2.0
"""How long (s) `bets open` waits for a good link before it is refused."""
ANSWER_WAIT = 10.0
NEWER_WAIT = 5.0
"""How long (s) ``/v1/state?newer=ROW`` waits for a newer row before it answers all the same."""
PING = 15.0
"""How often (s) an idle event stream says that it is there."""
STALLED = 10.0
"""A client that takes no byte for so long (s) is cut off."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class BadRequest(Exception):
    """The request has no lawful form; the text says what is wrong."""


@dataclass(slots=True)
class Facts:
    """What the interface tells besides the state; filled in by the runtime."""

    table: str
    epoch: str
    test: bool
    extra: Callable[[], dict[str, Any]]
    link_good: Callable[[], bool]
    last_result: Callable[[], dict[str, Any] | None]
    health: Callable[[], str | None]


def parse_command(body: bytes) -> tuple[dict[str, Any], Kind]:
    """The checked fields of a command. Raises :class:`BadRequest`."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("the body is not JSON") from None
    if not isinstance(given, dict):
        raise BadRequest("the body is not a JSON object")
    unknown = set(given) - {"id", "command", "args", "expect", "person", "pin", "reason"}
    if unknown:
        raise BadRequest(f"unknown field {min(unknown)!r}"[:100])
    for field in ("id", "command", "person", "pin", "reason"):
        value = given.get(field)
        if value is not None and not (isinstance(value, str) and _clean(value)):
            raise BadRequest(f"{field}: text of at most {TEXT} characters without control characters")
    if not given.get("id"):
        raise BadRequest("id: a fresh text for every command is needed")
    args = given.get("args") or {}
    if not isinstance(args, dict) or len(args) > 8:
        raise BadRequest("args: an object of texts")
    if not all(isinstance(v, str) and _clean(v) and _clean(k) for k, v in args.items()):
        raise BadRequest("args: texts without control characters")
    if given.get("command") not in {kind.value for kind in COMMANDS}:
        raise BadRequest(f"unknown command {str(given.get('command'))[:40]!r}")
    given["args"] = args
    return given, Kind(given["command"])


def _clean(text: str) -> bool:
    return len(text) <= TEXT and not _CONTROL.search(text)


def parse_expect(given: object) -> Expect:
    """``{"shoe", "round", "version"}`` as the table knows it. Raises :class:`BadRequest`."""
    if given is None:
        return Expect()
    if not isinstance(given, dict) or set(given) - {"shoe", "round", "version"}:
        raise BadRequest("expect: shoe, round and version")
    for value in given.values():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise BadRequest("expect: whole numbers")
    where = None
    if "round" in given:
        if "shoe" not in given:
            raise BadRequest("expect: a round is named with its shoe")
        where = f"{given['shoe']}/{given['round']}"
    return Expect(where, given.get("version"))


class Api:
    """The application and its socket. All methods run on the service loop."""

    def __init__(
        self,
        socket_path: Path,
        facts: Facts,
        published: Published,
        core: Core,
        reader: JournalReader,
        pit_bosses: PitBosses,
        *,
        clock: Callable[[], Instant] = now,
    ) -> None:
        self._path = socket_path
        self._facts = facts
        self._published = published
        self._core = core
        self._reader = reader
        self._pit_bosses = pit_bosses
        self._attempts = Attempts()
        self._one_pin = asyncio.Lock()
        self._clock = clock
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Bind and listen. Only the holder of the table's lock may: a left-over socket is replaced."""
        app = web.Application(client_max_size=BODY)
        app.add_routes(
            [
                web.get("/v1/state", self._state),
                web.post("/v1/commands", self._command),
                web.get("/v1/events", self._events),
                web.get("/v1/rounds", self._rounds),
                web.get(r"/v1/rounds/{shoe:\d{1,9}}/{round:\d{1,9}}", self._round),
                web.get("/healthz", self._healthz),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(self._path.stat().st_mode):
                self._path.unlink()
        await web.UnixSite(self._runner, str(self._path)).start()
        # Only now: the umask of a service would leave it closed to the group.
        self._path.chmod(0o660)

    async def stop(self) -> None:
        """Close the socket and remove its file."""
        if self._runner is not None:
            await self._runner.cleanup()
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()

    # --- looking -------------------------------------------------------------------------------------

    async def _state(self, request: web.Request) -> web.Response:
        newer = request.query.get("newer", "")
        if newer.isascii() and newer.isdigit() and len(newer) <= 12:
            await self._wait_for_row(int(newer))
        facts = self._facts
        view = {"table": facts.table, "epoch": facts.epoch, "test": facts.test}
        view |= state_view(self._published.state, self._clock())
        view |= facts.extra()
        view["last_result"] = facts.last_result()
        view["say"] = self._published.said.last()
        return web.json_response(view)

    async def _wait_for_row(self, row: int) -> None:
        """Answer only once something newer than ``row`` is committed, or after a while."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(NEWER_WAIT):
                while self._published.state.row <= row:
                    await self._published.changed.wait()

    async def _healthz(self, request: web.Request) -> web.Response:
        why = self._facts.health()
        if why is None:
            return web.json_response({"ok": True})
        return web.json_response({"ok": False, "why": why}, status=503)

    async def _rounds(self, request: web.Request) -> web.Response:
        text = request.query.get("last", "10")
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:4]) <= 500):
            return _error(400, "last: a number from 1 to 500")

        def read() -> list[dict[str, Any]]:
            found = self._reader.recent_rounds(int(text))
            return [round_view(self._reader.round_rows(shoe, number)) for shoe, number in found]

        return web.json_response({"rounds": await asyncio.to_thread(read)})

    async def _round(self, request: web.Request) -> web.Response:
        shoe, number = int(request.match_info["shoe"]), int(request.match_info["round"])
        rows = await asyncio.to_thread(self._reader.round_rows, shoe, number)
        if not rows:
            return _error(404, f"there is no round {shoe}/{number} in this journal")
        return web.json_response(round_view(rows))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        text = request.headers.get("Last-Event-ID") or request.query.get("after")
        if text is not None and not (text.isascii() and text.isdigit() and len(text) <= 12):
            return _error(400, "after: the sequence number of the last event seen")
        at = self._published.state.sequence if text is None else int(text)
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        try:
            await self._follow(response, at)
        except (ConnectionError, TimeoutError):
            # It went away or stopped reading, and resumes by sequence. What waits for it is dropped.
            if request.transport is not None:
                request.transport.abort()
        return response

    async def _follow(self, response: web.StreamResponse, at: int) -> None:
        """Write what is committed behind event ``at``, for ever."""
        while True:
            changed = self._published.changed
            page = await asyncio.to_thread(self._reader.bodies, at + 1, 100)
            for event in page:
                chunk = b"id: %d\ndata: %s\n\n" % (event.sequence, event.body)
                await asyncio.wait_for(response.write(chunk), STALLED)
                at = event.sequence
            if not page:
                try:
                    await asyncio.wait_for(changed.wait(), PING)
                except TimeoutError:
                    await asyncio.wait_for(response.write(b": ping\n\n"), STALLED)

    # --- commands --------------------------------------------------------------------------------------

    async def _command(self, request: web.Request) -> web.Response:
        try:
            given, kind = parse_command(await request.read())
            expect = parse_expect(given.get("expect"))
        except BadRequest as bad:
            return _error(400, str(bad))
        uid = _peer_uid(request)
        person, pin = given.get("person"), given.get("pin")
        supervisor = False
        if pin is not None or kind in SUPERVISED:
            refused = await self._authenticate(person, pin, uid)
            if refused is not None:
                return refused
            supervisor = True
        if kind is Kind.BETS_OPEN:
            await self._wait_for_link()
        command = Command(
            kind,
            self._clock(),
            given["id"],
            given["args"],
            person,
            supervisor,
            uid,
            given.get("reason"),
            expect,
        )
        return await self._carry_out(command)

    async def _carry_out(self, command: Command) -> web.Response:
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def reply(answer: Answer) -> None:
            if not answered.done():
                answered.set_result(answer)

        if not self._core.offer(command, reply):
            return _error(503, "the controller is busy; try again")
        try:
            answer = await asyncio.wait_for(answered, ANSWER_WAIT)
        except TimeoutError:
            return _error(
                503, "no answer yet: the journal is slow. Look at the state, then repeat with the same id"
            )
        body = {
            "id": command.id,
            "accepted": answer.accepted,
            "answer": answer.text,
            "where": answer.where,
            "version": answer.version,
        }
        return web.json_response(body, status=200 if answer.accepted else 409)

    async def _authenticate(
        self, person: str | None, pin: str | None, uid: int | None
    ) -> web.Response | None:
        """None when the PIN is right. Wrong ones are journalled and make the next try wait longer."""
        if not person or pin is None:
            return _error(403, "only a pit boss does this: give a name and PIN")
        async with self._one_pin:  # else a burst of guesses would all be tried before the first one counts
            return await self._try_pin(person, pin, uid)

    async def _try_pin(self, person: str, pin: str, uid: int | None) -> web.Response | None:
        moment = self._clock()
        wait = self._attempts.allowed_at(person) - moment.boot
        if wait > 0:
            seconds = -(-wait // SECOND)
            response = {
                "error": f"too many wrong PINs for this name; wait {seconds} s",
                "retry_after": seconds,
            }
            return web.json_response(response, status=403)
        good = await asyncio.to_thread(self._pit_bosses.verify, person, pin)
        if not self._core.offer(Record(PinAttempted(person=person, good=good, uid=uid), moment)):
            return _error(503, "the controller is busy; try again")
        if good:
            self._attempts = self._attempts.succeeded(person)
            return None
        self._attempts = self._attempts.failed(person, self._clock().boot)
        return _error(403, "wrong name or PIN")

    async def _wait_for_link(self) -> None:
        rules = self._published.state.rules
        if rules is None or not rules.betting.link_required:
            return
        until = self._clock().boot + int(LINK_WAIT * SECOND)
        while not self._facts.link_good() and self._clock().boot < until:
            await asyncio.sleep(0.05)


def _error(status: int, text: str) -> web.Response:
    return web.json_response({"error": text}, status=status)


def _peer_uid(request: web.Request) -> int | None:
    """The uid of the process at the other end of the unix socket."""
    if request.transport is None:
        return None
    sock: socket.socket | None = request.transport.get_extra_info("socket")
    if sock is None or sock.family != socket.AF_UNIX:
        return None
    size = struct.calcsize("3i")
    _, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    return int(uid)


def socket_folder(path: Path) -> None:
    """Make the folder of a socket, closed to others, where systemd has not."""
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
