"""One controller for a journal, whatever is done to its files: removed under a daemon, a second name."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablectl.cli.check.journal import journal_findings
from tablectl.cli.journal_source import stopped
from tablectl.cli.output import Refused
from tablectl.config import load_config
from tablectl.journal import JournalReader
from tablectl.journal import at_home as journal_at_home
from tablectl.journal.backup import restore
from tablectl.lock import TableLocked, while_stopped
from tablectl.technician.direct import locked
from tests.e2e.harness import BARE, Rig, until
from tests.e2e.programs import Forked, run_daemon

CARDS = "2C 9D 3H KS 9S 2H KD 3C 6S TH KD JC 7D"


def run_watchful(path: str) -> None:
    """The daemon, which looks after its files more often."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_at_home, "EVERY", 0.02)
        run_daemon(path)


@contextlib.contextmanager
def at_play() -> Iterator[Rig]:
    """A table with a hand behind it and no game server."""
    with Rig("bee-tek", overrides=BARE | {"betting": {"link_required": False}}) as rig:
        text = rig.config.read_text()
        rig.config.write_text(text[: text.index("[server]")] + text[text.index("[journal]") :])
        rig.daemon = Forked(run_watchful, lambda: (str(rig.config),), rig.folder / "daemon.log")
        rig.start_daemon()
        rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        rig.open_table(CARDS)
        rig.play_round(4)
        yield rig


def second(rig: Rig, journal: Path) -> tuple[int, str]:
    """A start with a configuration of its own on that journal: the exit code, and what it said."""
    text = rig.config.read_text()
    assert str(rig.socket_path) in text and f'"{rig.journal_path}"' in text
    path = rig.folder / "two.toml"
    text = text.replace(str(rig.socket_path), f"{rig.folder}/two.sock")
    path.write_text(text.replace(f'"{rig.journal_path}"', f'"{journal}"'))
    log = rig.folder / "two.log"
    other = Forked(run_daemon, lambda: (str(path),), log)
    other.start()
    try:
        with contextlib.suppress(AssertionError):  # it runs
            other.wait(4)
        code = other.code
    finally:
        other.stop_somehow()
    return (0 if code is None else code), log.read_text()


def plays_on(rig: Rig) -> None:
    """The daemon that was there has not noticed anything of the other one."""
    rig.play_round(4)
    state = rig.client.state()
    assert state["journal"]["state"] == "ok" and state["last_result"]["round"] == 2, state
    row = state["row"]
    assert rig.daemon.end()[0] == 0
    with contextlib.closing(JournalReader.open(rig.journal_path)) as reader:
        assert reader.verify() >= row


def alert(rig: Rig, code: str) -> str:
    return next((one["message"] for one in rig.client.state()["alerts"] if one["alert"] == code), "")


def test_a_lock_file_that_is_removed_lets_no_second_daemon_in_and_is_put_back() -> None:
    with at_play() as rig:
        lock = rig.folder / "E2E.lock"
        rig.daemon.send(signal.SIGSTOP)  # it cannot put it back before the other one starts
        lock.unlink()
        code, said = second(rig, rig.journal_path)
        assert code == 1, said
        assert f"held by process {rig.daemon.pid} already" in said and rig.journal_path.name in said
        rig.daemon.send(signal.SIGCONT)
        until(lambda: "lock file" in alert(rig, "journal-place"), "the table tells what was done")
        until(lambda: lock.read_text() == f"{rig.daemon.pid}\n", "its lock is in its place again")
        code, said = second(rig, rig.journal_path)
        assert (code, f"held by process {rig.daemon.pid}" in said) == (1, True), said
        lock.unlink()
        until(lambda: lock.exists() and lock.read_text() == f"{rig.daemon.pid}\n", "also where none stands")
        assert not list(rig.folder.glob("*.lock.*")) and not alert(rig, "journal")
        plays_on(rig)


@pytest.mark.parametrize("left", ["running", "stopped"])
def test_a_second_name_of_the_file_lets_no_second_daemon_in(left: str) -> None:
    with at_play() as rig:
        (rig.folder / "b").mkdir()
        other = rig.folder / "b" / "HA.db"
        other.hardlink_to(rig.journal_path)
        if left == "running":
            until(lambda: str(rig.journal_path) in alert(rig, "journal-place"), "the table tells of it")
            code, said = second(rig, other)
            assert code == 1 and f"held by process {rig.daemon.pid} already" in said, said
            assert not [one for one in other.parent.iterdir() if one.suffix == ".db-wal"], "untouched"
            other.unlink()
            until(lambda: alert(rig, "journal-place").startswith("Over"), "and that it is over")
            plays_on(rig)
            return
        rig.daemon.send(signal.SIGKILL)  # the log lies beside the one name
        rig.daemon.wait()
        code, said = second(rig, other)
        assert code == 78 and "hard link" in said and "-samefile" in said, said
        other.unlink()
        rig.start_daemon()
        assert rig.client.state()["last_result"]["round"] == 1


