"""Taking events from a NATS JetStream stream, and answering the tables that ask how far they were taken.

The place in the stream is kept in the server's own database and moves in the very commit that keeps the
events; the consumer begins behind it at every connection.  So what comes is always in order and never lost,
and what comes twice is known by its id.  An event that cannot be taken does not hold up the other tables: it
is let go, and its table is told, which sends it again (``resend``) or halts until a person acts (422).  By a
fault of this server (500) the table waits: the server that was mended and started anew lets it send again.
A table is told of its own events alone: what another history or a stranger publishes on its subject is let
go, and is no fault of the rightful one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, TypeVar

import nats.errors
import nats.js.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, DiscardPolicy, StorageType, StreamConfig

from tablectl.delivery.nats_connection import CarefulClient, once
from tablectl.gameserver.intake import Intake, Reply
from tablectl.gameserver.messages import claimed
from tablectl.gameserver.store import Store

STREAM = "TABLES"
SUBJECT = "tables.*.events"
LINK = "tables.*.link"
CONSUMER = "gameserver"
MOST = 1000
"""Messages in one commit."""
PENDING = 5000
HEARTBEAT = 5.0
"""Seconds; a consumer that says nothing for three of them is gone."""
AGAIN = 0.5

T = TypeVar("T")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Refusal:
    """One event that was refused. ``conflicts``: another one is held under its number."""

    epoch: str
    sequence: int
    status: int
    words: str
    conflicts: bool


class StreamIntake:
    """Consumes for one game server. ``credential``: the text of a ``.creds`` file, a token, or empty."""

    def __init__(self, url: str, store: Store, intake: Intake, pool: Executor, credential: str = "") -> None:
        self._servers = url.split(",")
        self._store = store
        self._intake = intake
        self._pool = pool
        self._credential = credential
        self._refused: dict[str, _Refusal] = {}
        """By table: what it is to be told, until that event or what comes in its place is taken."""
        self._done = 0
        self._stream = ""
        self.consuming = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled; a connection that ends is made anew."""
        told = ""
        while True:
            try:
                await self._session()
            except Exception as error:  # noqa: BLE001 whatever it is, it is told and tried again
                if str(error) != told:
                    told = str(error)
                    log.warning("no events from NATS", reason=told or type(error).__name__)
            self.consuming.clear()
            await asyncio.sleep(AGAIN)

    async def _session(self) -> None:
        ended, arrived = asyncio.Event(), _Arrived()

        async def closed() -> None:
            ended.set()
            arrived.come.set()

        async def heard(error: Exception) -> None:
            log.warning("NATS says", reason=str(error))

        client = CarefulClient()
        try:
            async with asyncio.timeout(10):
                await client.connect(
                    self._servers,
                    name="tablectl gameserver",
                    closed_cb=closed,
                    error_cb=heard,
                    **once(self._credential),
                )
                stream = await _unless(ended, self._consume(client, arrived))
            self.consuming.set()
            while not ended.is_set():
                await self._take(stream, await arrived.next())
        finally:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.close(), 1)

    async def _consume(self, client: Client, arrived: _Arrived) -> tuple[str, str]:
        """Begin behind what is held; the stream's name and when it was made, which tells it from others."""
        js = client.jetstream(timeout=5)
        name, created, last = await _stream(client, js)
        self._stream = name
        at = await self._in_pool(self._store.stream_position, name, created)
        self._done = at if at <= last else 0
        with contextlib.suppress(nats.js.errors.NotFoundError):
            await js.delete_consumer(name, CONSUMER)
        inbox = client.new_inbox()
        await client.subscribe(inbox, cb=arrived.put)
        await client.subscribe(LINK, cb=self._asked)
        await js.add_consumer(
            name,
            ConsumerConfig(
                durable_name=CONSUMER,
                deliver_subject=inbox,
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=self._done + 1,
                ack_policy=AckPolicy.ALL,
                filter_subject=SUBJECT,
                max_ack_pending=PENDING,
                idle_heartbeat=HEARTBEAT,
            ),
        )
        return name, created

    async def _take(self, stream: tuple[str, str], messages: Sequence[Msg]) -> None:
        if messages:
            self._done = await self._in_pool(self._keep, stream, messages)
            await messages[-1].ack()

    def _keep(self, stream: tuple[str, str], messages: Sequence[Msg]) -> int:
        """All in one commit, and with it the place in the stream, which is returned."""
        at = messages[-1].metadata.sequence.stream
        with self._store.transaction():
            for message in messages:
                self._look_at(message.subject.split(".")[1], message.data)
            self._store.set_stream_position(*stream, at)
        return at

    def _look_at(self, table: str, body: bytes) -> None:
        """Take one message if it can be, and remember what its table is to be told. A gap tells itself."""
        known = self._refused.get(table)
        if known is not None and known.conflicts:
            event = claimed(table, body)
            if event is not None and event[0] == known.epoch and event[1] > known.sequence:
                return  # of a history that is not the one held: nothing of it until that is mended
        reply = self._intake.take_message(table, body)
        if reply.of is None:
            log.warning(
                "a message that is no event of its table was left out",
                table=table,
                reason=reply.payload["error"],
            )
        elif reply.status == 200:
            if known is not None and known.epoch == reply.of[0] and known.sequence <= reply.of[1]:
                del self._refused[table]
        elif reply.status in (400, 403, 422, 500):
            self._note(table, reply, *reply.of)

    def _note(self, table: str, reply: Reply, epoch: str, sequence: int) -> None:
        held, words = self._store.held(table), str(reply.payload["error"])
        if held is not None and held.epoch != epoch:  # who asks for that history is told so anyway
            log.warning("an event of another history was left out", table=table, reason=words)
            return
        conflicts = reply.status != 500 and held is not None and sequence < held.next
        self._refused[table] = _Refusal(epoch, sequence, reply.status, words, conflicts)

    # --- the tables' questions ------------------------------------------------------------------------------

    async def _asked(self, message: Msg) -> None:
        table = message.subject.split(".")[1]
        try:
            asked = json.loads(message.data)
            epoch, stored, acked = str(asked["epoch"]), int(asked["stored"]), int(asked["acked"])
            if asked["stream"] != self._stream:  # its place in another stream says nothing here
                stored = 0
        except (ValueError, ArithmeticError, LookupError, TypeError, RecursionError):
            epoch, stored, acked = "", 0, 0
        answer = await self._in_pool(self._answer, table, epoch, stored, acked)
        with contextlib.suppress(nats.errors.Error):
            await message.respond(json.dumps(answer).encode())

    def _answer(self, table: str, epoch: str, stored: int, acked: int) -> dict[str, Any]:
        reply = self._intake.wanted(table, epoch)
        answer = dict(reply.payload)
        if reply.status != 200:
            return answer | {"status": reply.status}
        held, wanted = self._store.held(table), answer["next"]
        if held is not None:
            answer["epoch"] = held.epoch
        refused = self._refused.get(table)
        # One that came behind what was looked at: the table has perhaps mended it meanwhile.
        if refused is not None and refused.epoch == epoch and stored <= self._done:
            if refused.status in (403, 500):
                return answer | {"status": refused.status, "error": refused.words}
            return answer | {"status": 422, "next": refused.sequence, "error": refused.words}
        if 0 < stored <= self._done and wanted <= acked:
            answer["resend"] = True
        return answer

    async def _in_pool(self, call: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call, *args)


