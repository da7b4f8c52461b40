"""The core thread: numbers rows, answers after the commit, keeps time, and waits for nothing downstream."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

import pytest

from tablectl import answered as answered_module
from tablectl import core as core_module
from tablectl.answered import Answer
from tablectl.cards import Card
from tablectl.clock import SECOND, Instant
from tablectl.core import Core, Durable, Identity, Record
from tablectl.events import CommandRecorded, PinAttempted
from tablectl.journal.replay import replay
from tablectl.journal.rows import Row, decode_row
from tablectl.journal.writer import Batch, JournalWriter
from tablectl.scanner import Arrived, Label, Scan, ScannerRestored
from tablectl.service import LINGERS, Said
from tablectl.signals import Signals
from tablectl.table import Around, Command, Kind, Phase, Started, State, Trouble
from tests.table.playing import house

RULES = house("live-casino", burn={"by": "none"}, shoe={"inspection": False})


class Clock:
    """A clock in hand."""

    def __init__(self) -> None:
        self.boot = 1_000 * SECOND

    def __call__(self) -> Instant:
        return Instant(self.boot, 1_790_000_000 * SECOND + self.boot)


class Paper:
    """What the core uses of a journal's writer; everything is on paper at once."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []
        self.state: Literal["ok", "slow", "failing"] = "ok"
        self.depth = 0
        self.error = ""
        self.broken = False

    def put(self, batch: Batch) -> None:
        if self.broken:
            raise RuntimeError("the journal's thread has ended: this cannot be recorded")
        self.batches.append(batch)
        durable = batch.token
        assert isinstance(durable, Durable)
        if durable.reply is not None and durable.answer is not None:
            durable.reply(durable.answer)

    @property
    def rows(self) -> list[Row]:
        return [row for batch in self.batches for row in batch.rows]

    @property
    def types(self) -> list[str]:
        return [decode_row(row)[0].TYPE for row in self.rows]


class Beeps:
    def __init__(self) -> None:
        self.played: list[str] = []

    def play(self, pattern: str) -> None:
        self.played.append(pattern)


class Bench:
    """A core with everything around it in the test's hand."""

    def __init__(self, state: State | None = None) -> None:
        self.clock = Clock()
        self.paper = Paper()
        self.beeps = Beeps()
        self.crashes: list[BaseException] = []
        self.core = Core(
            state or State(),
            Identity("T07", "4f2a91", True),
            Around(RULES),
            cast(JournalWriter, self.paper),
            cast(Signals, self.beeps),
            self.crashes.append,
            clock=self.clock,
        )

    def command(self, kind: Kind, id: str = "", **args: str) -> Command:
        reason = "training: test"
        return Command(kind, self.clock(), id=id, args=args, person="Pia", supervisor=True, reason=reason)

    def ask(self, command: Command | Record) -> Answer:
        """Hand a command in and wait for its answer."""
        answers: list[Answer] = []
        got = threading.Event()

        def reply(answer: Answer) -> None:
            answers.append(answer)
            got.set()

        assert self.core.offer(command, reply)
        assert got.wait(5)
        return answers[0]

    def until_type(self, name: str) -> None:
        end = time.monotonic() + 5
        while name not in self.paper.types:
            assert time.monotonic() < end, f"no {name}: {self.paper.types}"
            time.sleep(0.005)

    def betting(self) -> None:
        """A table with betting open."""
        self.core.put(Started(self.clock(), "0"))
        self.core.put(ScannerRestored("shoe", self.clock()))
        for command in (
            self.command(Kind.OPEN),
            self.command(Kind.SIGN_IN, name="Dora", pickup="left"),
            self.command(Kind.SHOE_NEW),
            self.command(Kind.BETS_OPEN),
        ):
            answer = self.ask(command)
            assert answer.accepted, answer


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    made.core.start()
    yield made
    made.core.stop()
    assert not made.crashes, made.crashes


def test_rows_are_numbered_without_gaps_and_public_ones_carry_the_sequence(bench: Bench) -> None:
    bench.betting()
    rows = bench.paper.rows
    assert [row.row for row in rows] == list(range(1, len(rows) + 1))
    public = [row for row in rows if row.public is not None]
    assert [row.sequence for row in public] == list(range(1, len(public) + 1))
    assert all((row.sequence is None) == (row.public is None) for row in rows)
    body = json.loads(public[-1].public or b"")
    assert body["id"] == f"T07-4f2a91-{len(public):012d}"
    assert body["tabletest"] is True
    assert body["type"] == "tablectl.betting.opened.v1"


def test_journal_replays_to_the_state_that_was_published(bench: Bench) -> None:
    bench.betting()
    published = cast(Durable, bench.paper.batches[-1].token).state
    assert replay((row.row, decode_row(row)[0]) for row in bench.paper.rows) == published
    assert published.phase is Phase.BETTING


