"""Properties over random play: any sequence of scans, reports, commands and time.

:class:`Play` checks after each input that state is the fold of its events, that cards are counted
once and that a hold has a way out; here the rest.
"""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tablectl import events as ev
from tablectl.cards import DECK, Card, Outcome, Position, Side
from tablectl.clock import SECOND, Instant
from tablectl.house import HouseRules
from tablectl.rules import deal, next_position
from tablectl.scanner import (
    Arrived,
    DeviceEvent,
    DeviceKind,
    Discarded,
    Label,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
    Traits,
)
from tablectl.table import WAYS, Command, Expect, Kind, Started, State, Tick, Trouble, decide, evolve
from tablectl.table.inputs import Input
from tests.table.playing import ANGEL_EYE, Play, Recorded, house

pytestmark = pytest.mark.soak

SOAK = "TABLECTL_SOAK" in os.environ
EXAMPLES = settings(
    max_examples=1500 if SOAK else 30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

# Few faces, so that ninth copies come too.
CARDS = st.sampled_from([*DECK[:9], *DECK[20:24]])
STEPS = st.one_of(
    st.tuples(st.just("scan"), CARDS, st.sampled_from(list(Label)), st.floats(0, 2)),
    st.tuples(st.just("plain"), CARDS),
    st.tuples(st.just("plain"), CARDS),
    st.tuples(st.just("due"), CARDS),
    st.tuples(st.just("unread")),
    st.tuples(st.just("device"), st.sampled_from(list(DeviceKind)), st.integers(0, 7)),
    st.tuples(st.just("verdict"), st.sampled_from(list(Outcome)), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from([0.1, 1, 4, 15.5, 20, 31, 3600])),
    st.tuples(st.just("sensible")),
    st.tuples(st.just("sensible")),
    st.tuples(st.just("sensible")),
    st.tuples(st.just("release"), st.sampled_from([*WAYS, "x"])),
    st.tuples(
        st.just("command"),
        st.sampled_from([k for k in Kind if k.value == k.value.lower()]),
        st.sampled_from(["2", "6", "", "player", "tie", "Emil", "1/1"]),
        st.booleans(),
    ),
    st.tuples(st.just("edge"), st.sampled_from(["lost", "restored", "started", "trouble", "reject", "old"])),
)


def sensible(play: Play) -> None:
    """What a dealer would do next, so that random play gets somewhere."""
    for kind, args in (
        (Kind.OPEN, {}),
        (Kind.SIGN_IN, {"name": "Dora", "pickup": "left"}),
        (Kind.INSPECT, {}),
        (Kind.SHOE_NEW, {}),
        (Kind.BETS_OPEN, {}),
        (Kind.TURN, {}),
        (Kind.CONFIRM, {}),
    ):
        if not play.command(kind, **args).refused:
            return
    play.restore()


def step(play: Play, what: tuple[Any, ...]) -> None:
    match what:
        case ("scan", card, label, ago):
            play.scan(str(card), label, ago=ago)
        case ("plain", card):
            play.scan(str(card))
        case ("due", card):
            due = play.state.round.due if play.state.round else None
            play.scan(str(card), Label(due.value) if due else Label.BURN)
        case ("unread",):
            play.scan(None)
        case ("device", kind, number):
            play.device(kind, number=number, text="said the shoe")
        case ("verdict", outcome, pair):
            play.verdict(outcome, player_pair=pair)
        case ("wait", seconds):
            play.wait(seconds)
        case ("sensible",):
            sensible(play)
        case ("release", action):
            play.command(Kind.RELEASE, action=action)
        case ("command", kind, text, boss):
            args = dict.fromkeys(("name", "pickup", "count", "outcome", "round", "action", "alert"), text)
            expect = Expect(version=play.state.version) if boss else Expect(round=play.state.where)
            play.give(
                Command(kind, play.now(), args=args, person="P", supervisor=boss, reason="r", expect=expect)
            )
        case ("edge", name):
            at = play.now()
            given: dict[str, Input] = {
                "lost": ScannerLost("gone", at),
                "restored": ScannerRestored("x", at, "here"),
                "started": Started(at, "1"),
                "trouble": Trouble(at, "clock", "set"),
                "reject": Arrived(Reject(b"?", "noise"), at),
                "old": Discarded(Scan(DECK[0], Label.NONE, b""), at),
            }
            play.give(given[name])


RULES = st.sampled_from(
    [
        house(),
        house("classic", dealing={"confirm": "dealer"}),
        house("atlantic-city", shoe={"share": "0.05", "hands_after_cut": 1}),
        house(burn={"scanned": False}, betting={"opens": "automatic", "pause": 1.0}),
        house(shoe={"decks": 1, "cutting_card": 20, "inspection": False}),
        house(dealing={"confirm": "shoe"}),
    ]
)
TRAITS = st.sampled_from([Traits(), ANGEL_EYE, dataclasses.replace(ANGEL_EYE, burn_frames="game")])


@EXAMPLES
@given(RULES, TRAITS, st.integers(0, 3), st.lists(STEPS, max_size=60))
def test_nothing_raises_and_what_must_hold_holds(
    rules: HouseRules, traits: Traits, begun: int, steps: list[tuple[Any, ...]]
) -> None:
    play = Play(rules, traits)
    if begun:
        play.opened()
        play.do(Kind.SHOE_NEW)
    if begun > 1:
        if play.state.burns_due and not rules.burn.scanned:
            play.do(Kind.BURN_DONE, count=str(play.state.burns_due))
        for card in DECK[30:51:2]:
            if play.state.burns_due:
                play.scan(str(card), Label.BURN)
        play.do(Kind.BETS_OPEN)
    if begun > 2:
        play.wait(20)
    for what in steps:
        step(play, what)
    replayed = State()
    for event in play.events:
        replayed = evolve(replayed, event)
    assert replayed == play.state, "replay of all events gives the identical state"
    assert play.state.row == len(play.events)
    assert play.state.sequence == sum(e.PUBLIC for e in play.events)
    assert_lawful(play.events)
    assert_survives_json(play.events)


def assert_lawful(events: list[ev.Event]) -> None:
    """Rounds counted up, results only of lawful hands, closes never late and once, shoes balanced."""
    rounds: set[tuple[int | None, int | None]] = set()
    settled: set[tuple[int | None, int | None]] = set()
    laid: list[Card] = []
    positions: list[Position] = []
    deadline, closes = 0, 0
    hands = burned = kept = moved = 0
    for event in events:
        match event:
            case ev.ShoeStarted():
                hands = burned = kept = moved = 0
            case ev.BettingOpened() | ev.FreeHandOrdered():
                key = (event.shoe, event.round)
                assert key not in rounds
                rounds.add(key)
                laid, positions = [], []
                closes = 0
                if isinstance(event, ev.BettingOpened):
                    deadline = event.deadline_boot
            case ev.BettingClosed():
                closes += 1
                assert event.closed_boot <= deadline and closes == 1
            case ev.CardDealt():
                laid.append(Card.parse(str(event.face or event.card)))
                positions.append(event.position)
                hands += 1
                moved += event.kept
            case ev.CardBurned():
                burned += 1
                moved += event.kept
            case ev.ScanKept():
                kept += 1
            case ev.RoundResulted():
                lawful, excess = deal(laid)
                assert list(lawful) == positions and not excess
                player = [c.points for p, c in lawful.items() if p.side is Side.PLAYER]
                banker = [c.points for p, c in lawful.items() if p.side is Side.BANKER]
                assert next_position(player, banker) is None, "the hand is complete"
                assert (event.player.points, event.banker.points) == (tuple(player), tuple(banker))
                assert (event.shoe, event.round) not in settled
                settled.add((event.shoe, event.round))
            case ev.RoundVoided():
                assert (event.shoe, event.round) not in settled
                settled.add((event.shoe, event.round))
            case ev.ShoeEnded():
                assert event.dealt + len(event.burned) == hands + burned + kept - moved
            case _:
                pass


def adapter(event: ev.Event) -> TypeAdapter[ev.Event]:
    return ADAPTERS.setdefault(type(event), TypeAdapter(type(event)))


ADAPTERS: dict[type[ev.Event], TypeAdapter[Any]] = {}


def assert_survives_json(events: list[ev.Event]) -> None:
    """Public and private JSON together give the event back."""
    for event in events:
        public = json.loads(json.dumps(ev.public_data(event))) if event.PUBLIC else {}
        private = json.loads(ev.private_body(event, Instant(1, 2)))["data"]
        assert not set(public) & set(private)
        absent = {
            f.name: None
            for f in dataclasses.fields(event)
            if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        }
        assert adapter(event).validate_python({**absent, **public, **private}) == event


def test_a_shift_replays_and_survives_json() -> None:
    simulation = Recorded(house("classic"), "replay")
    simulation.play_shoe()
    simulation.play_shoe()
    events = simulation.events
    state = State()
    for event in events:
        state = evolve(state, event)
    assert state == simulation.state and state.row == len(events)
    assert_lawful(events)
    assert_survives_json(events)


def test_decide_changes_neither_its_state_nor_its_input() -> None:
    play = Play()
    play.no_more_bets()
    before = dataclasses.asdict(play.state)
    given = Arrived(Scan(Card.parse("8S"), Label.NONE, b""), play.now())
    first = decide(play.state, given, play.now(), play.around)
    second = decide(play.state, given, play.now(), play.around)
    assert first == second and dataclasses.asdict(play.state) == before


def test_time_alone_writes_no_rows() -> None:
    play = Play()
    play.idle()
    row = play.state.row
    for _ in range(100):
        play.boot += SECOND
        play.give(Tick(play.now()))
    assert play.state.row == row


def test_a_device_event_of_every_kind_in_step_with_nothing_open() -> None:
    play = Play()
    for kind in DeviceKind:
        play.give(Arrived(DeviceEvent(kind, b"", text="x", number=1), play.now()))
    assert play.state.shoe is None and not play.state.held
