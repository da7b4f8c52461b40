"""The technician's tap: what the reader hears, for a few listeners, without ever holding up a card.

The reader thread calls :meth:`RawTap.heard` and :meth:`RawTap.arrived`; with no listener both are one look
at an empty tuple. Each listener has a bounded queue of records (JSON objects); when it is full the newest
are dropped, and how many is told in their place once there is room.

Every record has a ``kind``. Whoever shows them begins with a ``header`` and tells the reader's counters once
a second in a ``state`` (:class:`Source`). From the hub come ``bytes`` (``at``, ``hex``), ``item`` (``at``,
``item``, ``discarded`` for one that waited in the line), ``lost`` (``at``, ``text``), ``restored`` (``at``,
``text``, ``where``), and ``dropped`` (``count``).  ``at`` is in ns since the listener came.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tablectl.clock import SECOND, Instant, iso
from tablectl.item_words import hex_of, item_json
from tablectl.scanner import Arrival, Arrived, Discarded, ScannerLost, ScannerRestored

if TYPE_CHECKING:
    from tablectl.reader import Reader

Entry = dict[str, Any]

QUEUE = 4096
"""Records that wait for a listener."""


class Listener:
    """One who listens. ``wake`` is called from the reader thread when there is something to take."""

    def __init__(self, started: int, wake: Callable[[], None]) -> None:
        self.started = started
        self._wake = wake
        self._waiting: deque[Entry] = deque()
        self._dropped = 0
        self._lock = threading.Lock()  # held for a few instructions only

    def put(self, entry: Entry, at: int) -> None:
        """From the reader thread; ``at``: boot ns."""
        with self._lock:
            first = not self._waiting
            if len(self._waiting) >= QUEUE:
                self._dropped += 1
                return
            if self._dropped:
                self._waiting.append({"kind": "dropped", "count": self._dropped})
                self._dropped = 0
            self._waiting.append({**entry, "at": max(0, at - self.started)})
        if first:
            self._wake()

    def take(self) -> list[Entry]:
        """What came since, in order."""
        with self._lock:
            taken = list(self._waiting)
            self._waiting.clear()
            if self._dropped:
                taken.append({"kind": "dropped", "count": self._dropped})
                self._dropped = 0
        return taken


class RawTap:
    """The hub between one reader and its listeners."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()

    def add(self, started: int, wake: Callable[[], None]) -> Listener:
        """A new listener, from ``started`` (boot ns) on. ``add`` and ``remove`` belong to one thread."""
        listener = Listener(started, wake)
        self._listeners = (*self._listeners, listener)
        return listener

    def remove(self, listener: Listener) -> None:
        """It listens no more."""
        self._listeners = tuple(one for one in self._listeners if one is not listener)

    def __len__(self) -> int:
        return len(self._listeners)

    def heard(self, data: bytes, at: Instant) -> None:
        """Bytes arrived; before they are decoded."""
        if self._listeners:
            self._put({"kind": "bytes", "hex": hex_of(data)}, at)

    def arrived(self, arrival: Arrival) -> None:
        """What became of them, or of the device."""
        if not self._listeners:
            return
        match arrival:
            case Arrived(item=item):
                self._put({"kind": "item", "item": item_json(item)}, arrival.at)
            case Discarded(item=item):
                self._put({"kind": "item", "item": item_json(item), "discarded": True}, arrival.at)
            case ScannerLost(reason=reason):
                self._put({"kind": "lost", "text": reason}, arrival.at)
            case ScannerRestored(identity=identity, where=where):
                self._put({"kind": "restored", "text": identity, "where": where}, arrival.at)
            case _:
                pass

    def _put(self, entry: Entry, at: Instant) -> None:
        for listener in self._listeners:
            listener.put(entry, at.boot)


@dataclass(frozen=True, slots=True)
class Source:
    """What is tapped. ``settings``: as in a recording, files inlined."""

    table: str
    driver: str
    device: str
    settings: Mapping[str, Any]
    tap: RawTap
    reader: Reader

    def header(self, started: Instant, shoe: int | None) -> Entry:
        """The first record. ``shoe``: the one in play."""
        return {
            "kind": "header",
            "table": self.table,
            "shoe": shoe,
            "driver": self.driver,
            "device": self.device,
            "identity": self.reader.presence.identity,
            "where": self.reader.presence.where,
            "settings": dict(self.settings),
            "started": iso(started.wall),
        }

    def state(self, now: int, started: int) -> Entry:
        """The reader's counters since its start. Both times: boot ns."""
        reader = self.reader
        counters = reader.counters
        last = counters.last_good
        return {
            "kind": "state",
            "at": now - started,
            "connected": reader.presence.connected,
            "text": reader.presence.reason or "",
            "bytes": counters.bytes,
            "frames": counters.frames,
            "rejects": counters.rejects,
            "last_good_age": None if last is None else round((now - last) / SECOND, 1),
        }
