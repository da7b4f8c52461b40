"""The journal's thread: order, group commit, a disk that fails and comes back, kill -9."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tablectl.clock import SECOND, Instant
from tablectl.events import ControllerStarted, private_body
from tablectl.journal import Journal, Row
from tablectl.journal.writer import Batch, JournalWriter

PRIVATE = private_body(ControllerStarted(version="1"), Instant(1, 1))


def batch(first: int, count: int = 1) -> Batch:
    return Batch(tuple(Row(n, None, None, PRIVATE) for n in range(first, first + count)), f"token {first}")


class Told:
    """What the writer reported."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.groups: list[int] = []
        self.crashes: list[BaseException] = []
        self.changed = threading.Condition()

    def durable(self, batches: tuple[Batch, ...]) -> None:
        with self.changed:
            self.batches += batches
            self.groups.append(len(batches))
            self.changed.notify_all()

    def crashed(self, error: BaseException) -> None:
        with self.changed:
            self.crashes.append(error)
            self.changed.notify_all()

    def wait(self, done: Callable[[], bool]) -> None:
        with self.changed:
            assert self.changed.wait_for(done, 10)


class Disk(Journal):
    """A real journal on a disk whose writes a test can stop or fail."""

    failing: type[Exception] | None = None
    commits = 0

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.may_write = threading.Event()
        self.may_write.set()
        self.entered = threading.Event()
        self.tried = threading.Semaphore(0)

    def append(self, rows: Sequence[Row], *, acked: int | None = None) -> None:
        self.entered.set()
        assert self.may_write.wait(10)
        self.tried.release()
        if self.failing is not None:
            raise self.failing("database or disk is full")
        self.commits += 1
        super().append(rows, acked=acked)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    journal = Disk.open(tmp_path / "T07.db", "T07")
    assert isinstance(journal, Disk)
    return journal


@pytest.fixture
def told() -> Told:
    return Told()


def writer_of(disk: Journal, told: Told, limit: int = 10_000) -> JournalWriter:
    writer = JournalWriter(disk, told.durable, told.crashed, limit=limit, retry_seconds=0.01)
    writer.start()
    return writer


def test_batches_come_back_durable_in_order_with_those_without_rows(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told)
    sent = [batch(1, 3), Batch((), "answer"), batch(4), Batch((), "another"), batch(5, 2)]
    for one in sent:
        writer.put(one)
    assert writer.stop()
    assert told.batches == sent
    assert disk.verify() == 6
    assert writer.depth == 0


def test_an_answer_that_writes_nothing_comes_back_too(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told)
    writer.put(Batch((), "answer"))
    told.wait(lambda: told.batches == [Batch((), "answer")])
    assert disk.commits == 0
    assert writer.stop()


def test_what_queued_during_a_commit_goes_into_the_next_one(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told)
    disk.may_write.clear()
    writer.put(batch(1))
    assert disk.entered.wait(10)
    for n in range(2, 102):
        writer.put(batch(n))
    assert writer.depth == 101
    assert told.batches == []
    disk.may_write.set()
    assert writer.stop()
    assert told.groups == [1, 100]
    assert disk.commits == 2


def test_a_disk_that_fails_is_tried_until_it_works(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told)
    disk.failing = sqlite3.OperationalError
    writer.put(batch(1))
    for _ in range(3):
        assert disk.tried.acquire(timeout=10)
    assert "full" in writer.error
    assert (writer.state, writer.depth) == ("failing", 1)
    assert told.batches == []
    writer.put(batch(2))
    disk.failing = None
    told.wait(lambda: len(told.batches) == 2)
    assert (writer.state, writer.error) == ("ok", "")
    assert writer.stop()
    assert disk.verify() == 2
    assert told.crashes == []


