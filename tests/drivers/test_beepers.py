"""The beepers that ship: silent, the terminal's bell, the sound card, the relay, the PC speaker."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import threading
import time
import tty
import wave
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from pytest_mock import MockerFixture
from tablectl_drivers.beepers import bell, null, patlite, patterns, pcspkr, relay, scanner, sound

from tablectl.beeper import Beeper
from tablectl.scanner import PATTERNS
from tests.ptys import Pty

LEAST: dict[str, dict[str, str]] = {
    "null": {},
    "bell": {},
    "sound": {},
    "pcspkr": {},
    "relay": {"device": "/dev/serial/by-path/none"},
    "patlite": {"device": "usb:191a:6001@1-1"},
    "scanner": {},
}
"""The settings each needs, of every beeper by name."""


def test_beepers_are_found_by_name_and_touch_no_device_before_they_play() -> None:
    found = {one.name: one.load() for one in entry_points(group="tablectl.beepers")}
    assert set(LEAST) <= set(found)
    for name, settings in LEAST.items():
        beeper: Beeper = found[name](settings)
        beeper.close()


@pytest.mark.parametrize("module", [null, bell, sound, pcspkr, relay, patlite, scanner])
def test_an_unknown_setting_is_named(module: object) -> None:
    with pytest.raises(ValueError, match=r"^loudness: "):
        module.make({"loudness": 11})  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("module", "settings"),
    [
        (bell, {"terminal": 3}),
        (bell, {"terminal": "tty"}),
        (sound, {"device": ""}),
        (sound, {"player": 1}),
        (pcspkr, {"device": "spkr"}),
        (relay, {}),
        (relay, {"device": "ttyUSB0"}),
        (relay, {"channel": 0, "device": "/dev/x"}),
        (relay, {"channel": True, "device": "/dev/x"}),
        (relay, {"baud": 9601, "device": "/dev/x"}),
        (patlite, {}),
        (patlite, {"device": "usb:191a:6001"}),
        (patlite, {"device": "usb:0c2e:0b61:1"}),
    ],
)
def test_a_bad_setting_is_named(module: object, settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=rf"^{next(iter(settings), 'device')}: "):
        module.make(settings)  # type: ignore[attr-defined]


def test_null_plays_all() -> None:
    beeper = null.make({})
    for pattern in PATTERNS:
        beeper.play(pattern)
    beeper.close()


# --- the bell ---------------------------------------------------------------------------------------


def test_the_bell_rings_the_terminal() -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    beeper = bell.make({"terminal": os.ttyname(slave)})
    heard = []
    for pattern in PATTERNS:
        beeper.play(pattern)
        heard.append(os.read(master, 100))
    assert all(set(rings) == {7} for rings in heard)
    assert heard[PATTERNS.index("close")] != heard[PATTERNS.index("pip")]
    beeper.close()
    os.close(master)
    os.close(slave)


def test_the_bell_falls_back_to_standard_error_if_that_is_a_terminal(
    mocker: MockerFixture, tmp_path: Path
) -> None:
    master, slave = os.openpty()
    tty.setraw(slave)
    with os.fdopen(slave, "w") as stderr:
        mocker.patch("sys.stderr", stderr)
        bell.BellBeeper(str(tmp_path / "none")).play("pip")
        assert os.read(master, 10) == b"\a"
    os.close(master)


def test_no_terminal_is_said(mocker: MockerFixture, tmp_path: Path) -> None:
    mocker.patch("sys.stderr", io.StringIO())
    with pytest.raises(OSError, match="no terminal to ring"):
        bell.BellBeeper(str(tmp_path / "none")).play("pip")


# --- the sound card ---------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_tones_are_short_sound_files(pattern: str) -> None:
    with wave.open(io.BytesIO(sound.wav(patterns.USUAL_TONES[pattern]))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 44_100)
        assert 0.05 < file.getnframes() / file.getframerate() < 1.2
        samples = memoryview(file.readframes(file.getnframes())).cast("h")
    assert 15_000 < max(samples) < 32_767
    assert samples[0] == samples[-1] == 0


def test_the_tones_differ() -> None:
    assert len({sound.wav(patterns.USUAL_TONES[pattern]) for pattern in PATTERNS}) == len(PATTERNS)


@pytest.fixture
def player(tmp_path: Path) -> Path:
    program = tmp_path / "play"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncat > {tmp_path}/sound\n')
    program.chmod(0o755)
    return program


def test_the_player_gets_the_sound(player: Path) -> None:
    sound.make({"player": str(player), "device": "hw:1; rm -rf /"}).play("pip")
    assert (player.parent / "sound").read_bytes() == sound.wav(patterns.USUAL_TONES["pip"])
    assert (player.parent / "words").read_text() == "-q -D hw:1; rm -rf / -\n"
    sound.make({"player": str(player)}).play("pip")
    assert (player.parent / "words").read_text() == "-q -\n"


def test_the_player_gets_the_sites_own_tones_and_is_not_called_for_silence(player: Path) -> None:
    own = sound.make({"player": str(player), "patterns": {"pip": [[500, 20]], "hold": []}})
    own.play("hold")
    assert not (player.parent / "sound").exists()
    own.play("pip")
    assert (player.parent / "sound").read_bytes() == sound.wav(((500, 20),))


def test_a_missing_player_is_one_clear_error() -> None:
    missing = sound.make({"player": "no-such-player"})
    asks: list[Callable[[], None]] = [lambda: missing.play("pip"), missing.check]
    for ask in asks:
        with pytest.raises(OSError, match=r"no-such-player is not installed.*alsa-utils"):
            ask()


def test_a_player_that_fails_is_quoted(player: Path) -> None:
    player.write_text("#!/bin/sh\ncat > /dev/null\necho warming up >&2\necho no such card >&2\nexit 1\n")
    with pytest.raises(OSError, match="failed: no such card"):
        sound.make({"player": str(player)}).play("pip")
    player.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(OSError, match="failed: exit 3"):
        sound.make({"player": str(player)}).play("pip")


def test_a_player_that_hangs_is_given_up(player: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(sound, "SPARE_SECONDS", 0.1)
    player.write_text("#!/bin/sh\nexec sleep 20\n")
    with pytest.raises(OSError, match="did not finish"):
        sound.make({"player": str(player)}).play("pip")


def test_a_player_is_cut_short(player: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "SPARE_SECONDS", 30.0)  # a busy machine starts it late
    player.write_text(f"#!/bin/sh\ntouch {player.parent}/began\nexec sleep 20\n")
    beeper = sound.make({"player": str(player)})
    cut_short(beeper, (player.parent / "began").exists)


def test_a_player_that_is_hushed_while_it_is_started_is_cut_short_too(
    player: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sound, "SPARE_SECONDS", 30.0)
    player.write_text("#!/bin/sh\nexec sleep 20\n")
    beeper = sound.make({"player": str(player)})
    popen = subprocess.Popen

    def started(*args: Any, **options: Any) -> Any:
        process = popen(*args, **options)
        beeper.hush()
        return process

    beeper.ready()
    monkeypatch.setattr(subprocess, "Popen", started)
    begun = time.monotonic()
    beeper.play("hold")
    assert time.monotonic() - begun < 15
    monkeypatch.undo()
    player.write_text("#!/bin/sh\nexec cat > /dev/null\n")
    beeper.ready()
    beeper.play("hold")  # the next one is none of that


# --- what stays on until it is told otherwise ---------------------------------------------------------


def cut_short(beeper: Any, began: Callable[[], object]) -> None:
    """Play ``hold`` in a thread, hush it once it began: it ends at once, and without a fault."""
    faults: list[BaseException] = []

    def play() -> None:
        try:
            beeper.play("hold")
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=play)
    thread.start()
    end = time.monotonic() + 5
    while not began():
        assert time.monotonic() < end
        time.sleep(0.001)
    at = time.monotonic()
    beeper.hush()
    thread.join(5)
    assert time.monotonic() - at < 5
    assert faults == []


ON, OFF = bytes.fromhex("A0 01 01 A2"), bytes.fromhex("A0 01 00 A1")


def test_the_relays_frames_are_the_computed_ones() -> None:
    assert relay.frame(1, True) == ON
    assert relay.frame(1, False) == OFF
    assert relay.frame(2, True) == bytes.fromhex("A0 02 01 A3")
    assert relay.frame(16, False) == bytes.fromhex("A0 10 00 B0")


class Port(Pty):
    """A pseudo-terminal in a relay's place."""

    def plug(self) -> None:
        super().plug()
        os.set_blocking(self.master, False)

    def heard(self) -> bytes:
        try:
            return os.read(self.master, 1000)
        except BlockingIOError:
            return b""

    def hears(self, wanted: bytes) -> None:
        """These bytes come, and no others."""
        got, end = self.heard(), time.monotonic() + 3
        while len(got) < len(wanted) and time.monotonic() < end:
            time.sleep(0.001)
            got += self.heard()
        assert got == wanted


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Port]:
    made = Port(tmp_path / "relay", kept=True)
    yield made
    made.unplug()


