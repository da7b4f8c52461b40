"""Damage anywhere in the journal's files: a good prefix with all that was acknowledged, or a refusal."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tablectl.clock import Instant
from tablectl.events import ControllerStarted, private_body
from tablectl.journal import Journal, JournalFault, JournalReader, JournalUnavailable, Row
from tablectl.journal.file import connect, pages_of, sync
from tablectl.journal.repair import plan
from tablectl.journal.still import reading
from tablectl.journal.verify import verify_span
from tests.journal.test_appending import EVENTS
from tests.journals import fill
from tests.past_rows import rows_of

SOAK = "TABLECTL_SOAK" in os.environ
STEP = {
    False: {"T07.db": 4621, "T07.db-wal": 16411, "T07.db-shm": 8209},
    True: {"T07.db": 101, "T07.db-wal": 307, "T07.db-shm": 307},
}[SOAK]
ROUNDS = 6
ACKED = 20


class Whole:
    """A journal as a killed process leaves it: part of its rows only in the log."""

    def __init__(self, folder: Path, in_log: int) -> None:
        self.folder = folder
        self.path = folder / "T07.db"
        journal = Journal.open(self.path, "T07")
        self.rows: list[Row] = rows_of(EVENTS * ROUNDS, epoch=journal.epoch)
        self.newest = b""
        split = len(self.rows) - in_log
        journal.append(self.rows[:split])
        journal.set_acked(ACKED)
        journal._all("PRAGMA wal_checkpoint(TRUNCATE)")
        for row in self.rows[split:]:
            journal.append([row])
        self.files = {p.name: p.read_bytes() for p in folder.iterdir()}
        journal.close()

    def put(self, folder: Path, damage: Callable[[dict[str, bytes]], None]) -> Path:
        for left in folder.iterdir():
            left.unlink()
        files = dict(self.files)
        damage(files)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        return folder / "T07.db"


@pytest.fixture(scope="module", params=[0, 6], ids=["in the database", "in the log"])
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return Whole(tmp_path_factory.mktemp("whole"), request.param)


def foretold_of(path: Path) -> str:
    """What a start is said to refuse, or to repair, before it comes; "" for nothing."""
    try:
        with reading(path) as reader:
            return plan(reader, "T07").mended.said
    except (JournalFault, JournalUnavailable) as fault:
        return str(fault)


def judge(whole: Whole, path: Path) -> str:
    """Open what was damaged, and say what came of it; fails the test where that is not lawful."""
    before = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    foretold = foretold_of(path)
    after = {p.name: p.read_bytes() for p in path.parent.iterdir()}
    if "T07.db-shm" in after and before.get("T07.db-wal"):  # made anew by each who reads a log
        after["T07.db-shm"] = before["T07.db-shm"]
    assert after == before, "who looks changes nothing"
    try:
        journal = Journal.open(path, "T07")
    except JournalFault as fault:
        assert "T07.db" in str(fault)
        assert foretold == str(fault)
        after = {p.name: p.read_bytes() for p in path.parent.iterdir()}
        for name in ("T07.db", "T07.db.newest"):
            assert after.get(name) == before.get(name), "what is refused is not touched"
        return "refused"
    try:
        here = journal.rows()
    except sqlite3.DatabaseError as error:
        raise AssertionError("a journal that opens can be read to its end") from error
    assert foretold in ("", journal.mended.rsplit("; copy: ", 1)[0]), "what a start does was foretold"
    assert (foretold == "") == (journal.mended == "")
    try:
        kept = len(here)
        assert here == whole.rows[:kept], "a prefix, and nothing else"
        assert journal.last()[1] >= ACKED, "what was acknowledged is there"
        assert journal.verify() == kept
        assert journal.lost == (kept < len(whole.rows))
        if journal.lost:
            assert "cut" in journal.mended or "lost" in journal.mended
            assert journal.sure() == journal.last()[1]
        if journal.mended:
            (aside,) = [p for p in path.parent.iterdir() if ".torn-" in p.name and p.suffix[-4:-3] != "-"
                        and not p.name.endswith(("-wal", "-shm"))]  # fmt: skip
            assert aside.name in journal.mended
            assert aside.read_bytes() == before["T07.db"]
            wal = aside.with_name(aside.name + "-wal")
            assert "T07.db-wal" not in before or wal.read_bytes() == before["T07.db-wal"]
        row, sequence = journal.last()
        more = [Row(row + n, r.sequence and r.sequence + sequence, r.public, r.private)
                for n, r in enumerate(whole.rows[:3], 1)]  # fmt: skip
        journal.append(more)
        assert journal.verify() == kept + 3
        return "mended" if journal.mended else "whole"
    finally:
        journal.close()


def flips(name: str, mask: int) -> Callable[[int], Callable[[dict[str, bytes]], None]]:
    def at(offset: int) -> Callable[[dict[str, bytes]], None]:
        def damage(files: dict[str, bytes]) -> None:
            content = bytearray(files[name])
            content[offset] ^= mask
            files[name] = bytes(content)

        return damage

    return at


def cuts(name: str) -> Callable[[int], Callable[[dict[str, bytes]], None]]:
    return lambda size: lambda files: files.update({name: files[name][:size]})


def zeroes(name: str) -> Callable[[int], Callable[[dict[str, bytes]], None]]:
    def at(offset: int) -> Callable[[dict[str, bytes]], None]:
        return lambda files: files.update({name: files[name][:offset] + bytes(len(files[name]) - offset)})

    return at


def places(name: str, size: int, first: int) -> Iterator[int]:
    yield from range(first, size, STEP.get(name, 23))


@pytest.mark.soak
@pytest.mark.timeout(900 if SOAK else 120)
@pytest.mark.parametrize("name", ["T07.db", "T07.db-wal", "T07.db-shm", "T07.db.newest"])
@pytest.mark.parametrize("kind", ["low bit", "high bit", "cut", "zeroed"])
def test_damage_anywhere_is_cut_at_the_end_or_refused_never_silent(
    whole: Whole, tmp_path: Path, name: str, kind: str
) -> None:
    size = len(whole.files.get(name, b""))
    make = {
        "low bit": flips(name, 1),
        "high bit": flips(name, 0x80),
        "cut": cuts(name),
        "zeroed": zeroes(name),
    }
    first = {"low bit": 0, "high bit": 7, "cut": 1, "zeroed": 3}[kind]
    found = {judge(whole, whole.put(tmp_path, make[kind](at))) for at in places(name, size, first)}
    if name.endswith((".newest", "-shm")):
        assert found <= {"whole"}


def test_a_missing_log_is_said(whole: Whole, tmp_path: Path) -> None:
    path = whole.put(tmp_path, lambda files: files.__delitem__("T07.db-wal"))
    if not whole.files["T07.db-wal"]:
        assert judge(whole, path) == "whole"
        return
    journal = Journal.open(path, "T07")
    assert "the last commits are lost: rows 61 to 66" in journal.mended
    assert "none was acknowledged" in journal.mended
    journal.close()


def test_a_missing_log_with_acknowledged_rows_in_it_is_refused(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "T07.db", "T07")
    journal.append(rows_of(EVENTS))
    journal._all("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = (tmp_path / "T07.db").read_bytes()
    journal.append([Row(12, 10, rows_of(EVENTS)[1].public, rows_of(EVENTS)[1].private)], acked=10)
    journal.close()
    (tmp_path / "T07.db").write_bytes(kept)
    with pytest.raises(JournalFault, match=r"last commits are lost: rows 12 to 12.*acknowledged event 10"):
        Journal.open(tmp_path / "T07.db", "T07")
    assert (tmp_path / "T07.db").read_bytes() == kept


TORN = [
    ("half written", "UPDATE rows SET private = substr(private, 1, length(private) / 2) WHERE row >= {row}"),
    ("zeroed", "UPDATE rows SET private = zeroblob(length(private)), public = NULL WHERE row >= {row}"),
    ("cut in a character", "UPDATE rows SET private = CAST(private || x'C3' AS BLOB) WHERE row >= {row}"),
    ("its hash", "UPDATE rows SET hash = zeroblob(32) WHERE row >= {row}"),
]


@pytest.mark.parametrize(("how", "sql"), TORN, ids=[how for how, _ in TORN])
@pytest.mark.parametrize("rows", [1, 2, 30])
def test_a_torn_end_is_cut_if_it_was_never_acknowledged(
    tmp_path: Path, how: str, sql: str, rows: int
) -> None:
    whole = Whole(tmp_path, 0)
    first = len(whole.rows) - rows + 1
    with sqlite3.connect(whole.path) as db:
        db.execute(sql.format(row=first))
    db.close()
    assert judge(whole, whole.path) == "mended"
    reader = JournalReader.open(whole.path)
    assert reader.rows()[: first - 1] == whole.rows[: first - 1]


def test_what_was_mended_is_told_until_a_row_is_written_behind_it(tmp_path: Path) -> None:
    """Else a start that is cut short would be the last to know that rows are lost."""
    whole = Whole(tmp_path, 0)
    for behind in (1, 2):
        with contextlib.closing(sqlite3.connect(whole.path)) as db, db:
            db.execute("UPDATE rows SET hash = zeroblob(32) WHERE row > ?", (len(whole.rows) - behind,))
        journal = Journal.open(whole.path, "T07")
        assert journal.mended.count(" cut, none acknowledged") == behind and journal.lost
        said = journal.mended
        journal.set_acked(0)
        journal.close()
        journal = Journal.open(whole.path, "T07")
        assert (journal.mended, journal.lost) == (said, True)
        journal.close()
    journal = Journal.open(whole.path, "T07")
    journal.append([Row(journal.last()[0] + 1, None, None, whole.rows[-1].private)])
    journal.close()
    journal = Journal.open(whole.path, "T07")
    assert (journal.mended, journal.lost) == ("", False)
    journal.close()


def test_of_a_page_that_cannot_be_read_only_its_rows_are_cut(tmp_path: Path) -> None:
    whole = Whole(tmp_path, 0)
    content = bytearray(whole.path.read_bytes())
    page = content.rfind(whole.rows[-1].private) // 4096 * 4096
    content[page : page + 100] = b"\xff" * 100
    whole.path.write_bytes(content)
    assert judge(whole, whole.path) == "mended"
    kept = [row for row in JournalReader.open(whole.path).rows() if row.row <= len(whole.rows)]
    assert 50 < next(n for n, row in enumerate(kept, 1) if n == len(kept) or kept[n] != whole.rows[n]) < 66


@pytest.mark.parametrize(("how", "sql"), TORN, ids=[how for how, _ in TORN])
def test_a_torn_end_that_was_acknowledged_is_refused(tmp_path: Path, how: str, sql: str) -> None:
    whole = Whole(tmp_path, 0)
    journal = Journal.open(whole.path, "T07")
    journal.set_acked(journal.last()[1])
    journal.close()
    with sqlite3.connect(whole.path) as db:
        db.execute(sql.format(row=len(whole.rows)))
    db.close()
    with pytest.raises(JournalFault, match=r"row 66: .*(acknowledged event 54|not the row that was written)"):
        Journal.open(whole.path, "T07")
    assert not list(tmp_path.glob("*.torn-*"))


def test_damage_in_the_middle_names_row_and_byte(tmp_path: Path) -> None:
    whole = Whole(tmp_path, 0)
    content = bytearray(whole.path.read_bytes())
    private = whole.rows[49].private
    at = content.find(private)
    places = []
    while at >= 0:
        places.append(at)
        at = content.find(private, at + 1)
    content[places[-1] + 5] ^= 1
    whole.path.write_bytes(content)
    with pytest.raises(JournalFault, match=r"row \d+: .*near byte \d+ of T07\.db, page \d+\)"):
        Journal.open(whole.path, "T07")


def test_a_value_of_another_kind_is_named_in_words(tmp_path: Path) -> None:
    whole = Whole(tmp_path, 0)
    with sqlite3.connect(whole.path) as db:
        db.execute("UPDATE rows SET private = CAST(private AS TEXT) WHERE row = 50")
    with pytest.raises(JournalFault, match="row 50: a value in it is of another kind than tablectl writes"):
        Journal.open(whole.path, "T07")


def test_a_journal_that_is_gone_is_no_new_beginning(tmp_path: Path) -> None:
    whole = Whole(tmp_path, 0)
    shutil.move(whole.path, tmp_path / "elsewhere")
    for log in tmp_path.glob("*-*"):
        log.unlink()
    with pytest.raises(JournalFault, match=r"it is gone; it had 66 rows.*T07\.db\.newest away too"):
        Journal.open(whole.path, "T07")
    (tmp_path / "T07.db.newest").unlink()
    assert Journal.open(whole.path, "T07").last() == (0, 0)


def test_another_copy_in_its_place_is_noticed(tmp_path: Path) -> None:
    whole = Whole(tmp_path, 0)
    journal = Journal.open(whole.path, "T07")
    fork = Journal.open(shutil.copytree(tmp_path, tmp_path / "fork") / "T07.db", "T07")
    row, sequence = journal.last()
    for to, raw in ((journal, b"a"), (fork, b"b")):
        one = whole.rows[1]
        to.append([Row(row + 1, sequence + 1, one.public, one.private, raw)])
        to.close()
    shutil.copy(fork.path, whole.path)
    with pytest.raises(JournalFault, match="another copy was put in its place"):
        Journal.open(whole.path, "T07")


@pytest.mark.parametrize("step", ["ready", "logs gone"])
def test_a_crash_while_a_new_file_is_put_in_place_is_finished(tmp_path: Path, step: str) -> None:
    whole = Whole(tmp_path, 25)
    for name, content in whole.files.items():
        (tmp_path / name).write_bytes(content)
    from tablectl.journal.copy import copy_rows

    reader = JournalReader.open(whole.path)
    copy_rows(reader, tmp_path / "T07.db.ready", 50)
    reader.close()
    if step == "logs gone":
        for suffix in ("-wal", "-shm"):
            (tmp_path / f"T07.db{suffix}").unlink()
    (tmp_path / "T07.db.newest").unlink()
    journal = Journal.open(whole.path, "T07")
    assert journal.rows() == whole.rows[:50]
    assert not (tmp_path / "T07.db.ready").exists()
    journal.close()


def torn(path: Path) -> int:
    """A journal whose last row is torn; its number."""
    rows = fill(path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE rows SET raw = x'00' WHERE row = ?", (len(rows),))
    return len(rows)


@pytest.mark.parametrize("killed", [False, True])
def test_mending_that_fails_at_any_sync_is_done_at_the_next_start_and_keeps_one_copy(
    tmp_path: Path, killed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``killed``: nothing is tidied up behind it."""
    reached, number = True, 0
    while reached:
        number += 1
        folder = tmp_path / str(number)
        folder.mkdir()
        path, left = folder / "T07.db", [number]
        last = torn(path)

        def fails(target: Path, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == 0:
                raise OSError(28, "No space left on device")
            sync(target)

        with monkeypatch.context() as patch:
            patch.setattr("tablectl.journal.replaced.sync", fails)
            if killed:
                patch.setattr("tablectl.journal.replaced.forget_aside", lambda _: None)
                patch.setattr("tablectl.journal.repair.forget_aside", lambda _: None)
            with contextlib.suppress(JournalUnavailable):
                Journal.open(path, "T07").close()
        reached = left[0] <= 0
        with contextlib.closing(Journal.open(path, "T07")) as journal:
            assert journal.last()[0] == last - 1 and journal.lost
        names = [one.name for one in folder.glob("*torn*Z*") if one.name[-4:] not in ("-wal", "-shm")]
        assert len(names) == 1 or (killed and len(names) == 2), names
        assert not list(folder.glob("*.new")) and not list(folder.glob("*.new-*"))
    assert number > 5


@pytest.mark.parametrize("state", ["torn", "schema", "index", "all behind it bad"])
def test_a_start_says_that_it_is_busy_in_every_stretch_of_work(
    state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in rows that were read and bytes that were copied, since it was said the last time."""
    for module in ("appending", "reader", "copy", "repair"):
        monkeypatch.setattr(f"tablectl.journal.{module}.PAGE", 10)
    monkeypatch.setattr("tablectl.journal.file.CHUNK", 4096)
    path = tmp_path / "T07.db"
    rows, read, most = fill(path, 6), [0], [0]
    size = path.stat().st_size
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        match state:
            case "torn":
                db.execute("UPDATE rows SET raw = x'00' WHERE row = ?", (len(rows),))
            case "all behind it bad":
                db.execute("UPDATE rows SET raw = x'00' WHERE row > ?", (len(rows) - 50,))
                db.execute("UPDATE meta SET value = 1 WHERE key = 'acked'")
                (tmp_path / "T07.db.newest").unlink()
            case "schema":
                db.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
            case "index":
                monkeypatch.setattr(JournalReader, "misindexed", lambda *_: "rows_type")
    every = JournalReader._all

    def counted(reader: JournalReader, sql: str, *values: object) -> list[tuple[object, ...]]:
        read[0] += 1
        most[0] = max(most[0], read[0])
        return every(reader, sql, *values)

    said = []

    def busy() -> None:
        said.append(read[0])
        read[0] = 0

    with monkeypatch.context() as patch:
        patch.setattr(JournalReader, "_all", counted)
        with contextlib.closing(Journal.open(path, "T07", busy)) as journal:
            assert journal.last()[0] == len(rows) - {"torn": 1, "all behind it bad": 50}.get(state, 0)
    assert most[0] < 40, "statements of at most a page each"
    assert len(said) > size // 4096 + len(rows) // 10


def test_a_large_file_is_not_looked_through_for_the_sake_of_a_detail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "T07.db")
    content = bytearray((tmp_path / "T07.db").read_bytes())
    content[8192:12288] = b"\xff" * 4096
    (tmp_path / "T07.db").write_bytes(content)
    with contextlib.closing(connect(tmp_path / "T07.db", "ro")) as db:
        assert "Page 3" in pages_of(db)
        monkeypatch.setattr("tablectl.journal.file.MOST_CHECKED", 8192)
        assert pages_of(db) == ""


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows WHERE row = 5; END",
        "CREATE VIEW v AS SELECT * FROM rows",
        "CREATE TABLE t (x)",
        "CREATE UNIQUE INDEX t ON rows (row, private)",
        "ALTER TABLE rows ADD COLUMN x DEFAULT 1",
        "DROP INDEX rows_type; CREATE INDEX rows_type ON rows (type) WHERE row > 9",
    ],
)
def test_what_tablectl_did_not_make_is_refused_at_the_start_and_by_verify(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "T07.db"
    journal = Journal.open(path, "T07")
    started = private_body(ControllerStarted(version="1"), Instant(1, 1))
    journal.append([Row(n, None, None, started) for n in range(1, 9)])
    assert verify_span(journal).finished
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.executescript(sql)
    with pytest.raises(JournalFault, match="that tablectl did not make"):
        verify_span(journal)  # it was planted while the table runs
    journal.close()
    said = r"T07\.db: it has a .* that tablectl did not make.*restore"
    with pytest.raises(JournalFault, match=said):
        Journal.open(path, "T07")
    with pytest.raises(JournalFault, match=said):
        JournalReader.open(path)
