"""A table's journal and its delivery, without the rest of the controller: what becomes durable is sent."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from tablectl.clock import Instant, now
from tablectl.delivery.job import Job
from tablectl.delivery.outbox import Link, Outbox
from tablectl.delivery.placed import Placed
from tablectl.delivery.sender import Sender
from tablectl.events import Event, private_body, public_body
from tablectl.journal import Journal, Row
from tests.gameserver.posting import resulted

D = TypeVar("D", bound=Sender)


class Durable(Generic[D]):
    """``make`` gets the job, with ``options`` and the callbacks in it, and sends."""

    def __init__(
        self,
        path: Path,
        make: Callable[..., D],
        table: str = "T07",
        *,
        clock: Callable[[], Instant] = now,
        **options: Any,
    ) -> None:
        self.journal = Journal.open(path, table)
        self.table = table
        self.alarms: list[tuple[str, str]] = []
        self.links: list[tuple[bool, str]] = []
        self.placed: list[Placed] = []
        self.changed = asyncio.Event()
        self._clock = clock
        made: dict[str, Any] = {
            "on_link": self._link,
            "on_acked": self._acked,
            "on_alarm": self._alarm,
            "jitter": lambda: 0.0,
            "clock": clock,
            **options,
        }
        self.delivery = make(Job(self.journal.reader, table, self.journal.epoch, **made))
        self.task: asyncio.Task[None] | None = None

    def _link(self, link: Link) -> None:
        self.links.append((link.good, link.reason))
        self.placed += [] if link.placed is None else [link.placed]
        self.changed.set()

    def _acked(self, sequence: int) -> None:
        self.journal.set_acked(sequence)
        self.changed.set()

    def _alarm(self, code: str, text: str) -> None:
        self.alarms.append((code, text))
        self.changed.set()

    def start(self) -> Self:
        self.task = asyncio.create_task(self.delivery.run())
        return self

    def play(self, rounds: int = 1, made: Callable[[int], Event] = resulted) -> None:
        """That many results become durable, or what is ``made`` of their sequences."""
        row, sequence = self.journal.last()
        epoch, at, rows = self.journal.epoch, now(), []
        for n in range(sequence + 1, sequence + rounds + 1):
            event = made(n)
            body = public_body(event, table=self.table, epoch=epoch, sequence=n, at=at, test=False)
            rows.append(Row(row + n - sequence, n, body, private_body(event, at)))
        self.journal.append(rows)
        self.delivery.wake(sequence + rounds, self._clock().boot)

    @property
    def outbox(self) -> Outbox:
        assert self.delivery.outbox is not None
        return self.delivery.outbox

    @property
    def bodies(self) -> list[bytes]:
        """What the journal would have the game server hold."""
        return [one.body for one in self.journal.bodies(1, 100_000)]

    async def until(self, done: Callable[[], object], seconds: float = 45.0) -> None:
        async with asyncio.timeout(seconds):
            while not done():
                self.changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.changed.wait(), 0.02)
                assert self.task is None or not self.task.done(), self.task

    async def all_stored(self, seconds: float = 20.0) -> None:
        """Everything is acknowledged."""
        await self.until(lambda: self.journal.acked() == self.journal.last()[1], seconds)

    async def good(self, seconds: float = 45.0) -> None:
        """The link is."""
        await self.until(lambda: self.links[-1:] == [(True, "")], seconds)

    async def stop(self) -> None:
        if self.task is not None:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
        self.journal.close()
