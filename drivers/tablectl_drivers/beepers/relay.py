"""A lamp or a horn on a USB relay (LCUS and its many copies; a CH340 on a serial port).

The relay keeps what it was told last, also when the program dies: a horn that never ends, a lamp that
lies. So "off" follows each pattern whatever happens, is sent at close, and is the first thing sent after
every opening: at the start, and after a fault.
"""

from __future__ import annotations

import errno
import termios
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import serial

from tablectl.scanner import LinkFault
from tablectl_drivers.beepers import patterns
from tablectl_drivers.links_serial import refuse_ambiguous
from tablectl_drivers.options import HID_NODES, path, refuse_unknown

USUAL: Mapping[str, tuple[int, ...]] = {
    "pip": (80,),
    "close": (800,),
    "accept": (60,),
    "reject": (150, 100, 150),
    "hold": (300, 150, 300, 150, 300, 150, 300),
}

BAUD = 9600
MOST_CHANNELS = 16

# termios.error is no OSError; ValueError and TypeError are what pyserial raises on a port closed under it.
_FAULTS = (OSError, termios.error, ValueError, TypeError)


def frame(channel: int, on: bool) -> bytes:
    """The command that switches a channel (1 is the first): head, channel, on or off, sum."""
    head = bytes((0xA0, channel, int(on)))
    return head + bytes((sum(head) & 0xFF,))


_NO_PORT = (
    "is not the path of the relay's port; write /dev/serial/by-path/…, for such adapters have no serial"
    " number"
)


class Relay:
    """One channel of the relay at ``device``."""

    def __init__(
        self, device: str, channel: int = 1, times: Mapping[str, tuple[int, ...]] = USUAL, baud: int = BAUD
    ) -> None:
        self._device = device
        self._channel = channel
        self._times = times
        self._baud = baud
        self._port: serial.Serial | None = None
        self._hushed = threading.Event()

    def play(self, pattern: str) -> None:
        """Switch on and off, to the end or until it is hushed. Raises :class:`OSError` saying why not."""
        times = self._times[pattern]
        if not times:
            return
        # What is open may be a port that was unplugged meanwhile, and its relay is back under the same name.
        self.check()
        try:
            for step, length in enumerate(times):
                self._switch(step % 2 == 0)
                if self._hushed.wait(length / 1000):
                    break
        finally:
            self._switch(False)

    def ready(self) -> None:
        """What was hushed before is over."""
        self._hushed.clear()

    def hush(self) -> None:
        """Switch off soon."""
        self._hushed.set()

    def check(self) -> None:
        """Switch off. Raises :class:`OSError` saying why the relay cannot be reached."""
        if self._port is not None:
            with suppress(OSError):
                self._switch(False)
                return
        self._open()
        self._switch(False)

    def close(self) -> None:
        """Switch off and let go of the port."""
        try:
            if self._port is not None:
                self._switch(False)
        finally:
            self._drop()

    def _switch(self, on: bool) -> None:
        """Send one command. A port that fails is closed, and opened afresh for the next pattern."""
        if self._port is None:
            raise OSError(f"the relay at {self._device} went away; check its cable")
        try:
            self._port.write(frame(self._channel, on))
        except _FAULTS as fault:
            self._drop()
            raise OSError(f"the relay at {self._device} went away ({fault}); check its cable") from fault

    def _open(self) -> None:
        self._drop()
        try:
            refuse_ambiguous(self._device)
            self._port = serial.Serial(self._device, self._baud, timeout=0, write_timeout=1.0, exclusive=True)
        except LinkFault as fault:
            raise OSError(str(fault)) from fault
        except _FAULTS as fault:
            raise OSError(f"the relay at {self._device} {_why(fault)}") from fault

    def _drop(self) -> None:
        port, self._port = self._port, None
        if port is not None:
            with suppress(*_FAULTS):
                port.close()


def _why(fault: BaseException) -> str:
    match fault:
        case OSError(errno=errno.ENOENT | errno.ENXIO | errno.ENODEV | errno.EIO):
            return "is not there: check its cable and power, and the name of the port"
        case OSError(errno=errno.EACCES | errno.EPERM):
            return (
                "may not be opened: the service's user must be in the group dialout, and the udev rules that"
                " come with tablectl must be installed"
            )
        case OSError(errno=errno.EBUSY | errno.EAGAIN):
            return "is in use by another program (ModemManager and brltty take such adapters)"
        case _:
            return f"cannot be opened: {fault}"


def make(settings: Mapping[str, Any]) -> Relay:
    """A relay; settings ``device``, ``channel``, ``baud``, ``patterns``. Raises :class:`ValueError`."""
    refuse_unknown(settings, ("device", "channel", "baud", "patterns"))
    device = path("device", settings.get("device"), _NO_PORT)
    if device.startswith(HID_NODES):
        raise ValueError(f"device: {device!r} {_NO_PORT}")
    channel = settings.get("channel", 1)
    if isinstance(channel, bool) or not isinstance(channel, int) or not 1 <= channel <= MOST_CHANNELS:
        raise ValueError(f"channel: {channel!r} is not a channel; write 1 to {MOST_CHANNELS}")
    baud = settings.get("baud", BAUD)
    if isinstance(baud, bool) or not isinstance(baud, int) or baud not in serial.Serial.BAUDRATES:
        raise ValueError(f"baud: {baud!r} is no line speed; most such relays have {BAUD}")
    return Relay(device, channel, patterns.read(settings, USUAL, patterns.on_off, ()), baud)
