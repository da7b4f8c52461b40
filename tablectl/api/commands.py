"""Commands over the local interface: who gives them, and the answer after the commit."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import struct
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from aiohttp import web

from tablectl.answered import Answer
from tablectl.api.forms import BadRequest, parse_command, parse_expect
from tablectl.api.reveal import REVEAL, parse_reveal
from tablectl.clock import SECOND, Instant
from tablectl.core import Core, Record
from tablectl.events import CommandRecorded
from tablectl.gate import BUSY, Gate, NotLetIn
from tablectl.journal import JournalFault
from tablectl.journal.trouble import BEHIND, JournalTrouble
from tablectl.past.looking_back import LookingBack
from tablectl.past.settled import parse_round
from tablectl.service import Published
from tablectl.table import Command, Expect, Kind
from tablectl.table.inputs import LOOKING_BACK, SUPERVISED, Past

LINK_WAIT = 2.0
"""How long (s) `bets open` waits for a good link before it is refused."""
ANSWER_WAIT = 10.0
FAILS_WAIT = 1.0
"""How long (s) a journal fails before commands are refused: a short lock is over by then."""

_UNREADABLE = (JournalFault, sqlite3.Error, OSError)
"""What reading the journal may raise."""

NO_DELIVERY = "nothing is delivered from this table: no game server or no signing secret is configured"


class Commands:
    """The handlers that change something. All run on the service loop."""

    def __init__(
        self,
        core: Core,
        gate: Gate,
        published: Published,
        link_good: Callable[[], bool],
        back: LookingBack,
        clock: Callable[[], Instant],
        scanner_free: Callable[[], Awaitable[str | None]],
        journal: Callable[[], JournalTrouble | None] = lambda: None,
    ) -> None:
        self._core = core
        self._gate = gate
        self._published = published
        self._link_good = link_good
        self._back = back
        self._clock = clock
        self._scanner_free = scanner_free
        self._journal = journal
        self._given: set[str] = set()
        """Commands handed to the core whose answer is not stored yet."""

    def routes(self) -> list[web.RouteDef]:
        """Where they are found."""
        return [
            web.post("/v1/commands", self._command),
            web.post("/v1/reveal", self._reveal),
        ]

    async def _command(self, request: web.Request) -> web.Response:
        """A command of the table."""
        try:
            given, kind = parse_command(await request.read())
            expect = parse_expect(given.get("expect"))
        except BadRequest as bad:
            return error(400, str(bad))
        if (refusal := await self._not_now(given["id"], kind.value)) is not None:
            return web.json_response(refusal, status=503)
        uid = peer(request)[1]
        supervisor = given.get("pin") is not None or kind in SUPERVISED
        if supervisor:
            refused = await self.let_in(record_of(given, kind.value, uid, expect=expect), given.get("pin"))
            if refused is not None:
                return refused
        if kind is Kind.BETS_OPEN:
            await self._wait_for_link()
        try:
            past = await self._past(kind, given["args"].get("round", ""))
        except _UNREADABLE as fault:
            return error(503, f"the journal cannot be read: {fault}")
        # Last, and with no wait behind it: nothing may take the scanner's line again before this is decided.
        if kind is Kind.OPEN and (busy := await self._scanner_free()) is not None:
            return error(503, busy)
        command = Command(
            kind,
            self._clock(),
            given["id"],
            given["args"],
            given.get("person"),
            supervisor,
            uid,
            given.get("reason"),
            expect,
            past,
        )
        status, body = await self.carry_out(command.id, command)
        return web.json_response(body, status=status)

    async def _past(self, kind: Kind, text: str) -> Past | None:
        """The round that a command names, if it is not the one in play. It may not be written yet."""
        where = parse_round(text) if kind in LOOKING_BACK else None
        if where is None or text == self._published.state.where:
            return None
        return await asyncio.to_thread(self._back.past, *where)

    async def _reveal(self, request: web.Request) -> web.Response:
        """A round with every face, for a pit boss; that it was asked for is in the journal before."""
        try:
            given = parse_reveal(await request.read())
        except BadRequest as bad:
            return error(400, str(bad))
        shoe, number = given["shoe"], given["round"]
        given["args"] = {"round": f"{shoe}/{number}"}
        asked = record_of(given, REVEAL, peer(request)[1])
        refused = await self.let_in(asked, given.get("pin"))
        if refused is not None:
            return refused
        try:
            view = await self._round(shoe, number)
            if view is None:
                answer = f"{REVEAL} refused: there is no round {shoe}/{number} in this journal"
            else:
                answer = f"every face of round {shoe}/{number} was shown"
            asked = replace(asked, accepted=view is not None, answer=answer)
            status, body = await self.carry_out(asked.id, Record(asked, self._clock()))
            if status != 200:
                return web.json_response(body, status=status)
            # Read again: what was asked for under this id before may have gone on meanwhile.
            return web.json_response(body | {"revealed": await self._round(shoe, number)})
        except _UNREADABLE as fault:
            return error(503, f"the journal cannot be read: {fault}")

    async def _round(self, shoe: int, number: int) -> dict[str, Any] | None:
        state = self._published.state
        return await asyncio.to_thread(self._back.round, state, shoe, number, reveal=True)

    async def let_in(self, asked: CommandRecorded, pin: str | None) -> web.Response | None:
        """None if the pit boss is let in; else the refusal."""
        if (not_now := await self._not_now(asked.id, asked.command)) is not None:
            return web.json_response(not_now, status=503)
        try:
            await self._gate.let_in(asked, pin)
        except NotLetIn as refusal:
            body: dict[str, Any] = {"error": str(refusal)}
            if refusal.retry_after is not None:
                body["retry_after"] = refusal.retry_after
            return web.json_response(body, status=refusal.status)
        return None

    async def written_down(self, asked: CommandRecorded, pin: str | None) -> web.Response | None:
        """Write down what was asked, of a pit boss after letting him in; the answer if refused, else None."""
        refused = await self.let_in(asked, pin) if asked.supervisor else None
        if refused is not None:
            return refused
        status, body = await self.carry_out(asked.id, Record(asked, self._clock()))
        return None if status == 200 else web.json_response(body, status=status)

    async def carry_out(
        self, id_: str, given: Command | Record, over: Callable[[], object] = lambda: None
    ) -> tuple[int, dict[str, Any]]:
        """Hand it to the core and wait for the commit: HTTP status (200: accepted) and what is answered.

        ``over()``: it was committed, however late, or will never be.
        """
        name = _name(given)
        if (refusal := await self._not_now(id_, name)) is not None:
            over()
            return 503, refusal
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def reply(answer: Answer) -> None:
            self._given.discard(id_)
            over()
            if not answered.done():
                answered.set_result(answer)

        if not self._core.offer(given, reply):
            over()
            return 503, {"error": BUSY}
        self._given.add(id_)
        if (kept := await self._kept(answered, name)) is not None:
            return 503, kept
        answer = answered.result()
        body = {
            "id": id_,
            "accepted": answer.accepted,
            "answer": answer.text,
            "where": answer.where,
            "version": answer.version,
        } | ({"asks": answer.asks} if answer.asks else {})
        return 200 if answer.accepted else 409, body

    async def _not_now(self, id_: str, name: str) -> dict[str, Any] | None:
        """The refusal of a command while the journal cannot be written; one given before is not refused.

        What is refused here never reached the table, and cannot take effect later.
        """
        if not await self._fails_on():
            return None
        trouble = self._journal()
        if trouble is None:
            return None
        if id_ in self._given or self._core.knows(id_):
            return {"error": trouble.keeps(name), "kept": True}
        return {"error": trouble.refuses(name), "kept": False}

    async def _fails_on(self) -> bool:
        """Whether the journal fails, and goes on failing for :data:`FAILS_WAIT`."""
        until = self._clock().boot + int(FAILS_WAIT * SECOND)
        while failing(self._journal()):
            if self._clock().boot >= until:
                return True
            await asyncio.sleep(0.05)
        return False

    async def _kept(self, answered: asyncio.Future[Answer], name: str) -> dict[str, Any] | None:
        """Wait for the commit. None: it is answered; else what is told of one that waits for the disk."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        while not answered.done():
            await asyncio.wait({answered}, timeout=0.1)
            late = loop.time() - begun >= ANSWER_WAIT
            if not answered.done() and (late or (failing(self._journal()) and await self._fails_on())):
                trouble = self._journal() or BEHIND
                return None if answered.done() else {"error": trouble.keeps(name), "kept": True}
        return None

    async def _wait_for_link(self) -> None:
        rules = self._published.state.rules
        if rules is None or not rules.betting.link_required:
            return
        until = self._clock().boot + int(LINK_WAIT * SECOND)
        while not self._link_good() and self._clock().boot < until:
            await asyncio.sleep(0.05)


