"""Opens, closes and unplugs a scanner many times, and counts what is left behind.

``python -m tests.data_tools.cycles 1000`` prints descriptors, threads and resident memory as it goes. Each
cycle, on a real pseudo-terminal: a reader starts; bytes keep coming while the cable is pulled in mid-frame;
the device comes back, as a rule under another number; the reader is stopped from another thread while it
reads.
"""

from __future__ import annotations

import gc
import os
import queue
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tablectl_drivers import bee_tek

from tablectl.reader import Reader
from tablectl.scanner import Arrival, Arrived, Backoff, Discarded, ScannerLost, ScannerRestored
from tests.ptys import Pty

MS = 1_000_000
CARD = b"[Game]<Card:8S>\r\n"


@dataclass(frozen=True)
class Figures:
    """What the process has after ``cycles``; ``kilobytes`` of resident memory."""

    cycles: int
    descriptors: int
    threads: int
    kilobytes: int

    def __str__(self) -> str:
        return (
            f"{self.cycles:6} cycles  {self.descriptors:3} descriptors  {self.threads:2} threads"
            f"  {self.kilobytes:7} kB"
        )


def figures(cycles: int) -> Figures:
    """As it is now."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return Figures(
        cycles,
        len(os.listdir("/proc/self/fd")),
        threading.active_count(),
        pages * os.sysconf("SC_PAGE_SIZE") // 1024,
    )


class Silent:
    """A log that keeps nothing."""

    def info(self, *_: object, **__: object) -> None:
        """Nothing."""

    warning = error = info


def cycle(folder: Path) -> None:
    """One open, unplug, replug and close."""
    arrivals: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
    faults: list[BaseException] = []

    def wait_for(kind: type) -> Arrival:
        while True:
            arrival = arrivals.get(timeout=5)
            if isinstance(arrival, kind):
                return arrival
            assert isinstance(arrival, Arrived | Discarded), arrival

    plug = Pty(folder / "shoe")
    reader = Reader(
        bee_tek.DRIVER,
        str(plug.link),
        {},
        arrivals.put,
        settle=2 * MS,
        log=Silent(),
        on_crash=faults.append,
    )
    reader.presence.backoff = Backoff(first=MS)
    reader.start()
    wait_for(ScannerRestored)
    plug.say(CARD + CARD[:9])
    wait_for(Arrived)
    plug.unplug()
    wait_for(ScannerLost)
    plug.plug()
    wait_for(ScannerRestored)
    plug.say(CARD * 20)
    assert reader.stop(), "it ends while it reads"
    plug.unplug()
    assert not faults, faults


def run(cycles: int) -> Iterator[Figures]:
    """The figures after the first cycle and each tenth part of them."""
    with tempfile.TemporaryDirectory() as folder:
        for n in range(1, cycles + 1):
            cycle(Path(folder))
            if n == 1 or n % max(1, cycles // 10) == 0:
                yield figures(n)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        for told in run(int(sys.argv[1]) if len(sys.argv) > 1 else 1000):
            print(told)
