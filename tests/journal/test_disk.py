"""A disk that is full, read-only or locked, for real: named, nothing lost, and it goes on by itself."""

from __future__ import annotations

import contextlib
import resource
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tablectl.cli.check.findings import FAIL
from tablectl.cli.check.journal import journal_findings
from tablectl.clock import Instant
from tablectl.config import load_config
from tablectl.events import ControllerStarted, private_body
from tablectl.journal import Journal, JournalUnavailable, Row
from tablectl.journal.disk import cause_of
from tablectl.journal.writer import Batch, JournalWriter
from tablectl.process.notify import status as service_status
from tests.api.test_app import CARDS, Bench, stream
from tests.cli.fake_daemon import tablectl
from tests.e2e.harness import BARE, Rig, until
from tests.process.test_reloading import told

PRIVATE = private_body(ControllerStarted(version="1"), Instant(1, 1))


def row(number: int, size: int = 3000) -> Row:
    return Row(number, None, None, PRIVATE, bytes(size))


@pytest.fixture
def disk() -> Iterator[Callable[[str], Path]]:
    """A small file system of a size. Its path is short: a socket's is in it."""
    made: list[Path] = []

    def make(size: str) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="disk-", dir="/tmp"))
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "t", str(folder)]
        if subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("no right to mount a file system")
        made.append(folder)
        return folder

    yield make
    for folder in made:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()


def fill(folder: Path, leave: int = 0) -> Path:
    """Leave ``leave`` bytes of a file system."""
    stuff = folder / "stuff"
    with stuff.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    if leave:
        with stuff.open("r+b") as file:
            file.truncate(stuff.stat().st_size - leave)
    return stuff


def mount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


def test_a_disk_that_fills_at_any_write_loses_nothing(disk: Callable[[str], Path]) -> None:
    folder = disk("600k")
    journal = Journal.open(folder / "T07.db", "T07")
    journal.append([row(n) for n in range(1, 6)])
    number, failed = 5, 0
    for pages in range(12):
        stuff = fill(folder, pages * 4096)
        rows = [row(number + 1), row(number + 2)]
        try:
            journal.append(rows)
        except sqlite3.OperationalError as error:
            assert cause_of(error, journal.path) == "full"
            failed += 1
            stuff.unlink()
            journal.append(rows)
        else:
            stuff.unlink()
        number += 2
        assert journal.verify() == number
    assert failed > 2
    journal.close()
    again = Journal.open(folder / "T07.db", "T07")
    assert again.last()[0] == number and not again.mended


def test_a_full_disk_is_named_and_what_waits_is_written_when_there_is_room(
    disk: Callable[[str], Path],
) -> None:
    folder = disk("600k")
    journal = Journal.open(folder / "T07.db", "T07")
    done: list[Batch] = []
    writer = JournalWriter(journal, done.extend, lambda error: None, retry_seconds=0.01)
    writer.start()
    stuff = fill(folder)
    for n in range(1, 11):
        writer.put(Batch((row(n, 9000),)))
    until(lambda: writer.state == "failing", "the disk fails")
    assert writer.cause == "full" and "full" in writer.error
    stuff.unlink()
    until(lambda: len(done) == 10, "all is written")
    until(lambda: writer.state == "ok" and writer.cause is None, "the disk is good")
    assert writer.stop() and journal.verify() == 10


