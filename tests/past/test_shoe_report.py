"""The report on a shoe: every card is counted once, and while it is in play no face is told."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import DECK
from tablectl.past.shoe_report import shoe_report
from tablectl.table import Kind, Phase, offered
from tests.table.playing import Play, Recorded, house

NAME = re.compile(r"(?<![A-Za-z0-9])[A2-9TJQK][SHDC](?![A-Za-z0-9])")
HERE: Any = {"shoe": 1, "round": 1}


def of_shoe(events: list[ev.Event]) -> list[ev.Event]:
    return [e for e in events if e.shoe == 1]


@pytest.mark.parametrize("profile", ["live-casino", "classic", "atlantic-city"])
def test_a_whole_shoe_is_accounted_for(profile: str) -> None:
    simulation = Recorded(house(profile), "report")
    simulation.play_shoe()
    events = of_shoe(simulation.events)
    (ended,) = [e for e in events if isinstance(e, ev.ShoeEnded)]
    report = shoe_report(events, over=True)
    results = [e for e in events if isinstance(e, ev.RoundResulted)]
    assert report["out"] == ended.dealt + len(ended.burned)
    assert (report["dealt"], report["burned"]) == (ended.dealt, len(ended.burned))
    assert report["out"] + report["left"] == report["cards"] == 52 * report["decks"]
    assert report["rounds"] == len(results) == ended.rounds
    assert report["results"] == dict(Counter(e.outcome.value for e in results))
    assert report["faces"]["burned"] == list(ended.burned)
    assert sum(report["faces"]["dealt_by_rank"].values()) == report["dealt"]
    assert sum(report["faces"]["left"].values()) == report["left"]
    assert report["ended"] == {
        "reason": ended.reason, "approved_by": None, "integrity": False, "withdrawn": False,
        "missing": [], "extra": [],
    }  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_as_many_cards_are_out_as_the_table_counts_and_no_face_is_told(seed: int) -> None:
    rng = random.Random(seed)
    play = Play(house(rng.choice(["live-casino", "classic"])))
    play.idle(" ".join(str(rng.choice(DECK)) for _ in range(6)))
    for _ in range(25):
        if play.state.phase is Phase.IDLE and not play.state.held:
            play.do(Kind.BETS_OPEN)
        play.scan(None if rng.random() < 0.1 else str(rng.choice(DECK)))
        if rng.random() < 0.4:
            play.wait(20)
        if rng.random() < 0.1:
            play.command(Kind.VOID)
        if rng.random() < 0.2:
            play.command(Kind.TURN)
        if play.state.held and rng.random() < 0.8:
            play.command(Kind.RELEASE, action=rng.choice(offered(play.state)))
        report = shoe_report(of_shoe(play.events), over=False)
        assert report["out"] == play.out and report["left"] == play.state.the_shoe.left
        assert report["kept"] >= len(play.state.loose)
        assert not NAME.search(json.dumps(report)) and "faces" not in report


BY: Any = {"approved_by": "Pia"}


MISREAD = "2C 9D 3H KS"
"""Banker's natural, and 7S behind it: the nine was a seven, and 7S the Player's third card."""


def excess(way: str = "", **dealing: Any) -> Play:
    play = Play(house(burn={"by": "none"}, dealing={"confirm": "automatic"} | dealing))
    play.round(MISREAD)
    play.scan("7S")
    if way:
        play.release(way)
    return play


def amended(play: Play) -> Play:
    play.do(Kind.AMEND, round="1/1", B1="7D", P3="7S")
    return play


def finished() -> Play:
    play = Play(house(burn={"by": "none"})).idle()
    play.do(Kind.CUT_CARD)
    play.round(MISREAD)
    assert play.state.phase is Phase.SHUFFLE_DUE
    return play


def held(cards: str) -> Play:
    """A hand of two cards, and then these under a hold; ``?``: it could not be read."""
    play = Play(house(burn={"by": "none"})).no_more_bets()
    play.deal("2S 3D")
    play.do(Kind.HOLD)
    for card in cards.split():
        play.scan(None if card == "?" else card)
    return play


def done(play: Play, kind: Kind, **args: str) -> Play:
    play.do(kind, **args)
    return play


ACCOUNTS: dict[str, tuple[Callable[[], Play], tuple[int, int, list[str], int]]] = {
    "excess is kept": (excess, (4, 0, ["7S"], 0)),
    "amended, it was kept": (lambda: amended(excess()), (5, 0, [], 0)),
    "excess is burned": (lambda: excess("burn"), (4, 1, [], 0)),
    "amended, it was burned": (lambda: amended(excess("burn")), (5, 0, [], 0)),
    "excess is reserved": (lambda: excess("next", overdraw="next"), (4, 0, ["7S"], 0)),
    "amended, it was reserved": (lambda: amended(excess("next", overdraw="next")), (5, 0, [], 0)),
    "amended in the next betting": (
        lambda: amended(done(excess("burn"), Kind.BETS_OPEN)),
        (5, 0, [], 0),
    ),
    "the shoe has ended": (finished, (4, 0, [], 0)),
    "amended, the shoe has ended": (lambda: amended(finished()), (5, 0, [], 0)),
    "two are kept": (lambda: held("4H ?"), (2, 0, ["4H", "?"], 1)),
    "their round is void": (lambda: done(held("4H ?"), Kind.VOID), (2, 0, ["4H", "?"], 1)),
    "one is named": (
        lambda: done(held("4H ?"), Kind.CORRECT, position="K2", card="QD"),
        (2, 0, ["4H", "QD"], 0),
    ),
    "they are moved": (
        lambda: done(held("4H 5C"), Kind.MOVE, position="K2", to="K1"),
        (2, 0, ["5C", "4H"], 0),
    ),
    "one is dropped": (lambda: done(held("4H 4H"), Kind.RELEASE, action="drop"), (2, 0, ["4H"], 0)),
    "one is of the hand": (lambda: done(held("4H"), Kind.MOVE, position="K1", to="B1"), (3, 0, [], 0)),
    "the hand is corrected": (lambda: done(held(""), Kind.CORRECT, position="P1", card="9S"), (2, 0, [], 0)),
    "a card was missed": (lambda: done(held(""), Kind.INSERT, position="P1", card="9S"), (3, 0, [], 0)),
}


@pytest.mark.parametrize("name", ACCOUNTS)
def test_a_card_is_counted_once_however_often_it_is_corrected(name: str) -> None:
    make, (dealt, burned, kept, unknown) = ACCOUNTS[name]
    play = make()
    in_play = shoe_report(of_shoe(play.events), over=False)
    assert not NAME.search(json.dumps(in_play)) and in_play["ended"] is None
    if play.state.phase is Phase.BETTING:
        play.do(Kind.HOLD)
    if play.state.shoe is not None:
        play.do(Kind.SHOE_END)
    report = shoe_report(of_shoe(play.events), over=True)
    counts = (dealt, burned, len(kept), unknown)
    for one in (in_play, report):
        assert (one["dealt"], one["burned"], one["kept"], one["unknown"]) == counts
        assert (one["out"], one["left"]) == (sum(counts[:3]), 416 - sum(counts[:3]))
    assert report["faces"]["kept"] == kept
    assert sum(report["faces"]["dealt_by_rank"].values()) == dealt
    assert (report["faces"]["left"] is None) == bool(unknown)


def test_a_shoe_that_cannot_be_right_says_so() -> None:
    play = held("4H")
    end = ev.ShoeEnded(
        shoe=1, reason="cards", rounds=1, dealt=3, burned=(), integrity=True, missing=("9D",), left=413
    )
    report = shoe_report([*of_shoe(play.events), end], over=True)
    assert report["ended"]["integrity"] is True and report["ended"]["missing"] == ["9D"]


def test_what_came_after_a_result_is_counted() -> None:
    play = Play(house())
    play.round("9S 2H KD 3C")
    before = ev.public_data(play.result())
    player = before["player"] | {"cards": ["8S", "KD", "AC"]}
    told = ev.RoundAmended(
        before=before,
        after=before | {"outcome": "tie", "player": player},
        reason="announcement",
        revision=2,
        **BY,
        **HERE,
    )
    void = ev.RoundVoided(reason="dispute", cards={}, earlier=True, **BY, **HERE)
    report = shoe_report(of_shoe([*play.events, told]), over=False)
    assert (report["results"], report["amended"], report["void"]) == ({"tie": 1}, 1, 0)
    report = shoe_report(of_shoe([*play.events, told, void]), over=False)
    assert (report["results"], report["amended"], report["void"]) == ({}, 1, 1)
    assert (report["dealt"], report["out"]) == (5, play.out + 1), "the Player's third card was not counted"


def test_a_shoe_taken_over_in_the_middle_says_so() -> None:
    play = Play().opened()
    play.do(Kind.SHOE_ADOPT, number="1", out="100", rounds="20")
    play.round("9S 2H KD 3C")
    report = shoe_report(of_shoe(play.events), over=False)
    assert (report["out"], report["dealt"], report["unknown"], report["left"]) == (104, 4, 100, 312)
    assert (report["rounds"], report["adopted"]["rounds"]) == (1, 20)


def test_no_events_are_no_error() -> None:
    assert shoe_report([], over=True)["out"] == 0
