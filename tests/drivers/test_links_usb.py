"""A HID scanner on USB: the real link and the real reader over a bus that is not there."""

from __future__ import annotations

import errno
import os
import queue
import select
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tablectl_drivers import hid_keyboard, hid_pos, links, links_usb, usb_devices
from tablectl_drivers.emulated.usb_bus import FakeBus, FakeDevice, FakeInterface, done, usb_error
from tablectl_drivers.links_usb import Hid, UsbLink, open_hid

from tablectl.cards import Card
from tablectl.reader import Reader
from tablectl.scanner import (
    Arrival,
    Arrived,
    Discarded,
    Driver,
    LinkFault,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
)
from tests.descriptors import descriptors, settled_descriptors
from tests.drivers.contract import CARDS

CYCLES = 1000 if os.environ.get("TABLECTL_SOAK") else 40
NAME, SOCKET = "usb:0c2e:0b61:S1", "usb:0c2e:0b61@1-1.2"
POS, KEYBOARD = Hid(64), Hid(8, keyboard=True)
POS_CARDS = hid_pos.Encoder(CARDS)
KEYS = hid_keyboard.Encoder(CARDS)
ACE, HEART = Card.parse("AS"), Card.parse("2H")


def keyboard(serial: str = "S1", name: str = "Scanner") -> FakeDevice:
    interface = FakeInterface(boot_keyboard=True, descriptor=b"\x05\x01\x09\x06", packet=8)
    return FakeDevice(serial=serial, name=name, interfaces=[interface])


def usb_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("usb ")]


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBus]:
    fake = FakeBus(hurry=50)
    monkeypatch.setattr(usb_devices, "backend", lambda: fake)
    yield fake
    assert usb_threads() == []


@pytest.fixture
def device(bus: FakeBus) -> FakeDevice:
    return bus.plug(FakeDevice(serial="S1"), "1-1.2")


@pytest.fixture
def link(device: FakeDevice) -> Iterator[UsbLink]:
    one = UsbLink(NAME, POS)
    yield one
    one.close()


def ready(link: UsbLink, seconds: float = 2.0) -> bool:
    return bool(select.select([link.fileno()], [], [], seconds)[0])


def take(link: UsbLink, size: int) -> bytes:
    """Read until ``size`` bytes have come, as the reader does."""
    data = b""
    while len(data) < size:
        assert ready(link)
        data += link.read()
    return data


def lost(link: UsbLink) -> str:
    assert ready(link)
    with pytest.raises(LinkFault) as fault:
        while True:
            assert link.read() != b""
    assert ready(link, 0)
    return str(fault.value)