class _Arrived:
    """What the consumer has pushed and nobody took yet; never more than :data:`PENDING` unacknowledged."""

    def __init__(self) -> None:
        self._messages: list[Msg] = []
        self.come = asyncio.Event()
        self._heard_at = asyncio.get_running_loop().time()

    async def put(self, message: Msg) -> None:
        self._heard_at = asyncio.get_running_loop().time()
        if message.header is None or "Status" not in message.header:
            self._messages.append(message)
            self.come.set()

    async def next(self) -> list[Msg]:
        """The next ones, at most :data:`MOST`; none when something happened. Raises when nothing is heard."""
        while not self.come.is_set():
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await self.come.wait()
            except TimeoutError:
                if asyncio.get_running_loop().time() - self._heard_at > 3 * HEARTBEAT:
                    raise nats.errors.StaleConnectionError from None
        found, self._messages = self._messages[:MOST], self._messages[MOST:]
        if not self._messages:
            self.come.clear()
        return found


async def _unless(ended: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """Do ``work``. Raises when the connection ends meanwhile: what was asked then is never answered."""
    working, ending = asyncio.ensure_future(work), asyncio.ensure_future(ended.wait())
    try:
        await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise nats.errors.ConnectionClosedError
        return working.result()
    finally:
        working.cancel()
        ending.cancel()


async def _stream(client: Client, js: JetStreamContext) -> tuple[str, str, int]:
    """Name, time of making and newest message of the stream; a missing one is made."""
    try:
        name = await js.find_stream_name_by_subject(SUBJECT)
    except nats.js.errors.NotFoundError:
        made = StreamConfig(
            name=STREAM, subjects=[SUBJECT], storage=StorageType.FILE, discard=DiscardPolicy.NEW
        )
        await js.add_stream(made)
        name = STREAM
        log.warning("the stream was missing and was made", stream=name)
    info = json.loads((await client.request(f"$JS.API.STREAM.INFO.{name}", b"", timeout=5)).data)
    if "error" in info:
        raise ValueError(str(info["error"]))
    return name, str(info["created"]), int(info["state"]["last_seq"])
