"""USB devices by name: which is meant, whose it is, every error in words; over a bus that is not there."""

from __future__ import annotations

import errno
import subprocess
import sys
from typing import Any

import pytest
import usb.backend.libusb1
import usb.core
from hypothesis import given, settings
from hypothesis import strategies as st
from tablectl_drivers import usb_devices, usb_names
from tablectl_drivers.emulated.usb_bus import FakeBus, FakeDevice, FakeInterface, done, usb_error
from tablectl_drivers.usb_devices import Claimed, UsbName, find, parse_name, timed_out

from tablectl.scanner import LinkFault, LinkRefused

ONE, OTHER = "usb:0c2e:0b61:S1", "usb:0c2e:0b61@1-1.2"


def first(interfaces: Any) -> Any:
    return interfaces[0]


def opened(bus: FakeBus, name: str = ONE) -> Claimed:
    return usb_devices.open_device(name, first, where=bus)


def words(bus: FakeBus, name: str = ONE) -> str:
    with pytest.raises(LinkFault) as fault:
        opened(bus, name)
    # What is there and may not be had is told apart from what is not there.
    refused = ("no permission", "in use", "ambiguous", "another device")
    assert isinstance(fault.value, LinkRefused) == any(word in str(fault.value) for word in refused)
    return str(fault.value)


# --- names ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("usb:0c2e:0b61:18113B0A21", UsbName(0x0C2E, 0x0B61, serial="18113B0A21")),
        ("usb:0C2E:0B61:a:b@c d", UsbName(0x0C2E, 0x0B61, serial="a:b@c d")),
        ("usb:0c2e:0b61@1-1.2", UsbName(0x0C2E, 0x0B61, path="1-1.2")),
        ("usb:0000:ffff@12-4.3.10", UsbName(0, 0xFFFF, path="12-4.3.10")),
    ],
)
def test_a_device_is_named_by_serial_number_or_by_socket(text: str, name: UsbName) -> None:
    assert parse_name(text) == name
    assert parse_name(str(name)) == name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("usb:0c2e:0b61", "SERIAL, or its socket, usb:0c2e:0b61@BUS-PORT"),
        ("usb:0c2e:0b61:", "fits every device of that make"),
        ("usb:0c2e:0b61@", "fits every device of that make"),
        ("usb:0c2e:0b61@1", "is no socket"),
        ("usb:0c2e:0b61@1-0", "is no socket"),
        ("usb:0c2e:0b61@1-1:1.0", "is no socket"),
        ("usb:0c2e:0b61: S1", "no serial number"),
        ("usb:0c2e:0b61:S\n1", "no serial number"),
        ("usb:c2e:0b61:S1", "tablectl devices"),
        ("usb:0c2e", "tablectl devices"),
        ("usb:", "tablectl devices"),
        ("USB:0c2e:0b61:S1", "tablectl devices"),
        ("/dev/hidraw0", "tablectl devices"),
    ],
)
def test_never_the_first_and_never_a_guess(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"^device: .*{told}"):
        parse_name(text)


@settings(deadline=None)
@given(text=st.text(max_size=30) | st.from_regex(r"usb:[0-9a-f]{4}:[0-9a-f]{4}[:@].{0,20}", fullmatch=True))
def test_any_text_is_a_name_or_refused(text: str) -> None:
    try:
        name = parse_name(text)
    except ValueError as fault:
        assert str(fault).startswith("device: ")
    else:
        assert bool(name.serial) != bool(name.path)
        assert parse_name(str(name)) == name


# --- finding --------------------------------------------------------------------------------------


def test_the_second_of_two_scanners_is_bound_by_its_serial_number_and_not_the_first() -> None:
    bus = FakeBus()
    bus.plug(FakeDevice(serial="S0"), "1-1")
    second = bus.plug(FakeDevice(serial="S1"), "1-2")
    assert find(parse_name(ONE), bus).address == second.address
    bus.unplug(second)
    assert "there is another, serial number S0" in words(bus)
    bus.plug(second, "1-7")
    assert find(parse_name(ONE), bus).address == second.address


def test_a_serial_number_that_two_devices_share_is_refused() -> None:
    bus = FakeBus()
    bus.plug(FakeDevice(serial="S1"), "1-2")
    bus.plug(FakeDevice(serial="S1"), "1-1")
    told = words(bus)
    assert "ambiguous: the devices at 1-1, 1-2 have the same serial number" in told
    assert "usb:0c2e:0b61@1-" in told