def eventually(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


# --- reports --------------------------------------------------------------------------------------


def test_reports_come_whole_and_one_behind_the_other(link: UsbLink, device: FakeDevice) -> None:
    reports = [bytes([2, i]) + bytes(62) for i in range(100)]
    for report in reports:
        device.say(report)
    assert take(link, 6400) == b"".join(reports)
    assert not ready(link, 0)
    assert link.read() == b""


@pytest.mark.parametrize("packet", [8, 16, 32, 64, 512])
def test_a_read_is_a_whole_number_of_packets(bus: FakeBus, packet: int) -> None:
    device = FakeDevice(serial="S1", interfaces=[FakeInterface(packet=packet)])
    bus.plug(device)
    link = UsbLink(NAME, Hid(60))
    for i in range(3):
        device.say(bytes([2, i]) + bytes(58))
    assert take(link, 180) == b"".join(bytes([2, i]) + bytes(58) for i in range(3))
    link.close()


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(sizes=st.lists(st.integers(1, 64), min_size=1, max_size=6))
def test_a_report_without_its_zeros_at_the_end_leaves_the_next_one_in_step(sizes: list[int]) -> None:
    bus = FakeBus(hurry=50)
    device = bus.plug(FakeDevice(serial="S1"))
    link = UsbLink(NAME, POS, library=bus)
    try:
        for size in sizes:
            device.say(b"x" * size)
        assert take(link, 64 * len(sizes)) == b"".join((b"x" * size).ljust(64, b"\0") for size in sizes)
    finally:
        link.close()


def test_a_report_cut_by_a_time_out_is_put_together(bus: FakeBus) -> None:
    device = FakeDevice(serial="S1", interfaces=[FakeInterface(packet=8)])
    bus.plug(device)
    link = UsbLink(NAME, POS)
    calls = iter([b"a" * 24, b"a" * 40, b"b" * 64])
    original = bus.intr_read

    def cut(handle: Any, ep: int, intf: int, buff: Any, timeout: int) -> int:
        got = next(calls, b"")
        if not got:
            return int(original(handle, ep, intf, buff, timeout))
        buff[: len(got)] = type(buff)("B", got)
        return len(got)

    bus.intr_read = cut  # type: ignore[method-assign, assignment]
    assert take(link, 128) == b"a" * 64 + b"b" * 64
    link.close()


def test_a_short_report_of_whole_packets_ends_with_the_pause_behind_it(bus: FakeBus) -> None:
    device = FakeDevice(serial="S1", interfaces=[FakeInterface(packet=8)])
    bus.plug(device)
    link = UsbLink(NAME, POS)
    device.say(b"a" * 24)
    assert take(link, 64) == (b"a" * 24).ljust(64, b"\0")
    device.say(b"b" * 64)
    assert take(link, 64) == b"b" * 64
    link.close()


def test_reports_longer_than_expected_are_a_lost_scanner(bus: FakeBus) -> None:
    device = FakeDevice(serial="S1", interfaces=[FakeInterface(boot_keyboard=True, packet=16)])
    bus.plug(device)
    link = UsbLink(NAME, KEYBOARD)
    device.say(b"\x01" + bytes(8))
    assert "reports of 9 bytes, 8 are expected" in lost(link)
    link.close()


def test_overflow_is_a_lost_scanner_never_a_lost_report(link: UsbLink, device: FakeDevice) -> None:
    device.fail("intr_read", errno.EOVERFLOW)
    assert lost(link).startswith("scanner lost: ")


def test_a_full_queue_is_a_lost_scanner_and_what_it_holds_comes_first(
    link: UsbLink, device: FakeDevice
) -> None:
    for i in range(links_usb.QUEUE + 5):
        device.say(bytes([2, i & 0x7F]) + bytes(62))
    eventually(lambda: usb_threads() == [])
    assert len(link.read()) == 64 * links_usb.QUEUE
    assert "were not taken; cards may be missing" in lost(link)


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [19, 5, 6, 71, 108, None])
def test_pulled_out_in_the_middle_of_a_read(link: UsbLink, device: FakeDevice, number: int | None) -> None:
    device.say(b"\x02" + bytes(63))
    eventually(lambda: not device.packets[0x81])
    device.fail("intr_read", usb_error(number))
    assert take(link, 64) == b"\x02" + bytes(63)
    assert lost(link).startswith("scanner lost: ")


def test_pulled_out_is_told_within_the_blink_of_an_eye(bus: FakeBus, device: FakeDevice) -> None:
    link = UsbLink(NAME, POS)
    bus.unplug(device)
    assert lost(link) == "scanner lost: unplugged, or its power is off; check the cable"
    link.close()
    assert device.handles == 0


def test_idle_time_outs_of_ten_minutes_are_nothing(
    bus: FakeBus, device: FakeDevice, capfd: pytest.CaptureFixture[str]
) -> None:
    link = UsbLink(NAME, POS)
    waits = 10 * 60 * 1000 // links_usb.WAIT
    before = list(device.calls)
    kinds = [usb_error(110), usb_error(60), usb_error(10060), usb_error(None, -7), usb_error(110, -7)]
    device.fail("intr_read", *[kinds[i % len(kinds)] for i in range(waits)])
    eventually(lambda: not device._faults["intr_read"])
    assert {call[0] for call in device.calls[len(before) :]} == {"intr_read"}
    assert not ready(link, 0)
    device.say(b"\x02" + bytes(63))
    assert take(link, 64)
    link.close()
    assert capfd.readouterr() == ("", "")


def test_an_idle_scanner_wakes_its_thread_twice_a_second_and_the_reader_never() -> None:
    bus = FakeBus()  # in real time
    device = bus.plug(FakeDevice(serial="S1"))
    link = UsbLink(NAME, POS, library=bus)
    assert not ready(link, 0.7)
    assert device.waits == 1
    link.close()


def test_a_stall_clears_the_halt_once_and_three_are_a_lost_scanner(link: UsbLink, device: FakeDevice) -> None:
    for stalls in (1, 2):
        device.fail("intr_read", *[errno.EPIPE] * stalls)
        device.say(b"\x02" + bytes(63))
        assert take(link, 64)
        assert done(device, ["clear_halt", "reset_device"]) == [("clear_halt", 0x81)] * stalls
    device.fail("intr_read", *[errno.EPIPE, errno.ETIMEDOUT] * 4)  # apart: each time it listened again
    device.say(b"\x02" + bytes(63))
    assert take(link, 64)
    assert len(done(device, ["clear_halt"])) == 2 + 4
    device.fail("intr_read", *[errno.EPIPE] * 3)
    assert lost(link).startswith("scanner lost: ")
    assert len(done(device, ["clear_halt"])) == 2 + 4 + 1
    assert done(device, ["reset_device"]) == []


