"""A USB bus that is not there: devices to plug in and pull out, and faults at any call.

It stands under pyusb as its backend, so everything above is the real thing. A device answers as the
kernel would have it: an interface held by a driver or another program is busy, a report too big for the
buffer is an overflow, and whatever is asked of a device that was pulled out fails with errno 19.
"""

from __future__ import annotations

import errno
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import usb.core
from usb.backend import IBackend

LIBUSB_TIME_OUT = -7

_ENGLISH = 0x0409
_GET_DESCRIPTOR, _STRING, _REPORT = 6, 3, 0x22


@dataclass
class FakeInterface:
    """One HID interface with its interrupt endpoints; ``out`` None: it has none to write to."""

    number: int = 0
    boot_keyboard: bool = False
    descriptor: bytes = b"\x05\x8c\x09\x02\xa1\x01"
    """The report descriptor; by default that of a bar-code scanner."""
    packet: int = 64
    point: int = 0x81
    out: int | None = None
    driver: bool = True
    """Whether a driver of the kernel holds it."""


@dataclass(eq=False)
class FakeDevice:
    """A device, and what has been done to it.

    ``calls`` lists every backend call but reads that waited in vain; ``sent`` what was written, as (kind,
    bytes): ``out`` an endpoint, ``output`` and ``feature`` a report on the control pipe.
    """

    vendor: int = 0x0C2E
    product: int = 0x0B61
    serial: str = ""
    name: str = "Scanner"
    interfaces: list[FakeInterface] = field(default_factory=lambda: [FakeInterface()])
    configuration: int = 1
    """The one that is set; 0: none."""
    languages: tuple[int, ...] = (_ENGLISH,)

    def __post_init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.sent: list[tuple[str, bytes]] = []
        self.waits = 0
        """Reads that waited in vain."""
        self.handles = 0
        """How often it is open now."""
        self.plugged = False
        self.bus, self.address = 1, 0
        self.ports: tuple[int, ...] = (1,)
        self.changed = threading.Condition()
        self.packets: dict[int, deque[bytes]] = {}
        self._faults: dict[str, deque[Exception]] = {}
        self.holders: dict[int, object] = {}

    def say(self, report: bytes, point: int | None = None) -> None:
        """The device sends ``report``: the host's next read gets it."""
        with self.changed:
            interface = self.interfaces[0]
            at = interface.point if point is None else point
            size = next(one.packet for one in self.interfaces if one.point == at)
            queue = self.packets.setdefault(at, deque())
            queue.extend(report[i : i + size] for i in range(0, len(report), size))
            self.changed.notify_all()

    def fail(self, call: str, *faults: Exception | int) -> None:
        """The next calls of ``call`` fail: with these exceptions, or those of such errno."""
        with self.changed:
            queue = self._faults.setdefault(call, deque())
            queue.extend(usb_error(one) if isinstance(one, int) else one for one in faults)
            self.changed.notify_all()

    def fault(self, call: str) -> Exception | None:
        """What the next ``call`` fails with, once."""
        queue = self._faults.get(call)
        return queue.popleft() if queue else None


def usb_error(number: int | None, code: int | None = None) -> Exception:
    """An error as a backend raises it. Its text says nothing: it differs from system to system."""
    kind = usb.core.USBTimeoutError if number == errno.ETIMEDOUT else usb.core.USBError
    error: Exception = kind("(text of the system)", code, number)
    return error


