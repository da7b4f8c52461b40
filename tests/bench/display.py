"""``python -m tests.bench display``: what a hundred open pages cost the table.

Hands without and with the pages in turn, so that a busy machine is busy for both. The pages read in a process
of their own, on the same machine: what they take of it is in the figures too, which it is not at a casino.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tablectl.config import Config, load_config
from tablectl.demo.files import new_secret
from tablectl.events import BettingOpened
from tablectl.journal import JournalReader
from tablectl.journal.rows import decode_row
from tablectl.logs import setup_logging
from tablectl.runtime import Runtime
from tests.bench.dealt import BenchTable
from tests.bench.figures import HEAD, figure, percentile
from tests.bench.floors import boot
from tests.bench.server import game_server
from tests.e2e.harness import free_port


class ShownTable(BenchTable):
    """A table under the stopwatch with a display. ``beeps``: when the one at the close began, boot ns."""

    def __init__(self, folder: Path, url: str, secret: str) -> None:
        self.port = free_port()
        self.beeps: list[int] = []
        super().__init__(folder, url, secret)

    def _made(self, config: Config) -> Runtime:
        path = config.path
        path.write_text(path.read_text().replace("[api]\n", f'[api]\nlisten = "127.0.0.1:{self.port}"\n'))
        return super()._made(load_config(path))

    def listen_to_beeps(self) -> None:
        """From now on."""
        play = self.runtime.signals.play

        def heard(pattern: str) -> None:
            if pattern == "close":
                self.beeps.append(boot())
            play(pattern)

        self.runtime.signals.play = heard  # type: ignore[method-assign]


@contextlib.contextmanager
def pages(port: int, count: int, told: list[dict[str, Any]]) -> Iterator[None]:
    """So many open pages; what they got is added to ``told``."""
    command = [sys.executable, "-m", "tests.bench.pages", str(port), str(count)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    try:
        if process.stdout.readline().strip() != "open":
            raise RuntimeError("the pages did not open")
        yield
        process.stdin.close()
        told.append(json.loads(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(10)


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench display")
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5, help="each: hands without and hands with pages")
    parser.add_argument("--cards", type=int, default=60, help="cards in each half, in whole hands")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two cards")
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"))
    given = parser.parse_args(arguments)
    setup_logging("console", "error")
    sys.setswitchinterval(0.001)
    secret = new_secret()
    names = ("decision", "durable", "acked")
    found: dict[tuple[str, str], list[list[float]]] = {}
    seconds = {"without": 0.0, "with": 0.0}
    cards = {"without": 0, "with": 0}
    told: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-", dir=given.folder) as text:
        folder = Path(text)
        with game_server(folder, secret) as url, contextlib.closing(ShownTable(folder, url, secret)) as table:
            table.deal(20, given.pause)
            table.listen_to_beeps()
            for number in range(given.rounds):
                print(f"round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
                for which in ("without", "with"):
                    count = given.pages if which == "with" else 0
                    with pages(table.port, count, told) if count else contextlib.nullcontext():
                        table.beeps.clear()
                        begun = _spent()
                        ways = table.deal(given.cards, given.pause)
                        seconds[which] += _spent() - begun
                        cards[which] += len(ways)
                        for name in names:
                            values = [float(getattr(way, name)) for way in ways]
                            found.setdefault((name, which), []).append(values)
                        found.setdefault(("beep", which), []).append(_late(table))
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {given.pages} pages\n{HEAD}")
    for name in ("decision", "durable", "acked", "beep"):
        for which in ("without", "with"):
            print(figure(f"{name}, {which} pages", found[name, which]).line())
    late = sorted(one for each in told for one in each["late_ms"])
    print(
        f"a page has a model {percentile(late, 0.5):.1f} ms after it was sent, "
        f"p99 {percentile(late, 0.99):.1f}; "
        f"{sum(each['lost'] for each in told)} pages were lost; "
        f"{max(each['bytes'] for each in told) / given.cards / 1000:.1f} kB a card and page"
    )
    for which in ("without", "with"):
        print(f"{which}: {seconds[which] / cards[which] * 1000:.1f} ms of processor time a card")
    return 0


def _late(table: ShownTable) -> list[float]:
    """How long (ns) after each deadline the beep of the close began."""
    reader = JournalReader.open(table.runtime.config.journal_path)
    try:
        events = [decode_row(row)[0] for row in reader.every_row()]
    finally:
        reader.close()
    deadlines = [event.deadline_boot for event in events if isinstance(event, BettingOpened)]
    return [
        float(beep - deadline)
        for beep, deadline in zip(table.beeps, deadlines[-len(table.beeps) :], strict=True)
    ]
