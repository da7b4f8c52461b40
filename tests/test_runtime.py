"""One table's threads together: they start, are watched, end in time, and leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import socket
import sqlite3
import stat
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import structlog

from tablectl.api.app import socket_folder
from tablectl.clock import SECOND, now
from tablectl.config import load_config
from tablectl.core import Record
from tablectl.events import HandTurned, PinAttempted, private_body, public_body
from tablectl.gameserver.store import Store
from tablectl.journal import Journal, JournalFault, Row
from tablectl.journal.file import beside
from tablectl.journal.replaced import keep_aside
from tablectl.lock import TableLocked
from tablectl.logs import setup_logging
from tablectl.process.notify import notify
from tablectl.profiles import ConfigError
from tablectl.runtime import Runtime
from tablectl.table import Trouble
from tests.api.test_app import CARDS, Bench
from tests.descriptors import descriptors
from tests.e2e.harness import BARE, QUICK, SOAK, Rig, until
from tests.e2e.programs import Forked, run_code

CYCLES = 1_000 if SOAK else 8


def without_server(rig: Rig) -> Path:
    text = rig.config.read_text()
    rig.config.write_text(text[: text.index("[server]")] + text[text.index("[journal]") :])
    return rig.config


@pytest.mark.soak
@pytest.mark.timeout(1800 if SOAK else 60)
def test_starts_and_stops_leave_no_thread_and_no_descriptor_behind() -> None:
    with Rig("bee-tek") as rig:
        config = load_config(without_server(rig))
        counts = []
        gc.collect()  # what other tests left
        threads = threading.active_count()
        for _ in range(CYCLES):
            runtime = Runtime(config)
            runtime.start()
            rig.client.state()
            assert runtime.stop()
            end = time.monotonic() + 5
            while threading.active_count() > threads and time.monotonic() < end:
                time.sleep(0.001)  # the last one has told that it is done, and is still leaving
            counts.append((descriptors(), threading.active_count()))
        assert len(set(counts[1:])) == 1, counts


def test_second_runtime_is_locked_out_and_leaves_the_first_alone() -> None:
    with Bench("bee-tek") as rig:
        second = Runtime(rig.runtime.config)
        with pytest.raises(TableLocked, match=f"process {os.getpid()}"):
            second.start()
        assert rig.client.state()["scanner"]["up"]


@pytest.mark.parametrize("where", ["commit", "reader", "close"])
def test_a_stop_that_waits_for_a_hanging_disk_returns_and_keeps_the_lock(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What hangs may still write: no other process gets the table before this one has ended."""
    monkeypatch.setattr("tablectl.runtime.STOPPED", 0)
    answers, held = threading.Event(), threading.Event()

    def hang(*_: object) -> None:
        held.set()
        answers.wait(20)

    def hold(lock: Any) -> None:
        with lock:
            hang()

    with Bench("bee-tek", overrides=BARE) as rig:
        runtime, journal = rig.runtime, rig.runtime.journal
        close, others = journal.close, ExitStack()
        if where == "commit":
            monkeypatch.setattr(journal, "_transact", hang)
            runtime.core.put(Trouble(now(), "reload", "a word for the journal"))
            assert held.wait(5)
        elif where == "reader":
            reading = threading.Thread(target=hold, args=[runtime._keeping.reader()._lock])
            reading.start()
            others.callback(reading.join)
            assert held.wait(5)
        else:
            monkeypatch.setattr(journal, "close", lambda: close() if answers.wait(20) else None)
        begun = time.monotonic()
        try:
            assert not runtime.stop()
            assert time.monotonic() - begun < 5
            with pytest.raises(TableLocked):
                Runtime(runtime.config).start()
        finally:
            answers.set()
            others.close()
        until(lambda: runtime.writer._ended, "the disk answers")


def test_emulated_shoe_needs_a_table_that_says_it_is_a_test() -> None:
    with Rig("bee-tek") as rig:
        path = without_server(rig)
        path.write_text(path.read_text().replace("test = true", "test = false"))
        with pytest.raises(ConfigError, match="test = true"):
            Runtime(load_config(path)).start()
        assert not rig.journal_path.exists(), "nothing was begun"


