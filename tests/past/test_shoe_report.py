"""The report on a shoe: every card is counted once, and while it is in play no face is told."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
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


def card(face: str, **fields: Any) -> ev.CardDealt:
    return ev.CardDealt(position="P1", card=face, **{**HERE, **fields})  # type: ignore[arg-type]


def kept(face: str | None) -> ev.ScanKept:
    return ev.ScanKept(card=face, label="", code="called", **HERE)


def corrected(player: tuple[str, ...], kept: tuple[str, ...] = ()) -> ev.HandCorrected:
    return ev.HandCorrected(
        before={}, after={}, reason="misread", approved_by="Pia", player=player, kept=kept, **HERE
    )


BY: Any = {"approved_by": "Pia"}


@pytest.mark.parametrize(
    ("events", "dealt", "kept_", "unknown"),
    [
        ([card("2S"), corrected(("3S",))], ["3S"], [], 0),
        ([card("2S"), corrected(("3S", "2S"))], ["3S", "2S"], [], 0),
        ([card("2S"), corrected(("3S",), ("2S",))], ["3S"], ["2S"], 0),
        ([kept("2S"), kept(None)], [], ["2S", "?"], 1),
        ([kept(None), ev.KeptNamed(place=1, before=None, card="QD", **BY, **HERE)], [], ["QD"], 0),
        ([kept("2S"), kept("2S"), ev.CardDropped(**BY, **HERE)], [], ["2S"], 0),
        ([kept("2S"), kept("3S"), ev.KeptMoved(place=2, to=1, **BY, **HERE)], [], ["3S", "2S"], 0),
        ([kept("2S"), card("2S", kept=True)], ["2S"], [], 0),
        ([kept("2S"), ev.CardsReserved(**BY, **HERE), card("2S", reserved=True)], ["2S"], [], 0),
        ([kept("2S"), ev.CardsReserved(**BY, **HERE)], [], ["2S"], 0),
        ([kept("2S"), ev.FreeHandOrdered(**BY, boot=1), corrected(("3S",))], ["3S"], ["2S"], 0),
    ],
)
def test_a_card_is_counted_once_however_often_it_is_corrected(
    events: list[ev.Event], dealt: list[str], kept_: list[str], unknown: int
) -> None:
    started = ev.ShoeStarted(shoe=1, decks=1, rules={"name": "x"}, rules_hash="")
    ended = ev.ShoeEnded(
        shoe=1, reason="cards", rounds=0, dealt=0, burned=(), integrity=True, missing=("9D",)
    )
    report = shoe_report([started, *events, ended], over=True)
    assert (report["dealt"], report["kept"], report["unknown"]) == (len(dealt), len(kept_), unknown)
    assert report["faces"]["kept"] == kept_
    assert report["left"] == 52 - len(dealt) - len(kept_)
    assert (report["faces"]["left"] is None) == bool(unknown)
    assert report["ended"]["integrity"] is True and report["ended"]["missing"] == ["9D"]
    in_play = shoe_report([started, *events], over=False)
    assert not NAME.search(json.dumps(in_play)) and in_play["ended"] is None


def test_what_came_after_a_result_is_counted() -> None:
    play = Play(house())
    play.round("9S 2H KD 3C")
    before = ev.public_data(play.result())
    player = before["player"] | {"cards": ["8S", "KD", "AC"]}
    amended = ev.RoundAmended(
        before=before,
        after=before | {"outcome": "tie", "player": player},
        reason="announcement",
        revision=2,
        **BY,
        **HERE,
    )
    void = ev.RoundVoided(reason="dispute", cards={}, earlier=True, **BY, **HERE)
    report = shoe_report(of_shoe([*play.events, amended]), over=False)
    assert (report["results"], report["amended"], report["void"]) == ({"tie": 1}, 1, 0)
    report = shoe_report(of_shoe([*play.events, amended, void]), over=False)
    assert (report["results"], report["amended"], report["void"]) == ({}, 1, 1)
    assert (report["dealt"], report["out"]) == (5, play.out + 1), "the Player's third card was not counted"


def test_a_shoe_taken_over_in_the_middle_says_so() -> None:
    adopted = {"out": 100, "rounds": 20, "last_hand": False}
    started = ev.ShoeStarted(shoe=1, decks=8, rules={"name": "x"}, rules_hash="", adopted=adopted)
    report = shoe_report([started, card("2S")], over=False)
    assert (report["out"], report["unknown"], report["left"]) == (101, 100, 416 - 101)


def test_no_events_are_no_error() -> None:
    assert shoe_report([], over=True)["out"] == 0
