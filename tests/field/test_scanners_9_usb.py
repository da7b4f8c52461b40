"""USB scanners through libusb: wire facts, section 9, item 12. The real reader over an imagined bus."""

from __future__ import annotations

import errno
from typing import Any

import pytest
import usb.core
from tablectl_drivers import hid_pos, links_usb
from tablectl_drivers.emulated.usb_bus import FakeBus, FakeDevice, FakeInterface, done, usb_error

from tablectl.cards import Card
from tablectl.scanner import Arrived, Scan, ScannerLost, ScannerRestored
from tests.drivers.contract import CARDS
from tests.field.shared import quick, with_cards
from tests.reader.test_thread import Rig, until

NAME = "usb:0c2e:0b61:S1"
KING = Card.parse("KC")
SAID = hid_pos.Encoder(CARDS).card(KING)
DISTURBING = ("clear_halt", "reset_device", "set_configuration")


def plugged(bus: FakeBus, path: str = "1-1.2", **more: Any) -> FakeDevice:
    return bus.plug(FakeDevice(serial="S1", **more), path)


def reading(name: str = NAME) -> Rig:
    return quick(with_cards(hid_pos.DRIVER), name).started()


def reads(rig: Rig, device: FakeDevice) -> None:
    device.say(SAID)
    card = rig.next()
    assert isinstance(card, Arrived) and isinstance(card.item, Scan), card
    assert card.item.card == KING


IDLE = [110, 60, 10060, None]
"""What an idle read gives on Linux, macOS and Windows; on some systems libusb's own code, -7, alone."""


@pytest.mark.parametrize("number", IDLE)
def test_9_12_an_idle_time_out_is_no_fault(number: int | None, bus: FakeBus) -> None:
    device = plugged(bus)
    rig = reading()
    device.fail("intr_read", *[usb_error(number, -7 if number is None else None)] * 200)
    until(lambda: not device._faults["intr_read"])
    reads(rig, device)
    assert rig.stop() == []
    assert done(device, DISTURBING) == []
    assert [text for text, _ in rig.log.lines] == ["scanner ready"]


def test_9_12_errors_are_told_by_number_never_by_text(bus: FakeBus) -> None:
    device = plugged(bus)
    rig = reading()
    device.fail("intr_read", usb.core.USBError("No such device (it may have been disconnected)", -7, 110))
    reads(rig, device)
    device.fail("intr_read", usb.core.USBError("Operation timed out", -4, errno.ENODEV))
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored)
    rig.stop()


def test_9_12_errno_19_the_device_is_found_afresh(bus: FakeBus) -> None:
    device = plugged(bus)
    rig = reading()
    first = device.address
    bus.unplug(device)
    lost = rig.next()
    assert isinstance(lost, ScannerLost) and "unplugged" in lost.reason
    bus.plug(device, "2-4")
    assert device.address != first
    assert isinstance(rig.next(), ScannerRestored)
    reads(rig, device)
    assert rig.stop() == []
    assert device.handles == 0


def test_9_12_errno_32_clears_the_halt_once_and_three_are_a_reopening(bus: FakeBus) -> None:
    device = plugged(bus)
    rig = reading()
    device.fail("intr_read", errno.EPIPE)
    reads(rig, device)
    assert done(device, DISTURBING) == [("clear_halt", 0x81)]
    device.fail("intr_read", *[errno.EPIPE] * 3)
    assert isinstance(rig.next(), ScannerLost)
    assert len(done(device, ["clear_halt"])) == 2, "once for each run of stalls"
    assert isinstance(rig.next(), ScannerRestored)
    reads(rig, device)
    assert rig.stop() == []
    assert done(device, ["reset_device"]) == []


@pytest.mark.parametrize("packet", [8, 64, 512])
def test_9_12_the_read_size_is_a_multiple_of_the_packets(
    packet: int, bus: FakeBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = plugged(bus, interfaces=[FakeInterface(packet=packet)])
    sizes: set[int] = set()
    real = bus.intr_read

    def intr_read(handle: Any, ep: int, intf: int, buff: Any, timeout: int) -> int:
        sizes.add(len(buff))
        return real(handle, ep, intf, buff, timeout)

    monkeypatch.setattr(bus, "intr_read", intr_read)
    rig = reading()
    reads(rig, device)
    assert rig.stop() == []
    assert sizes and all(size >= 64 and size % packet == 0 for size in sizes)


def test_9_12_an_overflow_is_a_lost_scanner_never_a_lost_card(bus: FakeBus) -> None:
    device = plugged(bus)
    rig = reading()
    device.fail("intr_read", errno.EOVERFLOW)
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored)
    reads(rig, device)
    assert rig.stop() == []


def test_9_12_errno_16_every_interface_is_detached_before_the_configuration_is_set(bus: FakeBus) -> None:
    keyboard = FakeInterface(number=1, boot_keyboard=True, point=0x82)
    device = plugged(bus, interfaces=[FakeInterface(), keyboard], configuration=0)
    rig = reading()
    calls = done(device, ["detach_kernel_driver", "set_configuration"])
    assert [name for name, *_ in calls] == [
        "detach_kernel_driver",
        "detach_kernel_driver",
        "set_configuration",
    ]
    reads(rig, device)
    assert rig.stop() == []
    assert all(interface.driver for interface in device.interfaces), "given back to the kernel"


def test_9_12_in_use_by_another_is_told_and_tried_again(bus: FakeBus) -> None:
    device = plugged(bus)
    device.holders[0] = object()
    rig = quick(with_cards(hid_pos.DRIVER), NAME)
    rig.reader.start()
    lost = rig.next()
    assert isinstance(lost, ScannerLost) and "only one may read a scanner" in lost.reason
    device.holders.clear()
    assert isinstance(rig.next(), ScannerRestored)
    assert rig.stop() == []


def test_9_12_idle_costs_next_to_nothing() -> None:
    assert 200 <= links_usb.WAIT <= 1000, "milliseconds between two looks whether the reader is to end"
