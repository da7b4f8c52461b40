"""Figures of the whole program: how quick commands are, what an idle daemon costs, the pure table's speed."""

from __future__ import annotations

import contextlib
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tablectl.config import load_config
from tablectl.demo.files import write_config
from tablectl.demo.scripted_dealer import PitBoss
from tablectl.local import Client, NotReachable
from tablectl.profiles import load_rules
from tablectl.simulate import simulate
from tests.bench.floors import raw_pty

PROGRAM = str(Path(sys.executable).with_name("tablectl"))


@dataclass(frozen=True, slots=True)
class Idle:
    """A daemon with scanner and game server and nothing to do. ``cpu``: share of one core, in percent."""

    cpu: float
    rss_mb: float
    status_ms: float


def wall_ms(arguments: Sequence[str], times: int) -> float:
    """Median wall time (ms) of ``tablectl ARGUMENTS``; NaN where it does not end well."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, check=False)
        found.append((time.perf_counter() - begun) * 1000)
        if done.returncode != 0:
            print(f"tablectl {' '.join(arguments)}: exit {done.returncode}: {done.stderr.decode()[-300:]}")
            return math.nan
    return statistics.median(found)


@contextlib.contextmanager
def daemon(folder: Path, url: str, secret: str) -> Iterator[tuple[int, Path]]:
    """``tablectl run`` on a silent pseudo-terminal, up and linked; its process id and socket."""
    master, slave, device = raw_pty()
    config = write_config(
        folder,
        table="IDLE",
        shoe="angel-eye",
        device=device,
        url=url,
        secret=secret,
        pit_boss=PitBoss("bench", "0000"),
        speed=1.0,
    )
    socket = load_config(config).socket_path
    process = subprocess.Popen([PROGRAM, "run", "--config", str(config)])
    try:
        _until_linked(process, socket)
        yield process.pid, socket
    finally:
        process.terminate()
        process.wait(10)
        os.close(master)
        os.close(slave)


def _until_linked(process: subprocess.Popen[bytes], socket: Path) -> None:
    client = Client(socket)
    end = time.monotonic() + 20
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(NotReachable):
            state = client.state()
            if state["scanner"]["up"] and state["link"]["good"]:
                return
        time.sleep(0.1)
    raise TimeoutError(f"the daemon is not up and linked (exit {process.poll()})")


def idle(folder: Path, url: str, secret: str, seconds: float, times: int) -> Idle:
    """What a daemon costs while nothing happens for so many ``seconds``."""
    with daemon(folder, url, secret) as (pid, socket):
        time.sleep(1.0)
        before, begun = _cpu(pid), time.monotonic()
        time.sleep(seconds)
        share = (_cpu(pid) - before) / (time.monotonic() - begun) * 100
        return Idle(share, _rss_mb(pid), wall_ms(["--socket", str(socket), "status"], times))


def _cpu(pid: int) -> float:
    """Processor seconds of a process, all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _rss_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return math.nan


def cards_per_second(shoes: int) -> float:
    """The pure table, cards a processor second."""
    tally = simulate(load_rules("live-casino"), shoes, 1)
    return tally.cards / tally.seconds
