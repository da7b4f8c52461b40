"""How a USB device is named, and what went wrong with it, in words.

A device is named by what stays when it is plugged in again: its serial number, or, for one that has
none, the socket it sits in.

    usb:0c2e:0b61:18113B0A21     vendor, product (hex, as lsusb shows them), serial number
    usb:0c2e:0b61@1-1.2          vendor, product, and the socket as in /sys/bus/usb/devices

Errors are told by their number, never by their text: it differs from system to system.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass

import usb.core

from tablectl.scanner import LinkFault, LinkRefused

GROUP = "dialout"
"""The group that the udev rules give USB devices to."""

UDEV_RULES = "60-tablectl.rules"
"""The file of udev rules that comes with the project."""

_TIME_OUTS = frozenset({errno.ETIMEDOUT, 110, 60, 10060})
_LIBUSB_TIME_OUT = -7
_GONE = frozenset({errno.ENODEV, errno.EIO, errno.ENXIO, errno.ESHUTDOWN, errno.EPROTO, errno.ENOENT})
_NAME = re.compile(
    r"usb:(?P<vendor>[0-9a-fA-F]{4}):(?P<product>[0-9a-fA-F]{4})(?:(?P<sign>[:@])(?P<rest>.*))?", re.DOTALL
)
_PATH = re.compile(r"[1-9]\d*-[1-9]\d*(?:\.[1-9]\d*)*")


@dataclass(frozen=True, slots=True)
class UsbName:
    """One device: vendor and product, and either its serial number or its socket (``1-1.2``)."""

    vendor: int
    product: int
    serial: str = ""
    path: str = ""

    def __str__(self) -> str:
        return f"usb:{self.kind}" + (f"@{self.path}" if self.path else f":{self.serial}")

    @property
    def kind(self) -> str:
        """Vendor and product as lsusb shows them."""
        return f"{self.vendor:04x}:{self.product:04x}"


def parse_name(text: str) -> UsbName:
    """The device that ``text`` names. Raises :class:`ValueError` saying how one is named."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise ValueError(
            f"device: {text!r} names no USB device; write usb:VVVV:PPPP:SERIAL or usb:VVVV:PPPP@BUS-PORT,"
            " for example usb:0c2e:0b61@1-1.2 (`tablectl devices` shows the lines to paste)"
        )
    vendor, product, sign, rest = found["vendor"], found["product"], found["sign"], found["rest"]
    if not rest:
        raise ValueError(
            f"device: {text!r} fits every device of that make, and the first one found may be another"
            f" table's; add its serial number, usb:{vendor}:{product}:SERIAL, or its socket,"
            f" usb:{vendor}:{product}@BUS-PORT (`tablectl devices` shows the lines to paste)"
        )
    if sign == ":":
        if not rest.isprintable() or rest != rest.strip():
            raise ValueError(f"device: {text!r}: {rest!r} is no serial number of a USB device")
        return UsbName(int(vendor, 16), int(product, 16), serial=rest)
    if not _PATH.fullmatch(rest):
        raise ValueError(
            f"device: {text!r}: {rest!r} is no socket; write bus-port.port as in /sys/bus/usb/devices,"
            " for example 1-1.2"
        )
    return UsbName(int(vendor, 16), int(product, 16), path=rest)


# --- faults in words ------------------------------------------------------------------------------


def timed_out(fault: BaseException) -> bool:
    """Whether a transfer only waited in vain. That is no fault: nobody scanned anything."""
    return isinstance(fault, usb.core.USBTimeoutError) or (
        isinstance(fault, usb.core.USBError)
        and (fault.errno in _TIME_OUTS or fault.backend_error_code == _LIBUSB_TIME_OUT)
    )


def gone(fault: BaseException) -> bool:
    """Whether the device is no longer there."""
    return isinstance(fault, OSError) and fault.errno in _GONE


def not_opened(name: object, fault: BaseException, what: str = "scanner") -> LinkFault:
    """Why the device ``name`` cannot be used, in words. ``what`` it is: a scanner, a lamp."""
    match fault:
        case LinkFault():
            return fault
        case OSError(errno=errno.EACCES | errno.EPERM):
            return LinkRefused(
                f"no permission to use {name}: the service's user must be in the group {GROUP}, and the udev"
                f" rules that come with tablectl ({UDEV_RULES}) must be installed"
            )
        case OSError(errno=errno.EBUSY):
            return LinkRefused(
                f"{name} is in use: another program (another controller, a maker's tool) or a driver of the"
                f" system holds it; only one may read a {what}"
            )
        case OSError() if gone(fault):
            return LinkFault(f"no {what} at {name}: it went away while it was opened; check its cable")
        case _:
            return LinkFault(f"{name} cannot be used: {fault or type(fault).__name__}")


def lost(fault: BaseException, what: str = "scanner") -> LinkFault:
    """The fault of an open device, in words for the dealer."""
    if gone(fault):
        return LinkFault(f"{what} lost: unplugged, or its power is off; check the cable")
    return LinkFault(f"{what} lost: {fault or type(fault).__name__}; check the cable")
