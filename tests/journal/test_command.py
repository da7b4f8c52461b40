"""``tablectl journal``: through a daemon at play, and from the file when it is stopped."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shutil
import socket
import sqlite3
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from tablectl.api import journal as api_journal
from tablectl.cli import main
from tablectl.cli.check import copies as check_copies
from tablectl.cli.check.copies import copies_findings
from tablectl.config import load_config
from tablectl.journal import Journal, JournalFault, JournalReader, Row
from tablectl.journal import newest as journal_newest
from tablectl.journal.backup import NotRestored, backup, restore
from tablectl.journal.copy import copy_rows
from tablectl.journal.pages import Wanted, page
from tests.api.test_app import CARDS, Bench
from tests.e2e.harness import BARE, PIT_BOSS, Rig, until
from tests.journals import fill, starts

LEAST = """[table]
id = "T07"
[scanner]
driver = "angel-eye"
device = "/dev/null"
[journal]
path = "T07.db"
mirror = "{away}/m.db"
[api]
socket = "none.sock"
"""
Typed = tuple[int, str, str]


def typed(capsys: pytest.CaptureFixture[str], *words: str) -> Typed:
    capsys.readouterr()
    code = main(["journal", *words])
    out, err = capsys.readouterr()
    return code, out, err


# --- with the daemon ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    """One round was played; the second is in the middle, a burn card is hidden."""
    with Bench("bee-tek", overrides=BARE | {"burn": {"by": "count"}}) as rig:
        text = rig.config.read_text()
        rig.config.write_text(text.replace("[journal]\n", f'[journal]\nmirror = "{rig.folder}/mirror.db"\n'))
        assert rig.runtime.stop()
        rig.runtime = type(rig.runtime)(load_config(rig.config))
        rig.runtime.start()
        rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        rig.do("open")
        rig.do("sign-in", name="Dora", pickup="left")
        rig.new_shoe("KD 4S 5S 6S 7S TS " + CARDS * 8)
        for _ in range(6):
            rig.shoe.draw(burn=True)
        rig.phase("idle")
        rig.play_round(4)
        rig.bets()
        rig.deal(2)
        yield rig


def test_verify_through_the_daemon(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = typed(capsys, "verify", "--socket", str(bench.socket_path))
    assert code == 0 and "every hash fits" in out and "last hash" not in out
    code, out, _ = typed(capsys, "verify", "--json", "--socket", str(bench.socket_path))
    found = json.loads(out)
    assert (code, found["good"], found["row"]) == (0, True, bench.client.state()["row"])


def test_what_is_hidden_in_play_is_hidden_and_revealed_to_a_pit_boss(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ["--socket", str(bench.socket_path)]
    _, state = 0, bench.client.state()
    code, out, _ = typed(capsys, "show", f"1-{state['row']}", "--json", *at)
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [r["row"] for r in rows] == list(range(1, state["row"] + 1))
    burn = next(r for r in rows if r["type"] == "card.burned")
    assert burn["hidden"] and "private" not in burn and burn["hash"] is None
    assert "KD" not in out
    start = next(r["row"] for r in rows if r["type"] == "shoe.started")
    assert all((r["hash"] is None) == (r["row"] >= start) for r in rows)
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", open("/dev/null"))  # noqa: SIM115
        reveal = ["show", str(burn["row"]), "--reveal", "--as", PIT_BOSS.name, "--reason", "dispute: seat 3"]
        code, _, err = typed(capsys, *reveal, "--pin-stdin", *at)
        assert code == 1 and "PIN" in err
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PIT_BOSS.pin}\n"))
    code, out, _ = typed(capsys, *reveal, "--pin-stdin", *at)
    assert code == 0 and "KD" in out
    reader = JournalReader.open(bench.journal_path)
    told = [r for r in reader.every_row() if b"journal show --reveal" in r.private]
    reader.close()
    assert told and f"rows {burn['row']} to {burn['row']}".encode() in told[-1].private
    code, _, err = typed(capsys, "show", "1-600", "--reveal", "--as", "pit", "--reason", "other: x", *at)
    assert code == 1 and "at most 500 rows" in err


def test_export_is_what_was_published_and_replaces_nothing(
    bench: Bench, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = ["--socket", str(bench.socket_path)]
    lines, table = tmp_path / "events.jsonl", tmp_path / "events.csv"
    code, out, _ = typed(capsys, "export", str(lines), *at)
    assert code == 0
    reader = JournalReader.open(bench.journal_path)
    bodies = [row.public for row in reader.every_row() if row.public is not None]
    reader.close()
    assert lines.read_bytes().splitlines() == bodies[: len(lines.read_bytes().splitlines())]
    assert "KD" not in lines.read_text()
    assert lines.stat().st_mode & 0o077 == 0
    code, _, err = typed(capsys, "export", str(lines), *at)
    assert code == 1 and "is there already" in err
    code, _, _ = typed(capsys, "export", str(table), "--round", "1/1", *at)
    found = list(csv.DictReader(table.open(newline="")))
    assert code == 0 and {(r["shoe"], r["round"]) for r in found} == {("1", "1")}
    assert [r["type"] for r in found][-1] == "tablectl.round.resulted.v1"
    code, out, _ = typed(capsys, "export", str(tmp_path / "none.csv"), "--until", "2020-01-01T00:00", *at)
    assert code == 0 and ": 0 events, as CSV" in out
    code, out, _ = typed(capsys, "export", str(tmp_path / "e.txt"), "--round", "1/1", *at)
    assert code == 0 and "one JSON event a line" in out
    for what in (("--round", "9/9"), ("--shoe", "9")):
        code, out, err = typed(capsys, "export", str(tmp_path / "nothing.csv"), *what, *at)
        assert (code, out) == (1, "") and f"no event of {what[0][2:]} {what[1]} is in this journal" in err
        assert not (tmp_path / "nothing.csv").exists()


def test_a_backup_while_it_plays_is_whole_and_goes_back(
    bench: Bench, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = typed(capsys, "backup", "--json", "--socket", str(bench.socket_path))
    made = json.loads(out)
    assert code == 0
    file = Path(made["file"])
    reader = JournalReader.open(file)
    assert file.name == f"E2E-{reader.epoch}-{made['row']}.db"
    assert reader.verify() == made["row"]
    reader.close()
    said = restore(file, tmp_path / "E2E.db", "E2E")
    assert any("the server is ahead of this journal" in line for line in said)
    journal = Journal.open(tmp_path / "E2E.db", "E2E")
    assert journal.sure() == made["sequence"] and not journal.mended
    code, _, err = typed(capsys, "backup", "--to", str(tmp_path), "--socket", str(bench.socket_path))
    assert code == 1 and "[journal] backups" in err
    code, _, err = typed(capsys, "restore", str(file), "--config", str(bench.config))
    assert code == 1 and "stop it first" in err


def said(config: Path) -> dict[str, tuple[str, str]]:
    """What `tablectl check` says of mirror and backups."""
    return {one.what: (one.grade, one.text) for one in copies_findings(load_config(config))}


def test_check_tells_of_mirror_and_backups(bench: Bench, tmp_path: Path) -> None:
    grade, text = said(bench.config)["mirror"]
    assert grade == "warn" and "on the same disk as the journal" in text and " rows behind" in text

    fill(tmp_path / "T07.db")
    config, away = tmp_path / "T07.toml", Path("/dev/shm") / f"tablectl-{os.getpid()}"
    config.write_text(LEAST.replace("{away}", str(away)))
    assert "is its medium there?" in said(config)["mirror"][1]
    away.mkdir()
    try:
        assert said(config)["mirror"] == ("ok", f"{away}/m.db, not there yet; the daemon makes it")
        with contextlib.closing(JournalReader.open(tmp_path / "T07.db")) as reader:
            copy_rows(reader, away / "m.db", 40)
            rows = reader.last()[0]
            assert said(config)["mirror"] == ("ok", f"{away}/m.db, {rows - 40} rows behind")
            assert [one.name for one in away.iterdir()] == ["m.db"], "who looks leaves nothing there"
            (away / "m.db").write_bytes(b"no journal")
            assert said(config)["mirror"][0] == "warn"
            assert said(config)["backups"] == ("warn", said(config)["backups"][1])
            backup(reader, tmp_path / "backups")
        assert said(config)["backups"] == ("ok", f"1 in {tmp_path}/backups, the newest 0 hours old")
        (one,) = (tmp_path / "backups").iterdir()
        os.utime(one, (0, 0))
        assert said(config)["backups"][0] == "warn"
        config.write_text(LEAST.replace('mirror = "{away}/m.db"', ""))
        assert said(config)["mirror"][0] == "warn"
    finally:
        shutil.rmtree(away)


def test_check_does_not_wait_for_a_medium_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, over = tmp_path / "T07.toml", threading.Event()
    config.write_text(LEAST.replace("{away}", str(tmp_path)))
    monkeypatch.setattr(check_copies, "SECONDS", 0.01)
    monkeypatch.setattr(check_copies, "_mirror", lambda *_: over.wait(5))
    assert said(config)["mirror"] == ("warn", f"{tmp_path}/m.db: its medium does not answer")
    over.set()


def test_the_daemons_folder_of_backups_is_bounded(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    folder = bench.folder / "backups"
    folder.mkdir(exist_ok=True)
    stuff = [folder / f"E2E-4f2a91-{n}.db" for n in range(20)]
    for one in stuff:
        one.touch()
    code, _, err = typed(capsys, "backup", "--socket", str(bench.socket_path))
    assert code == 1 and "move some of them away" in err
    for one in stuff:
        one.unlink()


def test_the_mirror_of_a_table_at_play(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    until(lambda: bench.client.get("/v1/journal")[1]["mirror"]["behind"] == 0, "the mirror has all")
    code, out, _ = typed(capsys, "show", "--socket", str(bench.socket_path))
    assert code == 0 and "0 rows behind" in out


@pytest.mark.parametrize(
    "query", ["after=x", "upto=-1", "shoe=1e3", "since=99999999999999", "round=", "after=%D9%A3"]
)
def test_odd_questions_are_refused(bench: Bench, query: str) -> None:
    assert bench.client.get(f"/v1/journal/rows?{query}")[0] == 400


def test_who_does_not_read_is_cut_off_and_the_log_stays_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_journal, "STALLED", 0.3)
    cut_off, real = threading.Event(), api_journal._sent

    async def sent(request: web.Request, body: bytes) -> web.StreamResponse:
        try:
            return await real(request, body)
        finally:
            cut_off.set()

    monkeypatch.setattr(api_journal, "_sent", sent)
    with Bench("bee-tek", overrides=BARE) as rig:
        private = b'{"type":"controller.started","boot":1,"wall":1,"data":{"version":"1"}}'
        row = rig.client.state()["row"]
        writer = rig.runtime.writer
        journal = rig.runtime.journal
        rows = [Row(row + n, None, None, private, bytes(3000)) for n in range(1, 501)]
        journal.append(rows)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect(str(rig.socket_path))
        sock.sendall(b"GET /v1/journal/rows HTTP/1.1\r\nHost: x\r\n\r\n")
        sock.recv(100)
        done = threading.Event()

        def write() -> None:
            at = row + 500
            for _ in range(200):
                journal.append([Row(at + n, None, None, private, bytes(300)) for n in range(1, 51)])
                at += 50
            done.set()

        threading.Thread(target=write).start()
        assert done.wait(60)
        assert rig.journal_path.with_name("E2E.db-wal").stat().st_size < 16 << 20
        assert cut_off.wait(10)
        sock.settimeout(10)
        received = 0
        with contextlib.suppress(ConnectionError):
            while part := sock.recv(1 << 16):
                received += len(part)
        sock.close()
        assert received < api_journal.CHUNK * 20, "of two million bytes"
        assert rig.client.get("/v1/journal")[1]["row"] >= row + 10_500
        assert writer.state == "ok"


# --- without it ---------------------------------------------------------------------------------------


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[Path]:
    """A configuration whose daemon is stopped, with a journal of three shoes."""
    with Rig("bee-tek") as rig:
        rig.config.write_text(
            rig.config.read_text().replace('id = "E2E"', 'id = "T07"').replace("E2E.db", "T07.db")
        )
        fill(rig.folder / "T07.db")
        yield rig.config


def test_verify_and_export_of_a_stopped_table(
    stopped: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = ["--config", str(stopped)]
    code, out, _ = typed(capsys, "verify", *at)
    assert code == 0 and "rows 1 to 143" in out and "last hash" in out and "143 rows replayed, 4 spans" in out
    target = tmp_path / "shoe.csv"
    assert typed(capsys, "export", str(target), "--shoe", "2", *at)[0] == 0
    assert {r["shoe"] for r in csv.DictReader(target.open(newline=""))} == {"2"}
    with sqlite3.connect(stopped.parent / "T07.db") as db:
        db.execute("UPDATE rows SET raw = x'01' WHERE row = 77")
    db.close()
    code, out, _ = typed(capsys, "verify", *at)
    assert code == 1 and "row 77: its hash does not fit" in out and "near byte" in out
    assert "Restore the mirror or a backup" in out and "daemon" not in out, "none runs"
    code, out, _ = typed(capsys, "verify", "--json", *at)
    assert code == 1 and json.loads(out)["row"] == 77
    code, _, err = typed(capsys, "show", "77", "--reveal", "--as", "bo", "--reason", "other: x", *at)
    assert code == 1 and "daemon alone" in err


def test_an_export_goes_into_a_pipe_whole_and_no_other_command_writes_a_file_called_minus(
    stopped: Path, capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    at = ["--config", str(stopped)]
    assert main(["journal", "export", "events.jsonl", "--round", "1/1", *at]) == 0
    capfd.readouterr()
    assert main(["journal", "export", "-", "--round", "1/1", *at]) == 0
    out, err = capfd.readouterr()
    assert out == (tmp_path / "events.jsonl").read_text() and "written to -: " in err
    assert main(["journal", "export", "-", "--round", "9/9", *at]) == 1
    assert capfd.readouterr().out == ""
    assert main(["capture", "-", *at]) == 1
    assert "./-" in capfd.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["events.jsonl"]


def test_nothing_altered_is_exported_or_shown(
    stopped: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at, path = ["--config", str(stopped)], stopped.parent / "T07.db"
    before = path.read_bytes()
    path.write_bytes(before.replace(b'"outcome":"banker"', b'"outcome":"player"'))
    assert path.read_bytes() != before
    code, out, _ = typed(capsys, "verify", "--json", *at)
    row = json.loads(out)["row"]
    for words in (("export", str(tmp_path / "a.csv")), ("show", str(row)), ("show", f"1-{row}")):
        code, out, err = typed(capsys, *words, *at)
        assert code == 1 and "written" not in out and '"outcome": "player"' not in out
        assert f"row {row}: its hash does not fit: it or the row before was changed" in err
    assert not (tmp_path / "a.csv").exists()
    assert typed(capsys, "show", f"1-{row - 2}", *at)[0] == 0, "what is right is shown"


def test_verify_says_what_is_missing_at_the_end(stopped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = stopped.parent / "T07.db"
    before = path.read_bytes()
    journal = Journal.open(path, "T07")
    row, _ = journal.last()
    journal.append([Row(row + 1, None, None, journal.rows()[0].private)])
    journal.close()
    path.write_bytes(before)
    code, out, _ = typed(capsys, "verify", "--config", str(stopped))
    assert code == 1 and f"the last commits are lost: rows {row + 1} to {row + 1}" in out


ENDS = {
    "as it was": ("", True),
    "the acknowledged rows gone": ("DELETE FROM rows WHERE row >= 100", True),
    "the last row gone, never acknowledged": ("DELETE FROM rows WHERE row = 143", True),
    "more acknowledged than is there": ("UPDATE meta SET value = 999 WHERE key = 'acked'", True),
    "less than nothing acknowledged": ("UPDATE meta SET value = -5 WHERE key = 'acked'", True),
    "less than nothing sure": ("INSERT INTO meta VALUES ('sure', -1)", True),
    "another last row": ("", False),
}


@pytest.mark.parametrize("known", [True, False], ids=["the last row is known", "it is not"])
@pytest.mark.parametrize("end", ENDS)
def test_verify_and_backup_refuse_the_end_that_a_start_refuses_or_repairs(
    stopped: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, end: str, known: bool
) -> None:
    path, at, (sql, same) = stopped.parent / "T07.db", ["--config", str(stopped)], ENDS[end]
    newest = journal_newest.read(path)
    assert newest is not None
    if not same:
        with contextlib.closing(journal_newest.NewestFile(path)) as record:
            record.begin(replace(newest, hash=b"x" * 32))
    if not known:
        (path.parent / "T07.db.newest").unlink()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.executescript(sql)
    verified, backed = typed(capsys, "verify", *at), typed(capsys, "backup", "--to", str(tmp_path), *at)
    try:
        with contextlib.closing(Journal.open(path, "T07")) as journal:
            good, why = not journal.lost, "the next start repairs it"
    except JournalFault as fault:
        good, why = False, str(fault)[len(str(path)) :][:60]
    assert (verified[0], backed[0]) == (int(not good),) * 2, (verified, backed, why)
    assert good or (why in verified[1] + verified[2] and why in backed[2]), (verified, backed, why)
    assert good == (end == "as it was" or (not known and end.startswith(("the last row", "another"))))
    assert good or not list(tmp_path.glob("T07-*"))


def test_restore_keeps_what_was_there_and_asks_before_it_goes_back(
    stopped: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    at = ["--config", str(stopped)]
    path = stopped.parent / "T07.db"
    code, out, _ = typed(capsys, "backup", "--to", str(tmp_path), "--json", *at)
    file = json.loads(out)["file"]
    assert code == 0
    assert typed(capsys, "backup", "--to", str(tmp_path), *at)[0] == 1, "the same rows again"
    journal = Journal.open(path, "T07")
    row, _ = journal.last()
    journal.append([Row(row + 1, None, None, journal.rows()[0].private)])
    journal.close()
    before = path.read_bytes()
    code, _, err = typed(capsys, "restore", file, *at)
    assert code == 1 and f"rows up to {row + 1}" in err and "--older" in err
    assert path.read_bytes() == before
    code, out, _ = typed(capsys, "restore", file, "--older", *at)
    assert code == 0 and f"rows up to {row}" in out
    (aside,) = path.parent.glob("T07.db.replaced-*Z")
    assert aside.read_bytes() == before
    again = Journal.open(path, "T07")
    assert again.last()[0] == row and not again.mended


def test_a_bad_backup_or_another_tables_is_not_put_in_place(tmp_path: Path) -> None:
    fill(tmp_path / "T07.db")
    reader = JournalReader.open(tmp_path / "T07.db")
    file, _ = backup(reader, tmp_path / "backups")
    reader.close()
    before = (tmp_path / "T07.db").read_bytes()
    bad, torn = tmp_path / "bad.db", tmp_path / "torn.db"
    shutil.copy(file, bad)
    (tmp_path / "empty").touch()
    torn.write_bytes(file.read_bytes()[:6000])
    (tmp_path / "torn.db-journal").write_bytes(b"x")
    with contextlib.closing(sqlite3.connect(bad)) as db:
        db.execute("UPDATE rows SET private = private || ' ' WHERE row = 30")
        db.commit()
    for source, table, why in (
        (bad, "T07", "row 30"),
        (file, "T08", "of table T07, not of T08"),
        (tmp_path / "none.db", "T07", "nothing was restored"),
        (tmp_path, "T07", "nothing was restored"),
        (Path("/etc/passwd"), "T07", "nothing was restored"),
        (tmp_path / "empty", "T07", "nothing was restored"),
        (torn, "T07", f"nothing was restored.*{torn}"),
    ):
        with pytest.raises(NotRestored, match=why) as refused:
            restore(source, tmp_path / "T07.db", table)
        said = str(refused.value)  # never the way out of a damaged journal: that is this very command
        assert (
            "tablectl journal restore" not in said and "move this file" not in said and ".source" not in said
        )
        assert "restore another copy" in said or table == "T08"
        assert (tmp_path / "T07.db").read_bytes() == before
        assert not (tmp_path / "T07.db.new").exists()


def test_a_backup_needs_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "T07.db")
    reader = JournalReader.open(tmp_path / "T07.db")
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1 << 20))
    with pytest.raises(OSError, match="1 MB are free, and a backup needs 17 MB"):
        backup(reader, tmp_path / "backups")


def test_pages_are_bounded_and_go_through_every_row(tmp_path: Path) -> None:
    rows = fill(tmp_path / "T07.db")
    reader = JournalReader.open(tmp_path / "T07.db")
    found, after = [], 0
    while True:
        one = page(reader, Wanted(after=after), 50)
        assert len(one["rows"]) <= 50
        found += one["rows"]
        if one["after"] is None:
            break
        after = one["after"]
    assert [r["row"] for r in found] == [r.row for r in rows]
    second = starts(rows)[1]
    wall = json.loads(rows[second - 1].private)["wall"]
    assert reader.row_at(wall) == second and reader.row_at(wall - 1) == second - 1
    assert reader.row_at(0) == 0


def test_no_cell_of_an_export_is_a_formula(tmp_path: Path) -> None:
    from tablectl.cli.journal_export import write_events

    event = json.dumps({"time": "=1+1", "type": "@x", "data": {"a": "=1"}})
    rows = [{"event": event, "sequence": 1, "shoe": "-1", "round": "+1", "row": 1, "hash": "ab"}]
    assert write_events(str(tmp_path / "a.csv"), [rows]) == "1 event, as CSV"
    (line,) = csv.reader((tmp_path / "a.csv").read_text().splitlines()[1:])
    assert line[1:5] == ["'=1+1", "'@x", "'-1", "'+1"]
    assert os.stat(tmp_path / "a.csv").st_mode & 0o777 == 0o600
