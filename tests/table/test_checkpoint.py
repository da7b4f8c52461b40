"""A replay may begin at any ``shoe.started``: the state before it rides in its private part."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tablectl import events as ev
from tablectl.scanner import DeviceKind
from tablectl.table import Kind, State, Trouble, evolve
from tablectl.table.checkpoint import before
from tests.table.playing import ANGEL_EYE, NATURAL, Play, Recorded, house


def check(events: list[ev.Event], final: State) -> int:
    """From every start of a shoe the rest leads to the same state; how many there were."""
    starts = 0
    for i, event in enumerate(events):
        if not isinstance(event, ev.ShoeStarted):
            continue
        starts += 1
        stored = dataclasses.replace(event, carry=json.loads(json.dumps(event.carry)))
        state = before(stored)
        assert state is not None and state.row == i
        for later in events[i:]:
            state = evolve(state, later)
        assert state == final
    return starts


@pytest.mark.parametrize("rules", ["live-casino", "classic", "commission-free", "atlantic-city"])
def test_a_shift_from_each_of_its_shoes(rules: str) -> None:
    simulation = Recorded(house(rules), "checkpoint")
    for _ in range(3):
        simulation.play_shoe()
    assert check(simulation.events, simulation.state) == 3


def test_what_a_table_knew_before_the_shoe_is_kept() -> None:
    play = Play(traits=ANGEL_EYE)
    play.idle()
    play.give(Trouble(play.now(), "clock", "The clock was set."))
    play.round(NATURAL)
    play.device(DeviceKind.STARTED)
    play.do(Kind.SHOE_END)
    play.do(Kind.SHOE_NEW)
    play.scan("2S")
    assert play.alerts and check(play.events, play.state) == 2


def test_a_shoe_of_an_earlier_version_carries_no_last_shoe() -> None:
    play = Play(house(burn={"by": "none"})).idle()
    play.do(Kind.SHOE_END)
    play.do(Kind.SHOE_NEW)
    (_, started) = play.of(ev.ShoeStarted)
    assert started.carry["last_shoe"] == 1
    older = {name: value for name, value in started.carry.items() if name != "last_shoe"}
    state = before(dataclasses.replace(started, carry=older))
    assert state is not None and state.last_shoe == state.shoes == 1


def test_a_row_without_it_is_no_checkpoint() -> None:
    started = ev.ShoeStarted(shoe=1, decks=8, rules={}, rules_hash="")
    assert before(started) is None
