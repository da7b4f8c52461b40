"""`tablectl signal`: through the daemon where it runs, else directly; what was not played, and why."""

from __future__ import annotations

import json
import os
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablectl.cli import signal as module
from tablectl.lock import TableLock
from tablectl.scanner import PATTERNS
from tests.cli.conftest import Typed
from tests.cli.fake_daemon import STATE, FakeDaemon

LEAST = '[table]\nid = "T07"\n[scanner]\ndriver = "angel-eye"\ndevice = "/dev/null"\n'


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BETWEEN", 0.0)


# --- through the daemon -----------------------------------------------------------------------------------


def test_a_running_daemon_plays_it(typed: Typed, daemon: FakeDaemon) -> None:
    daemon.on_command = lambda body: (
        200,
        {"pattern": body["pattern"], "beepers": {"lamp": "", "horn": "gone\x1b"}},
    )
    code, out, err = typed("signal", "close")
    assert (code, err) == (1, "")
    assert out.splitlines() == ["close   lamp: played", "close   horn: FAILED: gone\\x1b"]
    assert daemon.posted_to == ["/v1/signal"] and daemon.commands == [{"pattern": "close"}]


def test_all_of_them_by_name(typed: Typed, daemon: FakeDaemon) -> None:
    assert module.PATTERNS == PATTERNS
    daemon.on_command = lambda body: (200, {"pattern": body["pattern"], "beepers": {"null": ""}})
    code, out, _ = typed("signal", "--all")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["pip", "close", "accept", "reject", "hold"]
    assert all("null: there is nothing to hear" in line for line in out.splitlines())
    code, out, _ = typed("signal", "pip", "--json")
    assert json.loads(out) == {"signals": [{"pattern": "pip", "beepers": {"null": ""}}]}


def test_the_daemons_refusal_is_told(typed: Typed, daemon: FakeDaemon) -> None:
    daemon.on_command = lambda body: (409, {"error": "betting is open, and a beep means no more bets"})
    code, out, err = typed("signal", "close")
    assert (code, out) == (1, "") and "betting is open" in err


@pytest.mark.parametrize("words", [(), ("pip", "--all"), ("fanfare",)])
def test_one_pattern_or_all(typed: Typed, words: tuple[str, ...]) -> None:
    assert typed("signal", *words)[0] == 2


def test_the_daemon_of_the_configuration_is_the_one_asked(
    typed: Typed, daemon: FakeDaemon, run: Path
) -> None:
    (run / "t.toml").write_text(LEAST + f'[api]\nsocket = "{run}/T07/tablectl.sock"\n')
    daemon.on_command = lambda body: (200, {"pattern": "pip", "beepers": {"lamp": ""}})
    assert typed("signal", "pip", "--config", str(run / "t.toml"))[0] == 0
    assert daemon.commands


def test_a_daemon_that_was_named_and_is_not_there_is_not_reachable(typed: Typed) -> None:
    assert typed("signal", "pip", "--table", "T09")[0] == 3


# --- directly ---------------------------------------------------------------------------------------------


@pytest.fixture
def stopped(run: Path) -> Path:
    """A configuration whose daemon does not run."""
    path = run / "stopped.toml"
    path.write_text(LEAST + f'[journal]\npath = "{run}/T07.db"\n[api]\nsocket = "{run}/none.sock"\n')
    return path


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    master, slave = os.openpty()
    tty.setraw(slave)
    yield master, os.ttyname(slave)
    os.close(master)
    os.close(slave)


def test_without_a_daemon_the_device_is_opened_here(
    typed: Typed, stopped: Path, terminal: tuple[int, str]
) -> None:
    with stopped.open("a") as file:
        file.write(f'[beeper]\ndriver = "bell"\nterminal = "{terminal[1]}"\n')
    code, out, _ = typed("signal", "close", "--config", str(stopped))
    assert (code, out) == (0, "close   bell: played\n")
    assert os.read(terminal[0], 10) == b"\a\a\a"


def test_what_is_wrong_with_the_device_is_told(typed: Typed, stopped: Path, run: Path) -> None:
    with stopped.open("a") as file:
        file.write(f'[beeper]\ndriver = "relay"\ndevice = "{run}/none"\n')
    code, out, _ = typed("signal", "close", "--config", str(stopped))
    assert code == 1 and f"close   relay: FAILED: the relay at {run}/none is not there" in out


