"""Who waits for news of a table is woken when there are some: the long poll behind the player page."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

MOST_WAITING = 8
"""Requests of one player that may wait at once."""


class TooMany(Exception):
    """One player waits with too many requests."""


class News:
    """A version for each table, which differs from all before it; of another start too."""

    def __init__(self) -> None:
        self._start = secrets.token_hex(4)
        self._count: Counter[str] = Counter()
        self._wake: dict[str, asyncio.Event] = {}
        self._waiting: Counter[str] = Counter()
        self._closed = False

    def changed(self, table: str) -> None:
        """Something is new there. On the loop."""
        self._count[table] += 1
        if (event := self._wake.pop(table, None)) is not None:
            event.set()

    def close(self) -> None:
        """Nobody waits any more: the server stops."""
        self._closed = True
        for event in self._wake.values():
            event.set()

    def version(self, table: str) -> str:
        """What is known by who asks now."""
        return f"{self._start}-{self._count[table]}"

    async def after(self, table: str, version: str, seconds: float) -> None:
        """Wait until there is something newer than ``version``, ``seconds`` at most."""
        if version != self.version(table) or seconds <= 0 or self._closed:
            return
        event = self._wake.setdefault(table, asyncio.Event())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()

    @contextmanager
    def one_of(self, player: str) -> Iterator[None]:
        """One more request of that player waits. Raises :class:`TooMany`."""
        if self._waiting[player] >= MOST_WAITING:
            raise TooMany
        self._waiting[player] += 1
        try:
            yield
        finally:
            self._waiting[player] -= 1
            if not self._waiting[player]:
                del self._waiting[player]
