"""A start reads the journal from the last shoe's start on, believes no row unchecked, and names a bad one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablectl.cards import Position
from tablectl.clock import Instant
from tablectl.config import load_config
from tablectl.events import (
    CardDealt,
    CommandRecorded,
    ControllerStarted,
    Event,
    HandTurned,
    PinAttempted,
    ShoeStarted,
    private_body,
    public_body,
)
from tablectl.journal import Journal, JournalFault, JournalUnavailable, Row, decode_row
from tablectl.journal import replay as replay_module
from tablectl.journal.replay import Answered, replay, replay_journal
from tablectl.table.checkpoint import before
from tests.api.test_app import CARDS, Bench
from tests.journals import fill

WALL = 1_796_000_000_000_000_000


def append(journal: Journal, *events: Event) -> None:
    """Rows of these events behind the last."""
    row, sequence = journal.last()
    rows = []
    for event in events:
        row, at, body, number = row + 1, Instant(row, WALL + row), None, None
        if event.PUBLIC:
            sequence += 1
            number = sequence
            body = public_body(event, table="T07", epoch="e", sequence=sequence, at=at, test=True)
        rows.append(Row(row, number, body, private_body(event, at)))
    journal.append(rows)


def command(id_: str, **fields: Any) -> CommandRecorded:
    return CommandRecorded(
        id=id_, command="hold", args={}, person=None, supervisor=False, uid=0, accepted=True, answer="a",
        **fields,
    )  # fmt: skip


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal.open(tmp_path / "T07.db", "T07")
    yield made
    made.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The journal of a table that played two shoes, with a restart and an alert, in the middle of a hand."""
    path = tmp_path_factory.mktemp("played") / "E2E.db"
    with Bench("bee-tek") as rig:  # burn cards, inspection and pips too
        rig.do("open")
        rig.do("sign-in", name="Dora", pickup="left")
        for _ in range(2):
            rig.do("shoe inspect", supervised=True, method="by-hand")
            rig.new_shoe("AS " + CARDS * 3)
            rig.shoe.draw(burn=True)
            for _ in range(rig.wait(lambda s: s["shoe"]["out"] == 1, "the burn card")["burns_due"]):
                rig.shoe.draw(burn=True)
            rig.phase("idle")
            rig.bets()
            rig.deal(3)
            if rig.client.state()["shoe"]["number"] == 1:
                rig.deal(1)
                rig.finish()
                rig.do("hold", text="look")
                rig.do("shoe end", supervised=True)
                assert rig.runtime.stop()
                rig.runtime = type(rig.runtime)(load_config(rig.config))
                rig.runtime.start()
                rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        with sqlite3.connect(rig.journal_path) as db, sqlite3.connect(path) as copy:
            db.backup(copy)
    return path