def record_of(
    given: dict[str, Any],
    command: str,
    uid: int | None,
    answer: str = "",
    *,
    accepted: bool = False,
    expect: Expect | None = None,
) -> CommandRecorded:
    """A pit boss's command that is not the table's, as it is written down."""
    return CommandRecorded(
        id=given["id"],
        command=command,
        args=given.get("args", {}),
        person=given.get("person"),
        supervisor=True,
        uid=uid,
        accepted=accepted,
        answer=answer,
        reason=given.get("reason"),
        saw_round=None if expect is None else expect.round,
        saw_version=None if expect is None else expect.version,
    )


def failing(trouble: JournalTrouble | None) -> bool:
    """Whether the journal cannot be written, and is not only slow."""
    return trouble is not None and trouble.code != BEHIND.code


def _name(given: Command | Record) -> str:
    if isinstance(given, Command):
        return given.kind.value
    return given.event.command if isinstance(given.event, CommandRecorded) else given.event.TYPE


def error(status: int, text: str) -> web.Response:
    """A refusal as JSON."""
    return web.json_response({"error": text}, status=status)


def peer(request: web.Request) -> tuple[int | None, int | None]:
    """Pid and uid of the process at the other end of the unix socket."""
    if request.transport is None:
        return None, None
    sock: socket.socket | None = request.transport.get_extra_info("socket")
    if sock is None or sock.family != socket.AF_UNIX:
        return None, None
    return peer_of(sock)


def peer_of(sock: socket.socket) -> tuple[int, int]:
    """Pid and uid of the process at the other end of a unix socket."""
    credentials = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _ = struct.unpack("3i", credentials)
    return pid, uid
