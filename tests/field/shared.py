"""What the tests named after the field's faults use besides the reader's own rig."""

from __future__ import annotations

import errno
import os
import termios
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import serial
from tablectl_drivers.links import SerialDefaults, open_link

from tablectl.scanner import Arrival, Arrived, Backoff, Driver, Item, Link, ScannerLost, Traits
from tests.drivers.contract import CARDS
from tests.reader.test_thread import MS, Lines, Rig

SOAK = bool(os.environ.get("TABLECTL_SOAK"))
DEFAULTS = SerialDefaults(baud=9600)

BEE = b"[Game]<Card:8S>\r\n"
"""A card as the plainest shoe tells it."""

GUISES: list[BaseException] = [
    serial.SerialException("device reports readiness to read but returned no data"),
    OSError(errno.EIO, "Input/output error"),
    OSError(errno.ENXIO, "No such device or address"),
    OSError(errno.ENODEV, "No such device"),
    termios.error(errno.EIO, "Input/output error"),
]
"""What an unplugged adapter raises. The last is no OSError."""


def open_port(device: str, settings: Mapping[str, Any] | None = None) -> Link:
    """The drivers' own link to a path or ``tcp://host:port``."""
    return open_link(device, settings or {}, defaults=DEFAULTS)


def lines(opening: Callable[[str, Mapping[str, Any]], Link] = open_port) -> Driver:
    """A driver of text lines that answers each with a byte, on a real port."""
    return Driver(
        "lines",
        "",
        decoder=lambda settings: Lines(),
        open=opening,
        traits=lambda settings: Traits(),
        check=lambda settings: None,
    )


def with_cards(driver: Driver) -> Driver:
    """``driver`` with the public card table, whatever settings it is given."""
    return replace(
        driver,
        decoder=lambda settings: driver.decoder(CARDS),
        open=lambda device, settings: driver.open(device, CARDS),
    )


def quick(driver: Driver, device: str, **options: Any) -> Rig:
    """A reader that settles in a blink and tries again soon."""
    options.setdefault("settle", 5 * MS)
    options.setdefault("backoff", Backoff(first=5 * MS, cap=20 * MS))
    return Rig(driver, device, **options)


def until_lost(rig: Rig) -> tuple[list[Item], ScannerLost]:
    """The items before the loss, and the loss."""
    items: list[Item] = []
    while True:
        arrival: Arrival = rig.next()
        if isinstance(arrival, ScannerLost):
            return items, arrival
        assert isinstance(arrival, Arrived)
        items.append(arrival.item)
