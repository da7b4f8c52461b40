"""The journal: what was appended comes back, exactly; what was changed is found, what is none is refused."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.cards import Outcome, Position
from tablectl.clock import Instant
from tablectl.events import (
    BetResult,
    BettingOpened,
    CardBurned,
    CardDealt,
    CommandRecorded,
    ControllerStarted,
    Event,
    FreeHandOrdered,
    HandResult,
    InspectionRecorded,
    LastHandAnnounced,
    RoundResulted,
    ShoeStarted,
    TableHeld,
    TableOpened,
    event_id,
    private_body,
    public_body,
)
from tablectl.journal import Journal, JournalFault, JournalReader, JournalUnavailable, Row, decode_row
from tablectl.journal.pages import Wanted, page
from tablectl.journal.rows import chained

WALL = 1_796_000_000_000_000_000


def rows_of(events: list[Event], *, epoch: str = "4f2a91", row: int = 0, sequence: int = 0) -> list[Row]:
    """Rows as the core makes them, behind ``row`` and ``sequence``."""
    made = []
    for n, event in enumerate(events, start=1):
        at = Instant(n * 1000, WALL + n * 1000)
        public = None
        if event.PUBLIC:
            sequence += 1
            public = public_body(event, table="T07", epoch=epoch, sequence=sequence, at=at, test=True)
        raw = b"\x02raw\xff\x00" if n % 2 else b""
        number = sequence if event.PUBLIC else None
        made.append(Row(row + n, number, public, private_body(event, at), raw))
    return made


HAND = HandResult(cards=("8S", "AC"), points=(8, 1), total=9, natural=True, pair=False)
EVENTS: list[Event] = [
    ControllerStarted(version="0.1.0"),
    TableOpened(rules="x", currency="EUR", limits={"a": [1]}, max_winnings={"tie": "5"}, profile={"n": 1}),
    InspectionRecorded(method="machine", attested_by=("Ann", "Bob")),
    ShoeStarted(shoe=12, decks=8, rules={"burn": {"by": "count"}}, rules_hash="ab"),
    CardBurned(shoe=12, reason="shuffle", left=0, shoe_left=415, card="9H", kept=True),
    BettingOpened(shoe=12, round=1, seconds=20, closes_at="later", deadline_wall=5, deadline_boot=10**15),
    CommandRecorded(
        shoe=12, round=1, id="a", command="hold", args={"text": "x"}, person=None, supervisor=False, uid=0,
        accepted=True, answer="",
    ),
    CardDealt(shoe=12, round=1, position=Position.P1, card="KS", points=0, total=0, next="banker"),
    TableHeld(shoe=12, round=1, codes=("overdraw", "x"), message="m", code="x"),
    RoundResulted(
        shoe=12, round=1, outcome=Outcome.TIE, player=HAND, banker=HAND,
        bets={"tie": BetResult(result="win", odds="8"), "player": BetResult(result="push")},
    ),
    BettingOpened(shoe=12, round=2, seconds=2.5, closes_at="later"),
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "T07.db"


@pytest.fixture
def filled(path: Path) -> Path:
    journal = Journal.open(path, "T07")
    journal.append(rows_of(EVENTS, epoch=journal.epoch))
    journal.close()
    return path


def test_rows_come_back_as_they_were_after_a_restart(path: Path) -> None:
    journal = Journal.open(path, "T07")
    rows = rows_of(EVENTS, epoch=journal.epoch)
    journal.append(rows[:4])
    journal.append(rows[4:], acked=3)
    journal.close()
    again = Journal.open(path, "T07")
    assert again.epoch == journal.epoch
    assert again.rows() == rows
    assert list(again.every_row(after=9)) == rows[9:]
    assert list(again.checked()) == rows
    assert list(again.checked(after=9)) == rows[9:]
    assert again.rows(after=2, limit=3) == rows[2:5]
    assert again.last() == (11, 9)
    assert again.acked() == 3
    assert again.verify() == 11
    again.append(rows_of(EVENTS, epoch=again.epoch, row=11, sequence=9))
    assert again.verify() == 22


def test_events_are_rebuilt_from_public_and_private_fields(filled: Path) -> None:
    rows = Journal.open(filled, "T07").rows()
    decoded = [decode_row(row) for row in rows]
    assert [event for event, _ in decoded] == EVENTS
    assert [type(event) for event, _ in decoded] == [type(event) for event in EVENTS]
    assert decoded[3][1] == Instant(4000, WALL + 4000)


@pytest.mark.parametrize(
    "private",
    [
        b'{"type":"new.thing","boot":1,"wall":1,"data":{}}',
        b'{"type":"pin.attempted","boot":1,"wall":1,"data":{"person":"x"}}',
        b"[]",
        b"{",
    ],
)
def test_a_row_of_another_version_is_named(private: bytes) -> None:
    with pytest.raises(JournalFault, match="journal row 7"):
        decode_row(Row(7, None, None, private))


def test_bodies_for_delivery_and_rounds_for_recall(filled: Path) -> None:
    journal = Journal.open(filled, "T07")
    bodies = journal.bodies(8)
    assert [b.sequence for b in bodies] == [8, 9]
    assert bodies[0].id == event_id("T07", journal.epoch, 8)
    assert bodies[0].body == journal.rows(after=9)[0].public
    assert len(journal.bodies(1, limit=2)) == 2
    assert journal.bodies(10) == []
    assert [row.row for row in journal.round_rows(12, 1)] == [6, 7, 8, 9, 10]
    assert journal.round_rows(12, 3) == []
    assert journal.recent_rounds() == [(12, 2), (12, 1)]
    assert journal.recent_rounds(1) == [(12, 2)]
    assert journal.last_of_type("shoe.started") == 4
    assert journal.last_of_type("table.closed") is None


def test_a_round_that_was_only_announced_is_not_among_the_recent_ones(path: Path) -> None:
    journal = Journal.open(path, "T07")
    coming = LastHandAnnounced(shoe=12, round=3)
    journal.append(rows_of([*EVENTS, coming], epoch=journal.epoch))
    assert journal.recent_rounds() == [(12, 2), (12, 1)]
    (free,) = rows_of([FreeHandOrdered(shoe=12, round=3, approved_by="bo", boot=1)], row=12, sequence=10)
    journal.append([free])
    assert journal.recent_rounds(2) == [(12, 3), (12, 2)]


def test_rows_that_do_not_follow_are_refused_and_nothing_is_written(path: Path) -> None:
    journal = Journal.open(path, "T07")
    one, two, three = rows_of(EVENTS[:3])
    with pytest.raises(ValueError, match="row 2"):
        journal.append([two])
    with pytest.raises(ValueError, match="row 3, event 2 cannot follow 1, 0"):
        journal.append([one, three])
    with pytest.raises(ValueError, match="cannot follow"):
        journal.append([one, Row(2, 2, two.public, two.private)])
    with pytest.raises(ValueError, match="cannot follow"):
        journal.append([one, Row(2, None, two.public, two.private)])
    assert journal.last() == (0, 0)
    journal.append([one, two, three])
    assert journal.verify() == 3


def test_a_journal_is_durable_and_its_log_bounded(path: Path) -> None:
    journal = Journal.open(path, "T07")
    pragma = {name: journal._all(f"PRAGMA {name}")[0][0] for name in ("journal_mode", "synchronous")}
    assert pragma == {"journal_mode": "wal", "synchronous": 2}
    assert [p.stat().st_mode & 0o027 for p in path.parent.glob("T07.db*")] == [0, 0, 0, 0]
    journal.set_acked(0)
    assert journal._all("PRAGMA synchronous")[0][0] == 2


def test_readers_in_other_threads_see_what_is_committed_and_cannot_write(path: Path) -> None:
    journal = Journal.open(path, "T07")
    reader = journal.reader()
    rows = rows_of(EVENTS, epoch=journal.epoch)
    seen: list[object] = []
    for n, row in enumerate(rows, start=1):
        journal.append([row])
        thread = threading.Thread(target=lambda: seen.append(reader.last()[0]))
        thread.start()
        thread.join()
        assert seen[-1] == n
    assert reader.verify() == len(rows)
    with pytest.raises(sqlite3.OperationalError, match=r"readonly|query_only"):
        reader._db.execute("DELETE FROM rows")
    reader.close()


def test_reading_does_not_pin_the_log(path: Path) -> None:
    journal = Journal.open(path, "T07")
    reader = journal.reader()
    pages = reader.every_row()
    journal.append(rows_of(EVENTS * 60, epoch=journal.epoch))
    next(pages)
    for _ in range(30):
        row, sequence = journal.last()
        big = [Row(r.row, r.sequence, r.public, r.private, b"x" * 5000)
               for r in rows_of(EVENTS * 20, row=row, sequence=sequence)]  # fmt: skip
        journal.append(big)
    assert path.with_name("T07.db-wal").stat().st_size < 16 << 20
    assert sum(1 for _ in pages) > 6000


# --- what is no journal of this table -----------------------------------------------------------------


def test_an_empty_file_is_refused_not_filled(path: Path) -> None:
    path.touch()
    with pytest.raises(JournalFault, match=r"T07\.db: the file is empty.*restore a backup"):
        Journal.open(path, "T07")
    assert path.stat().st_size == 0


@pytest.mark.parametrize("content", [b"hello", b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_no_database_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(JournalFault, match=r"T07\.db: not a journal"):
        Journal.open(path, "T07")
    assert path.read_bytes() == content


def test_a_directory_is_refused(path: Path) -> None:
    path.mkdir()
    with pytest.raises(JournalFault, match="not a journal"):
        Journal.open(path, "T07")


def test_another_programs_database_is_refused(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE x (y)")
    db.close()
    with pytest.raises(JournalFault, match="not a journal"):
        Journal.open(path, "T07")


def test_another_tables_journal_is_refused(filled: Path) -> None:
    with pytest.raises(JournalFault, match="journal of table T07, not of T08"):
        Journal.open(filled, "T08")


def test_an_unknown_schema_is_refused(filled: Path) -> None:
    with sqlite3.connect(filled) as db:
        db.execute("UPDATE meta SET value = 99 WHERE key = 'schema'")
    with pytest.raises(JournalFault, match="schema version 99, this tablectl reads 2"):
        Journal.open(filled, "T07")


def test_a_log_without_its_database_is_refused(path: Path) -> None:
    path.with_name("T07.db-wal").write_bytes(b"x")
    with pytest.raises(JournalFault, match="a log without its database"):
        Journal.open(path, "T07")
    assert not path.exists()


@pytest.mark.parametrize("table", ["", "a b", "x" * 17, "ü", "T07\n"])
def test_a_bad_table_id_is_refused(path: Path, table: str) -> None:
    with pytest.raises(ValueError, match="table id"):
        Journal.open(path, table)


def test_a_reader_makes_no_file(path: Path) -> None:
    with pytest.raises(JournalFault):
        JournalReader.open(path)
    assert not path.exists()


def test_a_left_over_of_a_crash_while_making_it_does_no_harm(path: Path) -> None:
    path.with_name("T07.db.new").write_bytes(b"half")
    assert Journal.open(path, "T07").last() == (0, 0)


def test_acknowledged_rows_that_are_gone_are_said(filled: Path) -> None:
    with sqlite3.connect(filled) as db:
        db.execute("UPDATE meta SET value = 40 WHERE key = 'acked'")
    with pytest.raises(JournalFault, match="acknowledged event 40, but the last one here is 9"):
        Journal.open(filled, "T07")


@pytest.mark.parametrize("code", ["FULL", "BUSY", "LOCKED", "IOERR_WRITE", "NOMEM", "IOERR_SHMSIZE"])
@pytest.mark.parametrize("new", [False, True])
def test_a_disk_in_trouble_says_nothing_of_the_file(
    filled: Path, tmp_path: Path, code: str, new: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be better at the next try; wherever in the opening it comes, no journal is called damaged."""
    error = sqlite3.OperationalError("as told")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}")

    def fails(*_: object) -> Any:
        raise error

    path = tmp_path / "new.db" if new else filled
    monkeypatch.setattr("tablectl.journal.file.prepare", fails)
    with pytest.raises(JournalUnavailable, match=rf"{path.name}: .*as told.*free or mend the disk"):
        Journal.open(path, "T07")
    monkeypatch.undo()
    monkeypatch.setattr(JournalReader, "_all", fails)
    with pytest.raises(JournalUnavailable):
        Journal.open(filled, "T07")
    monkeypatch.undo()
    assert Journal.open(path, "T07").last() == ((0, 0) if new else (11, 9))


