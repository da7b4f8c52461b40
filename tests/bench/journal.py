"""``python -m tests.bench journal``: what a long journal costs: restart, memory, bytes; who slows a commit.

Journals of whole shoes of the simulator, of several lengths. A start (open, check, replay) runs in a process
of its own, the lengths in turn, so that a busy machine is busy for all of them; the state it comes to is
compared with a replay of every row. Ratios are of one run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tablectl.clock import Instant
from tablectl.events import ControllerStarted, Event, private_body, public_body
from tablectl.house import HouseRules
from tablectl.journal import Journal, JournalReader, Row
from tablectl.journal.backup import REST, backup
from tablectl.journal.mirror import Mirror
from tablectl.journal.rows import Place
from tablectl.profiles import load_rules
from tablectl.simulate import Simulation
from tablectl.table import decide
from tablectl.table.inputs import Input

TABLE = "BENCH"
LAST_SHOE = 400
"""Rows from the last shoe's start to the end: what a restart must replay."""
WALL = 1_796_000_000 * 10**9

_START = """
import json, resource, sys, time
from pathlib import Path
from tablectl.journal import Journal
from tablectl.journal.replay import replay, replay_journal
from tablectl.journal.rows import decode_row
path, how = Path(sys.argv[1]), sys.argv[2]
begun = time.perf_counter()
journal = Journal.open(path, "BENCH")
if how == "start":
    state = replay_journal(journal).state
else:
    state = replay((row.row, decode_row(row)[0]) for row in journal.every_row())
took = time.perf_counter() - begun
rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"ms": took * 1000, "rss": rss, "state": repr(state)}))
"""


class Enough(Exception):
    """The journal is long enough."""


class Streamed(Simulation):
    """The simulator, its events handed on as they come."""

    def __init__(self, rules: HouseRules, take: Callable[[tuple[Event, ...]], None]) -> None:
        self._take = take
        super().__init__(rules, "bench")

    def _give(self, given: Input) -> None:
        decision = decide(self.state, given, given.at, self.around)
        self.state = decision.state
        if self.state.shoe is not None:
            self.state_rounds = self.state.shoe.rounds
        self._take(decision.events)


def make(path: Path, events: int) -> int:
    """A journal of about so many rows, its last shoe ``LAST_SHOE`` long; how many rounds are in it."""
    journal = Journal.open(path, TABLE)
    waiting: list[Row] = []
    count, sequence, rounds, begun = 0, 0, 0, 0

    def take(made: tuple[Event, ...]) -> None:
        nonlocal count, sequence, rounds, begun
        for event in made:
            count += 1
            at, body = Instant(count * 10**9, WALL + count * 10**9), None
            if event.PUBLIC:
                sequence += 1
                body = public_body(
                    event, table=TABLE, epoch=journal.epoch, sequence=sequence, at=at, test=True
                )
            if event.TYPE == "shoe.started":
                begun = count
            rounds += event.TYPE == "round.resulted"
            raw = b"\x02C08S1\x03\x35" if event.TYPE in ("card.dealt", "card.burned") else b""
            where = Place(event.TYPE, event.shoe, event.round)
            number = sequence if event.PUBLIC else None
            waiting.append(Row(count, number, body, private_body(event, at), raw, where))
        done = count >= events and LAST_SHOE <= count - begun < LAST_SHOE + 20
        if len(waiting) >= 2_000 or done:
            journal.append(waiting, acked=sequence)
            waiting.clear()
        if done:
            raise Enough

    with contextlib.suppress(Enough):
        game = Streamed(load_rules("live-casino"), take)
        while True:
            game.play_shoe()
    journal.close()
    return rounds


def start(path: Path, how: str) -> dict[str, object]:
    """A start in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _START, str(path), how], capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


@dataclass(frozen=True, slots=True)
class Commits:
    """Milliseconds of a commit of one row."""

    what: str
    median: float
    p99: float

    def line(self) -> str:
        return f"{self.what:<34} {self.median:8.2f} {self.p99:8.2f}"


def commits(journal: Journal, what: str, number: int, wake: Callable[[], None] = lambda: None) -> Commits:
    """Commit so many rows, a hundred a second."""
    found = []
    private = private_body(ControllerStarted(version="1"), Instant(1, 1))
    for _ in range(number):
        row = Row(journal.last()[0] + 1, None, None, private)
        begun = time.perf_counter()
        journal.append([row])
        found.append((time.perf_counter() - begun) * 1000)
        wake()
        time.sleep(0.01)
    found.sort()
    return Commits(what, statistics.median(found), found[int(len(found) * 0.99)])


def beside(path: Path, folder: Path, number: int) -> Iterator[Commits]:
    """Commits alone, with a mirror, and while a backup is made."""
    journal = Journal.open(path, TABLE)
    yield commits(journal, "one commit, alone", number)
    mirror = Mirror(folder / "mirror.db", lambda: JournalReader.open(path))
    mirror.start()
    while mirror.row < journal.last()[0] and not mirror.error:
        time.sleep(0.1)
    yield commits(journal, "with the mirror following", number, mirror.wake)
    mirror.stop(10)
    ended = threading.Event()

    def copy() -> None:
        with contextlib.closing(JournalReader.open(path)) as reader:
            backup(reader, folder / "backups", rest=REST)
        ended.set()

    threading.Thread(target=copy).start()
    yield commits(journal, "while a backup is made", number)
    wal = path.with_name(path.name + "-wal").stat().st_size
    ended.wait()
    print(f"the log while the backup was made: {wal / 2**20:.1f} MB", file=sys.stderr)
    journal.close()


def main(arguments: list[str]) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench journal", description="Long journals.")
    parser.add_argument("--events", type=int, nargs="+", default=[10**3, 10**5, 10**6])
    parser.add_argument("--times", type=int, default=7, help="starts of each length")
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="a real disk")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-", dir=given.folder) as text:
        folder = Path(text)
        paths, rounds = {}, {}
        for events in given.events:
            begun = time.perf_counter()
            paths[events] = folder / f"{events}.db"
            rounds[events] = make(paths[events], events)
            print(f"made {events} rows in {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
        found: dict[int, list[dict[str, object]]] = {events: [] for events in paths}
        for _ in range(given.times):
            for events, path in paths.items():
                found[events].append(start(path, "start"))
        base = statistics.median(float(str(one["ms"])) for one in found[given.events[0]])
        print(
            f"{'events':>9} {'start ms':>9} {'ratio':>6} {'RSS MB':>7} {'MB':>7} {'bytes a round':>14}"
            "  replay of every row"
        )
        good = True
        for events, path in paths.items():
            ms = statistics.median(float(str(one["ms"])) for one in found[events])
            rss = max(float(str(one["rss"])) for one in found[events])
            size = path.stat().st_size
            whole = start(path, "whole")
            same = whole["state"] == found[events][0]["state"]
            good &= same
            print(
                f"{events:>9} {ms:>9.0f} {ms / base:>6.2f} {rss:>7.0f} {size / 2**20:>7.1f} "
                f"{size / max(1, rounds[events]):>14.0f}  {float(str(whole['ms'])):.0f} ms, "
                f"{'the same state' if same else 'ANOTHER STATE'}"
            )
        print(f"\n{'':<34} {'median':>8} {'p99 ms':>8}")
        for one in beside(paths[given.events[-1]], folder, given.commits):
            print(one.line())
    return 0 if good else 1
