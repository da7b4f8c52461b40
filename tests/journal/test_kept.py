"""Whole shoes in a journal: verified span by span, removed when old, mirrored, and copied."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tablectl.cli.check import copies as check_copies
from tablectl.clock import SECOND, Instant, now
from tablectl.config import load_config
from tablectl.events import RowsRemoved, private_body
from tablectl.journal import Journal, JournalFault, JournalReader, Row, decode_row
from tablectl.journal import keep as journal_keep
from tablectl.journal.backup import Backups, backup, backups_of, restore
from tablectl.journal.copy import copy_rows
from tablectl.journal.keep import DAY, keep, removable
from tablectl.journal.mirror import LATE, Mirror
from tablectl.journal.mirror_fault import AWAY
from tablectl.journal.newest import NewestFile
from tablectl.journal.replay import replay, replay_journal
from tablectl.journal.verify import Span, verify_span
from tablectl.journal.writer import Batch, JournalWriter
from tablectl.runtime import Runtime
from tablectl.table import Started
from tests.e2e.harness import until
from tests.journals import WALL, fill, played, rows_of, starts
from tests.table.playing import Play


def spans(reader: JournalReader) -> Iterator[Span]:
    after = 0
    while True:
        span = verify_span(reader, after)
        yield span
        if span.finished:
            return
        after = span.last


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "T07.db"


@pytest.fixture(autouse=True)
def few_days(monkeypatch: pytest.MonkeyPatch) -> None:
    """The journals here are of a few shoes; what is tried is not how many days there are."""
    assert journal_keep.DAYS_OF_PLAY == 400
    monkeypatch.setattr(journal_keep, "DAYS_OF_PLAY", 1)


# --- verify -------------------------------------------------------------------------------------------


def test_verify_goes_from_shoe_to_shoe_and_replays_every_row(path: Path) -> None:
    rows = fill(path)
    reader = JournalReader.open(path)
    found = list(spans(reader))
    begins = starts(rows)
    assert [(s.first, s.last) for s in found] == list(
        zip([1, *begins], [b - 1 for b in begins] + [len(rows)], strict=True)
    )
    assert sum(s.replayed for s in found) == len(rows)
    assert found[-1].sequence == rows[-1].sequence or rows[-1].sequence is None
    (stored,) = reader._all("SELECT hash FROM rows WHERE row = ?", len(rows))[0]
    assert isinstance(stored, bytes) and found[-1].hash == stored.hex()


def test_verify_names_a_checkpoint_that_the_rows_do_not_lead_to(path: Path) -> None:
    """A row forged with its chain made anew: no hash tells, but the shoe's own checkpoint does."""
    rows = fill(path)
    path.unlink()
    (path.parent / "T07.db.newest").unlink()
    journal = Journal.open(path, "T07")
    second = starts(rows)[1]
    for row in rows:
        if row.row == second:
            forged = row.private.replace(b'"last_dealer":"simulated"', b'"last_dealer":"somebody"')
            assert forged != row.private
            row = Row(row.row, row.sequence, row.public, forged, row.raw)
        journal.append([row])
    journal.verify()
    with pytest.raises(JournalFault, match=f"row {second}: the shoe's checkpoint"):
        list(spans(journal))