# --- what was changed ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "row"),
    [
        ("UPDATE rows SET raw = x'00' WHERE row = 5", 5),
        ("UPDATE rows SET private = replace(private, '9H', '8H') WHERE row = 5", 5),
        ("UPDATE rows SET private = CAST(private AS TEXT) || ' ' WHERE row = 5", 5),
        ("UPDATE rows SET hash = zeroblob(32) WHERE row = 5", 5),
        ("UPDATE rows SET prev_hash = zeroblob(32) WHERE row = 5", 5),
        ("UPDATE rows SET round = 9 WHERE row = 8", 8),
        ("UPDATE rows SET type = 'x' WHERE row = 8", 8),
        ("DELETE FROM rows WHERE row = 5", 5),
        ("DELETE FROM rows WHERE row = 1", 1),
        ("UPDATE rows SET row = 50 WHERE row = 11", 11),
        ("UPDATE rows SET sequence = 90 WHERE row = 11", 11),
        ("UPDATE rows SET public = NULL, sequence = NULL WHERE row = 6", 6),
    ],
)
def test_a_changed_row_is_named(filled: Path, sql: str, row: int) -> None:
    with sqlite3.connect(filled) as db:
        db.execute(sql)
    with pytest.raises(JournalFault, match=rf"T07\.db: row {row}: .*restore"):
        JournalReader.open(filled).verify()
    given = []
    with pytest.raises(JournalFault, match=f"row {row}:"):
        for good in JournalReader.open(filled).checked():
            given.append(good.row)
    assert given == list(range(1, row)), "what came before it is given, and nothing after it"
    if row == len(EVENTS):  # the last one: as if it were torn
        assert f"row {row}" in Journal.open(filled, "T07").mended
        return
    with pytest.raises(JournalFault, match=f"row {row}:"):
        Journal.open(filled, "T07")


