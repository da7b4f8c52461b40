"""``tablectl play``: the scripted dealer at a daemon that runs, with the shoe its configuration names."""

from __future__ import annotations

import io
import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tablectl.cli import main
from tests.e2e.harness import BARE, PIT_BOSS, QUICK, Rig, until

Play = Callable[..., tuple[int, str, str]]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Play:
    """Play at a rig's table; exit code, output, errors. The pit boss's PIN is at standard input."""

    def play(rig: Rig, *words: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{PIT_BOSS.pin}\n"))
        code = main(["play", "--config", str(rig.config), "--pace", "0", *words])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return play


AS = ("--as", PIT_BOSS.name, "--pin-stdin")


@pytest.fixture(params=["angel-eye", "bee-tek"])
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """A table whose shoe nobody holds."""
    with Rig(request.param, speed=1.0, overrides=QUICK) as made:
        made.start()
        made.shoe.close()
        made.wait(lambda s: not s["scanner"]["up"], "the shoe is gone")
        yield made


def test_rounds_are_played_and_told_and_the_shoe_stays_open(rig: Rig, played: Play) -> None:
    code, out, err = played(rig, "--rounds", "2", *AS)
    assert (code, err) == (0, ""), out
    assert re.search(r"^ +1/1 .*BEEP.* P .* B .* (PLAYER|BANKER|TIE)", out, re.M), out
    assert re.search(r"^2 rounds \(0 void\), \d+ cards drawn$", out, re.M), out
    state = rig.client.state()
    assert (state["shoe"]["number"], state["shoe"]["rounds"], state["dealer"]) == (1, 2, "play")
    until(lambda: rig.client.state()["acked"] == rig.client.state()["sequence"], "the server has it all")

    code, out, err = played(rig)
    assert code == 1 and "shoe 1 is in play, and its cards are not in these hands" in err, (out, err)
    assert rig.client.state()["shoe"]["number"] == 1, "nothing was done"

    code, out, err = played(rig, *AS, "--json")
    assert (code, err) == (0, ""), out
    *events, done = map(json.loads, out.splitlines())
    assert {"tablectl.shoe.ended.v1", "tablectl.round.resulted.v1"} <= {event["type"] for event in events}
    assert events[-1]["subject"] == "shoe/2/round/1"
    assert done == {"rounds": 1, "voids": 0, "cards": done["cards"]} and done["cards"] >= 4


def test_what_only_a_pit_boss_may_do_ends_a_play_without_one(rig: Rig, played: Play) -> None:
    code, _, err = played(rig)
    assert code == 1 and "shoe inspect: that is for a pit boss to say" in err and "--as NAME" in err


def test_with_holds_the_pit_boss_plays_on(played: Play) -> None:
    with Rig(overrides=BARE, speed=1.0) as rig:
        rig.start()
        rig.shoe.close()
        rig.wait(lambda s: not s["scanner"]["up"], "the shoe is gone")
        code, out, err = played(rig, "--rounds", "6", "--fault", "unreadable:6", *AS)
        assert (code, err) == (0, "") and "ON HOLD" in out, out


def test_nobody_plays_where_people_deal_or_another_shoe_is(tmp_path: Path, played: Play) -> None:
    with Rig(overrides=BARE) as rig:
        rig.start()
        before = rig.client.state()["row"]
        code, _, err = played(rig)
        assert code == 1 and "a shoe is on" in err

        mine = rig.config.read_text()
        for line, other, words in (
            ("test = true", "test = false", "is no test table|pseudo-terminal|is emulated"),
            (f'device = "{rig.shoe.device}"', 'device = "/dev/null"', "its scanner is another one"),
        ):
            assert line in mine
            rig.config.write_text(mine.replace(line, other))
            code, _, err = played(rig)
            assert code == 1 and re.search(words, err), err
        rig.config.write_text(mine)
        assert rig.client.state()["row"] == before, "nothing was done"
        rig.daemon.send(signal.SIGKILL)
        rig.daemon.wait()
        assert played(rig)[0] == 3


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("tcp://192.0.2.1:4001", "another machine's port"),
        ("usb:05f9:2201:A", "is no path"),
        ("FOLDER/there", "is there, and is no emulated shoe's"),
        ("/nowhere/shoe", "no link can be made in /nowhere"),
    ],
)
def test_a_shoe_is_made_only_where_nothing_else_is(
    tmp_path: Path, played: Play, device: str, words: str
) -> None:
    (tmp_path / "there").write_text("")
    with Rig(overrides=BARE) as rig:
        device = device.replace("FOLDER", str(tmp_path))
        text = rig.config.read_text().replace(rig.shoe.device, device)
        if device.startswith("usb:"):
            text = text.replace('driver = "angel-eye"', 'driver = "hid-pos"\ncards = "suit-rank"')
        rig.config.write_text(text)
        rig.start_daemon()
        code, _, err = played(rig)
        assert code == 1 and words in err, err
        assert (tmp_path / "there").read_text() == "" and not (tmp_path / "there").is_symlink()
