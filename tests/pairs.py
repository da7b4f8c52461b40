"""Which pairs of phase and input were entered by the tests: gathered over all workers, told at the end.

``Play.give`` notes every input that it hands to the table. When the whole suite ran, a pair of the
table of transitions that no test entered fails the run (:mod:`tests.conftest` asks).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tablectl.table.inputs import Input, Kind, Started, kind_of
from tablectl.table.state import Phase, State, next_deadline
from tablectl.table.transitions import LAWFUL, UNDER_HOLD

Pair = tuple[str, bool, str]
"""Phase, whether a hold lay over it, and the kind of input."""

ENTERED: set[Pair] = set()
"""What this process has entered so far."""

TOLD: Counter[str] = Counter()
"""What the model test met, and how often: told at the end of a soak."""

EVERY: frozenset[Pair] = frozenset(
    (phase.value, held, kind.value) for phase in Phase for held in (False, True) for kind in Kind
)
"""Every pair. All can be reached: no phase keeps a person from typing, or a shoe from talking."""

LAWFUL_MARK, REFUSED_MARK, MISSING_MARK = "●", "·", "!"
_HEADS = ("clsd", "none", "burn", "idle", "bets", "nmb", "deal", "cmpl", "due")


def note(state: State, given: Input) -> None:
    """Remember what is being entered, unless a deadline comes first and may lead elsewhere."""
    due = next_deadline(state)
    if due is not None and due <= given.at.boot and not isinstance(given, Started):
        return
    ENTERED.add((state.phase.value, state.held, kind_of(given).value))


def lawful(pair: Pair) -> bool:
    """Whether the table of transitions names the pair."""
    phase, held, kind = pair
    return (Phase(phase), Kind(kind)) in (UNDER_HOLD if held else LAWFUL)


def sent(pairs: Iterable[Pair]) -> list[list[object]]:
    """Pairs as plain values, as a worker sends them."""
    return [list(pair) for pair in sorted(pairs)]


def taken(plain: Iterable[Iterable[object]]) -> set[Pair]:
    """What :func:`sent` made plain."""
    return {(str(phase), bool(held), str(kind)) for phase, held, kind in plain}


def missing(entered: Iterable[Pair]) -> list[Pair]:
    """The pairs that no test entered."""
    return sorted(EVERY - set(entered))


def lines(entered: Iterable[Pair]) -> list[str]:
    """The table: a row for each kind, and for each phase two marks, free and on hold."""
    known = set(entered)

    def mark(pair: Pair) -> str:
        if pair not in known:
            return MISSING_MARK
        return LAWFUL_MARK if lawful(pair) else REFUSED_MARK

    width = max(len(kind.value) for kind in Kind)
    table = [" " * width + "".join(f"  {head:<4}" for head in _HEADS)]
    for kind in Kind:
        cells = (mark((p.value, False, kind.value)) + mark((p.value, True, kind.value)) for p in Phase)
        table.append(f"{kind.value:<{width}}" + "".join(f"  {cell:<4}" for cell in cells).rstrip())
    legend = (
        f"two marks: free, on hold. {LAWFUL_MARK} entered   {REFUSED_MARK} refused or written down"
        f"   {MISSING_MARK} entered by no test"
    )
    count = len(EVERY) - len(missing(known))
    return [*table, legend, f"{count} of {len(EVERY)} reachable pairs entered"]