def test_rows_that_do_not_follow_are_no_state(bench: Bench) -> None:
    bench.betting()
    rows = [(row.row, decode_row(row)[0]) for row in bench.paper.rows]
    with pytest.raises(ValueError, match="row 3 follows row 1"):
        replay([rows[0], *rows[2:]])


def test_bytes_of_a_scan_are_kept_with_its_row(bench: Bench) -> None:
    bench.betting()
    bench.core.put(Arrived(Scan(Card.parse("8S"), Label.NONE, b"1080\r"), bench.clock()))
    bench.until_type("scan.kept")
    assert bench.paper.rows[bench.paper.types.index("scan.kept")].raw == b"1080\r"


def test_betting_closes_on_its_deadline_with_nobody_telling_the_time(bench: Bench) -> None:
    bench.betting()
    bench.clock.boot += 20 * SECOND
    bench.until_type("betting.closed")
    closed = decode_row(bench.paper.rows[bench.paper.types.index("betting.closed")])[0]
    assert closed.reason == "timer"  # type: ignore[attr-defined]
    assert "close" in bench.beeps.played


def test_a_clock_that_slept_closes_at_once_and_says_so(bench: Bench) -> None:
    bench.betting()
    bench.clock.boot += 300 * SECOND
    bench.until_type("betting.closed")
    assert bench.paper.types.count("betting.closed") == 1
    closed = decode_row(bench.paper.rows[bench.paper.types.index("betting.closed")])[0]
    assert closed.reason == "suspended"  # type: ignore[attr-defined]


def test_same_id_is_answered_the_same_and_done_once(bench: Bench) -> None:
    bench.betting()
    first = bench.ask(bench.command(Kind.HOLD, "id-1", text="look"))
    before = len(bench.paper.rows)
    assert bench.ask(bench.command(Kind.HOLD, "id-1", text="look")) == first
    assert len(bench.paper.rows) == before


def test_answer_of_a_repeated_command_waits_behind_the_first_ones_commit(bench: Bench) -> None:
    """A repetition goes through the journal's queue: nobody is told of what is not durable yet."""
    bench.betting()
    bench.ask(bench.command(Kind.HOLD, "id-1"))
    bench.ask(bench.command(Kind.HOLD, "id-1"))
    assert bench.paper.batches[-1].rows == ()
    assert cast(Durable, bench.paper.batches[-1].token).answer is not None


def test_answers_survive_a_restart_through_the_journal(bench: Bench) -> None:
    bench.betting()
    first = bench.ask(bench.command(Kind.HOLD, "id-1"))
    refused = bench.ask(bench.command(Kind.OPEN, "id-2"))
    assert (first.accepted, refused.accepted) == (True, False)
    events = [(row.row, decode_row(row)[0]) for row in bench.paper.rows]
    again = Bench(replay(events))
    for number, event in events:
        if isinstance(event, CommandRecorded):
            at = replay(events[:number])
            again.core.remember(event, at.where, at.version)
    again.core.start()
    assert again.ask(again.command(Kind.HOLD, "id-1")) == first
    assert again.ask(again.command(Kind.OPEN, "id-2")) == refused
    again.core.stop()
    assert again.paper.rows == []


@pytest.mark.parametrize("change", ["kind", "args", "person"])
@pytest.mark.parametrize("restarted", [False, True])
def test_an_id_stands_for_one_command_of_one_person(bench: Bench, change: str, restarted: bool) -> None:
    """To call another command accepted would be a lie: it is refused, written down, and changes nothing."""
    bench.betting()
    first = bench.command(Kind.HOLD, "id-1", text="look")
    answer = bench.ask(first)
    if restarted:
        bench.core.stop()
        events = [(row.row, decode_row(row)[0]) for row in bench.paper.rows]
        state = replay(events)
        bench.core = Bench(state).core
        bench.core._writer = cast(JournalWriter, bench.paper)
        recorded = events[-1][1]
        assert isinstance(recorded, CommandRecorded)
        bench.core.remember(recorded, state.where, state.version)
        bench.core.start()
    other = {
        "kind": replace(first, kind=Kind.ACK),
        "args": replace(first, args={"text": "look again"}),
        "person": replace(first, person="Bo"),
    }[change]
    before = bench.paper.types
    refused = bench.ask(other)
    assert not refused.accepted
    assert "this id was used for another command (id-1)" in refused.text
    assert bench.paper.types == [*before, "command.recorded"]
    recorded = decode_row(bench.paper.rows[-1])[0]
    assert isinstance(recorded, CommandRecorded)
    assert (recorded.id, recorded.accepted, recorded.person) == ("", False, other.person)
    assert bench.ask(first) == answer, "the id is still the first one's"


def test_only_so_many_answers_are_remembered(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answered_module, "ANSWERS", 3)
    bench.betting()
    for i in range(5):
        bench.ask(bench.command(Kind.ACK, f"id-{i}", alert="none"))
    before = len(bench.paper.rows)
    bench.ask(bench.command(Kind.ACK, "id-4", alert="none"))
    assert len(bench.paper.rows) == before
    bench.ask(bench.command(Kind.ACK, "id-0", alert="none"))
    assert len(bench.paper.rows) == before + 1