def test_rows_of_another_journal_do_not_fit(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    journal = Journal.open(other, "T07")
    journal.append(rows_of(EVENTS, epoch=journal.epoch))
    journal.close()
    with sqlite3.connect(filled) as db:
        db.execute("ATTACH ? AS other", (str(other),))
        db.execute("DELETE FROM rows")
        db.execute("INSERT INTO rows SELECT * FROM other.rows")
    with pytest.raises(JournalFault, match="row 1: its hash"):
        JournalReader.open(filled).verify()


def test_every_damaged_page_is_detected_with_a_row(filled: Path, tmp_path: Path) -> None:
    whole = filled.read_bytes()
    found = 0
    for start in range(4096, len(whole), 512):
        copy = tmp_path / "damaged.db"
        copy.write_bytes(whole[:start] + b"\xa5" * 512 + whole[start + 512 :])
        try:
            assert JournalReader.open(copy).verify() == 11
            assert JournalReader.open(copy).rows() == JournalReader.open(filled).rows()
        except JournalFault as fault:
            assert "damaged.db" in str(fault)
            found += 1
        except sqlite3.DatabaseError as error:
            raise AssertionError("only a JournalFault may come out") from error
    assert found > 5


@given(
    st.lists(st.binary(max_size=8), min_size=2, max_size=2),
    st.sampled_from([None, 1, 11]),
    st.sampled_from([None, 1, 11]),
)
def test_the_hash_frames_every_field(parts: list[bytes], one: int | None, two: int | None) -> None:
    a, b = parts
    first, second = Row(1, one, None, a, b), Row(1, two, None, a + b, b"")
    assert (chained(b"p", first) == chained(b"p", second)) == (first == second)


# --- a write that failed --------------------------------------------------------------------------------


def test_a_full_disk_writes_nothing_and_the_same_call_works_later(path: Path) -> None:
    journal = Journal.open(path, "T07")
    rows = rows_of(EVENTS, epoch=journal.epoch)
    journal.append(rows[:2])
    ((pages,),) = journal._all("PRAGMA page_count")
    journal._db.execute(f"PRAGMA max_page_count={pages}")
    big = [Row(r.row, r.sequence, r.public, r.private, b"x" * 50_000) for r in rows[2:]]
    with pytest.raises(sqlite3.OperationalError, match="full"):
        journal.append(big)
    assert journal.last() == (2, 1)
    journal._db.execute("PRAGMA max_page_count=1000000")
    journal.append(big)
    assert journal.verify() == len(rows)


def test_a_write_that_arrived_although_it_failed_is_not_written_twice(path: Path) -> None:
    class LostAnswer:
        """A connection whose next commit is done, but reported as failed."""

        def __init__(self, db: sqlite3.Connection) -> None:
            self.db, self.lose = db, True

        def __getattr__(self, name: str) -> object:
            return getattr(self.db, name)

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            done = self.db.execute(sql, *values)
            if sql == "COMMIT" and self.lose:
                self.lose = False
                raise sqlite3.OperationalError("disk I/O error")
            return done

    journal = Journal.open(path, "T07")
    rows = rows_of(EVENTS, epoch=journal.epoch)
    tail = journal._tail
    journal._db = LostAnswer(journal._db)  # type: ignore[assignment]
    with pytest.raises(sqlite3.OperationalError):
        journal.append(rows[:3])
    journal.append(rows)
    assert journal.verify() == len(rows)
    journal._tail, journal._uncertain = tail, True
    with pytest.raises(JournalFault, match="another program wrote"):
        journal.append([Row(1, None, None, rows[0].private, b"else")])


def test_a_copy_taken_with_its_log_opens(path: Path, tmp_path: Path) -> None:
    journal = Journal.open(path, "T07")
    journal.append(rows_of(EVENTS, epoch=journal.epoch))
    (tmp_path / "copy").mkdir()
    for name in ("T07.db", "T07.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / "copy" / name)
    assert Journal.open(tmp_path / "copy" / "T07.db", "T07").verify() == len(EVENTS)


# --- looking back ------------------------------------------------------------------------------------------


@pytest.fixture
def three_rounds(tmp_path: Path) -> JournalReader:
    """Rounds 1/1, 1/2 (free) and 2/1, a row each second from :data:`WALL` on."""
    command: Any = {"command": "confirm", "args": {}, "person": None, "supervisor": False, "uid": 1}
    events: list[Event] = [
        ControllerStarted(version="1"),
        ShoeStarted(shoe=1, decks=8, rules={}, rules_hash="a"),
        BettingOpened(shoe=1, round=1, seconds=20.0, closes_at="x"),
        CardDealt(shoe=1, round=1, position=Position.P1, card="8S"),
        LastHandAnnounced(shoe=1, round=9),
        FreeHandOrdered(shoe=1, round=2, approved_by="Pia", boot=1),
        ShoeStarted(shoe=2, decks=8, rules={}, rules_hash="b"),
        BettingOpened(shoe=2, round=1, seconds=20.0, closes_at="x"),
        RoundResulted(shoe=2, round=1, outcome=Outcome.PLAYER, player=HAND, banker=HAND, bets={}),
        LastHandAnnounced(shoe=2, round=2),
        CommandRecorded(shoe=2, id="a", accepted=True, answer="told", **command),
        CommandRecorded(shoe=2, id="b", accepted=True, answer="later", **command),
    ]
    journal = Journal.open(tmp_path / "T07.db", "T07")
    sequence, rows = 0, []
    for number, event in enumerate(events, start=1):
        # One decision: the result, what it leads to, and the command that gave it.
        at = Instant(min(number, 9) if number < 12 else 12, WALL + number * 10**9)
        public = None
        if event.PUBLIC:
            sequence += 1
            public = public_body(event, table="T07", epoch="e", sequence=sequence, at=at, test=True)
        rows.append(Row(number, sequence if event.PUBLIC else None, public, private_body(event, at)))
    journal.append(rows)
    journal.close()
    return JournalReader.open(tmp_path / "T07.db")


def test_newest_rounds_first_and_each_once(three_rounds: JournalReader) -> None:
    assert three_rounds.recent_rounds(9) == [(2, 1), (1, 2), (1, 1)]
    assert three_rounds.recent_rounds(2) == [(2, 1), (1, 2)]


@pytest.mark.parametrize(
    ("second", "where"),
    [
        (-100, None), (0, None), (1, None), (2, None), (3, (1, 1)), (5, (1, 1)), (6, (1, 2)), (7, (1, 2)),
        (8, (2, 1)), (9, (2, 1)), (12, (2, 1)), (10**6, (2, 1)),
    ],
)  # fmt: skip
def test_the_round_of_a_moment_is_that_in_play_or_the_last_before(
    three_rounds: JournalReader, second: int, where: tuple[int, int] | None
) -> None:
    assert three_rounds.round_at(WALL + second * 10**9) == where


def test_an_empty_journal_has_no_round_of_any_moment(tmp_path: Path) -> None:
    Journal.open(tmp_path / "T07.db", "T07").close()
    reader = JournalReader.open(tmp_path / "T07.db")
    assert reader.round_at(WALL) is None and reader.recent_rounds() == []


def test_rows_of_a_shoe(three_rounds: JournalReader) -> None:
    row = three_rounds.shoe_row(2, "shoe.started")
    assert row is not None and row.row == 7
    assert three_rounds.shoe_row(2, "shoe.started", after=7) is None
    assert three_rounds.shoe_row(3, "shoe.started") is None
    assert [row.row for row in three_rounds.shoe_rows(2)] == [7, 8, 9, 10, 11, 12]
    assert [row.row for row in three_rounds.shoe_rows(2, 9)] == [9, 10, 11, 12]


def test_the_command_that_ended_a_round_is_found_and_no_other(three_rounds: JournalReader) -> None:
    (found,) = three_rounds.commands_of(three_rounds.round_rows(2, 1))
    event, _ = decode_row(found)
    assert isinstance(event, CommandRecorded) and event.id == "a"
    assert three_rounds.commands_of(three_rounds.round_rows(1, 1)) == []


# --- nothing altered is shown -------------------------------------------------------------------------


ALTERED = [
    ("UPDATE rows SET private = replace(private, '\"wall\"', '\"wal1\"') WHERE row = 8", 8),
    ("UPDATE rows SET public = replace(public, 'KS', 'QS') WHERE row = 8", 8),
    ("UPDATE rows SET raw = x'00' WHERE row = 8", 8),
    ("UPDATE rows SET private = CAST(private AS TEXT) WHERE row = 8", 8),
    ("UPDATE rows SET hash = zeroblob(32) WHERE row = 8", 8),
    ("UPDATE rows SET prev_hash = zeroblob(32) WHERE row = 8", 8),
    ("UPDATE rows SET type = 'x' WHERE row = 8", 8),
    ("DELETE FROM rows WHERE row = 7", 7),
    ("REHASH", 9),
]
WAYS: dict[str, Callable[[JournalReader], object]] = {
    "rows": lambda r: r.rows(7, 1),
    "every row": lambda r: list(r.every_row()),
    "of a type": lambda r: r.rows_of_type("card.dealt") + r.rows_of_type("x"),
    "of a round": lambda r: r.round_rows(12, 1),
    "of a shoe": lambda r: r.shoe_rows(12),
    "of a shoe alone": lambda r: r.shoe_row(12, "shoe.started") and r.rows(6, 2),
    "of a moment": lambda r: [r.row_at(WALL + n * 1000) for n in range(12)],
    "to send": lambda r: [r.bodies(n, 1) for n in range(1, 10)],
    "shown": lambda r: page(r, Wanted(after=7), 1),
    "exported": lambda r: page(r, Wanted(shoe=12, round=1, public=True)),
    "revealed": lambda r: page(r, Wanted(after=7, upto=8, reveal=True)),
}


def alter(path: Path, sql: str) -> None:
    """``REHASH``: a hand that knows how; the row's own hash fits, only the next one does not follow it."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        if sql != "REHASH":
            db.execute(sql)
            return
        *columns, before = db.execute(
            "SELECT row, sequence, public, private, raw, prev_hash FROM rows WHERE row = 8"
        ).fetchone()
        columns[2] = columns[2].replace(b"KS", b"QS")
        db.execute(
            "UPDATE rows SET public = ?, hash = ? WHERE row = 8", (columns[2], chained(before, Row(*columns)))
        )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("sql", "row"), ALTERED)
def test_no_way_to_read_rows_gives_an_altered_one(filled: Path, way: str, sql: str, row: int) -> None:
    """With the words of ``verify``, also when the file is altered while it is open."""
    with contextlib.closing(JournalReader.open(filled)) as reader:
        WAYS[way](reader)
        alter(filled, sql)
        with pytest.raises(JournalFault, match=rf"T07\.db: row ({row}|{row + 1}): ") as shown:
            WAYS[way](reader)
        with pytest.raises(JournalFault) as verified:
            reader.verify()
        assert str(shown.value) == str(verified.value) or (
            shown.value.row == row + 1 and "it or the row before was changed" in str(shown.value)
        )