def quick(port: Port, **more: Any) -> relay.Relay:
    return relay.make({"device": str(port.link), "patterns": {"reject": [5, 5, 5], "pip": [5]}} | more)


def test_the_relay_switches_on_and_off_and_ends_off(port: Port) -> None:
    beeper = quick(port)
    beeper.play("reject")
    port.hears(OFF + ON + OFF + ON + OFF)
    beeper.play("pip")
    port.hears(OFF + ON + OFF)
    beeper.close()
    port.hears(OFF)


def test_another_channel_of_the_relay(port: Port) -> None:
    beeper = quick(port, channel=3)
    beeper.play("pip")
    port.hears(relay.frame(3, False) + relay.frame(3, True) + relay.frame(3, False))
    beeper.close()


def test_a_relay_left_on_by_a_killed_process_is_off_at_the_next_start(port: Port) -> None:
    beeper = quick(port)
    beeper.check()
    port.hears(OFF)
    beeper.close()


def test_a_relay_is_cut_short_and_off(port: Port) -> None:
    beeper = relay.make({"device": str(port.link), "patterns": {"hold": [3000]}})
    seen = bytearray()

    def began() -> bool:
        seen.extend(port.heard())
        return ON in seen

    cut_short(beeper, began)
    port.hears((OFF + ON + OFF)[len(seen) :])
    beeper.close()