def test_scanner_settings_are_checked_before_anything_is_opened() -> None:
    with Rig("bee-tek") as rig:
        path = without_server(rig)
        path.write_text(path.read_text().replace("[scanner]", '[scanner]\nbaud = "fast"'))
        with pytest.raises(ConfigError, match="baud"):
            Runtime(load_config(path)).start()
        assert not rig.journal_path.exists()


def test_socket_that_cannot_be_had_stops_what_was_started() -> None:
    with Rig("bee-tek") as rig:
        path = without_server(rig)
        config = load_config(path)
        rig.socket_path.mkdir()
        before = threading.active_count()
        with pytest.raises(ConfigError, match=r"E2E\.sock is there already and is no socket"):
            Runtime(config).start()
        assert threading.active_count() == before
        rig.socket_path.rmdir()
        runtime = Runtime(config)  # lock and journal are free again
        runtime.start()
        assert runtime.stop()


@pytest.mark.parametrize("number", range(5))
def test_a_thread_that_the_system_does_not_give_is_the_cause_that_is_told(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Rig("bee-tek") as rig:
        runtime, before = Runtime(load_config(without_server(rig))), threading.active_count()
        start, started = threading.Thread.start, list[str]()

        def given(thread: threading.Thread) -> None:
            if not thread.name.startswith(("aside", "asyncio")):
                started.append(thread.name)
                if len(started) == number + 1:
                    raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", given)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            runtime.start()
        monkeypatch.undo()
        assert threading.active_count() == before, "and nothing of it is left"
        runtime.start()
        assert runtime.stop()


def test_every_thread_is_watched() -> None:
    with Bench("bee-tek") as rig:
        runtime = rig.runtime
        assert runtime.unhealthy() is None
        for watched, why in (
            (runtime.reader, "the reader does not move"),
            (runtime.service, "the service loop does not move"),
            (runtime.core, "the core does not move"),
        ):
            assert watched.stop()  # so that it does not move on
            watched.progress -= 60 * SECOND
            assert runtime.unhealthy() == why


def test_a_core_that_waits_for_a_failing_disk_is_no_reason_to_end_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What waits in the queue would be lost, and the next process would wait for the same disk."""
    with Bench("bee-tek") as rig:
        runtime = rig.runtime
        writer = runtime.writer
        real = Journal.append
        failing = threading.Event()
        failing.set()

        def append(journal: Journal, *args: object, **more: object) -> None:
            if failing.is_set():
                raise sqlite3.OperationalError("database or disk is full")
            real(journal, *args, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(Journal, "append", append)
        writer._limit = 3
        for _ in range(20):
            runtime.core.offer(Record(PinAttempted(person="x", good=False, uid=1), now()))
        until(lambda: writer.full and writer.state == "failing", "the core waits for the disk")
        runtime.core.progress -= 60 * SECOND
        assert runtime.unhealthy() is None
        monkeypatch.setattr("tablectl.core.INBOX", 0)  # the line is full, so that a scan waits too
        runtime.reader.progress -= 60 * SECOND
        assert runtime.unhealthy() is None
        monkeypatch.undo()
        failing.clear()
        until(lambda: not writer.full and writer.state == "ok", "the disk works again")
        until(lambda: writer.depth == 0 and runtime.unhealthy() is None, "all is well")


# --- what is in the way at the start -----------------------------------------------------------------


def test_a_socket_somebody_listens_on_is_left_alone_and_its_owner_named() -> None:
    """Another folder for the journal is another lock, so the lock alone does not tell."""
    with Bench("bee-tek") as one, Rig("bee-tek") as two:
        path = without_server(two)
        path.write_text(path.read_text().replace(str(two.socket_path), str(one.socket_path)))
        path.write_text(path.read_text().replace(f'"{two.socket_path.name}"', f'"{one.socket_path}"'))
        config = load_config(path)
        assert config.socket_path == one.socket_path
        with pytest.raises(TableLocked, match=rf"E2E\.sock: process {os.getpid()} of user {os.getuid()}"):
            Runtime(config).start()
        assert one.client.state()["scanner"]["up"], "and it is still there"


def test_a_left_over_socket_and_nothing_else_is_replaced() -> None:
    with Rig("bee-tek") as rig:
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as dead:
            dead.bind(str(rig.socket_path))
        runtime = Runtime(load_config(without_server(rig)))
        runtime.start()
        assert rig.client.state()["table"] == "E2E"
        assert runtime.stop()
        rig.socket_path.write_text("precious")
        with pytest.raises(ConfigError, match="is there already and is no socket"):
            Runtime(load_config(rig.config)).start()
        assert rig.socket_path.read_text() == "precious"


def test_an_emulated_shoe_that_comes_after_the_start_is_not_read_at_a_real_table() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        path = without_server(rig)
        path.write_text(path.read_text().replace("test = true", "test = false"))
        device = Path(rig.shoe.device)
        target = device.readlink()
        device.unlink()
        runtime = Runtime(load_config(path))
        runtime.start()
        try:
            device.symlink_to(target)
            state = rig.wait(lambda s: "is emulated" in s["scanner"]["why"], "the reason is told")
            assert "test = true" in state["scanner"]["why"]
            rig.shoe.draw()
            time.sleep(0.3)
            state = rig.client.state()
            assert not state["scanner"]["up"]
            assert state["scanner"]["bytes"] == 0
        finally:
            assert runtime.stop()


def test_a_journal_that_cannot_be_believed_is_exit_code_78_and_names_the_row() -> None:
    with Rig("bee-tek") as rig:
        journal = Journal.open(rig.journal_path, "E2E")
        event = HandTurned(shoe=1, round=1, player=(), banker=(), next="none")
        body = public_body(event, table="E2E", epoch=journal.epoch, sequence=1, at=now(), test=True)
        journal.append([Row(1, 1, body, private_body(event, now()))])
        journal.close()
        without_server(rig)
        rig.daemon.start()
        assert rig.daemon.wait(15) == 78
        assert "E2E.db: row 1: it cannot have happened then" in rig.errors()
        assert "Traceback" not in rig.errors()


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("SQLITE_FULL", 1),
        ("SQLITE_IOERR", 1),
        ("SQLITE_BUSY", 1),
        ("SQLITE_CORRUPT", 78),
        ("SQLITE_NOTADB", 78),
    ],
)
def test_a_disk_that_is_full_is_tried_again_and_a_bad_file_is_not(code: str, exit_code: int) -> None:
    with Rig("bee-tek") as rig:
        without_server(rig)
        rig.daemon = Forked(run_code, lambda: (FULL, str(rig.config), code), rig.folder / "daemon.log")
        rig.daemon.start()
        assert rig.daemon.wait(15) == exit_code
        assert "E2E.db" in rig.errors()
        assert "Traceback" not in rig.errors()


def test_a_torn_end_is_cut_the_table_is_held_and_people_are_told() -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table("2C 9D 3H KS 9S 2H KD 3C")
        rig.play_round(4)
        assert rig.runtime.stop()
        with contextlib.closing(sqlite3.connect(rig.journal_path)) as db:
            ((last,),) = db.execute("SELECT max(row) FROM rows").fetchall()
            db.execute("UPDATE rows SET private = substr(private, 1, 20) WHERE row = ?", (last,))
            db.commit()
        rig.runtime = Runtime(load_config(rig.config))
        rig.runtime.start()
        state = rig.wait(lambda s: s["holds"], "the table is held")
        (alert,) = [one["message"] for one in state["alerts"] if one["alert"] == "journal-mended"]
        assert f"row {last}" in alert and "E2E.db.torn-" in alert
        assert "fault" not in rig.client.get("/v1/journal/verify")[1]
        rig.do("release", supervised=True, action="cards-confirmed")


FULL = """
import sqlite3, sys
from pathlib import Path
from tablectl.journal import file as journal_file
from tablectl.config import load_config
from tablectl import daemon
from tablectl.daemon import run
daemon.PATIENCE = 0  # the next process goes on waiting
def fails(path, mode):
    error = sqlite3.DatabaseError("as told")
    error.sqlite_errorcode = getattr(sqlite3, sys.argv[2])
    raise error
journal_file.connect = fails
raise SystemExit(run(load_config(Path(sys.argv[1]))))
"""


def test_crash_of_a_thread_is_told_once_and_seen_by_the_watchdog() -> None:
    told: list[str] = []
    with Rig("bee-tek") as rig:
        runtime = Runtime(load_config(without_server(rig)), on_crash=lambda name, _: told.append(name))
        runtime.start()
        runtime.core.put("no input at all")  # type: ignore[arg-type]
        until(lambda: runtime.incidents.crashed.is_set(), "the crash is noticed")
        assert runtime.unhealthy() == "a thread ended"
        assert rig.client.get("/healthz")[0] == 503
        runtime.stop()
        assert told == ["core"]


def test_result_and_answers_are_there_again_after_a_restart() -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS * 2)
        rig.play_round(4)
        body = rig.body("hold", args={"text": "look"})
        answer = rig.post(body)
        last = rig.client.state()["last_result"]
        assert last["outcome"] == "banker"
        assert rig.runtime.stop()
        rig.runtime = Runtime(load_config(rig.config))
        rig.runtime.start()
        state = rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        assert state["last_result"] == last
        row = state["row"]
        assert rig.post(body) == answer
        assert rig.client.state()["row"] == row


def test_without_a_game_server_it_plays_and_says_so() -> None:
    with Bench("bee-tek", overrides=BARE) as rig:
        state = rig.client.state()
        why = "no game server is configured ([server] url)"
        assert state["link"] == {"good": False, "why": why, "configured": False}
        rig.open_table(CARDS)
        begun = time.monotonic()
        rig.play_round(4)
        assert time.monotonic() - begun < 1.5, "betting waits for no link that is not wanted"
        assert rig.runtime.state.last_scan == "result"


def test_without_the_signing_secret_it_is_up_and_says_so() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        (rig.folder / "credentials" / "push-hmac").unlink()
        runtime = Runtime(load_config(rig.config))
        runtime.start()
        try:
            state = rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
            assert "push-hmac" in state["link"]["why"]
            rig.open_table(CARDS)
            status, answer = rig.command("bets open")
            assert status == 409
            assert "push-hmac" in answer["answer"]
            unsigned = rig.client.get("/v1/delivery")[1]
            assert (unsigned["good"], unsigned["halted"], unsigned["acked"]) == (False, False, 0)
            assert unsigned["owed"] == unsigned["newest"] > 0
            assert unsigned["trouble"].startswith("the credential push-hmac is missing")
            assert unsigned["url"].startswith("http://127.0.0.1:")
        finally:
            assert runtime.stop()


def test_a_server_that_stays_away_is_told_to_the_pit_once_until_it_was_there_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tablectl.delivery.link.UNREACHABLE", SECOND // 2)
    with Rig("bee-tek", overrides=BARE) as rig:
        runtime = Runtime(load_config(rig.config))
        runtime.start()
        try:
            runtime.watch()
            assert rig.client.state()["alerts"] == [], "not before its time"

            def told() -> list[str]:
                runtime.watch()
                return [
                    a["message"] for a in rig.client.state()["alerts"] if a["alert"] == "server-unreachable"
                ]

            (text,) = until(told, "the alert")
            assert "cannot be reached" in text and "Betting stays closed" in text
            rig.do("ack", supervised=True, alert="server-unreachable")
            for _ in range(20):
                assert not told(), "it was seen"
            rig.start_server()
            rig.wait(lambda s: s["link"]["good"], "the server is there", 30)
            assert not told()
            rig.server.end(signal.SIGKILL)
            until(told, "the next time it goes")
        finally:
            assert runtime.stop()


def test_whatever_the_umask_nothing_that_is_written_is_for_others() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        path = without_server(rig)
        path.write_text(path.read_text().replace("[journal]\n", '[journal]\nmirror = "mirror.db"\n'))
        ours, before = os.umask(0), set(rig.folder.rglob("*"))
        try:
            Store(rig.folder / "bets.db").close()
            runtime = Runtime(load_config(path))
            runtime.start()
            runtime.incidents.record("x", waits=20)
            runtime.incidents.record("x", asked=True, waits=20)
            rig.client.post("/v1/journal/backup", {})
            until(lambda: rig.client.get("/v1/journal/backup")[1].get("file"), "the backup is made")
            until(lambda: (rig.folder / "mirror.db").exists(), "the mirror is made")
            keep_aside(rig.journal_path, "torn")
            made = {p: p.stat().st_mode for p in set(rig.folder.rglob("*")) - before if p.is_file()}
            assert runtime.stop()
        finally:
            os.umask(ours)
        ends = {"lock", "db", "db-wal", "db-shm", "newest", "jsonl"}
        assert ends <= {one.name.rpartition(".")[2] for one in made} and len(made) > 9
        assert {one.name: oct(mode) for one, mode in made.items() if mode & 0o177} == {}
        folder = (rig.folder / "backups").stat().st_mode
        assert not folder & 0o077, "who lists it"


def test_what_an_older_version_left_open_is_closed_at_the_start_and_nothing_else() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        path = without_server(rig)
        path.write_text(path.read_text().replace("[journal]\n", '[journal]\nmirror = "mirror.db"\n'))
        config = load_config(path)
        table, backups = config.table.id, rig.folder / "backups"
        journal, mirror = config.journal_path, rig.folder / "mirror.db"
        backups.mkdir()
        for _ in range(2):
            runtime = Runtime(config)
            runtime.start()
            until(lambda: mirror.exists(), "the mirror is made")
            # While it runs, as 0.1.0 left them; the second start closes them.
            ours = [journal, beside(journal, ".newest"), mirror, rig.folder / f"{table}.lock"]
            ours += [rig.folder / f"{table}-flight-20260101T000000Z.jsonl", backups / f"{table}-abcdef-7.db"]
            theirs = [rig.folder / "other.db", rig.folder / "link", rig.folder / "mirror.db.txt"]
            theirs += [beside(journal, ".txt"), backups / f"{table}-notes.txt", backups / f"{table}-1.db"]
            theirs += [rig.folder / f"{table}-flight-plan.jsonl", rig.folder / f"{table}.lock.txt"]
            for one in (*ours[4:], theirs[0], *theirs[2:]):
                one.touch()
            theirs[1].unlink(missing_ok=True)
            theirs[1].symlink_to(theirs[0])
            beside(journal, ".link").unlink(missing_ok=True)
            beside(journal, ".link").symlink_to(theirs[0])
            until(lambda: not mirror.stat().st_mode & 0o077, "its thread has closed the mirror")
            modes = [stat.S_IMODE(one.stat().st_mode) for one in (*ours, backups)]
            for one in (*ours, *theirs):
                one.chmod(0o640)
            backups.chmod(0o2750)
            assert runtime.stop()
        assert modes == [*[0o600] * len(ours), 0o700]
        assert {stat.S_IMODE(one.stat().st_mode) for one in theirs} == {0o640}


@pytest.mark.parametrize("kind", ["text", "database"])
@pytest.mark.parametrize("key", ["mirror", "path"])
def test_a_file_that_is_no_journal_keeps_its_rights_whatever_a_configuration_calls_it(
    key: str, kind: str
) -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        path, other = without_server(rig), rig.folder / "other"
        text = path.read_text()
        if key == "path":
            text = text.replace(f'path = "{rig.journal_path}"', f'path = "{other}"')
        else:
            text = text.replace("[journal]\n", f'[journal]\nmirror = "{other}"\n')
        assert f'"{other}"' in text
        path.write_text(text)
        if kind == "text":
            other.write_text(text)
        else:
            with contextlib.closing(sqlite3.connect(other)) as db:
                db.execute("CREATE TABLE of_somebody_else (x)")
        content = other.read_bytes()
        other.chmod(0o644)
        runtime = Runtime(load_config(path))
        if key == "path":
            with pytest.raises(JournalFault):
                runtime.start()
        else:
            runtime.start()
            until(lambda: runtime.view()["mirror"]["error"], "it is told")
            assert "move it away, and a new one is begun" in runtime.view()["mirror"]["error"]
            assert runtime.stop()
        assert (stat.S_IMODE(other.stat().st_mode), other.read_bytes()) == (0o644, content)


def test_whatever_the_umask_dealers_get_at_the_socket(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        socket_folder(tmp_path / "T07" / "tablectl.sock")
        assert stat.S_IMODE((tmp_path / "T07").stat().st_mode) == 0o750
        (tmp_path / "T07").chmod(0o711)  # made by somebody else: it is his
        socket_folder(tmp_path / "T07" / "tablectl.sock")
        assert stat.S_IMODE((tmp_path / "T07").stat().st_mode) == 0o711
    finally:
        os.umask(before)


@pytest.mark.parametrize("kind", ["file", "folder", "link", "link to nowhere"])
def test_what_is_in_the_sockets_place_and_is_none_stays_there_and_is_named(kind: str) -> None:
    """A fault of the configuration (78), not one that is tried again for ever."""
    with Rig("bee-tek", overrides=BARE) as rig:
        config = load_config(without_server(rig))
        path, target = config.socket_path, rig.folder / "target"
        path.unlink(missing_ok=True)
        match kind:
            case "file":
                path.write_text("x")
            case "folder":
                path.mkdir()
            case _:
                path.symlink_to(target)
        if kind == "link":
            target.write_text("x")
        with pytest.raises(ConfigError, match=f"{re.escape(str(path))} is there already and is no socket"):
            Runtime(config).start()
        assert path.is_symlink() or path.exists(), "it is somebody's"


def test_two_tables_in_one_process_keep_apart() -> None:
    with Bench("bee-tek", overrides=BARE) as one, Bench("angel-eye", overrides=BARE) as two:
        one.open_table(CARDS)
        assert two.client.state()["phase"] == "closed"
        two.open_table("9S 2H KD 3C")
        one.play_round(4)
        two.play_round(4)
        assert one.client.state()["last_result"]["outcome"] == "banker"
        assert two.client.state()["last_result"]["outcome"] == "player"
        assert one.client.state()["epoch"] != two.client.state()["epoch"]


BOOM = """
import sys
from pathlib import Path
from tablectl import core
from tablectl.config import load_config
from tablectl.daemon import run
from tablectl.table import Command
from tests.descriptors import descriptors
decide = core.decide
def boom(state, given, now, around):
    if isinstance(given, Command):
        raise RuntimeError("a bug")
    return decide(state, given, now, around)
core.decide = boom
raise SystemExit(run(load_config(Path(sys.argv[1]))))
"""


def test_daemon_whose_core_dies_ends_with_the_cores_exit_code() -> None:
    """Never half alive: the supervisor starts it anew, and the journal is whole."""
    with Rig("bee-tek", overrides=QUICK) as rig:
        without_server(rig)
        rig.daemon = Forked(run_code, lambda: (BOOM, str(rig.config)), rig.folder / "daemon.log")
        rig.start_daemon()
        client = threading.Thread(target=_send_and_forget, args=(rig,), daemon=True)
        client.start()
        assert rig.daemon.wait(8) == 70
        assert "a bug" in rig.errors()
        rig.journal_events()
        client.join(5)


def _send_and_forget(rig: Rig) -> None:
    try:
        rig.client.post("/v1/commands", {"id": uuid.uuid4().hex, "command": "open"})
    except Exception as error:
        print(f"no answer, as it should be: {error}")


def test_sigint_ends_it_as_sigterm_does() -> None:
    with Rig("bee-tek") as rig:
        without_server(rig)
        rig.start_daemon()
        code, took = rig.daemon.end(signal.SIGINT)
        assert code == 0
        assert took < 5


# --- the log ---------------------------------------------------------------------------------------------


@pytest.fixture
def _logging() -> Iterator[None]:
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.mark.usefixtures("_logging")
@pytest.mark.parametrize("stderr", ["closed", "full", "none"])
def test_log_that_cannot_be_written_is_no_reason_to_stop(
    stderr: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = Path("/dev/full") if stderr == "full" else tmp_path / "log"
    with place.open("w") as file:
        if stderr == "closed":
            file.close()
        monkeypatch.setattr("sys.stderr", None if stderr == "none" else file)
        setup_logging("json", "info")
        structlog.get_logger("test").error("nobody hears this")
        monkeypatch.undo()
        with contextlib.suppress(OSError, ValueError):
            file.close()


@pytest.mark.usefixtures("_logging")
def test_log_escapes_what_a_peer_may_have_sent(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logging("console", "info")
    structlog.get_logger("test").error("trouble", reason="\x1b[2J\x07gone\r\nfor good\n")
    said = capsys.readouterr().err
    assert "x1b[2J" in said and "x07gone; for good" in said and said.count("\n") == 1
    assert "\x1b" not in said
    assert "\x07" not in said


# --- notify ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "relative"}])
def test_nobody_is_told_when_there_is_no_service_manager(environment: dict[str, str]) -> None:
    assert notify("READY=1", environment) is False


def test_service_manager_that_went_away_is_no_error(tmp_path: Path) -> None:
    assert notify("READY=1", {"NOTIFY_SOCKET": str(tmp_path / "gone")}) is False
