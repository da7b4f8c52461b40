"""The PC speaker: tones through the kernel's input device, also on a machine without a sound card.

The speaker sounds until it is told to stop, and goes on when the program dies. So a stop follows each
tone whatever happens, and a fresh start tells it to stop before anything else.
"""

from __future__ import annotations

import errno
import os
import struct
import threading
from collections.abc import Mapping
from typing import Any

from tablectl_drivers.beepers import patterns
from tablectl_drivers.options import path, refuse_unknown

DEVICE = "/dev/input/by-path/platform-pcspkr-event-spkr"

_INPUT_EVENT = struct.Struct("@llHHi")  # struct input_event: two longs of time, which the kernel sets itself
_EV_SND, _SND_TONE = 0x12, 0x02


def tone_event(pitch: int) -> bytes:
    """The ``input_event`` that begins a tone of ``pitch`` Hz; 0 ends it."""
    return _INPUT_EVENT.pack(0, 0, _EV_SND, _SND_TONE, pitch)


class PcSpeaker:
    """Plays tones on the speaker at ``device``."""

    def __init__(
        self, device: str = DEVICE, tones: Mapping[str, patterns.Tones] = patterns.USUAL_TONES
    ) -> None:
        self._device = device
        self._tones = tones
        self._hushed = threading.Event()

    def play(self, pattern: str) -> None:
        """Play to the end, or until it is hushed. Raises :class:`OSError` saying what is wrong."""
        fd = self._open()
        try:
            for pitch, length in self._tones[pattern]:
                self._write(fd, pitch)
                if self._hushed.wait(length / 1000):
                    break
        finally:
            try:
                self._write(fd, 0)
            finally:
                os.close(fd)

    def ready(self) -> None:
        """What was hushed before is over."""
        self._hushed.clear()

    def hush(self) -> None:
        """End the tone that sounds."""
        self._hushed.set()

    def check(self) -> None:
        """Silence it. Raises :class:`OSError` saying why it cannot be used."""
        fd = self._open()
        try:
            self._write(fd, 0)
        finally:
            os.close(fd)

    def close(self) -> None:
        """Nothing is kept open, and no tone is left."""

    def _write(self, fd: int, pitch: int) -> None:
        try:
            os.write(fd, tone_event(pitch))
        except OSError as fault:
            raise OSError(f"the PC speaker at {self._device} takes no tone: {fault.strerror}") from fault

    def _open(self) -> int:
        try:
            return os.open(self._device, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        except OSError as fault:
            match fault.errno:
                case errno.ENOENT | errno.ENODEV | errno.ENXIO:
                    why = "is not there; has the machine one, and is its module loaded (modprobe pcspkr)?"
                case errno.EACCES | errno.EPERM:
                    why = (
                        "may not be opened: the service's user must be in the group input, or the udev rules"
                        " that come with tablectl must be installed"
                    )
                case _:
                    why = f"cannot be opened: {fault.strerror}"
            raise OSError(f"the PC speaker at {self._device} {why}") from fault


def make(settings: Mapping[str, Any]) -> PcSpeaker:
    """A PC speaker; settings ``device`` and ``patterns``. :class:`ValueError` names a bad one."""
    refuse_unknown(settings, ("device", "patterns"))
    device = path("device", settings.get("device", DEVICE), f"is not a path such as {DEVICE}")
    return PcSpeaker(device, patterns.read(settings, patterns.USUAL_TONES, patterns.tones, ()))
