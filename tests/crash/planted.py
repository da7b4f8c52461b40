"""Faults that lose or double events, to be put into a process of a test: the crash tests must find each.

Named by what is done too early, or left out.  Each changes the classes of the process that calls it, and
imports no more than it needs: a process of a test starts quickly.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

AWHILE = 0.03
"""Seconds in which what was done too early gets to the disk or out of the house."""


def acked_before_sent() -> None:
    """The sender notes events as delivered, then sends them."""
    from tablectl.delivery.http import HttpDelivery
    from tablectl.delivery.nats import NatsDelivery
    from tablectl.journal.writer import JournalWriter

    init = JournalWriter.__init__
    writers: list[JournalWriter] = []

    def made(self: JournalWriter, *given: Any, **options: Any) -> None:
        init(self, *given, **options)
        writers.append(self)

    def acks_first(plain: Any) -> Any:
        async def post(self: Any, reader: Any, found: Any) -> Any:
            if found:
                writers[-1].save_acked(found[-1].sequence)
                await asyncio.sleep(AWHILE)
            return await plain(self, reader, found)

        return post

    JournalWriter.__init__ = made  # type: ignore[method-assign]
    for way in (HttpDelivery, NatsDelivery):
        way._post = acks_first(way._post)  # type: ignore[method-assign]


def told_before_commit() -> None:
    """The writer reports batches as durable when it gets them."""
    from tablectl.journal.writer import Batch, JournalWriter

    init, put = JournalWriter.__init__, JournalWriter.put
    reports: list[Callable[[tuple[Batch, ...]], None]] = []

    def made(self: JournalWriter, journal: Any, on_durable: Any, *given: Any, **options: Any) -> None:
        reports.append(on_durable)
        init(self, journal, lambda batches: None, *given, **options)

    def handed(self: JournalWriter, batch: Batch) -> None:
        reports[-1]((batch,))
        time.sleep(AWHILE)
        put(self, batch)

    JournalWriter.__init__ = made  # type: ignore[method-assign]
    JournalWriter.put = handed  # type: ignore[method-assign]


def answered_before_commit() -> None:
    """The game server commits what it answered for when the next request comes."""
    from tablectl.gameserver.store import Store

    @contextlib.contextmanager
    def late(self: Store) -> Iterator[None]:
        if self._db.in_transaction:
            self._db.execute("COMMIT")
        self._db.execute("BEGIN IMMEDIATE")
        yield

    Store.transaction = late  # type: ignore[method-assign]


def commit_without_sync() -> None:
    """A commit is left to the kernel to store."""

    class Hasty(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            return super().execute(sql.replace("synchronous=FULL", "synchronous=OFF"), parameters)

    sqlite3.connect = partial(sqlite3.connect, factory=Hasty)  # type: ignore[assignment]


PLANTS: dict[str, Callable[[], None]] = {
    plant.__name__: plant
    for plant in (acked_before_sent, told_before_commit, answered_before_commit, commit_without_sync)
}
