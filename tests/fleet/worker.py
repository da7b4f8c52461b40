"""One process of the fleet: many tables, each with all its threads.

``python -m tests.fleet.worker JSON`` with the order as :class:`Order`; prints ``ready``, begins at a line on
standard input, prints its findings as JSON when every table has played and delivered.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tablectl.logs import setup_logging
from tests.fleet.table import FleetTable


@dataclass(frozen=True, slots=True)
class Order:
    """What one process does. ``first``: number of its first table, ``seconds``: of one round."""

    folder: str
    url: str
    secret: str
    first: int
    tables: int
    rounds: int
    seconds: float
    seed: int


def name_of(number: int) -> str:
    return f"T{number:03}"


def memory_mb() -> float:
    """Resident, of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _make(order: Order) -> list[FleetTable]:
    made = []
    for number in range(order.first, order.first + order.tables):
        name = name_of(number)
        folder = Path(order.folder) / name
        folder.mkdir()
        seed = order.seed + number
        made.append(FleetTable(folder, name, order.url, order.secret, order.seconds, seed))
    return made


def _deliver(tables: list[FleetTable], seconds: float) -> None:
    time.sleep(0.5)  # the last result is durable before the service loop knows it
    until = time.monotonic() + seconds
    while any(table.owed for table in tables) and time.monotonic() < until:
        time.sleep(0.05)


def main() -> int:
    """Play and tell."""
    order = Order(**json.loads(sys.argv[1]))
    setup_logging("console", "error")
    # Not the short switch interval of `tablectl run`: of hundreds of threads each would wake by it.
    before = memory_mb()
    tables = _make(order)
    print("ready", flush=True)
    sys.stdin.readline()
    begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    errors: list[str] = []

    def play(table: FleetTable) -> None:
        try:
            table.play(order.rounds, begun)
        except Exception as error:
            errors.append(str(error))

    threads = [threading.Thread(target=play, args=(table,), daemon=True) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lasted, spent = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF)
    _deliver(tables, 60)
    memory = memory_mb()
    print(
        json.dumps(
            {
                "results": [[r.table, r.sequence, r.decided] for table in tables for r in table.results],
                "events": {table.name: table.runtime.state.sequence for table in tables},
                "owed": sum(table.owed for table in tables),
                "late": sum(table.late for table in tables),
                "errors": errors,
                "seconds": lasted,
                "cpu": spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime,
                "memory": memory,
                "memory_before": before,
                "threads": threading.active_count(),
            }
        ),
        flush=True,
    )
    sys.stdin.readline()
    for table in tables:
        table.close()
    return 0


def order_of(order: Order) -> list[str]:
    """The command line of a worker."""
    return [sys.executable, "-m", "tests.fleet.worker", json.dumps(asdict(order))]


if __name__ == "__main__":
    sys.exit(main())