def test_checkpoint_and_whole_journal_lead_to_the_same_state(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.open(played, "E2E")
    rows = list(journal.every_row())
    starts = [row.row for row in rows if decode_row(row)[0].TYPE == "shoe.started"]
    whole = replay((row.row, decode_row(row)[0]) for row in rows)
    assert len(starts) == 2 and whole.round is not None and len(whole.round.player) == 2
    monkeypatch.setattr(replay_module, "LOOK_BACK", 0)
    read: list[int] = []

    def decoded(row: Row) -> tuple[Event, Instant]:
        read.append(row.row)
        return decode_row(row)

    monkeypatch.setattr(replay_module, "decode_row", decoded)
    quick = replay_journal(journal)
    assert quick.state == whole
    assert sorted(set(read)) == list(range(starts[1], len(rows) + 1)), "and nothing before it was looked at"
    assert quick.last_result is not None and quick.last_result["shoe"] == 1
    journal.close()


def test_rows_without_a_checkpoint_are_replayed_from_the_first(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.open(played, "E2E")
    quick = replay_journal(journal)
    monkeypatch.setattr(replay_module, "before", lambda event: None)
    slow = replay_journal(journal)
    assert slow.first == 1
    assert slow.state == quick.state
    assert {one.event.id for one in slow.answered} > {one.event.id for one in quick.answered[-3:]}
    journal.close()


def test_commands_of_a_little_before_the_checkpoint_are_remembered(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.open(played, "E2E")
    start = journal.last_of_type("shoe.started")
    assert start is not None
    monkeypatch.setattr(replay_module, "LOOK_BACK", 10)
    looked_back = replay_journal(journal)
    assert looked_back.first == start - 10
    monkeypatch.setattr(replay_module, "before", lambda event: None)
    exact = {one.event.id: one for one in replay_journal(journal).answered}
    for one in looked_back.answered:
        real = exact[one.event.id]
        assert (one.event, one.where) == (real.event, real.where)
        assert real.version <= one.version <= looked_back.state.version, "never newer than the table"
        assert one.version == real.version or one.version < looked_back.state.version
    assert any(one.event.command == "shoe inspect" for one in looked_back.answered)
    journal.close()


def test_checkpoint_that_does_not_fit_its_row_is_refused(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal.open(played, "E2E")

    def off(event: ShoeStarted) -> Any:
        base = before(event)
        return base and replace(base, row=base.row - 1)

    monkeypatch.setattr(replay_module, "before", off)
    with pytest.raises(JournalFault, match=rf"row {journal.last_of_type('shoe.started')}: .*follows row"):
        replay_journal(journal)
    journal.close()


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("UPDATE rows SET private = replace(private, '0.1', '0.2') WHERE row = 5", 5),
        ("UPDATE rows SET raw = x'00' WHERE row = 60", 60),
        ("DELETE FROM rows WHERE row = 7", 7),
        ("UPDATE rows SET type = 'x' WHERE row = 8", 8),
    ],
)
def test_a_changed_row_long_before_the_last_is_found_by_the_start(
    journal: Journal, sql: str, row: int
) -> None:
    append(journal, *[ControllerStarted(version="0.1")] * 700)
    with sqlite3.connect(journal.path) as db:
        db.execute(sql)
    again = Journal.open(journal.path, "T07")  # the newest 500 rows are in order
    with pytest.raises(JournalFault, match=rf"T07\.db: row {row}: .*restore a backup"):
        replay_journal(again)
    again.close()


def test_what_goes_out_in_place_of_an_event_is_checked_by_the_start_however_old_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_module, "LOOK_BACK", 0)
    fill(tmp_path / "T07.db")
    with closing(Journal.open(tmp_path / "T07.db", "T07")) as journal:
        with closing(sqlite3.connect(journal.path)) as db, db:
            db.execute("UPDATE rows SET type = 'x' WHERE row = 5")
        assert replay_journal(journal).first > 5
        for kind in ("delivery.parked", "delivery.skipped"):
            with closing(sqlite3.connect(journal.path)) as db, db:
                db.execute("UPDATE rows SET type = ? WHERE row = 5", (kind,))
            with pytest.raises(JournalFault, match="row 5: "):
                replay_journal(journal)


@pytest.mark.parametrize(
    "event",
    [
        CardDealt(shoe=1, round=1, position=Position.P1, card="8S", points=8, total=8, next="banker"),
        CardDealt(shoe=1, round=1, position=Position.P1, card="no card"),
        HandTurned(shoe=1, round=1, player=(), banker=(), next="none"),
        ShoeStarted(shoe=1, decks=8, rules={"nonsense": 1}, rules_hash="", carry={"row": 1}),
        ShoeStarted(shoe=1, decks=8, rules={}, rules_hash="", carry={"phase": "dancing"}),
    ],
    ids=["no round", "no card", "no hand", "half a checkpoint", "no phase"],
)
def test_a_row_that_cannot_have_happened_is_named(journal: Journal, event: Event) -> None:
    append(journal, ControllerStarted(version="0.1"), event)
    with pytest.raises(JournalFault, match=r"T07\.db: row 2: .*restore a backup"):
        replay_journal(journal)


def test_answers_and_pin_attempts_are_found(journal: Journal) -> None:
    attempt = PinAttempted(person="anna", good=False, uid=7)
    append(journal, command("a"), attempt, command(""))
    found = replay_journal(journal)
    assert found.answered == [Answered(command("a"), "-", 0)]
    assert found.attempts == [(attempt, Instant(1, WALL + 1))]
    assert (found.first, found.state.row, found.last_result) == (1, 3, None)


def test_an_empty_journal_is_a_table_that_never_opened(journal: Journal) -> None:
    found = replay_journal(journal)
    assert (found.first, found.state.row, found.answered) == (0, 0, [])


def test_a_long_replay_says_that_it_goes_on(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    append(journal, *[ControllerStarted(version="0.1")] * 3)
    monkeypatch.setattr(replay_module, "STILL_AT_IT", 0.0)
    said: list[int] = []
    replay_journal(journal, lambda: said.append(1))
    assert len(said) == 3


def test_a_disk_that_does_not_answer_is_no_damaged_journal(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(sql: str, *values: object) -> Any:
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR | (1 << 8)
        raise error

    append(journal, ControllerStarted(version="0.1"))
    monkeypatch.setattr(journal, "_all", fails)
    with pytest.raises(JournalUnavailable, match="disk I/O error"):
        replay_journal(journal)
