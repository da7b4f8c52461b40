"""``python -m tests.bench``: how long a card takes, beside what it must take at least on this machine.

Everything is measured in one run, the floors between one hand and the next, so that a busy machine slows
the floors as much as the table.  Between two cards there is a pause, as there is at a table: a processor
that was idle runs its first instructions slower (cold caches, low clock), the floors' as well as the
table's; ``--pause 0.002`` shows the other end.  Prints the figures, then each aim with the ratio to it; exit
0 also when an aim is missed (``--strict``: 1), because a busy machine is no fault of the program.

``python -m tests.bench journal``: what a long journal costs; ``… display``: what a hundred open displays do;
``… players``: how long a table's event waits while two thousand players look on.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

from tablectl.demo.files import new_secret
from tablectl.logs import setup_logging
from tests.bench.dealt import BenchTable, Way
from tests.bench.display import main as display
from tests.bench.figures import HEAD, Aim, Figure, figure, latency_aims
from tests.bench.floors import Commit, Probe, Relay
from tests.bench.journal import main as journal
from tests.bench.players import main as players
from tests.bench.server import game_server
from tests.bench.whole import cards_per_second, idle, wall_ms
from tests.bench.wires import WIRES

NAMES = {
    "relay": "floor: pty -> pyserial -> socket",
    "commit": "floor: one SQLite FULL commit",
    "http": "floor: one HTTP round trip (empty batch)",
    "read": "card: written -> read by the reader",
    "taken": "card: written -> taken by the core",
    "decision": "card: written -> decision",
    "durable": "card: written -> durable",
    "acked": "card: written -> acknowledged",
}

BLOCK = 5
"""Of each floor between two hands, which have four to six cards."""


def latency(folder: Path, url: str, secret: str, rounds: int, cards: int, pause: float) -> dict[str, Figure]:
    """All figures of a card's way and of the floors, by short name."""
    found: dict[str, list[list[float]]] = {name: [] for name in NAMES}
    with contextlib.ExitStack() as stack:
        relay = stack.enter_context(contextlib.closing(Relay()))
        commit = stack.enter_context(contextlib.closing(Commit(folder / "floor.db")))
        probe = stack.enter_context(contextlib.closing(Probe(url.replace("{table}", "BENCH"), secret)))
        table = stack.enter_context(contextlib.closing(BenchTable(folder, url, secret)))
        table.deal(20, pause)  # warm
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            for values in found.values():
                values.append([])
            while len(found["acked"][-1]) < cards:
                # Hand by hand: whatever the machine is at, it is at it for the floors too.
                found["relay"][-1] += relay.measure(BLOCK, pause)
                found["commit"][-1] += commit.measure(BLOCK, pause)
                found["http"][-1] += probe.measure(BLOCK, pause)
                for way in table.deal(1, pause):
                    for name in Way.__slots__:
                        found[name][-1].append(float(getattr(way, name)))
    return {name: figure(NAMES[name], values) for name, values in found.items()}


def paths(folder: Path, url: str, secret: str, rounds: int, pause: float) -> dict[str, Figure]:
    """A card's way to its decision over each wire, a hand over one and then a hand over the next."""
    found: dict[str, list[list[float]]] = {
        f"{name} {what}": [] for name in WIRES for what in ("read", "decision")
    }
    with contextlib.ExitStack() as stack:
        tables = {}
        for name, wire in WIRES.items():
            (folder / name).mkdir()
            table = BenchTable(folder / name, url, secret, wire=wire(), table=name.upper())
            tables[name] = stack.enter_context(contextlib.closing(table))
        for table in tables.values():
            table.deal(5, pause)
        for number in range(rounds):
            print(f"wires, round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            for values in found.values():
                values.append([])
            for _ in range(6):
                for name, table in tables.items():
                    for way in table.deal(1, pause):
                        found[f"{name} read"][-1].append(float(way.read))
                        found[f"{name} decision"][-1].append(float(way.decision))
    return {name: figure(f"card over {name}", values) for name, values in found.items()}


def whole_aims(folder: Path, url: str, secret: str, seconds: float) -> list[Aim]:
    """The aims of the program as a whole."""
    spent = idle(folder, url, secret, seconds, 10)
    return [
        Aim("tablectl --help, median of 10", wall_ms(["--help"], 10), 250.0, "ms"),
        Aim("tablectl status, median of 10", spent.status_ms, 250.0, "ms"),
        Aim(f"idle daemon over {seconds:g} s, of one core", spent.cpu, 1.0, "%"),
        Aim("idle daemon, resident", spent.rss_mb, 80.0, "MB"),
    ]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    parser.add_argument("--rounds", type=int, default=5, help="rounds, whose medians show the spread")
    parser.add_argument("--cards", type=int, default=80, help="cards in a round, in whole hands")
    parser.add_argument("--pause", type=float, default=0.03, help="seconds between two of them")
    parser.add_argument("--idle", type=float, default=10.0, help="seconds an idle daemon is watched; 0: not")
    parser.add_argument("--shoes", type=int, default=40, help="simulated shoes")
    parser.add_argument(
        "--folder", type=Path, default=Path("/var/tmp"), help="where the journal goes: a real disk"
    )
    parser.add_argument("--json", action="store_true", help="figures and aims as JSON")
    parser.add_argument("--strict", action="store_true", help="exit 1 when an aim is missed")
    given = parser.parse_args()
    setup_logging("console", "error")
    sys.setswitchinterval(0.001)  # as `tablectl run` does
    secret = new_secret()
    with tempfile.TemporaryDirectory(prefix="tablectl-bench-", dir=given.folder) as text:
        folder = Path(text)
        (folder / "idle").mkdir()
        with game_server(folder, secret) as url:
            figures = latency(folder, url, secret, given.rounds, given.cards, given.pause)
            aims = latency_aims(figures)
            (folder / "wires").mkdir()
            wires = paths(folder / "wires", url, secret, given.rounds, given.pause)
            if given.idle:
                aims += whole_aims(folder / "idle", url, secret, given.idle)
    speed = cards_per_second(given.shoes)
    if given.json:
        print(
            json.dumps(
                {
                    "figures": {
                        n: {"median_us": f.median, "p99_us": f.p99, "n": f.count}
                        for n, f in (figures | wires).items()
                    },
                    "aims": [
                        {"name": a.name, "measured": a.measured, "most": a.most, "met": a.met} for a in aims
                    ],
                    "simulated_cards_per_second": round(speed),
                }
            )
        )
    else:
        print(
            f"Python {platform.python_version()}, {os.cpu_count()} processors, "
            f"load {os.getloadavg()[0]:.1f}, {given.pause * 1000:g} ms between two cards"
        )
        print(HEAD)
        for one in figures.values():
            print(one.line())
        for name, one in wires.items():
            serial = wires[f"serial {name.split()[1]}"]
            print(f"{one.line()}  {one.median / serial.median:.2f} x serial")
        ratio = figures["decision"].median / figures["relay"].median
        print(f"decision is {ratio:.2f} x the relay; simulate: {speed:,.0f} cards per second\n")
        print(f"{'aim':<46} {'measured':>9}    {'at most':>9}      ratio")
        for aim in aims:
            print(aim.line())
    return 1 if given.strict and not all(aim.met for aim in aims) else 0


OTHERS = {"journal": journal, "display": display, "players": players}

if __name__ == "__main__":
    other = OTHERS.get(sys.argv[1]) if sys.argv[1:] else None
    sys.exit(main() if other is None else other(sys.argv[2:]))
