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
import random
import re
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from tablectl.clock import SECOND, Instant, now
from tablectl.delivery.answers import Answer, Failed
from tablectl.delivery.aside import aside
from tablectl.delivery.instead import Instead
from tablectl.delivery.nats_line import Last, Line
from tablectl.delivery.nats_words import Duplicate, Fault, Moved
from tablectl.delivery.outbox import Halted, Link, Outbox, Probe, Send, Trouble, Wait
from tablectl.delivery.sender import LOOK, Sender
from tablectl.delivery.tls import Tls, TlsFiles
from tablectl.journal import JournalReader
from tablectl.journal_rows import Outgoing

ASK_EVERY = SECOND
"""How often the game server is asked while it is owed something: an event is overdue after two seconds."""

_ID = re.compile(r"[A-Za-z0-9_-]{1,16}-(?P<epoch>[0-9a-f]{6})-(?P<sequence>[0-9]{12,18})(-[ps])?")


class NatsDelivery(Sender):
    """Publishes to ``tables.<table>.events`` on one of the servers of ``url``; else as :class:`Sender`.

    ``deadline``: seconds for one whole try. ``credential``: see :class:`Line`. Raises :class:`ValueError` for
    a bad address.
    """

    def __init__(
        self,
        url: str,
        reader_factory: Callable[[], JournalReader],
        table: str,
        epoch: str,
        *,
        on_link: Callable[[Link], None],
        on_acked: Callable[[int], None],
        on_alarm: Callable[[str, str], None],
        deadline: float = 5.0,
        tls: TlsFiles = TlsFiles(),  # noqa: B008 frozen
        credential: Path | None = None,
        warn_days: int = 14,
        clock: Callable[[], Instant] = now,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(
            reader_factory,
            table,
            epoch,
            on_link=on_link,
            on_acked=on_acked,
            on_alarm=on_alarm,
            warn_days=warn_days,
            clock=clock,
            jitter=jitter,
        )
        self._line = Line(url, table, tls, credential)
        self._deadline = deadline
        self._after: int | None = None
        """Place in the stream of the subject's newest message; None: it must be read."""
        self._taken: Outbox | None = None
        """What the game server has taken; None before the journal is read."""
        self._asked_at = 0
        self._back_to: int | None = None

    @property
    def address(self) -> str:
        return self._line.address

    @property
    def tls(self) -> Tls | None:
        return self._line.tls

    @property
    def trouble(self) -> Trouble | None:
        ours = super().trouble
        return ours if ours is not None or self._taken is None else self._taken.trouble

    def status(self) -> dict[str, object]:
        taken = {} if self._taken is None else {"taken": self._taken.acked}
        return super().status() | taken

    def wake(self, head: int, boot: int, fresh: Any = ()) -> None:
        super().wake(head, boot, fresh)
        if self._taken is not None:
            self._taken = self._taken.stored(head, boot)

    def retry(self) -> None:
        """As of :class:`Sender`; what the game server refused is published again, for it to look at anew."""
        if self._taken is not None:
            if self._taken.trouble is not None and self._taken.trouble.refused is not None:
                self._go_back(self._taken.trouble.refused)
            self._taken = self._taken.retried()
            self._asked_at = self._clock().boot
        super().retry()

    def sends_instead(self, one: Instead) -> None:
        self._go_back(one.outgoing.sequence)
        super().sends_instead(one)

    def _go_back(self, sequence: int) -> None:
        """Publish again from there on: with the next try."""
        if self._outbox is not None and sequence <= self._outbox.acked:
            self._back_to = sequence
            self._outbox = replace(self._outbox, probed=False)
            self._woken.set()

    def _jobs(self) -> list[Coroutine[Any, Any, None]]:
        assert self._outbox is not None
        # Whether rows are lost is found out at the stream. What is published since may be taken by the time
        # the game server first answers, and of what it has from before it compares the bytes.
        self._taken = replace(self._outbox, kept_from=1, by_word=True, sure=None)
        return [*super()._jobs(), self._ask_on()]

    async def _close(self) -> None:
        await self._line.close()

    def _link(self, box: Outbox) -> Link:
        link = super()._link(box)
        if not link.good or self._taken is None:
            own = box.trouble is None and box.last_error is None
            return replace(link, reason=link.reason.replace("the game server", "the stream")) if own else link
        return super()._link(self._taken)

    # --- publishing -----------------------------------------------------------------------------------------

    async def _post(self, reader: JournalReader, found: list[Outgoing]) -> Answer | Failed:
        """One try, as an answer of a server that leads: ``next`` is the event the stream lacks."""
        if self._back_to is not None:
            wanted, self._back_to = self._back_to, None
            return _next(wanted)
        begun = reached = found[0].sequence if found else 0
        try:
            async with asyncio.timeout(self._deadline):
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
            failed = Failed(f"no answer from the NATS server within {self._deadline:g} s")
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
        event = _parse(last)
        if event is None or event[0] != self._epoch:
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
            )
        if last.at != self._after and not await self._is_ours(reader, sequence, last.body):
            raise Fault(
                f"another history: event {sequence} in the stream is not event {sequence} of this journal: "
                "a second controller, or a restored journal",
                halts=True,
            )
        return _behind(last.body, sequence)

    async def _is_ours(self, reader: JournalReader, sequence: int, body: bytes) -> bool:
        """Whether this journal sends, or sent, it under that sequence; what is kept no more is believed."""
        instead = self._instead.get(sequence)
        if instead is not None and instead.outgoing.body == body:
            return True
        stored = await aside(reader.bodies, sequence, 1)
        return not stored or stored[0].sequence != sequence or stored[0].body == body

    async def _accepted_at(self, last: Last, event: tuple[str, int] | None) -> int:
        """Another history is in the stream: only the game server can say that ours was accepted."""
        whose = f"history {event[0]}" if event else "nobody that can be named"
        text = (
            f"another history: the newest message of {self._line.events} is of {whose}, this is "
            f"{self._epoch}: a second controller, a replaced PC or a restored journal. A person must accept"
            " it at the game server first; then: tablectl delivery retry"
        )
        try:
            wanted, pinned = await self._game_server_wants(text)
        except Fault:
            raise Fault(text, halts=True) from None
        if pinned != self._epoch:
            raise Fault(text, halts=True)
        return wanted

    async def _game_server_wants(self, why: str) -> tuple[int, object]:
        """Which event, and to which history it is pinned as far as it tells."""
        answer = await self._asked(self._deadline / 2)
        if isinstance(answer, Answer) and answer.status == 200 and isinstance(answer.body, dict):
            wanted = answer.body.get("next")
            if type(wanted) is int and wanted >= 1:
                return wanted, answer.body.get("epoch")
        said = answer.text if isinstance(answer, Failed) else answer.words or "it does not say"
        raise Fault(f"{why}, and only the game server can say where to go on: {said}")

    # --- the game server ------------------------------------------------------------------------------------

    async def _ask_on(self) -> None:
        """Ask as the policy says: at the start, every five seconds, and soon while it is owed something."""
        while True:
            assert self._taken is not None
            at = self._clock().boot
            due = at
            match self._taken.next_action(at):
                case Probe() | Send():
                    due = self._asked_at + ASK_EVERY
                case Wait(until):
                    due = at + SECOND if until is None else until
                case Halted():
                    due = at + SECOND
            if due <= at and self._line.connected:
                self._asked_at = at
                await self._ask()
            else:
                await asyncio.sleep(LOOK if due <= at else min(LOOK, (due - at) / SECOND))

    async def _ask(self) -> None:
        answer = await self._asked(self._deadline)
        assert self._taken is not None
        before, at = self._taken, self._clock().boot
        request: Send | Probe = Probe()
        if isinstance(answer, Answer) and answer.status == 422 and isinstance(answer.body, dict):
            request = Send(answer.body["next"], 1)
        self._taken = before.sending(request).answered(at, answer, self._jitter())
        self._report_trouble(at, before, self._taken)
        self._tell_link()
        resend = (
            isinstance(answer, Answer) and isinstance(answer.body, dict) and answer.body.get("resend") is True
        )
        if resend and self._taken.last_error is None and self._taken.trouble is None:
            self._go_back(self._taken.acked + 1)

    async def _asked(self, deadline: float) -> Answer | Failed:
        """One question. ``epoch`` and how far the stream stands let the game server tell what is missing."""
        try:
            async with asyncio.timeout(deadline):
                box = self._outbox
                assert box is not None
                stands = {"stream": self._line.stream, "stored": self._after or 0, "acked": box.acked}
                said = await self._line.ask({"epoch": self._epoch, **stands})
        except TimeoutError:
            return Failed(f"no answer from the game server within {deadline:g} s")
        except Fault as fault:
            return fault.failed
        status, wanted, words = said.get("status", 200), said.get("next"), said.get("error")
        if type(status) is not int or (status == 422 and type(wanted) is not int):
            status = 200
        words = re.sub(r"[^\x20-\x7e]", "", words)[:200] if isinstance(words, str) else ""
        return Answer(status, said, words=words)


def _next(wanted: int) -> Answer:
    return Answer(200, {"next": wanted})


def _parse(last: Last) -> tuple[str, int] | None:
    """Epoch and sequence of the event in a message."""
    try:
        parts = _ID.fullmatch(json.loads(last.body)["id"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return (parts["epoch"], int(parts["sequence"])) if parts else None


def _behind(body: bytes, sequence: int) -> int:
    """The sequence behind an event; a skip leaps over what is kept no more."""
    event = json.loads(body)
    return int(event["data"]["to"]) + 1 if event["type"] == "tablectl.history.skipped.v1" else sequence + 1