def test_a_relay_that_is_gone_is_told_and_comes_back(port: Port) -> None:
    beeper = quick(port)
    beeper.play("pip")
    port.unplug()
    for _ in range(2):
        with pytest.raises(OSError, match=r"relay at .* is not there: check its cable"):
            beeper.play("pip")
    port.plug()
    beeper.play("pip")
    port.hears(OFF + ON + OFF)
    beeper.close()


def test_a_relay_replugged_between_two_patterns_is_no_fault(port: Port) -> None:
    beeper = quick(port)
    beeper.play("pip")
    port.unplug()
    port.plug()
    beeper.play("pip")
    port.hears(OFF + ON + OFF)
    beeper.close()


def test_a_relay_that_goes_in_mid_pattern_begins_with_off_when_it_is_back(port: Port) -> None:
    beeper = relay.make({"device": str(port.link), "patterns": {"hold": [1, 1, 1], "pip": [5]}})
    wait = beeper._hushed.wait

    def pulled(seconds: float) -> bool:
        beeper._hushed.wait = wait  # type: ignore[method-assign]
        port.unplug()
        return False

    beeper._hushed.wait = pulled  # type: ignore[method-assign, assignment]
    with pytest.raises(OSError, match="went away"):
        beeper.play("hold")
    port.plug()
    beeper.check()
    port.hears(OFF)
    beeper.close()


def test_a_relay_in_use_is_said_so(port: Port) -> None:
    first, second = quick(port), quick(port)
    first.play("pip")
    with pytest.raises(OSError, match=r"in use by another program|cannot be opened"):
        second.play("pip")
    first.close()
    second.close()


# --- the PC speaker -----------------------------------------------------------------------------------


