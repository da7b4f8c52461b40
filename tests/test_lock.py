"""The table's lock: one holder, told by its pid, freed by its death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tablectl.journal import Journal, Row
from tablectl.journal.place import where_in_file
from tablectl.lock import TableLock, TableLocked, holder, while_stopped

HOLD = """
import sys, time
from pathlib import Path
from tablectl.lock import TableLock
TableLock(Path(sys.argv[1]) / "T07.db", "T07").acquire()
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_by_the_first_ones_pid_until_it_dies(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TableLocked, match=f"T07 is held by process {holder.pid} already"):
            TableLock(tmp_path / "T07.db", "T07").acquire()
        with TableLock(tmp_path / "T08.db", "T08"):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with TableLock(tmp_path / "T07.db", "T07") as lock:
        assert lock.path.read_text() == f"{os.getpid()}\n"


def test_the_same_process_is_refused_too_and_release_frees(tmp_path: Path) -> None:
    first, second = TableLock(tmp_path / "T07.db", "T07"), TableLock(tmp_path / "T07.db", "T07")
    first.acquire()
    with pytest.raises(TableLocked):
        second.acquire()
    first.release()
    first.release()
    second.acquire()
    second.release()


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("keep me")
    (tmp_path / "T07.lock").symlink_to(victim)
    with pytest.raises(OSError, match="symbolic links"):
        TableLock(tmp_path / "T07.db", "T07").acquire()
    assert victim.read_text() == "keep me"


def test_while_no_daemon_runs_none_can_start_and_no_file_is_made(tmp_path: Path) -> None:
    with while_stopped(tmp_path / "T07.db", "T07"):
        pass
    assert not list(tmp_path.iterdir()), "a file of another user would keep the daemon out"
    running = pytest.raises(TableLocked, match=f"process {os.getpid()} already")
    with TableLock(tmp_path / "T07.db", "T07"), running, while_stopped(tmp_path / "T07.db", "T07"):
        pass
    with while_stopped(tmp_path / "T07.db", "T07"), pytest.raises(TableLocked):
        TableLock(tmp_path / "T07.db", "T07").acquire()
    with TableLock(tmp_path / "T07.db", "T07"):
        pass


PROBE = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
"""
"""Fails where SQLite has the file open (the range is that of its shared lock)."""


def test_a_journal_by_a_second_name_is_refused_and_sqlites_own_lock_on_it_stays(tmp_path: Path) -> None:
    """To open a file and close it takes from the process all that SQLite holds on it."""
    path, other = tmp_path / "T07.db", tmp_path / "b" / "HA.db"

    def locked_by_sqlite() -> bool:
        return subprocess.run([sys.executable, "-c", PROBE, path], capture_output=True).returncode != 0

    with TableLock(path, "T07") as lock, closing(Journal.open(path, "T07")) as journal:
        lock.follow()
        journal.append([Row(1, None, None, b'{"type":"x","data":{}}')])
        journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # from the log into the file
        other.parent.mkdir()
        other.hardlink_to(path)
        with pytest.raises(TableLocked, match=f"process {os.getpid()} already.*/b/HA.db"):
            TableLock(other, "T08").acquire()
        with pytest.raises(TableLocked, match="held by process"), while_stopped(other, "T08"):
            pass
        assert locked_by_sqlite()
        assert "near byte" in where_in_file(path, journal._db, 1)
        assert locked_by_sqlite()
    assert not locked_by_sqlite()
    with TableLock(other, "T08"):
        pass


def test_the_lock_follows_a_journal_that_another_file_replaces(tmp_path: Path) -> None:
    path, old = tmp_path / "T07.db", tmp_path / "old.db"
    path.write_bytes(b"old")
    with TableLock(path, "T07") as lock:
        path.rename(old)
        path.write_bytes(b"new")
        assert holder(path) is None and holder(old) == os.getpid()
        lock.follow()
        assert holder(path) == os.getpid() and holder(old) is None


def test_who_holds_it_is_told_where_the_kernels_list_cannot_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As under systemd (ProcSubset=pid): by the number in the file, of who holds it, not of the last one."""
    monkeypatch.setattr("tablectl.lock._holder", lambda _: None)
    path = tmp_path / "T07.db"
    (tmp_path / "T07.lock").write_text("999999\n")
    with (
        while_stopped(path, "T07"),
        pytest.raises(TableLocked, match=f"held by process {os.getpid()} already"),
    ):
        TableLock(path, "T07").acquire()
    path.write_bytes(b"x")
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as holds:
        assert holds.stdout is not None
        assert holds.stdout.readline() == b"held\n"
        (tmp_path / "T07.lock").unlink()
        with pytest.raises(TableLocked, match=f"held by another process .which: fuser -v {path}. already"):
            TableLock(path, "T07").acquire()
        holds.kill()
