"""A dead shoe and a technician in a hurry: scan, capture and replay, off the port and through the daemon."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli import main, scan_speeds
from tablectl.lock import TableLock
from tablectl.profiles import config_dir
from tablectl.technician import line_speeds
from tablectl.technician.capture import parse_capture
from tests.api.test_app import CARDS, Bench
from tests.cli.conftest import Typed
from tests.cli.fake_daemon import HEEDING, FakeDaemon, stream
from tests.e2e.harness import BARE, PIT_BOSS
from tests.fixed_speed import Shoe
from tests.recordings import FOLDER


@pytest.fixture
def shoes() -> Iterator[Callable[..., Shoe]]:
    made: list[Shoe] = []

    def make(speed: int | None = None, say: Callable[[], bytes] | None = None) -> Shoe:
        made.append(Shoe(speed, say))
        return made[-1]

    yield make
    for shoe in made:
        shoe.close()


def configured(folder: Path, device: str, driver: str = "bee-tek", more: str = "") -> Path:
    path = folder / "T09.toml"
    path.write_text(
        f'[table]\nid = "T09"\ntest = true\n[scanner]\ndriver = "{driver}"\ndevice = "{device}"\n{more}\n'
        '[journal]\npath = "data/T09.db"\n[api]\nsocket = "T09.sock"\n'
    )
    return path


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """Type a line on a machine where no daemon runs."""
    monkeypatch.setenv("TABLECTL_RUN", str(tmp_path / "run"))
    for name in ("TABLECTL_PIT_BOSS", "TABLECTL_SOCKET", "TABLECTL_CONFIG", "TABLECTL_TABLE"):
        monkeypatch.delenv(name, raising=False)

    def type_(*words: str) -> tuple[int, str, str]:
        code = main(words)
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return type_


# --- scan, off the port -----------------------------------------------------------------------------------


def test_scan_shows_items_and_counters_and_says_that_it_works(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path
) -> None:
    config = str(configured(tmp_path, shoes().device))
    code, out, err = alone("scan", "--config", config, "--seconds", "0.6")
    assert code == 0
    assert "card      AS  [5B 47" in out or "card      " in out
    assert "bytes     " not in out
    assert "the scanner works" in out.splitlines()[-1]
    assert "under the table's lock; the daemon cannot start meanwhile" in err
    code, out, _ = alone("scan", "--config", config, "--seconds", "0.6", "--raw")
    assert code == 0 and "bytes     5B 47" in out


def test_scan_speaks_to_programs(alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path) -> None:
    config = str(configured(tmp_path, shoes().device))
    code, out, _ = alone("scan", "--config", config, "--seconds", "2", "--json")
    first, *rest = map(json.loads, out.splitlines())
    assert (first["kind"], first["driver"], first["shoe"]) == ("header", "bee-tek", None)
    assert {entry["kind"] for entry in rest} == {"restored", "item", "state", "verdict"}
    assert (rest[-1]["verdict"], code) == ("ok", 0)
    assert rest[-1]["cards"] == rest[-1]["frames"] > 0


def test_scan_of_a_silent_port_names_cable_power_and_port(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path
) -> None:
    config = str(configured(tmp_path, shoes(say=lambda: b"").device))
    code, out, _ = alone("scan", "--config", config, "--seconds", "0.3")
    assert code == 1
    assert "no byte in" in out and "the shoe's power" in out and "tablectl devices" in out


def test_scan_of_a_port_that_is_not_there(alone: Typed, tmp_path: Path) -> None:
    code, out, _ = alone("scan", "--config", str(configured(tmp_path, "/dev/ttyNONE")), "--seconds", "0.3")
    assert code == 1
    assert "not there: no scanner at /dev/ttyNONE" in out


def test_scan_finds_the_line_speed_that_fits(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_speeds, "SPEED_SECONDS", 0.5)
    config = str(configured(tmp_path, shoes(speed=4800).device))
    code, out, err = alone("scan", "--config", config, "--seconds", "0.5")
    assert code == 1
    assert "no frame of bee-tek" in out
    assert out.splitlines()[-1] == "4800 baud fits: write baud = 4800 into [scanner]."
    assert "trying 4800 baud" in err and "draw cards now" in err
    assert "trying 9600" not in err, "it is the one in use"
    right = str(configured(tmp_path, shoes(speed=4800).device, more="baud = 4800"))
    assert alone("scan", "--config", right, "--seconds", "0.5")[0] == 0


def test_scan_says_when_no_line_speed_fits(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_speeds, "SPEED_SECONDS", 0.3)
    monkeypatch.setattr(line_speeds, "COMMON_SPEEDS", (9600, 4800, 19200))
    config = str(configured(tmp_path, shoes(say=lambda: b"\x91\xa5\x00").device))
    _, out, _ = alone("scan", "--config", config, "--seconds", "0.5")
    assert out.splitlines()[-1] == "no frame at 4800, 19200 baud either"


def test_scan_knows_another_drivers_bytes(alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path) -> None:
    config = str(configured(tmp_path, shoes().device, "angel-eye"))
    code, out, err = alone("scan", "--config", config, "--seconds", "0.6")
    assert code == 1
    assert "these look like bee-tek" in out
    assert "trying" not in err


def test_while_a_scan_holds_the_port_no_daemon_starts_and_the_other_way_round(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path
) -> None:
    config = str(configured(tmp_path, shoes().device))
    (tmp_path / "data").mkdir()
    with TableLock(tmp_path / "data" / "T09.db", "T09"):
        for words in (["scan"], ["capture", str(tmp_path / "x.capture")]):
            code, _, err = alone(*words, "--config", config, "--seconds", "0.3")
            assert code == 1
            assert f"held by process {os.getpid()} already" in err
    assert not (tmp_path / "x.capture").exists()
    assert alone("scan", "--config", config, "--seconds", "0.3")[0] == 0, "the lock is free again"


def test_ctrl_c_ends_a_scan_with_its_verdict(shoes: Callable[..., Shoe], tmp_path: Path) -> None:
    config = configured(tmp_path, shoes().device)
    environment = os.environ | {"TABLECTL_RUN": str(tmp_path / "run")}
    command = [sys.executable, "-c", HEEDING, "scan", "--config", str(config)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        while "card" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "the scanner works" in out.splitlines()[-1]


# --- which scanner ---------------------------------------------------------------------------------------


def test_what_to_scan_must_be_known(alone: Typed, tmp_path: Path) -> None:
    code, _, err = alone("scan")
    assert code == 3 and "no table runs here" in err and "name a configuration with --config" in err
    code, _, err = alone("scan", "--table", "T55")
    assert code == 3 and "/etc/tablectl/T55.toml" in err
    code, _, err = alone("scan", "--socket", str(tmp_path / "gone.sock"))
    assert code == 3 and "is the daemon running" in err
    code, _, err = alone("scan", "--config", str(tmp_path / "gone.toml"))
    assert code == 1 and "cannot be read" in err
    config = str(configured(tmp_path, "/dev/null"))
    code, _, err = alone("scan", "--config", config, "--table", "T55")
    assert code == 1 and "is table T09, not T55" in err
    bad = str(configured(tmp_path, "/dev/null", more='baud = "fast"'))
    code, _, err = alone("scan", "--config", bad)
    assert code == 1 and "scanner.baud" in err


# --- through the daemon -----------------------------------------------------------------------------------


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench("bee-tek", overrides=BARE) as rig:
        yield rig


def test_with_the_daemon_running_nothing_is_opened_and_a_shoe_in_play_takes_a_pit_boss(
    bench: Bench, alone: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at = ("--socket", str(bench.socket_path), "--seconds", "0.4")
    code, out, err = alone("scan", *at)
    assert code == 1 and "no byte in" in out and err == ""
    code, out, err = alone("scan", "--config", str(bench.config), "--seconds", "0.4")
    assert code == 1 and "no byte in" in out and err == "", "found by its configuration too"

    bench.open_table(CARDS)
    file = str(tmp_path / "shoe.capture")
    for words in (["scan"], ["capture", file]):
        code, _, err = alone(*words, *at)
        assert code == 1 and "a pit boss asks, with --as NAME" in err
    assert not Path(file).exists()
    boss = ("--as", PIT_BOSS.name, "--reason", "device: dead shoe", "--pin-stdin")
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PIT_BOSS.pin}\n"))
    code, out, _ = alone("scan", *at, *boss)
    assert code == 1 and "no byte in" in out

    monkeypatch.setattr("sys.stdin", io.StringIO(f"{PIT_BOSS.pin}\n"))
    drawn = threading.Timer(0.3, bench.shoe.draw)
    bench.bets()
    drawn.start()
    code, out, _ = alone("capture", file, "--socket", str(bench.socket_path), "--seconds", "1", *boss)
    assert code == 0
    recording = parse_capture(Path(file).read_text())
    assert b"".join(piece.data for piece in recording.pieces).count(b"Card:2C") == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("0000\n"))
    code, _, err = alone("scan", *at, *boss)
    assert code == 1 and "wrong name or PIN" in err


HOSTILE = "\x1b[2J\x9b\u202e"


def test_nothing_a_peer_says_moves_the_cursor(daemon: FakeDaemon, typed: Typed, tmp_path: Path) -> None:
    records: list[dict[str, Any] | bytes] = [
        {"kind": "header", "driver": HOSTILE, "device": HOSTILE, "settings": {}, "started": HOSTILE},
        {"kind": "bytes", "at": 5, "hex": HOSTILE},
        {
            "kind": "item",
            "at": 5,
            "item": {"kind": HOSTILE, "card": HOSTILE, "text": HOSTILE, "raw": HOSTILE},
        },
        {"kind": "lost", "at": 5, "text": HOSTILE},
        {"kind": HOSTILE},
        {"kind": "end", "text": HOSTILE},
    ]
    for words in (["scan", "--raw"], ["scan", "--json"], ["capture", str(tmp_path / "x.capture")]):
        daemon.streams = [stream(*records, b"data: [1, 2\n\n", b"data: 3\n\n")]
        _, out, err = typed(*words)
        assert not set(out + err) & set("\x1b\x9b\u202e")


def rubbish(device: str) -> bytes:
    header = {"kind": "header", "table": "T07", "driver": "bee-tek", "device": device, "settings": {}}
    return stream(header, {"kind": "bytes", "at": 2 * 10**9, "hex": "91 A5 00"})


def test_what_the_daemon_refuses_is_said_with_the_way_out(daemon: FakeDaemon, typed: Typed) -> None:
    daemon.streams = [rubbish("/dev/x")]
    daemon.on_command = lambda _: (409, {"error": "the table is not closed (idle)\x1b"})
    code, out, err = typed("scan", "--seconds", "1")
    assert code == 1 and "trying" not in err
    assert "Other line speeds were not tried: the table is not closed (idle)\\x1b" in out
    assert "systemctl stop tablectl@T07" in out
    assert daemon.posted_to == ["/v1/raw/speeds"]


def test_behind_a_serial_server_the_line_speed_is_only_said(daemon: FakeDaemon, typed: Typed) -> None:
    daemon.streams = [rubbish("tcp://192.0.2.1:4001")]
    code, out, _ = typed("scan", "--seconds", "1")
    assert code == 1 and "set in the serial" in out
    assert daemon.posted_to == []


def test_without_a_time_given_no_line_speed_is_tried(daemon: FakeDaemon, typed: Typed) -> None:
    daemon.streams = [rubbish("/dev/x")]
    code, out, _ = typed("scan")
    assert code == 1 and "tried with --seconds" in out
    assert daemon.posted_to == []


TRYING = {"kind": "trying", "speed": 4800, "seconds": 4.0, "at": 0}
TRIED = {"kind": "tried", "speed": 4800, "bytes": 9, "frames": 0, "rejects": 1, "fault": "", "at": 1}


def heard(data: bytes) -> dict[str, Any]:
    return {"kind": "bytes", "at": 1, "hex": data.hex(" ")}


@pytest.mark.parametrize(
    ("records", "says"),
    [
        (
            [TRYING, heard(b"x"), {"kind": "item", "at": 1, "item": {"kind": "card", "card": "8S"}}, TRIED],
            "4800 baud fits: write baud = 4800 into [scanner].",
        ),
        (
            [TRYING, heard(bytes.fromhex("05 31 44 81 B8 03 34 46")), TRIED],
            "at 4800 baud these look like angel-eye: 1 frame, 1 card",
        ),
        (
            [
                TRYING,
                heard(b"9999\r\n"),
                {"kind": "item", "at": 1, "item": {"kind": "reject", "framed": True, "text": "no card"}},
                TRIED,
            ],
            "4800 baud fits: the bytes are plain text there; but the card table does not know these codes, "
            "or it is another driver's.",
        ),
        ([TRYING, heard(b"\x00\xff"), TRIED], "no frame at 4800 baud either"),
        (
            [TRYING, TRIED],
            "nothing came while other line speeds were tried: run this again, and draw cards meanwhile",
        ),
        (
            [TRYING, {"kind": "over", "fits": None, "text": "the table is opened"}],
            "the trial has ended: the table is opened",
        ),
    ],
)
def test_what_a_trial_by_the_daemon_says(
    daemon: FakeDaemon, typed: Typed, records: list[dict[str, Any]], says: str
) -> None:
    daemon.streams = [rubbish("/dev/x")]
    daemon.on_command = lambda _: stream(*records)
    code, out, err = typed("scan", "--seconds", "1")
    assert code == 1
    assert out.splitlines()[-1] == says
    assert "trying 4800 baud for 4.0 s: draw cards now" in err


def test_a_reason_needs_a_name(daemon: FakeDaemon, typed: Typed) -> None:
    code, _, err = typed("scan", "--reason", "device: dead shoe")
    assert code == 2 and "--as NAME" in err


# --- capture ----------------------------------------------------------------------------------------------


def test_capture_writes_a_recording_that_replays(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path
) -> None:
    config, file = str(configured(tmp_path, shoes().device, more="baud = 9600")), tmp_path / "a.capture"
    code, out, err = alone(
        "capture",
        str(file),
        "--config",
        config,
        "--seconds",
        "0.6",
        "--note",
        "table 9",
        "--note",
        "new cable",
    )
    assert code == 0, err
    assert f"{file}: " in out
    assert file.stat().st_mode & 0o777 == 0o600
    recording = parse_capture(file.read_text())
    assert recording.header.notes == ("table 9", "new cable")
    assert recording.header.settings == {"baud": 9600}
    assert len(recording.pieces) > 5
    assert recording.pieces[-1].at < 2 * 10**9
    code, out, _ = alone("replay", str(file))
    assert " cards, 0 rejects" in out.splitlines()[-1]
    before = file.read_bytes()
    code, _, err = alone("capture", str(file), "--config", config, "--seconds", "0.3")
    assert code == 1 and "is there already" in err and file.read_bytes() == before


def test_a_recording_carries_the_card_table_it_was_made_with(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path
) -> None:
    codes = itertools.cycle([b"1010\r\n", b"2020\r\n", b"4130\r\n"])
    (tmp_path / "house.toml").write_text((config_dir() / "cards" / "suit-rank.toml").read_text())
    device = shoes(say=lambda: next(codes)).device
    config, file = (
        str(configured(tmp_path, device, "barcode", 'cards = "house.toml"')),
        tmp_path / "a.capture",
    )
    assert alone("capture", str(file), "--config", config, "--seconds", "0.6")[0] == 0
    (tmp_path / "house.toml").unlink()
    assert parse_capture(file.read_text()).header.settings["cards"]["4130"] == "KD"
    _, out, _ = alone("replay", str(file), "--json")
    assert {item["item"].get("card") for item in map(json.loads, out.splitlines()[1:-2])} == {
        "AS",
        "2H",
        "KD",
    }


def test_codes_that_the_card_table_does_not_know_are_not_taken_for_a_wrong_line_speed(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_speeds, "SPEED_SECONDS", 0.3)
    monkeypatch.setattr(line_speeds, "COMMON_SPEEDS", ())
    device = shoes(say=lambda: b"XX-77\r\n").device
    config = str(configured(tmp_path, device, "barcode", 'cards = "suit-rank"'))
    code, out, err = alone("scan", "--config", config, "--seconds", "0.5")
    assert code == 1
    assert "the card table is another deck's" in out
    assert "code of no card" in out
    assert "trying" not in err, "the line speed is right"


def test_some_codes_that_the_card_table_does_not_know_are_no_ok(
    alone: Typed, shoes: Callable[..., Shoe], tmp_path: Path
) -> None:
    device = shoes(say=lambda: b"1010\r\nXX-77\r\n2020\r\n").device
    config = str(configured(tmp_path, device, "barcode", 'cards = "suit-rank"'))
    code, out, _ = alone("scan", "--config", config, "--seconds", "0.5")
    assert code == 1
    assert "frames were no card of the table" in out and "Unknown codes: XX-77\n" in out


def test_what_was_captured_is_there_after_a_crash(shoes: Callable[..., Shoe], tmp_path: Path) -> None:
    config, file = configured(tmp_path, shoes().device), tmp_path / "a.capture"
    command = [sys.executable, "-m", "tablectl.cli", "capture", str(file), "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 20
        while not file.exists() or len(file.read_text().splitlines()) < 12:
            assert time.monotonic() < end
            time.sleep(0.02)
        process.kill()
    assert len(parse_capture(file.read_text()).pieces) >= 3


def test_a_capture_is_bounded_and_says_what_is_missing(
    daemon: FakeDaemon, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = {
        "kind": "header", "driver": "bee-tek", "device": "/dev/x", "settings": {},
        "started": "2026-11-30T08:15:00Z",
    }  # fmt: skip
    piece = {"kind": "bytes", "at": 10**9, "hex": "41 " * 2000 + "41"}
    daemon.streams = [
        stream(
            header, piece, {"kind": "lost", "at": 10**9, "text": "pulled"}, {"kind": "dropped", "count": 7}
        )
    ]
    file = tmp_path / "a.capture"
    _, _, err = typed("capture", str(file))
    text = file.read_text()
    assert "# 1.000 lost: pulled\n" in text and "# 7 records are missing here" in text
    assert "dropped" in err
    assert [len(found.data) for found in parse_capture(text).pieces] == [2001]
    monkeypatch.setattr("tablectl.cli.recorder.MOST_BYTES", 80 * 1024)
    daemon.streams = [stream(header, *([piece] * 20))]
    code, _, err = typed("capture", str(tmp_path / "b.capture"))
    assert code == 1 and "the most one may have" in err
    assert (tmp_path / "b.capture").stat().st_size < 80 * 1024


# --- replay ----------------------------------------------------------------------------------------------


def test_replay_shows_each_item_and_what_a_table_makes_of_it(alone: Typed) -> None:
    code, out, err = alone("replay", str(FOLDER / "angel-eye.capture"))
    assert code == 1 and err == "", "a check sum was bad"
    lines = out.splitlines()
    assert "the table begins with a new shoe, 3 cards to burn" in lines
    at = lines.index("5.039000  card  8S P1  [05 36 44 81 B8 03 34 38]")
    assert lines[at + 1].strip() == "Banker's card"
    assert any("Player wins: Player 9, Banker 5" in line for line in lines)
    assert lines[-2].strip().startswith("HOLD A card could not be read."), "the next one came behind it"
    assert lines[-1].endswith("1 reject, 1 hold")
    code, out, _ = alone("replay", str(FOLDER / "angel-eye.capture"), "--json")
    *items, counts = map(json.loads, out.splitlines())
    assert counts["cards"] == sum(item["item"].get("card") is not None for item in items)
    assert items[1]["table"]["events"] == ["card.burned"]


def test_replay_takes_other_settings_from_a_configuration(alone: Typed, tmp_path: Path) -> None:
    config = configured(tmp_path, "/dev/null", "angel-eye", 'bcc = "off"')
    code, out, _ = alone("replay", str(FOLDER / "angel-eye.capture"), "--config", str(config))
    assert "0 rejects" in out.splitlines()[-1]
    bad = str(configured(tmp_path, "/dev/null", "angel-eye", 'bcc = "maybe"'))
    code, _, err = alone("replay", str(FOLDER / "angel-eye.capture"), "--config", bad)
    assert code == 1 and "scanner.bcc" in err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b"0.000000 05", b"0.0 05", "line 8: seconds and bytes"),
        (b"note: made", b"note: \xff", "line 6: this is no text"),
        (b"driver: angel-eye", b"driver: dance", "there is no driver named 'dance'"),
        (b'{"baud": 4800}', b'{"bauds": 4800}', "settings: bauds"),
        (b'{"baud": 4800}', b'{"bcc": "\\u001b[2J"}', "settings: bcc"),
    ],
)
def test_a_bad_recording_is_refused_with_its_line(
    alone: Typed, tmp_path: Path, old: bytes, new: bytes, says: str
) -> None:
    text = (FOLDER / "angel-eye.capture").read_bytes()
    assert old in text
    (tmp_path / "bad.capture").write_bytes(text.replace(old, new, 1))
    code, out, err = alone("replay", str(tmp_path / "bad.capture"))
    assert (code, out) == (1, "")
    assert says in err and "\x1b" not in err
    assert alone("replay", str(tmp_path / "gone.capture"))[0] == 1
