"""The model test: every input and command at every moment, an independent bookkeeper watching each step.

Hypothesis draws a house and a list of steps (:mod:`tests.table.steps`) rather than the rules of a state
machine: a step is three numbers, so a failing play is one line of text, which this file plays again ::

    python -m tests.table.test_model 'live-casino:2:0a1b2c…'

The shrinking is done here, by leaving steps out, since no step depends on another being there.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Search
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.clock import SECOND
from tablectl.frozen import replace
from tablectl.rules import next_position
from tablectl.shoe import Shoe
from tablectl.table import HOLDS, WAYS, State, dealing
from tablectl.table.state import Round
from tablectl.table.turn import Turn
from tests import pairs
from tests.table.model import HOUSES, REACHED, TRIED, Watched
from tests.table.oracle import Oracle
from tests.table.steps import OPS, Step, begin

SOAK = "TABLECTL_SOAK" in os.environ
EXAMPLES = 2_500 if SOAK else 30
FEWEST_STEPS, MOST_STEPS = 50, 90

BYTE = st.integers(0, 255)
STEPS = st.lists(
    st.tuples(st.integers(0, len(OPS) - 1), BYTE, BYTE), min_size=FEWEST_STEPS, max_size=MOST_STEPS
)


def play(name: str, begun: int, steps: list[Step], oracle: type[Oracle] = Oracle) -> Watched:
    """Play one example. Whatever is wrong raises."""
    rules, traits = HOUSES[name]
    table = Watched(rules, traits, oracle)
    begin(table, begun)
    for op, a, b in steps:
        OPS[op](table, a, b)
    table.finish()
    return table


def line(name: str, begun: int, steps: list[Step]) -> str:
    """The command that plays an example again."""
    return f"python -m tests.table.test_model '{name}:{begun}:{b''.join(map(bytes, steps)).hex()}'"


def parse(text: str) -> tuple[str, int, list[Step]]:
    """What :func:`line` was made of; ``HOUSE:SEED`` draws the steps. Raises ValueError."""
    name, first, *rest = text.split(":")
    if name not in HOUSES:
        raise ValueError(f"{name!r} is no house; there are: {', '.join(HOUSES)}")
    if not rest:
        return name, *drawn(int(first))
    raw = bytes.fromhex(rest[0])
    steps = [(raw[i], raw[i + 1], raw[i + 2]) for i in range(0, len(raw), 3)]
    return name, int(first), steps


def drawn(seed: int) -> tuple[int, list[Step]]:
    """An example by its number."""
    chance = random.Random(seed)
    some = range(chance.randint(FEWEST_STEPS, MOST_STEPS))
    return chance.randrange(4), [
        (chance.randrange(len(OPS)), chance.randrange(256), chance.randrange(256)) for _ in some
    ]


def fault(name: str, begun: int, steps: list[Step], oracle: type[Oracle] = Oracle) -> Exception | None:
    """What goes wrong in an example, or None; nothing of an earlier one is left out of it."""
    TRIED.clear()
    try:
        play(name, begun, steps, oracle)
    except Exception as error:
        return error
    return None


def shorter(name: str, begun: int, steps: list[Step], oracle: type[Oracle] = Oracle) -> list[Step]:
    """The steps that the fault needs: as many as possible are left out, several at a time first."""
    width = max(1, len(steps) // 2)
    while True:
        at = len(steps)
        while at > 0:
            at = max(0, at - width)
            fewer = steps[:at] + steps[at + width :]
            if fault(name, begun, fewer, oracle) is not None:
                steps = fewer
        if width == 1:
            return steps
        width //= 2


def check(name: str, begun: int, steps: list[Step], oracle: type[Oracle] = Oracle) -> None:
    """Play an example; what fails is told with the line that plays it again."""
    try:
        play(name, begun, steps, oracle)
    except Exception:  # told below, by the fewest steps
        steps = shorter(name, begun, steps, oracle)
    else:
        return
    error = fault(name, begun, steps, oracle)
    assert error is not None
    error.add_note(line(name, begun, steps))
    raise error


@pytest.mark.soak
@pytest.mark.timeout(1800 if SOAK else 120)
def test_the_table_against_the_books() -> None:
    before = REACHED.copy()
    search(EXAMPLES)
    pairs.TOLD.update(REACHED - before)
    if SOAK:
        assert not [code for code in HOLDS if not REACHED[f"hold {code}"]], "holds that were never met"
        assert not [way for way in WAYS if not REACHED[f"way {way}"]], "ways out that were never taken"


def search(examples: int, oracle: type[Oracle] = Oracle) -> None:
    """Let hypothesis look for an example that fails."""

    @settings(
        max_examples=examples,
        deadline=None,
        phases=[Search.explicit, Search.reuse, Search.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(list(HOUSES)), st.integers(0, 3), STEPS)
    def against(name: str, begun: int, steps: list[Step]) -> None:
        check(name, begun, steps, oracle)

    against()


# --- that it can fail ---------------------------------------------------------------------------------------

FOLDS: dict[type[ev.Event], Any] = sys.modules["tablectl.table.evolve"]._EVOLVE
"""How each event is folded. (The package's own ``evolve`` is the function.)"""

Patch = Callable[[pytest.MonkeyPatch], None]


def _untake_keeps_the_count(patch: pytest.MonkeyPatch) -> None:
    right = Shoe.untake
    patch.setattr(Shoe, "untake", lambda self, card: replace(right(self, card), counts=self.counts))


def _insert_is_not_counted(patch: pytest.MonkeyPatch) -> None:
    right = Shoe.recount

    def recount(self: Shoe, before: Any, after: Any) -> Shoe:
        return self if len(after) > len(before) else right(self, before, after)

    patch.setattr(Shoe, "recount", recount)


def _a_correction_counts_twice(patch: pytest.MonkeyPatch) -> None:
    def exchange(self: Shoe, was: Card | None, card: Card | None) -> Shoe:
        return self.take(card)

    patch.setattr(Shoe, "exchange", exchange)


def _betting_closes_late(patch: pytest.MonkeyPatch) -> None:
    right = ev.BettingClosed

    def late(**fields: Any) -> Any:
        return right(**{**fields, "closed_boot": fields["closed_boot"] + SECOND})

    patch.setattr(ev, "BettingClosed", late)


def _a_dealt_card_stays_kept(patch: pytest.MonkeyPatch) -> None:
    right = FOLDS[ev.CardDealt]

    def dealt(state: State, event: Any) -> State:
        new: State = right(state, event)
        return replace(new, loose=state.loose)

    patch.setitem(FOLDS, ev.CardDealt, dealt)


def _reserved_is_counted_again(patch: pytest.MonkeyPatch) -> None:
    right = FOLDS[ev.CardDealt]

    def dealt(state: State, event: Any) -> State:
        new: State = right(state, event)
        if event.reserved:
            return replace(new, shoe=new.the_shoe.take(Card.parse(event.face or event.card)))
        return new

    patch.setitem(FOLDS, ev.CardDealt, dealt)


def _a_late_card_is_dealt(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dealing, "_before_close", lambda turn, given, scan: False)


def _a_release_ends_all_holds(patch: pytest.MonkeyPatch) -> None:

    def released(state: State, event: Any) -> State:
        return replace(state, holds=())

    patch.setitem(FOLDS, ev.TableReleased, released)


def _the_banker_looks_at_the_total(patch: pytest.MonkeyPatch) -> None:
    def wrong(self: Any) -> Any:
        player = [card.points for card in self.player]
        if len(player) == 3:
            player = [*player[:2], sum(player) % 10]
        return next_position(player, [card.points for card in self.banker])

    patch.setattr(Round, "due", property(wrong))


def _burn_faces_are_told(patch: pytest.MonkeyPatch) -> None:
    right = Turn.hold

    def hold(self: Any, code: str, what: str = "", saw: Any = None) -> None:
        drawn = self.state.shoe.drawn if self.state.shoe else ()
        right(self, code, f"{what} The last card was {drawn[-1] if drawn else 'none'}.", saw)

    patch.setattr(Turn, "hold", hold)


def _a_held_table_takes_any_release(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys.modules["tablectl.table.pit_boss"], "offered", lambda state: tuple(WAYS))


def _a_card_aside_is_counted_again(patch: pytest.MonkeyPatch) -> None:
    for module in ("corrections", "settled"):
        patch.setattr(sys.modules[f"tablectl.table.{module}"], "claim", lambda *told, **more: None)


MUTANTS: dict[Patch, list[str]] = {
    _untake_keeps_the_count: ["live-casino"],
    _insert_is_not_counted: ["dealer"],
    _a_correction_counts_twice: ["dealer"],
    _betting_closes_late: ["live-casino"],
    _a_dealt_card_stays_kept: ["live-casino"],
    _reserved_is_counted_again: ["next"],
    _a_late_card_is_dealt: ["live-casino"],
    _a_release_ends_all_holds: ["live-casino"],
    _the_banker_looks_at_the_total: ["live-casino"],
    _burn_faces_are_told: ["live-casino"],
    _a_held_table_takes_any_release: ["live-casino"],
    _a_card_aside_is_counted_again: ["dealer"],
}
WITHIN = 150
"""Examples in which every deliberate fault is found."""


def hunted(houses: list[str], oracle: type[Oracle] = Oracle) -> tuple[str, int, list[Step]] | None:
    """The first example that fails, if one of the first :data:`WITHIN` does."""
    for seed in range(WITHIN):
        example = (houses[seed % len(houses)], *drawn(seed))
        if fault(*example, oracle) is not None:
            return example
    return None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.__name__.strip("_"))