def test_the_scanners_own_beep_is_sent_to_the_scanner(
    typed: Typed, stopped: Path, terminal: tuple[int, str]
) -> None:
    text = stopped.read_text().replace("/dev/null", terminal[1])
    stopped.write_text(text + '[beeper]\ndriver = "scanner"\npatterns = { accept = "16 07 0D" }\n')
    code, out, _ = typed("signal", "accept", "--config", str(stopped))
    assert (code, out) == (0, "accept  scanner: played\n")
    assert os.read(terminal[0], 10) == b"\x16\x07\r"


def test_not_while_a_daemon_holds_the_table(typed: Typed, stopped: Path, run: Path) -> None:
    with TableLock(run / "T07.db", "T07"):
        code, out, err = typed("signal", "close", "--config", str(stopped))
    assert (code, out) == (1, "") and "is held by process" in err and "--socket" in err


def test_a_fault_of_the_configuration_is_told_by_its_key(typed: Typed, stopped: Path) -> None:
    with stopped.open("a") as file:
        file.write('[beeper]\ndriver = "bell"\npatterns = { pip = 99 }\n')
    code, _, err = typed("signal", "pip", "--config", str(stopped))
    assert code == 1 and "beeper.patterns.pip: 99" in err


# --- check ------------------------------------------------------------------------------------------------


def checked(typed: Typed, path: Path, *more: str) -> list[str]:
    _, out, _ = typed("check", "--config", str(path), *more)
    return [line for line in out.splitlines() if " beeper" in line]


def test_check_opens_the_device_without_a_sound(
    typed: Typed, stopped: Path, terminal: tuple[int, str]
) -> None:
    with stopped.open("a") as file:
        file.write(
            f'[beeper]\ndriver = "several"\n[beeper.lamp]\ndriver = "relay"\ndevice = "{terminal[1]}"\n'
            '[beeper.horn]\ndriver = "pcspkr"\ndevice = "/nonexistent/spkr"\n'
        )
    lamp, horn = checked(typed, stopped)
    assert lamp.startswith("ok    beeper.lamp: relay is there")
    assert horn.startswith("warn  beeper.horn: pcspkr: the PC speaker at /nonexistent/spkr is not there")
    assert os.read(terminal[0], 100) == bytes.fromhex("A0 01 00 A1") * 2, "off, and off again at close"
    assert checked(typed, stopped, "--config-only")[1].startswith("ok    beeper.horn: pcspkr, not looked at")


def test_check_leaves_alone_what_the_daemon_has(
    typed: Typed, stopped: Path, run: Path, terminal: tuple[int, str]
) -> None:
    with stopped.open("a") as file:
        file.write(f'[beeper]\ndriver = "relay"\ndevice = "{terminal[1]}"\n')
    with TableLock(run / "T07.db", "T07"):
        (line,) = checked(typed, stopped)
    assert line.startswith("ok    beeper: relay, not looked at; hear it: tablectl signal close")
    os.set_blocking(terminal[0], False)
    with pytest.raises(BlockingIOError):
        os.read(terminal[0], 10)


def test_check_tells_what_the_daemon_knows_of_its_beepers(
    typed: Typed, daemon: FakeDaemon, stopped: Path, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = stopped.read_text().split("[api]")[0]
    stopped.write_text(f'{text}[api]\nsocket = "{daemon.socket}"\n[beeper]\ndriver = "bell"\n')
    daemon.state = (200, {**STATE, "beeper": {"why": "no terminal to ring"}})
    with TableLock(run / "T07.db", "T07"):
        lines = checked(typed, stopped)
    assert lines[0].startswith("warn  beeper: the daemon cannot be heard: no terminal to ring")


def test_a_beeper_the_daemon_would_not_start_with_fails_the_check(typed: Typed, stopped: Path) -> None:
    text = stopped.read_text()
    for beeper in (
        'driver = "gong"',
        'driver = "sound"\nfoo = 1',
        'driver = "bell"\npatterns = { pip = 99 }',
    ):
        stopped.write_text(f"{text}[beeper]\n{beeper}\n")
        code, out, _ = typed("check", "--config", str(stopped), "--config-only")
        assert code == 1 and "FAIL  beeper: " in out, beeper
