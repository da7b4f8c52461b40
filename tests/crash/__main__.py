"""``python -m tests.crash points|kills``: the long runs, with what they found at the end."""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.crash.boundaries import KINDS
from tests.crash.kills import kill_at_random
from tests.crash.play import CUT_AT
from tests.crash.points import Found, every_boundary


def points(given: argparse.Namespace) -> int:
    """Every boundary of a short shoe."""
    begun, failed = time.monotonic(), 0
    kinds = given.kind or KINDS
    for protocol in given.protocol:
        found = Found()
        for (kind, nth), found in every_boundary(protocol, given.seed, kinds, given.cut_at):
            if found.faults[failed:]:
                print(found.faults[-1], flush=True)
                failed = len(found.faults)
            elif nth % 10 == 0:
                print(f"{protocol} {kind} {nth}", flush=True)
        spent = time.monotonic() - begun
        print(
            f"{protocol}, seed {given.seed}: {found.plays} plays, {found.deaths} deaths, "
            f"{len(found.faults)} went wrong, {spent:.0f} s",
            flush=True,
        )
        failed = 0
    return 1 if failed else 0


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
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--cut-at", type=int, default=CUT_AT)
    one.add_argument("--kind", nargs="+", choices=KINDS)
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