def test_a_deliberate_fault_is_found(mutant: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        mutant(patch)
        found = hunted(MUTANTS[mutant])
    assert found is not None, f"not found in {WITHIN} examples"
    assert fault(*found) is None, "the same example is played well without the fault"


class CountsOneCardTooMany(Oracle):
    """A bookkeeper who is wrong from the third burn card on."""

    @property
    def out(self) -> int:
        return super().out + (len(self.burned) > 2)


def test_what_fails_is_told_in_one_line_that_plays_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    begun, steps = drawn(1)
    with pytest.raises(AssertionError) as caught:
        check("live-casino", begun, steps, CountsOneCardTooMany)
    (told,) = caught.value.__notes__
    assert told.startswith("python -m tests.table.test_model 'live-casino:") and "\n" not in told
    name, begun, fewer = parse(told.split("'")[1])
    assert len(fewer) < 10, "hardly a step is needed for it"
    assert fault(name, begun, fewer, CountsOneCardTooMany) is not None
    assert main([told.split("'")[1]]) == 0
    assert "played well" in capsys.readouterr().out
    assert main([told.split("'")[1]], CountsOneCardTooMany) == 1


def test_what_the_search_finds_is_told_in_that_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(AssertionError) as caught:
        search(20, CountsOneCardTooMany)
    (told,) = [note for note in caught.value.__notes__ if note.startswith("python -m")]
    assert fault(*parse(told.split("'")[1]), CountsOneCardTooMany) is not None


def test_an_example_is_the_same_by_its_line_and_by_its_number() -> None:
    begun, steps = drawn(7)
    assert parse(line("classic", begun, steps).split("'")[1]) == ("classic", begun, steps)
    assert parse("classic:7") == ("classic", begun, steps)
    assert play("classic", begun, steps).events == play("classic", begun, steps).events
    with pytest.raises(ValueError, match="is no house"):
        parse("casino:7")


def main(arguments: list[str], oracle: type[Oracle] = Oracle) -> int:
    """Play the examples named, HOUSE:SEED or HOUSE:BEGUN:STEPS; 1 if one fails."""
    import traceback

    failed = 0
    for text in arguments:
        name, begun, steps = parse(text)
        error = fault(name, begun, steps, oracle)
        if error is None:
            print(f"played well: {len(steps)} steps of {name}")
            continue
        failed = 1
        traceback.print_exception(error, file=sys.stderr)
        print(line(name, begun, shorter(name, begun, steps, oracle)))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
