"""What must not be seen outside: burn faces until the shoe has ended, face-down cards until turned."""

from __future__ import annotations

import os
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import DECK, Outcome
from tablectl.scanner import DeviceKind
from tablectl.table import Kind, Phase, offered
from tests.table.playing import ANGEL_EYE, NATURAL, Play, Recorded, house

FACE = re.compile(r"(?<![A-Za-z0-9])[A23456789TJQK][SHDC](?![A-Za-z0-9])")


def faces(events: list[ev.Event]) -> list[str]:
    """Every card face in the public data of ``events``."""
    return [face for e in events if e.PUBLIC for face in FACE.findall(repr(ev.public_data(e)))]


def down() -> Play:
    return Play(house("classic"))


# --- face down ------------------------------------------------------------------------------------------


@pytest.mark.soak
@settings(max_examples=1000 if "TABLECTL_SOAK" in os.environ else 60, deadline=None)
@given(st.lists(st.sampled_from(DECK), min_size=6, max_size=6, unique=True), st.booleans())
def test_nothing_of_the_faces_is_public_before_they_are_turned(cards: list[object], disturb: bool) -> None:
    play = down()
    play.no_more_bets()
    begun = len(play.events)
    said: list[str] = []
    for card in cards[:4]:
        play.scan(str(card))
        said += play.said
    if disturb:
        play.device(DeviceKind.ERROR, number=4, text="jam")
        said += play.said
        play.scan(str(cards[4]))
        said += play.said
        assert len(play.state.loose) == 1
        play.release("burn")
        said += play.said
        play.release("cards-confirmed")
        said += play.said
    assert faces(play.events[begun:]) == []
    dealt = [ev.public_data(e) for e in play.events[begun:] if isinstance(e, ev.CardDealt)]
    assert [set(data) for data in dealt] == [{"shoe", "round", "position", "source"}] * 4
    assert not any(FACE.search(text) or re.search(r"Player \d|draws|no more", text) for text in said)
    play.do(Kind.TURN)
    turned = play.of(ev.HandTurned)[-1]
    assert [*turned.player, *turned.banker] == [str(cards[i]) for i in (0, 2, 1, 3)]
    if play.state.phase is Phase.DEALING:
        assert turned.next in ("player", "banker")
        play.scan(str(cards[5]))
        shown = ev.public_data(play.of(ev.CardDealt)[-1])
        assert shown["card"] == str(cards[5]) and {"points", "total", "next"} <= set(shown)
    else:
        assert turned.next == "none" and play.of(ev.RoundResulted)


def test_turning_waits_for_four_cards_and_is_done_once() -> None:
    play = down()
    play.no_more_bets()
    play.deal("2S KD 3S")
    assert "four cards" in play.refused(Kind.TURN)
    play.scan("6H")
    play.do(Kind.TURN)
    assert play.said == ["Player 5, Banker 6: Player draws"]
    assert "face up already" in play.refused(Kind.TURN)


def test_no_result_before_the_cards_are_turned() -> None:
    play = Play(house("classic", dealing={"confirm": "dealer"}))
    play.no_more_bets()
    play.deal(NATURAL)
    assert play.stands(Phase.COMPLETE)
    assert "first: turn" in play.refused(Kind.CONFIRM)
    play.do(Kind.TURN)
    play.do(Kind.CONFIRM)
    assert play.result().outcome == "player"


@pytest.mark.parametrize("outcome", ["player", "banker"])
def test_the_shoes_verdict_before_turning_tells_nothing(outcome: str) -> None:
    play = Play(house("classic", dealing={"confirm": "shoe"}), ANGEL_EYE)
    play.no_more_bets()
    play.deal_labelled("P1=9S B1=2H P2=KD")
    play.deal_labelled("B2=3C")
    begun = len(play.events)
    play.verdict(Outcome(outcome))
    assert [e for e in play.events[begun:] if e.PUBLIC] == [] and play.stands(Phase.COMPLETE)
    play.do(Kind.TURN)
    play.verdict(Outcome(outcome))
    assert bool(play.of(ev.RoundResulted)) is (outcome == "player")
    assert play.codes == ([] if outcome == "player" else ["shoe-disagrees"])


def test_face_up_is_shown_at_once() -> None:
    play = Play()
    play.no_more_bets()
    play.scan("8S")
    assert ev.public_data(play.of(ev.CardDealt)[-1])["card"] == "8S"


# --- burn faces --------------------------------------------------------------------------------------------


def secret_faces_seen(events: list[ev.Event]) -> list[str]:
    """Public faces that are no card of a hand on the table, before their shoe has ended."""
    shown: list[str] = []
    for event in events:
        if not event.PUBLIC or isinstance(
            event, ev.CardDealt | ev.HandTurned | ev.RoundResulted | ev.RoundVoided | ev.ShoeEnded
        ):
            continue
        shown += faces([event])
    return shown


@pytest.mark.parametrize("profile", ["live-casino", "classic", "atlantic-city"])
def test_whole_shoes_show_no_burn_card_before_the_end(profile: str) -> None:
    simulation = Recorded(house(profile), "secrets")
    simulation.play_shoe()
    seen = simulation.events
    assert secret_faces_seen(seen) == []
    for event in seen:
        if isinstance(event, ev.CardBurned):
            assert event.card is not None
            assert set(ev.public_data(event)) == {"shoe", "reason", "left", "shoe_left"}
    (ended,) = [e for e in seen if isinstance(e, ev.ShoeEnded)]
    assert list(ended.burned) == [e.card for e in seen if isinstance(e, ev.CardBurned)]


@pytest.mark.soak
@settings(max_examples=400 if "TABLECTL_SOAK" in os.environ else 30, deadline=None)
@given(st.integers(0, 2**32))
def test_cards_that_become_burn_cards_are_never_named(seed: int) -> None:
    """Cards come at the wrong moment, again and again; every one is burned in the end."""
    rng = random.Random(seed)
    play = Play(house(rng.choice(["live-casino", "classic"])))
    play.idle(" ".join(str(rng.choice(DECK)) for _ in range(6)))
    for _ in range(12):
        if play.state.phase is Phase.IDLE and not play.state.held:
            if rng.random() < 0.3:
                play.do(Kind.BURN, count="2")
            elif rng.random() < 0.7:
                play.do(Kind.BETS_OPEN)
        play.scan(None if rng.random() < 0.1 else str(rng.choice(DECK)))
        if rng.random() < 0.3:
            play.wait(20)
        if play.state.held and "burn" in offered(play.state):
            play.release("burn")
    assert secret_faces_seen(play.events) == []


def test_factory_order_in_the_burns_is_told_without_faces() -> None:
    play = Play()
    play.idle(" ".join(str(card) for card in DECK[:6]))
    assert play.of(ev.AlertRaised) and secret_faces_seen(play.events) == []