class FakeBus(IBackend):  # type: ignore[misc]
    """The bus. ``hurry`` divides the time a read waits in vain; infinite: not at all."""

    def __init__(self, hurry: float = 1.0) -> None:
        super().__init__()
        self._devices: list[FakeDevice] = []
        self._hurry = hurry
        self._next_address = 1
        self._lock = threading.Lock()

    def plug(self, device: FakeDevice, path: str = "1-1") -> FakeDevice:
        """Put ``device`` into the socket ``path``; it gets a new address."""
        with self._lock:
            bus, _, ports = path.partition("-")
            device.bus, device.ports = int(bus), tuple(map(int, ports.split(".")))
            device.address, self._next_address = self._next_address, self._next_address + 1
            device.plugged = True
            device.holders.clear()
            for interface in device.interfaces:
                interface.driver = True
            device.packets.clear()
            self._devices.append(device)
        return device

    def unplug(self, device: FakeDevice) -> None:
        """Pull it out, also in the middle of a read."""
        with self._lock:
            self._devices.remove(device)
        with device.changed:
            device.plugged = False
            device.changed.notify_all()

    # --- what pyusb asks for --------------------------------------------------------------------

    def enumerate_devices(self) -> Iterator[FakeDevice]:
        with self._lock:
            return iter(list(self._devices))

    def get_parent(self, dev: FakeDevice) -> None:
        return None

    def get_device_descriptor(self, dev: FakeDevice) -> Any:
        return SimpleNamespace(
            bLength=18,
            bDescriptorType=1,
            bcdUSB=0x0200,
            bDeviceClass=0,
            bDeviceSubClass=0,
            bDeviceProtocol=0,
            bMaxPacketSize0=64,
            idVendor=dev.vendor,
            idProduct=dev.product,
            bcdDevice=0x0100,
            iManufacturer=0,
            iProduct=2 if dev.name else 0,
            iSerialNumber=3 if dev.serial else 0,
            bNumConfigurations=1,
            address=dev.address,
            bus=dev.bus,
            port_number=dev.ports[-1],
            port_numbers=dev.ports,
            speed=2,
        )

    def get_configuration_descriptor(self, dev: FakeDevice, config: int) -> Any:
        if config:
            raise IndexError(config)
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=2,
            wTotalLength=0,
            bNumInterfaces=len(dev.interfaces),
            bConfigurationValue=1,
            iConfiguration=0,
            bmAttributes=0x80,
            bMaxPower=50,
            extra_descriptors=[],
        )

    def get_interface_descriptor(self, dev: FakeDevice, intf: int, alt: int, config: int) -> Any:
        if alt or config:
            raise IndexError(alt)
        interface = dev.interfaces[intf]
        boot = int(interface.boot_keyboard)
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=4,
            bInterfaceNumber=interface.number,
            bAlternateSetting=0,
            bNumEndpoints=len(self._points(interface)),
            bInterfaceClass=3,
            bInterfaceSubClass=boot,
            bInterfaceProtocol=boot,
            iInterface=0,
            extra_descriptors=[],
        )

    @staticmethod
    def _points(interface: FakeInterface) -> list[int]:
        return [interface.point, *([] if interface.out is None else [interface.out])]

    def get_endpoint_descriptor(self, dev: FakeDevice, ep: int, intf: int, alt: int, config: int) -> Any:
        interface = dev.interfaces[intf]
        return SimpleNamespace(
            bLength=7,
            bDescriptorType=5,
            bEndpointAddress=self._points(interface)[ep],
            bmAttributes=3,
            wMaxPacketSize=interface.packet,
            bInterval=4,
            bRefresh=0,
            bSynchAddress=0,
            extra_descriptors=[],
        )

    def open_device(self, dev: FakeDevice) -> _Handle:
        self._call(dev, "open_device")
        dev.handles += 1
        return _Handle(dev)

    def close_device(self, dev_handle: _Handle) -> None:
        dev = dev_handle.device
        dev.calls.append(("close_device",))
        dev.handles -= 1
        dev.holders = {number: who for number, who in dev.holders.items() if who is not dev_handle}

    def get_configuration(self, dev_handle: _Handle) -> int:
        self._call(dev_handle.device, "get_configuration")
        return dev_handle.device.configuration

    def set_configuration(self, dev_handle: _Handle, config_value: int) -> None:
        dev = dev_handle.device
        self._call(dev, "set_configuration", config_value)
        if dev.holders or any(interface.driver for interface in dev.interfaces):
            raise usb_error(errno.EBUSY)
        dev.configuration = config_value

    def claim_interface(self, dev_handle: _Handle, intf: int) -> None:
        dev = dev_handle.device
        self._call(dev, "claim_interface", intf)
        if _interface(dev, intf).driver or dev.holders.get(intf, dev_handle) is not dev_handle:
            raise usb_error(errno.EBUSY)
        dev.holders[intf] = dev_handle

    def release_interface(self, dev_handle: _Handle, intf: int) -> None:
        self._call(dev_handle.device, "release_interface", intf)
        dev_handle.device.holders.pop(intf, None)

    def is_kernel_driver_active(self, dev_handle: _Handle, intf: int) -> bool:
        self._call(dev_handle.device, "is_kernel_driver_active", intf)
        return _interface(dev_handle.device, intf).driver

    def detach_kernel_driver(self, dev_handle: _Handle, intf: int) -> None:
        self._call(dev_handle.device, "detach_kernel_driver", intf)
        _interface(dev_handle.device, intf).driver = False

    def attach_kernel_driver(self, dev_handle: _Handle, intf: int) -> None:
        dev = dev_handle.device
        self._call(dev, "attach_kernel_driver", intf)
        if intf in dev.holders:
            raise usb_error(errno.EBUSY)
        _interface(dev, intf).driver = True

    def clear_halt(self, dev_handle: _Handle, ep: int) -> None:
        self._call(dev_handle.device, "clear_halt", ep)

    def reset_device(self, dev_handle: _Handle) -> None:
        self._call(dev_handle.device, "reset_device")

    def intr_read(self, dev_handle: _Handle, ep: int, intf: int, buff: Any, timeout: int) -> int:
        dev, size = dev_handle.device, len(buff)
        packet = next(one.packet for one in dev.interfaces if one.point == ep)
        queue = dev.packets.setdefault(ep, deque())
        got = b""
        with dev.changed:
            while len(got) < size:
                if not dev.changed.wait_for(self._stirs(dev, queue), timeout / 1000 / self._hurry):
                    break
                if not dev.plugged or dev._faults.get("intr_read"):
                    self._call(dev, "intr_read", intf)
                if len(got) + len(queue[0]) > size:
                    queue.popleft()
                    raise usb_error(errno.EOVERFLOW)
                piece = queue.popleft()
                got += piece
                if len(piece) < packet:
                    break
            if not got:
                dev.waits += 1
                raise usb_error(errno.ETIMEDOUT, LIBUSB_TIME_OUT)
        buff[: len(got)] = type(buff)("B", got)
        return len(got)

    @staticmethod
    def _stirs(dev: FakeDevice, queue: deque[bytes]) -> Callable[[], bool]:
        return lambda: bool(queue) or not dev.plugged or bool(dev._faults.get("intr_read"))

    def intr_write(self, dev_handle: _Handle, ep: int, intf: int, data: Any, timeout: int) -> int:
        self._call(dev_handle.device, "intr_write", ep)
        dev_handle.device.sent.append(("out", bytes(data)))
        return len(data)

    def ctrl_transfer(
        self,
        dev_handle: _Handle,
        bmRequestType: int,  # noqa: N803  names of the USB standard, as pyusb passes them
        bRequest: int,  # noqa: N803
        wValue: int,  # noqa: N803
        wIndex: int,  # noqa: N803
        data: Any,
        timeout: int,
    ) -> int:
        dev = dev_handle.device
        self._call(dev, "ctrl_transfer", bmRequestType, bRequest, wValue, wIndex)
        if bmRequestType & 0x80:
            answer = self._answer(dev, bRequest, wValue, wIndex)[: len(data)]
            data[: len(answer)] = type(data)("B", answer)
            return len(answer)
        if bRequest == 0x09:
            kind = {2: "output", 3: "feature"}[wValue >> 8]
            dev.sent.append((kind, bytes(data)))
        return len(data)

    @staticmethod
    def _answer(dev: FakeDevice, request: int, value: int, index: int) -> bytes:
        if request != _GET_DESCRIPTOR:
            raise usb_error(errno.EPIPE)
        kind, number = value >> 8, value & 0xFF
        if kind == _REPORT:
            return _interface(dev, index).descriptor
        if kind != _STRING or (number == 0 and not dev.languages):
            raise usb_error(errno.EPIPE)
        if number == 0:
            return _text(b"".join(one.to_bytes(2, "little") for one in dev.languages))
        return _text({2: dev.name, 3: dev.serial}[number].encode("utf-16-le"))

    def _call(self, dev: FakeDevice, name: str, *told: Any) -> None:
        dev.calls.append((name, *told))
        fault = dev.fault(name)
        if fault is not None:
            raise fault
        if not dev.plugged:
            raise usb_error(errno.ENODEV)


class _Handle:
    def __init__(self, device: FakeDevice) -> None:
        self.device = device


def _interface(dev: FakeDevice, number: int) -> FakeInterface:
    return next(interface for interface in dev.interfaces if interface.number == number)


def _text(content: bytes) -> bytes:
    return bytes((len(content) + 2, _STRING)) + content


def done(device: FakeDevice, names: Iterable[str]) -> list[tuple[Any, ...]]:
    """The calls of ``device`` that are among ``names``, in order."""
    wanted = set(names)
    return [call for call in device.calls if call[0] in wanted]
