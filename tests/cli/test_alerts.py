"""`tablectl alerts`: what is open, since when, and the line to type; whatever the daemon says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake_daemon import STATE, FakeDaemon, tablectl


def tell(daemon: FakeDaemon, *alerts: Any) -> None:
    daemon.state = (200, STATE | {"alerts": list(alerts)})


def test_each_alert_comes_with_the_line_that_acknowledges_it(daemon: FakeDaemon, run: Path) -> None:
    tell(
        daemon,
        {"alert": "disk-slow", "message": "A commit took 3 s.", "since": "2026-11-29T20:15:03Z"},
        {"alert": "beeper", "message": "It cannot be heard."},
    )
    done = tablectl("alerts", "--table", "T07", run=run)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "alert disk-slow  since 2026-11-29T20:15:03Z",
        "  A commit took 3 s.",
        "  when it was seen: tablectl ack disk-slow --table T07",
        "alert beeper",
        "  It cannot be heard.",
        "  when it was seen: tablectl ack beeper --table T07",
    ]


def test_the_line_can_be_typed_as_it_is(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl("alerts", run=run)
    typed = done.stdout.splitlines()[-1].partition(": ")[2].split()
    assert typed == ["tablectl", "ack", "disk-slow"]
    assert tablectl(*typed[1:], run=run).returncode == 0
    assert (daemon.commands[0]["command"], daemon.commands[0]["args"]) == ("ack", {"alert": "disk-slow"})


def test_none_is_said_to_be_none(daemon: FakeDaemon, run: Path) -> None:
    tell(daemon)
    done = tablectl("alerts", run=run)
    assert (done.returncode, done.stdout) == (0, "no alert is open\n")


def test_a_program_gets_one_object(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl("alerts", "--json", run=run)
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout) == {"table": "T07", "alerts": STATE["alerts"]}


def test_nothing_a_daemon_says_reaches_the_terminal_as_it_is(daemon: FakeDaemon, run: Path) -> None:
    tell(daemon, {"alert": "x\x1b[2J; reboot", "message": "a\nb\x07", "since": "\x1b]0;x"}, "odd", None, {})
    done = tablectl("alerts", run=run)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout and "\x07" not in done.stdout
    assert "tablectl ack 'x\\x1b[2J; reboot'" in done.stdout


def test_many_and_long_alerts_are_cut(daemon: FakeDaemon, run: Path) -> None:
    tell(daemon, *[{"alert": "a" * 500, "message": "b" * 5000}] * 1000)
    done = tablectl("alerts", run=run)
    assert len(done.stdout.splitlines()) == 300
    assert max(map(len, done.stdout.splitlines())) < 1100


@pytest.mark.parametrize(
    ("reply", "code", "says"),
    [
        ((503, {"error": "busy\x1b"}), 1, "refused: busy\\x1b"),
        ((200, STATE | {"table": "T08"}), 1, "is table T08, not T07"),
        (None, 3, ""),
    ],
)
def test_what_goes_wrong_is_told(daemon: FakeDaemon, run: Path, reply: Any, code: int, says: str) -> None:
    daemon.state = reply
    done = tablectl("alerts", "--table", "T07", run=run)
    assert done.returncode == code
    assert done.stdout == ""
    assert says in done.stderr and done.stderr
