"""``python -m tests.fuzz``: at least ten million bytes through every decoder; prints what it made of them."""

from __future__ import annotations

import argparse
import sys

from tests.drivers.contract import SUBJECTS
from tests.fuzz.fuzzing import HEAD, fuzz


def main() -> int:
    """Fuzz and print; what fails ends it with hypothesis's smallest example."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("drivers", nargs="*", metavar="DRIVER", help=f"of {', '.join(sorted(SUBJECTS))}")
    parser.add_argument("--bytes", type=int, default=10_000_000, help="at least so many for each")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    unknown = set(given.drivers) - set(SUBJECTS)
    if unknown:
        parser.error(f"no decoder {', '.join(sorted(unknown))}; there are {', '.join(sorted(SUBJECTS))}")
    print(HEAD, flush=True)
    for name in given.drivers or sorted(SUBJECTS):
        print(fuzz(name, given.bytes, given.seed).line(), flush=True)
    return 0


sys.exit(main())
