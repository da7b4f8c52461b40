"""Looking at a table: which one, how fast, on what terminal, and with what at the other end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablectl.cli import main
from tablectl.cli.read import State
from tablectl.local import Client, Interrupted
from tablectl.printable import number_of
from tests.cli.fake_daemon import HEEDING, STATE, FakeDaemon, event, stream, tablectl

HEAVY = (
    *("aiohttp", "pydantic", "structlog", "asyncio", "sqlite3", "importlib.metadata"),
    *("prometheus_client", "serial", "usb", "tablectl.technician.capture"),
)
NAMES_HEAVY = f"""
import sys
from tablectl.cli import main
try:
    code = main(sys.argv[1:])
finally:
    print(sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)
sys.exit(code)
"""


def test_one_of_a_thing_is_told_as_one() -> None:
    shoe = STATE["shoe"] | {"left": 1, "rounds": 1}
    scanner = STATE["scanner"] | {"frames": 1, "rejects": 1}
    text = "\n".join(State({**STATE, "shoe": shoe, "scanner": scanner}).lines())
    assert "1 card left, 216 out, 1 round\n" in text and "1 frame, 1 reject," in text
    assert [number_of(n, "row") for n in (0, 1, "1", "?")] == ["0 rows", "1 row", "1 row", "? rows"]


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["status"],
        ["alerts"],
        ["bets", "open"],
        ["confirm"],
        ["recall"],
        ["confirm", "--round", "12/34"],
        ["correct", "P1", "8S", "--as", "bo", "--reason", "misread"],
        ["amend", "--help"],
        ["scan", "--help"],
        ["devices", "--help"],
    ],
)
def test_quick_commands_load_nothing_heavy(daemon: FakeDaemon, run: Path, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NAMES_HEAVY, *words],
        env=os.environ | {"TABLECTL_RUN": str(run)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == "[]"
    assert done.stdout


def test_status_shows_what_a_dealer_needs(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl("status", run=run)
    assert done.returncode == 0 and done.stderr == ""
    for text in (
        "table T07", "rules live-casino", "state 512", "dealer anna, picks up left", "200 cards left",
        "round 12/34", "P1 8S  P2 AC",
        "B1 TH  B2 5D", "HOLD overdraw: A card", "cards kept: K1 ?  K2 ?", "way out: release burn",
        "  saw: scan 5, position B3, bytes 02 35 03", "last: round 12/33, player, confirmed by dealer",
        "alert disk-slow", "link NOT good: connection refused", "last good one 1.2 s ago",
        "say: Egalité, tie", "/dev/ttyUSB0 up\n",
        "  usb:0403:6001:A50285BI (FT232R USB UART), at /dev/ttyUSB0\n",
    ):  # fmt: skip
        assert text in done.stdout
    assert json.loads(tablectl("status", "--json", run=run).stdout) == STATE


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"health": "mute", "why": "its line is silent"}, ["dev up, MUTE: its line is silent"]),
        ({"health": "absent", "up": False, "why": "unplugged"}, ["dev DOWN: unplugged"]),
        ({"health": "swapped", "why": "x", "identity": "a"}, ["dev up, SWAPPED: x", "  a"]),
        ({}, ["dev up"]),
        ({"health": "\x1b[2J" * 9, "why": 7, "identity": [1], "where": {}}, None),
    ],
    ids=["mute", "absent", "swapped", "of an older daemon", "of a liar"],
)
def test_status_says_how_the_scanner_is(changes: dict[str, Any], lines: list[str] | None) -> None:
    scanner = {"driver": "x", "device": "dev", "up": True, "why": "", **changes}
    told = State({**STATE, "scanner": scanner}).lines()
    assert "\x1b" not in "".join(told)
    if lines is not None:
        at = next(i for i, line in enumerate(told) if line.startswith("scanner "))
        assert told[at].endswith(lines[0])
        assert told[at + 1 : at + 1 + len(lines[1:])] == lines[1:]


@pytest.mark.parametrize(
    ("state", "line"),
    [
        ({"rescan": {"what": "hand", "scanned": 3}}, "re-scan of the hand: 3 cards so far"),
        ({"rescan": {"what": "last", "scanned": 0}}, "re-scan of the last card: 0 cards so far"),
        ({"rescan": {"what": "B2", "scanned": 1}}, "re-scan of B2: 1 card so far"),
        (
            {"counting": {"counted": 211, "of": 416, "unknown": 2, "extra": ["8S"]}},
            "count: 211 of 416, 1 extra: 8S, 2 unknown",
        ),
        ({"counting": {"counted": 0, "of": 416, "unknown": 0, "extra": []}}, "count: 0 of 416"),
        (
            {"counting": {"counted": 416, "of": 416, "unknown": 0, "extra": ["8S"] * 21}},
            "count: 416 of 416, 21 extra: " + "8S " * 20 + "…",
        ),
        (
            {"placed": {"shoe": 12, "round": 34, "players": 3, "placed": 2, "all": False}},
            "2 of 3 players have placed",
        ),
        ({"placed": {"players": 1, "placed": 0, "all": False}}, "0 of 1 player has placed"),
        ({"placed": {"players": 0, "placed": 0, "all": False}}, "no player is connected"),
        (
            {"placed": {"players": 3, "placed": 3, "all": True}},
            "all 3 players have placed: `tablectl bets close` ends betting early",
        ),
        (
            {"placed": {"players": 1, "placed": 1, "all": True}},
            "the only player has placed: `tablectl bets close` ends betting early",
        ),
        ({"placed": {"players": [], "placed": "\x1b[2J"}}, "\\x1b[2J of [] players have placed"),
        ({"reserved": 1}, "1 card reserved for the next round"),
        ({"reserved": 2}, "2 cards reserved for the next round"),
        ({"settled": {"where": "12/33", "what": "void"}}, "last: round 12/33, void"),
        ({"mirror": {"behind": 7, "error": "disk I/O error"}}, "mirror 7 rows behind: disk I/O error"),
        (
            {"unsettled": ["12/33", "12/34"]},
            "UNSETTLED: round 12/33, 12/34: void or amend what the game server refused",
        ),
    ],
)
def test_what_is_under_way_has_its_line(state: dict[str, Any], line: str) -> None:
    quiet = State({**STATE, "settled": None}).lines()
    assert [text for text in State({**STATE, "settled": None, **state}).lines() if text not in quiet] == [
        line
    ]


@pytest.mark.parametrize(
    "name", ["rescan", "counting", "placed", "reserved", "settled", "unsettled", "kept", "holds"]
)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=400),
        lambda inner: (
            st.lists(inner, max_size=100)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "what",
                        "scanned",
                        "counted",
                        "of",
                        "unknown",
                        "extra",
                        "where",
                        "code",
                        "message",
                        "saw",
                        "label",
                        "bytes",
                    ]
                ),
                inner,
            )
        ),
        max_leaves=100,
    )
)
def test_lines_are_bounded_and_printable_whatever_the_daemon_says(name: str, value: Any) -> None:
    for line in State({**STATE, name: value}).lines():
        assert line.isprintable()
        assert len(line) < 2000


def test_a_table_without_a_game_server_has_no_bad_link(daemon: FakeDaemon, run: Path) -> None:
    from tablectl.delivery.link import NO_SERVER

    daemon.state = (200, {**STATE, "link": {"good": False, "why": NO_SERVER}})
    shown = tablectl("status", run=run).stdout
    assert f"\n{NO_SERVER}; betting needs none\n" in shown and "link" not in shown
    silent = "no game server answers on tables.T07.link"
    daemon.state = (200, {**STATE, "link": {"good": False, "why": silent}})
    assert f"\nlink NOT good: {silent}\n" in tablectl("status", run=run).stdout


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"round": 5, "shoe": [], "holds": {}, "ways": [1, None], "kept": "abc", "alerts": [[]], "say": {}},
        {
            "round": {"cards": [1], "seconds_left": "x"},
            "scanner": 3,
            "journal": None,
            "ways": [{"action": {}}],
        },
        {"table": None, "version": {"a": 1}, "phase": ["x"], "where": 12},
        {"rescan": [], "counting": 3, "reserved": {}, "settled": "x", "holds": [{"saw": 1}], "kept": {}},
        {"counting": {"extra": 8}, "rescan": {"scanned": None}, "settled": {"a": 1}, "reserved": -1},
        dict.fromkeys(STATE),
    ],
)
def test_an_odd_state_is_shown_as_far_as_it_goes(
    daemon: FakeDaemon, state: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.state = (200, state)
    assert main(["status", "--socket", str(daemon.socket)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("table ") and shown.err == ""


def test_nothing_a_peer_says_moves_the_cursor(daemon: FakeDaemon, run: Path) -> None:
    nasty = "\x1b[2J\x07\r\n\x9b1m\u202e\x00\x7f"
    held = {"code": nasty, "message": nasty, "saw": {"label": nasty, "bytes": nasty}}
    ways = {
        "rescan": {"what": nasty, "scanned": nasty},
        "counting": {"counted": nasty, "of": nasty, "unknown": nasty, "extra": [nasty]},
        "reserved": nasty,
        "settled": {"where": nasty, "what": nasty},
    }
    daemon.state = (200, {**STATE, "holds": [held], "dealer": nasty, "say": [nasty], "kept": [nasty], **ways})
    daemon.rounds = (
        200,
        {"rounds": [{"shoe": nasty, "round": 1, "void": {"reason": nasty}, "cards": [nasty]}]},
    )
    for words in (["status"], ["confirm"], ["recall"], ["recall", "--json"], ["status", "--json"]):
        done = tablectl(*words, run=run)
        assert all(char.isprintable() or char == "\n" for char in done.stdout + done.stderr), words
        assert "x1b[2J" in done.stdout or "u001b[2J" in done.stdout


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_a_poor_terminal_still_shows_cards(daemon: FakeDaemon, run: Path, locale: dict[str, str]) -> None:
    done = tablectl("status", run=run, COLUMNS="10", LINES="3", TERM="dumb", **locale)
    assert done.returncode == 0 and "8S" in done.stdout and "Egalit" in done.stdout
    assert "\x1b" not in done.stdout
    assert tablectl("--help", run=run, COLUMNS="10", **locale).returncode == 0


def test_latin_letters_stay_readable_where_only_ascii_goes(daemon: FakeDaemon, run: Path) -> None:
    done = tablectl("status", run=run, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert "say: Egalite, tie" in done.stdout


def closed(*words: str, run: Path, how: str) -> subprocess.CompletedProcess[str]:
    line = f'exec "$0" -m tablectl.cli {" ".join(words)} {how}'
    return subprocess.run(
        ["sh", "-c", line, sys.executable],
        env=os.environ | {"TABLECTL_RUN": str(run)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("words", [["status"], ["cut-card"], ["recall", "--json"], ["--help"], ["rules"]])
def test_a_closed_or_gone_standard_output_is_no_crash(
    daemon: FakeDaemon, run: Path, words: list[str]
) -> None:
    done = closed(*words, run=run, how=">&-")
    assert (done.returncode, done.stderr) == (0, "")
    read, write = os.pipe()
    os.close(read)
    gone = subprocess.run(
        [sys.executable, "-m", "tablectl.cli", *words],
        env=os.environ | {"TABLECTL_RUN": str(run)},
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(write)
    assert (gone.returncode, gone.stderr) == (0, "")


def test_a_full_disk_is_told(daemon: FakeDaemon, run: Path) -> None:
    done = closed("status", "--json", run=run, how=">/dev/full")
    assert done.returncode == 1 and "No space left" in done.stderr and "Traceback" not in done.stderr


def test_two_tables_want_a_name(daemon: FakeDaemon, run: Path) -> None:
    other = FakeDaemon(run / "T08" / "tablectl.sock")
    other.state = (200, {**STATE, "table": "T08"})
    try:
        done = tablectl("cut-card", run=run)
        assert (done.returncode, done.stderr) == (
            1,
            "several tables run here: T07, T08; say which with --table ID\n",
        )
        assert daemon.commands == other.commands == []
        for words in (["--table", "T08", "cut-card"], ["cut-card", "--table", "T08"]):
            assert tablectl(*words, run=run).returncode == 0
        assert tablectl("cut-card", run=run, TABLECTL_SOCKET=str(other.socket)).returncode == 0
        assert (len(daemon.commands), len(other.commands)) == (0, 3)
        assert (
            tablectl("cut-card", "--table", "T07", run=run, TABLECTL_SOCKET=str(other.socket)).returncode == 0
        )
        assert (len(daemon.commands), len(other.commands)) == (1, 3)
    finally:
        other.close()


def test_a_socket_of_another_table_than_named_is_refused(daemon: FakeDaemon, run: Path) -> None:
    for words in (["cut-card"], ["status"], ["confirm", "--round", "12/34"]):
        done = tablectl(*words, "--table", "T08", "--socket", str(daemon.socket), run=run)
        assert done.returncode == 1 and "T07" in done.stderr and "T08" in done.stderr
    assert daemon.commands == []


@pytest.mark.parametrize("words", [["status"], ["watch"], ["recall"], ["cut-card"], ["confirm"]])
def test_no_daemon_is_exit_3_with_the_path_and_a_way_out(run: Path, words: list[str]) -> None:
    socket = run / "T07" / "tablectl.sock"
    nothing = tablectl(*words, run=run)
    assert nothing.returncode == 3 and f"{run}/*/tablectl.sock" in nothing.stderr
    missing = tablectl(*words, "--table", "T07", run=run)
    assert missing.returncode == 3 and str(socket) in missing.stderr and "running" in missing.stderr
    FakeDaemon(socket).close()
    dead = tablectl(*words, run=run)
    assert dead.returncode == 3 and str(socket) in dead.stderr and "systemctl status" in dead.stderr
    long = tablectl(*words, "--socket", "/run/" + "x" * 200, run=run)
    assert long.returncode == 3 and "too long" in long.stderr


@pytest.mark.parametrize(
    "reply",
    [
        None,
        b"\x16\x03\x01\x00\xff\x1b[2J\r\n" * 50,
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000,
        b"HTTP/1.1 200 OK\r\n\r\nnot json \x1b[2J",
        b"HTTP/1.1 200 OK\r\n\r\n" + b"[" * 200_000,
        b"HTTP/1.1 200 OK\r\n\r\n[1]",
        b"HTTP/1.1 200 OK\r\n\r\n\xff\xfe",
        b'HTTP/1.1 200 OK\r\n\r\n{"version": ' + b"9" * 5000 + b"}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}",
    ],
)
def test_garbage_at_the_other_end_is_exit_3(
    daemon: FakeDaemon, reply: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    daemon.state = reply
    assert main(["status", "--socket", str(daemon.socket)]) == 3
    shown = capsys.readouterr()
    assert shown.out == "" and str(daemon.socket) in shown.err and "\x1b" not in shown.err


def test_a_huge_answer_is_cut_off(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablectl.local.MOST_ANSWER", 1000)
    with pytest.raises(Interrupted, match="longer than 1000 bytes"):
        Client(str(daemon.socket)).get("/v1/state")


def test_an_answer_that_drips_is_cut_off_in_time(tmp_path: Path) -> None:
    import socket
    import threading

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "s"))
    listener.listen()

    def drip() -> None:
        line, _ = listener.accept()
        with line:
            try:
                line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n{")
                while True:
                    line.sendall(b" ")
                    time.sleep(0.02)
            except OSError:
                return

    thread = threading.Thread(target=drip)
    thread.start()
    begun = time.monotonic()
    with pytest.raises(Interrupted, match=r"no answer within 0\.3 s"):
        Client(str(tmp_path / "s"), seconds=0.3).get("/v1/state")
    assert time.monotonic() - begun < 2
    thread.join(5)
    listener.close()
    assert not thread.is_alive()


# --- watch and recall ------------------------------------------------------------------------------------


def test_watch_goes_on_where_a_stream_broke_and_ends_at_ctrl_c(daemon: FakeDaemon, run: Path) -> None:
    seven = event(7, seconds=20)
    daemon.streams = [stream(seven), stream(seven, event(8, "round.resulted", outcome="tie"))]
    watching = subprocess.Popen(
        [sys.executable, "-c", HEEDING, "watch"],
        env=os.environ | {"TABLECTL_RUN": str(run)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert watching.stdout is not None
    lines = [watching.stdout.readline() for _ in range(2)]
    watching.send_signal(signal.SIGINT)
    _, errors = watching.communicate(timeout=10)
    assert watching.returncode == 0 and "Traceback" not in errors
    assert lines[0] == "2026-11-29T20:15:03.123456Z  7  12/34  betting.opened  seconds=20\n"
    assert "8  12/34  round.resulted  outcome=tie" in lines[1]
    assert daemon.asked[:2] == ["/v1/events", "/v1/events?after=6"], (
        "with the one seen last, to know it again"
    )


@pytest.mark.parametrize(
    "older", [True, False], ids=["shorter: it is refused", "as long: its events are others"]
)
def test_watch_says_when_the_history_is_another_and_begins_anew(
    daemon: FakeDaemon, older: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tablectl.cli.view.RETRY_SECONDS", 0.0)
    monkeypatch.setattr("tablectl.cli.view.MOST_TRIES", 2)
    other = b"HTTP/1.1 409 X\r\nContent-Length: 2\r\n\r\n{}" if older else stream(event(18, text="other"))
    daemon.state = (200, STATE | {"epoch": "aaaaaa", "sequence": 7 if older else 345})
    begins = 0 if older else 245
    after = [event(begins + n, "table.held") for n in (1, 2)]
    daemon.streams = [stream(event(18)), other, stream(*after)]
    assert main(["watch", "--json", "--socket", str(daemon.socket)]) == 3, "the daemon is gone then"
    shown = capsys.readouterr()
    assert [json.loads(text) for text in shown.out.splitlines()] == [event(18), *after]
    assert "another history than the one followed, aaaaaa" in shown.err
    assert f"behind its event {begins}\n" in shown.err
    assert daemon.asked[:4] == [
        "/v1/events",
        "/v1/events?after=17",
        "/v1/state",
        f"/v1/events?after={begins}",
    ]


def test_watch_behind_an_event_that_is_not_there_is_refused(
    daemon: FakeDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    words = b'{"error": "event 18 is not there, the newest is 7"}'
    daemon.streams = [b"HTTP/1.1 409 X\r\nContent-Length: %d\r\n\r\n%b" % (len(words), words)]
    assert main(["watch", "--after", "18", "--socket", str(daemon.socket)]) == 1
    assert capsys.readouterr().err == "refused: event 18 is not there, the newest is 7\n"


def test_watch_json_is_an_event_a_line_and_stops_with_its_reader(daemon: FakeDaemon, run: Path) -> None:
    daemon.streams = [stream(*[event(n) for n in range(1, 2000)])]
    line = f'"{sys.executable}" -m tablectl.cli watch --after 0 --json | head -n 2'
    done = subprocess.run(
        ["sh", "-c", line],
        env=os.environ | {"TABLECTL_RUN": str(run)},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert [json.loads(text) for text in done.stdout.splitlines()] == [event(1), event(2)]
    assert done.stderr == "" and daemon.asked == ["/v1/events?after=0"]


def test_hostile_events_are_lines_too(
    daemon: FakeDaemon, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = [b"data: {\n\n", b"data: [1]\n\n", b"data: " + b"x" * 100_000 + b"\n\n", b"data: \x1b[2J\xff\n\n"]
    daemon.streams = [stream(*odd, event(9, "new.kind\x1b", data={"a": ["\r\n"]}))]
    texts = list(Client(str(daemon.socket)).events("/v1/events"))
    assert len(texts) == 5
    from tablectl.cli.view import _event, _show

    for text in texts:
        _show(_event(text), False)
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) == 5 and len(shown) < 3000
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_an_event_without_end_is_cut_off(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablectl.local.MOST_LINE", 1000)
    daemon.streams = [stream(b"data: x\n" * 500), stream(b"data: " + b"x" * 5000)]
    for _ in range(2):
        with pytest.raises(Interrupted, match="longer than 1000 bytes"):
            list(Client(str(daemon.socket)).events("/v1/events"))


ROUND: dict[str, Any] = {
    "shoe": 12,
    "round": 34,
    "result": {
        "outcome": "player",
        "player": {"cards": ["8S", "AC"], "total": 9, "natural": True, "pair": False},
        "banker": {"cards": ["TH", "5D"], "total": 5, "natural": False, "pair": False},
        "confirmed_by": "dealer",
    },
    "void": None,
    "holds": [{"codes": ["overdraw"], "message": "A card was drawn."}],
    "releases": [{"action": "burn", "reason": "seen on video", "approved_by": "bo"}],
    "cards": [
        {"position": p, "card": c, "time": "2026-11-29T20:15:03Z", "raw": "02 31", "source": "scanner"}
        for p, c in (("P1", "8S"), ("B1", "TH"), ("P2", "AC"), ("B2", "5D"))
    ],
    "events": [],
    "opened": "2026-11-29T20:14:40Z",
    "closed": "2026-11-29T20:15:00Z",
}


def test_recall_shows_a_round_card_by_card(daemon: FakeDaemon, run: Path) -> None:
    daemon.rounds = (200, ROUND)
    done = tablectl("recall", "12/34", run=run)
    assert done.returncode == 0 and daemon.asked == ["/v1/rounds/12/34"]
    for text in (
        "round 12/34  player, player 9 (natural), banker 5, confirmed by dealer", "P1 8S  P2 AC", "total 5",
        "B2 5D  scanner  02 31", "held: overdraw; A card was drawn.",
        "released: burn; seen on video, approved by bo",
    ):  # fmt: skip
        assert text in done.stdout
    daemon.rounds = (
        200,
        {"rounds": [ROUND, {**ROUND, "result": None, "void": {"reason": "x", "approved_by": "bo"}}]},
    )
    done = tablectl("recall", "2", run=run)
    assert daemon.asked[-1] == "/v1/rounds?last=2" and "VOID: x, approved by bo" in done.stdout
    assert json.loads(tablectl("recall", "2", "--json", run=run).stdout)["rounds"][0] == ROUND


def test_recall_of_a_round_that_never_was(daemon: FakeDaemon, run: Path) -> None:
    daemon.rounds = (404, {"error": "there is no round 12/99"})
    done = tablectl("recall", "12/99", run=run)
    assert (done.returncode, done.stderr) == (1, "refused: there is no round 12/99\n")
    daemon.rounds = (200, {"rounds": []})
    assert tablectl("recall", run=run).stdout == "no round was played yet\n"
