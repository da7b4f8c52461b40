"""The scripted dealer does what a careful dealer would, seen from a table and a shoe made of paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tablectl.cards import Card, Outcome
from tablectl.demo.scripted_dealer import PitBoss, ScriptedDealer
from tablectl.emulation import Drawn
from tablectl.local import NotReachable
from tablectl.table.reasons import problem


class Enough(Exception):
    """The dealer has looked as often as the test wants."""


class Table:
    """Answers with one state; ``commands`` is what it was told. ``out_of_reach`` times it does not answer."""

    def __init__(self, **state: Any) -> None:
        self.now: dict[str, Any] = {
            "row": 1,
            "version": 7,
            "acked": 0,
            "phase": "idle",
            "where": "1/-",
            "round": None,
            "shoe": {"number": 1, "out": 10, "left": 406, "cut": False},
            "holds": [],
            "ways": [],
            "kept": [],
            "dealer": "demo",
            "unread": 0,
            "step_lost": False,
            "scanner": {"up": True},
        } | state
        self.commands: list[dict[str, Any]] = []
        self.accepts = True
        self.out_of_reach = 0
        self.looks = -1
        self.between: dict[str, Any] = {}
        """What becomes so before the last look."""
        self.sees_cards = True

    def state(self, newer: int | None = None) -> dict[str, Any]:
        if newer is None:
            if self.looks == 0:
                raise Enough
            self.looks -= 1
            if self.looks == 0:
                self.now |= self.between
        if self.out_of_reach:
            self.out_of_reach -= 1
            raise NotReachable("gone")
        if newer is not None and self.sees_cards and self.now["shoe"]:
            self.now["row"] += 1
            self.now["shoe"] = self.now["shoe"] | {"out": self.now["shoe"]["out"] + 1}
        return dict(self.now)

    def command(self, command: dict[str, Any]) -> tuple[bool, str]:
        if self.out_of_reach:
            self.out_of_reach -= 1
            raise NotReachable("gone")
        self.commands.append(command)
        self.now["row"] += 1
        return self.accepts, "done" if self.accepts else "refused"

    @property
    def said(self) -> list[str]:
        return [command["command"] for command in self.commands]


class Box:
    """A shoe; ``None`` in ``cards`` is the cutting card."""

    device = "box"

    def __init__(self, *cards: str | None) -> None:
        self.cards = list(cards)
        self.did: list[str] = []

    def load(self, cards: Sequence[Card], cutting_cards: Sequence[int] = ()) -> None:
        self.did.append(f"load {len(cards)} cut {list(cutting_cards)}")

    def draw(self, burn: bool = False) -> Drawn | None:
        self.did.append("burn" if burn else "draw")
        if not self.cards:
            return None
        card = self.cards.pop(0)
        return Drawn(None if card is None else Card.parse(card))

    def press_result(self, outcome: Outcome | None = None) -> None:
        self.did.append("press")

    def standby(self) -> None:
        self.did.append("standby")

    def force_end(self) -> None: ...
    def lock(self, locked: bool) -> None: ...
    def restart(self) -> None: ...
    def hang_up(self) -> None: ...
    def plug_in(self) -> None: ...
    def flush(self) -> None: ...
    def close(self) -> None: ...

    @property
    def left(self) -> int:
        return len(self.cards)


def round_(number: int = 3, **cards: str) -> dict[str, Any]:
    return {"number": number, "face_down": 0, "cards": cards}


def turns(table: Table, box: Box, looks: int = 1, **options: Any) -> ScriptedDealer:
    """A dealer who looked so many times."""
    table.looks = looks
    dealer = ScriptedDealer(table, box, PitBoss("pit", "1234"), seed=1, **options)
    with pytest.raises(Enough):
        dealer.play(10)
    return dealer


@pytest.mark.parametrize(
    ("state", "says"),
    [
        ({"phase": "closed", "shoe": None, "where": "-"}, ["open"]),
        ({"phase": "no shoe", "shoe": None, "dealer": None}, ["sign-in"]),
        ({"phase": "no shoe", "shoe": None}, ["shoe new"]),
        ({"phase": "shuffle due", "shoe": None}, ["shoe new"]),
        ({"phase": "idle"}, ["bets open"]),
        ({"phase": "betting", "where": "1/3", "round": round_()}, []),
        ({"phase": "complete", "where": "1/3", "round": round_()}, ["confirm"]),
        ({"phase": "dealing", "where": "1/3", "round": round_() | {"face_down": 4}}, ["turn"]),
        ({"phase": "idle", "scanner": {"up": False}}, []),
    ],
)
def test_does_what_comes_next(state: dict[str, Any], says: list[str]) -> None:
    table = Table(**state)
    turns(table, Box("8S"))
    assert table.said == says


def test_confirms_what_was_seen() -> None:
    table = Table(phase="complete", where="1/3", round=round_())
    turns(table, Box())
    assert table.commands[0]["expect"] == {"version": 7}


def test_presses_the_shoes_button_once_and_then_confirms_by_hand() -> None:
    table = Table(phase="complete", where="1/3", round=round_())
    box = Box()
    turns(table, box, looks=2, presses_result=True)
    assert box.did == ["press"]
    assert table.said == ["confirm"]


def test_shoe_out_of_step_is_not_asked() -> None:
    table = Table(phase="complete", where="1/3", round=round_(), step_lost=True)
    box = Box()
    turns(table, box, presses_result=True)
    assert box.did == []
    assert table.said == ["confirm"]


@pytest.mark.parametrize("phase", ["no shoe", "shuffle due"])
def test_a_shoe_that_wants_a_count_first_gets_it(phase: str) -> None:
    table = Table(phase=phase, shoe=None)
    table.accepts = False
    turns(table, Box())
    assert table.said == ["shoe new", "shoe inspect"]
    count = table.commands[1]
    assert (count["person"], count["expect"]) == ("pit", {"version": 7})
    assert problem(count["reason"]) is None


def test_burn_cards_are_drawn_as_such() -> None:
    box = Box("8S")
    turns(Table(phase="burning"), box)
    assert box.did == ["burn"]


def test_shoe_is_made_ready_after_each_hand() -> None:
    table = Table(phase="dealing", where="1/3", round=round_())
    box = Box("8S", "9S")
    table.between = {"phase": "idle", "where": "1/-", "round": None}
    turns(table, box, looks=2)
    assert box.did == ["draw", "standby"]


# --- the cutting card ------------------------------------------------------------------------------------


def test_announces_the_cutting_card_where_the_shoe_does_not() -> None:
    table = Table(phase="dealing", where="1/3", round=round_())
    box = Box(None, "8S")
    turns(table, box, announces_cut=True)
    assert table.said == ["cut-card"]
    assert box.did == ["draw", "draw"]


def test_leaves_it_to_a_shoe_that_does() -> None:
    table = Table(phase="dealing", where="1/3", round=round_())
    table.now["shoe"]["cut"] = True
    turns(table, Box(None, "8S", "9S"), looks=2)
    assert table.said == []


@pytest.mark.parametrize("announces", [True, False])
def test_announces_it_again_when_it_did_not_get_through(announces: bool) -> None:
    """The controller was away when it came out: it lies on the table for all to see."""
    table = Table(phase="dealing", where="1/3", round=round_())
    box = Box(None, "8S", "9S")
    original = box.draw

    def draw(burn: bool = False) -> Drawn | None:
        drawn = original(burn)
        if drawn and drawn.cutting_card:
            table.out_of_reach = 1  # the next call fails
        return drawn

    box.draw = draw  # type: ignore[method-assign]
    turns(table, box, looks=2, announces_cut=announces)
    assert table.said == ["cut-card"]


# --- trouble -----------------------------------------------------------------------------------------------


def test_card_that_was_not_read_is_no_card_of_the_hand() -> None:
    table = Table(phase="dealing", where="1/3", round=round_())
    table.sees_cards = False
    original = table.state

    def state(newer: int | None = None) -> dict[str, Any]:
        if newer is not None:
            table.now["unread"] = 1
        return original(newer)

    table.state = state  # type: ignore[method-assign]
    box = Box("8S", "9S")
    turns(table, box)
    assert table.said == ["hold"]
    assert box.did == ["draw"], "and no other takes its place"


def test_no_card_is_drawn_until_the_hold_for_one_that_was_not_read_is_taken() -> None:
    table = Table(phase="dealing", where="1/3", round=round_(), unread=0)
    table.sees_cards = table.accepts = False
    original = table.state

    def state(newer: int | None = None) -> dict[str, Any]:
        table.now["unread"] += newer is not None
        return original(newer)

    table.state = state  # type: ignore[method-assign]
    box = Box("8S", "9S")
    turns(table, box, looks=4)
    assert table.said == ["hold"] * 4 and box.did == ["draw"]


def held(*ways: str, **state: Any) -> Table:
    given = {"phase": "dealing", "where": "1/3", "round": round_()} | state
    return Table(
        holds=[{"code": "x", "message": "x"}], ways=[{"action": w, "text": w} for w in ways], **given
    )


@pytest.mark.parametrize(
    ("table", "does"),
    [
        (held("as-p1", "void"), ("release", {"action": "as-p1"})),
        (held("cards-confirmed", "void"), ("release", {"action": "cards-confirmed"})),
        (held("cards-confirmed", "void", round=round_(P1="8S")), ("void", {})),
        (held("accept", "void"), ("release", {"action": "accept"})),
        (held("accept", "void", kept=["?"]), ("void", {})),
        (held("burn", round=None, where="1/-"), ("release", {"action": "burn"})),
        (held("resume", round=None, where="1/-"), ("release", {"action": "resume"})),
        (held("shoe end", round=None, where="1/-"), ("shoe end", {})),
        (held("void", phase="betting"), None),
        (held("void", scanner={"up": False}), None),
        (held(), None),
    ],
)
def test_takes_a_way_out_that_fits_what_lies_on_the_table(
    table: Table, does: tuple[str, dict[str, str]] | None
) -> None:
    turns(table, Box())
    assert [(c["command"], c["args"]) for c in table.commands] == ([does] if does else [])
    for command in table.commands:
        assert (command["person"], command["pin"], command["expect"]) == ("pit", "1234", {"version": 7})
        assert problem(command["reason"]) is None


def test_screen_is_compared_with_the_cards_in_the_order_they_were_laid() -> None:
    table = Table(phase="dealing", where="1/3", round=round_())
    box = Box("8S", "9H")
    table.between = {
        "holds": [{"code": "restart", "message": "x"}],
        "ways": [{"action": "cards-confirmed", "text": "x"}, {"action": "void", "text": "x"}],
        "round": round_(P1="8S"),
        "kept": ["?"],
    }
    turns(table, box, looks=3)
    assert table.said == ["release"]


def test_controller_that_is_away_is_waited_for() -> None:
    table = Table(phase="closed", shoe=None, where="-")
    table.out_of_reach = 2
    turns(table, Box(), looks=3)
    assert table.said == ["open"]


@pytest.mark.parametrize(("pause", "said"), [(0.5, []), (0.1, ["hold"])])
def test_at_a_persons_pace_a_slow_machine_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, pause: float, said: list[str]
) -> None:
    table, now = Table(phase="dealing", where="1/3", round=round_()), [0.0]
    table.sees_cards = False
    original = table.state

    def state(newer: int | None = None) -> dict[str, Any]:
        if newer is not None:
            now[0] += 1.0
            table.sees_cards = now[0] > 3.0
        return original(newer)

    monkeypatch.setattr("tablectl.demo.scripted_dealer.time.monotonic", lambda: now[0])
    monkeypatch.setattr("tablectl.demo.scripted_dealer.time.sleep", lambda _: None)
    table.state = state  # type: ignore[method-assign]
    turns(table, Box("8S", "9S"), pause=pause)
    assert table.said == said


def test_table_that_stands_still_is_given_up_with_the_reason() -> None:
    table = held()
    dealer = ScriptedDealer(table, Box(), PitBoss("pit", "1234"), seed=1, patience=0.05)
    table.sees_cards = False
    with pytest.raises(TimeoutError, match=r"stands still in phase dealing\. x"):
        dealer.play(1)


def test_table_that_only_refuses_is_given_up_where_that_is_wanted() -> None:
    """Each refused command is a new row: the rows go on, the table does not."""
    table = Table(phase="idle")
    table.accepts = False
    dealer = ScriptedDealer(table, Box(), PitBoss("pit", "1234"), seed=1, patience=9, stuck=0.02)
    with pytest.raises(TimeoutError, match=r"stands still in phase idle\. refused"):
        dealer.play(1)
    assert table.now["row"] > 3
    turns(table, Box(), looks=30, patience=9)  # else it goes on trying


def test_daemon_that_stays_away_is_given_up_where_that_is_wanted() -> None:
    table = Table()
    table.out_of_reach = 1000
    dealer = ScriptedDealer(table, Box(), PitBoss("pit", "1234"), seed=1, stuck=0.02)
    with pytest.raises(TimeoutError, match="cannot be reached: gone"):
        dealer.play(1)


def test_refusals_are_remembered_but_not_for_ever() -> None:
    table = Table(phase="complete", where="1/3", round=round_())
    table.accepts = False
    dealer = turns(table, Box(), looks=60)
    assert dealer.ledger.refusals == ["refused"] * 50


def test_same_seed_shuffles_the_same_shoe() -> None:
    loaded: list[list[Card]] = []

    class Watched(Box):
        def load(self, cards: Sequence[Card], cutting_cards: Sequence[int] = ()) -> None:
            loaded.append(list(cards))
            assert list(cutting_cards) == [364]

    for _ in range(2):
        turns(Table(phase="no shoe", shoe=None), Watched())
    assert loaded[0] == loaded[1]
    assert len(loaded[0]) == 416
