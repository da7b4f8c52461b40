"""How the service starts and ends: exit codes, locks, left-over sockets, and five seconds to stop."""

from __future__ import annotations

import contextlib
import signal
import socket
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tablectl.journal import Journal
from tablectl.local import Interrupted
from tests.e2e.harness import BARE, SOAK, Rig, running, until
from tests.e2e.programs import DAEMON, Forked, Program, run_daemon

CARDS = "2C 9D 3H KS 9S 2H KD 3C 6S TH KD JC 7D"
STOP = 5.0


# --- SIGTERM ------------------------------------------------------------


def test_sigterm_ends_it_within_five_seconds_in_every_phase() -> None:
    """Stopped and started again from phase to phase, each time where the last process left the table."""
    with running("bee-tek", overrides=BARE | {"betting": {"seconds": 1.5}, "burn": {"by": "count"}}) as rig:

        def stop_here(phase: str) -> None:
            assert rig.client.state()["phase"] == phase
            code, took = rig.daemon.end()
            assert (code, took < STOP) == (0, True), f"{phase}: exit code {code} after {took:.1f} s"
            rig.start_daemon()
            rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "all is there")
            if rig.client.state()["holds"]:
                rig.do("release", supervised=True, action="cards-confirmed")

        stop_here("closed")
        rig.do("open")
        rig.do("sign-in", name="Dora", pickup="left")
        stop_here("no shoe")
        rig.new_shoe("2S 3H 4D 5C 6S 7H " + CARDS)
        stop_here("burning")
        for _ in range(6):
            rig.shoe.draw(burn=True)
        rig.phase("idle")
        stop_here("idle")
        rig.do("bets open")
        stop_here("betting")  # which closes it
        stop_here("no more bets")
        rig.deal(2)
        stop_here("dealing")
        rig.deal(2)
        rig.wait(lambda s: s["round"] is None or s["phase"] == "complete", "the hand is complete")
        rig.do("shoe end", supervised=True)
        stop_here("shuffle due")
        rig.settle()
        rig.check_everything()


@contextlib.contextmanager
def silent_server() -> Iterator[str]:
    """A game server that takes every connection and never answers."""
    ending = threading.Event()
    taken: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def serve() -> None:
            while not ending.is_set():
                with contextlib.suppress(TimeoutError):
                    taken.append(listener.accept()[0])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/events"
        ending.set()
        thread.join(5)
        for sock in taken:
            sock.close()


@pytest.mark.parametrize("kind", ["dead", "never answers"])
def test_sigterm_ends_it_within_five_seconds_whatever_the_game_server_does(kind: str) -> None:
    rules = BARE | {"betting": {"link_required": False}}
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(silent_server()) if kind == "never answers" else None
        rig = stack.enter_context(Rig("bee-tek", overrides=rules, url=url))
        rig.start_daemon()
        rig.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        rig.open_table(CARDS)
        rig.play_round(4)  # play goes on
        state = rig.client.state()
        assert not state["link"]["good"]
        assert state["last_result"]["outcome"] == "banker"
        code, took = rig.daemon.end()
        assert (code, took < STOP) == (0, True), f"exit code {code} after {took:.1f} s"
        rig.journal_events()


def run_on_a_disk_that_hangs(path: str) -> None:
    """The daemon; while there is a file ``hangs`` beside its configuration, no commit returns."""
    hangs, commit = Path(path).with_name("hangs"), Journal._transact

    def hanging(journal: Journal, statements: Sequence[tuple[str, tuple[object, ...]]]) -> None:
        while hangs.exists():
            time.sleep(0.01)
        commit(journal, statements)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "_transact", hanging)
        run_daemon(path)


def asked_in_vain(rig: Rig) -> None:
    with contextlib.suppress(Interrupted):
        rig.command("bets open")


def test_sigterm_ends_it_within_five_seconds_while_a_commit_hangs_in_the_disk() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        hangs = rig.config.with_name("hangs")
        rig.daemon = Forked(run_on_a_disk_that_hangs, lambda: (str(rig.config),), rig.folder / "daemon.log")
        rig.start()
        rig.open_table(CARDS)
        rig.settle()
        before = rig.client.state()["row"]
        hangs.touch()
        asking = threading.Thread(target=asked_in_vain, args=[rig])
        asking.start()
        until(lambda: rig.client.state()["journal"]["depth"], "a commit hangs")
        code, took = rig.daemon.end()
        assert (code, took < STOP) == (75, True), f"exit code {code} after {took:.1f} s"
        asking.join(5)
        hangs.unlink()
        rig.start_daemon()
        assert rig.client.state()["row"] >= before
        assert rig.daemon.end()[0] == 0
        rig.check_everything()


# --- starting ------------------------------------------------------------


