"""Journals of earlier releases: written anew in the schema of today, whole or not at all; never backwards."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tablectl.journal import Journal, JournalFault, JournalReader, JournalUnavailable
from tablectl.journal import repair as journal_repair
from tablectl.journal.backup import backup, restore
from tablectl.journal.copy import INSERT, values_of
from tablectl.journal.file import SCHEMA, open_existing
from tablectl.journal.replay import replay_journal
from tablectl.journal.rows import chained, genesis
from tablectl.journal.verify import verify_span
from tests.data_tools.golden import fold
from tests.journal.test_golden import GOLDEN, Kept, load

SCHEMA_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE rows (
    row INTEGER PRIMARY KEY, sequence INTEGER UNIQUE, public BLOB, private BLOB NOT NULL, raw BLOB NOT NULL,
    prev_hash BLOB NOT NULL, hash BLOB NOT NULL, type TEXT NOT NULL, shoe INTEGER, round INTEGER);
CREATE INDEX rows_round ON rows (shoe, round);
CREATE INDEX rows_type ON rows (type);
"""
"""As release 0.1.0 made it."""


def old(path: Path, kept: Kept) -> None:
    """The journal that the release left."""
    table, epoch = kept.about["table"], kept.about["epoch"]
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(SCHEMA_1)
        meta = {"schema": 1, "table": table, "epoch": epoch, "acked": 5}
        db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        digest = genesis(table, epoch)
        for row in kept.rows:
            before, digest = digest, chained(digest, row)
            db.execute(INSERT, values_of(row, before, digest))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.stem)
def kept(request: pytest.FixtureRequest) -> Kept:
    return load(request.param)


def test_a_journal_of_an_earlier_release_opens_replays_and_goes_on(kept: Kept, tmp_path: Path) -> None:
    path, table = tmp_path / "T.db", kept.about["table"]
    old(path, kept)
    content = path.read_bytes()
    journal = Journal.open(path, table)
    assert journal.rows() == kept.rows and journal.acked() == 5 and not journal.mended
    assert journal.meta()["schema"] == str(SCHEMA)
    assert journal.walk(0)[2].hex() == kept.about["hash"]
    state = replay_journal(journal).state
    whole = list(fold(kept.rows))[-1]
    names = ("phase", "shoe", "round", "row", "sequence", "version", "holds", "dealer")
    assert [getattr(state, n) for n in names] == [getattr(whole, n) for n in names]
    after, spans = 0, 0
    while not (span := verify_span(journal, after)).finished:
        after, spans = span.last, spans + 1
    assert spans == sum(b'"type":"shoe.started"' in row.private for row in kept.rows)
    row, _ = journal.last()
    journal.append([type(kept.rows[0])(row + 1, None, None, kept.rows[0].private)])
    journal.close()
    assert Journal.open(path, table).verify() == row + 1
    (before,) = tmp_path.glob("T.db.schema1-*Z")
    assert before.read_bytes() == content, "what the release before can read is kept"


def test_a_backup_of_an_earlier_release_goes_back(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    old(tmp_path / "old" / "T.db", kept)
    with contextlib.closing(JournalReader.open(tmp_path / "old" / "T.db")) as reader:
        file, _ = backup(reader, tmp_path / "backups")
    for source in (file, tmp_path / "old" / "T.db"):
        restore(source, tmp_path / "new.db", kept.about["table"])
        journal = Journal.open(tmp_path / "new.db", kept.about["table"])
        assert journal.rows() == kept.rows
        journal.close()


@pytest.mark.parametrize("step", ["copy_rows", "decide"])
def test_a_migration_that_is_cut_short_leaves_the_old_journal(
    kept: Kept, tmp_path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, table = tmp_path / "T.db", kept.about["table"]
    old(path, kept)
    content = path.read_bytes()

    def fails(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(journal_repair, step, fails)
        with pytest.raises(JournalUnavailable, match=r"T\.db: No space left"):
            Journal.open(path, table)
    assert path.read_bytes() == content
    assert not list(tmp_path.glob("*schema1*")), "a start is tried once a second"
    assert Journal.open(path, table).rows() == kept.rows


@pytest.mark.parametrize("schema", ["3", "99", "0", "x", ""])
def test_a_newer_schema_is_refused_in_words(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "T07.db"
    Journal.open(path, "T07").close()
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (schema,))
        db.commit()
    with pytest.raises(
        JournalFault, match=r"this tablectl reads 2; run the version that wrote it, or a newer"
    ):
        Journal.open(path, "T07")
    with pytest.raises(JournalFault, match="run the version that wrote it"):
        JournalReader.open(path)


def test_only_the_schema_of_today_is_written(kept: Kept, tmp_path: Path) -> None:
    old(tmp_path / "T.db", kept)
    with pytest.raises(JournalFault, match="schema version 1"):
        open_existing(tmp_path / "T.db", "rw")