def damage(path: Path, index: str) -> None:
    """That index leads to the first rows only."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA writable_schema = 1")
        ((sql,),) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (index,)).fetchall()
        db.execute("UPDATE sqlite_master SET sql = sql || ' WHERE row < 20' WHERE name = ?", (index,))
    db.close()
    with sqlite3.connect(path) as db:
        db.execute(f"REINDEX {index}")
        db.execute("PRAGMA writable_schema = 1")
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, index))
    db.close()


@pytest.mark.parametrize("index", ["rows_type", "rows_round"])
def test_verify_names_a_damaged_index_and_a_start_makes_it_anew(path: Path, index: str) -> None:
    rows = fill(path)
    damage(path, index)
    with pytest.raises(JournalFault, match=rf"index is damaged \({index}\)"):
        list(spans(JournalReader.open(path)))
    journal = Journal.open(path, "T07")
    assert "an index" in journal.mended and "no row is lost" in journal.mended and not journal.lost
    assert journal.rows() == rows
    assert list(spans(journal))


def noted(journal: Journal, upto: int, wall: int = WALL + 9_000 * DAY) -> None:
    """The row that says that the rows up to ``upto`` go."""
    _, sequence, digest = next(iter(journal.links(upto)))
    event = RowsRemoved(upto=upto, sequence=sequence, hash=digest.hex())
    journal.append([Row(journal.last()[0] + 1, None, None, private_body(event, Instant(1, wall)))])


def removed(journal: Journal, upto: int) -> None:
    noted(journal, upto)
    while journal.trim(upto):
        pass


# --- how long rows are kept ---------------------------------------------------------------------------


def test_only_old_acknowledged_whole_shoes_go_and_never_the_newest(path: Path) -> None:
    rows = fill(path, shoe_days=100)  # the shoes begin on day 100, 200 and 300
    begins = starts(rows)
    journal = Journal.open(path, "T07")

    def gone(day: int, mirrored: int | None = None) -> int:
        return removable(journal, WALL + day * DAY + DAY // 2, 400, mirrored)

    assert gone(499) == 0
    assert gone(500) == begins[0] - 1
    assert gone(600) == begins[1] - 1
    assert gone(9_000) == begins[2] - 1
    assert gone(9_000, mirrored=begins[1]) == begins[1] - 1
    assert gone(9_000, mirrored=0) == 0
    second = rows[begins[1] - 1].sequence
    assert second is not None
    journal.set_acked(second - 2)
    assert gone(9_000) == begins[0] - 1
    with pytest.raises(ValueError, match="at least 400"):
        removable(journal, WALL, 399)


@pytest.mark.parametrize("years", [10, 1_000])
@pytest.mark.parametrize("days", [2, 3, 5, 8, 400])
def test_a_clock_that_is_years_ahead_makes_nothing_old(
    path: Path, years: int, days: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten shoes, on days 0 0 0 1 2 3 4 5, and two with that clock; by it all of them are old."""
    monkeypatch.setattr(journal_keep, "DAYS_OF_PLAY", days)
    wrong = WALL + years * 365 * DAY
    events = played(10)
    journal = Journal.open(path, "T07")
    rows = list(rows_of(events, journal.epoch, shoe_days=0))
    begins, made = starts(rows), list[Row]()
    for row in rows:
        number = sum(row.row >= begin for begin in begins)  # 0: before the first
        wall = wrong + 500 * DAY if number >= 9 else WALL + max(0, number - 3) * DAY
        private = re.sub(rb'"wall":\d+', b'"wall":%d' % (wall + row.row), row.private)
        made.append(Row(row.row, row.sequence, row.public, private, row.raw))
    journal.append(made)
    journal.set_acked(journal.last()[1])
    late = WALL + years * 400 * DAY + 2_000 * DAY
    expected = {2: begins[7], 3: begins[6], 5: begins[4], 8: 1, 400: 1}[days]
    assert removable(journal, late, 400) == expected - 1

    # and where a row says all the same that they go, verify names it
    noted(journal, begins[8] - 1, late)
    while journal.trim(begins[8] - 1):
        pass
    with pytest.raises(JournalFault, match=f"row {begins[8] - 1}: .* on {days} different days"):
        list(spans(journal))
    journal.close()


def test_nothing_goes_that_the_server_has_not_acknowledged(path: Path) -> None:
    rows = fill(path)
    journal = Journal.open(path, "T07")
    journal.set_acked(3)
    noted(journal, starts(rows)[1] - 1)
    assert journal.trim(starts(rows)[1] - 1) == 0
    assert journal.rows()[:-1] == rows


def test_nothing_goes_that_no_row_says_is_to_go(path: Path) -> None:
    rows = fill(path)
    journal = Journal.open(path, "T07")
    assert journal.trim(40) == 0 and journal.anchor().row == 0
    noted(journal, 20)
    assert journal.trim(40) == 0 and journal.anchor().row == 20
    assert journal.rows()[0] == rows[20]


def test_what_is_left_is_verified_replayed_and_goes_on(path: Path) -> None:
    rows = fill(path)
    begins = starts(rows)
    whole = Journal.open(path, "T07")
    state = replay_journal(whole).state
    whole.close()
    journal = Journal.open(path, "T07")
    reader = journal.reader()
    before = iter(reader.links())
    next(before), next(before)
    removed(journal, begins[1] - 1)
    state = replace(state, row=len(rows) + 1)
    assert journal.rows()[:-1] == rows[begins[1] - 1 :]
    assert journal.verify() == len(rows) + 1
    assert [s.first for s in spans(journal)] == [begins[1], begins[2]]
    first = rows[begins[1] - 1].sequence
    assert journal.first_sequence() == first
    assert reader.first_sequence() == first
    assert replay_journal(journal).state == state
    assert journal.last()[0] == len(rows) + 1
    journal.close()
    again = Journal.open(path, "T07")
    assert replay_journal(again).state == state
    assert not again.mended
    with pytest.raises(JournalFault, match="its hash"):
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("UPDATE meta SET value = substr(value, 1, 10) || '0000' || substr(value, 15) "
                       "WHERE key = 'anchor'")  # fmt: skip
            db.commit()
        JournalReader.open(path).verify()


