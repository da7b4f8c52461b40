"""Commands of dealer and pit boss: what is sent, what is refused before it is, and what comes of it."""

from __future__ import annotations

import os
import pty
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli import main
from tests.cli.conftest import Typed
from tests.cli.fake_daemon import STATE, FakeDaemon, Reply, accepted, tablectl

FREE = STATE | {"holds": [], "ways": []}
SUPERVISED = ("--as", "bo", "--reason", "dispute: seen on video", "--pin-stdin")
BURN_ERROR = ("burn-error", "--state", "512")


def test_every_command_has_a_fresh_id(daemon: FakeDaemon, run: Path) -> None:
    for words in (["bets", "open"], ["bets", "open"], [*BURN_ERROR, *SUPERVISED]):
        done = tablectl(*words, run=run, stdin="482913\n")
        assert (done.returncode, done.stderr) == (0, "")
    assert len({sent["id"] for sent in daemon.commands}) == 3


def test_what_was_seen_goes_with_any_command(daemon: FakeDaemon, run: Path) -> None:
    tablectl("bets", "open", "--round", "12/34", "--state", "512", run=run)
    tablectl("bets", "open", "--state", "0", run=run)
    tablectl("bets", "open", run=run)
    assert [sent["expect"] for sent in daemon.commands] == [
        {"shoe": 12, "round": 34, "version": 512},
        {"version": 0},
        {},
    ]


@pytest.mark.parametrize(
    ("words", "would"),
    [
        (["confirm"], "announce what the cards say"),
        (["confirm", "tie"], "announce tie"),
        (["release", "burn", *SUPERVISED], "release burn: the cards kept are burned"),
        (["void", *SUPERVISED], "void round 12/34"),
    ],
)
def test_a_change_of_a_round_is_only_shown_until_the_line_it_prints_is_typed(
    daemon: FakeDaemon, run: Path, words: list[str], would: str
) -> None:
    held = words[0] != "confirm"
    daemon.state = (200, STATE if held else FREE)
    shown = tablectl("--table", "T07", *words, run=run, stdin="482913\n")
    assert shown.returncode == 1 and daemon.commands == []
    assert would in shown.stdout
    holds = ("HOLD overdraw", "way out: void") if held else ()
    for seen in ("round 12/34", "P1 8S  P2 AC", "B1 TH  B2 5D", "total 9", *holds):
        assert seen in shown.stdout
    assert "not done" in shown.stderr
    line = shlex.split(shown.stdout.splitlines()[-1])
    assert line[0] == "tablectl"
    done = tablectl(*line[1:], run=run, stdin="482913\n")
    assert done.returncode == 0
    assert daemon.commands[0]["expect"] == {"shoe": 12, "round": 34, "version": 512}
    assert daemon.commands[0]["command"] == words[0]


def test_a_way_out_that_is_not_offered_has_no_line_to_type(daemon: FakeDaemon, run: Path) -> None:
    shown = tablectl("release", "keep", *SUPERVISED, run=run)
    assert shown.returncode == 1 and "--state" not in shown.stdout
    assert shown.stdout.endswith("release would be refused now: keep is no way out\n")


def test_a_hostile_state_puts_nothing_into_the_line_to_paste(daemon: FakeDaemon, run: Path) -> None:
    for where, version in (("12/34; rm -rf ~", 1), ("12/-", True), ("\x1b[2J", "1; true")):
        daemon.state = (200, {**FREE, "where": where, "version": version})
        shown = tablectl("confirm", run=run)
        assert shown.returncode == 1 and "\x1b" not in shown.stdout + shown.stderr
        pasted = shown.stdout.splitlines()[-1:]
        assert pasted in ([], ["  tablectl confirm --state 1"])
    assert daemon.commands == []


def test_a_refusal_is_exit_1_with_the_reason_on_standard_error(daemon: FakeDaemon, run: Path) -> None:
    def refuse(body: dict[str, Any]) -> Reply:
        return 409, {
            "id": body["id"],
            "accepted": False,
            "answer": "bets open refused: no shoe\x1b]0;x\x07",
            "where": "-",
            "version": 3,
        }

    daemon.on_command = refuse
    done = tablectl("bets", "open", run=run)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "bets open refused: no shoe\\x1b]0;x\\x07\n"
    done = tablectl("bets", "open", "--json", run=run)
    assert done.returncode == 1 and '"accepted": false' in done.stdout and "\x1b" not in done.stdout


