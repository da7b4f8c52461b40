"""The demo is what people see first: a whole shoe, both sides compared, and an exit code that says so."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablectl import demo
from tablectl.api import commands as api_commands
from tablectl.demo import compare, play
from tablectl.demo.files import new_secret
from tablectl.demo.game import GameServerThread
from tablectl.demo.scripted_dealer import ScriptedDealer
from tablectl.journal import JournalReader
from tests.delivery.picky import Picky
from tests.e2e.harness import SOAK
from tests.e2e.programs import REPOSITORY
from tests.ends_with import interruptible

FAULTS = (
    ("split", "duplicate", "garble", "stall", "unreadable:50"),
    ("drop", "unreadable:20"),
    ("hang-up:40", "unreadable:40"),
    ("cut-mid-hand:1",),
)
"""For a shoe that tells each thing three times; one that tells it once loses cards by ``drop``."""


@pytest.fixture(autouse=True)
def _switch_interval() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def run(capsys: pytest.CaptureFixture[str], **options: Any) -> dict[str, Any]:
    code = demo.main(json_output=True, **options)
    captured = capsys.readouterr()
    summary: dict[str, Any] = json.loads(captured.out)
    assert code == 0, (summary, captured.err)
    assert summary["good"]
    return summary


@pytest.mark.parametrize("shoe", ["angel-eye", "bee-tek"])
def test_demo_plays_a_whole_shoe_and_ends_well(capsys: pytest.CaptureFixture[str], shoe: str) -> None:
    summary = run(capsys, shoe=shoe, speed=1_000)
    (table,) = summary["tables"]
    assert (table["shoes"], table["voids"], table["differences"], table["error"]) == (1, 0, [], "")
    assert 60 < table["rounds"] == table["held"] < 90
    assert 360 < table["cards"] < 375
    assert summary["last_hands"] == 1


@pytest.mark.parametrize("scanner", ["barcode", "rfid", "zebra-ssi"])
def test_demo_plays_with_a_scanner_of_codes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, scanner: str
) -> None:
    """Two shoes in the long run: an RFID card of the first one comes again in the second."""
    if not SOAK:
        monkeypatch.setattr(ScriptedDealer, "play", stop_after(5))
    (table,) = run(capsys, shoe=scanner, speed=1_000, shoes=2)["tables"]
    assert (table["voids"], table["differences"], table["error"]) == (0, [], "")
    assert table["rounds"] >= (120 if SOAK else 5)


def test_demo_tells_of_a_difference(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is no decoration: a result that the server holds otherwise makes it exit 1."""
    honest = compare.held_rounds

    def forged(base: str, table: str) -> dict[str, dict[str, Any]]:
        held = honest(base, table)
        held["1/3"]["result"]["outcome"] = "none"
        del held["1/4"]
        return held

    monkeypatch.setattr(play, "held_rounds", forged)
    monkeypatch.setattr(ScriptedDealer, "play", stop_after(5))
    assert demo.main(shoe="bee-tek", speed=1_000, json_output=True) == 1
    (table,) = json.loads(capsys.readouterr().out)["tables"]
    assert len(table["differences"]) == 2
    assert any("1/3" in text for text in table["differences"])
    assert "1/4: not at the server" in table["differences"]


@pytest.mark.parametrize("tells", [True, False])
def test_a_server_of_others_is_compared_or_said_not_to_be(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tells: bool
) -> None:
    secret = new_secret()
    monkeypatch.setenv("TABLECTL_PUSH_SECRET", secret)
    monkeypatch.setattr(ScriptedDealer, "play", stop_after(2))
    with contextlib.ExitStack() as stack:
        short = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="d-"))
        )  # a socket's path is in it
        monkeypatch.setattr(tempfile, "tempdir", str(short))
        if tells:
            server = GameServerThread(tmp_path / "game.db", secret)
            server.start()
            stack.callback(server.stop)
            url = server.events_url
        else:
            url = stack.enter_context(Picky(tmp_path / "game.db", secret, lambda event: False)).url
        code = demo.main(shoe="bee-tek", speed=1_000, server=url)
        told = capsys.readouterr().out
        if tells:
            assert code == 0 and "held by the server, 0 different" in told and "all is well" in told
            return
        assert code == 1 and "NOT compared" in told and "NOT all is well" in told
        assert "0 different" not in told
        (kept,) = short.glob("tablectl-demo-kept-*")
        assert str(kept) in told
        assert len(json.loads((kept / "DEMO-results.json").read_text())) >= 2
        with contextlib.closing(JournalReader.open(kept / "DEMO.db")) as journal:
            assert journal.verify() > 10


