"""A HID scanner on USB, read through libusb, as a link the reader can wait on.

libusb offers nothing to wait on, so each open device has a small thread that asks its interrupt endpoint
for reports and puts them into a queue with an eventfd. A report comes out whole. The queue is bounded; a
reader that lets it fill has lost count of the cards, so a full queue is a lost scanner, never a dropped
report.
"""

from __future__ import annotations

import errno
import os
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import usb.core
import usb.util
from usb.backend import IBackend

from tablectl.scanner import Link, LinkFault
from tablectl_drivers import usb_devices
from tablectl_drivers.links_serial import PTY_SLAVE_MAJORS, SerialDefaults, SerialLink
from tablectl_drivers.usb_devices import Claimed

QUEUE = 1024
"""Reports that may wait for the reader."""

WAIT = 500
"""Milliseconds a read waits in vain: so often the thread looks whether it is to end.

Each such end cancels a transfer in the host controller, so it is not shorter than closing can bear.
"""

STALLS = 3
"""Stalls in a row after which the scanner is lost."""

_WRITE, _BEEP = 1000, 100  # ms
_JOIN = 5.0  # s
_SET_REPORT, _SET_IDLE, _SET_PROTOCOL = 0x09, 0x0A, 0x0B
_OUTPUT, _FEATURE = 2, 3
_CLASS_OUT, _STANDARD_IN = 0x21, 0x81
_GET_DESCRIPTOR, _REPORT_DESCRIPTOR = 0x06, 0x2200
_BAR_CODE_PAGE = (b"\x05\x8c", b"\x06\x8c\x00")


@dataclass(frozen=True, slots=True)
class Hid:
    """What a driver reads: reports of so many bytes, from a keyboard or from a bar-code scanner."""

    report: int
    keyboard: bool = False


def open_hid(device: str, hid: Hid) -> Link:
    """Open ``device``: a USB device's name, or on a test table the pseudo-terminal of an emulated scanner.

    Raises :class:`~tablectl.scanner.LinkFault`.
    """
    if not device.startswith("/"):
        return UsbLink(device, hid)
    with suppress(OSError, ValueError):  # said better by the opening
        if os.major(Path(device).stat().st_rdev) not in PTY_SLAVE_MAJORS:
            raise LinkFault(
                f"{device} is no HID scanner: name it usb:VVVV:PPPP:SERIAL or usb:VVVV:PPPP@BUS-PORT"
                " (`tablectl devices` shows the lines to paste)"
            )
    return SerialLink(device, {}, SerialDefaults(baud=9600))