def test_a_socket_is_exact_and_what_sits_in_it_must_be_the_make() -> None:
    bus = FakeBus()
    bus.plug(FakeDevice(serial="S1"), "1-1")
    mine = bus.plug(FakeDevice(), "1-1.2")
    bus.plug(FakeDevice(), "2-1.2")
    assert find(parse_name(OTHER), bus).address == mine.address
    bus.unplug(mine)
    assert words(bus, OTHER).startswith("no scanner at usb:0c2e:0b61@1-1.2: check its cable and power")
    other = bus.plug(FakeDevice(vendor=0x05E0, product=0x1200, name="Symbol"), "1-1.2")
    assert words(bus, OTHER).startswith(
        "another device is in its place: 05e0:1200 Symbol at 1-1.2, where 0c2e:0b61 is expected"
    )
    assert other.handles == 0


def test_a_renumbered_device_is_found_afresh() -> None:
    bus = FakeBus()
    device = bus.plug(FakeDevice(serial="S1"))
    before = find(parse_name(ONE), bus).address
    bus.unplug(device)
    assert words(bus).startswith("no scanner at usb:0c2e:0b61:S1: check its cable and power")
    bus.plug(device, "3-4")
    assert find(parse_name(ONE), bus).address != before


def test_texts_without_a_list_of_languages_and_with_rubbish_at_the_end() -> None:
    bus = FakeBus()
    bus.plug(FakeDevice(serial="S1\0\0", name="", languages=()))
    device = find(parse_name(ONE), bus)
    assert usb_devices.serial_of(device) == "S1"
    assert usb_devices.product_of(device) == ""


def test_a_serial_number_that_may_not_be_read_is_a_matter_of_permission() -> None:
    bus = FakeBus()
    bus.plug(FakeDevice(serial="S1")).fail("open_device", *[errno.EACCES] * 9)
    told = words(bus)
    assert "no permission to use usb:0c2e:0b61:S1" in told
    assert usb_names.GROUP in told
    assert usb_names.UDEV_RULES in told


def test_the_identity_tells_another_device_in_the_same_socket() -> None:
    bus = FakeBus()
    told = []
    for serial in ("S1", "S2", ""):
        device = bus.plug(FakeDevice(serial=serial, name="Xenon"), "1-1.2")
        claimed = opened(bus, OTHER)
        told.append(claimed.identity)
        assert claimed.where == f"1-1.2 (bus 1, device {device.address})"
        claimed.release()
        bus.unplug(device)
    assert told == ["usb:0c2e:0b61:S1 Xenon", "usb:0c2e:0b61:S2 Xenon", "usb:0c2e:0b61@1-1.2 Xenon"]


def test_the_identity_is_the_same_by_either_name_and_in_every_socket() -> None:
    bus = FakeBus()
    device = FakeDevice(serial="S1", name="")
    for path, name in (("1-1.2", OTHER), ("1-1.2", ONE), ("3-1", ONE)):
        bus.plug(device, path)
        claimed = opened(bus, name)
        assert claimed.identity == "usb:0c2e:0b61:S1"
        claimed.release()
        bus.unplug(device)


# --- claiming -------------------------------------------------------------------------------------


def composite(configuration: int = 0) -> FakeDevice:
    interfaces = [FakeInterface(0), FakeInterface(1, point=0x82)]
    return FakeDevice(serial="S1", interfaces=interfaces, configuration=configuration)


def test_every_interface_is_detached_before_the_configuration_is_set_and_given_back() -> None:
    bus = FakeBus()
    device = bus.plug(composite())
    claimed = opened(bus)
    names = ("detach_kernel_driver", "set_configuration", "claim_interface")
    assert done(device, names) == [
        ("detach_kernel_driver", 0),
        ("detach_kernel_driver", 1),
        ("set_configuration", 1),
        ("claim_interface", 0),
    ]
    assert [interface.driver for interface in device.interfaces] == [False, False]
    claimed.release()
    claimed.release()
    assert [interface.driver for interface in device.interfaces] == [True, True]
    assert device.handles == 0


def test_a_configuration_that_is_set_is_not_set_again() -> None:
    bus = FakeBus()
    device = bus.plug(composite(configuration=1))
    opened(bus).release()
    assert done(device, ["set_configuration", "reset_device"]) == []


def test_a_driver_that_was_not_there_is_not_attached() -> None:
    bus = FakeBus()
    device = bus.plug(FakeDevice(serial="S1"))
    device.interfaces[0].driver = False
    opened(bus).release()
    assert done(device, ["attach_kernel_driver"]) == []


def test_a_scanner_that_another_program_holds_is_busy() -> None:
    bus = FakeBus()
    device = bus.plug(FakeDevice(serial="S1"))
    mine = opened(bus)
    assert "in use: another program" in words(bus)
    mine.release()
    opened(bus).release()
    assert device.handles == 0


