"""Power cuts: what was told to anybody is in the journal, whatever the disk kept of what was not synced.

``make soak`` cuts at every moment, ``make test`` at some.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tablectl.journal import JournalReader
from tablectl.journal.rows import Row
from tests.crash.disk import environment, shim, steps
from tests.crash.people import Follower, Told
from tests.crash.power import Cuts, cut_everywhere
from tests.crash.writing import TABLE as WRITTEN
from tests.e2e.harness import QUICK, SOAK, TABLE, Rig
from tests.e2e.programs import DAEMON, Program

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(1800 if SOAK else 120),
    pytest.mark.skipif(
        shutil.which("cc") is None, reason="the shim under the C library needs a compiler (cc)"
    ),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return shim(tmp_path_factory.mktemp("shim"))


def rows_of(path: Path) -> list[Row]:
    reader = JournalReader.open(path)
    try:
        return list(reader.every_row())
    finally:
        reader.close()


class Recorded:
    """A journal that a process of its own writes and tells of, life after life."""

    def __init__(self, library: Path, home: Path) -> None:
        self.path = home / "journal" / f"{WRITTEN}.db"
        self.path.parent.mkdir()
        self._record = home / "record"
        self._library = library

    def life(self, rows: int, *plants: str, **more: int) -> int:
        """One process; how it ended."""
        command = [sys.executable, "-m", "tests.crash.writing", str(self.path), str(rows), *plants]
        shimmed = environment(self._library, self.path.parent, self._record, **more)
        return subprocess.run(command, env=os.environ | shimmed, check=False).returncode

    @property
    def length(self) -> int:
        """How many steps are recorded."""
        return len(steps(self._record))

    def cut(self, every: int = 1, since: int = 0) -> Cuts:
        record, final = steps(self._record), rows_of(self.path)
        return cut_everywhere(record, self.path.name, WRITTEN, final, every=every, since=since)


@pytest.fixture
def recorded(library: Path, tmp_path: Path) -> Recorded:
    return Recorded(library, tmp_path)


def test_a_journal_from_its_making_to_its_closing(recorded: Recorded) -> None:
    assert recorded.life(30) == 0
    cuts = recorded.cut(every=1 if SOAK else 25)
    assert not cuts.faults, cuts.faults[:3]
    assert cuts.cuts > (800 if SOAK else 30)


def test_a_commit_without_its_sync_is_found(recorded: Recorded) -> None:
    assert recorded.life(8, "commit_without_sync") == 0
    assert any("was told" in fault for fault in recorded.cut(every=5).faults)


def test_through_checkpoints_and_a_log_that_is_begun_anew(recorded: Recorded) -> None:
    assert recorded.life(500) == 0
    assert recorded.life(500 if SOAK else 10) == 0
    cuts = recorded.cut(every=11 if SOAK else 601)
    assert not cuts.faults, cuts.faults[:3]


@pytest.mark.parametrize("sync", range(1, 24) if SOAK else [10])
def test_killed_between_the_write_of_a_commit_and_its_sync(recorded: Recorded, sync: int) -> None:
    """The next process reads the commit out of memory and tells of it: it must be on the disk by then."""
    assert recorded.life(40, DIE_AT=sync) == -signal.SIGKILL
    before = recorded.length
    assert recorded.life(1) == 0
    cuts = recorded.cut(since=before, every=1 if SOAK else 2)
    assert not cuts.faults, cuts.faults[:3]


@pytest.mark.parametrize("sync", range(5, 26) if SOAK else [9])
def test_a_sync_that_fails_once_takes_nothing_with_it(recorded: Recorded, sync: int) -> None:
    """The kernel calls those pages clean afterwards; what is committed behind them hangs on them."""
    assert recorded.life(30, FAIL_AT=sync) == 0
    cuts = recorded.cut(every=5 if SOAK else 60)
    assert not cuts.faults, cuts.faults[:3]


@pytest.mark.parametrize("sync", range(5, 24) if SOAK else [9])
def test_killed_behind_a_sync_that_failed(recorded: Recorded, sync: int) -> None:
    """The next process reads pages that the kernel calls clean, and the disk never got them."""
    assert recorded.life(40, FAIL_AT=sync, FAIL_DIES=1) == -signal.SIGKILL
    before = recorded.length
    assert recorded.life(3) == 0
    cuts = recorded.cut(since=before, every=1 if SOAK else 3)
    assert not cuts.faults, cuts.faults[:3]


def test_what_the_daemon_told_outlives_the_power(library: Path, tmp_path: Path) -> None:
    """Requests the server saw, answers to commands, the event stream; over a kill -9 in the middle."""
    ended, told = threading.Event(), Told()
    with Rig("angel-eye", overrides=QUICK | {"shoe": {"inspection": False}}) as rig:
        record = tmp_path / "record"
        rig.daemon = Program(DAEMON, [str(rig.config)], rig.folder / "daemon.log")
        rig.daemon.environment = environment(library, rig.folder, record)
        rig.start()
        follower = Follower(rig.socket_path, told, ended.is_set)
        threading.Thread(target=follower.follow, daemon=True).start()
        dealer = rig.dealer(1, cut_at=20 if SOAK else 8, stop=ended.is_set)
        dealing = threading.Thread(target=dealer.play, args=(1,), daemon=True)
        dealing.start()
        rig.wait(lambda s: s["row"] > 25, "some rows")
        rig.daemon.end(signal.SIGKILL)
        rig.start_daemon()
        dealing.join(30)
        rig.settle()
        ended.set()
        assert rig.daemon.end()[0] == 0
        seen = [step for step in steps(record) if step.what == "S"]
        assert len(told.events) > 20
        assert any(b"webhook-signature" in step.part for step in seen), "requests are recorded"
        cuts = cut_everywhere(
            steps(record), f"{TABLE}.db", TABLE, rows_of(rig.journal_path), every=1 if SOAK else 80
        )
    assert not cuts.faults, cuts.faults[:3]
    assert cuts.moments > 300
