"""What a pit boss orders about the delivery: try again, park the event that is refused, skip lost history."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import Any

from aiohttp import web

from tablectl.api.commands import ANSWER_WAIT, NO_DELIVERY, Commands, error, peer, record_of
from tablectl.api.forms import BadRequest, parse_order
from tablectl.clock import Instant
from tablectl.core import Record
from tablectl.delivery.instead import park, skip
from tablectl.delivery.outbox import Trouble
from tablectl.delivery.sender import Sender
from tablectl.events import Event
from tablectl.journal import JournalFault, JournalReader
from tablectl.service import Published
from tablectl.table import evolve

BEFORE = (
    "the order before this one is not in the journal yet, which is slow. Look at: tablectl delivery status; "
    "then give this one again"
)
FINDS_ANEW, LOOK = 2.0, 0.05
"""How long (s) an order waits for a delivery that begins anew to meet again what is refused."""
RETRY, PARK, START_AT = "delivery retry", "delivery park", "delivery start-at"


class Refusal(Exception):
    """Why the order is not carried out."""


class DeliveryRoutes:
    """The handlers. One order at a time: what it was decided on is still so when it is committed.

    So the turn ends with the commit, also where the answer had to be given before (a slow journal).
    """

    def __init__(
        self,
        commands: Commands,
        delivery: Callable[[], Sender | None],
        reader: JournalReader,
        clock: Callable[[], Instant],
        published: Published,
        *,
        test: bool,
    ) -> None:
        self._commands = commands
        self._published = published
        self._delivery = delivery
        self._reader = reader
        self._clock = clock
        self._test = test
        self._turn = asyncio.Lock()

    def routes(self) -> list[web.RouteDef]:
        """Where they are found."""
        return [
            web.post("/v1/delivery/retry", self._retry),
            web.post("/v1/delivery/park", self._park),
            web.post("/v1/delivery/start-at", self._start_at),
        ]

    async def _retry(self, request: web.Request) -> web.Response:
        """The game server may take now what halted the delivery."""
        return await self._ordered(request, RETRY)

    async def _park(self, request: web.Request) -> web.Response:
        """The event that is refused is set aside; its round is to be settled anew."""
        return await self._ordered(request, PARK)

    async def _start_at(self, request: web.Request) -> web.Response:
        """The game server does without the history that is kept no more."""
        return await self._ordered(request, START_AT)

    async def _ordered(self, request: web.Request, command: str) -> web.Response:
        try:
            given = parse_order(await request.read(), with_event=command != RETRY)
        except BadRequest as bad:
            return error(400, str(bad))
        asked = record_of(given, command, peer(request)[1])
        refused = await self._commands.let_in(asked, given.get("pin"))
        if refused is not None:
            return refused
        try:
            await asyncio.wait_for(self._turn.acquire(), ANSWER_WAIT)
        except TimeoutError:
            return error(503, BEFORE)
        handed_over = False
        try:
            try:
                answer, events = await self._decide(command, given)
                accepted = True
            except Refusal as why:
                answer, events, accepted = f"{command} refused: {why}", (), False
            except (JournalFault, sqlite3.Error, OSError) as fault:
                return error(503, f"the journal cannot be read: {fault}")
            asked = record_of(given, command, asked.uid, answer, accepted=accepted)
            record = Record(asked, self._clock(), events)
            handed_over = True
            status, body = await self._commands.carry_out(asked.id, record, self._turn.release)
        finally:
            if not handed_over:
                self._turn.release()
        delivery = self._delivery()
        if status == 200 and command == RETRY and delivery is not None:
            delivery.retry()
        return web.json_response(body, status=status)

    async def _decide(self, command: str, given: dict[str, Any]) -> tuple[str, tuple[Event, ...]]:
        """What is answered, and what is written down with it. Raises :class:`Refusal`."""
        delivery = self._delivery()
        if delivery is None:
            raise Refusal(NO_DELIVERY)
        if command == RETRY:
            return "the game server is asked again", ()
        who = given.get("reason") or "", given.get("person") or ""
        if command == PARK:
            return await self._parking(delivery, given["event"], *who)
        return self._starting_at(delivery, given["event"], *who)

    async def _parking(
        self, delivery: Sender, sequence: int, reason: str, person: str
    ) -> tuple[str, tuple[Event, ...]]:
        trouble = await self._trouble(delivery)
        at = None if trouble is None else trouble.refused
        if delivery.parked(sequence):
            again = "; the game server refuses that too: it must be mended there" if at == sequence else ""
            raise Refusal(f"event {sequence} is parked already{again}")
        if at is None:
            raise Refusal("the game server refuses no event now; look at: tablectl delivery status")
        if at != sequence:
            raise Refusal(f"event {sequence} is not the one that is refused; that is event {at}")
        found = await asyncio.to_thread(self._reader.bodies, sequence, 1)
        if not found or found[0].sequence != sequence:
            raise Refusal(f"there is no event {sequence} in this journal")
        event = park(found[0], self._reader.epoch, self._clock(), reason, person)
        answer = f"event {sequence} ({event.parked_type}) is parked"
        if event.revision is not None:
            after = evolve(self._published.state, event)
            open_ = (event.shoe, event.round) in after.unsettled
            is_now = "unsettled until it is voided or amended" if open_ else "settled by what came since"
            answer += f"; round {event.shoe}/{event.round} is {is_now}"
        return answer, (event,)

    async def _trouble(self, delivery: Sender) -> Trouble | None:
        """What stands in the way. A delivery that begins anew (a reload) may find it in a moment only."""
        for _ in range(round(FINDS_ANEW / LOOK)):
            if delivery.trouble is not None or not delivery.begins:
                break
            await asyncio.sleep(LOOK)
            delivery = self._delivery() or delivery
        return delivery.trouble

    def _starting_at(
        self, delivery: Sender, sequence: int, reason: str, person: str
    ) -> tuple[str, tuple[Event, ...]]:
        box = delivery.outbox
        wanted = None if box is None or box.trouble is None else box.trouble.wanted
        if box is None or wanted is None:
            raise Refusal(
                "the game server asks for nothing that is kept no more; look at: tablectl delivery status"
            )
        if sequence != box.kept_from:
            raise Refusal(
                f"it starts at {box.kept_from}, the oldest event kept, and not at {sequence}; "
                f"what is kept is sent, and {delivery.never_sent}"
            )
        reader, at = self._reader, self._clock()
        event = skip(reader.table, reader.epoch, at, wanted, sequence - 1, reason, person, test=self._test)
        return f"it goes on at {sequence}; {delivery.never_sent}", (event,)