def test_a_wrong_pin_says_when_to_try_again(daemon: FakeDaemon, run: Path) -> None:
    daemon.on_command = lambda body: (403, {"error": "wrong name or PIN", "retry_after": 8})
    done = tablectl(*BURN_ERROR, *SUPERVISED, run=run, stdin="482913\n")
    assert done.returncode == 1
    assert done.stderr == "refused: wrong name or PIN; try again in 8 s\n"
    assert "482913" not in done.stdout + done.stderr


def test_no_answer_asks_once_more_under_the_same_id(daemon: FakeDaemon, run: Path) -> None:
    daemon.on_command = lambda body: accepted(body) if len(daemon.commands) == 2 else None
    done = tablectl("bets", "open", run=run)
    assert (done.returncode, done.stdout) == (0, "did bets open\n")
    assert [sent["id"] for sent in daemon.commands] == [daemon.commands[0]["id"]] * 2


@pytest.mark.parametrize(
    "reply",
    [
        None,
        (503, {"error": "no answer yet: the journal is slow"}),
        (200, {"id": "another", "accepted": True, "answer": "done"}),
        (200, ["accepted"]),
        (302, {}),
        b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"a',
    ],
)
def test_an_answer_that_is_none_is_said_to_leave_it_open(daemon: FakeDaemon, run: Path, reply: Reply) -> None:
    daemon.on_command = lambda body: reply
    done = tablectl("cut-card", run=run)
    assert done.returncode == 3 and done.stdout == ""
    assert "whether 'cut-card' was carried out is not known" in done.stderr
    assert len(daemon.commands) == 2


