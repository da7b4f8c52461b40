"""What is plugged in: serial ports and USB devices, each by the name that outlives plugging in again.

A serial adapter with a serial number is named by it (``/dev/serial/by-id``); one without, whose by-id name
the next adapter of its make would take over, by the socket it sits in (``/dev/serial/by-path``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from serial.tools import list_ports

from tablectl.finder import Found

LINKS = Path("/dev/serial")

NO_LINK = (
    "it has no stable name here: install the udev rules that come with tablectl, or the next adapter that is "
    "plugged in may take this one's name"
)


def _links(folder: Path) -> dict[str, list[str]]:
    """Device file → its names in a folder of links."""
    found: dict[str, list[str]] = {}
    with suppress(OSError):
        for link in sorted(folder.iterdir()):
            found.setdefault(os.path.realpath(link), []).append(str(link))
    return found


def serial_ports(
    ports: Callable[[], Iterable[Any]] = list_ports.comports, links: Path = LINKS
) -> Iterator[Found]:
    """Every serial port: adapters, and ports of the machine's own that are there."""
    by_id, by_path = _links(links / "by-id"), _links(links / "by-path")
    there = sorted(ports(), key=lambda port: str(port.device))
    for port in there:
        node = os.path.realpath(port.device)
        if port.vid is None:
            yield Found(port.device, _about(port, "port of the machine"), line=True, node=port.device)
            continue
        usb = f"{port.vid:04x}:{port.pid:04x}"
        twins = [
            other.device for other in there if _looks(other) == _looks(port) and _unit(other) != _unit(port)
        ]
        names = [*by_id.get(node, ()), *by_path.get(node, ())]
        certain = by_id.get(node, []) if port.serial_number and not twins else by_path.get(node, [])
        device = certain[0] if certain else port.device
        troubles = []
        if twins:
            troubles.append(
                f"{', '.join(twins)} cannot be told from it: adapters of one make without serial numbers of "
                "their own; name it by its socket, and mark the socket"
            )
        if not certain:
            troubles.append(NO_LINK)
        yield Found(
            device,
            _about(port, "USB serial adapter"),
            line=True,
            node=port.device,
            usb=usb,
            serial=port.serial_number or "",
            others=tuple(name for name in names if name != device),
            troubles=tuple(troubles),
        )


def _about(port: Any, otherwise: str) -> str:
    texts = [port.manufacturer or "", port.product or ""]
    return " ".join(text for text in texts if text and text != "n/a") or otherwise


def _looks(port: Any) -> tuple[Any, ...]:
    return (port.vid, port.pid, port.serial_number)


def _unit(port: Any) -> str:
    # One adapter with several ports is one unit: its ports differ by the interface after the colon.
    return str(port.location or port.device).partition(":")[0]


def usb_devices(where: Any = None) -> Iterator[Found]:
    """Every USB device with a HID interface. Raises :class:`~tablectl.scanner.LinkFault`."""
    from tablectl_drivers import (
        usb_devices as usb,
    )  # pyusb is loaded by who looks for USB, and by nobody else

    found = [_Hid(usb, device) for device in usb.all_devices(usb.backend() if where is None else where)]
    there = [hid for hid in found if hid.is_hid]
    for hid in sorted(there, key=lambda hid: hid.path):
        yield hid.found([other.path for other in there if other is not hid and other.name == hid.name])


class _Hid:
    """One device on the bus. Only its texts need it opened, so what it is shows without permission too."""

    def __init__(self, usb: Any, device: Any) -> None:
        self.kind, self.path = f"{device.idVendor:04x}:{device.idProduct:04x}", usb.path_of(device)
        self.serial, self.about, self._trouble = "", "", ""
        try:
            interfaces = [interface for configuration in device for interface in configuration]
            hid = any(interface.bInterfaceClass == usb.HID_CLASS for interface in interfaces)
            self.is_hid = hid and bool(self.path)
            if self.is_hid:
                self.serial = usb.serial_of(device)
                self.about = usb.product_of(device)
        except (OSError, ValueError, NotImplementedError) as fault:
            self._trouble = str(usb.not_opened(f"usb:{self.kind}@{self.path}", fault))
        finally:
            usb.usb.util.dispose_resources(device)

    is_hid = False

    @property
    def name(self) -> str:
        return f"usb:{self.kind}:{self.serial}" if self.serial else ""

    def found(self, twins: list[str]) -> Found:
        """``twins``: sockets of devices with the same name."""
        by_path = f"usb:{self.kind}@{self.path}"
        troubles = [self._trouble] if self._trouble else []
        if self.name and twins:
            troubles.append(
                f"the device at {', '.join(twins)} has the same serial number; name it by its socket, and "
                "mark the socket"
            )
        names = [self.name, by_path] if self.name and not twins else [by_path]
        return Found(
            names[0],
            self.about or "USB device",
            line=False,
            usb=self.kind,
            serial=self.serial,
            others=tuple(names[1:]),
            troubles=tuple(troubles),
        )
