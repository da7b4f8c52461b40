"""A recording played on a pure table: from the burn on, or as if betting had just closed."""

from __future__ import annotations

import pytest
from tablectl_drivers.angel_eye_encoder import Encoder

from tablectl.cards import Card, Outcome
from tablectl.house import HouseRules
from tablectl.plugins import load_driver
from tablectl.profiles import load_rules
from tablectl.scanner import DeviceEvent, DeviceKind, Item, Label, Scan, Traits
from tablectl.technician.capture import Piece, decoded
from tablectl.technician.rehearsal import Rehearsal, Step, burns_at_begin
from tests.recordings import captures, read
from tests.table.playing import ANGEL_EYE, house

S = 10**9


def scan(text: str) -> Scan:
    label, _, card = text.rpartition("=")
    return Scan(Card.parse(card), Label(label), b"x")


def played(
    texts: str, traits: Traits = Traits(), rules: HouseRules | None = None, burns: int = 0
) -> list[Step]:
    table = Rehearsal(rules or house(), traits, burns=burns)
    return [table.play(i * S, scan(text)) for i, text in enumerate(texts.split())]


def test_a_hand_is_dealt_and_the_next_begins_by_itself() -> None:
    steps = played("2C 9D 3H KS 7S KH 8D QC 3H 6S")
    assert "round.resulted" in steps[3].events
    assert any("Banker wins" in text for text in steps[3].said)
    assert [step.where for step in steps[4:6]] == ["1/2", "1/2"]
    assert "round.resulted" in steps[9].events
    assert not any(step.holds for step in steps)


@pytest.mark.parametrize("before", [["standby"], ["start"], ["start", "standby"], []])
def test_what_a_shoe_says_before_its_first_card_is_said_between_rounds(before: list[str]) -> None:
    """The first message of all may follow a lost card: in a hand it would hold, here there is none yet."""
    shoe = Encoder(seq=4)
    frames = [getattr(shoe, name)() for name in before]
    for text in ["P1=2C", "B1=9D", "P2=3H", "B2=KS"]:
        label, _, card = text.partition("=")
        frames.append(shoe.card(Label(label), Card.parse(card)))
    pieces = [Piece(i * S, frame) for i, frame in enumerate(frames)]
    driver = load_driver("angel-eye")
    table = Rehearsal(load_rules("classic"), driver.traits({}), burns=0)
    steps = [table.play(at, item) for at, item in decoded(pieces, driver.decoder({}))]
    assert len(steps) == len(before) + 4 and not any(step.holds for step in steps)
    assert "round.resulted" in steps[-1].events or steps[-1].phase == "complete"


def test_leading_burn_cards_are_those_of_a_new_shoe() -> None:
    items: list[Item] = [
        DeviceEvent(DeviceKind.STARTED, b""),
        *map(scan, ["burn=4C", "burn=KD", "P1=8S", "burn=2S"]),
    ]
    assert burns_at_begin(items) == 2
    assert burns_at_begin([]) == 0
    steps = played("burn=4C burn=KD P1=8S B1=TH", ANGEL_EYE, burns=2)
    assert [step.events for step in steps[:2]] == [("card.burned",), ("card.burned",)]
    assert steps[3].where == "1/1" and not any(step.holds for step in steps)


def test_what_a_table_would_hold_for_is_told_once() -> None:
    steps = played("P1=8S B2=TH P2=AC", ANGEL_EYE)
    assert [bool(step.holds) for step in steps] == [False, True, False]


def test_every_house_and_every_recording_can_be_rehearsed() -> None:
    for name in ("live-casino", "classic", "commission-free", "atlantic-city"):
        for path in captures():
            recording = read(path)
            driver = load_driver(recording.header.driver)
            items = list(decoded(recording.pieces, driver.decoder(recording.header.settings)))
            traits = driver.traits(recording.header.settings)
            table = Rehearsal(load_rules(name), traits, burns=burns_at_begin([item for _, item in items]))
            steps = [table.play(at, item) for at, item in items]
            assert any("card.dealt" in step.events for step in steps), (name, path.stem)


def test_the_shoes_own_verdict_ends_a_round() -> None:
    table = Rehearsal(load_rules("live-casino"), ANGEL_EYE, burns=0)
    for i, text in enumerate(["P1=2C", "B1=9D", "P2=3H", "B2=KS"]):
        table.play(i * S, scan(text))
    step = table.play(5 * S, DeviceEvent(DeviceKind.VERDICT, b"", outcome=Outcome.BANKER))
    assert "round.resulted" in step.events
