"""How bytes come from a scanner: one call opens a serial port or a TCP serial server.

A pseudo-terminal is opened by the same code as hardware. Whatever goes wrong at opening, reading or
writing is one thing to the table, a :class:`~tablectl.scanner.LinkFault`, whose text says the way out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.scanner import Link, LinkFault
from tablectl_drivers.links_serial import SerialDefaults, SerialLink
from tablectl_drivers.links_tcp import TcpLink, parse_address
from tablectl_drivers.options import HID_NODES, plain_name

__all__ = ["ADAPTERS", "LINK_KEYS", "SerialDefaults", "check_device", "check_link", "open_link"]

LINK_KEYS: frozenset[str] = frozenset({"baud", "bytesize", "parity", "stopbits", "dtr", "rts"})
"""The ``[scanner]`` keys of the link; a driver's own ``check`` allows these and its decoder's."""

ADAPTERS: tuple[str, ...] = ("0403:*", "067b:*", "10c4:ea60", "1a86:7523", "1a86:5523", "110a:*")
"""USB serial adapters in common use, as :attr:`~tablectl.scanner.Driver.usb_ids` writes them: FTDI, Prolific,
CP210x, CH340/CH341, Moxa. What hangs behind one cannot be told from it."""

_CHOICES: dict[str, tuple[Any, ...]] = {
    "bytesize": (5, 6, 7, 8),
    "parity": ("N", "E", "O", "M", "S"),
    "stopbits": (1, 1.5, 2),
}


def check_link(settings: Mapping[str, Any]) -> None:
    """Raise :class:`ValueError` naming the key if a link setting has a value no port can use.

    Keys outside :data:`LINK_KEYS` are the driver's own and are left to it.
    """
    if "baud" in settings:
        baud = settings["baud"]
        if isinstance(baud, bool) or not isinstance(baud, int) or not 50 <= baud <= 4_000_000:
            raise ValueError(f"baud: {baud!r} is not a line speed; write a whole number, for example 9600")
    for key, choices in _CHOICES.items():
        # True == 1 in Python, but `stopbits = true` is a slip of the pen.
        if key in settings and (isinstance(settings[key], bool) or settings[key] not in choices):
            raise ValueError(f"{key}: {settings[key]!r} is none of {', '.join(map(str, choices))}")
    for key in ("dtr", "rts"):
        if key in settings and not isinstance(settings[key], bool):
            raise ValueError(f"{key}: {settings[key]!r} is neither true nor false")


def check_device(device: str) -> None:
    """Raise :class:`ValueError` if ``device`` is neither an absolute path nor ``tcp://host:port``."""
    plain_name("device", device)
    if device.startswith(("usb:", *HID_NODES)):
        raise ValueError(
            f"device: {device!r} names a HID scanner, which the drivers hid-pos and hid-keyboard read; this"
            " driver reads a serial port, /dev/serial/by-id/usb-…, or tcp://host:port"
        )
    if device.startswith("tcp://"):
        parse_address(device)
    elif not device.startswith("/") or device.endswith("/"):
        raise ValueError(
            f"device: {device!r} is neither a path such as /dev/serial/by-id/usb-… nor tcp://host:port"
        )


def open_link(device: str, settings: Mapping[str, Any], *, defaults: SerialDefaults) -> Link:
    """Open ``device``: a path, or ``tcp://host:port`` of a serial server.

    ``defaults`` are the protocol's line settings, overridden by the keys of :data:`LINK_KEYS` in
    ``settings``; a TCP server has its line set in the server, so there they say nothing. Blocks for a
    bounded time (TCP: three seconds for each address). Raises :class:`~tablectl.scanner.LinkFault`.
    """
    try:
        check_device(device)
        check_link(settings)
    except ValueError as fault:
        raise LinkFault(str(fault)) from None
    if device.startswith("tcp://"):
        return TcpLink(device)
    return SerialLink(device, settings, defaults)
