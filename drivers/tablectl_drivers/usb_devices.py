"""USB devices: found by name, never "the first", taken from the kernel and given back.

A device is named by what stays when it is plugged in again: its serial number, or, for one that has
none, the socket it sits in.

    usb:0c2e:0b61:18113B0A21     vendor, product (hex, as lsusb shows them), serial number
    usb:0c2e:0b61@1-1.2          vendor, product, and the socket as in /sys/bus/usb/devices

Whatever goes wrong is a :class:`~tablectl.scanner.LinkFault` that says the way out. Errors are told by
their number, never by their text: it differs from system to system.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import usb.backend.libusb1
import usb.core
import usb.util
from usb.backend import IBackend

from tablectl.scanner import LinkFault

GROUP = "dialout"
"""The group that the udev rules give USB devices to."""

UDEV_RULES = "70-tablectl.rules"
"""The file of udev rules that comes with the project."""

HID_CLASS = 3

_TIME_OUTS = frozenset({errno.ETIMEDOUT, 110, 60, 10060})
_LIBUSB_TIME_OUT = -7
_GONE = frozenset({errno.ENODEV, errno.EIO, errno.ENXIO, errno.ESHUTDOWN, errno.EPROTO, errno.ENOENT})
_ENGLISH = 0x0409
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
            return LinkFault(
                f"no permission to use {name}: the service's user must be in the group {GROUP}, and the udev"
                f" rules that come with tablectl ({UDEV_RULES}) must be installed"
            )
        case OSError(errno=errno.EBUSY):
            return LinkFault(
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


# --- finding --------------------------------------------------------------------------------------


def backend() -> IBackend:
    """libusb: the system's, or the one of the package ``libusb-package`` where the system has none.

    Raises :class:`~tablectl.scanner.LinkFault` if neither works here.
    """
    found = usb.backend.libusb1.get_backend() or _packaged()
    if found is None:
        raise LinkFault(
            "no USB on this machine: libusb is missing or finds no USB bus (Debian: apt-get install"
            " libusb-1.0-0)"
        )
    return found


def _packaged() -> IBackend | None:
    try:
        import libusb_package
    except ImportError:
        return None
    return usb.backend.libusb1.get_backend(find_library=libusb_package.find_library)


def path_of(device: Any) -> str:
    """The socket of ``device``, for example ``1-1.2``; ``""`` for a root hub."""
    ports = ".".join(map(str, device.port_numbers or ()))
    return f"{device.bus}-{ports}" if ports else ""


def text_of(device: Any, index: int) -> str:
    """A text the device tells of itself, ``""`` for none. Raises :class:`usb.core.USBError`."""
    if not index:
        return ""
    # Some devices have texts but no list of languages.
    language = device.langids[0] if device.langids else _ENGLISH
    text = usb.util.get_string(device, index, language) or ""
    return "".join(char for char in text if char.isprintable()).strip()


def serial_of(device: Any) -> str:
    """The serial number of ``device``, ``""`` for none. Raises :class:`usb.core.USBError`."""
    return text_of(device, device.iSerialNumber)


def product_of(device: Any) -> str:
    """What the device calls itself, ``""`` if it does not say."""
    with suppress(usb.core.USBError, ValueError):
        return text_of(device, device.iProduct)
    return ""


def all_devices(where: IBackend) -> list[Any]:
    """Every device plugged in, hubs too. Raises :class:`~tablectl.scanner.LinkFault`."""
    try:
        return list(usb.core.find(find_all=True, backend=where))
    except (usb.core.USBError, NotImplementedError, ValueError) as fault:
        raise LinkFault(f"the USB bus cannot be read: {fault or type(fault).__name__}") from fault


def find(name: UsbName, where: IBackend, what: str = "scanner") -> Any:
    """The one device ``name`` means, as it is plugged in now. Raises :class:`~tablectl.scanner.LinkFault`.

    Looked for afresh at every call: a device that was plugged in again has another address.
    """
    devices = all_devices(where)
    return _by_path(name, devices, what) if name.path else _by_serial(name, devices, what)


def _is(device: Any, name: UsbName) -> bool:
    return bool(device.idVendor == name.vendor and device.idProduct == name.product)


def _none(name: UsbName, what: str, hint: str = "") -> LinkFault:
    return LinkFault(f"no {what} at {name}: check its cable and power{hint} (technician: `tablectl devices`)")


def _by_path(name: UsbName, devices: Iterable[Any], what: str) -> Any:
    there = next((device for device in devices if path_of(device) == name.path), None)
    if there is None:
        raise _none(name, what)
    if not _is(there, name):
        other = f"{there.idVendor:04x}:{there.idProduct:04x} {product_of(there)}".strip()
        raise LinkFault(
            f"another device is in its place: {other} at {name.path}, where {name.kind} is expected; plug the"
            f" {what} into its own socket, or name the new one (technician: `tablectl devices`)"
        )
    return there


def _by_serial(name: UsbName, devices: Iterable[Any], what: str) -> Any:
    alike = [device for device in devices if _is(device, name)]
    found, others, unread = [], [], None
    for device in alike:
        try:
            serial = serial_of(device)
        except (usb.core.USBError, ValueError) as fault:
            unread = fault
            continue
        finally:
            usb.util.dispose_resources(device)
        if serial == name.serial:
            found.append(device)
        else:
            others.append(serial or f"none, at {path_of(device)}")
    if len(found) > 1:
        sockets = ", ".join(sorted(map(path_of, found)))
        raise LinkFault(
            f"{name} is ambiguous: the devices at {sockets} have the same serial number; name the {what} by"
            f" its socket, usb:{name.kind}@{path_of(found[0])}"
        )
    if found:
        return found[0]
    if unread is not None:
        # The one looked for may be the one that would not tell its number.
        raise not_opened(name, unread, what) from unread
    hint = f"; of that make there is another, serial number {', '.join(others)}" if others else ""
    raise _none(name, what, hint)


# --- claiming -------------------------------------------------------------------------------------


def hid_interfaces(device: Any) -> list[Any]:
    """The HID interfaces of the configuration in use. Raises :class:`usb.core.USBError`."""
    return [
        interface
        for interface in _configuration(device)
        if interface.bInterfaceClass == HID_CLASS and interface.bAlternateSetting == 0
    ]


def endpoint(interface: Any, direction: int) -> Any:
    """The first interrupt endpoint of ``interface`` in that direction, or None."""
    return usb.util.find_descriptor(
        interface,
        custom_match=lambda point: (
            usb.util.endpoint_direction(point.bEndpointAddress) == direction
            and usb.util.endpoint_type(point.bmAttributes) == usb.util.ENDPOINT_TYPE_INTR
        ),
    )


def _configuration(device: Any) -> Any:
    """The configuration in use, or the first where none is set."""
    try:
        return device.get_active_configuration()
    except usb.core.USBError as fault:
        if not _unset(fault):
            raise
        return device[0]


def _unset(fault: usb.core.USBError) -> bool:
    """Whether pyusb means: no configuration is set. It gives no number then."""
    return fault.errno is None and fault.backend_error_code is None


class Claimed:
    """A device with one interface taken for this process alone; :meth:`release` gives it back.

    ``pick`` chooses among the HID interfaces; it may talk to the device and may raise
    :class:`~tablectl.scanner.LinkFault`. Raises that if anything fails, with all given back.
    """

    def __init__(
        self, name: UsbName, device: Any, pick: Callable[[Sequence[Any]], Any], what: str = "scanner"
    ) -> None:
        self.device = device
        self._detached: list[int] = []
        try:
            self._detach()
            self._configure()
            self.interface = pick(hid_interfaces(device))
            usb.util.claim_interface(device, self.interface.bInterfaceNumber)
            self.identity = _identify(name, device)
        except Exception as fault:
            self.release()
            if isinstance(fault, LinkFault | OSError | ValueError | NotImplementedError):
                raise not_opened(name, fault, what) from fault
            raise

    def _detach(self) -> None:
        # Every interface, not only the one wanted: a driver on any of them makes the device busy (errno 16)
        # when it is configured.
        for number in sorted({interface.bInterfaceNumber for interface in _configuration(self.device)}):
            with suppress(NotImplementedError):  # a system whose drivers cannot be taken off
                if self.device.is_kernel_driver_active(number):
                    self.device.detach_kernel_driver(number)
                    self._detached.append(number)

    def _configure(self) -> None:
        try:
            self.device.get_active_configuration()
        except usb.core.USBError as fault:
            if not _unset(fault):
                raise
            # Only where none is set: to set it once more would make the device forget where it was.
            self.device.set_configuration()

    def release(self) -> None:
        """Give the device back to the kernel. Never raises; may be called twice."""
        self._close()  # first: a driver is given no interface that is still claimed
        while self._detached:
            with suppress(OSError, NotImplementedError):  # unplugged, or a driver is back already
                self.device.attach_kernel_driver(self._detached.pop())
        self._close()

    def _close(self) -> None:
        with suppress(OSError, NotImplementedError):
            usb.util.dispose_resources(self.device)


def _identify(name: UsbName, device: Any) -> str:
    """``name`` as it is written, with what the device tells of itself: another in its place differs."""
    serial = ""
    if name.path:
        with suppress(usb.core.USBError, ValueError):
            serial = serial_of(device)
    told = ", ".join(filter(None, (product_of(device), serial and f"serial number {serial}")))
    return f"{name} ({told})" if told else str(name)


def open_device(
    text: str, pick: Callable[[Sequence[Any]], Any], what: str = "scanner", where: IBackend | None = None
) -> Claimed:
    """Find and claim the device that ``text`` names. Raises :class:`~tablectl.scanner.LinkFault`."""
    try:
        name = parse_name(text)
    except ValueError as fault:
        raise LinkFault(str(fault)) from None
    return Claimed(name, find(name, where or backend(), what), pick, what)
