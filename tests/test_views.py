"""What is shown to those at the table never tells a hidden face: not in a state, not in a round."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tablectl.cards import Card, Position
from tablectl.clock import Instant
from tablectl.events import (
    CardDealt,
    Event,
    HandTurned,
    RoundVoided,
    ScanKept,
    TableReleased,
    private_body,
    public_body,
)
from tablectl.journal.rows import Row
from tablectl.past.round_view import round_view
from tablectl.table import Phase, State
from tablectl.table.holds import HOLDS
from tablectl.table.state import Hold, Loose, Round
from tablectl.views import state_view

AT = Instant(1, 1_796_000_000_000_000_000)
HERE: Any = {"shoe": 1, "round": 2}


def rows(*events: Event) -> list[Row]:
    made = []
    for n, event in enumerate(events, start=1):
        body = (
            public_body(event, table="T", epoch="e", sequence=n, at=AT, test=True) if event.PUBLIC else None
        )
        made.append(Row(n, n if event.PUBLIC else None, body, private_body(event, AT), b"raw QD"))
    return made


def kept(card: str | None, code: str = "card-early") -> ScanKept:
    return ScanKept(card=card, label="none", code=code, **HERE)


def dealt(card: str, *, kept: bool, shown: bool = True) -> CardDealt:
    face = None if shown else card
    return CardDealt(position=Position.P1, card=card if shown else None, face=face, kept=kept, **HERE)


def released(action: str) -> TableReleased:
    return TableReleased(action=action, reason="x", approved_by="Pia", **HERE)


TURNED = HandTurned(player=("QD", "2S"), banker=("3S", "4S"), next="none", **HERE)
VOIDED = RoundVoided(reason="x", cards={}, approved_by="Pia", **HERE)


@pytest.mark.parametrize("code", HOLDS)
@pytest.mark.parametrize("phase", Phase)
def test_state_shows_how_many_cards_are_kept_and_no_face(code: str, phase: Phase) -> None:
    """Whatever the hold is called: each of them may yet be burned."""
    loose = tuple(Loose(card, "none", code) for card in (Card.parse("QD"), None))
    state = State(phase=phase, holds=(Hold(code, "held"),), loose=loose, round=Round(2))
    view = state_view(state, AT)
    assert view["kept"] == ["?", "?"]
    assert "QD" not in json.dumps(view)


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        ((kept("QD"),), []),
        ((kept("QD"), released("burn")), []),
        ((kept("QD"), VOIDED), []),
        ((kept("QD"), dealt("QD", kept=True)), ["QD"]),
        ((kept("QD"), dealt("5S", kept=False)), []),
        ((kept("QD"), kept("5S"), dealt("QD", kept=True)), ["QD"]),
        ((kept("QD"), released("burn"), kept("5S"), dealt("5S", kept=True)), ["5S"]),
        ((kept("QD"), dealt("QD", kept=True, shown=False)), []),
        ((kept("QD"), dealt("QD", kept=True, shown=False), VOIDED), []),
        ((kept("QD"), dealt("QD", kept=True, shown=False), TURNED), ["QD"]),
    ],
)
def test_round_shows_a_kept_card_once_it_lies_in_a_turned_hand(
    events: tuple[Event, ...], shown: list[str]
) -> None:
    view = round_view(rows(*events), shoe_over=False)
    assert [card["card"] for card in view["kept"] if "card" in card] == shown
    assert [card["card"] for card in view["kept"] if "raw" in card] == shown
    assert [card["code"] for card in view["kept"]] == ["card-early"] * len(view["kept"])
    over = round_view(rows(*events), shoe_over=True)
    assert all(card["card"] and card["raw"] for card in over["kept"]), "after the shoe all may be seen"


def test_bytes_of_a_face_down_card_are_shown_once_it_is_turned() -> None:
    one = dealt("QD", kept=False, shown=False)
    assert "raw" not in round_view(rows(one), shoe_over=False)["cards"][0]
    assert "QD" not in json.dumps(round_view(rows(one, VOIDED), shoe_over=False))
    assert round_view(rows(one, TURNED), shoe_over=False)["cards"][0]["raw"]


@pytest.mark.parametrize("second", ["9S", "2S"], ids=["natural", "another card is due"])
def test_phase_does_not_tell_whether_four_face_down_cards_are_a_natural(second: str) -> None:
    player, banker = tuple(map(Card.parse, ("KD", second))), tuple(map(Card.parse, ("2C", "3C")))
    hand = Round(2, player=player, banker=banker, turned=False)
    phase = Phase.DEALING if hand.due else Phase.COMPLETE
    hidden = state_view(State(phase=phase, round=hand), AT)
    assert hidden["phase"] == "dealing"
    shown = state_view(State(phase=phase, round=Round(2, player=player, banker=banker)), AT)
    assert shown["phase"] == phase.value
    other = Round(2, player=banker, banker=player, turned=False)
    assert state_view(State(phase=Phase.DEALING, round=other), AT) == hidden
