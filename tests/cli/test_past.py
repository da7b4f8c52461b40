"""recall, explain and shoe report as typed: what is asked, what is shown, what is written to files."""

from __future__ import annotations

import csv
import errno
import json
import os
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli import main
from tablectl.cli.export import write_export
from tablectl.cli.output import Refused
from tablectl.cli.past import moment
from tests.cli.fake_daemon import FakeDaemon, tablectl
from tests.cli.test_view import ROUND

TIME = "2026-11-29T20:15:03Z"
MORE: dict[str, Any] = {
    **ROUND,
    "flag": "the shoe was closed on an integrity fault",
    "hand": {"P1": "8S", "B1": "TH", "P2": "AC", "B2": "5D"},
    "kept": [
        {"code": "overdraw", "time": TIME},
        {"code": "called", "time": TIME, "card": "QD", "raw": "51 44", "position": "P2"},
    ],
    "holds": [{"codes": ["overdraw"], "message": "m", "saw": {"label": "P3", "bytes": "02 33"}}],
    "corrections": [
        {
            "how": "correct",
            "time": TIME, "before": {"P1": "7S"}, "after": {"P1": "8S"}, "reason": "misread",
            "approved_by": "bo",
        }
    ],
    "notes": [{"text": "K1 named", "time": TIME, "approved_by": "bo"}],
    "commands": [
        {
            "command": "correct", "args": {"position": "P1", "card": "8S"}, "person": "bo", "uid": 1000,
            "accepted": True, "answer": "P1 is 8S", "reason": "misread", "saw_round": "12/34",
            "saw_version": 500, "time": TIME,
        }
    ],
    "amendments": [
        {
            "time": TIME, "reason": "announcement", "approved_by": "eve",
            "before": {"outcome": "player", "player": {"cards": ["8S"], "total": 9}, "banker": {"total": 5}},
            "after": {
                "outcome": "tie", "player": {"total": 5}, "banker": {"total": 5}, "revision": 2,
            },
        }
    ],
}  # fmt: skip


def test_everything_about_a_round_is_printed(daemon: FakeDaemon, run: Path) -> None:
    daemon.rounds = (200, MORE)
    shown = tablectl("recall", "12/34", run=run).stdout
    for text in (
        "round 12/34  tie, player 5, banker 5", "AMENDED (revision 2)", "ATTENTION: the shoe was closed on",
        "K1 (not told before the shoe has ended)  kept: overdraw", "K2 QD  kept: called  51 44, later P2",
        "saw label P3, bytes 02 33", "corrected (correct)", "P1 7S -> P1 8S; misread, approved by bo",
        "K1 named, approved by bo",
        "correct position=P1 card=8S; by bo (uid 1000); saw round 12/34, state 500",
        "announcement, approved by eve", "player 9 to 5",
    ):  # fmt: skip
        assert text in shown, text


# --- when ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("21:40", "2026-11-29T21:40:00"), ("21:40:30", "2026-11-29T21:40:30"),
        ("00:00", "2026-11-29T00:00:00"),
        ("22:30:15", "2026-11-29T22:30:15"), ("22:30:16", "2026-11-28T22:30:16"),
        ("23:59", "2026-11-28T23:59:00"), ("2026-11-01T08:05", "2026-11-01T08:05:00"),
        ("2026-11-01T08:05:09", "2026-11-01T08:05:09"),
    ],
)  # fmt: skip
def test_a_time_of_day_is_the_latest_one_that_was(text: str, then: str) -> None:
    here = datetime.fromisoformat("2026-11-29T22:30:15.5")
    assert moment(text, here) == datetime.fromisoformat(then).timestamp()


def test_every_second_of_a_day_lies_in_the_last_24_hours() -> None:
    here = datetime.fromisoformat("2026-11-29T12:00:00")
    for second in range(0, 86400, 37):
        text = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        assert 0 <= here.timestamp() - moment(text, here) < 86400