@pytest.mark.parametrize(("kept", "code"), [(True, 3), (False, 1)])
def test_a_journal_in_trouble_answers_once_and_says_what_becomes_of_the_command(
    daemon: FakeDaemon, run: Path, kept: bool, code: int
) -> None:
    daemon.on_command = lambda body: (503, {"error": "the journal's disk is full", "kept": kept})
    done = tablectl("cut-card", run=run)
    assert (done.returncode, len(daemon.commands)) == (code, 1)
    assert "the journal's disk is full" in done.stderr and "is not known" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["hold", "pasted \x1b[201~ text"],
        ["hold", "two\nlines"],
        ["hold", "\x9b31m"],
        ["hold", "\u202eright to left"],
        ["hold", "\udcff\udcfe"],
        ["hold", "x" * 10_000],
        ["hold", "x" * 201],
        ["hold", "   "],
        ["x" * 10_000],
        ["\x1b[2J"],
        ["sign-in", "anna"],
        ["sign-in", "anna", "--pickup", "up"],
        ["confirm", "bank"],
        ["confirm", "--round", "12"],
        ["confirm", "--round", "12/34\n"],
        ["confirm", "--state", "-1"],
        ["burn", "0", *SUPERVISED],
        ["burn", "done", "x"],
        ["burn", "2"],
        ["burn-error", "--as", "bo"],
        ["burn-error", "--reason", "cards"],
        ["burn-error", "--as", "bo", "--reason", "x" * 10_000],
        ["burn-error", "--as", "bo", "--reason", "cards: \x1b[2J"],
        ["shoe", "inspect", *SUPERVISED],
        ["correct", "P1", "\x1b", *SUPERVISED],
        ["amend", "12/34", "P1=" + "8S" * 400, *SUPERVISED],
        ["enter", "P1" * 400, "8S", *SUPERVISED],
        ["--table", "../T07", "status"],
        ["status", "--table", "T 07"],
        ["recall", "0"],
        ["recall", "12/"],
        ["bets", "opne"],
        ["bets"],
        [],
    ],
)
def test_what_cannot_be_meant_is_exit_2_and_never_sent(
    daemon: FakeDaemon,
    run: Path,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TABLECTL_RUN", str(run))
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err and len(shown.err) < 5000
    assert all(char.isprintable() or char == "\n" for char in shown.err)
    assert daemon.commands == [] and daemon.asked == []


def test_bytes_that_are_no_text_are_not_sent(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl(b"hold", b"\xff\x1b[2J", run=run)
    assert (done.returncode, daemon.commands) == (2, [])
    assert "\\udcff\\x1b[2J" in done.stderr and "\x1b" not in done.stderr


@pytest.mark.parametrize("pin", ["", "\n", "12\x1b34\n", "x" * 100 + "\n"])
def test_no_pin_no_command(daemon: FakeDaemon, run: Path, pin: str) -> None:
    done = tablectl(*BURN_ERROR, *SUPERVISED, run=run, stdin=pin)
    assert done.returncode == 1 and "PIN" in done.stderr
    assert daemon.commands == []


def test_without_a_terminal_the_pin_wants_its_option(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl(*BURN_ERROR, *SUPERVISED[:-1], run=run, stdin="482913\n")
    assert done.returncode == 1 and "--pin-stdin" in done.stderr
    assert daemon.commands == []


def test_the_pin_is_asked_at_the_terminal_without_echo(daemon: FakeDaemon, run: Path) -> None:
    child, master = pty.fork()
    if child == 0:  # pragma: no cover - another process
        command = [sys.executable, "-m", "tablectl.cli", *BURN_ERROR, *SUPERVISED[:-1]]
        os.execve(sys.executable, command, {**os.environ, "TABLECTL_RUN": str(run)})
    seen = b""
    while b"PIN of bo: " not in seen:
        seen += os.read(master, 1000)
    os.write(master, b"482913\n")
    try:
        while chunk := os.read(master, 1000):
            seen += chunk
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(master)
    assert b"did burn-error" in seen and b"482913" not in seen
    assert daemon.commands[0]["pin"] == "482913"


def test_the_pit_boss_may_come_from_the_environment(daemon: FakeDaemon, run: Path) -> None:
    words = (*BURN_ERROR, "--reason", "cards: worn", "--pin-stdin")
    assert tablectl(*words, run=run, stdin="1234\n", TABLECTL_PIT_BOSS="bo").returncode == 0
    assert daemon.commands[0]["person"] == "bo"
    assert tablectl(*words, run=run, stdin="1234\n", TABLECTL_PIT_BOSS="b\x1bo").returncode == 2
    assert len(daemon.commands) == 1


@pytest.mark.parametrize("words", [["bets", "close"], ["turn"], ["confirm"]])
def test_what_changes_a_round_is_only_shown_without_what_was_seen(
    daemon: FakeDaemon, run: Path, words: list[str]
) -> None:
    done = tablectl(*words, run=run)
    assert done.returncode == 1 and "Nothing was done yet" in done.stdout
    assert daemon.commands == []


@pytest.mark.parametrize(
    "words", [["release", "burn"], ["void"], ["shoe", "end"], ["device", "swap"], ["cut-card", "--undo"]]
)
def test_what_was_seen_is_missed_before_the_pin_is_asked_for(
    daemon: FakeDaemon, run: Path, words: list[str]
) -> None:
    """There is no terminal here: asking for the PIN would be the refusal."""
    done = tablectl(*words, *SUPERVISED[:-1], run=run)
    assert done.returncode == 1 and "needs --round or --state" in done.stderr and "PIN" not in done.stderr
    assert "  tablectl " + " ".join(words) + " --round 12/34 --state 512 --as bo" in done.stdout
    assert "no way out" not in done.stdout


def test_a_choice_that_is_missing_is_told_in_readable_words(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl("sign-in", "anna", run=run)
    assert done.returncode == 2
    assert done.stderr.endswith("Error: Missing option '--pickup'. Choose from: left, right\n")


def test_same_again_says_when_there_is_nothing_to_count_twice(typed: Typed, daemon: FakeDaemon) -> None:
    daemon.state = (200, {**STATE, "read_twice": False})
    code, out, err = typed("same-again")
    assert code == 1 and "would be refused now" in out + err and not daemon.commands
