"""A round looked back at: everything a dispute needs is there, and no hidden face before its time."""

from __future__ import annotations

import json
import os
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablectl import events as ev
from tablectl.cards import DECK, Position
from tablectl.journal.rows import Row
from tablectl.past.explain import explain
from tablectl.past.round_faces import FACE
from tablectl.past.round_view import INTEGRITY, round_view
from tablectl.table import Kind, Phase, offered
from tests.past_rows import entries_of, rows_of
from tests.table.playing import Play, house

SOAK = "TABLECTL_SOAK" in os.environ
HERE: Any = {"shoe": 1, "round": 1}
NAME = re.compile(r"(?<![A-Za-z0-9])[A2-9TJQK][SHDC](?![A-Za-z0-9])")


def shown(view: dict[str, Any]) -> set[str]:
    """Every face in a view, those in bytes too: a scan's bytes are the card's name here."""
    text = json.dumps(view)
    for raw in re.findall(r"(?:[0-9a-f]{2} )*[0-9a-f]{2}", text):
        text += " " + bytes.fromhex(raw).decode("latin-1") + " "
    return set(NAME.findall(text))


def public(events: list[ev.Event]) -> set[str]:
    return {face for e in events if e.PUBLIC for face in NAME.findall(json.dumps(ev.public_data(e)))}


def recorded(command: str, *, accepted: bool = True, **args: str) -> ev.CommandRecorded:
    answer = f"{command} {' '.join(args.values())}"
    who: Any = {"id": "c", "command": command, "args": args, "person": "Pia", "supervisor": True, "uid": 1000}
    came: Any = {"accepted": accepted, "answer": answer, "reason": f"misread: {' '.join(args.values())}"}
    return ev.CommandRecorded(**who, **came, saw_round="1/1", saw_version=7, **HERE)


# --- no hidden face ---------------------------------------------------------------------------------------


@pytest.mark.soak
@settings(max_examples=400 if SOAK else 12, deadline=None)
@given(st.integers(0, 2**32))
def test_no_round_of_a_real_table_shows_a_face_that_was_not_published(seed: int) -> None:
    """Every card of this play is another one; whatever goes wrong, what was not public is not shown."""
    rng = random.Random(seed)
    play = Play(house(rng.choice(["live-casino", "classic"]), burn={"by": "none"}))
    play.idle()
    cards = [str(card) for card in DECK]
    rng.shuffle(cards)
    cards, typed = cards[:30], cards[30:]
    raws: list[bytes] = [b""] * len(play.events)
    for card in cards:
        if play.state.phase is Phase.IDLE and not play.state.held:
            play.do(Kind.BETS_OPEN)
        if rng.random() < 0.6:
            play.wait(20)
        if rng.random() < 0.15:
            play.command(Kind.HOLD, text="look")
        if rng.random() < 0.3:
            play.command(Kind.TURN)
        for _ in range(rng.randrange(3) if typed and play.state.held else 0):
            places = ["P1", "B1", "P2", "B2", "P3", "K1", "K2"]
            kind = rng.choice([Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER])
            play.command(kind, position=rng.choice(places), to=rng.choice(places), card=typed[-1])
            typed.pop()
            if not typed:
                break
        raws += [b""] * (len(play.events) - len(raws))
        face = None if rng.random() < 0.05 else card
        play.scan(face)
        raws += [(face or "?").encode()] * (len(play.events) - len(raws))
        if play.state.held and rng.random() < 0.7:
            play.command(Kind.RELEASE, action=rng.choice(offered(play.state)))
        elif play.state.held and rng.random() < 0.3:
            play.command(Kind.VOID)
        raws += [b""] * (len(play.events) - len(raws))
        rows = rows_of(play.events, raws)
        known = public(play.events)
        for number in {e.round for e in play.events if e.round and e.shoe == 1}:
            own = [row for row, e in zip(rows, play.events, strict=True) if (e.shoe, e.round) == (1, number)]
            assert shown(round_view(own, shoe_over=False)) <= known


