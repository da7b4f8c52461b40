"""A journal stays of one kind, test or real: a start, a reload and `check` refuse the other one."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from tablectl.cli.check.findings import FAIL, OK, Finding
from tablectl.cli.check.journal import journal_findings
from tablectl.clock import Instant, now
from tablectl.config import Config, load_config
from tablectl.events import ControllerStarted, private_body
from tablectl.journal import Journal, JournalFault, Row
from tablectl.keeping import Keeping
from tablectl.profiles import ConfigError
from tablectl.runtime import Runtime
from tests.api.test_app import Bench
from tests.e2e.harness import BARE
from tests.journals import played, rows_of


def config(folder: Path, test: bool, name: str = "T07") -> Config:
    path = folder / "T07.toml"
    path.write_text(
        f'[table]\nid = "T07"\ntest = {str(test).lower()}\n[scanner]\ndriver = "angel-eye"\n'
        f'device = "tcp://127.0.0.1:9"\n[journal]\npath = "{name}.db"\n[api]\nsocket = "none"\n'
    )
    return load_config(path)


@cache
def of(test: bool, epoch: str) -> tuple[Row, ...]:
    """A shoe's rows of that kind."""
    rows = tuple(rows_of(played(1), epoch))
    return rows if test else tuple(real(row) for row in rows)


def real(row: Row) -> Row:
    mark = b'"tabletest":true,'
    return row if row.public is None else replace(row, public=row.public.replace(mark, b""))


def begin(path: Path, test: bool) -> list[Row]:
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        rows = list(of(test, journal.epoch))
        journal.append(rows)
    return rows


def starts(config: Config) -> str:
    """Why a start's first step refuses; "": it does not. Nothing of it is left."""
    try:
        keeping = Keeping(config, lambda: None, now)
    except JournalFault as fault:
        return str(fault)
    assert keeping.close(5)
    return ""


def checked(config: Config) -> Finding:
    *_, found = journal_findings(config)
    return found


@pytest.mark.parametrize("its", [True, False])
def test_a_start_and_check_refuse_the_other_kind_and_say_the_ways_out(tmp_path: Path, its: bool) -> None:
    path = tmp_path / "T07.db"
    begin(path, its)
    before = path.read_bytes()
    for _ in range(2):
        told = starts(config(tmp_path, not its))
        assert ("those of a test table" in told, "those of a real table" in told) == (its, not its)
        found = checked(config(tmp_path, not its))
        assert (found.grade, found.text) == (FAIL, f"a start refuses it: {told}")
        with pytest.raises(JournalFault, match="stays of one kind"):
            Runtime(config(tmp_path, not its)).start()
    assert path.read_bytes() == before
    # The three ways out, as they are told.
    assert "Set [table] test as it was" in told
    assert starts(config(tmp_path, its)) == ""
    assert "name another [journal] path" in told
    assert starts(config(tmp_path, not its, "other")) == ""
    assert f"move {path.name} and what lies beside it away" in told
    (tmp_path / "away").mkdir()
    for one in tmp_path.glob("T07.db*"):
        shutil.move(one, tmp_path / "away")
    assert starts(config(tmp_path, not its)) == ""
    assert checked(config(tmp_path, its)).grade == OK, "a journal without an event is of neither kind"


def test_the_newest_event_counts_whatever_private_rows_stand_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "T07.db"
    rows = begin(path, True)
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        for number in range(rows[-1].row + 1, rows[-1].row + 30):
            at = Instant(number, number)
            journal.append([Row(number, None, None, private_body(ControllerStarted(version="1"), at))])
    assert "those of a test table" in starts(config(tmp_path, False))
    assert starts(config(tmp_path, True)) == ""


def test_where_the_torn_end_is_cut_off_what_is_left_tells(tmp_path: Path) -> None:
    """The end of another kind that is never kept says nothing; `check` and the start find the same."""
    path = tmp_path / "T07.db"
    with contextlib.closing(Journal.open(path, "T07")) as journal:
        rows = list(of(True, journal.epoch))
        last = max(row.row for row in rows if row.public is not None)
        journal.append([real(row) if row.row == last else row for row in rows[:last]])
        journal._db.execute("UPDATE rows SET private = x'00' WHERE row = ?", [last])
    assert "those of a test table" in checked(config(tmp_path, False)).text
    assert checked(config(tmp_path, True)).grade != FAIL
    assert starts(config(tmp_path, True)) == ""


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """A test table that runs."""
    with Bench("bee-tek", overrides=BARE) as made:
        made.wait(lambda state: state["sequence"] > 0, "an event")
        yield made


def switched(text: str, device: str) -> str:
    """A real table's scanner, too: else it is refused for that."""
    return text.replace("test = true", "test = false").replace(device, "tcp://127.0.0.1:9")


@pytest.mark.parametrize(
    ("more", "refused"),
    [(lambda text: text, True), (lambda text: text.replace("E2E.db", "other.db"), False)],
    ids=["the same journal", "another one"],
)
def test_at_a_running_table_a_reload_and_check_say_what_a_restart_would_do(
    bench: Bench, more: Callable[[str], str], refused: bool
) -> None:
    good = bench.config.read_text()
    try:
        bench.config.write_text(more(switched(good, str(bench.shoe.device))))
        new = load_config(bench.config)
        said = [found.text for found in journal_findings(new) if found.grade == FAIL]
        if refused:
            with pytest.raises(ConfigError, match=r"table\.test: .* stays of one kind"):
                bench.runtime.reload(new)
            assert len(said) == 1 and said[0].startswith("the next start refuses it: ")
        else:
            assert "table.test" in bench.runtime.reload(new).later
            assert said == []
    finally:
        bench.config.write_text(good)
    assert [found.grade for found in journal_findings(load_config(bench.config))] == [OK]
