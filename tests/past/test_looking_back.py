"""Whatever goes wrong at a table and is set right: each round is derived again, each card counted once."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import DECK
from tablectl.journal.rows import Row
from tablectl.past.explain import NotExplained, explain
from tablectl.past.settled import past_of
from tablectl.past.shoe_report import shoe_report
from tablectl.table import Command, Expect, Kind, Phase, offered
from tablectl.table.inputs import Past
from tests.past_rows import entries_of, rows_of
from tests.table.playing import Play, house

SOAK = "TABLECTL_SOAK" in os.environ
PLACES = ("P1", "B1", "P2", "B2", "P3", "B3", "K1", "K2")
SETTING_RIGHT = (Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER, Kind.RESCAN)


def rows_of_round(play: Play, number: int) -> tuple[list[Row], Row]:
    rows = rows_of(play.events)
    pairs = list(zip(rows, play.events, strict=True))
    shoe = next(row for row, event in pairs if isinstance(event, ev.ShoeStarted))
    return [row for row, event in pairs if (event.shoe, event.round) == (1, number)], shoe


def look_back(play: Play, rng: random.Random, number: int) -> None:
    """Make the last round void, or amend it: the hand was another one."""
    past: Past | None = past_of(*rows_of_round(play, number))
    if past is None:
        return
    kind = rng.choice([Kind.VOID, Kind.AMEND, Kind.AMEND])
    args: dict[str, str] = {"round": f"1/{number}"}
    if kind is Kind.AMEND:
        args["P1"] = str(rng.choice(DECK))
    play.give(
        Command(
            kind, play.now(), id="c", args=args, person="Pia", supervisor=True, reason="announcement",
            expect=Expect(version=play.state.version), past=past,
        )
    )  # fmt: skip


def disturbed(rng: random.Random) -> Play:
    """A table at which nothing goes as it should."""
    profile = rng.choice(["live-casino", "classic", "commission-free"])
    play = Play(
        house(profile, burn={"by": "none"}, dealing={"overdraw": rng.choice(["burn", "next", "void"])})
    )
    play.idle()
    for _ in range(40):
        state = play.state
        if state.phase is Phase.SHUFFLE_DUE:
            break
        if state.phase is Phase.IDLE and not state.held:
            play.command(Kind.BETS_OPEN)
        if rng.random() < 0.5:
            play.wait(20)
        if rng.random() < 0.1:
            play.command(Kind.HOLD, text="look")
        if rng.random() < 0.3:
            play.command(Kind.TURN)
        play.scan(None if rng.random() < 0.05 else str(rng.choice(DECK)))
        for _ in range(rng.randrange(3) if play.state.held else 0):
            args: dict[str, Any] = {"position": rng.choice(PLACES), "to": rng.choice(PLACES)}
            play.command(rng.choice(SETTING_RIGHT), card=str(rng.choice(DECK)), **args)
        if play.state.held and rng.random() < 0.7:
            ways = [way for way in offered(play.state) if way != "shoe end"]
            play.command(Kind.RELEASE, action=rng.choice(ways or ["keep"]))
        if play.state.held and rng.random() < 0.1:
            play.command(Kind.VOID)
        shoe = play.state.shoe
        if shoe is not None and shoe.rounds > 1 and rng.random() < 0.1:
            look_back(play, rng, rng.randrange(1, shoe.rounds))
    return play


@pytest.mark.soak
@settings(max_examples=400 if SOAK else 20, deadline=None)
@given(st.integers(0, 2**32))
def test_each_settled_round_is_derived_again_and_each_card_counted_once(seed: int) -> None:
    play = disturbed(random.Random(seed))
    own = [event for event in play.events if event.shoe == 1]
    if play.state.shoe is not None:
        report = shoe_report(own, over=False)
        assert (report["out"], report["left"]) == (play.out, play.state.shoe.left)
    for number in {event.round for event in own if event.round}:
        rows, shoe = rows_of_round(play, number)
        (started,) = entries_of([shoe])
        try:
            answer = explain(started, entries_of(rows), lambda raw: None, over=False)
        except NotExplained:
            assert not any(isinstance(e, ev.RoundResulted) for e in own if e.round == number)
        else:
            assert answer["findings"] == []
