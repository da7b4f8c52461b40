"""The server's own end of betting: the first of four, whatever order things come in, and it stays ended."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.cards import Position
from tablectl.clock import iso
from tablectl.events import (
    BettingClosed,
    BettingOpened,
    CardDealt,
    Event,
    RoundVoided,
    ShoeStarted,
    TableClosed,
    TableOpened,
)
from tablectl.gameserver.intake import Intake
from tablectl.gameserver.store import Store
from tests.gameserver.posting import EPOCH, NOW, SECRET, Request, body


class Table:
    """An intake with both its clocks in the test's hand (s since the start)."""

    def __init__(self, path: Path | str) -> None:
        self.monotonic = self.wall = 0.0
        self.sequence = 0
        self.store = Store(Path(path))
        self.intake = Intake(
            self.store,
            [SECRET],
            clock=lambda: int((NOW + self.wall) * 1e9),
            monotonic=lambda: 5_000 + self.monotonic,
        )

    def tell(self, *events: Event, **options: Any) -> int:
        first = self.sequence + 1
        bodies = [body(first + i, event) for i, event in enumerate(events)]
        request = Request(bodies, at=int(NOW + self.wall), **options)
        reply = self.intake.take("T07", request.headers["Content-Type"], request.headers, request.content)
        if reply.status == 200:
            self.sequence += len(events)
        return reply.status

    def passes(self, seconds: float, *, wall: float | None = None) -> None:
        self.monotonic += seconds
        self.wall += seconds if wall is None else wall

    @property
    def why(self) -> str:
        """What closed the window; "" while it is open."""
        found = self.intake.betting("T07")
        assert found["open"] == (not found["why"])
        return str(found["why"])

    def opened(self, seconds: float = 10, closes_in: float = 10, round: int = 7) -> BettingOpened:
        at = int((NOW + self.wall + closes_in) * 1e9)
        return BettingOpened(shoe=1, round=round, seconds=seconds, closes_at=iso(at))


CLOSED = BettingClosed(shoe=1, round=7, reason="timer", closed_at=iso(NOW * 10**9))
VOID = RoundVoided(shoe=1, round=7, reason="x", cards={}, approved_by="Ann")


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path / "s.db")


def test_the_tables_word_closes_it(table: Table) -> None:
    assert table.why == "no betting.opened since the start"
    table.tell(table.opened())
    assert table.why == ""
    table.tell(BettingClosed(shoe=1, round=6, reason="timer", closed_at=iso(NOW * 10**9)))
    assert table.why == "", "of another round"
    table.tell(CLOSED)
    assert table.why == "betting.closed"


def test_a_void_closes_it_too(table: Table) -> None:
    table.tell(table.opened())
    table.tell(VOID)
    assert table.why == "round.voided"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (CardDealt(shoe=1, round=7, position=Position.P1), "card.dealt"),
        (TableClosed(), "table.closed"),
        (ShoeStarted(shoe=2, decks=8, rules={}, rules_hash="x"), "shoe.started"),
    ],
)
def test_what_there_is_not_while_betting_is_open_closes_it(table: Table, told: Event, why: str) -> None:
    """A controller that forgot its ``betting.closed``; and nothing opens that round again."""
    table.tell(table.opened(60, 60))
    assert table.tell(told) == 200
    assert table.why == why
    assert table.tell(TableOpened(rules="x", currency="USD", limits={}, max_winnings={})) == 200
    assert table.why == why
    assert table.tell(table.opened(60, 60)) == 200
    assert table.why == why, "it was opened before"


def test_a_round_that_was_opened_or_has_an_end_opens_nothing(table: Table) -> None:
    table.tell(table.opened(10, 10))
    table.passes(5)
    table.tell(table.opened(60, 60))
    table.passes(5.1)
    assert table.why == "seconds", "told again it grows no window"
    table.tell(table.opened(60, 60, round=6))
    assert table.why == "seconds", "of an earlier round"
    table.tell(RoundVoided(shoe=1, round=8, reason="x", cards={}, approved_by="Ann"))
    table.tell(table.opened(60, 60, round=8))
    assert table.why == "seconds", "of a round that is void"
    table.tell(table.opened(60, 60, round=9))
    assert table.why == ""


@pytest.mark.parametrize(
    ("seconds", "closes_in", "wall", "why"),
    [(10, 30, None, "seconds"), (30, 10, None, "closes_at"), (10, 10, -3600.0, "seconds")],
)
def test_time_closes_it(table: Table, seconds: float, closes_in: float, wall: float | None, why: str) -> None:
    table.tell(table.opened(seconds, closes_in))
    table.passes(9.9, wall=wall)
    assert table.why == ""
    table.passes(0.2)
    assert table.why == why
    table.passes(-0.0, wall=-3600)
    assert table.why == why, "a clock that is set back opens nothing again"