@pytest.fixture
def speaker(tmp_path: Path) -> Iterator[tuple[str, Callable[[], list[int]]]]:
    """A FIFO in the speaker's place, and what reads the pitches written to it."""
    path = tmp_path / "spkr"
    os.mkfifo(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def heard() -> list[int]:
        try:
            data = os.read(fd, 10_000)
        except BlockingIOError:
            return []
        events = list(struct.iter_unpack("@llHHi", data))
        assert all(event[:4] == (0, 0, 0x12, 0x02) for event in events)
        return [event[4] for event in events]

    yield str(path), heard
    os.close(fd)


@pytest.mark.skipif(sys.maxsize < 2**32, reason="the packing of a 64-bit kernel")
def test_the_speakers_events_are_those_of_a_64_bit_kernel() -> None:
    assert pcspkr.tone_event(880) == bytes(16) + bytes.fromhex("12 00 02 00 70 03 00 00")
    assert pcspkr.tone_event(0) == bytes(16) + bytes.fromhex("12 00 02 00 00 00 00 00")


def test_the_speaker_plays_pitches_pauses_and_the_end(speaker: tuple[str, Callable[[], list[int]]]) -> None:
    path, heard = speaker
    beeper = pcspkr.make({"device": path, "patterns": {"reject": [[330, 5], [0, 5], [440, 5]], "pip": []}})
    beeper.play("reject")
    assert heard() == [330, 0, 440, 0]
    beeper.play("pip")
    assert heard() == [0]
    beeper.close()


def test_a_tone_of_a_killed_process_ends_at_the_next_start(
    speaker: tuple[str, Callable[[], list[int]]],
) -> None:
    path, heard = speaker
    pcspkr.make({"device": path}).check()
    assert heard() == [0]


def test_a_tone_is_cut_short_and_ended(speaker: tuple[str, Callable[[], list[int]]]) -> None:
    path, heard = speaker
    seen: list[int] = []

    def began() -> list[int]:
        seen.extend(heard())
        return seen

    cut_short(pcspkr.make({"device": path, "patterns": {"hold": [[500, 3000]]}}), began)
    assert (seen + heard()) == [500, 0]


def test_a_speaker_that_is_not_there_says_how_to_get_one(tmp_path: Path) -> None:
    none = pcspkr.make({"device": str(tmp_path / "none")})
    asks: list[Callable[[], None]] = [lambda: none.play("pip"), none.check]
    for ask in asks:
        with pytest.raises(OSError, match=r"is not there.*modprobe pcspkr"):
            ask()


def test_a_speaker_that_fails_in_mid_tone_is_told(mocker: MockerFixture, tmp_path: Path) -> None:
    path = tmp_path / "spkr"
    path.touch()
    mocker.patch("tablectl_drivers.beepers.pcspkr.os.write", side_effect=OSError(19, "No such device"))
    with pytest.raises(OSError, match="takes no tone: No such device"):
        pcspkr.make({"device": str(path)}).play("pip")


# --- the scanner's own ----------------------------------------------------------------------------------


def test_the_scanners_beep_is_the_drivers_or_the_sites() -> None:
    said: list[bytes] = []

    def say(data: bytes) -> bool:
        said.append(data)
        return True

    beeper = scanner.make({"patterns": {"reject": "15 0d", "pip": [], "hold": ""}})
    beeper.attach(lambda pattern: pattern.encode(), say)
    for pattern in PATTERNS:
        beeper.play(pattern)
    assert said == [b"close", b"accept", b"\x15\r"]
    beeper.close()


def test_a_scanner_without_a_beep_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"^driver: .*\[beeper.patterns\]"):
        scanner.make({}).attach(lambda pattern: b"", lambda data: True)
    scanner.make({"patterns": {"close": "07"}}).attach(lambda pattern: b"", lambda data: True)


def test_a_line_that_is_never_free_is_a_fault_and_one_that_is_busy_once_is_none() -> None:
    free = [True, False, False, True, False, False, False, True]
    beeper = scanner.make({})
    beeper.attach(lambda pattern: b"x", lambda data: free.pop(0))
    for _ in range(6):
        beeper.play("pip")
    with pytest.raises(OSError, match="never free"):
        beeper.play("pip")
    beeper.play("pip")


def test_the_scanners_beep_needs_the_daemon() -> None:
    with pytest.raises(OSError, match="only while the daemon runs"):
        scanner.make({}).play("pip")