class UsbLink:
    """An open HID scanner; see :class:`tablectl.scanner.Link`.

    Raises :class:`~tablectl.scanner.LinkFault` if it cannot be opened or is lost. The drivers of the
    kernel are taken off while it is open and given back at the end, also after a fault.
    """

    def __init__(self, device: str, hid: Hid, library: IBackend | None = None) -> None:
        self._hid = hid
        self._lock = threading.Lock()
        self._reports: deque[bytes] = deque()
        self._fault: LinkFault | None = None
        self._closing = False
        self._part = b""
        claimed = usb_devices.open_device(device, self._pick, where=library)
        self._claimed: Claimed | None = claimed
        self.identity: str = claimed.identity
        self.where: str = claimed.where
        self._number: int = claimed.interface.bInterfaceNumber
        self._usb = claimed.device
        try:
            self._point = usb_devices.endpoint(claimed.interface, usb.util.ENDPOINT_IN)
            self._out = usb_devices.endpoint(claimed.interface, usb.util.ENDPOINT_OUT)
            self._set_up()
            self._ready = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        except (OSError, ValueError, NotImplementedError) as fault:
            claimed.release()
            raise usb_devices.not_opened(device, fault) from fault
        self._thread = threading.Thread(target=self._main, name=f"usb {device}", daemon=True)
        self._thread.start()

    @property
    def vendor(self) -> int:
        """The vendor's number."""
        return int(self._usb.idVendor)

    # --- for the reader -------------------------------------------------------------------------

    def fileno(self) -> int:
        """An eventfd that is ready while reports wait, or once the scanner is lost; -1 once closed."""
        return self._ready

    def read(self) -> bytes:
        """The reports that have come, one behind the other; ``b""`` if none has.

        What came before a fault is handed over before it is raised.
        """
        with self._lock:
            if self._reports:
                reports = b"".join(self._reports)
                self._reports.clear()
                if self._fault is None:
                    os.eventfd_read(self._ready)
                return reports
        if self._fault is not None:
            raise self._fault
        return b""

    def write(self, data: bytes) -> None:
        """Send an output report, its number first: a beep.

        One that the scanner does not know or does not take at once is dropped: it reads on, and the
        caller, who has cards to hear of, does not wait for it.
        """
        try:
            if self._out is not None:
                self._usb.write(self._out.bEndpointAddress, data, _BEEP)
            else:
                self._set_report(_OUTPUT, data, _BEEP)
        except (OSError, ValueError, NotImplementedError) as fault:
            if not (usb_devices.timed_out(fault) or getattr(fault, "errno", None) == errno.EPIPE):
                raise usb_devices.lost(fault) from fault

    def feature(self, data: bytes) -> None:
        """Send a feature report, its number first; one that the scanner does not know is no fault."""
        try:
            self._set_report(_FEATURE, data, _WRITE)
        except OSError as fault:
            if fault.errno != errno.EPIPE:
                raise usb_devices.lost(fault) from fault

    def close(self) -> None:
        """End the thread and give the device back. Never raises; may be called twice."""
        claimed, self._claimed = self._claimed, None
        if claimed is None:
            return
        self._closing = True
        self._thread.join(_JOIN)
        if self._thread.is_alive():
            return  # a read that does not come back: what it uses is left to it rather than freed under it
        ready, self._ready = self._ready, -1
        claimed.release()
        with suppress(OSError):
            os.close(ready)

    # --- opening --------------------------------------------------------------------------------

    def _pick(self, interfaces: Sequence[Any]) -> Any:
        """The interface that is read: the keyboard, or the one that says it is a bar-code scanner."""
        able = [one for one in interfaces if usb_devices.endpoint(one, usb.util.ENDPOINT_IN) is not None]
        keyboards = [one for one in able if (one.bInterfaceSubClass, one.bInterfaceProtocol) == (1, 1)]
        if self._hid.keyboard:
            if not keyboards:
                raise LinkFault(
                    "this USB device is no keyboard: set the scanner to USB keyboard mode, or choose the"
                    " driver hid-pos"
                )
            return keyboards[0]
        others = [one for one in able if one.bInterfaceSubClass != 1]  # no keyboard and no mouse
        scanners = others if len(others) == 1 else [one for one in others if _is_scanner(one)]
        if not scanners:
            raise LinkFault(
                "this USB device has no bar-code interface: set the scanner to USB HID POS mode, or choose"
                " the driver hid-keyboard"
            )
        return scanners[0]

    def _set_up(self) -> None:
        """A keyboard is to send the eight bytes of the boot protocol, and only when a key changes."""
        if not self._hid.keyboard:
            return
        for request in (_SET_PROTOCOL, _SET_IDLE):
            try:
                self._usb.ctrl_transfer(_CLASS_OUT, request, 0, self._number, None, _WRITE)
            except OSError as fault:
                if fault.errno != errno.EPIPE:  # a keyboard may know neither
                    raise

    def _set_report(self, kind: int, data: bytes, wait: int) -> None:
        value = kind << 8 | data[0]
        self._usb.ctrl_transfer(_CLASS_OUT, _SET_REPORT, value, self._number, data, wait)

    # --- the thread -----------------------------------------------------------------------------

    def _main(self) -> None:
        try:
            self._read_all()
        except LinkFault as fault:
            self._end(fault)
        except Exception as fault:  # noqa: BLE001  whatever ends this thread, the reader must learn of it
            self._end(usb_devices.lost(fault))

    def _end(self, fault: LinkFault) -> None:
        with self._lock:
            self._fault = fault
            os.eventfd_write(self._ready, 1)

    def _read_all(self) -> None:
        packet = max(1, self._point.wMaxPacketSize & 0x7FF)
        # A whole number of packets: a buffer that ends within one is an overflow (errno 75).
        size = -(-self._hid.report // packet) * packet
        stalls = 0
        while not self._closing:
            try:
                data = self._usb.read(self._point.bEndpointAddress, size, WAIT).tobytes()
            except usb.core.USBError as fault:
                if usb_devices.timed_out(fault):
                    stalls = 0
                    self._take(b"", packet)  # what came before the pause was all of its report
                elif fault.errno == errno.EPIPE and stalls < STALLS - 1:
                    stalls += 1
                    if stalls == 1:
                        self._usb.clear_halt(self._point.bEndpointAddress)
                elif fault.errno != errno.EINTR:
                    raise
            else:
                stalls = 0
                self._take(data, packet)

    def _take(self, data: bytes, packet: int) -> None:
        """Queue the report that ends with ``data``; a time-out may have cut it between two packets."""
        self._part += data
        goes_on = data and len(data) % packet == 0 and len(self._part) < self._hid.report
        if not self._part or goes_on:
            return
        report, self._part = self._part, b""
        if len(report) > self._hid.report:
            raise LinkFault(
                f"scanner lost: it sends reports of {len(report)} bytes, {self._hid.report} are expected;"
                " check its mode and the driver"
            )
        with self._lock:
            if len(self._reports) >= QUEUE:
                raise LinkFault(
                    f"scanner lost: {QUEUE} reports came and were not taken; cards may be missing"
                )
            # A report may leave out its zeros at the end; the next one must begin where it belongs.
            self._reports.append(report.ljust(self._hid.report, b"\0"))
            os.eventfd_write(self._ready, 1)


def _is_scanner(interface: Any) -> bool:
    """Whether the interface's own description begins with the usage page of bar-code scanners."""
    try:
        told = interface.device.ctrl_transfer(
            _STANDARD_IN, _GET_DESCRIPTOR, _REPORT_DESCRIPTOR, interface.bInterfaceNumber, 64, _WRITE
        ).tobytes()
    except OSError:
        return False
    return bool(told.startswith(_BAR_CODE_PAGE))
