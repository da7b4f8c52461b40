"""Commands over the local interface: who gives them, and the answer after the commit."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tablectl.answered import Answer
from tablectl.api_forms import DELIVERY_RETRY, BadRequest, parse_command, parse_expect, parse_retry
from tablectl.clock import SECOND, Instant
from tablectl.core import Core, Record
from tablectl.delivery.http import HttpDelivery
from tablectl.events import CommandRecorded
from tablectl.gate import BUSY, Gate, NotLetIn
from tablectl.service import Published
from tablectl.table import Command, Kind
from tablectl.table.inputs import SUPERVISED

LINK_WAIT = 2.0
"""How long (s) `bets open` waits for a good link before it is refused."""
ANSWER_WAIT = 10.0

NO_DELIVERY = "nothing is delivered from this table: no game server or no signing secret is configured"


class Commands:
    """The handlers that change something. All run on the service loop."""

    def __init__(
        self,
        core: Core,
        gate: Gate,
        published: Published,
        link_good: Callable[[], bool],
        delivery: Callable[[], HttpDelivery | None],
        clock: Callable[[], Instant],
    ) -> None:
        self._core = core
        self._gate = gate
        self._published = published
        self._link_good = link_good
        self._delivery = delivery
        self._clock = clock

    def routes(self) -> list[web.RouteDef]:
        """Where they are found."""
        return [web.post("/v1/commands", self._command), web.post("/v1/delivery/retry", self._retry)]

    async def _command(self, request: web.Request) -> web.Response:
        """A command of the table."""
        try:
            given, kind = parse_command(await request.read())
            expect = parse_expect(given.get("expect"))
        except BadRequest as bad:
            return error(400, str(bad))
        uid = peer(request)[1]
        supervisor = given.get("pin") is not None or kind in SUPERVISED
        if supervisor:
            refused = await self._refused(_record(given, kind.value, uid), given.get("pin"))
            if refused is not None:
                return refused
        if kind is Kind.BETS_OPEN:
            await self._wait_for_link()
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
        )
        return (await self._carry_out(command.id, command))[0]

    async def _retry(self, request: web.Request) -> web.Response:
        """The pit boss says that the game server may take now what halted the delivery."""
        try:
            given = parse_retry(await request.read())
        except BadRequest as bad:
            return error(400, str(bad))
        asked = _record(given, DELIVERY_RETRY, peer(request)[1])
        refused = await self._refused(asked, given.get("pin"))
        if refused is not None:
            return refused
        delivery = self._delivery()
        if delivery is None:
            asked = _record(given, DELIVERY_RETRY, asked.uid, f"{DELIVERY_RETRY} refused: {NO_DELIVERY}")
        else:
            asked = _record(given, DELIVERY_RETRY, asked.uid, "the game server is asked again", accepted=True)
        response, accepted = await self._carry_out(asked.id, Record(asked, self._clock()))
        if accepted and delivery is not None:
            delivery.retry()
        return response

    async def _refused(self, asked: CommandRecorded, pin: str | None) -> web.Response | None:
        try:
            await self._gate.let_in(asked, pin)
        except NotLetIn as refusal:
            body: dict[str, Any] = {"error": str(refusal)}
            if refusal.retry_after is not None:
                body["retry_after"] = refusal.retry_after
            return web.json_response(body, status=refusal.status)
        return None

    async def _carry_out(self, id_: str, given: Command | Record) -> tuple[web.Response, bool]:
        """Hand it to the core and wait for the commit: the response, and whether it was accepted."""
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

        def reply(answer: Answer) -> None:
            if not answered.done():
                answered.set_result(answer)

        if not self._core.offer(given, reply):
            return error(503, BUSY), False
        try:
            answer = await asyncio.wait_for(answered, ANSWER_WAIT)
        except TimeoutError:
            text = "no answer yet: the journal is slow. Look at the state, then repeat with the same id"
            return error(503, text), False
        body = {
            "id": id_,
            "accepted": answer.accepted,
            "answer": answer.text,
            "where": answer.where,
            "version": answer.version,
        }
        return web.json_response(body, status=200 if answer.accepted else 409), answer.accepted

    async def _wait_for_link(self) -> None:
        rules = self._published.state.rules
        if rules is None or not rules.betting.link_required:
            return
        until = self._clock().boot + int(LINK_WAIT * SECOND)
        while not self._link_good() and self._clock().boot < until:
            await asyncio.sleep(0.05)


def _record(
    given: dict[str, Any], command: str, uid: int | None, answer: str = "", *, accepted: bool = False
) -> CommandRecorded:
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
    )


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
