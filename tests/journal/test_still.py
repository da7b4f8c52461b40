"""`tablectl check` of a stopped table says of its journal what a start then does, and changes nothing."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tablectl.cli import main
from tablectl.cli.check import journal as check_journal
from tablectl.cli.check.copies import copies_findings
from tablectl.cli.check.findings import FAIL, OK, WARN, Finding
from tablectl.cli.check.journal import history, journal_findings
from tablectl.clock import Instant
from tablectl.config import load_config
from tablectl.events import AlertRaised, ControllerStarted, RoundResulted, private_body, public_body
from tablectl.journal import Journal, JournalFault, JournalUnavailable, Row, decode_row
from tablectl.journal.beside import _ALSO, _MADE
from tablectl.journal.reader import PAGE
from tablectl.journal.replaced import decide
from tablectl.journal.replay import replay_journal
from tablectl.lock import TableLock
from tests.journals import fill

CONFIG = (
    '[table]\nid = "T07"\ntest = true\n[scanner]\ndriver = "angel-eye"\ndevice = "tcp://127.0.0.1:9"\n'
    '[journal]\npath = "T07.db"\n[api]\nsocket = "none"\n'
)


def does(path: Path, *statements: str) -> None:
    """Change a journal as nobody should."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def in_log(path: Path) -> None:
    """As a killed process leaves it: with a log, whose rows are in no other file."""
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        row, sequence = journal.last()
        event = AlertRaised(alert="beeper", message="no such card")
        at = Instant(row + 1, row + 1)
        body = public_body(event, table="T07", epoch=journal.epoch, sequence=sequence + 1, at=at, test=True)
        more = Row(row + 1, sequence + 1, body, private_body(event, at))
        journal.append([more])
        files = {one: one.read_bytes() for one in path.parent.glob("T07.db*")}
    for one, content in files.items():
        one.write_bytes(content)


def impossible(path: Path) -> None:
    """A row that is whole, in its place, and cannot have happened: a result of no round."""
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        row, sequence = journal.last()
        result = next(
            event
            for event in (decode_row(one)[0] for one in journal.every_row())
            if isinstance(event, RoundResulted)
        )
        at = Instant(row + 1, row + 1)
        body = public_body(result, table="T07", epoch=journal.epoch, sequence=sequence + 1, at=at, test=True)
        journal.append([Row(row + 1, sequence + 1, body, private_body(result, at))])


def torn(path: Path) -> None:
    does(path, "UPDATE rows SET private = x'00' WHERE row = (SELECT max(row) FROM rows)")


def both(path: Path) -> None:
    """What was torn is cut, and what is left then cannot have happened."""
    impossible(path)
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        row, _ = journal.last()
        (last,) = journal.rows(row - 1)
        journal.append([Row(row + 1, None, None, last.private)])
    torn(path)


def replaced(path: Path) -> None:
    """A restore that was cut short behind its decision."""
    new = path.with_name("new")
    new.write_bytes(path.read_bytes())
    decide(new, path)
    path.write_bytes(b"of yesterday")


def other(path: Path) -> None:
    begun(path)
    Journal.open(path, "T08").close()


def begun(path: Path) -> None:
    for one in path.parent.glob("T07.db*"):
        one.unlink()


def lacks(path: Path) -> None:
    """An index does not lead to the newest rows."""
    whole = "CREATE INDEX rows_type ON rows (type)"
    less = f"UPDATE sqlite_master SET sql = '{whole}' WHERE name = 'rows_type'"
    does(path, "DROP INDEX rows_type", f"{whole} WHERE row < 9", "PRAGMA writable_schema=1", less)


def sql(statement: str) -> Callable[[Path], object]:
    return lambda path: does(path, statement)