def test_a_really_locked_database_recovers(disk: Disk, told: Told) -> None:
    other = sqlite3.connect(disk.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    writer = writer_of(disk, told)
    writer.put(batch(1))
    assert disk.tried.acquire(timeout=10)
    assert disk.tried.acquire(timeout=10)
    assert "locked" in writer.error
    other.execute("ROLLBACK")
    told.wait(lambda: len(told.batches) == 1)
    assert writer.stop()


def test_a_slow_commit_is_told_by_the_clock(disk: Disk, told: Told) -> None:
    now = [Instant(0, 0)]
    writer = JournalWriter(disk, told.durable, told.crashed, lambda: now[0])
    writer.start()
    disk.may_write.clear()
    writer.put(batch(1))
    assert disk.entered.wait(10)
    assert (writer.state, writer.committing_since) == ("ok", 0)
    now[0] = Instant(2 * SECOND + 1, 0)
    assert writer.state == "slow"
    disk.may_write.set()
    told.wait(lambda: len(told.batches) == 1)
    assert writer.stop()
    assert (writer.state, writer.committing_since) == ("ok", None)


def test_put_blocks_only_at_the_bound_and_drops_nothing(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told, limit=10)
    disk.may_write.clear()
    writer.put(batch(1, 9))
    putting = threading.Event()
    done = threading.Event()

    def put_more() -> None:
        writer.put(batch(10))
        putting.set()
        writer.put(batch(11))
        done.set()

    threading.Thread(target=put_more, daemon=True).start()
    assert putting.wait(10)
    assert not done.wait(0.05)
    disk.may_write.set()
    assert done.wait(10)
    assert writer.stop()
    assert disk.verify() == 11


def test_a_batch_over_the_bound_passes_alone(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told, limit=10)
    writer.put(batch(1, 25))
    assert writer.stop()
    assert disk.verify() == 25


def test_an_error_that_no_retry_mends_ends_the_thread_and_is_told(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told)
    writer.put(batch(5))
    told.wait(lambda: bool(told.crashes))
    assert isinstance(told.crashes[0], ValueError)
    assert writer.state == "failing"
    with pytest.raises(RuntimeError, match="thread has ended"):
        writer.put(batch(1))
    assert not writer.stop()


def test_stop_gives_up_on_a_dead_disk_in_time(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told)
    disk.failing = OSError
    writer.put(batch(1))
    assert disk.tried.acquire(timeout=10)
    assert not writer.stop(timeout=0.05)
    assert told.batches == []


def test_the_cursor_is_saved_alone_or_with_a_commit(disk: Disk, told: Told) -> None:
    writer = writer_of(disk, told)
    writer.save_acked(0)
    disk.may_write.clear()
    writer.put(batch(1))
    assert disk.entered.wait(10)
    for n in range(1, 6):
        writer.save_acked(n)
    writer.put(batch(2))
    disk.may_write.set()
    assert writer.stop()
    assert disk.acked() == 5
    assert disk.commits == 2


WRITE = """
import sys, os
from pathlib import Path
from tablectl.clock import Instant
from tablectl.events import TableClosed, private_body, public_body
from tablectl.journal import Journal, Row
from tablectl.journal.writer import Batch, JournalWriter
journal = Journal.open(Path(sys.argv[1]), "T07")
row, sequence = journal.last()
def durable(batches):
    os.write(1, b"%d\\n" % batches[-1].rows[-1].row)
    writer.save_acked(batches[-1].rows[-1].sequence)
writer = JournalWriter(journal, durable, lambda error: os._exit(9), limit=20)
writer.start()
event, at = TableClosed(), Instant(1, 1)
while True:
    row, sequence = row + 1, sequence + 1
    body = public_body(event, table="T07", epoch=journal.epoch, sequence=sequence, at=at, test=True)
    writer.put(Batch((Row(row, sequence, body, private_body(event, at)),)))
"""


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_kill_9_at_any_moment_loses_nothing_that_was_told(tmp_path: Path) -> None:
    path = tmp_path / "T07.db"
    chance = random.Random(7)
    for _ in range(200 if "TABLECTL_SOAK" in os.environ else 4):
        with subprocess.Popen([sys.executable, "-c", WRITE, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(chance.randint(1, 60)):
                assert process.stdout.readline()
            os.kill(process.pid, signal.SIGKILL)
            lines = process.stdout.read().splitlines(keepends=True)
            told = [int(line) for line in lines if line.endswith(b"\n")]
        journal = Journal.open(path, "T07")
        rows = journal.verify()
        assert rows >= max(told, default=1)
        assert journal.acked() <= journal.last()[1] == rows
        journal.close()
