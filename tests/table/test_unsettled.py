"""A round whose settling event was parked is unsettled until it is voided or amended, in any order."""

from __future__ import annotations

import dataclasses
import itertools
import json
from typing import Any

import pytest

from tablectl import events as ev
from tablectl.table import Kind, evolve
from tests.table.playing import NATURAL, Play, house
from tests.table.test_checkpoint import check


def park(play: Play, event: ev.Event) -> None:
    """As the core writes it down: no input of the table, an event among its rows."""
    revision = {
        ev.RoundResulted: getattr(event, "revision", 1),
        ev.RoundAmended: getattr(event, "revision", None),
        ev.RoundVoided: 0,
    }.get(type(event))
    parked = ev.DeliveryParked(
        shoe=event.shoe, round=event.round, event=1, body="{}", parked_type=event.TYPE, revision=revision,
        reason="system", approved_by="Pia",
    )  # fmt: skip
    play.events.append(parked)
    play.state = evolve(play.state, parked)


def unsettled(play: Play) -> list[tuple[int, int]]:
    return list(play.state.unsettled)


CHANGES: tuple[dict[str, Any], ...] = ({"P1": "4S", "P3": "2D"}, {"P1": "3S", "P3": "2D"})


@pytest.mark.parametrize("amendments", range(3))
@pytest.mark.parametrize("void", [False, True])
def test_only_what_came_after_the_parked_event_settles_it(amendments: int, void: bool) -> None:
    """Every settling event of one round, parked at every later moment."""
    steps = 1 + amendments + void
    for parked, moment in itertools.combinations_with_replacement(range(steps), 2):
        play, settling = Play(house()), list[ev.Event]()
        play.round(NATURAL)
        settling.append(play.result())
        for step in range(steps):
            if step:
                if void and step == steps - 1:
                    play.do(Kind.VOID, round="1/1")
                    settling.append(play.of(ev.RoundVoided)[-1])
                else:
                    play.do(Kind.AMEND, round="1/1", **CHANGES[step - 1])
                    settling.append(play.of(ev.RoundAmended)[-1])
            if step == moment:
                park(play, settling[parked])
                assert bool(unsettled(play)) == (parked == step), (parked, moment)
        assert bool(unsettled(play)) == (parked == moment == steps - 1)


def test_a_parked_void_is_said_again_and_nothing_else_may_become_of_it() -> None:
    play = Play(house())
    play.round(NATURAL)
    play.do(Kind.VOID, round="1/1")
    assert "void already" in play.refused(Kind.VOID, round="1/1")
    park(play, play.of(ev.RoundVoided)[-1])
    assert "void already" in play.refused(Kind.AMEND, round="1/1", P1="4S", P3="2D")
    play.do(Kind.VOID, round="1/1")
    first, second = play.of(ev.RoundVoided)
    assert (second.shoe, second.round, second.cards) == (1, 1, first.cards)
    assert unsettled(play) == []
    assert "void already" in play.refused(Kind.VOID, round="1/1")


def test_a_round_voided_without_a_result_is_voided_again() -> None:
    play = Play(house())
    play.betting()
    play.do(Kind.VOID)
    park(play, play.of(ev.RoundVoided)[-1])
    assert unsettled(play) == [(1, 1)]
    play.do(Kind.VOID, round="1/1")
    assert play.of(ev.RoundVoided)[-1].cards == {}
    assert unsettled(play) == []


def test_what_settles_no_bet_leaves_nothing_unsettled_and_the_shoe_after_knows() -> None:
    play = Play(house())
    play.round(NATURAL)
    park(play, play.of(ev.CardDealt)[0])
    assert unsettled(play) == []
    park(play, play.result())
    park(play, play.result())
    assert unsettled(play) == [(1, 1)]
    play.do(Kind.SHOE_END)
    play.do(Kind.SHOE_NEW)
    assert unsettled(play) == [(1, 1)]
    assert check(play.events, play.state) == 2


def test_a_shoe_of_an_earlier_release_carries_none() -> None:
    play = Play(house())
    play.round(NATURAL)
    started = play.of(ev.ShoeStarted)[0]
    carry = json.loads(json.dumps(started.carry))
    del carry["unsettled"]
    from tablectl.table.checkpoint import before

    state = before(dataclasses.replace(started, carry=carry))
    assert state is not None
    assert state.unsettled == ()
