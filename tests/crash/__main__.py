"""``python -m tests.crash points|kills``: the long runs, with what they found at the end."""

from __future__ import annotations

import argparse
import random
import sys
import time
from itertools import product

from tests.crash.boundaries import Via
from tests.crash.kills import kill_at_random
from tests.crash.play import CUT_AT
from tests.crash.points import Found, every_boundary, every_kind


def points(given: argparse.Namespace) -> int:
    """Every boundary of a short shoe, by each seed."""
    begun, total = time.monotonic(), Found()
    for seed, protocol, via in product(given.seeds, given.protocol, given.via):
        found = _points(protocol, seed, via, given)
        total.add(found)
        print(f"{protocol} over {via}, seed {seed}: {found}, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"all: {total}, {time.monotonic() - begun:.0f} s", flush=True)
    return 1 if total.faults else 0


def _points(protocol: str, seed: int, via: Via, given: argparse.Namespace) -> Found:
    told, found = 0, Found()
    only = [kind for kind in given.kind or () if kind in every_kind(via)]
    if given.kind and not only:
        return found
    every = every_boundary(protocol, seed, via, only, given.cut_at, twice=given.twice, every=given.every)
    for (kind, nth), found in every:
        if given.verbose and nth % 10 == 0:
            print(f"{protocol} over {via}, seed {seed}: {kind} {nth}", flush=True)
        for fault in found.faults[told:]:
            print(fault, flush=True)
        told = len(found.faults)
    return found


def _seeds(text: str) -> range:
    """``A-B``, or one."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def kills(given: argparse.Namespace) -> int:
    """Random kill -9."""

    def told(done: int) -> None:
        if done % 100 == 0:
            print(f"{done} kills", flush=True)

    for protocol in given.protocol:
        seed = given.seed or random.SystemRandom().randrange(10**6)
        print(f"{protocol}, seed {seed}", flush=True)
        print(kill_at_random(protocol, seed, given.times // len(given.protocol), told), flush=True)
    return 0


def main() -> int:
    """Run one of them; 1 when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("points", help="die at every boundary of a short shoe")
    one.add_argument("--protocol", nargs="+", default=["angel-eye", "bee-tek"])
    one.add_argument("--via", nargs="+", choices=("http", "nats"), default=["http", "nats"])
    one.add_argument("--seeds", type=_seeds, default=range(1, 2), metavar="A-B")
    one.add_argument("--cut-at", type=int, default=CUT_AT, help="cards before the cutting card")
    kinds = sorted({*every_kind("http"), *every_kind("nats")})
    one.add_argument(
        "--kind", nargs="+", choices=kinds, metavar="KIND", help="these only: " + ", ".join(kinds)
    )
    one.add_argument("--once", dest="twice", action="store_false", help="no second death after each")
    one.add_argument("--every", type=int, default=1, help="each N-th of a kind, others by the next seed")
    one.add_argument("--verbose", action="store_true")
    one.set_defaults(run=points)
    one = commands.add_parser("kills", help="kill -9 at random moments of a play that goes on")
    one.add_argument("--protocol", nargs="+", default=["angel-eye", "bee-tek"])
    one.add_argument("--seed", type=int, help="another one at every run if not given")
    one.add_argument("--times", type=int, default=2_000)
    one.set_defaults(run=kills)
    given = parser.parse_args()
    return int(given.run(given))


if __name__ == "__main__":
    sys.exit(main())
