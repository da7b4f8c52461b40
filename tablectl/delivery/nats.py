"""Delivery over NATS JetStream: the outbox policy twice, for the stream and for the game server behind it.

Theory of operation.  The stream holds one subject for each table.  Publishing is the first outbox: an event
is acknowledged when the stream has stored it.  Each publish names the place of the subject's newest message
as this table knows it (the fence): a second publisher, or an event whose acknowledgement was lost, is refused
by the stream itself, and the newest message is then read.  Ours: acknowledged.  Older: sent again.  Of
another history: halted, until the game server says that a person accepted ours.

What the game server has taken from the stream is the second outbox: it is asked on a subject of its own and
answers ``{"next": N}``.  Only when both are good is the link good.  With ``"resend": true`` it says that what
it wants is not in the stream any more, and the table goes back to there: nothing is lost with a stream.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from tablectl.aside import aside
from tablectl.delivery import ways
from tablectl.delivery.answers import Answer, Failed
from tablectl.delivery.form import EVENT_ID
from tablectl.delivery.job import Job
from tablectl.delivery.nats_line import Last, Line
from tablectl.delivery.nats_taken import Taken
from tablectl.delivery.nats_words import Duplicate, Fault, Moved
from tablectl.delivery.outbox import Link, Outbox, Trouble
from tablectl.delivery.sender import Sender
from tablectl.delivery.tls import Tls
from tablectl.journal import JournalReader
from tablectl.journal.rows import Outgoing


class NatsDelivery(Sender):
    """Publishes to ``tables.<table>.events`` on one of the servers of ``url``.

    ``credential``: as of :class:`~tablectl.delivery.nats_connection.Connection`.
    Raises :class:`ValueError` for a bad address.
    """

    def __init__(self, url: str, job: Job, credential: Path | None = None) -> None:
        super().__init__(job)
        self._line = Line(url, job.table, job.tls, credential)
        self._after: int | None = None
        """Place in the stream of the subject's newest message; None: it must be read."""
        self._taken = Taken(self._line, job, self._stands, self._holds, self._heard, self._go_back)
        self._back_to: int | None = None
        """Publish again from there on, although the stream holds what is newer."""
        self._back_behind: int | None = None
        """Place of the newest message when that began: where it is still the newest, nothing was yet."""

    @property
    def address(self) -> str:
        return self._line.address

    @property
    def tls(self) -> Tls | None:
        return self._line.tls

    @property
    def trouble(self) -> Trouble | None:
        ours = super().trouble
        return ours if ours is not None or self._taken.box is None else self._taken.box.trouble

    def status(self) -> dict[str, Any] | None:
        found = super().status()
        if found is not None and self._taken.box is not None:
            found["taken"] = self._taken.box.acked
        return found

    def wake(self, head: int, boot: int, fresh: Any = ()) -> None:
        super().wake(head, boot, fresh)
        self._taken.stored(head, boot)

    def retry(self) -> None:
        self._taken.parked(self._stock.parked)
        self._taken.retry()
        super().retry()

    def _go_back(self, sequence: int) -> None:
        """Publish again from there on: with the next try, for the one under way may have published it."""
        box = self._outbox
        if box is not None and sequence <= (box.acked if box.in_flight is None else box.head):
            self._back_to, self._back_behind = min(sequence, self._back_to or sequence), None
            self._outbox = box.asked_anew()
            self._woken.set()

    def _jobs(self) -> list[Coroutine[Any, Any, None]]:
        assert self._outbox is not None
        self._taken.begin(self._outbox)
        return [*super()._jobs(), self._taken.ask_on()]

    def _stands(self) -> dict[str, Any]:
        """With which the game server can tell what is missing."""
        assert self._outbox is not None
        return {"stream": self._line.stream, "stored": self._after or 0, "acked": self._outbox.acked}

    def _holds(self, sequence: int) -> bool:
        """Whether the stream, as far as it is known, holds the events up to there as they are to be."""
        box = self._outbox
        return box is not None and box.probed and self._after is not None and box.acked >= sequence

    def _heard(self, at: int, before: Outbox, after: Outbox) -> None:
        """The game server answered."""
        self._telling.answered(at, before, after)
        self._tell_link()

    async def _close(self) -> None:
        await self._line.close()

    def _failing(self, box: Outbox) -> Outbox:
        return box if box.last_error is not None or self._taken.box is None else self._taken.box

    def _link(self, box: Outbox) -> Link:
        link = super()._link(box)
        if not link.good or self._taken.box is None:
            own = box.trouble is None and box.last_error is None
            return replace(link, reason=link.reason.replace("the game server", "the stream")) if own else link
        return super()._link(self._taken.box)

    # --- publishing -----------------------------------------------------------------------------------------

    async def _post(self, reader: JournalReader, found: list[Outgoing]) -> Answer | Failed:
        """One try, as an answer of a server that leads: ``next`` is the event the stream lacks."""
        begun = reached = found[0].sequence if found else 0
        try:
            async with asyncio.timeout(self._job.deadline):
                if not found or self._after is None:
                    reached = await self._stands_at(reader)
                    if reached != begun:
                        return _next(reached)
                for one in found:
                    reached = await self._publish(reader, one)
                    if reached != _behind(one.body, one.sequence):
                        break
                return _next(reached)
        except TimeoutError:
            self._line.drop()
            failed = Failed(f"no answer from the NATS server within {self._job.deadline:g} s")
        except Fault as fault:
            failed = fault.failed
        self._after = None
        return failed if reached == begun else _next(reached)

    async def _publish(self, reader: JournalReader, one: Outgoing) -> int:
        """Have one event stored; the sequence the stream lacks then."""
        kind = json.loads(one.body)["type"]
        for _ in range(2):
            assert self._after is not None
            try:
                try:
                    self._after = await self._line.publish(one.id, kind, one.body, self._after)
                except Duplicate:
                    # It is not the newest one, the fence says so: it was stored lately and is sent again.
                    again = f"{one.id}~{self._after}"
                    self._after = await self._line.publish(again, kind, one.body, self._after)
                return _behind(one.body, one.sequence)
            except Moved:
                lacks = await self._stands_at(reader)
                if lacks != one.sequence:
                    return lacks
            except Duplicate:
                break
        raise Fault(
            f"the stream does not take event {one.sequence}: somebody else publishes to {self._line.events}"
        )

    async def _stands_at(self, reader: JournalReader) -> int:
        """Read the subject's newest message; the sequence that the stream lacks. Raises :class:`Fault`."""
        last = await self._line.last()
        assert self._outbox is not None
        if last is None:
            self._after = 0
            if not self._outbox.acked:
                return 1
            wanted, _ = await self._game_server_wants("the stream holds nothing of this table any more")
            return wanted
        event = _parse(last, self._job.table)
        if event is None or event[0] != self._job.epoch:
            lacks = await self._accepted_at(last, event)
        else:
            lacks = await self._compared(reader, last, event[1])
        self._after = last.at
        return lacks

    async def _compared(self, reader: JournalReader, last: Last, sequence: int) -> int:
        assert self._outbox is not None
        if sequence > self._outbox.head:
            raise Fault(
                f"the stream is ahead of this journal: it holds event {sequence}, "
                f"the newest here is {self._outbox.head}",
                halts=True,
                way=ways.AHEAD,
            )
        if last.at != self._after and not await self._is_ours(reader, sequence, last.body):
            raise Fault(
                f"another history: event {sequence} in the stream is not event {sequence} of this journal: "
                "a second controller, or a restored journal",
                halts=True,
                way=ways.AHEAD,
            )
        return self._again_from(last.at) or _behind(last.body, sequence)

    def _again_from(self, newest: int) -> int | None:
        """The event to go back to, as long as nothing was published since that was ordered."""
        assert self._outbox is not None
        if self._back_to is None or self._outbox.overtaken:  # what is under way may still publish
            return None
        if self._back_behind is None:
            self._back_behind = newest
        if newest != self._back_behind:
            self._back_to = None
        return self._back_to

    async def _is_ours(self, reader: JournalReader, sequence: int, body: bytes) -> bool:
        """Whether this journal sends, or sent, it under that sequence; what is kept no more is believed."""
        instead = self._stock.instead.get(sequence)
        if instead is not None and instead.outgoing.body == body:
            return True
        stored = await aside(reader.bodies, sequence, 1)
        return not stored or stored[0].sequence != sequence or stored[0].body == body

    async def _accepted_at(self, last: Last, event: tuple[str, int] | None) -> int:
        """Another history is in the stream: only the game server can say that ours was accepted."""
        whose = f"history {event[0]}" if event else "nobody that can be named"
        text = (
            f"another history: the newest message of {self._line.events} is of {whose}, this is "
            f"{self._job.epoch}: a second controller, a replaced PC or a restored journal"
        )
        way = ways.accepted(self._job.epoch)
        try:
            wanted, pinned = await self._game_server_wants(text)
        except Fault as fault:
            raise Fault(str(fault), halts=True, way=way) from None
        if pinned != self._job.epoch:
            raise Fault(text, halts=True, way=way)
        return wanted

    async def _game_server_wants(self, why: str) -> tuple[int, object]:
        """Which event, and to which history it is pinned as far as it tells."""
        answer = await self._taken.asked(self._job.deadline / 2)
        # One that refuses an event names it: it goes on there, for the game server to look at it anew.
        if isinstance(answer, Answer) and answer.status in (200, 422) and isinstance(answer.body, dict):
            wanted = answer.body.get("next")
            if type(wanted) is int and wanted >= 1:
                return wanted, answer.body.get("epoch")
        said = answer.text if isinstance(answer, Failed) else answer.words or "it does not say"
        raise Fault(f"{why}, and only the game server can say where to go on: {said}")


def _next(wanted: int) -> Answer:
    return Answer(200, {"next": wanted})


def _parse(last: Last, table: str) -> tuple[str, int] | None:
    """Epoch and sequence of the event in a message; None: it is no event of ``table``."""
    try:
        parts = EVENT_ID.fullmatch(json.loads(last.body)["id"])
        if parts is None or parts["table"] != table or not int(parts["sequence"]):
            return None
        _behind(last.body, 0)
    except (ValueError, ArithmeticError, LookupError, TypeError, RecursionError):
        return None
    return parts["epoch"], int(parts["sequence"])


def _behind(body: bytes, sequence: int) -> int:
    """The sequence behind an event; a skip leaps over what is kept no more."""
    event = json.loads(body)
    return int(event["data"]["to"]) + 1 if event["type"] == "tablectl.history.skipped.v1" else sequence + 1