def each(*changes: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda path: [change(path) for change in changes]


def twice(path: Path, suffix: str) -> None:
    path.with_name("other").hardlink_to(path.with_name(path.name + suffix))


def link(suffix: str) -> Callable[[Path], object]:
    def change(path: Path) -> None:
        at = path.with_name(path.name + suffix)
        if at.exists():
            at.rename(path.with_name("elsewhere"))
        path.with_name("elsewhere").touch()
        at.symlink_to("elsewhere")

    return change


LAST = "(SELECT max(row) FROM rows)"


def long_and_renamed(path: Path) -> None:
    """Of more rows than a start looks at: the first one, whose hash names the history, is not among them."""
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        row, _ = journal.last()
        more = private_body(ControllerStarted(version="1"), Instant(1, 1))
        journal.append([Row(row + n, None, None, more) for n in range(1, PAGE + 1)])
    does(path, "UPDATE meta SET value = 'abcdef' WHERE key = 'epoch'")


RENAMED = "a long one, of another history than its rows"
READY_TWICE = "replaced by a file with a second name"
CASES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "good": (OK, lambda path: None),
    "none yet": (OK, begun),
    "killed": (OK, in_log),
    "killed, its index gone": (OK, each(in_log, lambda path: path.with_name("T07.db-shm").unlink())),
    "torn": (WARN, torn),
    "lost": (WARN, sql(f"DELETE FROM rows WHERE row = {LAST}")),
    "index": (WARN, lacks),
    "replaced": (WARN, replaced),
    "empty": (FAIL, lambda path: path.write_bytes(b"")),
    "garbage": (FAIL, lambda path: path.write_bytes(b"garbage" * 1000)),
    "truncated": (FAIL, lambda path: os.truncate(path, path.stat().st_size // 2)),
    "cut to a byte, all in its log": (FAIL, each(in_log, lambda path: os.truncate(path, 1))),
    "a row in the middle": (FAIL, sql(f"UPDATE rows SET raw = x'00' WHERE row = {LAST} - 9")),
    "behind the acknowledged": (FAIL, sql("DELETE FROM rows WHERE row > 60")),
    "acknowledged what is not there": (FAIL, sql("UPDATE meta SET value = 99999 WHERE key = 'acked'")),
    "schema 3": (FAIL, sql("UPDATE meta SET value = 3 WHERE key = 'schema'")),
    "another table's": (FAIL, other),
    "a trigger": (FAIL, sql("CREATE TRIGGER t AFTER INSERT ON rows BEGIN SELECT 1; END")),
    "gone": (FAIL, lambda path: path.unlink()),
    "a log alone": (FAIL, each(begun, lambda path: path.with_name("T07.db-wal").write_bytes(b"x"))),
    "a folder": (FAIL, each(Path.unlink, Path.mkdir)),
    "a second name": (FAIL, lambda path: path.with_name("other").hardlink_to(path)),
    READY_TWICE: (FAIL, each(replaced, lambda path: twice(path, ".ready"))),
    "a link for what says which was the last row": (FAIL, link(".newest")),
    "a link for the index of the log": (FAIL, link("-shm")),
    "of another history than its rows": (FAIL, sql("UPDATE meta SET value = 'abcdef' WHERE key = 'epoch'")),
    RENAMED: (FAIL, long_and_renamed),
    "cannot have happened": (FAIL, impossible),
    "torn, and cannot have happened": (FAIL, both),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("played")
    fill(folder / "T07.db", 2)
    return {one.name: one.read_bytes() for one in folder.iterdir()}


@pytest.fixture
def table(played: dict[str, bytes], tmp_path: Path) -> Path:
    for name, content in played.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "T07.toml").write_text(CONFIG)
    return tmp_path


def of_journal(table: Path) -> Finding:
    _, found = journal_findings(load_config(table / "T07.toml"))
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_check_foretells_what_a_start_does_and_changes_nothing(table: Path, case: str) -> None:
    path = table / "T07.db"
    grade, change = CASES[case]
    change(path)
    says_what_a_start_does(table, case, grade)


def says_what_a_start_does(table: Path, case: str, grade: str) -> None:
    path = table / "T07.db"
    names = {one.name for one in table.iterdir()}
    lock = table / "T07.lock"
    if not lock.exists():
        lock.write_text("4711\n")
        names.add(lock.name)
    kept = [one for one in table.iterdir() if one.is_file()]
    before = {one: (one.stat().st_mtime_ns, one.stat().st_ino, one.read_bytes()) for one in kept}
    found = of_journal(table)
    history(load_config(table / "T07.toml"))
    list(copies_findings(load_config(table / "T07.toml")))
    assert {one.name for one in table.iterdir()} == names
    assert {one: (one.stat().st_mtime_ns, one.stat().st_ino, one.read_bytes()) for one in kept} == before
    assert found.grade == grade, found
    refused = ""
    try:
        with contextlib.closing(Journal.open(path, "T07")) as journal:
            mended = journal.mended
            replay_journal(journal)
    except (JournalFault, JournalUnavailable) as fault:
        refused = str(fault)
    assert bool(refused) == (grade == FAIL)
    if refused and case not in ("torn, and cannot have happened", READY_TWICE):
        assert found.text in (f"a start refuses it: {refused}", f"a start fails: {refused}")
    if case == RENAMED:
        assert "newest event (row" in refused and "is of" in refused, (
            "not only by a row that happens to be read"
        )
    if case in ("torn", "lost", "index"):
        assert mended.split("; copy: ")[0] in found.text


@pytest.mark.parametrize("begun_before", [True, False])
@pytest.mark.parametrize("suffix", [one for one in (*_MADE, *_ALSO) if one])
def test_a_folder_in_the_way_of_a_start_is_told_by_a_check(
    table: Path, suffix: str, begun_before: bool
) -> None:
    """Under whatever name a start makes, writes or removes a file."""
    path = table / "T07.db"
    if not begun_before:
        begun(path)
    at = path.with_name(path.name + suffix)
    at.unlink(missing_ok=True)
    at.mkdir()
    says_what_a_start_does(table, suffix, FAIL)
    assert f"{at} is no file" in of_journal(table).text


@pytest.mark.parametrize(
    ("flag", "name"),
    [("a", ""), ("a", "T07.db"), ("i", "T07.db"), ("i", "T07.db.newest"), ("a", "T07.db.newest")],
)
def test_what_the_file_system_keeps_from_being_changed_is_told_by_a_start_and_a_check(
    table: Path, flag: str, name: str
) -> None:
    """SQLite opens such a file for reading alone, and nothing fails before the first row."""
    at = table / name
    if subprocess.run(["chattr", f"+{flag}", at], check=False, capture_output=True).returncode:
        pytest.skip("no right to set that, or no file system that has it")
    try:
        says_what_a_start_does(table, name, FAIL)
    finally:
        subprocess.run(["chattr", f"-{flag}", at], check=True)
    assert of_journal(table).grade == OK


def test_a_folder_in_the_place_of_the_lock_is_told(table: Path) -> None:
    (table / "T07.lock").mkdir()
    with pytest.raises(IsADirectoryError), TableLock(table / "T07.db", "T07"):
        pass
    found = of_journal(table)
    assert found.grade == FAIL and "Is a directory" in found.text and "T07.lock" in found.text


def test_a_refused_journal_makes_the_check_fail(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def graded() -> dict[str, str]:
        main(("check", "--json", "--config", str(table / "T07.toml")))
        return {one["text"]: one["grade"] for one in json.loads(capsys.readouterr().out)["findings"]}

    assert any(grade == "ok" and ": history " in text for text, grade in graded().items())
    (table / "T07.db").write_bytes(b"")
    assert any(grade == "fail" and "tablectl journal restore" in text for text, grade in graded().items())


def test_a_check_of_a_long_journal_ends(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_journal, "LOOK", -1)
    assert of_journal(table).grade == WARN and "a start takes longer" in of_journal(table).text
    over = threading.Event()
    monkeypatch.setattr(check_journal, "SECONDS", 1.01)
    monkeypatch.setattr(check_journal, "_next_start", lambda _: over.wait(5))
    assert of_journal(table).grade == FAIL and "does not answer" in of_journal(table).text
    over.set()


def test_a_check_while_another_process_holds_the_table_looks_at_nothing(table: Path) -> None:
    (table / "T07.db").write_bytes(b"")
    with TableLock(table / "T07.db", "T07"):
        found = of_journal(table)
    assert found.grade == WARN and "is held by process" in found.text
