"""The ways a card's bytes can come to the reader: a serial line, a serial server over TCP, a USB scanner.

The serial line is a pseudo-terminal, the serial server a socket of this process, the USB bus the fake that
stands under pyusb; everything from the link upwards is the real thing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import Any, Protocol

from tablectl_drivers import hid_pos, usb_devices
from tablectl_drivers.angel_eye_encoder import Encoder
from tablectl_drivers.emulated.usb_bus import FakeBus, FakeDevice

from tablectl.cards import Card
from tablectl.scanner import Label
from tests.bench.floors import raw_pty
from tests.drivers.contract import CARDS


class Wire(Protocol):
    """A device of ``driver`` at ``device``, which says a card when told."""

    driver: str
    device: str
    settings: Mapping[str, Any]

    def message(self, label: Label, card: Card) -> bytes:
        """What the device says of a card."""

    def say(self, message: bytes) -> None:
        """Send it: the moment from which on the stopwatch runs."""

    def standby(self) -> None:
        """The round is over, where the device says so."""

    def close(self) -> None:
        """Remove it."""


class SerialWire:
    """An Angel Eye on a pseudo-terminal."""

    driver = "angel-eye"
    settings: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self._encoder = Encoder()
        self._master, self._slave, self.device = raw_pty()

    def message(self, label: Label, card: Card) -> bytes:
        return self._encoder.card(label, card)

    def say(self, message: bytes) -> None:
        os.write(self._master, message)

    def standby(self) -> None:
        os.write(self._master, self._encoder.standby())

    def close(self) -> None:
        os.close(self._master)
        os.close(self._slave)


class TcpWire:
    """The same shoe behind a serial server."""

    driver = "angel-eye"
    settings: Mapping[str, Any] = {}

    def __init__(self) -> None:
        self._encoder = Encoder()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1)
        self._peer: socket.socket | None = None
        self.device = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"

    def message(self, label: Label, card: Card) -> bytes:
        return self._encoder.card(label, card)

    def say(self, message: bytes) -> None:
        if self._peer is None:
            self._peer, _ = self._listener.accept()
            self._peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peer.sendall(message)

    def standby(self) -> None:
        self.say(self._encoder.standby())

    def close(self) -> None:
        if self._peer is not None:
            self._peer.close()
        self._listener.close()


class UsbWire:
    """A bar-code scanner in HID POS mode; it only tells codes."""

    driver = "hid-pos"
    settings: Mapping[str, Any] = {"cards": "suit-rank", "bounce_ms": 0}
    device = "usb:0c2e:0b61:BENCH"

    def __init__(self) -> None:
        self._encoder = hid_pos.Encoder(CARDS)
        self._bus = FakeBus()
        self._scanner = self._bus.plug(FakeDevice(serial="BENCH"))
        self._real = usb_devices.backend
        setattr(usb_devices, "backend", lambda: self._bus)  # noqa: B010  there is no bus in a bench

    def message(self, label: Label, card: Card) -> bytes:
        return self._encoder.card(card)

    def say(self, message: bytes) -> None:
        self._scanner.say(message)

    def standby(self) -> None:
        pass

    def close(self) -> None:
        setattr(usb_devices, "backend", self._real)  # noqa: B010


WIRES: Mapping[str, type[SerialWire | TcpWire | UsbWire]] = {
    "serial": SerialWire,
    "tcp": TcpWire,
    "usb": UsbWire,
}