def test_a_halt_that_cannot_be_cleared_is_a_lost_scanner(link: UsbLink, device: FakeDevice) -> None:
    device.fail("clear_halt", errno.ENODEV)
    device.fail("intr_read", errno.EPIPE)
    assert "unplugged" in lost(link)


def test_a_signal_in_the_middle_of_a_read_is_nothing(link: UsbLink, device: FakeDevice) -> None:
    device.fail("intr_read", errno.EINTR, errno.EINTR)
    device.say(b"\x02" + bytes(63))
    assert take(link, 64)


@pytest.mark.parametrize(
    "fault", [RuntimeError("?"), NotImplementedError("?"), ValueError("?"), MemoryError()]
)
def test_whatever_ends_the_thread_is_a_lost_scanner(
    link: UsbLink, device: FakeDevice, fault: Exception
) -> None:
    device.fail("intr_read", fault)
    assert lost(link).startswith("scanner lost: ")


# --- opening and closing --------------------------------------------------------------------------


def test_close_during_a_read_is_clean_and_the_driver_is_back(device: FakeDevice, bus: FakeBus) -> None:
    before = descriptors()
    link = UsbLink(NAME, POS)
    assert not device.interfaces[0].driver
    eventually(lambda: device.waits > 0)
    link.close()
    link.close()
    assert link.fileno() == -1
    assert device.interfaces[0].driver
    assert device.handles == 0
    assert descriptors() == before