async def test_the_keeper_asks_for_what_is_old_and_leaves_what_is_damaged(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = fill(path, shoe_days=100)
    reader = JournalReader.open(path)
    monkeypatch.setattr("tablectl.journal.keep.FIRST_LOOK", 0)
    late = Instant(0, WALL + 9_000 * DAY)

    async def asked(seconds: float, journal: Journal | None = None) -> list[int]:
        found: list[int] = []

        def note(event: RowsRemoved) -> None:
            found.append(-event.upto)
            if journal is not None:
                noted(journal, event.upto, late.wall)

        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(keep(reader, note, found.append, 400, lambda: None, lambda: late), seconds)
        return found

    upto = starts(rows)[2] - 1
    journal = Journal.open(path, "T07")
    assert (await asked(0.2, journal))[:2] == [-upto, upto], "first the row, and only then they go"
    assert await asked(0.2) == [upto], "noted once"
    while journal.trim(upto):
        pass
    assert all(spans(journal)) and await asked(0.2) == []
    journal.close()


@pytest.mark.parametrize("bad", [b"{", b"{}", b"[]", b"7", b'{"wall": null}', b"\xff"])
async def test_the_keeper_outlives_what_is_damaged(
    path: Path, bad: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = fill(path)
    monkeypatch.setattr("tablectl.journal.keep.FIRST_LOOK", 0)
    monkeypatch.setattr("tablectl.journal.keep.LOOK", 0)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE rows SET private = ? WHERE row = ?", (bad, starts(rows)[0]))
    looks: list[Instant] = []

    def late() -> Instant:
        looks.append(Instant(0, WALL + 9_000 * DAY))
        return looks[-1]

    with contextlib.closing(JournalReader.open(path)) as reader:
        keeping = asyncio.create_task(keep(reader, print, print, 400, lambda: None, late))
        while len(looks) < 3 and not keeping.done():
            await asyncio.sleep(0.001)
        assert not keeping.done(), "it stays, verify names it, and the table plays on"
        keeping.cancel()


def test_a_table_removes_what_is_old_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole way: through the core into the chain, and only then out of the file."""
    rows = fill(tmp_path / "T07.db")
    config = tmp_path / "T07.toml"
    config.write_text(
        '[table]\nid = "T07"\ntest = true\n[scanner]\ndriver = "angel-eye"\ndevice = "/dev/none"\n'
        '[journal]\npath = "T07.db"\nkeep_days = 400\n[api]\nsocket = "t.sock"\n'
    )
    monkeypatch.setattr("tablectl.journal.keep.FIRST_LOOK", 0.05)
    runtime = Runtime(load_config(config), clock=lambda: Instant(now().boot, WALL + 9_000 * DAY))
    runtime.start()
    upto = starts(rows)[2] - 1
    try:
        with contextlib.closing(JournalReader.open(tmp_path / "T07.db")) as reader:
            until(lambda: reader.anchor().row == upto, "they are removed")
            assert len(reader.rows_of_type("rows.removed")) == 1
            assert all(spans(reader))
    finally:
        assert runtime.stop()
    journal = Journal.open(tmp_path / "T07.db", "T07")
    assert not journal.mended and all(spans(journal))
    journal.close()


def test_a_walk_goes_on_while_what_it_has_read_is_removed(path: Path) -> None:
    rows = fill(path)
    journal = Journal.open(path, "T07")
    reader = journal.reader()
    walk = reader.links(10)
    next(walk)
    removed(journal, starts(rows)[2] - 1)
    assert [row.row for row, _, _ in walk][-1] == len(rows) + 1


class Removing(JournalReader):
    """A reader; before its statement number ``at`` all that may go is removed, by the journal's thread."""

    at = 0
    journal: Journal
    upto = 0

    def _all(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        self.at -= not self._db.in_transaction  # in one nothing changes
        if self.at == 0 and not self._db.in_transaction:
            while self.journal.trim(self.upto):
                pass
        return super()._all(sql, *values)


def removing(path: Path, at: int) -> Removing:
    """A reader of a journal of four shoes, of which a few rows are gone already."""
    journal = Journal.open(path, "T07")
    reader = Removing(path, journal.reader()._db, "T07", journal.epoch)
    upto = starts(list(journal.every_row()))[-1] - 1
    reader.journal, reader.upto, reader.at = journal, upto, at
    noted(journal, reader.upto)
    journal.trim(reader.upto)
    return reader


@pytest.mark.parametrize("work", ["copy", "mirror", "mirror goes on", "verify", "walk", "look", "time"])
def test_whenever_rows_are_removed_what_reads_the_journal_meanwhile_is_right(
    work: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each statement of the reader; in pages of a few rows, and a few rows go before it begins."""
    for size in ("appending.TRIMMED", "reader.PAGE", "copy.PAGE", "mirror_look.PAGE"):
        monkeypatch.setattr(f"tablectl.journal.{size}", 20)
    fill(path, 4)
    template = path.read_bytes()
    at, reached = 0, True
    while reached:
        at, told = at + 1, False
        for left in tmp_path.iterdir():
            left.unlink()
        path.write_bytes(template)
        reader, copy = removing(path, at), tmp_path / "copy.db"
        end = reader.journal.walk(0)
        mirror = Mirror(copy, lambda: JournalReader.open(path))
        if work == "mirror goes on":
            mirror.follow(reader.journal)
            reader.journal.append([Row(end[0] + 1, None, None, reader.journal.rows(end[0] - 1)[0].private)])
            end = reader.journal.walk(0)
            mirror._leave()
        match work:
            case "copy":
                copied = copy_rows(reader, copy)
                assert (copied.row, copied.sequence, copied.hash) == end
            case "verify":
                assert all(spans(reader))
            case "walk":
                assert reader.walk(40) == end
            case "time":
                assert reader.row_at(0) <= reader.upto and reader.row_at(2 * WALL) == end[0]
            case "look":
                upto = starts(list(reader.journal.every_row()))[-2] - 1
                known = next(iter(reader.journal.links(upto)))[1:]
                monkeypatch.setattr(journal_keep, "removable", lambda r, *_, n=upto: r.acked() and n)
                wanted, _ = journal_keep._look(reader, 0, 400, None)
                assert wanted is None or (wanted.sequence, bytes.fromhex(wanted.hash)) == known
            case _:
                try:
                    mirror.follow(reader)
                    assert mirror.row == end[0]
                except JournalFault as fault:
                    assert "move it away" in str(fault)
                    told = True
        reached = reader.at <= 0
        for one in (reader, reader.journal, mirror._leave):
            one() if callable(one) else one.close()
        if copy.exists():
            with contextlib.closing(JournalReader.open(copy)) as there:
                assert there.walk(0) == end or told, "in each case it is whole"
    assert at > 2


def pretended(path: Path, row: int) -> None:
    """Somebody removes the rows up to that one, and lets the file begin behind them."""
    with contextlib.closing(JournalReader.open(path)) as reader:
        _, sequence, digest = next(iter(reader.links(row)))
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM rows WHERE row <= ?", (row,))
        db.execute("INSERT OR REPLACE INTO meta VALUES ('anchor', ?)", (f"{row} {sequence} {digest.hex()}",))


@pytest.mark.parametrize(
    ("truly", "more", "said"),
    [
        (0, 20, "row 20: it and those before it are gone, and no row says"),
        (1, 0, ""),
        (1, 20, "and no row says"),
        (2, 0, "row {upto}: it and those before it were removed within 400 days"),
    ],
)
def test_verify_names_rows_that_are_gone_without_a_word_or_before_their_time(
    path: Path, truly: int, more: int, said: str
) -> None:
    """``truly``: 1: some went as they should; 2: a row says so, of rows that are too young."""
    rows = fill(path)
    journal = Journal.open(path, "T07")
    upto = starts(rows)[1] - 1 if truly else 0
    if truly:
        noted(journal, upto, WALL + (900 if truly == 1 else 200) * DAY)
        while journal.trim(upto):
            pass
    journal.close()
    if more:
        pretended(path, upto + more)
    with contextlib.closing(JournalReader.open(path)) as reader:
        assert reader.verify() == len(rows) + bool(truly), "by its hashes alone it is whole"
        if not said:
            assert list(spans(reader))
            return
        with pytest.raises(JournalFault, match=said.format(upto=upto)):
            list(spans(reader))


@pytest.mark.parametrize("bad", [b"{", b"{}", b"[]", b"7", b'{"wall": null}', b"\xff"])
@pytest.mark.parametrize("which", [0, 1])
def test_verify_names_a_bad_row_also_where_its_time_is_asked_for(path: Path, bad: bytes, which: int) -> None:
    """``which``: the first row that is kept, or a later shoe's."""
    rows = fill(path)
    journal = Journal.open(path, "T07")
    removed(journal, starts(rows)[1] - 1)
    journal.close()
    row = starts(rows)[1 + which]
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE rows SET private = ? WHERE row = ?", (bad, row))
    with (
        contextlib.closing(JournalReader.open(path)) as reader,
        pytest.raises(JournalFault, match=f"row {row}:"),
    ):
        list(spans(reader))


def test_verify_names_another_history_under_the_number_that_was_to_go(path: Path) -> None:
    rows = fill(path)
    journal = Journal.open(path, "T07")
    event = RowsRemoved(upto=20, sequence=1, hash="00" * 32)
    body = private_body(event, Instant(1, WALL + 900 * DAY))
    journal.append([Row(len(rows) + 1, None, None, body)])
    while journal.trim(20):
        pass
    with pytest.raises(JournalFault, match="row 20: it is not the last one that was to be removed"):
        list(spans(journal))
    journal.close()


def test_the_writer_removes_between_its_commits(path: Path) -> None:
    rows = fill(path)
    journal = Journal.open(path, "T07")
    noted(journal, starts(rows)[1] - 1)
    done: list[Batch] = []
    writer = JournalWriter(journal, done.extend, lambda error: None)
    writer.start()
    writer.trim(starts(rows)[1] - 1)
    reader = journal.reader()
    until(lambda: reader.anchor().row == starts(rows)[1] - 1, "they are removed")
    row, _ = journal.last()
    writer.put(Batch((Row(row + 1, None, None, rows[0].private),)))
    assert writer.stop()
    assert len(done) == 1 and journal.verify() == row + 1


# --- the mirror ---------------------------------------------------------------------------------------


@pytest.fixture
def medium(tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own."""
    folder = tmp_path / "medium"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "t", str(folder)], check=False).returncode:
        pytest.skip("no right to mount a file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def mirror_of(path: Path, at: Path) -> Mirror:
    return Mirror(at, lambda: JournalReader.open(path), every=0.01, retry=0.02)


def same(path: Path, mirror: Path) -> bool:
    one, other = JournalReader.open(path), JournalReader.open(mirror)
    with contextlib.closing(one), contextlib.closing(other):
        return list(one.links())[-1][2] == list(other.links())[-1][2] and list(one.every_row()) == list(
            other.every_row()
        )


def test_the_mirror_has_every_row_and_goes_on_after_a_restart(path: Path, tmp_path: Path) -> None:
    rows = fill(path)
    at = tmp_path / "second" / "T07.db"
    at.parent.mkdir()
    for upto in (1, 2):
        journal = Journal.open(path, "T07")
        mirror = mirror_of(path, at)
        mirror.start()
        until(lambda m=mirror, n=upto: m.row >= len(rows) + n - 1 and not m.error, "it has caught up")  # type: ignore[misc]
        journal.append([Row(len(rows) + upto, None, None, rows[0].private)])
        journal.close()
        mirror.wake()
        assert mirror.stop(5)
        assert same(path, at)
    shutil.copy(at, tmp_path / "restored.db")
    restored = Journal.open(tmp_path / "restored.db", "T07")
    assert restored.acked() == JournalReader.open(path).acked()
    assert replay_journal(restored).state.row == len(rows) + 2


def test_a_medium_that_is_missing_full_or_read_only_is_caught_up(path: Path, medium: Path) -> None:
    rows = fill(path)
    at = medium / "here" / "T07.db"
    mirror = mirror_of(path, at)
    mirror.start()
    until(lambda: "is its medium there?" in mirror.trouble, "the missing folder is told")
    at.parent.mkdir()
    mirror.wake()
    until(lambda: mirror.row == len(rows) and not mirror.trouble, "it has caught up")

    stuff = medium / "stuff"
    with contextlib.suppress(OSError), stuff.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    journal = Journal.open(path, "T07")
    for n in range(1, 40):
        journal.append([Row(len(rows) + n, None, None, rows[0].private, bytes(5000))])
    mirror.wake()
    until(lambda: "full" in mirror.trouble, "the full medium is told")
    assert mirror.view(len(rows) + 39)["behind"] == 39 and "full" in str(mirror.view(0)["error"])
    stuff.unlink()
    subprocess.run(["mount", "-o", "remount,size=2M", str(medium)], check=True)
    until(lambda: mirror.row == len(rows) + 39 and not mirror.trouble, "it has caught up")

    assert mirror.stop(5)  # the kernel makes nothing read-only that is open
    subprocess.run(["mount", "-o", "remount,ro", str(medium)], check=True)
    mirror = mirror_of(path, at)
    mirror.start()
    journal.append([Row(len(rows) + 40, None, None, rows[0].private)])
    mirror.wake()
    until(lambda: mirror.trouble, "the read-only medium is told")
    subprocess.run(["mount", "-o", "remount,rw", str(medium)], check=True)
    until(lambda: mirror.row == len(rows) + 40 and not mirror.trouble, "it has caught up")
    assert mirror.stop(5)
    assert same(path, at)
    journal.close()


def test_a_mirror_of_another_history_is_left_alone(path: Path, tmp_path: Path) -> None:
    fill(path)
    at = tmp_path / "mirror.db"
    Journal.open(at, "T07").close()
    content = at.read_bytes()
    with pytest.raises(JournalFault, match="epoch"):
        mirror_of(path, at).follow(JournalReader.open(path))
    assert at.read_bytes() == content


def page_of(db: sqlite3.Connection, name: str) -> int:
    """Where in the file the first page of a table or an index begins."""
    ((page,),) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name])
    ((size,),) = db.execute("PRAGMA page_size")
    return int((page - 1) * size)


def spoil(at: Path, kind: str) -> None:
    """One thing that can be wrong with a mirror's file."""
    content = bytearray(at.read_bytes())
    with contextlib.closing(sqlite3.connect(at)) as db, db:
        match kind:
            case "empty":
                content.clear()
            case "cut":
                del content[len(content) // 2 :]
            case "zeros":
                content[:] = bytes(len(content))
            case "header":
                content[:15] = b"x" * 15
            case "index" | "table":
                begin = page_of(db, "rows_type" if kind == "index" else "rows")
                content[begin : begin + 4096] = b"\xff" * 4096
            case "text":
                content[:] = b'[table]\nid = "T07"\n'
            case statement:
                db.executescript(statement)
                return
    at.write_bytes(content)


DAMAGES = [
    *("empty", "cut", "zeros", "header", "index", "table", "text"),
    "DROP TABLE rows",
    "DROP TABLE meta",
    "UPDATE meta SET value = 9 WHERE key = 'schema'",
    "UPDATE meta SET value = 'x' WHERE key = 'acked'",
    "DELETE FROM meta WHERE key = 'table'",
    "UPDATE meta SET value = 'T08' WHERE key = 'table'",
    "UPDATE meta SET value = 'abcdef' WHERE key = 'epoch'",
    "INSERT INTO meta VALUES ('anchor', '1 2')",
    "UPDATE rows SET hash = zeroblob(32) WHERE row = (SELECT max(row) FROM rows)",
    "UPDATE rows SET hash = 'x' WHERE row = (SELECT max(row) FROM rows)",
    "UPDATE rows SET type = 'x' WHERE row = (SELECT max(row) FROM rows) - 5",
    "UPDATE rows SET private = 'x' WHERE row = (SELECT max(row) FROM rows) - 50",
    "DELETE FROM rows WHERE row = (SELECT max(row) FROM rows) - 50",
    "UPDATE rows SET public = 7 WHERE sequence = (SELECT max(sequence) FROM rows)",
    "INSERT INTO rows SELECT row + 5, NULL, NULL, private, raw, prev_hash, hash, type, 1, 1 FROM rows "
    "ORDER BY row DESC LIMIT 1",
    "CREATE TRIGGER t AFTER INSERT ON rows BEGIN DELETE FROM rows; END",
    "CREATE TABLE other (x)",
]


@pytest.mark.parametrize("kind", DAMAGES)
def test_whatever_is_wrong_with_a_mirror_it_is_told_with_the_mirrors_way_out(
    path: Path, tmp_path: Path, kind: str
) -> None:
    """Who obeyed that of a journal would set the live journal back."""
    rows = fill(path)
    at, away = tmp_path / "mirror.db", tmp_path / "away"
    with contextlib.closing(JournalReader.open(path)) as reader:
        copy_rows(reader, at, len(rows) - 10)
        spoil(at, kind)
        at.chmod(0o644)
        mirror = mirror_of(path, at)
        with pytest.raises(JournalFault) as told:
            mirror.follow(reader)
        said_by_check = check_copies._compared(path, at, "T07")[0]
        assert said_by_check == str(told.value)
        for said in (str(told.value), said_by_check):
            assert AWAY in said and str(at) in str(told.value), said
            assert "restore" not in said and "put the right file back" not in said and len(said) < 600
        if kind in ("empty", "zeros", "header", "text"):
            assert at.stat().st_mode & 0o777 == 0o644, "who knows whose it is"
        mirror._leave()
        at.rename(away)
        mirror.follow(reader)  # as it says
        mirror._leave()
    assert same(path, at)


def test_a_log_that_a_mirror_left_behind_is_not_given_to_the_next_one(path: Path, tmp_path: Path) -> None:
    """SQLite would undo in the new file what the old one had begun."""
    fill(path)
    at = tmp_path / "mirror.db"
    log = tmp_path / "mirror.db-journal"
    log.write_bytes(b"x")
    with contextlib.closing(JournalReader.open(path)) as reader:
        mirror = mirror_of(path, at)
        with pytest.raises(JournalFault, match=f"mirror.db-journal: .*{AWAY}") as told:
            mirror.follow(reader)
        assert check_copies._compared(path, at, "T07") == (str(told.value), "")
        assert not at.exists()
        log.unlink()
        mirror.follow(reader)
        mirror._leave()
    assert same(path, at)


def sqlite_of_another(at: Path) -> None:
    """Another program's, in use until it was killed: its newest rows are in its log."""
    with contextlib.closing(sqlite3.connect(at.with_name("theirs"), isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE theirs (x)")
        left_behind(at.with_name("theirs"), at)


def journal_of_another(at: Path) -> None:
    with contextlib.closing(Journal.open(at.with_name("T08.db"), "T08")) as journal:
        journal.append([Row(1, None, None, b'{"type":"x","data":{}}')])
        left_behind(journal.path, at)


def left_behind(path: Path, at: Path) -> None:
    """A copy as a kill leaves it."""
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", f"{at}{suffix}")


def text(at: Path, size: int) -> None:
    at.write_bytes(b"x" * size)
    for suffix in ("-wal", "-journal"):
        at.with_name(at.name + suffix).write_bytes(b"mine " * 100)


OTHERS = {
    "a short text": lambda path, at: text(at, 400),
    "a long text": lambda path, at: text(at, 40_000),
    "nothing, its log hot": lambda path, at: cut_short(path, at, 0),
    "a part, its log hot": lambda path, at: cut_short(path, at, 600),
    "another program's": lambda path, at: sqlite_of_another(at),
    "another table's": lambda path, at: journal_of_another(at),
    "ours, a text called as its log": lambda path, at: named_as_a_log(path, at, "-journal"),
    "ours, a text called as its newer log": lambda path, at: named_as_a_log(path, at, "-wal"),
    "ours, a folder called as its log": lambda path, at: named_as_a_log(path, at, ""),
}


def cut_short(path: Path, at: Path, size: int) -> None:
    """A mirror in the middle of a transaction, and then cut."""
    one = at.with_name("one.db")
    with contextlib.closing(JournalReader.open(path)) as reader:
        copy_rows(reader, one, 20)
    with contextlib.closing(sqlite3.connect(one, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE rows SET raw = zeroblob(5000)")
        for suffix in ("", "-journal"):
            shutil.copy(f"{one}{suffix}", f"{at}{suffix}")
    os.truncate(at, size)


def named_as_a_log(path: Path, at: Path, suffix: str) -> None:
    with contextlib.closing(JournalReader.open(path)) as reader:
        copy_rows(reader, at, 20)
    log = at.with_name(f"{at.name}{suffix or '-journal'}")
    if suffix:
        log.write_bytes(b"mine " * 100)
    else:
        log.mkdir()


@pytest.mark.parametrize("kind", OTHERS)
def test_whatever_lies_in_the_mirrors_place_is_known_as_ours_before_it_is_written(
    path: Path, tmp_path: Path, kind: str
) -> None:
    """SQLite removes a log that does not fit, and writes one that does, as soon as it may write."""
    fill(path)
    at = tmp_path / "medium" / "notes.txt"
    at.parent.mkdir()
    OTHERS[kind](path, at)
    before = {one: (one.read_bytes() if one.is_file() else None, one.stat()) for one in at.parent.iterdir()}
    with contextlib.closing(JournalReader.open(path)) as reader:
        for _ in range(2):
            with pytest.raises(JournalFault, match=r"notes\.txt.*move it away") as told:
                mirror_of(path, at).follow(reader)
            assert check_copies._compared(path, at, "T07") == (str(told.value), "")
    found = {one: (one.read_bytes() if one.is_file() else None, one.stat()) for one in at.parent.iterdir()}
    assert found.keys() == before.keys()
    for one, (content, stat) in before.items():
        assert found[one][0] == content and found[one][1].st_mtime_ns == stat.st_mtime_ns, one
        assert found[one][1].st_mode == stat.st_mode


def test_what_came_to_be_the_journal_itself_after_the_start_is_not_written(
    path: Path, tmp_path: Path
) -> None:
    rows = fill(path)
    at = tmp_path / "mirror.db"
    at.symlink_to(path)
    with contextlib.closing(JournalReader.open(path)) as reader:
        with pytest.raises(JournalFault, match="is the journal itself"):
            mirror_of(path, at).follow(reader)
        at.unlink()
        os.mkfifo(at)
        with pytest.raises(JournalFault, match="is a pipe"):
            mirror_of(path, at).follow(reader)
        assert reader.verify() == len(rows)


def test_a_mirror_that_knows_more_than_the_journal_is_left_alone(path: Path, tmp_path: Path) -> None:
    rows = fill(path)
    at, short = tmp_path / "mirror.db", tmp_path / "short.db"
    mirror_of(path, at).follow(JournalReader.open(path))
    copy_rows(JournalReader.open(path), short, 20)
    content = at.read_bytes()
    with pytest.raises(JournalFault, match=f"has rows up to {len(rows)}, and the journal only 20"):
        mirror_of(short, at).follow(JournalReader.open(short))
    assert "the journal only 20" in check_copies._compared(short, at, "T07")[0]
    assert at.read_bytes() == content


def test_a_mirror_begins_where_the_journal_does(path: Path, tmp_path: Path) -> None:
    rows = fill(path)
    journal = Journal.open(path, "T07")
    removed(journal, starts(rows)[1] - 1)
    at = tmp_path / "mirror.db"
    mirror_of(path, at).follow(journal)
    assert same(path, at)
    assert JournalReader.open(at).first_sequence() == journal.first_sequence()


def test_a_mirror_whose_writer_was_killed_in_mid_transaction_goes_on_and_goes_back(
    path: Path, tmp_path: Path
) -> None:
    """What must be undone lies beside it, and who only reads may not do that."""
    rows = fill(path)
    reader = JournalReader.open(path)
    mirror = mirror_of(path, tmp_path / "mirror.db")
    mirror.follow(reader)
    db = mirror._target
    assert db is not None
    db.execute("PRAGMA cache_size = 1")  # its pages go to the file before the end, as in a long transaction
    db.execute("BEGIN IMMEDIATE")
    db.execute("UPDATE rows SET raw = zeroblob(5000) WHERE row < 50")
    medium = tmp_path / "medium"
    medium.mkdir()
    for name in ("mirror.db", "mirror.db-journal"):
        shutil.copy(tmp_path / name, medium / name)
    mirror._leave()

    left = medium / "mirror.db"
    before = left.read_bytes()
    (tmp_path / "new").mkdir()
    new = tmp_path / "new" / "T07.db"
    (tmp_path / "link.db").symlink_to(left)
    restore(tmp_path / "link.db", new, "T07")
    assert left.read_bytes() == before
    assert sorted(one.name for one in new.parent.iterdir()) == ["T07.db", "T07.db.newest"]
    assert same(path, new)

    files = {one: one.read_bytes() for one in medium.iterdir()}
    assert "was cut short, and the daemon undoes that" in check_copies._compared(path, left, "T07")[1]
    assert {one: one.read_bytes() for one in medium.iterdir()} == files
    again = mirror_of(path, left)
    again.follow(reader)
    assert check_copies._compared(path, left, "T07") == ("", "0 rows behind")
    assert again.row == len(rows) and same(path, left)
    again._leave()
    reader.close()


def test_a_mirror_that_hangs_in_one_write_is_told(path: Path) -> None:
    now = [Instant(0, 0)]
    mirror = Mirror(path, lambda: JournalReader.open(path), clock=lambda: now[0])
    mirror._since = 0
    assert mirror.trouble == ""
    now[0] = Instant(LATE + SECOND, 0)
    assert "longer than a minute" in mirror.trouble and "longer than a minute" in str(mirror.view(9)["error"])


def test_an_error_that_nobody_thought_of_ends_neither_the_mirror_nor_the_next_backup(
    path: Path, tmp_path: Path
) -> None:
    rows = fill(path)
    left = [2]

    def opened() -> JournalReader:
        left[0] -= 1
        if left[0] >= 0:
            raise RuntimeError("a fault of ours")
        return JournalReader.open(path)

    mirror = Mirror(tmp_path / "mirror.db", opened, every=0.01, retry=0.02)
    mirror.start()
    until(lambda: mirror.row == len(rows) and not mirror.trouble, "it goes on")
    assert mirror.stop(5)

    left[0] = 1
    backups = Backups(opened, tmp_path / "backups")
    assert backups.start()
    until(lambda: not backups.view()["running"], "it is told")
    assert "a fault of ours" in backups.view()["error"]
    assert backups.start()
    until(lambda: not backups.view()["running"], "it is made")
    assert backups.view()["row"] == len(rows)


@pytest.mark.parametrize("other", ["T07-2", "T07-abcdef", "T07-abcdef-1", "T070", "xT07"])
def test_a_backup_leaves_those_of_another_table_alone(other: str, path: Path, tmp_path: Path) -> None:
    fill(path)
    folder = tmp_path / "backups"
    folder.mkdir()
    theirs = [folder / f"{other}-4f2a91-100.{suffix}" for suffix in ("part", "db")]
    ours = folder / "T07-4f2a91-100.part"
    for file in (*theirs, ours):
        file.touch()
    with contextlib.closing(JournalReader.open(path)) as reader:
        made, _ = backup(reader, folder)
    assert all(file.exists() for file in theirs) and not ours.exists()
    assert backups_of("T07", folder) == [made]


# --- what was lost ------------------------------------------------------------------------------------


def test_a_table_whose_newest_rows_were_lost_is_held_and_says_so() -> None:
    play = Play().idle()
    play.give(Started(play.now(), "1", "rows 7 to 9 are lost", True))
    assert play.alerts == ["journal-mended"] and play.codes == ["called"]
    play = Play().idle()
    play.give(Started(play.now(), "1", "an index was damaged; no row is lost"))
    assert play.alerts == ["journal-mended"] and play.codes == []
    play = Play().opened()
    play.give(Started(play.now(), "1", "rows 7 to 9 are lost", True))
    assert play.alerts == ["journal-mended"] and play.codes == []


@pytest.mark.parametrize("proof", ["older", "gone", "damaged", "whole"])
def test_when_nothing_proves_the_end_the_servers_first_answer_is_looked_at(path: Path, proof: str) -> None:
    """As after a power cut: the file that says what the last row was is the older one, or is gone."""
    rows = fill(path)
    record = path.parent / "T07.db.newest"
    before = record.read_bytes()
    journal = Journal.open(path, "T07")
    assert journal.sure() is None
    journal.append([Row(len(rows) + 1, None, None, rows[0].private)])
    journal.close()
    match proof:
        case "older":
            record.write_bytes(before)
        case "gone":
            record.unlink()
        case "damaged":
            record.write_bytes(record.read_bytes().replace(b" ", b"x", 1))
    again = Journal.open(path, "T07")
    assert again.sure() == (None if proof == "whole" else again.last()[1])
    assert not again.mended
    again.close()
    once_more = Journal.open(path, "T07")
    assert once_more.sure() == again_sure(proof, once_more), "until the server has answered"
    once_more.set_acked(once_more.last()[1])
    assert once_more.sure() is None


@pytest.mark.parametrize("state", ["plain", "index", "schema"])
@pytest.mark.parametrize("dies", ["_transact before", "NewestFile.begin before", "NewestFile.begin behind"])
def test_a_doubt_outlives_a_start_that_fails(
    state: str, dies: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason for it, an older ``.newest``, may be gone by then."""
    rows = fill(path)
    record = path.parent / "T07.db.newest"
    older = record.read_bytes()
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        journal.append([Row(len(rows) + 1, None, None, rows[0].private)])
        sure = journal.last()[1]
    record.write_bytes(older)
    if state == "index":
        damage(path, "rows_type")
    elif state == "schema":
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE meta SET value = '1' WHERE key = 'schema'")
    where, when = dies.split()
    owner, name = (NewestFile, "begin") if where == "NewestFile.begin" else (Journal, "_transact")
    work = getattr(owner, name)

    def fail(*values: object) -> None:
        if when == "behind":
            work(*values)
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail)
        with contextlib.suppress(OSError):
            Journal.open(path, "T07").close()
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        assert journal.sure() == sure


def again_sure(proof: str, journal: Journal) -> int | None:
    return None if proof == "whole" else journal.last()[1]


def test_no_copy_is_left_half_done(path: Path, tmp_path: Path) -> None:
    fill(path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE rows SET raw = x'00' WHERE row = 40")
        db.commit()
    with pytest.raises(JournalFault, match="row 40"):
        copy_rows(JournalReader.open(path), tmp_path / "copy.db")
    assert not list(tmp_path.glob("copy*"))
    assert os.listdir(tmp_path)


def test_what_is_damaged_is_not_sent(path: Path) -> None:
    rows = fill(path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE rows SET public = replace(public, 'tablectl', 'tabl_ctl') WHERE row = 40")
        db.commit()
    reader = JournalReader.open(path)
    sequence = rows[39].sequence
    assert sequence is not None
    assert len(reader.bodies(sequence - 3, 3)) == 3
    with pytest.raises(JournalFault, match="row 40: "):
        reader.bodies(sequence, 1)


# --- a restart ----------------------------------------------------------------------------------------


def test_a_restart_reads_as_much_of_a_long_journal_as_of_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted, not timed; and what it comes to is what every row leads to."""
    read: list[int] = []
    every = JournalReader._all

    def counted(reader: JournalReader, sql: str, *values: object) -> list[tuple[object, ...]]:
        found = every(reader, sql, *values)
        read[-1] += len(found)
        return found

    for shoes in (12, 60):
        folder = tmp_path / str(shoes)
        folder.mkdir()
        rows = fill(folder / "T07.db", shoes)
        assert len(rows) > 500
        with monkeypatch.context() as patch:
            read.append(0)
            patch.setattr(JournalReader, "_all", counted)
            journal = Journal.open(folder / "T07.db", "T07")
            past = replay_journal(journal)
        assert past.state == replay((row.row, decode_row(row)[0]) for row in rows)
        journal.close()
    assert abs(read[1] - read[0]) < 60, read
