"""How the scanner is: told from counters and a clock alone, and the whole way to the dealer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.cards import Card
from tablectl.clock import SECOND, Instant
from tablectl.health import REFUSED_FOR, Condition, Limits, Seen, Watch, card_due
from tablectl.table import Phase, State
from tablectl.table.state import Hold, Round

LIMITS = Limits()
AFTER = LIMITS.mute_after // SECOND


class Bench:
    """A scanner that is looked at once a second, as a table does it."""

    def __init__(self, limits: Limits = LIMITS, **seen: Any) -> None:
        self.seen = replace(Seen(up=True), **seen)
        self.watch = Watch(limits)
        self.now = 1_000 * SECOND
        self.begun: list[str] = []
        """Each alert when it begins, as the supervision tells it."""
        self.text = ""
        self._there: set[str] = set()
        self.look()

    def look(self) -> None:
        self.watch = self.watch.looked(self.seen, self.now)
        at = Instant(self.now, 0)
        there = {trouble.code: trouble.message for trouble in self.watch.alerts(self.seen, at)}
        self.begun += sorted(set(there) - self._there)
        self.text = next(iter(there.values()), "")
        self._there = set(there)

    def pass_time(self, seconds: int, **more: int) -> Bench:
        """Look each second; the counters named grow by so much each time."""
        for _ in range(seconds):
            self.now += SECOND
            self.seen = replace(self.seen, **{name: getattr(self.seen, name) + n for name, n in more.items()})
            self.look()
        return self

    def set(self, **seen: Any) -> Bench:
        self.seen = replace(self.seen, **seen)
        self.look()
        return self

    def condition(self) -> Condition:
        return self.watch.report(self.seen, self.now).condition

    @property
    def why(self) -> str:
        return self.watch.report(self.seen, self.now).why


# --- absent ------------------------------------------------------------------------------------------


def test_absent_says_why_at_once_and_raises_no_alert_of_its_own() -> None:
    bench = Bench(due=5).set(up=False, why="unplugged")
    assert (bench.condition(), bench.why) == (Condition.ABSENT, "unplugged")
    assert bench.pass_time(600).begun == []
    assert bench.set(up=True, why="").condition() is Condition.OK


def test_a_port_that_stays_refused_is_told_once_and_one_that_passes_is_not() -> None:
    bench = Bench().set(up=False, why="no permission", refused_since=1_000 * SECOND)
    bench.pass_time(REFUSED_FOR // SECOND - 1)
    assert bench.begun == []
    bench.pass_time(600)
    assert bench.begun == ["scanner-refused"] and "no permission" in bench.text


# --- mute --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grows", "words"),
    [
        ({}, "its line is silent"),
        ({"bytes": 3}, "baud rate, parity or driver"),
        ({"bytes": 9, "frames": 1}, "its mode, or the card table"),
    ],
    ids=["no bytes", "bytes but no frame", "frames but no card"],
)
def test_mute_tells_three_faults_apart_and_blames_nobody(grows: dict[str, int], words: str) -> None:
    bench = Bench().set(due=7).pass_time(AFTER - 1, **grows)
    assert bench.condition() is Condition.OK and bench.begun == []
    bench.pass_time(2, **grows)
    assert bench.condition() is Condition.MUTE and words in bench.why
    assert bench.begun == ["scanner-mute"]
    assert "No card drawn yet? Draw on." in bench.text
    bench.pass_time(600, **grows)
    assert bench.begun == ["scanner-mute"], "one alert, however long it lasts"


def test_a_card_ends_it_and_the_next_silence_is_another_one() -> None:
    bench = Bench().set(due=7).pass_time(AFTER)
    bench.set(cards=1, frames=1, bytes=12, due=8)
    assert bench.condition() is Condition.OK
    bench.pass_time(AFTER)
    assert bench.begun == ["scanner-mute"] * 2


@pytest.mark.parametrize("change", [{"due": None}, {"due": 8}, {"up": False}])
def test_whoever_acts_in_between_starts_the_wait_anew(change: dict[str, Any]) -> None:
    bench = Bench().set(due=7).pass_time(AFTER - 1).set(**change).set(due=9, up=True)
    bench.pass_time(AFTER - 1)
    assert bench.begun == [] and bench.condition() is Condition.OK
    bench.pass_time(1)
    assert bench.begun == ["scanner-mute"]


def test_a_machine_that_slept_is_no_silent_scanner() -> None:
    bench = Bench().set(due=7)
    bench.now += 3600 * SECOND
    bench.look()
    bench.pass_time(AFTER - 1)
    assert bench.begun == []
    bench.pass_time(1)
    assert bench.begun == ["scanner-mute"]


def test_nothing_is_mute_while_no_card_is_due() -> None:
    assert Bench().pass_time(3600).condition() is Condition.OK


@given(st.lists(st.integers(1, AFTER - 2), min_size=1, max_size=12))
def test_a_slow_dealer_within_the_limit_is_never_told(gaps: list[int]) -> None:
    bench = Bench().set(due=1)
    for n, gap in enumerate(gaps, start=1):
        bench.pass_time(gap).set(cards=n, frames=n, bytes=9 * n, due=n + 1)
    assert bench.begun == []


# --- when a card is due -------------------------------------------------------------------------------


def cards(text: str) -> tuple[Card, ...]:
    return tuple(map(Card.parse, text.split()))


HAND = Round(2, player=cards("2C KH"), banker=cards("3C KS"))
NATURAL = Round(2, player=cards("9C KH"), banker=cards("3C KS"))


@pytest.mark.parametrize(
    ("state", "due"),
    [
        (State(phase=Phase.BURNING, version=3), 3),
        (State(phase=Phase.NO_MORE_BETS, round=Round(2), version=3), 3),
        (State(phase=Phase.DEALING, round=HAND, version=3), 3),
        (State(phase=Phase.DEALING, round=HAND, version=3, holds=(Hold("called", "x"),)), None),
        (State(phase=Phase.DEALING, round=replace(HAND, turned=False), version=3), None),
        (State(phase=Phase.COMPLETE, round=NATURAL, version=3), None),
        (State(phase=Phase.BETTING, round=Round(2), version=3), None),
        (State(phase=Phase.IDLE, version=3), None),
        (State(phase=Phase.CLOSED, version=3), None),
    ],
)
def test_when_a_card_is_due(state: State, due: int | None) -> None:
    assert card_due(state) == due


def test_whether_four_hidden_cards_want_another_is_not_told() -> None:
    hidden = [
        State(phase=phase, round=replace(hand, turned=False), version=3)
        for phase, hand in ((Phase.DEALING, HAND), (Phase.COMPLETE, NATURAL))
    ]
    assert {card_due(state) for state in hidden} == {None}


# --- faulty -------------------------------------------------------------------------------------------


def test_faulty_above_rate_and_share_and_well_again_by_itself() -> None:
    bench = Bench().pass_time(9, rejects=1, frames=1)
    assert bench.condition() is Condition.OK
    bench.pass_time(1, rejects=1, frames=1)
    assert bench.condition() is Condition.FAULTY and bench.why == "10 of 20 messages could not be read"
    assert bench.begun == ["scanner-faulty"] and "window, its cable, the card table" in bench.text
    bench.pass_time(LIMITS.faulty_within // SECOND)
    assert bench.condition() is Condition.OK and bench.begun == ["scanner-faulty"]


def test_where_not_one_message_is_whole_the_line_is_named_and_neither_window_nor_card_table() -> None:
    bench = Bench().pass_time(12, rejects=1)
    assert bench.condition() is Condition.FAULTY and "baud rate, parity or driver" in bench.why
    assert bench.text.endswith("Look at its cable and baud rate.")


def test_a_few_rejects_among_many_messages_are_no_fault() -> None:
    assert Bench().pass_time(600, rejects=1, frames=9).condition() is Condition.OK


def test_one_reject_now_and_then_is_no_fault_though_nothing_else_comes() -> None:
    bench = Bench()
    for _ in range(60):
        bench.pass_time(59).pass_time(1, rejects=1)
    assert bench.begun == []


def test_at_the_limit_it_is_one_alert_and_not_one_a_minute() -> None:
    bench = Bench()
    for n in range(300):
        bench.pass_time(4 + n // 10 % 3).pass_time(1, rejects=1)  # twelve to nine in a minute
    assert bench.begun == ["scanner-faulty"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=200))
def test_it_remembers_no_more_than_the_latest_time(steps: list[tuple[int, int]]) -> None:
    bench = Bench()
    for frames, rejects in steps:
        bench.pass_time(1, frames=frames, rejects=rejects)
    assert len(bench.watch.counts) <= LIMITS.faulty_within // SECOND + 2
    bench.pass_time(2 * LIMITS.faulty_within // SECOND)
    assert bench.condition() is Condition.OK


# --- swapped, and what comes first ---------------------------------------------------------------------


def test_swapped_until_somebody_has_seen_it() -> None:
    bench = Bench().set(swapped=True)
    assert bench.condition() is Condition.SWAPPED and bench.begun == []
    assert bench.set(swapped=False).condition() is Condition.OK


def test_the_worst_is_told() -> None:
    bench = Bench(swapped=True).set(due=1).pass_time(AFTER)
    assert bench.condition() is Condition.MUTE
    bench.pass_time(10, rejects=1)
    assert bench.condition() is Condition.FAULTY
    assert bench.set(up=False).condition() is Condition.ABSENT
