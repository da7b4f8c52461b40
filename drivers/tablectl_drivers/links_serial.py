"""A serial port: adapter, on-board port or pseudo-terminal, opened raw and for one reader only.

An unplugged adapter shows up as any of several exception classes at any call (pyserial issues 297,
341, 401, 417); all mean one thing here: lost.
"""

from __future__ import annotations

import errno
import fcntl
import os
import termios
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import serial
from serial.tools import list_ports

from tablectl.scanner import LinkFault, LinkRefused

# SerialException is an OSError; termios.error is not. ValueError and TypeError are what pyserial
# raises on a port that has just been closed under it.
GONE = (OSError, termios.error, ValueError, TypeError)

_BY_SERIAL = ("/by-id/", "/by-serial/")
"""Folders of links named by what an adapter tells of itself: systemd's, and that of our udev rules."""

_READ_AT_MOST = 4096
PTY_SLAVE_MAJORS = range(136, 144)


@dataclass(frozen=True, slots=True)
class SerialDefaults:
    """The line settings of a protocol, used where the configuration does not say otherwise."""

    baud: int
    bytesize: int = 8
    parity: str = "N"
    stopbits: float = 1


def lost(fault: BaseException) -> LinkFault:
    """The fault of an open port, in words for the dealer."""
    match fault:
        case OSError(errno=errno.EIO | errno.ENXIO | errno.ENODEV):
            return LinkFault("scanner lost: unplugged, or its power is off; check the cable")
        case _:
            return LinkFault(f"scanner lost: {fault}; check the cable")


class _Port(serial.Serial):
    """pyserial's port, but one that does not throw away what waited in the line.

    Old scans are heard while the line settles and discarded by name, so that they can be found later.
    """

    def _reset_input_buffer(self) -> None:
        """Called by ``open``."""


class SerialLink:
    """An open serial port. Raises :class:`~tablectl.scanner.LinkFault` if it cannot be opened or is lost."""

    def __init__(self, device: str, settings: Mapping[str, Any], defaults: SerialDefaults) -> None:
        refuse_ambiguous(device)
        port = _Port()  # without a port name it is configured but not yet opened
        try:
            port.port = device
            port.baudrate = settings.get("baud", defaults.baud)
            port.bytesize = settings.get("bytesize", defaults.bytesize)
            port.parity = settings.get("parity", defaults.parity)
            port.stopbits = settings.get("stopbits", defaults.stopbits)
            port.timeout = 0
            port.write_timeout = 1.0
            port.exclusive = True
            # Set before open: a pulse on these lines resets some devices.
            if "dtr" in settings:
                port.dtr = settings["dtr"]
            if "rts" in settings:
                port.rts = settings["rts"]
            port.open()
        except GONE as fault:
            raise _not_opened(device, fault) from fault
        self._port = port
        try:
            _claim(port.fileno())
            # By what was really opened: the name may lead elsewhere by now.
            self.where = os.path.realpath(f"/proc/self/fd/{port.fileno()}")
            self.identity = identify(device, self.where)
        except LinkFault:
            self.close()
            raise
        except GONE as fault:
            self.close()
            raise _not_opened(device, fault) from fault

    def fileno(self) -> int:
        """The descriptor to wait on."""
        try:
            return int(self._port.fileno())
        except GONE as fault:
            raise lost(fault) from fault

    def read(self) -> bytes:
        """What has arrived, without waiting; ``b""`` if nothing has, or if the port is dead."""
        try:
            # Not through pyserial: its `in_waiting` and `read` make four calls of this one, on the way
            # of every card. The descriptor is its own and never blocks.
            return os.read(self._port.fileno(), _READ_AT_MOST)
        except BlockingIOError:
            return b""
        except GONE as fault:
            raise lost(fault) from fault

    def write(self, data: bytes) -> None:
        """Send all of ``data``, within a second."""
        try:
            self._port.write(data)
        except GONE as fault:
            raise lost(fault) from fault

    def close(self) -> None:
        """Give the port back; never raises."""
        port = self._port
        with suppress(*GONE):
            fcntl.ioctl(port.fileno(), termios.TIOCNXCL)
        try:
            port.close()
        except GONE:
            _abandon(port)


def _claim(fd: int) -> None:
    """Make the opened port ours alone and wholly raw: what pyserial's exclusive lock leaves open."""
    attributes = termios.tcgetattr(fd)
    attributes[0] &= ~(termios.BRKINT | termios.IGNPAR)
    termios.tcsetattr(fd, termios.TCSANOW, attributes)
    # The kernel keeps this mark on a pseudo-terminal as long as its master lives, so a daemon that was
    # killed could never open it again; there the lock (which dies with its holder) must do.
    if os.major(os.fstat(fd).st_rdev) not in PTY_SLAVE_MAJORS:
        fcntl.ioctl(fd, termios.TIOCEXCL)


def _abandon(port: Any) -> None:
    """Free what a failed ``close`` of pyserial leaves, so that its finalizer closes no reused number."""
    for name in ("pipe_abort_read_r", "pipe_abort_read_w", "pipe_abort_write_r", "pipe_abort_write_w"):
        fd = getattr(port, name, None)
        if isinstance(fd, int):
            with suppress(OSError):
                os.close(fd)
            setattr(port, name, None)
    port.fd = None  # on Linux the number is free even when close reports an error
    port.is_open = False


