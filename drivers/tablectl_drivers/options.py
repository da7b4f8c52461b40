"""Reading a driver's settings: every wrong value is refused by name before a port is opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MILLISECOND = 1_000_000


def refuse_unknown(settings: Mapping[str, Any], *known: Iterable[str]) -> None:
    """Raise :class:`ValueError` naming the first key of ``settings`` that is in none of ``known``."""
    names = sorted({name for group in known for name in group})
    for key in settings:
        if key not in names:
            raise ValueError(f"{key}: this driver has no such setting; it has {', '.join(names) or 'none'}")


def choice(settings: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    """One of ``choices``; the first is the default. Raises :class:`ValueError`."""
    value = settings.get(key, choices[0])
    if not isinstance(value, str) or value not in choices:
        quoted = f'; write "{value}", with quotation marks' if str(value) in choices else ""
        raise ValueError(f"{key}: {value!r} is not one of {', '.join(choices)}{quoted}")
    return value


def flag(settings: Mapping[str, Any], key: str) -> bool:
    """true or false; false if absent. Raises :class:`ValueError`."""
    value = settings.get(key, False)
    if not isinstance(value, bool):
        raise ValueError(f"{key}: {value!r} is neither true nor false")
    return value


def span(settings: Mapping[str, Any], key: str, default: float, *, unit: int, low: float, high: float) -> int:
    """A time in ns; the setting counts ``low`` to ``high`` of ``unit`` ns. Raises :class:`ValueError`."""
    value = settings.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{key}: {value!r} is not a number from {low:g} to {high:g}")
    return round(value * unit)


def ascii_text(settings: Mapping[str, Any], key: str, most: int) -> bytes:
    """At most ``most`` ASCII characters as bytes, none if absent. Raises :class:`ValueError`."""
    value = settings.get(key, "")
    if not isinstance(value, str) or not value.isascii() or len(value) > most:
        raise ValueError(f"{key}: {value!r} is not a text of at most {most} ASCII characters")
    return value.encode("ascii")


HID_NODES = ("/dev/hidraw", "/dev/input/", "/dev/bus/usb/", "/dev/usb/hiddev")
"""Beginnings of names that no serial port has."""


def plain_name(key: str, name: str) -> None:
    """Raise :class:`ValueError` if ``name`` has what nobody sees: blanks around it, control characters."""
    if not name.isprintable():
        raise ValueError(f"{key}: {name!r} has a character in it that cannot be seen; type it anew")
    if name != name.strip():
        raise ValueError(f"{key}: {name!r} begins or ends with a blank; remove it")


def path(key: str, value: object, way_out: str) -> str:
    """``value`` if it is an absolute path. Raises :class:`ValueError`, saying ``way_out`` if it is none."""
    if not isinstance(value, str) or not value.startswith("/"):
        raise ValueError(f"{key}: {value!r} {way_out}")
    plain_name(key, value)
    return value


def hid_device(device: str) -> None:
    """Raise :class:`ValueError` if ``device`` is neither a USB device's name nor can be a pseudo-terminal.

    A node such as ``/dev/hidraw0`` is what the system's own driver makes of the scanner, and that is taken
    from it.
    """
    plain_name("device", device)
    if device.startswith("/dev/") and not device.startswith("/dev/pts/"):
        raise ValueError(
            f"device: {device!r} is no HID scanner's name; write usb:VVVV:PPPP:SERIAL or"
            " usb:VVVV:PPPP@BUS-PORT (`tablectl devices` shows the lines to paste)"
        )
    if not device.startswith("/"):
        from tablectl_drivers.usb_names import parse_name  # pyusb loads slowly

        parse_name(device)
