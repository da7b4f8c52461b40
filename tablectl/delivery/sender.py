"""Delivery, whatever the way: does what the outbox policy says, and tells what came of it.

Everything here may be slow or dead without harm: it runs in the service loop, reads the journal over
a connection of its own, and every try has a total deadline (names, connecting, sending, the answer).
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any

import structlog

from tablectl.aside import aside
from tablectl.clock import SECOND
from tablectl.delivery.actions import Halted, Probe, Send, Wait
from tablectl.delivery.answers import Answer, Failed, classify
from tablectl.delivery.instead import Instead, decided, never_sent
from tablectl.delivery.job import Job
from tablectl.delivery.outbox import Link, Outbox, Trouble
from tablectl.delivery.standing import standing, tries_in
from tablectl.delivery.stock import Stock
from tablectl.delivery.telling import Telling
from tablectl.delivery.tls import Tls
from tablectl.journal import JournalFault, JournalReader
from tablectl.journal.rows import Outgoing

LOOK = 0.25
DAY = 86_400 * SECOND

log = structlog.get_logger(__name__)


class Sender(ABC):
    """Does its ``job`` over the way that a subclass knows."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._outbox: Outbox | None = None
        self._early: list[tuple[int, int]] = []
        self._begun_at = 0
        """What was acknowledged when it began."""
        self._stock = Stock()
        self._oldest: Outgoing | None = None
        """The oldest event kept, as of the last time that the server went back."""
        self._doubt = False
        """Whether the journal's file doubts, as of the last look, what was sent before this start."""
        self._woken = asyncio.Event()
        self._telling = Telling(job)

    # --- the way ------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def address(self) -> str:
        """Where to, for people; without secrets."""

    @property
    @abstractmethod
    def tls(self) -> Tls | None:
        """What encrypts the connection; None before the first try, and without encryption."""

    @abstractmethod
    async def _post(self, reader: JournalReader, found: list[Outgoing]) -> Answer | Failed:
        """One try, within its deadline. ``found`` empty: the probe."""

    @abstractmethod
    async def _close(self) -> None:
        """Let go of the connection."""

    # --- what all ways share ------------------------------------------------------------------------------

    @property
    def outbox(self) -> Outbox | None:
        """The state; None before :meth:`run` has read the journal."""
        return self._outbox

    @property
    def trouble(self) -> Trouble | None:
        """What stands in the way, for people and for their orders."""
        return None if self._outbox is None else self._outbox.trouble

    @property
    def begins(self) -> bool:
        """Whether it has not got so far yet as to meet what the server may refuse."""
        box = self._outbox
        return box is None or (box.owed > 0 and box.high == self._begun_at)

    def status(self) -> dict[str, Any] | None:
        """How it stands; None before :meth:`run` has read the journal."""
        box = self._outbox
        if box is None:
            return None
        again = tries_in(self._failing(box), self._job.clock().boot)
        link, parked = self._link(box), sorted(self._stock.parked)
        return standing(self.address, link, box, self.trouble, parked, self.never_sent, again)

    @property
    def never_sent(self) -> str:
        """What ``delivery start-at`` would leave out, where the game server asks for what is kept no more."""
        wanted = None if self._outbox is None or self._outbox.trouble is None else self._outbox.trouble.wanted
        if self._outbox is None or wanted is None or self._oldest is None:
            return ""
        return never_sent(wanted, self._outbox.kept_from, self._oldest.body)

    def wake(self, head: int, boot: int, fresh: Sequence[Outgoing] = ()) -> None:
        """Events up to ``head`` are durable, the oldest new one decided at ``boot``. Call it in the loop.

        ``fresh``: those just committed, so that in the common case they need not be read back.
        """
        self._stock.add(fresh)
        if self._outbox is None:
            self._early.append((head, boot))
        else:
            self._outbox = self._outbox.stored(head, boot)
            self._woken.set()

    def retry(self) -> None:
        """A person wants it tried again now, also after a halt. Call it in the loop."""
        if self._outbox is not None:
            self._outbox = self._outbox.retried()
            self._woken.set()

    def sends_instead(self, one: Instead) -> None:
        """What goes out in place of something is durable: the server is asked and gets it. In the loop."""
        if not decided(self._stock.instead, one):
            return
        self._go_back(one.outgoing.sequence)
        if self._outbox is not None:
            self._outbox = replace(self._outbox, skips=self._stock.skips, parked=self._stock.parked)
        self.retry()

    def parked(self, sequence: int) -> bool:
        """Whether that event was parked."""
        return sequence in self._stock.parked

    async def run(self) -> None:
        """Deliver until cancelled, which takes effect at once."""
        reader = await aside(self._job.reader_factory)
        try:
            (_, head), acked = await aside(reader.last), await aside(reader.acked)
            kept_from, sure = await aside(reader.first_sequence), await aside(reader.sure)
            self._doubt = sure is not None
            self._begun_at = acked
            await self._stock.read(reader)
            self._outbox = Outbox.begin(
                self._job.clock().boot,
                head=head,
                acked=acked,
                kept_from=kept_from,
                skips=self._stock.skips,
                parked=self._stock.parked,
                sure=sure,
            )
            for early in self._early:
                self._outbox = self._outbox.stored(*early)
            async with asyncio.TaskGroup() as group:
                for job in self._jobs():
                    group.create_task(job)
                await self._deliver(reader)
        finally:
            await self._close()
            # Aside: it may wait for a read that hangs.
            threading.Thread(target=reader.close, name="let-go", daemon=True).start()

    def _go_back(self, sequence: int) -> None:
        """What goes out from there on is other than it was: a subclass may have to send it again."""
        return  # the server that is posted to says itself where to go on

    def _jobs(self) -> list[Coroutine[Any, Any, None]]:
        """What goes on beside sending."""
        return [self._watch_link()]

    async def _deliver(self, reader: JournalReader) -> None:
        while self._outbox is not None:
            self._woken.clear()
            if self._outbox.probed and not await self._sure(reader):
                await asyncio.sleep(LOOK)
                continue
            match self._outbox.next_action(self._job.clock().boot):
                case Send() | Probe() as action:
                    await self._exchange(reader, action)
                case Wait(until):
                    await self._sleep(until)
                case Halted():
                    await self._sleep(None)

    async def _sure(self, reader: JournalReader) -> bool:
        """Whether the journal's doubt about lost rows, once it has ended, is gone from the file too.

        What went out before that would be what "the server has and was lost here" at the next start.
        """
        if self._doubt:
            try:
                self._doubt = await aside(reader.sure) is not None
            except sqlite3.Error:
                return False
        return not self._doubt

    async def _sleep(self, until: int | None) -> None:
        """Until that instant or until something happens; the clock is looked at four times a second."""
        seconds = LOOK if until is None else min(LOOK, max(0.0, (until - self._job.clock().boot) / SECOND))
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass

    async def _exchange(self, reader: JournalReader, action: Send | Probe) -> None:
        answer: Answer | Failed
        found: list[Outgoing] = []
        assert self._outbox is not None
        self._outbox = self._outbox.sending(action, self._job.clock().boot)
        try:
            if isinstance(action, Send):
                found = await self._stock.get(reader, action)
                self._outbox = self._outbox.sending(Send(action.first, len(found)))
            answer = await self._post(reader, found)
            await self._see_what_is_kept(reader, answer)
        except (sqlite3.Error, LookupError, JournalFault) as error:
            # What is damaged does not mend itself: what comes before it was sent, and a person must act.
            answer = Failed(f"the journal cannot be read: {error}", halts=isinstance(error, JournalFault))
        before, at = self._outbox, self._job.clock().boot
        self._outbox = before.answered(at, answer, self._job.jitter())
        self._report(at, before, self._outbox)
        self._telling.certificates(self.tls)

    async def _see_what_is_kept(self, reader: JournalReader, answer: Answer | Failed) -> None:
        """A server that goes back may ask for what is kept no more."""
        assert self._outbox is not None
        if 0 < classify(answer).next <= max(self._outbox.acked, self._outbox.kept_from - 1):
            kept_from = await aside(reader.first_sequence)
            self._oldest = next(iter(await aside(reader.bodies, kept_from, 1)), None)
            self._outbox = replace(self._outbox, kept_from=kept_from)

    async def _watch_link(self) -> None:
        """The link also turns bad by time alone, in the middle of a try too."""
        while True:
            self._look()
            await asyncio.sleep(LOOK)

    def _report(self, at: int, before: Outbox, after: Outbox) -> None:
        """Tell what the answer changed."""
        if after.acked != before.acked or (before.sure is not None and after.sure is None):
            self._job.on_acked(after.acked)  # which also ends the doubt about what was lost
        self._telling.answered(at, before, after)
        self._tell_link()

    def _look(self) -> None:
        self._tell_link()
        self._telling.late(self._job.clock().boot, self.trouble)

    def _tell_link(self) -> None:
        if self._outbox is not None:
            self._telling.link(self._link(self._outbox))

    def _failing(self, box: Outbox) -> Outbox:
        """Whose next try people wait for."""
        return box

    def _link(self, box: Outbox) -> Link:
        return box.link(self._job.clock().boot)