def _not_opened(device: str, fault: BaseException) -> LinkFault:
    match fault:
        case OSError(errno=errno.ENOENT | errno.ENXIO | errno.ENODEV | errno.EIO):
            return LinkFault(
                f"no scanner at {device}: check its cable and power (technician: ls -l /dev/serial/by-id)"
            )
        case OSError(errno=errno.EACCES | errno.EPERM):
            return LinkRefused(
                f"no permission to open {device}: the service's user must be in the group dialout, and the"
                " udev rules that come with tablectl must be installed"
            )
        case OSError(errno=errno.EBUSY | errno.EAGAIN):
            return LinkRefused(
                f"{device} is in use: {_holder(device)} has it open (another controller, a terminal program,"
                " ModemManager or brltty); only one may read a scanner"
            )
        case _:
            return LinkFault(f"{device} cannot be opened as a serial port: {fault}")


def _holder(device: str) -> str:
    """The process that has locked the device, by number and name, as far as the kernel tells anybody."""
    try:
        at = Path(device).stat()
        place = f"{os.major(at.st_dev):02x}:{os.minor(at.st_dev):02x}:{at.st_ino}"
        for line in Path("/proc/locks").read_text("ascii").splitlines():
            match line.split():
                case [_, "FLOCK", _, _, pid, where, *_] if where == place:
                    name = Path("/proc", pid, "comm").read_text("utf-8", "replace")
                    return f"process {pid} ({_plain(name)})"
    except (OSError, ValueError):
        pass  # it is gone by now, or of another container
    return "another reader"


Ports = Callable[[], Iterable[Any]]
"""Every serial port of this machine, with what USB tells of it (:mod:`serial.tools.list_ports`)."""


def _adapters(ports: Ports) -> list[Any]:
    """The USB ports among ``ports``. The list cannot be made while something is being unplugged."""
    try:
        return [port for port in ports() if port.vid is not None]
    except (OSError, TypeError, ValueError) as fault:
        raise LinkFault(f"the USB devices are changing just now ({fault}); it is tried again") from fault


def _unit(port: Any) -> str:
    """One adapter with several ports is one unit: its ports differ by the interface after the colon."""
    return str(port.location or port.device).partition(":")[0]


def refuse_ambiguous(device: str, ports: Ports = list_ports.comports) -> None:
    """Refuse a name by serial number that two adapters share.

    Adapters without a serial number (CH340, PL2303) get the same name; the last one plugged in owns
    it, so opening it would be a guess. Raises :class:`~tablectl.scanner.LinkFault`.
    """
    if not any(kind in device for kind in _BY_SERIAL) or not Path(device).exists():
        return
    real = os.path.realpath(device)
    found = _adapters(ports)
    mine = next((port for port in found if port.device == real), None)
    if mine is None:
        return

    def looks(port: Any) -> tuple[Any, ...]:
        return (port.vid, port.pid, port.serial_number)

    twins = [port.device for port in found if looks(port) == looks(mine) and _unit(port) != _unit(mine)]
    if twins:
        raise LinkRefused(
            f"{device} is ambiguous: {real} and {', '.join(twins)} are adapters that cannot be told apart;"
            " name this one by its socket, /dev/serial/by-path/…"
        )


def identify(device: str, real: str, ports: Ports = list_ports.comports) -> str:
    """Which device hangs at ``real``, whatever its number is today; ``device`` if the system cannot tell.

    ``usb:VVVV:PPPP:SERIAL (PRODUCT)``, or ``usb:VVVV:PPPP@SOCKET (PRODUCT)`` for an adapter without a serial
    number: such a one is known by its socket only. ``,if1`` or ``,port1`` is behind it where one adapter
    has several ports.
    """
    port = next((port for port in _adapters(ports) if port.device == real), None)
    if port is None:
        return device  # an on-board port or a pseudo-terminal
    serial_number = _plain(port.serial_number)
    unit = f":{serial_number}" if serial_number else f"@{_socket(port)}"
    interface = str(port.location or "").partition(":")[2].rpartition(".")[2]
    number = _port_number(port)
    parts = (f",if{interface}" if interface else "") + (f",port{number}" if number not in ("", "0") else "")
    product = _plain(port.product)
    return f"usb:{port.vid:04x}:{port.pid:04x}{unit}{parts}" + (f" ({product})" if product else "")


def _plain(text: str | None) -> str:
    """A text of the device as one short word or line: whatever it is, people and logs get to see it."""
    return "".join(c if c.isprintable() else "?" for c in (text or "").strip())[:64]


def _socket(port: Any) -> str:
    """Where an adapter is plugged in: host controller and port, which do not change with the bus's number."""
    path = Path(getattr(port, "usb_device_path", None) or "")
    for above in path.parents:
        if above.name.startswith("usb") and above.name[3:].isdigit():
            return f"{above.parent.name}-usb-0:{path.name.partition('-')[2]}"
    return _unit(port)


def _port_number(port: Any) -> str:
    """Which port of an adapter that has several behind one interface; empty if it does not say."""
    with suppress(OSError):
        return Path(getattr(port, "device_path", None) or "/-", "port_number").read_text("ascii").strip()
    return ""