def test_a_limit_on_the_size_of_files_is_a_full_disk(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "T07.db", "T07")
    journal.append([row(1)])
    size = max(p.stat().st_size for p in tmp_path.iterdir())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        with pytest.raises(sqlite3.OperationalError) as told:
            journal.append([row(n, 90_000) for n in range(2, 9)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert cause_of(told.value, journal.path) in ("full", "failing")
    journal.append([row(n, 90_000) for n in range(2, 9)])
    assert journal.verify() == 8


def test_a_journal_that_another_program_holds_is_named(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "T07.db", "T07")
    other = sqlite3.connect(journal.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError) as told:
        journal.append([row(1)])
    assert cause_of(told.value, journal.path) == "locked"
    other.execute("ROLLBACK")
    journal.append([row(1)])


def test_a_journal_that_became_read_only_is_named_and_goes_on(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "T07.db", "T07")
    journal._all("PRAGMA query_only = 1")
    with pytest.raises(sqlite3.OperationalError) as told:
        journal.append([row(1)])
    assert cause_of(told.value, journal.path) == "readonly"
    journal._all("PRAGMA query_only = 0")
    journal.append([row(1)])
    assert journal.verify() == 1


@pytest.mark.parametrize("logs", [False, True])
def test_a_start_on_a_read_only_or_full_disk_is_tried_again(disk: Callable[[str], Path], logs: bool) -> None:
    folder = disk("600k")
    journal = Journal.open(folder / "T07.db", "T07")
    journal.append([row(1)])
    kept = {p.name: p.read_bytes() for p in folder.iterdir()}
    journal.close()
    if logs:
        for name, content in kept.items():
            (folder / name).write_bytes(content)
    mount(folder, "ro")
    with pytest.raises(JournalUnavailable, match=r"T07\.db"):
        Journal.open(folder / "T07.db", "T07")
    mount(folder, "rw")
    stuff = fill(folder)
    # Behind a kill there is room to open it, and the table is up, and says that the disk is full.
    with contextlib.nullcontext() if logs else contextlib.suppress(JournalUnavailable):
        journal = Journal.open(folder / "T07.db", "T07")
        with pytest.raises(sqlite3.OperationalError, match="full"):
            journal.append([row(2)])
        journal.close()
    stuff.unlink()
    again = Journal.open(folder / "T07.db", "T07")
    assert again.last()[0] == 1 and not again.mended
    again.close()


def test_mending_on_a_full_disk_leaves_nothing_and_is_done_when_there_is_room(
    disk: Callable[[str], Path],
) -> None:
    folder = disk("2M")
    journal = Journal.open(folder / "T07.db", "T07")
    journal.append([row(n) for n in range(1, 100)])
    journal.close()
    with contextlib.closing(sqlite3.connect(journal.path)) as db, db:
        db.execute("UPDATE rows SET hash = zeroblob(32) WHERE row = 99")
    for leave in (100 << 10, 500 << 10):  # for less than a copy, and for one of the two
        stuff = fill(folder, leave)
        with pytest.raises(JournalUnavailable):
            Journal.open(journal.path, "T07")
        stuff.unlink()
        assert not [one.name for one in folder.iterdir() if "torn" in one.name or ".new" in one.suffixes]
    again = Journal.open(journal.path, "T07")
    assert again.last()[0] == 98 and again.lost and "row 99" in again.mended
    again.close()


@pytest.mark.parametrize("how", ["full", "ro"])
def test_a_start_waits_for_a_disk_that_takes_nothing_and_says_so(
    how: str, disk: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = disk("2M")
    with Rig("bee-tek", overrides=BARE, disk=folder) as rig, told(rig, monkeypatch) as heard:
        rig.daemon.log = tmp_path / "daemon.log"
        Journal.open(rig.journal_path, "E2E").close()
        stuff = fill(folder)
        if how == "ro":
            stuff.unlink()
            mount(folder, "ro")
        begun = time.monotonic()
        rig.daemon.start()
        until(lambda: any("waiting for the journal's disk" in line for line in heard), "it says why")
        assert rig.daemon.running and not heard.count("READY=1")
        assert "no table can be played" in rig.errors() and "Traceback" not in rig.errors()
        if how == "ro":
            mount(folder, "rw")
        else:
            stuff.unlink()
        until(lambda: rig.client.state()["table"] == "E2E", "it goes on by itself")
        until(lambda: heard.count("READY=1"), "it is ready")
        assert time.monotonic() - begun < 10
        assert rig.errors().count("no table can be played") <= 2, "once in the log, once for a person"
        assert rig.daemon.end()[0] == 0


def test_on_a_full_disk_no_hand_opens_the_one_in_play_is_kept_and_it_goes_on(
    disk: Callable[[str], Path],
) -> None:
    folder = disk("2M")
    with Bench("bee-tek", overrides=BARE, disk=folder) as rig:
        rig.open_table(CARDS * 4)
        rig.bets()
        rig.deal(2)
        before = rig.client.state()
        stuff = fill(folder)
        for _ in range(2):
            assert rig.shoe.draw() is not None
        writer = rig.runtime.writer
        until(lambda: writer.state == "failing", "the disk fails")
        rig.runtime.watch()
        shown = rig.client.state()
        assert shown["journal"]["cause"] == "full"
        assert shown["row"] == before["row"], "nothing is shown that is not stored"
        until(lambda: rig.runtime.core._state.phase.value == "idle", "the hand is decided all the same")
        (found,) = journal_findings(load_config(rig.config))
        assert found.grade == FAIL and "journal's disk is full" in found.text
        depth = writer.depth
        for words in (("bets", "open"), ("sign-in", "Zoe", "--pickup", "left")):
            begun = time.monotonic()
            asked = tablectl(*words, "--socket", str(rig.socket_path))
            assert asked.returncode == 1 and time.monotonic() - begun < 5
            assert "the journal's disk is full" in asked.stderr and "frees room" in asked.stderr
            assert "will not be" in asked.stderr and "id" not in asked.stderr.split()
        assert writer.depth == depth, "what was refused never reached the table"
        stuff.unlink()
        state = rig.wait(lambda s: s["journal"]["state"] == "ok" and s["phase"] == "idle", "it goes on")
        assert state["dealer"] == "Dora", "what was refused has not taken effect later"
        text = next(alert["message"] for alert in state["alerts"] if alert["alert"] == "disk-full")
        assert "was full" in text and "No betting" not in text
        rig.play_round(4)
        assert rig.runtime.stop()
        journal = Journal.open(rig.journal_path, "E2E")
        assert not journal.mended
        journal.verify()
        journal.close()
        rig.runtime = type(rig.runtime)(rig.runtime.config)
        rig.runtime.start()


TROUBLES = [
    ("full", "disk-full", "the journal's disk is full", "frees room"),
    ("locked", "journal-locked", "another program holds the journal", "ends that program"),
]
"""Cause, alert, and what is said: what is wrong, and the way out."""


@pytest.mark.parametrize(("cause", "code", "what", "way"), TROUBLES)
def test_a_journal_that_cannot_be_written_is_said_by_all_that_people_and_programs_look_at(
    disk: Callable[[str], Path], cause: str, code: str, what: str, way: str
) -> None:
    """The first command finds it out: it is with the table, says so, and takes effect when there is room."""
    folder = disk("2M")
    with Bench("bee-tek", overrides=BARE, disk=folder) as rig:
        rig.open_table(CARDS * 4)
        other = sqlite3.connect(rig.journal_path, isolation_level=None)
        if cause == "full":
            stuff = fill(folder)
        else:
            other.execute("BEGIN IMMEDIATE")
        where = ("--socket", str(rig.socket_path))
        begun = time.monotonic()
        body = rig.body("sign-in", args={"name": "Zoe", "pickup": "left"})
        status, answer = rig.post(body)
        assert time.monotonic() - begun < 5
        assert (status, answer["kept"]) == (503, True) and what in answer["error"]
        again, said = rig.post(body)
        assert (again, said["kept"]) == (503, True), "it is not refused when it is asked again"
        asked = tablectl("sign-out", *where)
        assert asked.returncode == 1 and what in asked.stderr
        rig.runtime.watch()
        for words in (("status",), ("alerts",)):
            shown = tablectl(*words, *where).stdout
            assert code in shown and what in shown.lower()
            assert way in shown, "the way out"
        assert f"ack {code}" not in tablectl("alerts", *where).stdout, "it cannot be acknowledged now"
        status, health = rig.client.get("/healthz")
        assert (status, health["alerts"], health["journal"]["cause"]) == (200, [code], cause)
        assert way in health["journal"]["why"]
        with contextlib.closing(stream(rig.socket_path)) as sock:
            sock.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
            page = b"".join(iter(lambda: sock.recv(65536), b"")).decode()
        assert f'tablectl_journal_cause{{cause="{cause}"}} 1.0' in page
        assert f'tablectl_alert{{alert="{code}"}} 1.0' in page
        assert f"journal: {what}" in service_status(rig.runtime.view()).lower()
        if cause == "full":
            stuff.unlink()
        other.close()
        rig.wait(lambda s: s["journal"]["state"] == "ok" and s["dealer"] == "Zoe", "it takes effect")
        assert rig.post(body)[0] == 200
        assert rig.client.state()["dealer"] == "Zoe", "and the sign-out has not"