def test_socket_is_for_the_group_and_a_left_over_one_is_replaced() -> None:
    with running("bee-tek") as rig:
        mode = rig.socket_path.stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o660
        rig.daemon.end(signal.SIGKILL)
        assert rig.socket_path.exists()
        rig.start_daemon()
        assert rig.client.state()["phase"] == "closed"
        assert rig.daemon.end()[0] == 0
        assert not rig.socket_path.exists()


def run_and_end(rig: Rig) -> tuple[int, str]:
    """A daemon of that table that is expected to end by itself."""
    other = Forked(run_daemon, lambda: (str(rig.config),), rig.folder / "other.log")
    other.start()
    code = other.wait(30)
    other.stop_somehow()
    return code, other.log.read_text()


def test_second_daemon_of_a_table_refuses_and_names_the_first() -> None:
    with running("bee-tek") as rig:
        code, said = run_and_end(rig)
        assert code == 1
        assert f"process {rig.daemon.pid} " in said
        assert rig.client.state()["scanner"]["up"], "the first one goes on"
        assert rig.socket_path.exists()


def change(rig: Rig, old: str, new: str) -> None:
    text = rig.config.read_text()
    assert old in text
    rig.config.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('driver = "bee-tek"', 'driver = "no-such-shoe"', "no driver named 'no-such-shoe'"),
        ("test = true", "test = false", "test = true"),
        ("[scanner]", "[scanner]\ncolour = 1", "colour"),
        ("[table]", "[table]\nnonsense = 1", "nonsense"),
        ("[table]", "[table", "not valid TOML"),
    ],
)
def test_configuration_error_is_exit_code_78_and_one_plain_line(old: str, new: str, says: str) -> None:
    with Rig("bee-tek") as rig:
        change(rig, old, new)
        code, said = run_and_end(rig)
        assert code == 78, said
        assert says in said
        assert "Traceback" not in said


def test_damaged_journal_is_exit_code_78_naming_the_row() -> None:
    with running("bee-tek", overrides=BARE) as rig:
        rig.open_table(CARDS)
        rig.play_round(4)
        assert rig.daemon.end()[0] == 0
        with contextlib.closing(sqlite3.connect(rig.journal_path)) as db:
            db.execute("UPDATE rows SET public = replace(public, 'banker', 'player') WHERE row = 4")
            db.execute("UPDATE rows SET private = replace(private, 'Dora', 'Dura') WHERE row = 4")
            db.commit()
        code, said = run_and_end(rig)
        assert code == 78, said
        assert "row 4" in said
        assert "Traceback" not in said


def test_an_empty_journal_file_is_refused() -> None:
    with Rig("bee-tek") as rig:
        rig.journal_path.touch()
        code, said = run_and_end(rig)
        assert code == 78, said
        assert str(rig.journal_path) in said


def test_boots_without_scanner_and_server_and_picks_them_up_when_they_come() -> None:
    with Rig("bee-tek", overrides=BARE) as rig:
        rig.shoe.hang_up()
        rig.start_daemon()
        state = rig.wait(lambda s: s["alerts"], "the scanner is missed", 30)
        assert not state["scanner"]["up"] and not state["link"]["good"]
        status, health = rig.client.get("/healthz")
        assert (status, health["ok"], health["alerts"]) == (200, True, ["scanner-lost"])
        rig.shoe.plug_in()
        rig.start_server()
        rig.wait(lambda s: s["scanner"]["up"] and s["link"]["good"], "both are picked up", 30)
        rig.open_table(CARDS)
        rig.play_round(4)
        rig.settle()
        assert list(rig.held()) == ["1/1"]


@pytest.mark.soak
@pytest.mark.timeout(600 if SOAK else 60)
def test_readiness_is_told_only_when_the_socket_answers() -> None:
    for _ in range(100 if SOAK else 1):
        start_and_look_at_once()


def start_and_look_at_once() -> None:
    with Rig("bee-tek") as rig, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(rig.folder / "notify"))
        manager.settimeout(20)
        program = Program(DAEMON, [str(rig.config)], rig.folder / "daemon.log")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NOTIFY_SOCKET", str(rig.folder / "notify"))
            program.start()
        try:
            assert manager.recv(1000) == b"EXTEND_TIMEOUT_USEC=30000000\nSTATUS=reading the journal"
            assert manager.recv(1000).startswith(b"READY=1")
            assert rig.client.state()["phase"] == "closed"
            until(lambda: manager.recv(1000) == b"WATCHDOG=1", "the watchdog is fed")
            code, _ = program.end()
            assert code == 0
            until(lambda: manager.recv(1000).startswith(b"STOPPING=1"), "the end is told")
        finally:
            program.stop_somehow()
