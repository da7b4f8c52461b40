"""What a game server says about who has placed: shown while true, asked for gently, never a fault."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl.clock import SECOND, Instant
from tablectl.delivery.actions import Probe, Send, Wait
from tablectl.delivery.answers import Answer, Failed
from tablectl.delivery.link import ServerLink
from tablectl.delivery.outbox import PROBE_EVERY, Outbox
from tablectl.delivery.placed import MOST, Placed, placed_in
from tablectl.outside import placed_view
from tablectl.shoe import Shoe
from tablectl.table import Phase, State
from tablectl.table.state import Round

T0 = 1_000 * SECOND
SAID = {"shoe": 12, "round": 34, "players": 3, "placed": 2}
TWO = Placed(12, 34, 3, 2)


def said(placed: Any, status: int = 200) -> Answer:
    return Answer(status, {"next": 11, "placed": placed})


def asked(answer: Answer | Failed, took: int = SECOND // 100, head: int = 10) -> Outbox:
    """After a probe that ended with ``answer`` at T0."""
    box = Outbox.begin(T0, head=10, acked=10).sending(Probe(), T0 - took)
    return box.stored(head, T0).answered(T0, answer, 0.0)


def betting(phase: Phase = Phase.BETTING, shoe: int = 12, number: int = 34) -> State:
    return State(phase=phase, shoe=Shoe(shoe, 8), round=Round(number))


# --- what is asked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("took", "after"),
    [(0, 1.0), (0.05, 1.0), (0.1, 1.0), (0.2, 2.0), (0.5, 5.0), (4.9, 5.0)],
)
def test_it_is_asked_again_soon_but_a_slow_server_as_ever(took: float, after: float) -> None:
    box = asked(said(SAID), int(took * SECOND))
    assert box.next_action(T0) == Wait(T0 + int(after * SECOND))
    assert box.next_action(T0 + int(after * SECOND)) == Probe()


@pytest.mark.parametrize(
    "answer", [Answer(200, {"next": 11}), said(None), said({**SAID, "placed": 4})], ids=str
)
def test_who_does_not_say_it_is_asked_as_ever(answer: Answer) -> None:
    assert asked(answer).next_action(T0) == Wait(T0 + PROBE_EVERY)


def test_the_end_of_it_is_the_end_of_asking_soon() -> None:
    box = asked(said(SAID)).sending(Probe(), T0 + SECOND).answered(T0 + SECOND, Answer(200, {"next": 11}), 0)
    assert (box.placed, box.next_action(T0 + SECOND)) == (None, Wait(T0 + SECOND + PROBE_EVERY))


def test_an_event_is_sent_at_once_all_the_same_and_a_failure_backs_off() -> None:
    assert asked(said(SAID)).stored(11, T0).next_action(T0) == Send(11, 1)
    box = asked(said(SAID)).sending(Probe(), T0 + SECOND).answered(T0 + SECOND, Answer(503), 1.0)
    assert (box.link(T0 + SECOND).placed, box.next_action(T0 + SECOND)) == (None, Wait(T0 + SECOND * 3 // 2))


# --- what is shown -----------------------------------------------------------------------------------------


def test_it_is_shown_over_a_good_link_for_ten_seconds() -> None:
    box = asked(said(SAID))
    assert box.link(T0).placed == box.link(T0 + 10 * SECOND).placed == TWO
    late = box.link(T0 + 10 * SECOND + 1)
    assert late.good and late.placed is None
    for bad in (said(SAID, 503), Failed("gone"), said(SAID, 422), Answer(200, {"next": "?", "placed": SAID})):
        assert box.sending(Probe(), T0).answered(T0, bad, 0.0).link(T0).placed is None
    owed = asked(said(SAID), head=11)
    assert owed.link(T0).placed == TWO
    assert owed.link(T0 + 3 * SECOND).placed is None, "a link that is not good says nothing of it"


def test_with_a_link_that_turns_bad_it_is_gone() -> None:
    box, link = asked(said(SAID)), ServerLink(True, lambda: Instant(T0, T0))
    link.now_is(box.link(T0))
    assert link.placed == TWO
    link.now_is(box.link(T0 + 31 * SECOND))
    assert link.placed is None


@pytest.mark.parametrize(
    ("state", "shows"),
    [
        (betting(), True),
        (betting(Phase.NO_MORE_BETS), False),
        (betting(Phase.DEALING), False),
        (betting(number=35), False),
        (betting(shoe=13), False),
        (State(phase=Phase.BETTING), False),
        (State(), False),
    ],
)
def test_it_is_shown_while_betting_is_open_on_that_round(state: State, shows: bool) -> None:
    assert placed_view(TWO, state) == ({**SAID, "all": False} if shows else None)
    assert placed_view(None, state) is None


@pytest.mark.parametrize(("players", "placed", "all_"), [(0, 0, False), (3, 2, False), (3, 3, True)])
def test_all_is_somebody_and_nobody_waited_for(players: int, placed: int, all_: bool) -> None:
    shown = placed_view(replace(TWO, players=players, placed=placed), betting())
    assert shown is not None and shown["all"] is all_


# --- whatever comes ----------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        name: st.sampled_from([0, 1, 2, 3, True, False, -1, 1.0, "1", MOST, MOST + 1, 10**30]) | JSON
        for name in (*SAID, "all", "more")
    },
)


@settings(max_examples=50)
@given(JSON | NEARLY)
def test_no_value_of_it_is_a_fault_or_shows_nonsense(value: Any) -> None:
    plain, box = asked(Answer(200, {"next": 11})), asked(said(value))
    assert replace(box, placed=None) == plain, "the link and what is sent are as without it"
    assert replace(box.link(T0), placed=None) == plain.link(T0)
    found = placed_in({"placed": value})
    assert found == box.placed
    if found is not None:
        assert {name: value[name] for name in SAID} == asdict(found)
        assert all(type(number) is int for number in asdict(found).values())
        assert 1 <= found.shoe <= MOST and 1 <= found.round <= MOST
        assert 0 <= found.placed <= found.players <= MOST


def test_what_makes_sense_is_taken_with_more_beside_it() -> None:
    assert placed_in({"placed": {**SAID, "all": "?", "names": ["ann"]}}) == TWO
    for broken in ("shoe", "round", "players", "placed"):
        for value in (None, True, "1", 1.0, -1, MOST + 1):
            assert placed_in({"placed": {**SAID, broken: value}}) is None, (broken, value)
        assert placed_in({"placed": {k: v for k, v in SAID.items() if k != broken}}) is None
    assert placed_in({"placed": {**SAID, "placed": 4}}) is None
    others: tuple[object, ...] = (None, [SAID], "placed", {}, SAID)
    assert not any(map(placed_in, others))