def test_a_server_that_is_not_there_ends_the_demo_with_its_address_and_the_reason(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "LINKED", 1.0)
    url = "http://127.0.0.1:1/v1/tables/{table}/events"
    assert demo.main(shoe="bee-tek", speed=1_000, server=url) == 1
    told = capsys.readouterr().out
    assert f"PROBLEM: game server {url}: no good link within 1 s: the game server cannot be reached" in told
    assert "NOT all is well" in told and "kept in" not in told


def test_a_server_that_goes_away_for_good_ends_the_demo(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every refused opening of bets is a row in the journal: rows alone are no life."""
    secret = new_secret()
    monkeypatch.setenv("TABLECTL_PUSH_SECRET", secret)
    monkeypatch.setattr(play, "PATIENCE", 0.4)
    monkeypatch.setattr(api_commands, "LINK_WAIT", 0.05)
    server, honest = GameServerThread(tmp_path / "game.db", secret), ScriptedDealer.play
    server.start()

    def played(self: ScriptedDealer, shoes: int) -> None:
        server.stop()
        honest(self, shoes)

    monkeypatch.setattr(ScriptedDealer, "play", played)
    assert demo.main(shoe="bee-tek", speed=1_000, server=server.events_url) == 1
    told = capsys.readouterr().out
    assert (
        f"PROBLEM: game server {server.events_url}: the table stands still in phase idle. bets open " in told
    )


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("nats://127.0.0.1:4222", "not reached over HTTP"),
        ("http://127.0.0.1:1/results/{table}", "does not end with"),
        ("http://127.0.0.1:1/v1/tables/{table}/events", "Connection refused"),
    ],
)
def test_why_a_server_cannot_be_asked_is_said(url: str, why: str) -> None:
    with pytest.raises(compare.CannotAsk, match=why):
        compare.held_by(url, "T07")


def stop_after(rounds: int) -> Any:
    honest = ScriptedDealer.play

    def played(self: ScriptedDealer, shoes: int) -> None:
        def enough() -> bool:
            state = self._console.state()
            return bool(state["shoe"] and state["shoe"]["rounds"] > rounds)

        self._stop = enough
        honest(self, shoes)

    return played


@pytest.mark.soak
@pytest.mark.timeout(600)
@pytest.mark.parametrize("faults", FAULTS if SOAK else FAULTS[:1])
def test_demo_ends_well_on_a_bad_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, faults: tuple[str, ...]
) -> None:
    if not SOAK:
        monkeypatch.setattr(ScriptedDealer, "play", stop_after(12))
    summary = run(capsys, shoe="angel-eye", speed=200 if SOAK else 1_000, faults=faults, seed=3)
    assert summary["tables"][0]["rounds"] > (50 if SOAK else 10)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_demo_plays_many_tables(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    tables = 8 if SOAK else 2
    if not SOAK:
        monkeypatch.setattr(ScriptedDealer, "play", stop_after(5))
    summary = run(capsys, shoe="bee-tek", speed=1_000, tables=tables)
    assert len(summary["tables"]) == tables


def test_demo_shows_its_pages_and_sums_up_when_it_is_interrupted() -> None:
    """By ``kill``; Ctrl-C in ``tests/web`` and ``tests/tour``. Nothing stays, for secrets are in it."""
    command = [
        sys.executable,
        "-c",
        "from tablectl.cli import main; import sys; sys.exit(main(sys.argv[1:]))",
    ]
    with tempfile.TemporaryDirectory(prefix="d") as place:  # a short name: a socket's path is in it
        rest = _pages_and_kill(command, place)
        assert os.listdir(place) == []
    assert "all is well" in rest and " 0 different" in rest


def _pages_and_kill(command: list[str], place: str) -> str:
    path = {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'drivers'}", "TMPDIR": place}
    with subprocess.Popen(
        [*command, "demo", "--web", "--speed", "100"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | path,
        preexec_fn=interruptible,
    ) as playing:
        assert playing.stdout is not None
        said = []
        for line in playing.stdout:
            said.append(line)
            if "PLAYER" in line or "BANKER" in line:
                break
        pages = [line.split()[-1] for line in said if "http://" in line]
        assert len(pages) == 2
        for page in pages:
            with urllib.request.urlopen(page.partition("#")[0], timeout=5) as got:
                assert got.status == 200 and "text/html" in got.headers["Content-Type"]
        token = pages[1].partition("#")[2]
        me = urllib.request.Request(
            pages[1].partition("/play/")[0] + "/v1/players/me", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(me, timeout=5) as got:
            assert json.load(got)["balance"] == play.DEPOSIT
        playing.send_signal(signal.SIGTERM)
        rest = playing.stdout.read()
        assert playing.wait(30) == 0, rest
    return rest
