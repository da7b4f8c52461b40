"""``python -m tests.shift PROTOCOL SEED [--hours 8]``: a shift on the wire, exactly as ever."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.shift.protocols import PROTOCOLS
from tests.shift.shift import Shift
from tests.shift.truth import Wrong


def _words(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def main() -> int:
    """Play and print; 1 when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.shift", description=__doc__)
    parser.add_argument("protocol", choices=sorted(PROTOCOLS))
    parser.add_argument("seed", type=int)
    parser.add_argument("--hours", type=float, default=8.0)
    parser.add_argument("--rare", type=float, help="a fault strikes every N-th time on average")
    parser.add_argument("--patience", type=float, help="seconds the dealer waits for a card to show")
    parser.add_argument("--times", type=int, default=1, help="so many seeds from SEED on")
    parser.add_argument("--trace", action="store_true", help="every input, and what came of it")
    given = parser.parse_args()
    failed = 0
    for seed in range(given.seed, given.seed + given.times):
        begun = time.process_time()
        shift = Shift(PROTOCOLS[given.protocol], seed, rare=given.rare, patience=given.patience)
        tally = shift.truth.tally
        if given.trace:
            shift.table.trace = print
        wrong: AssertionError | None = None
        try:
            shift.play(given.hours)
        except AssertionError as fault:
            wrong, failed = fault, failed + 1
            if not isinstance(fault, Wrong):
                print(shift.truth.wrong(f"{fault}"))
        spent = time.process_time() - begun
        print(
            f"{given.protocol} seed {seed}, {given.hours:g} h, faults 1 in {shift.rare:g}, "
            f"patience {shift.patience:g} s: "
            f"{tally.rounds} rounds, {tally.results} results, {tally.voids} voids, {tally.shoes} shoes, "
            f"{tally.cards} cards, {shift.reader.counters.bytes} bytes, {spent:.1f} s"
        )
        if given.times == 1:
            print(f"  holds: {_words(tally.holds)}")
            print(f"  ways out: {_words(tally.ways)}")
            print(f"  faults: {_words(tally.faults)}")
        if wrong is not None:
            print(f"  WRONG: {wrong}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
