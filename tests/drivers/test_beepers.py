"""The beepers that ship: silent, the terminal's bell, the sound card through a player program."""

from __future__ import annotations

import io
import os
import tty
import wave
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from pytest_mock import MockerFixture
from tablectl_drivers.beepers import bell, null, sound

from tablectl.signals import PATTERNS, Beeper


def test_beepers_are_found_by_name() -> None:
    found = {one.name: one.load() for one in entry_points(group="tablectl.beepers")}
    for name in ("null", "bell", "sound"):
        beeper: Beeper = found[name]({})
        beeper.close()


@pytest.mark.parametrize("module", [null, bell, sound])
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
    ],
)
def test_a_bad_setting_is_named(module: object, settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=rf"^{next(iter(settings))}: "):
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
    with wave.open(io.BytesIO(sound.tone(pattern))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 44_100)
        assert 0.05 < file.getnframes() / file.getframerate() < 1.2
        samples = memoryview(file.readframes(file.getnframes())).cast("h")
    assert 15_000 < max(samples) < 32_767
    assert samples[0] == samples[-1] == 0


def test_the_tones_differ() -> None:
    assert len({sound.tone(pattern) for pattern in PATTERNS}) == len(PATTERNS)


@pytest.fixture
def player(tmp_path: Path) -> Path:
    program = tmp_path / "play"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\ncat > {tmp_path}/sound\n')
    program.chmod(0o755)
    return program


def test_the_player_gets_the_sound(player: Path) -> None:
    sound.make({"player": str(player), "device": "hw:1; rm -rf /"}).play("pip")
    assert (player.parent / "sound").read_bytes() == sound.tone("pip")
    assert (player.parent / "words").read_text() == "-q -D hw:1; rm -rf / -\n"
    sound.make({"player": str(player)}).play("pip")
    assert (player.parent / "words").read_text() == "-q -\n"


def test_a_missing_player_is_one_clear_error() -> None:
    with pytest.raises(OSError, match=r"no-such-player is not installed.*alsa-utils"):
        sound.make({"player": "no-such-player"}).play("pip")


def test_a_player_that_fails_is_quoted(player: Path) -> None:
    player.write_text("#!/bin/sh\ncat > /dev/null\necho warming up >&2\necho no such card >&2\nexit 1\n")
    with pytest.raises(OSError, match="failed: no such card"):
        sound.make({"player": str(player)}).play("pip")
    player.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(OSError, match="failed: exit 3"):
        sound.make({"player": str(player)}).play("pip")


def test_a_player_that_hangs_is_given_up(player: Path, mocker: MockerFixture) -> None:
    mocker.patch.object(sound, "PLAY_SECONDS", 0.1)
    player.write_text("#!/bin/sh\nexec sleep 20\n")
    with pytest.raises(OSError, match="did not finish"):
        sound.make({"player": str(player)}).play("pip")