@pytest.mark.parametrize(
    "text",
    [
        "24:00",
        "9:40",
        "21:60",
        "21:40:60",
        "21",
        "",
        "2026-13-01T00:00",
        "2026-02-30T00:00",
        "٢1:40",
        "21:40 ",
    ],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        moment(text, datetime.fromisoformat("2026-11-29T12:00:00"))


def test_what_is_asked_for(daemon: FakeDaemon, run: Path) -> None:
    for words, resource in (
        (["--last", "50"], "/v1/rounds?last=50"),
        (["50"], "/v1/rounds?last=50"),
        ([], "/v1/rounds?last=10"),
        (["12/34"], "/v1/rounds/12/34"),
    ):
        tablectl("recall", *words, run=run)
        assert daemon.asked[-1] == resource
    tablectl("recall", "--at", "2026-11-29T21:40", run=run, TZ="UTC")
    assert daemon.asked[-1] == "/v1/rounds?at=1795988400"
    done = tablectl("recall", "--at", "00:00", run=run)
    assert done.stdout == "no round was played before that time\n"


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "5", "--last", "6"], ["recall", "12/34", "--at", "21:40"], ["recall", "--at", "25:00"],
        ["recall", "--last", "0"], ["recall", "--last", "501"],
        ["recall", "--reveal", "--as", "bo", "--reason", "x"],
        ["recall", "5", "--reveal", "--as", "bo", "--reason", "x"],
        ["recall", "12/34", "--reveal", "--reason", "x"],
        ["recall", "12/34", "--reveal", "--as", "bo"], ["explain"], ["explain", "12"],
        ["shoe", "report", "x"],
        ["shoe", "report", "0"],
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_exit_2(
    daemon: FakeDaemon, run: Path, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLECTL_RUN", str(run))
    monkeypatch.delenv("TABLECTL_PIT_BOSS", raising=False)
    assert main(words) == 2
    assert daemon.asked == [] and daemon.commands == []


# --- files ------------------------------------------------------------------------------------------------


def test_an_export_is_its_owners_and_replaces_nothing(daemon: FakeDaemon, run: Path, tmp_path: Path) -> None:
    daemon.rounds = (200, MORE)
    file = tmp_path / "dispute.json"
    done = tablectl("recall", "12/34", "--export", str(file), run=run)
    assert done.returncode == 0 and done.stdout == f"written to {file}: 1 round\n"
    assert json.loads(file.read_text()) == MORE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = tablectl("recall", "12/34", "--export", str(file), run=run)
    assert again.returncode == 1 and "is there already" in again.stderr
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "elsewhere")
    assert tablectl("recall", "12/34", "--export", str(link), run=run).returncode == 1
    assert not (tmp_path / "elsewhere").exists()
    nowhere = tablectl("recall", "12/34", "--export", str(tmp_path / "no" / "x.json"), run=run)
    assert nowhere.returncode == 1 and "No such file" in nowhere.stderr


def test_csv_has_a_line_for_each_card_and_no_formula(daemon: FakeDaemon, run: Path, tmp_path: Path) -> None:
    odd = {
        **MORE,
        "cards": [*MORE["cards"], {"position": "=1+1", "card": "@x", "source": "a\x1b\n", "raw": "-"}],
    }
    daemon.rounds = (200, {"rounds": [odd, ROUND]})
    file = tmp_path / "dispute.CSV"
    done = tablectl("recall", "--export", str(file), run=run)
    assert done.returncode == 0, done.stderr
    with file.open(newline="") as opened:
        lines = list(csv.DictReader(opened))
    assert len(lines) == 4 + 1 + 2 + 4
    assert {line["place"] for line in lines} == {"P1", "B1", "P2", "B2", "K1", "K2", "'=1+1"}
    kept = next(line for line in lines if line["place"] == "K1")
    assert (kept["card"], kept["bytes"], kept["hold"]) == ("?", "", "overdraw")
    assert "\x1b" not in file.read_text()


def test_a_full_disk_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    file = tmp_path / "dispute.csv"
    with pytest.raises(Refused, match="cannot be written: No space left on device"):
        write_export(str(file), MORE, [MORE])
    assert not file.exists()


def test_a_disk_that_takes_nothing_is_told_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = os.open
    monkeypatch.setattr("os.open", lambda *_: really("/dev/full", os.O_WRONLY))
    with pytest.raises(Refused, match="cannot be written: No space left on device"):
        write_export(str(tmp_path / "dispute.json"), MORE, [MORE])


# --- reveal -------------------------------------------------------------------------------------------------

PIT = ["--as", "bo", "--reason", "dispute: seat 3", "--pin-stdin"]


def test_reveal_is_asked_as_a_pit_boss(daemon: FakeDaemon, run: Path) -> None:
    daemon.on_command = lambda body: (
        200,
        {"id": body["id"], "accepted": True, "answer": "x", "revealed": MORE},
    )
    done = tablectl("recall", "12/34", "--reveal", *PIT, run=run, stdin="4711\n")
    assert done.returncode == 0 and "K2 QD" in done.stdout
    (body,) = daemon.commands
    assert daemon.posted_to == ["/v1/reveal"] and daemon.asked == []
    assert {k: body[k] for k in ("person", "pin", "reason", "shoe", "round")} == {
        "person": "bo", "pin": "4711", "reason": "dispute: seat 3", "shoe": 12, "round": 34,
    }  # fmt: skip
    assert "4711" not in done.stdout + done.stderr


