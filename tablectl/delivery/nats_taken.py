"""What the game server has taken from the stream, by its own word: it is asked on a subject of its own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tablectl.clock import SECOND
from tablectl.delivery import ways
from tablectl.delivery.actions import Halted, Probe, Send, Wait
from tablectl.delivery.answers import Answer, Failed, in_words
from tablectl.delivery.job import Job
from tablectl.delivery.nats_line import Line
from tablectl.delivery.nats_words import Fault
from tablectl.delivery.outbox import Outbox
from tablectl.delivery.sender import LOOK

MOST = 10**12
"""No event has so high a number."""
PATIENCE = 3 * SECOND
"""From an order on, until a refusal of before it is one of what was published again."""
ASK_EVERY = SECOND
"""How often the game server is asked while it is owed something: an event is overdue after two seconds."""


class Taken:
    """``box``: the policy's state; None before the journal is read.

    ``stands()``: where the stream is, for the question. ``holds(sequence)``: whether that event, once ordered
    to be published again, is in the stream: before that the game server can only repeat its refusal.
    ``told(at, before, after)``: of every answer, in the loop. ``go_back(sequence)``: the game server wants
    it published again from there on.
    """

    def __init__(
        self,
        line: Line,
        job: Job,
        stands: Callable[[], dict[str, Any]],
        holds: Callable[[int], bool],
        told: Callable[[int, Outbox, Outbox], None],
        go_back: Callable[[int], None],
    ) -> None:
        self._line = line
        self._job = job
        self._stands = stands
        self._holds = holds
        self._told = told
        self._go_back = go_back
        self.box: Outbox | None = None
        self._asked_at = 0
        self._refused = 0
        """The event that the game server refused last; 0: it took it since."""
        self._retried_at: int | None = None

    def begin(self, published: Outbox) -> None:
        """The journal was read."""
        # Whether rows are lost is found out at the stream. What is published since may be taken by the time
        # the game server first answers, and of what it has from before it compares the bytes.
        self.box = replace(published, kept_from=1, by_word=True, sure=None)

    def stored(self, head: int, boot: int) -> None:
        """Events up to ``head`` are in the journal."""
        if self.box is not None:
            self.box = self.box.stored(head, boot)

    def parked(self, events: frozenset[int]) -> None:
        """In the place of these something else goes out."""
        if self.box is not None:
            self.box = replace(self.box, parked=events)

    def retry(self) -> None:
        """What was refused is published again, for the game server to look at anew."""
        if self.box is not None:
            if self._refused:
                self._go_back(self._refused)
            self.box = self.box.retried()
            self._asked_at = self._retried_at = self._job.clock().boot

    async def ask_on(self) -> None:
        """Ask as the policy says: at the start, every five seconds, and soon while it is owed something."""
        while True:
            assert self.box is not None
            at = self._job.clock().boot
            due = at
            match self.box.next_action(at):
                case Probe() | Send():
                    due = self._asked_at + ASK_EVERY
                case Wait(until):
                    due = at + SECOND if until is None else until
                case Halted():
                    due = at + SECOND
            if due <= at and self._line.connected and (not self._refused or self._holds(self._refused)):
                self._asked_at = at
                await self._ask()
            else:
                await asyncio.sleep(LOOK if due <= at else min(LOOK, (due - at) / SECOND))

    async def _ask(self) -> None:
        assert self.box is not None
        self.box = self.box.sending(Probe(), self._asked_at)
        answer = await self.asked(self._job.deadline)
        if isinstance(answer, Answer) and answer.status == 422 and isinstance(answer.body, dict):
            again, self._refused = answer.body["next"] == self._refused, answer.body["next"]
            if again and self._retried_at is not None and self._asked_at < self._retried_at + PATIENCE:
                answer = Failed(f"the game server has not looked at event {self._refused} again yet")
            else:
                self.box = self.box.sending(Send(self._refused, 1))
        elif isinstance(answer, Answer) and answer.status == 200:
            self._refused = 0
        before, at = self.box, self._job.clock().boot
        self.box = before.answered(at, answer, self._job.jitter())
        self._told(at, before, self.box)
        resend = (
            isinstance(answer, Answer) and isinstance(answer.body, dict) and answer.body.get("resend") is True
        )
        if resend and self.box.last_error is None and self.box.trouble is None:
            self._go_back(self.box.acked + 1)

    async def asked(self, deadline: float) -> Answer | Failed:
        """One question; ``epoch`` and how far the stream is let the game server tell what is missing."""
        try:
            async with asyncio.timeout(deadline):
                said = await self._line.ask({"epoch": self._job.epoch, **self._stands()})
        except TimeoutError:
            return Failed(f"no answer from the game server within {deadline:g} s")
        except Fault as fault:
            return fault.failed
        status, wanted, words = said.get("status", 200), said.get("next"), said.get("error")
        if type(status) is not int:  # whatever it wants to say, it is not that all is well
            return Failed('the game server answers with a "status" that is no number: that takes none')
        if type(wanted) is not int:
            status = 200 if status == 422 else status
        elif status == 422 and not 1 <= wanted < MOST:
            text = f"the game server refuses event {in_words(wanted)}, and there is none such"
            return Failed(text, halts=True, way=ways.MENDED)
        words = re.sub(r"[^\x20-\x7e]", "", words)[:200] if isinstance(words, str) else ""
        return Answer(status, said, words=words)
