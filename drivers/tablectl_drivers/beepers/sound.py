"""A sound card: the patterns as short tones, computed once and given to ALSA's ``aplay``."""

from __future__ import annotations

import io
import math
import shutil
import subprocess
import wave
from array import array
from collections.abc import Mapping
from functools import cache
from typing import Any

from tablectl_drivers.options import refuse_unknown

RATE = 44_100
"""Samples in a second."""

PLAY_SECONDS = 3.0
"""The longest a tone may take before it is given up."""

_FADE = RATE // 200  # 5 ms: a tone cut off at its peak clicks
_GAP_MS = 60

# Tones of each pattern: pitch in Hz and length in ms.
_TONES: dict[str, tuple[tuple[int, int], ...]] = {
    "pip": ((1000, 80),),
    "close": ((880, 500),),
    "accept": ((1760, 60),),
    "reject": ((330, 150), (330, 150)),
    "hold": ((660, 150), (440, 150), (660, 150), (440, 150)),
}


@cache
def tone(pattern: str) -> bytes:
    """The pattern as a WAV file: 16 bit, one channel. Raises :class:`KeyError` for an unknown one."""
    samples = array("h")
    for pitch, length in _TONES[pattern]:
        count = RATE * length // 1000
        for i in range(count):
            loud = min(1.0, i / _FADE, (count - i) / _FADE)
            samples.append(round(20_000 * loud * math.sin(2 * math.pi * pitch * i / RATE)))
        samples.extend([0] * (RATE * _GAP_MS // 1000))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return out.getvalue()


class SoundBeeper:
    """Plays through ``player``, on ALSA device ``device`` (None: the default one)."""

    def __init__(self, device: str | None = None, player: str = "aplay") -> None:
        self._device = device
        self._player = player

    def play(self, pattern: str) -> None:
        """Play and wait for the end, three seconds at most. Raises :class:`OSError` saying what is wrong."""
        program = shutil.which(self._player)
        if program is None:
            raise OSError(f"{self._player} is not installed (Debian: apt-get install alsa-utils)")
        command = [program, "-q", *(("-D", self._device) if self._device else ()), "-"]
        try:
            done = subprocess.run(  # noqa: S603  no shell; the words come from the site's configuration
                command, input=tone(pattern), capture_output=True, timeout=PLAY_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise OSError(f"{self._player} did not finish in {PLAY_SECONDS:g} s") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise OSError(f"{self._player} failed: {said[-1] if said else f'exit {done.returncode}'}")

    def close(self) -> None:
        """Nothing is kept open."""


def make(settings: Mapping[str, Any]) -> SoundBeeper:
    """A sound card; settings ``device`` (ALSA name) and ``player``. :class:`ValueError` names a bad one."""
    refuse_unknown(settings, ("device", "player"))
    for key in ("device", "player"):
        if key in settings and (not isinstance(settings[key], str) or not settings[key]):
            raise ValueError(f"{key}: {settings[key]!r} is not a name")
    return SoundBeeper(settings.get("device"), settings.get("player", "aplay"))
