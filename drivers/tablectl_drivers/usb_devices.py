"""USB devices: found by name, never "the first", taken from the kernel and given back.

Whatever goes wrong is a :class:`~tablectl.scanner.LinkFault` that says the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import usb.backend.libusb1
import usb.core
import usb.util
from usb.backend import IBackend

from tablectl.scanner import LinkFault, LinkRefused
from tablectl_drivers.usb_names import UsbName, lost, not_opened, parse_name, timed_out

__all__ = [
    "Claimed",
    "UsbName",
    "all_devices",
    "backend",
    "endpoint",
    "find",
    "hid_interfaces",
    "identify",
    "lost",
    "not_opened",
    "open_device",
    "parse_name",
    "path_of",
    "product_of",
    "serial_of",
    "timed_out",
]

HID_CLASS = 3

_ENGLISH = 0x0409

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
        usb.util.dispose_resources(there)
        raise LinkRefused(
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
        raise LinkRefused(
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
        self._numbers: list[int] = []
        self._detached: list[int] = []
        try:
            self._detach()
            self._configure()
            self.interface = pick(hid_interfaces(device))
            usb.util.claim_interface(device, self.interface.bInterfaceNumber)
            self.identity = identify(device)
            # The address is another one each time it is plugged in; lsusb shows it.
            self.where = f"{path_of(device)} (bus {device.bus}, device {device.address})"
        except Exception as fault:
            self.release()
            if isinstance(fault, LinkFault | OSError | ValueError | NotImplementedError):
                raise not_opened(name, fault, what) from fault
            raise

    def _detach(self) -> None:
        # Every interface, not only the one wanted: a driver on any of them makes the device busy (errno 16)
        # when it is configured.
        self._numbers = sorted({interface.bInterfaceNumber for interface in _configuration(self.device)})
        for number in self._numbers:
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
        # At first through the handle in use. A fault may have left its claims, which end with it: then anew.
        for _ in range(2):
            for number in self._numbers:
                _tried(usb.util.release_interface, self.device, number)
            self._detached = [
                number for number in self._detached if not _tried(self.device.attach_kernel_driver, number)
            ]
            _tried(usb.util.dispose_resources, self.device)
            if not self._detached:
                break
        self._numbers, self._detached = [], []


def _tried(call: Callable[..., object], *given: object) -> bool:
    """Whether it went well. Giving back what was pulled out does not."""
    try:
        call(*given)
    except (OSError, NotImplementedError):
        return False
    return True


def identify(device: Any) -> str:
    """Which device it is, whatever its address is today: serial number, or else socket, and its own name."""
    serial = ""
    with suppress(usb.core.USBError, ValueError):
        serial = serial_of(device)
    name = UsbName(device.idVendor, device.idProduct, serial, "" if serial else path_of(device))
    return f"{name} {product_of(device)[:64]}".rstrip()


def open_device(
    text: str, pick: Callable[[Sequence[Any]], Any], what: str = "scanner", where: IBackend | None = None
) -> Claimed:
    """Find and claim the device that ``text`` names. Raises :class:`~tablectl.scanner.LinkFault`."""
    try:
        name = parse_name(text)
    except ValueError as fault:
        raise LinkFault(str(fault)) from None
    return Claimed(name, find(name, where or backend(), what), pick, what)