class Story:
    """A round in which everything happens to cards that never come twice; events made by hand."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.faces = [str(card) for card in rng.sample(DECK, 52)]
        self.down = rng.random() < 0.5
        self.hand: list[str] = []
        self.kept: list[str] = []
        self.events: list[ev.Event] = []
        self.raws: list[bytes] = []

    def add(self, event: ev.Event, raw: str = "") -> None:
        self.events.append(event)
        self.raws.append(raw.encode())

    def laid(self) -> dict[str, str]:
        return {p.value: face for p, face in zip(Position, self.hand, strict=False)}

    def deal(self) -> None:
        if len(self.hand) == 6:
            return
        kept = bool(self.kept) and self.rng.random() < 0.5
        face = self.kept.pop(0) if kept else self.faces.pop()
        self.hand.append(face)
        where: Any = {"position": list(Position)[len(self.hand) - 1], "kept": kept, **HERE}
        faces: Any = {"face": face} if self.down else {"card": face}
        self.add(ev.CardDealt(**where, **faces), "" if kept else face)

    def keep(self) -> None:
        self.kept.append(self.faces.pop())
        self.add(ev.ScanKept(card=self.kept[-1], label="", code="called", **HERE), self.kept[-1])
        saw = {"label": "none", "bytes": self.kept[-1].encode().hex(" ")}
        self.add(ev.TableHeld(codes=("called",), message="held", code="called", saw=saw, **HERE))

    def name(self) -> None:
        if self.kept:
            place = self.rng.randrange(len(self.kept))
            before, card = self.kept[place], self.faces.pop()
            self.kept[place] = card
            self.add(ev.KeptNamed(place=place + 1, before=before, card=card, approved_by="Pia", **HERE))
            self.add(recorded("correct", position=f"K{place + 1}", card=card))

    def move(self) -> None:
        if len(self.kept) > 1:
            self.kept.insert(0, self.kept.pop())
            self.add(ev.KeptMoved(place=len(self.kept), to=1, approved_by="Pia", **HERE))
            self.add(recorded("move", position=f"K{len(self.kept)}", to="K1"))

    def drop(self) -> None:
        if self.kept:
            self.kept.pop()
            self.add(ev.CardDropped(approved_by="Pia", **HERE))

    def burn(self) -> None:
        self.kept.clear()
        self.add(ev.TableReleased(action="burn", reason="dealing", approved_by="Pia", **HERE))

    def reserve(self) -> None:
        self.kept.clear()
        self.add(ev.CardsReserved(approved_by="Pia", **HERE))

    def refuse(self) -> None:
        face, position = self.faces.pop(), self.rng.choice(["P1", "B2", "K1"])
        command = self.rng.choice(["correct", "insert", "enter"])
        self.add(recorded(command, accepted=False, position=position, card=face))
        self.add(recorded("amend", accepted=False, round="1/1", P1=face, B1="none"))

    def rescan(self) -> None:
        self.add(ev.CardRescanned(card=self.faces[0], label="", **HERE), self.faces[0])

    def correct(self) -> None:
        """One card set right, or one inserted: then the last one of the hand is kept."""
        if not self.hand:
            return
        before, card = self.laid(), self.faces.pop()
        at, how = self.rng.randrange(len(self.hand)), self.rng.choice(["correct", "insert"])
        if how == "correct":
            self.hand[at] = card
        else:
            self.hand.insert(at, card)
            self.kept.append(self.hand.pop())
        laid = self.laid()
        down = self.down
        hidden: Any = {"player": tuple(self.hand[0::2]), "banker": tuple(self.hand[1::2]), "how": how}
        self.add(
            ev.HandCorrected(
                before=dict.fromkeys(before, "?") if down else before,
                after=dict.fromkeys(laid, "?") if down else laid,
                reason="misread",
                approved_by="Pia",
                kept=tuple(self.kept),
                **hidden,
                **HERE,
            )
        )
        self.add(recorded(how, position=list(Position)[at].value, card=card))

    def turn(self) -> None:
        if self.down:
            self.down = False
            player, banker = tuple(self.hand[0::2]), tuple(self.hand[1::2])
            self.add(ev.HandTurned(player=player, banker=banker, next="none", **HERE))

    def void(self) -> None:
        cards = dict.fromkeys(self.laid(), "?") if self.down else self.laid()
        faces = self.laid() if self.down else None
        self.add(ev.RoundVoided(reason="cards", cards=cards, approved_by="Pia", faces=faces, **HERE))


STEPS = ("keep", "name", "move", "drop", "burn", "reserve", "refuse", "rescan", "correct", "turn")


@pytest.mark.soak
@settings(max_examples=4000 if SOAK else 60, deadline=None)
@given(st.integers(0, 2**32))
def test_no_story_of_corrections_shows_a_face_that_was_not_published(seed: int) -> None:
    rng = random.Random(seed)
    story = Story(rng)
    for _ in range(rng.randrange(3, 14)):
        getattr(story, rng.choice(["deal", "deal", "deal", *STEPS]))()
    if rng.random() < 0.5:
        story.void()
    rows = rows_of(story.events, story.raws)
    assert shown(round_view(rows, shoe_over=False)) <= public(story.events)
    settled = any(isinstance(event, ev.RoundVoided) for event in story.events)
    if settled:
        told = explain(None, entries_of(rows), lambda raw: [raw.decode()], over=False)
        assert shown(told) <= public(story.events)
    over = shown(round_view(rows, shoe_over=True))
    everything = {e.card for e in story.events if isinstance(e, ev.ScanKept | ev.CardRescanned)}
    everything |= {e.face or e.card for e in story.events if isinstance(e, ev.CardDealt)}
    assert over >= everything, "after the shoe all may be known"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("K1 is QD", "K1 is ?"), ("the same as before", "the same as before"), ("qd, 10h; TS", "?, ?; ?"),
        ("AS", "?"), ("P1=8S", "P1=?"), ("12/34 P1 B2", "12/34 P1 B2"), ("8sx 28S", "8sx 28S"),
    ],
)  # fmt: skip
def test_cards_in_words_are_blotted_out(text: str, left: str) -> None:
    assert FACE.sub("?", text) == left


# --- all that a dispute needs ---------------------------------------------------------------------------


def test_everything_about_a_round_is_there() -> None:
    story = Story(random.Random(1))
    story.down = False
    for step in ("deal", "deal", "deal", "deal", "keep", "name", "correct", "drop", "refuse"):
        getattr(story, step)()
    story.add(ev.TableReleased(action="resume", reason="dealing", approved_by="Pia", **HERE))
    amended = {"P1": story.faces[0], "B1": story.faces[1]}
    result: dict[str, Any] = {"outcome": "player"}
    result |= {"player": {"cards": [amended["P1"]]}, "banker": {"cards": [amended["B1"]]}}
    story.add(
        ev.RoundAmended(
            before=result, after=result | {"revision": 2}, reason="announcement", approved_by="Bo",
            revision=2, **HERE,
        )
    )  # fmt: skip
    story.add(ev.RoundVoided(reason="dispute", cards=story.laid(), approved_by="Bo", earlier=True, **HERE))
    view = round_view(rows_of(story.events, story.raws), shoe_over=True, integrity=True)
    assert (view["shoe"], view["round"], view["flag"]) == (1, 1, INTEGRITY)
    assert view["hand"] == amended
    assert [card["position"] for card in view["cards"]] == ["P1", "B1", "P2", "B2"]
    (correction,) = view["corrections"]
    assert (correction["approved_by"], correction["reason"]) == ("Pia", "misread")
    assert correction["after"] == story.laid() and correction["before"] != correction["after"]
    assert any(note["text"].startswith("K1 named: ") for note in view["notes"])
    assert view["amendments"][0]["before"] == result and view["void"]["earlier"] is True
    assert view["holds"][0]["saw"]["label"] == "none"
    assert view["releases"][0]["approved_by"] == "Pia"
    command = view["commands"][0]
    assert {k: command[k] for k in ("person", "uid", "saw_round", "saw_version")} == {
        "person": "Pia", "uid": 1000, "saw_round": "1/1", "saw_version": 7,
    }  # fmt: skip


@pytest.mark.parametrize("down", [False, True])
def test_a_hand_that_people_told_card_by_card_is_seen_as_soon_as_it_lies_open(down: bool) -> None:
    """The scanner was dead, and no card was dealt by it."""
    dealing = {"deal": "face-down" if down else "face-up", "confirm": "dealer"}
    play = Play(house(burn={"by": "none"}, dealing=dealing)).no_more_bets()
    play.do(Kind.HOLD)
    hand = {"P1": "9S", "B1": "2H", "P2": "KD", "B2": "3C"}
    for place, card in hand.items():
        play.do(Kind.INSERT, position=place, card=card)
    view = round_view(
        [row for row, e in zip(rows_of(play.events), play.events, strict=True) if e.round == 1],
        shoe_over=False,
    )
    assert view["hand"] == ({} if down else hand)


def test_a_correction_of_a_turned_hand_is_shown_with_its_command() -> None:
    story = Story(random.Random(2))
    story.down = False
    for step in ("deal", "deal", "correct"):
        getattr(story, step)()
    view = round_view(rows_of(story.events, story.raws), shoe_over=False)
    (command,) = view["commands"]
    assert command["args"]["card"] in story.hand + story.kept


def test_a_command_that_ended_the_round_is_shown_too() -> None:
    rows: list[Row] = rows_of([recorded("confirm")])
    (command,) = round_view([], shoe_over=False, commands=rows)["commands"]
    assert command["command"] == "confirm"
