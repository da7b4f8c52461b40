"""What is plugged in is named so that the name still means it tomorrow; twins are never guessed at."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tablectl_drivers import finding, links_serial, usb_devices
from tablectl_drivers.emulated.usb_bus import FakeBus, FakeDevice, FakeInterface

from tablectl.finder import Found
from tablectl.scanner import LinkFault


def port(device: Path | str, usb: str = "", serial: str | None = None, at: str = "1-1") -> Any:
    vid, pid = (int(part, 16) for part in usb.split(":")) if usb else (None, None)
    return SimpleNamespace(
        device=str(device), vid=vid, pid=pid, serial_number=serial, location=at if usb else None,
        product="FT232R USB UART" if usb else "n/a", manufacturer="FTDI" if usb else None,
    )  # fmt: skip


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    """A /dev of our own: three adapters with their names, and a port of the machine."""
    for folder in ("serial/by-id", "serial/by-path"):
        (tmp_path / folder).mkdir(parents=True)
    for node in ("ttyUSB0", "ttyUSB1", "ttyUSB2", "ttyS0"):
        (tmp_path / node).write_bytes(b"")
    return tmp_path


def name(dev: Path, node: str, *, by_id: str = "", by_path: str = "") -> None:
    for kind, text in (("by-id", by_id), ("by-path", by_path)):
        if text:
            (dev / "serial" / kind / text).symlink_to(dev / node)


def found(dev: Path, *ports: Any) -> list[Found]:
    return list(finding.serial_ports(lambda: ports, dev / "serial"))


def test_an_adapter_is_named_by_its_serial_number(dev: Path) -> None:
    name(dev, "ttyUSB0", by_id="usb-FTDI_A5", by_path="pci-usb-0:1")
    (one,) = found(dev, port(dev / "ttyUSB0", "0403:6001", "A5"))
    assert one == Found(
        device=str(dev / "serial/by-id/usb-FTDI_A5"),
        about="FTDI FT232R USB UART",
        line=True,
        node=str(dev / "ttyUSB0"),
        usb="0403:6001",
        serial="A5",
        others=(str(dev / "serial/by-path/pci-usb-0:1"),),
    )


def test_an_adapter_without_a_serial_number_is_named_by_its_socket(dev: Path) -> None:
    name(dev, "ttyUSB0", by_id="usb-1a86_USB_Serial", by_path="pci-usb-0:1")
    (one,) = found(dev, port(dev / "ttyUSB0", "1a86:7523"))
    assert one.device == str(dev / "serial/by-path/pci-usb-0:1")
    assert one.troubles == ()


@pytest.mark.parametrize("serial", [None, "0001"])
def test_two_adapters_alike_are_both_named_by_socket_and_said_to_be(dev: Path, serial: str | None) -> None:
    name(dev, "ttyUSB1", by_id="usb-CP2102_0001")  # the last one plugged in took the name
    for number in (0, 1):
        name(dev, f"ttyUSB{number}", by_path=f"pci-usb-0:{number}")
    twins = [port(dev / f"ttyUSB{n}", "10c4:ea60", serial, at=f"1-{n + 1}") for n in (1, 0)]
    first, second = found(dev, *twins)
    assert [one.device for one in (first, second)] == [
        str(dev / "serial/by-path/pci-usb-0:0"),
        str(dev / "serial/by-path/pci-usb-0:1"),
    ]
    assert f"{dev / 'ttyUSB1'} cannot be told from it" in first.troubles[0]
    assert f"{dev / 'ttyUSB0'} cannot be told from it" in second.troubles[0]


def test_the_two_ports_of_one_adapter_are_no_twins(dev: Path) -> None:
    for number in (0, 1):
        name(dev, f"ttyUSB{number}", by_id=f"usb-FTDI_A5-if0{number}")
    both = found(dev, *(port(dev / f"ttyUSB{n}", "0403:6010", "A5", at=f"1-1:1.{n}") for n in (0, 1)))
    assert [one.device[-5:] for one in both] == ["-if00", "-if01"]
    assert not any(one.troubles for one in both)


def test_what_is_proposed_is_not_what_the_link_refuses(dev: Path) -> None:
    name(dev, "ttyUSB0", by_id="usb-FTDI_A5", by_path="p0")
    name(dev, "ttyUSB1", by_path="p1")
    name(dev, "ttyUSB2", by_path="p2")
    ports = [
        port(dev / "ttyUSB0", "0403:6001", "A5", at="1-1"),
        port(dev / "ttyUSB1", "1a86:7523", at="1-2"),
        port(dev / "ttyUSB2", "1a86:7523", at="1-3"),
    ]
    for one in found(dev, *ports):
        links_serial.refuse_ambiguous(one.device, lambda: ports)


def test_a_port_without_a_stable_name_says_so(dev: Path) -> None:
    (one,) = found(dev, port(dev / "ttyUSB0", "0403:6001", "A5"))
    assert one.device == str(dev / "ttyUSB0")
    assert "udev rules" in one.troubles[0]
    (own,) = found(dev, port(dev / "ttyS0"))
    assert (own.device, own.about, own.usb, own.troubles) == (
        str(dev / "ttyS0"), "port of the machine", "", ()
    )  # fmt: skip
    assert list(finding.serial_ports(lambda: (), dev / "none")) == []


# --- USB -----------------------------------------------------------------------------------------------


def test_usb_scanners_are_named_by_serial_number_or_socket_and_others_are_left_out() -> None:
    bus = FakeBus()
    bus.plug(FakeDevice(serial="S1", name="Xenon"), "1-1.2")
    bus.plug(FakeDevice(name="Youjie"), "1-1.1")
    disk = FakeDevice(interfaces=[])
    bus.plug(disk, "2-1")
    first, second = finding.usb_devices(bus)
    assert (first.device, first.others, first.about) == ("usb:0c2e:0b61@1-1.1", (), "Youjie")
    assert (second.device, second.others) == ("usb:0c2e:0b61:S1", ("usb:0c2e:0b61@1-1.2",))
    assert (second.usb, second.serial, second.line, second.troubles) == ("0c2e:0b61", "S1", False, ())
    for one in (first, second):
        for text in (one.device, *one.others):
            assert usb_devices.find(usb_devices.parse_name(text), bus)


def test_two_usb_scanners_with_one_serial_number_are_named_by_socket() -> None:
    bus = FakeBus()
    for path in ("1-1", "1-2"):
        bus.plug(FakeDevice(serial="000", interfaces=[FakeInterface(boot_keyboard=True)]), path)
    first, second = finding.usb_devices(bus)
    assert (first.device, second.device) == ("usb:0c2e:0b61@1-1", "usb:0c2e:0b61@1-2")
    assert "1-2 has the same serial number" in first.troubles[0]


def test_a_scanner_that_may_not_be_opened_is_shown_with_the_reason() -> None:
    bus = FakeBus()
    shut = bus.plug(FakeDevice(serial="S1"), "1-1")
    shut.fail("open_device", *[errno.EACCES] * 9)
    (one,) = finding.usb_devices(bus)
    assert one.device == "usb:0c2e:0b61@1-1"
    assert "no permission" in one.troubles[0] and "dialout" in one.troubles[0]
    assert shut.handles == 0


def test_a_bus_that_cannot_be_read_is_a_fault_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise LinkFault("no USB on this machine")

    monkeypatch.setattr(usb_devices, "backend", none)
    with pytest.raises(LinkFault, match="no USB"):
        list(finding.usb_devices())