def test_a_read_that_does_not_come_back_is_left_alone(
    device: FakeDevice, bus: FakeBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck, go_on = threading.Event(), threading.Event()

    def hang(*_: Any) -> int:
        stuck.set()
        go_on.wait(5)
        raise usb_error(errno.ENODEV)

    monkeypatch.setattr(bus, "intr_read", hang)
    monkeypatch.setattr(links_usb, "_JOIN", 0.01)
    link = UsbLink(NAME, POS)
    assert stuck.wait(5)
    link.close()
    # Nothing is freed under the thread that still uses it.
    assert device.handles == 1
    assert device.holders
    go_on.set()
    eventually(lambda: usb_threads() == [])


@pytest.mark.soak
def test_descriptors_and_threads_stay_flat_over_many_cycles(device: FakeDevice, bus: FakeBus) -> None:
    before = settled_descriptors()
    for i in range(CYCLES):
        link = UsbLink(NAME, POS)
        if i % 2:
            bus.unplug(device)
            assert lost(link)
        link.close()
        if i % 2:
            bus.plug(device, "1-2")
    assert settled_descriptors() == before
    assert usb_threads() == []
    assert device.handles == 0


def test_a_failed_opening_leaves_nothing_behind(bus: FakeBus) -> None:
    device = bus.plug(keyboard())
    before = descriptors()
    device.fail("ctrl_transfer", *[errno.EIO] * 9)
    for _ in range(3):
        with pytest.raises(LinkFault):
            UsbLink(NAME, KEYBOARD)
    assert device.interfaces[0].driver
    assert device.handles == 0
    assert descriptors() == before


def test_a_keyboard_is_set_to_the_boot_protocol_and_to_speak_only_of_changes(bus: FakeBus) -> None:
    device = bus.plug(keyboard())
    UsbLink(NAME, KEYBOARD).close()
    asked = [call[1:] for call in done(device, ["ctrl_transfer"]) if call[1] == 0x21]
    assert asked == [(0x21, 0x0B, 0, 0), (0x21, 0x0A, 0, 0)]


def test_a_keyboard_that_knows_neither_is_read_all_the_same(bus: FakeBus) -> None:
    device = bus.plug(keyboard(serial="", name=""), "1-1.2")
    device.fail("ctrl_transfer", errno.EPIPE, errno.EPIPE)
    link = UsbLink(SOCKET, KEYBOARD)
    assert done(device, ["ctrl_transfer"]) == [
        ("ctrl_transfer", 0x21, 0x0B, 0, 0),
        ("ctrl_transfer", 0x21, 0x0A, 0, 0),
    ]
    link.close()


def test_of_several_interfaces_the_right_one_is_read(bus: FakeBus) -> None:
    keys = FakeInterface(0, boot_keyboard=True, descriptor=b"\x05\x01\x09\x06", packet=8)
    other = FakeInterface(1, descriptor=b"\x06\x00\xff", point=0x82)
    scanner = FakeInterface(2, descriptor=b"\x05\x8c\x09\x02", point=0x83)
    device = bus.plug(FakeDevice(serial="S1", interfaces=[keys, other, scanner]))
    for hid, point in ((POS, 0x83), (KEYBOARD, 0x81)):
        link = UsbLink(NAME, hid)
        report = bytes(range(hid.report))
        device.say(report, point)
        assert take(link, hid.report) == report
        link.close()
    assert all(interface.driver for interface in device.interfaces)


def test_a_device_of_the_other_mode_names_the_other_driver(bus: FakeBus) -> None:
    device = bus.plug(keyboard())
    with pytest.raises(LinkFault, match=r"no bar-code interface: .*hid-keyboard"):
        UsbLink(NAME, POS)
    bus.unplug(device)
    bus.plug(FakeDevice(serial="S1"))
    with pytest.raises(LinkFault, match=r"no keyboard: .*hid-pos"):
        UsbLink(NAME, KEYBOARD)


def test_a_hid_driver_opens_usb_names_and_pseudo_terminals_and_nothing_else(
    tmp_path: Path, device: FakeDevice
) -> None:
    master, slave = os.openpty()
    try:
        for name in (os.ttyname(slave), NAME):
            open_hid(name, POS).close()
    finally:
        os.close(master)
        os.close(slave)
    (tmp_path / "file").touch()
    for name in ("/dev/null", str(tmp_path / "file")):
        with pytest.raises(LinkFault, match="is no HID scanner: name it usb:VVVV:PPPP:SERIAL"):
            open_hid(name, POS)
    with pytest.raises(LinkFault, match="no scanner at"):
        open_hid(str(tmp_path / "absent"), POS)
    with pytest.raises(LinkFault, match="cannot be opened"):
        open_hid("/dev/\0", POS)
    for name in ("tcp://192.0.2.1:4001", "usb:0c2e:0b61", "", "\0"):
        with pytest.raises(LinkFault, match="device: "):
            open_hid(name, POS)


def test_a_serial_driver_refuses_a_usb_name_and_names_the_drivers_that_fit() -> None:
    with pytest.raises(LinkFault, match="hid-pos and hid-keyboard"):
        links.open_link(NAME, {}, defaults=links.SerialDefaults(9600))


# --- writing --------------------------------------------------------------------------------------


def test_an_output_report_goes_to_the_endpoint_or_else_the_control_pipe(bus: FakeBus) -> None:
    for out, kind in ((None, "output"), (0x01, "out")):
        device = bus.plug(FakeDevice(serial="S1", interfaces=[FakeInterface(out=out)]))
        link = UsbLink(NAME, POS)
        link.write(b"\xfd\x03\x16\x07\x0d")
        assert device.sent == [(kind, b"\xfd\x03\x16\x07\x0d")]
        link.close()
        bus.unplug(device)


def test_a_beep_that_the_scanner_does_not_take_is_no_lost_scanner(link: UsbLink, device: FakeDevice) -> None:
    for fault in (usb_error(errno.EPIPE), usb_error(errno.ETIMEDOUT), usb_error(None, -7)):
        device.fail("ctrl_transfer", fault)
        link.write(b"\xfd\x03\x16\x07\x0d")
    device.fail("ctrl_transfer", errno.ENODEV)
    with pytest.raises(LinkFault, match="unplugged"):
        link.write(b"\xfd\x03\x16\x07\x0d")


@pytest.mark.parametrize(
    ("vendor", "told"), [(0x0C2E, True), (0x23D0, True), (0x05E0, False), (0x1EAB, False)]
)
def test_honeywells_scanners_are_told_that_somebody_listens(bus: FakeBus, vendor: int, told: bool) -> None:
    device = bus.plug(FakeDevice(vendor=vendor, serial="S1"))
    hid_pos.DRIVER.open(f"usb:{vendor:04x}:0b61:S1", CARDS).close()
    assert device.sent == ([("feature", b"\xfe\x01")] if told else [])


# --- under the reader -----------------------------------------------------------------------------


class Log:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def __getattr__(self, level: str) -> Callable[..., None]:
        return lambda text, **facts: self.lines.append(text)


class Table:
    """A reader, and what it hands over."""

    def __init__(self, driver: Driver, name: str) -> None:
        self.log = Log()
        self.arrivals: queue.Queue[Arrival] = queue.Queue()
        self.reader = Reader(driver, name, CARDS, self.arrivals.put, settle=0, log=self.log)
        self.reader.start()

    def wait(self, kind: type[Arrival]) -> Any:
        """The next arrival, which must be of this kind."""
        arrival = self.arrivals.get(timeout=5)
        assert isinstance(arrival, kind), arrival
        return arrival

    def card(self) -> Card | None:
        item = self.wait(Arrived).item
        assert isinstance(item, Scan), item
        return item.card


@pytest.fixture
def at_table(bus: FakeBus) -> Iterator[Callable[[Driver, str], Table]]:
    made: list[Table] = []

    def make(driver: Driver, name: str = NAME) -> Table:
        made.append(Table(driver, name))
        return made[-1]

    yield make
    for table in made:
        assert table.reader.stop()


def test_cards_of_a_hid_pos_scanner(at_table: Callable[..., Table], device: FakeDevice) -> None:
    table = at_table(hid_pos.DRIVER)
    assert table.wait(ScannerRestored).identity == "usb:0c2e:0b61:S1 Scanner"
    device.say(POS_CARDS.card(ACE))
    assert table.card() == ACE
    device.say(POS_CARDS.card(HEART))
    assert table.card() == HEART


def test_cards_of_a_keyboard_scanner(at_table: Callable[..., Table], bus: FakeBus) -> None:
    device = bus.plug(keyboard())
    table = at_table(hid_keyboard.DRIVER)
    table.wait(ScannerRestored)
    device.say(KEYS.card(ACE) + KEYS.card(HEART))
    assert [table.card(), table.card()] == [ACE, HEART]


def test_a_scanner_pulled_out_in_the_middle_of_a_scan_is_found_afresh(
    at_table: Callable[..., Table], device: FakeDevice, bus: FakeBus
) -> None:
    table = at_table(hid_pos.DRIVER)
    before = table.wait(ScannerRestored).identity
    long = POS_CARDS.reports(b"1" * 60)
    device.say(long[:64])
    bus.unplug(device)
    assert "unplugged" in table.wait(ScannerLost).reason
    bus.plug(device, "2-4")  # another socket, another address
    assert table.wait(ScannerRestored).identity == before
    device.say(POS_CARDS.card(HEART))
    assert table.card() == HEART  # and no half of the old scan before it
    assert table.log.lines.count("scanner lost") == 1


def test_another_device_in_the_same_socket_is_not_read(
    at_table: Callable[..., Table], device: FakeDevice, bus: FakeBus
) -> None:
    table = at_table(hid_pos.DRIVER, SOCKET)
    table.wait(ScannerRestored)
    bus.unplug(device)
    table.wait(ScannerLost)
    other = bus.plug(FakeDevice(product=0x0001), "1-1.2")
    eventually(lambda: "another device is in its place" in (table.reader.presence.reason or ""))
    bus.unplug(other)
    bus.plug(device, "1-1.2")
    table.wait(ScannerRestored)


def test_a_scan_that_waited_in_the_scanner_is_discarded(bus: FakeBus, device: FakeDevice) -> None:
    device.say(POS_CARDS.card(ACE))
    arrivals: queue.Queue[Arrival] = queue.Queue()
    reader = Reader(hid_pos.DRIVER, NAME, CARDS, arrivals.put, settle=100_000_000, log=Log())
    reader.start()
    assert isinstance(arrivals.get(timeout=5), Discarded)
    assert isinstance(arrivals.get(timeout=5), ScannerRestored)
    device.say(POS_CARDS.card(HEART))
    arrival = arrivals.get(timeout=5)
    assert isinstance(arrival, Arrived)
    assert isinstance(arrival.item, Scan)
    assert reader.stop()


def test_boot_without_a_scanner_and_it_comes_later(at_table: Callable[..., Table], bus: FakeBus) -> None:
    table = at_table(hid_pos.DRIVER)
    assert "no scanner at usb:0c2e:0b61:S1" in table.wait(ScannerLost).reason
    device = bus.plug(FakeDevice(serial="S1"))
    table.wait(ScannerRestored)
    device.say(bytes(64))
    assert isinstance(table.wait(Arrived).item, Reject)


@pytest.mark.parametrize(("number", "told"), [(13, "no permission"), (16, "in use")])
def test_a_scanner_that_cannot_be_claimed_yet_is_tried_again_in_silence(
    at_table: Callable[..., Table], device: FakeDevice, number: int, told: str
) -> None:
    device.fail("claim_interface", number, number)
    table = at_table(hid_pos.DRIVER)
    assert told in table.wait(ScannerLost).reason
    table.wait(ScannerRestored)
    assert table.log.lines == ["scanner lost", "scanner ready"]