@pytest.mark.parametrize(("state", "depth"), [("slow", 0), ("failing", 0), ("ok", 7_500)])
def test_no_betting_opens_on_a_journal_that_cannot_keep_up(
    bench: Bench, state: Literal["slow", "failing", "ok"], depth: int
) -> None:
    bench.core.put(Started(bench.clock(), "0"))
    bench.core.put(ScannerRestored("shoe", bench.clock()))
    bench.ask(bench.command(Kind.OPEN))
    bench.ask(bench.command(Kind.SIGN_IN, name="Dora", pickup="left"))
    bench.ask(bench.command(Kind.SHOE_NEW))
    bench.paper.state, bench.paper.depth, bench.paper.error = state, depth, "disk full" * (state == "failing")
    answer = bench.ask(bench.command(Kind.BETS_OPEN))
    assert not answer.accepted
    assert ("The journal cannot keep up" if depth else "the journal is not safe") in answer.text
    bench.paper.state, bench.paper.depth, bench.paper.error = "ok", 0, ""
    assert bench.ask(bench.command(Kind.BETS_OPEN)).accepted, "recovers without a restart"


def test_private_records_are_rows_of_their_own(bench: Bench) -> None:
    bench.core.put(Record(PinAttempted(person="mallory", good=False, uid=1000), bench.clock()))
    bench.until_type("pin.attempted")
    assert bench.paper.rows[-1].public is None
    assert bench.paper.rows[-1].sequence is None


def test_a_command_that_is_not_the_tables_is_recorded_where_it_stands_and_answered_once(bench: Bench) -> None:
    bench.betting()
    event = CommandRecorded(
        id="d-1", command="delivery retry", args={}, person="Pia", supervisor=True, uid=1, accepted=True,
        answer="asked again", reason="mended",
    )  # fmt: skip
    answers = [bench.ask(Record(event, bench.clock())) for _ in range(2)]
    assert answers[0] == answers[1] == Answer(True, "asked again", "1/1", answers[0].version)
    assert bench.paper.types[-2:] == ["command.recorded"] * 2, "bets open, and this one once"
    assert decode_row(bench.paper.rows[-1])[0] == replace(event, shoe=1, round=1)
    assert not bench.ask(bench.command(Kind.HOLD, "d-1")).accepted


def test_trouble_is_raised_once(bench: Bench) -> None:
    for _ in range(5):
        bench.core.put(Trouble(bench.clock(), "beeper", "The beeper cannot be heard."))
    bench.ask(bench.command(Kind.ACK, alert="beeper"))
    assert bench.paper.types.count("alert.raised") == 1


def test_full_inbox_refuses_commands_and_keeps_scans_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_module, "INBOX", 5)
    bench = Bench()
    for _ in range(5):
        assert bench.core.offer(bench.command(Kind.OPEN))
    assert not bench.core.offer(bench.command(Kind.OPEN))
    bench.core.start()
    for _ in range(50):
        bench.core.put(Trouble(bench.clock(), "t", "t"))  # waits for room, and is not lost
    assert bench.core.stop()
    assert bench.paper.types.count("command.recorded") == 5
    assert bench.paper.types.count("alert.raised") == 1


def test_what_has_come_is_decided_before_the_end() -> None:
    bench = Bench()
    for _ in range(100):
        bench.core.put(bench.command(Kind.HOLD))
    bench.core.start()
    assert bench.core.stop()
    assert bench.paper.types.count("command.recorded") == 100


def test_the_threads_end_is_told_with_its_reason() -> None:
    bench = Bench()
    bench.paper.broken = True
    bench.core.start()
    bench.core.put(bench.command(Kind.OPEN))
    end = time.monotonic() + 5
    while not bench.crashes:
        assert time.monotonic() < end
        time.sleep(0.005)
    assert "cannot be recorded" in str(bench.crashes[0])


def test_last_words_are_kept() -> None:
    said = Said(keep=3)
    said.add(("a", "b"), 1, 0)
    said.add(("c", "d"), 1, 0)
    assert said.last(1, 0) == ["b", "c", "d"]


def test_a_word_goes_once_the_table_has_gone_on_and_people_could_read_it() -> None:
    said = Said()
    said.add(("a",), 7, 0)
    assert said.last(7, 3600 * SECOND) == ["a"], "the table stands as it stood"
    assert said.last(8, LINGERS - 1) == ["a"], "just said"
    assert said.last(8, LINGERS) == []
    said.add(("b",), 8, LINGERS)
    assert said.last(8, LINGERS) == ["b"]


def test_the_same_words_over_and_over_are_there_once_as_the_latest() -> None:
    said = Said(keep=3)
    said.add(("b",), 1, 0)
    for moment in range(1000):
        said.add(("a",), moment, moment)
    said.add(("c",), 1000, 1000)
    assert said.last(1000, 1000) == ["b", "a", "c"]
    assert said.last(1000, 1000 + LINGERS) == ["c"]
