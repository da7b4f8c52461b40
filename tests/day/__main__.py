"""``python -m tests.day SEED``: a day of play with faults on every side; prints what it came to."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from tests.day.day import Day


def main() -> int:
    """Play and print; ends with a traceback when something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.day", description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--protocol", choices=("angel-eye", "bee-tek"), default="angel-eye")
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--speed", type=float, default=100.0, help="how much the day is compressed")
    parser.add_argument("--often", type=float, default=12.0, help="real seconds between two faults of a kind")
    given = parser.parse_args()
    day = Day(given.protocol, given.seed, given.hours, given.speed, given.often)
    figures = day.play(lambda text: print(text, flush=True))
    for one in fields(figures):
        print(f"{one.name:12} {getattr(figures, one.name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
