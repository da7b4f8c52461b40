"""A Patlite NE-USB signal lamp: light and buzzer in one, eight bytes over USB.

The lamp keeps what it was told last. The pattern's time over, it is told to be dark and silent, whatever
happened; so it is at close, and first of all after every opening.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import usb.core
import usb.util

from tablectl_drivers import usb_devices
from tablectl_drivers.beepers import patterns
from tablectl_drivers.options import refuse_unknown

USB_ID = "191a:6001"
WRITE_MS = 1000

LIGHTS = {"off": 0, "red": 1, "green": 2, "yellow": 3, "blue": 4, "white": 7}
BLINKS = {"on": 1, **{f"blink-{n}": n for n in range(2, 8)}}
BUZZERS = {"off": 0, "continuous": 1, "sweep": 2, "call": 3, "low": 4, "high": 5}
MOST_COUNT, MOST_VOLUME = 15, 10


@dataclass(frozen=True, slots=True)
class Show:
    """What the lamp does for ``ms``. ``count``: of the buzzer's pattern, 0 endless until the time is over."""

    ms: int = 0
    light: int = 0
    blink: int = 1
    buzzer: int = 0
    count: int = 0
    volume: int = MOST_VOLUME

    def frame(self) -> bytes:
        """The eight bytes that begin it."""
        light = self.light << 4 | (self.blink if self.light else 0)
        return bytes((0, 0, self.count << 4 | self.buzzer, self.volume if self.buzzer else 0, light, 0, 0, 0))


DARK = Show()
"""No light, no sound: eight zero bytes."""

USUAL: Mapping[str, Show] = {
    "pip": Show(80, LIGHTS["yellow"], buzzer=BUZZERS["high"]),
    "close": Show(800, LIGHTS["red"], buzzer=BUZZERS["continuous"]),
    "accept": Show(150, LIGHTS["green"]),
    "reject": Show(600, LIGHTS["red"], BLINKS["blink-2"], BUZZERS["low"]),
    "hold": Show(2000, LIGHTS["red"], BLINKS["blink-2"], BUZZERS["call"]),
}


def show(value: object) -> Show:
    """``{ light = "red", blink = "on", buzzer = "call", count = 2, volume = 10, ms = 600 }``."""
    if not isinstance(value, Mapping):
        raise ValueError(
            f'{value!r} is no table; write {{ light = "red", buzzer = "call", ms = 600 }}, or [] for nothing'
        )
    known = ("light", "blink", "buzzer", "count", "volume", "ms")
    for key in value:
        if key not in known:
            raise ValueError(f"there is no {key}; there are {', '.join(known)}")
    length = patterns.whole(value.get("ms", 0), "ms is how long it lasts, in whole milliseconds")
    if not 1 <= length <= patterns.LONGEST_MS:
        raise ValueError(f"ms, how long it lasts, is 1 to {patterns.LONGEST_MS}, not {length}")
    made = Show(
        length,
        _named(value, "light", LIGHTS, "off"),
        _named(value, "blink", BLINKS, "on"),
        _named(value, "buzzer", BUZZERS, "off"),
        _number(value, "count", 0, MOST_COUNT),
        _number(value, "volume", MOST_VOLUME, MOST_VOLUME),
    )
    if not made.light and not made.buzzer:
        raise ValueError("it has neither light nor buzzer; write [] for nothing")
    return made


def _named(value: Mapping[str, Any], key: str, names: Mapping[str, int], usual: str) -> int:
    name = value.get(key, usual)
    if not isinstance(name, str) or name not in names:
        raise ValueError(f"{key} {name!r} is not one of {', '.join(names)}")
    return names[name]


def _number(value: Mapping[str, Any], key: str, usual: int, most: int) -> int:
    wants = f"{key} is a number from 0 to {most}, not {value.get(key)!r}"
    number = patterns.whole(value.get(key, usual), wants)
    if number > most:
        raise ValueError(wants)
    return number


class Patlite:
    """The lamp that ``device`` names. ``where``: the USB library, for tests."""

    def __init__(self, device: str, shows: Mapping[str, Show] = USUAL, where: Any = None) -> None:
        self._device = device
        self._shows = shows
        self._where = where
        self._claimed: usb_devices.Claimed | None = None
        self._out: Any = None
        self._hushed = threading.Event()

    def play(self, pattern: str) -> None:
        """Show it for its time, or until it is hushed. Raises :class:`OSError` saying what is wrong."""
        wanted = self._shows[pattern]
        if not wanted.ms:
            return
        # What is open may be a lamp that was unplugged meanwhile, and is back under the same name.
        self.check()
        try:
            self._send(wanted)
            self._hushed.wait(wanted.ms / 1000)
        finally:
            self._send(DARK)

    def ready(self) -> None:
        """What was hushed before is over."""
        self._hushed.clear()

    def hush(self) -> None:
        """Make it dark and silent soon."""
        self._hushed.set()

    def check(self) -> None:
        """Make it dark and silent. Raises :class:`OSError` saying why it cannot be reached."""
        if self._claimed is not None:
            with suppress(OSError):
                self._send(DARK)
                return
        self._open()
        self._send(DARK)

    def close(self) -> None:
        """Make it dark and silent, and give it back."""
        try:
            if self._claimed is not None:
                self._send(DARK)
        finally:
            self._drop()

    def _open(self) -> None:
        self._drop()
        try:
            claimed = usb_devices.open_device(self._device, lambda found: found[0], "lamp", self._where)
        except Exception as fault:
            raise OSError(str(fault)) from fault
        self._claimed = claimed
        self._out = usb_devices.endpoint(claimed.interface, usb.util.ENDPOINT_OUT)
        if self._out is None:
            self._drop()
            raise OSError(f"{self._device} is no Patlite NE-USB: it takes no commands")

    def _send(self, wanted: Show) -> None:
        if self._claimed is None:
            raise OSError(f"the lamp {self._device} went away; check its cable")
        try:
            self._out.write(wanted.frame(), WRITE_MS)
        except (OSError, ValueError, NotImplementedError) as fault:
            self._drop()
            raise OSError(str(usb_devices.lost(fault, "lamp"))) from fault

    def _drop(self) -> None:
        claimed, self._claimed, self._out = self._claimed, None, None
        if claimed is not None:
            claimed.release()


def make(settings: Mapping[str, Any]) -> Patlite:
    """A lamp; settings ``device`` and ``patterns``. Raises :class:`ValueError` naming a bad one."""
    refuse_unknown(settings, ("device", "patterns"))
    device = settings.get("device")
    if not isinstance(device, str):
        raise ValueError(f"device: name the lamp, for example usb:{USB_ID}:SERIAL or usb:{USB_ID}@1-1.2")
    if usb_devices.parse_name(device).kind != USB_ID:
        raise ValueError(f"device: {device!r} is no Patlite NE-USB; those are usb:{USB_ID}:…")
    return Patlite(device, patterns.read(settings, USUAL, show, DARK))
