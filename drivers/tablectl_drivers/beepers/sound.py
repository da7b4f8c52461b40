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

from tablectl_drivers.beepers import patterns
from tablectl_drivers.options import plain_name, refuse_unknown

RATE = 44_100
"""Samples in a second."""

SPARE_SECONDS = 1.5
"""How much longer than the tones the player may take before it is given up."""

_FADE = RATE // 200  # 5 ms: a tone cut off at its peak clicks
_TAIL = RATE // 50


@cache
def wav(tones: patterns.Tones) -> bytes:
    """Tones as a WAV file: 16 bit, one channel."""
    samples = array("h")
    for pitch, length in tones:
        count = RATE * length // 1000
        for i in range(count):
            loud = min(1.0, i / _FADE, (count - i) / _FADE)
            samples.append(round(20_000 * loud * math.sin(2 * math.pi * pitch * i / RATE)))
    samples.extend([0] * _TAIL)
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())
    return out.getvalue()


class SoundBeeper:
    """Plays through ``player``, on ALSA device ``device`` (None: the default one)."""

    def __init__(
        self,
        device: str | None = None,
        player: str = "aplay",
        tones: Mapping[str, patterns.Tones] = patterns.USUAL_TONES,
    ) -> None:
        self._device = device
        self._player = player
        self._tones = tones
        self._process: subprocess.Popen[bytes] | None = None
        self._hushed = False

    def play(self, pattern: str) -> None:
        """Play to the end, or until it is hushed. Raises :class:`OSError` saying what is wrong."""
        tones = self._tones[pattern]
        if not tones:
            return
        command = [self._program(), "-q", *(("-D", self._device) if self._device else ()), "-"]
        limit = sum(length for _, length in tones) / 1000 + SPARE_SECONDS
        with subprocess.Popen(  # noqa: S603  no shell; the words come from the site's configuration
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            self._process = process
            if self._hushed:  # meanwhile, while it was being started
                process.terminate()
            try:
                _, errors = process.communicate(wav(tones), limit)
            except subprocess.TimeoutExpired:
                process.kill()
                raise OSError(f"{self._player} did not finish in {limit:g} s") from None
            finally:
                self._process = None
        if process.returncode and not self._hushed:
            said = errors.decode("utf-8", "replace").strip().splitlines()
            raise OSError(f"{self._player} failed: {said[-1] if said else f'exit {process.returncode}'}")

    def ready(self) -> None:
        """What was hushed before is over."""
        self._hushed = False

    def hush(self) -> None:
        """End the player."""
        self._hushed = True
        process = self._process
        if process is not None:
            process.terminate()

    def check(self) -> None:
        """Raises :class:`OSError` if there is no player. Whether the card works is told by playing alone."""
        self._program()

    def close(self) -> None:
        """Nothing is kept open."""

    def _program(self) -> str:
        program = shutil.which(self._player)
        if program is None:
            raise OSError(f"{self._player} is not installed (Debian: apt-get install alsa-utils)")
        return program


def make(settings: Mapping[str, Any]) -> SoundBeeper:
    """A sound card; settings ``device`` (ALSA name), ``player``, ``patterns``. Raises :class:`ValueError`."""
    refuse_unknown(settings, ("device", "player", "patterns"))
    for key in ("device", "player"):
        if key in settings and (not isinstance(settings[key], str) or not settings[key]):
            raise ValueError(f"{key}: {settings[key]!r} is not a name")
        plain_name(key, settings.get(key, ""))
    tones = patterns.read(settings, patterns.USUAL_TONES, patterns.tones, ())
    return SoundBeeper(settings.get("device"), settings.get("player", "aplay"), tones)