def test_whose_files_are_moved_away_the_daemon_tells_and_not_of_a_disk() -> None:
    with at_play() as rig:
        for name in (rig.journal_path.name, f"{rig.journal_path.name}-wal"):
            place, away = rig.folder / name, rig.folder / "away"
            place.rename(away)
            until(lambda p=place: f"{p} " in alert(rig, "journal-place"), "it is told by its name")  # type: ignore[misc]
            status, answer = rig.command("bets open", expect={"version": rig.client.state()["version"]})
            assert status != 200 and journal_at_home.UNSAFE in json.dumps(answer), answer
            away.rename(place)
            until(lambda: alert(rig, "journal-place").startswith("Over"), "and that it is back")
        plays_on(rig)


@pytest.mark.parametrize("spoiled", ["E2E.db", "E2E.db-wal"])
def test_what_is_overwritten_in_its_place_is_told_and_ends_betting(spoiled: str) -> None:
    with at_play() as rig:
        until(lambda: rig.client.state()["journal"]["why"] == "", "all is well")
        place = rig.folder / spoiled
        was = place.read_bytes()
        assert was
        place.write_bytes(was[: len(was) // 2])  # as by `cp` of an older copy
        until(lambda: f"{place} was overwritten" in alert(rig, "journal-place"), "it is told")
        status, answer = rig.command("bets open", expect={"version": rig.client.state()["version"]})
        assert status != 200 and journal_at_home.UNSAFE in json.dumps(answer), answer
        journal = rig.client.state()["journal"]
        assert (journal["alert"], str(place) in journal["why"]) == ("journal-place", True)
        (found,) = [one for one in journal_findings(load_config(rig.config)) if one.what == "journal"]
        assert found.grade == "FAIL" and str(place) in found.text


def test_what_is_removed_under_a_daemon_is_saved_as_the_guide_says() -> None:
    with at_play() as rig:
        for one in rig.folder.glob("E2E.db*"):
            one.unlink()
        until(lambda: "was removed: what is in it goes" in alert(rig, "journal-place"), "it is told")
        row = rig.client.state()["row"]
        saved = rig.folder / "saved"
        saved.mkdir()
        for fd in Path(f"/proc/{rig.daemon.pid}/fd").iterdir():
            name = gone = ""
            with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
                name, _, gone = Path(os.readlink(fd)).name.partition(" ")
            if gone == "(deleted)" and name in ("E2E.db", "E2E.db-wal"):
                shutil.copy(fd, saved / name)
        assert len(list(saved.iterdir())) == 2
        assert rig.daemon.end()[0] == 0
        config = load_config(rig.config)
        restore(saved / "E2E.db", config.journal_path, config.table.id)
        rig.start_daemon()
        state = rig.client.state()
        assert state["row"] >= row and state["last_result"]["round"] == 1
        until(lambda: alert(rig, "journal-place").startswith("Over: "), "and that it is over")


def test_a_command_that_holds_the_stopped_table_is_named_by_its_process() -> None:
    """Its number is not in the lock file, which says who ran there last."""
    with at_play() as rig:
        assert rig.daemon.end()[0] == 0
        (rig.folder / "E2E.lock").write_text("999999\n")
        with locked(load_config(rig.config)):
            (rig.folder / "E2E.lock").unlink()  # and the journal's own lock is as good
            code, said = second(rig, rig.journal_path)
        assert (code, f"held by process {os.getpid()} already" in said) == (1, True), said
        rig.start_daemon()


def test_commands_for_a_stopped_table_see_a_daemon_whose_lock_file_was_removed() -> None:
    with at_play() as rig:
        config = load_config(rig.config)
        rig.daemon.send(signal.SIGSTOP)
        (rig.folder / "E2E.lock").unlink()
        held = f"process {rig.daemon.pid} already"
        with pytest.raises(TableLocked, match=held), while_stopped(config.journal_path, config.table.id):
            pass
        with pytest.raises(Refused, match=held), stopped(config):
            pass
        rig.daemon.send(signal.SIGCONT)
        plays_on(rig)
