"""The table's lock: one holder, told by its pid, freed by its death."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tablectl.lock import TableLock, TableLocked, while_stopped

HOLD = """
import sys, time
from pathlib import Path
from tablectl.lock import TableLock
TableLock(Path(sys.argv[1]), "T07").acquire()
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_by_the_first_ones_pid_until_it_dies(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TableLocked, match=f"T07 is held by process {holder.pid} already"):
            TableLock(tmp_path, "T07").acquire()
        with TableLock(tmp_path, "T08"):
            pass
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    with TableLock(tmp_path, "T07") as lock:
        assert lock.path.read_text() == f"{os.getpid()}\n"


def test_the_same_process_is_refused_too_and_release_frees(tmp_path: Path) -> None:
    first, second = TableLock(tmp_path, "T07"), TableLock(tmp_path, "T07")
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
        TableLock(tmp_path, "T07").acquire()
    assert victim.read_text() == "keep me"


def test_while_no_daemon_runs_none_can_start_and_no_file_is_made(tmp_path: Path) -> None:
    with while_stopped(tmp_path, "T07"):
        pass
    assert not list(tmp_path.iterdir()), "a file of another user would keep the daemon out"
    running = pytest.raises(TableLocked, match=f"process {os.getpid()} already")
    with TableLock(tmp_path, "T07"), running, while_stopped(tmp_path, "T07"):
        pass
    with while_stopped(tmp_path, "T07"), pytest.raises(TableLocked):
        TableLock(tmp_path, "T07").acquire()
    with TableLock(tmp_path, "T07"):
        pass
