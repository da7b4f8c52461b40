"""``python -m tests.fleet``: many tables into one JetStream and one game server, counted at the end.

Every table is a whole one: its runtime with all threads and its journal, an Angel Eye on a pseudo-terminal, a
dealer who uses the public commands. Time is compressed: ``--round`` is how long one round lasts (at a table:
about a minute). Nothing may be lost, nothing may come out of order; the time from the decision on a round's
last card to the game server's commit is measured on one clock. Exit code 1 when an event is lost or out of
order.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tablectl.demo.files import new_secret
from tests.bench.figures import percentile
from tests.fleet.count import compared
from tests.fleet.worker import Order, name_of, order_of
from tests.nats_server import NatsServer


def _cpu(pid: int) -> float:
    """Seconds of processor a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a process of the fleet ended (exit {process.wait(10)})")
    return line


def _go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def run(given: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Play it; the figures."""
    secret = new_secret()
    nats = NatsServer(folder, given.nats, sync=given.sync).start()
    processes: list[subprocess.Popen[str]] = []
    try:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.fleet.server", str(folder / "gameserver.db"), nats.url],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"TABLECTL_PUSH_SECRET": secret},
        )
        processes.append(server)
        _said(server)
        share = [given.tables // given.processes] * given.processes
        for index in range(given.tables % given.processes):
            share[index] += 1
        first = 1
        workers = []
        for tables in share:
            order = Order(str(folder), nats.url, secret, first, tables, given.rounds, given.round, given.seed)
            first += tables
            workers.append(
                subprocess.Popen(order_of(order), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            processes.append(workers[-1])
            if _said(workers[-1]).strip() != "ready":  # one after another: starting is not measured
                raise RuntimeError("a worker does not start")
        begun, nats_cpu, server_cpu = time.monotonic(), _cpu(nats.pid), _cpu(server.pid)
        for worker in workers:
            _go_on(worker)
        found = [json.loads(_said(worker)) for worker in workers]
        lasted = time.monotonic() - begun
        nats_cpu, server_cpu = _cpu(nats.pid) - nats_cpu, _cpu(server.pid) - server_cpu
        nats_memory = _memory_mb(nats.pid)
        _all_taken(folder / "gameserver.db", found)
        for worker in workers:
            _go_on(worker)
            worker.wait(120)
        server.terminate()
        taken = json.loads(_said(server))
        server.wait(30)
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
        nats.kill()
    return _figures(given, folder, found, taken, lasted) | {
        "nats_cpu_percent": 100 * nats_cpu / lasted,
        "nats_mb": nats_memory,
        "server_cpu_percent": 100 * server_cpu / lasted,
        "server_mb": taken["memory"],
    }


def _all_taken(db: Path, found: list[dict[str, Any]]) -> None:
    """Wait until the game server has taken everything."""
    import sqlite3

    wanted = sum(sum(one["events"].values()) for one in found)
    until = time.monotonic() + 60
    with sqlite3.connect(f"file:{db}?mode=ro", uri=True) as reader:
        while time.monotonic() < until:
            if reader.execute("SELECT count(*) FROM events").fetchone()[0] >= wanted:
                return
            time.sleep(0.1)


def _figures(
    given: argparse.Namespace, folder: Path, found: list[dict[str, Any]], taken: dict[str, Any], lasted: float
) -> dict[str, Any]:
    names = [name_of(number) for number in range(1, given.tables + 1)]
    counted = compared(folder, names)
    done = {
        (id_.split("-", 1)[0], int(id_.rsplit("-", 1)[1])): at for id_, at in reversed(taken["committed"])
    }
    waits = [
        (done[table, sequence] - decided) / 1e6
        for one in found
        for table, sequence, decided in one["results"]
        if (table, sequence) in done
    ]
    events, rounds = counted.sent, sum(len(one["results"]) for one in found)
    cpu = sum(one["cpu"] for one in found)
    return {
        "tables": given.tables,
        "rounds": rounds,
        "seconds": lasted,
        "events": events,
        "events_per_round": events / max(1, rounds),
        "events_per_second": events / lasted,
        "bytes_per_event": counted.size / max(1, events),
        "lost": counted.lost,
        "differing": counted.differing,
        "out_of_order": taken["gaps"] + counted.out_of_order,
        "sent_again": taken["again"],
        "owed": sum(one["owed"] for one in found),
        "late_rounds": sum(one["late"] for one in found),
        "p50_ms": percentile(waits, 0.5) if waits else None,
        "p99_ms": percentile(waits, 0.99) if waits else None,
        "worst_ms": max(waits, default=None),
        "commits": taken["commits"],
        "journal_bytes_per_round": counted.journal / max(1, rounds),
        "stream_bytes_per_event": counted.stream / max(1, events),
        "cpu_per_table_percent": 100 * cpu / lasted / given.tables,
        "mb_per_table": sum(one["memory"] - one["memory_before"] for one in found) / given.tables,
        "threads": sum(one["threads"] for one in found),
        "errors": [error for one in found for error in one["errors"]][:10],
    }


def lines(figures: dict[str, Any]) -> list[str]:
    """For people."""
    return [
        f"{name.replace('_', ' '):<26} {f'{value:,.2f}' if isinstance(value, float) else value}"
        for name, value in figures.items()
    ]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m tests.fleet", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    made.add_argument("--tables", type=int, default=300)
    made.add_argument("--processes", type=int, default=6, help="of tables; NATS and game server are two more")
    made.add_argument("--rounds", type=int, default=10, help="at each table")
    made.add_argument("--round", type=float, default=10.0, help="seconds from one round to the next")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--sync", default="2m", help="JetStream's sync_interval, or always")
    made.add_argument("--nats", default="", help="further lines of the NATS server's configuration")
    made.add_argument("--folder", type=Path, default=Path("/var/tmp"), help="a real disk")
    made.add_argument("--json", action="store_true")
    return made


def main() -> int:
    """Play, count and print."""
    given = parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="tablectl-fleet-", dir=given.folder) as text:
        figures = run(given, Path(text))
    if given.json:
        print(json.dumps(figures))
    else:
        print(
            f"Python {platform.python_version()}, {os.cpu_count()} processors, "
            f"load {os.getloadavg()[0]:.1f}, a round in {given.round:g} s, sync_interval {given.sync}"
        )
        print("\n".join(lines(figures)))
    good = not (figures["lost"] or figures["differing"] or figures["out_of_order"] or figures["errors"])
    return 0 if good and figures["events"] else 1


if __name__ == "__main__":
    sys.exit(main())