CALLS = (
    *("open_device", "get_configuration", "is_kernel_driver_active", "detach_kernel_driver"),
    *("set_configuration", "claim_interface", "ctrl_transfer", "release_interface", "attach_kernel_driver"),
)


@pytest.mark.parametrize("name", [ONE, OTHER])
@pytest.mark.parametrize("number", [5, 6, 13, 16, 19, 32, 71, 75, 110, None])
@pytest.mark.parametrize("call", CALLS)
def test_a_fault_at_any_call_leaves_nothing_behind(call: str, number: int | None, name: str) -> None:
    bus = FakeBus()
    device = bus.plug(composite(), "1-1.2")
    for skipped in range(4):
        count = Counted(device, call, skipped, number)
        try:
            opened(bus, name).release()
        except LinkFault as fault:
            assert str(fault)
        count.stop()
        assert device.handles == 0
        assert device.holders == {}
        if call != "attach_kernel_driver":
            assert all(interface.driver for interface in device.interfaces)
        for interface in device.interfaces:
            interface.driver = True
        device.configuration = 0


class Counted:
    """Lets some calls of a name pass before one fails."""

    def __init__(self, device: FakeDevice, call: str, skipped: int, number: int | None) -> None:
        self._device, self._call, self._left, self._number = device, call, skipped, number
        self._before = device.fault
        device.fault = self._fault  # type: ignore[method-assign]

    def _fault(self, call: str) -> Exception | None:
        if call == self._call:
            self._left -= 1
            if self._left == -1:
                return usb_error(self._number)
        return None

    def stop(self) -> None:
        self._device.fault = self._before  # type: ignore[method-assign]


def test_a_device_pulled_out_while_it_is_claimed_is_given_back_in_silence() -> None:
    bus = FakeBus()
    device = bus.plug(composite())
    claimed = opened(bus)
    bus.unplug(device)
    claimed.release()
    assert device.handles == 0


def test_a_system_that_cannot_take_drivers_off_is_read_all_the_same() -> None:
    bus = FakeBus()
    device = bus.plug(FakeDevice(serial="S1"))
    device.interfaces[0].driver = False
    device.fail("is_kernel_driver_active", NotImplementedError("no such thing here"))
    opened(bus).release()


# --- errors by their number ------------------------------------------------------------------------


@pytest.mark.parametrize("number", [110, 60, 10060])
def test_time_outs_are_told_by_number(number: int) -> None:
    assert timed_out(usb.core.USBError("x", None, number))


def test_time_outs_are_told_by_code_and_class_but_never_by_text() -> None:
    assert timed_out(usb.core.USBError("x", -7, None))
    assert timed_out(usb.core.USBTimeoutError("x"))
    assert not timed_out(usb.core.USBError("Operation timed out", -1, 5))
    assert not timed_out(usb.core.USBError("timeout error"))
    assert not timed_out(OSError(110, "not of USB"))


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (13, "no permission to use X: .* group dialout"),
        (16, "X is in use: another program"),
        (19, "no lamp at X: it went away"),
        (5, "no lamp at X: it went away"),
        (75, "X cannot be used"),
    ],
)
def test_errors_in_words(number: int, told: str) -> None:
    fault = usb_devices.not_opened("X", usb.core.USBError("y", None, number), "lamp")
    with pytest.raises(LinkFault, match=told):
        raise fault


# --- the real library ------------------------------------------------------------------------------


def test_a_machine_without_such_a_device_says_so() -> None:
    with pytest.raises(LinkFault, match=r"no scanner at|no USB on this machine|cannot be read"):
        usb_devices.open_device("usb:dead:beef:none", first)


def test_a_machine_without_libusb_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usb.backend.libusb1, "get_backend", lambda find_library=None: None)
    with pytest.raises(LinkFault, match=r"no USB on this machine: .*apt-get install libusb"):
        usb_devices.open_device(ONE, first)
    monkeypatch.setitem(sys.modules, "libusb_package", None)
    with pytest.raises(LinkFault, match="no USB on this machine"):
        usb_devices.open_device(ONE, first)


def test_where_the_system_has_no_libusb_the_packaged_one_is_taken() -> None:
    code = (
        "import ctypes.util; ctypes.util.find_library = lambda name: None\n"
        "from tablectl_drivers import usb_devices\n"
        "from tablectl.scanner import LinkFault\n"
        "import usb.backend.libusb1 as libusb1\n"
        "assert libusb1.get_backend() is None\n"
        "try:\n"
        "    print(usb_devices.backend().lib._name)\n"
        "except LinkFault as fault:\n"
        "    print(fault)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "libusb_package" in told.stdout or "no USB on this machine" in told.stdout