def test_silence_closes_it_and_a_probe_is_a_word(table: Table) -> None:
    table.tell(table.opened(60, 60))
    for _ in range(3):
        table.passes(14.9)
        assert table.tell() == 200  # the probe
        assert table.why == ""
    table.passes(15.1)
    assert table.tell() == 200
    assert table.why == "silence", "a word that comes too late opens nothing again"
    table.tell(BettingClosed(shoe=1, round=6, reason="timer", closed_at=iso(NOW * 10**9)))
    assert table.why == "silence", "of another round"


@pytest.mark.parametrize("told", [CLOSED, VOID, TableClosed()])
def test_a_silence_is_over_when_the_table_tells_the_end(table: Table, told: Event) -> None:
    table.tell(table.opened(60, 60))
    table.passes(15.1)
    assert table.why == "silence"
    assert table.tell(told) == 200
    why = table.why
    assert why == told.TYPE.removeprefix("tablectl.").removesuffix(".v1")
    table.passes(60)
    assert table.tell(CLOSED) == 200 and table.why == why, "the first word of the end stands"


def test_who_is_not_this_tables_controller_breaks_no_silence(table: Table) -> None:
    table.tell(table.opened(60, 60))
    table.passes(14.9)
    assert table.tell(epoch="bbbbbb") == 403
    assert table.tell(secret="whsec_" + "A" * 43 + "=") == 401
    table.passes(0.2)
    assert table.why == "silence"


def test_another_history_that_was_accepted_closes_it(table: Table) -> None:
    table.tell(table.opened(60, 60))
    assert table.tell(epoch="bbbbbb") == 403
    assert table.why == ""
    for epoch in ("bbbbbb", EPOCH):
        table.store.accept_epoch("T07", epoch)
        assert table.tell(epoch=epoch) == 200
        assert table.why == "another history", "and nothing opens it again"


@pytest.mark.parametrize("taken_before", [False, True])
def test_what_is_not_kept_in_the_end_moves_no_window(table: Table, taken_before: bool) -> None:
    """Over NATS several messages are one commit: one that fails takes what came before it along."""
    if taken_before:
        table.tell(table.opened(60, 60))
        sent, why = body(2, CLOSED), ""
    else:
        sent, why = body(1, table.opened(60, 60)), "no betting.opened since the start"
    for fails in (True, False):
        with contextlib.suppress(OSError), table.store.transaction():
            assert table.intake.take_message("T07", sent).status == 200
            if fails:
                raise OSError("the disk is full")
        if fails:
            assert table.why == why
    assert table.why == ("betting.closed" if taken_before else ""), "and what is kept does"


def test_a_part_that_is_taken_back_takes_its_own_work_along_only(table: Table) -> None:
    done: list[int] = []
    with table.store.transaction():
        table.store.then(lambda: done.append(1))
        with contextlib.suppress(OSError), table.store.transaction():
            table.store.then(lambda: done.append(2))
            raise OSError
        with table.store.transaction():
            table.store.then(lambda: done.append(3))
        assert done == []
    assert done == [1, 3]


def test_one_that_comes_after_its_end_opens_nothing(table: Table) -> None:
    table.tell(table.opened(10, -1))
    assert table.why == "closes_at"
    table.tell(table.opened(10, 10, round=8), BettingClosed(shoe=1, round=8, reason="command", closed_at="x"))
    assert table.why == "betting.closed"


def test_sent_again_it_opens_nothing_again(table: Table) -> None:
    opening = table.opened()
    table.tell(opening)
    table.passes(11)
    assert table.why == "seconds"
    table.sequence -= 1
    assert table.tell(opening) == 200
    assert table.why == "seconds"


@pytest.mark.parametrize("closes_at", ["", "soon", "2026-99-99T00:00:00Z", "9" * 400, "2099-01-01T00:00:00"])
def test_what_cannot_be_read_opens_nothing(table: Table, closes_at: str) -> None:
    table.tell(BettingOpened(shoe=1, round=7, seconds=10, closes_at=closes_at))
    assert table.why != ""


@given(st.lists(st.tuples(st.sampled_from(["word", "wait", "close"]), st.floats(0, 20)), max_size=8))
def test_the_first_of_the_four_and_never_open_again(steps: list[tuple[str, float]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Path(folder) / "g.db")
        table.tell(table.opened(30, 25))
        heard = now = 0.0
        ended = False
        for what, seconds in steps:
            now += seconds
            table.passes(seconds)
            ended = ended or now >= 25 or now - heard >= 15
            if what == "word":
                table.tell()
                heard = now
            elif what == "close":
                table.tell(CLOSED)
                heard, ended = now, True
            assert (table.why != "") == ended