def test_a_reveal_without_an_answer_is_asked_again_under_its_id(daemon: FakeDaemon, run: Path) -> None:
    answers: list[Any] = [None, (200, {"accepted": True, "revealed": ROUND})]
    daemon.on_command = lambda body: answers.pop(0)
    assert tablectl("recall", "12/34", "--reveal", *PIT, run=run, stdin="1\n").returncode == 0
    assert len({body["id"] for body in daemon.commands}) == 1 and len(daemon.commands) == 2


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ((403, {"error": "wrong name or PIN"}), "refused: wrong name or PIN"),
        ((403, {"error": "too many", "retry_after": 4}), "refused: too many; try again in 4 s"),
        ((409, {"answer": "recall --reveal refused: no round"}), "recall --reveal refused: no round"),
        ((200, {"revealed": None}), "refused: HTTP 200"),
        ((500, {}), "refused: HTTP 500"),
    ],
)
def test_a_refused_reveal_shows_nothing(daemon: FakeDaemon, run: Path, reply: Any, says: str) -> None:
    daemon.on_command = lambda body: reply
    done = tablectl("recall", "12/34", "--reveal", *PIT, run=run, stdin="1\n")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", says + "\n")


# --- explain and shoe report ------------------------------------------------------------------------------


@pytest.mark.parametrize(("agrees", "code", "last"), [(True, 0, "agrees"), (False, 1, "DIFFERS: 1 findings")])
def test_explain_prints_the_derivation(
    daemon: FakeDaemon, run: Path, agrees: bool, code: int, last: str
) -> None:
    steps = [
        {"row": 7, "time": TIME, "event": "card.dealt", "text": "P1 8S, 8 points"},
        {"text": "Player 5: draws\x1b"},
    ]
    findings = [] if agrees else ["row 9: published outcome is tie, derived player"]
    answer = {"shoe": 12, "round": 34, "steps": steps, "findings": findings, "agrees": agrees}
    daemon.rounds = (200, answer)
    done = tablectl("explain", "12/34", run=run)
    assert done.returncode == code and daemon.asked == ["/v1/rounds/12/34/explain"]
    lines = done.stdout.splitlines()
    assert lines[1:3] == [f"  row 7  {TIME}  card.dealt: P1 8S, 8 points", "    Player 5: draws\\x1b"]
    assert lines[-1] == last
    as_json = tablectl("explain", "12/34", "--json", run=run)
    assert (as_json.returncode, json.loads(as_json.stdout)) == (code, answer)


def test_explain_of_what_is_not_settled(daemon: FakeDaemon, run: Path) -> None:
    daemon.rounds = (409, {"error": "round 12/34 has no result yet"})
    done = tablectl("explain", "12/34", run=run)
    assert (done.returncode, done.stderr) == (1, "refused: round 12/34 has no result yet\n")


REPORT: dict[str, Any] = {
    "shoe": 12, "over": True, "decks": 8, "cards": 416, "rules": "live-casino", "note": "set 4",
    "adopted": None,
    "out": 360, "left": 56, "dealt": 350, "burned": 7, "kept": 3, "unknown": 1, "rounds": 70,
    "results": {"player": 30, "tie": 8}, "void": 1, "amended": 1, "holds": 4,
    "ended": {
        "reason": "cards", "approved_by": "bo", "integrity": True, "withdrawn": False, "missing": ["9D"],
        "extra": [],
    },
    "faces": {"dealt_by_rank": {"A": 30}, "burned": ["2S", "?"], "kept": [], "left": None},
}  # fmt: skip


def test_shoe_report(daemon: FakeDaemon, run: Path) -> None:
    daemon.rounds = (200, REPORT)
    done = tablectl("shoe", "report", "12", run=run)
    assert done.returncode == 0 and daemon.asked == ["/v1/shoes/12/report"]
    for text in (
        "shoe 12, 8 decks, rules live-casino, set 4", "ended: cards, approved by bo", "integrity fault",
        "cards: 360 out, 56 left; 350 dealt, 7 burned, 3 kept, 1 of them unknown", "missing: 9D",
        "rounds: 70 (player 30, tie 8), void 1, amended 1, holds 4", "burned: 2S, ?",
        "left: not known by name",
    ):  # fmt: skip
        assert text in done.stdout
    daemon.rounds = (200, {k: v for k, v in REPORT.items() if k != "faces"} | {"ended": None})
    shown = tablectl("shoe", "report", run=run).stdout
    assert daemon.asked[-1] == "/v1/shoes/last/report" and "no faces" in shown and "burned:" not in shown


@pytest.mark.parametrize(
    "answer", [{}, {"steps": 1, "findings": "x"}, {"ended": [], "faces": 3, "adopted": "x"}]
)
def test_odd_answers_are_shown_as_far_as_they_go(
    daemon: FakeDaemon, run: Path, answer: dict[str, Any]
) -> None:
    daemon.rounds = (200, answer)
    for words in (["explain", "12/34"], ["shoe", "report"], ["recall", "12/34"]):
        done = tablectl(*words, run=run)
        assert done.returncode in (0, 1) and "Traceback" not in done.stderr
