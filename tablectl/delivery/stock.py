"""The bodies that go out: those just committed are at hand, older ones are read from the journal.

What goes out in place of stored events stands before both.
"""

from __future__ import annotations

from collections.abc import Iterable

from tablectl.aside import aside
from tablectl.delivery.actions import Send
from tablectl.delivery.instead import Instead, all_instead, cut, decided
from tablectl.journal import JournalReader
from tablectl.journal.rows import Outgoing

BATCH_BYTES = 512 << 10
"""A batch is cut before it grows over this; one event always goes."""
FRESH = 100
"""Events kept at hand as they were committed."""


class Stock:
    """Of one journal. ``instead``: what goes out in place of something, by the sequence it goes out under."""

    def __init__(self) -> None:
        self.instead: dict[int, Instead] = {}
        self._fresh: dict[int, Outgoing] = {}

    async def read(self, reader: JournalReader) -> None:
        """At a start: what was decided before."""
        since, self.instead = self.instead, await aside(all_instead, reader)
        for one in since.values():
            decided(self.instead, one)

    def add(self, fresh: Iterable[Outgoing]) -> None:
        """These were just committed."""
        self._fresh.update((one.sequence, one) for one in fresh)
        while len(self._fresh) > FRESH:
            del self._fresh[next(iter(self._fresh))]

    @property
    def skips(self) -> frozenset[int]:
        """Events kept no more in whose place a ``history.skipped`` goes."""
        return frozenset(sequence for sequence, one in self.instead.items() if one.skips)

    @property
    def parked(self) -> frozenset[int]:
        """Events that were parked."""
        return frozenset(sequence for sequence, one in self.instead.items() if not one.skips)

    async def get(self, reader: JournalReader, action: Send) -> list[Outgoing]:
        """At least the first of the events asked for.

        Raises :class:`LookupError`, :class:`~tablectl.journal.JournalFault` and ``sqlite3.Error``.
        """
        wanted = cut(range(action.first, action.first + action.count), self.skips)
        known = self._fresh | {n: one.outgoing for n, one in self.instead.items()}
        found = [known[sequence] for sequence in wanted if sequence in known]
        if len(found) != len(wanted):
            stored = await aside(reader.bodies, wanted.start, len(wanted))
            instead = self.instead
            found = [instead[one.sequence].outgoing if one.sequence in instead else one for one in stored]
        if [one.sequence for one in found] != list(wanted)[: len(found)] or not found:
            raise LookupError(f"event {action.first} is not in it")
        size = 0
        for count, one in enumerate(found):
            size += len(one.body) + 1
            if count and size > BATCH_BYTES:
                return found[:count]
        return found
