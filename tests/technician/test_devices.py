"""Which driver fits what is plugged in, the lines to paste, and a serial server's ports."""

from __future__ import annotations

import contextlib
import socket
import time
import tomllib
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

import pytest

from tablectl.finder import Found
from tablectl.scanner import Driver
from tablectl.technician import devices as devices_
from tablectl.technician.devices import fitting, installed, scanner_lines
from tablectl.technician.serial_servers import PORTS, USABLE, try_ports

LOCAL = ip_address("127.0.0.1")


def driver(name: str, speeds: tuple[int, ...] = (), usb_ids: tuple[str, ...] = ()) -> Driver:
    made = installed()[0][0]
    return Driver(
        name, name, made.decoder, made.open, made.traits, made.check, speeds=speeds, usb_ids=usb_ids
    )


DRIVERS = [
    driver("shoe", (4800,)),
    driver("barcode", (9600,), ("0c2e:*", "0403:9999")),
    driver("hid-pos", (), ("0c2e:*",)),
    driver("hid-keyboard", (), ("0c2e:0b61",)),
]


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (Found("/dev/ttyS0", "", line=True), ("shoe", "barcode")),
        (Found("/dev/x", "", line=True, usb="0403:6001"), ("shoe", "barcode")),
        (Found("/dev/x", "", line=True, usb="0403:9999"), ("barcode", "shoe")),
        (Found("/dev/x", "", line=True, usb="1a86:7523"), ("shoe", "barcode")),
        (Found("/dev/x", "", line=True, usb="0c2e:0b6a"), ("barcode",)),
        (Found("/dev/x", "", line=True, usb="dead:beef"), ("shoe", "barcode")),
        (Found("usb:x", "", line=False, usb="0c2e:0b61"), ("hid-pos", "hid-keyboard")),
        (Found("usb:x", "", line=False, usb="0c2e:0b62"), ("hid-pos",)),
        (Found("usb:x", "", line=False, usb="046d:c31c"), ()),
    ],
)
def test_drivers_that_fit(found: Found, names: tuple[str, ...]) -> None:
    assert fitting(found, DRIVERS) == names


def test_every_shoe_of_the_field_is_offered_for_a_plain_adapter() -> None:
    drivers, troubles = installed()
    assert troubles == []
    assert {"angel-eye", "bee-tek"} <= set(fitting(Found("/dev/x", "", line=True, usb="0403:6001"), drivers))


def test_the_lines_to_paste_are_a_scanner_section() -> None:
    lines = scanner_lines('/dev/odd "name"', ["angel-eye", "bee-tek"])
    assert tomllib.loads("\n".join(lines)) == {
        "scanner": {"driver": "angel-eye", "device": '/dev/odd "name"'}
    }
    assert "# or bee-tek" in lines[1]


def test_an_example_is_shown_whole_with_the_device_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scanners").mkdir()
    text = '# a shoe\n[scanner]\ndriver = "shoe"\ndevice = "/dev/old"   # here\n# baud = 4800\n'
    (tmp_path / "scanners" / "shoe.toml").write_text(text)
    monkeypatch.setattr(devices_, "config_dir", lambda: tmp_path)
    for lines in (scanner_lines("/dev/\\1", ["shoe"]), scanner_lines("/dev/\\1", ["shoe", "x"], whole=True)):
        assert lines[0] == "# a shoe" and lines[-1] == "# baud = 4800"
        assert tomllib.loads("\n".join(lines))["scanner"] == {"driver": "shoe", "device": "/dev/\\1"}
    assert len(scanner_lines("/dev/x", ["other"], whole=True)) == 3


def test_every_example_that_is_shipped_takes_a_device() -> None:
    for one in installed()[0]:
        lines = scanner_lines("/dev/serial/by-id/usb-x", [one.name], whole=True)
        section = tomllib.loads("\n".join(lines))["scanner"]
        assert (section["driver"], section["device"]) == (one.name, "/dev/serial/by-id/usb-x")


# --- serial servers ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def shut() -> int:
    with listening() as port:
        return port


def test_open_and_refused_ports_are_told_apart(shut: int) -> None:
    with listening() as one, listening() as other:
        answers = try_ports(LOCAL, (shut, one, other))
    assert set(answers.open) == {one, other}
    assert answers.refused == (shut,)
    assert answers.why == ""


def test_a_host_that_says_nothing_takes_a_bounded_time() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with contextlib.ExitStack() as stack:
            for _ in range(4):  # until nobody is taken any more
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
            begun = time.monotonic()
            answers = try_ports(LOCAL, (port,), seconds=0.2)
            assert time.monotonic() - begun < 10
    assert answers.open == () and answers.refused == ()
    assert "nothing answers" in answers.why


def test_ports_tried_are_few_and_those_pasted_give_raw_bytes() -> None:
    assert {4001, 950} <= set(PORTS)
    assert len(PORTS) < 50
    assert 4001 in USABLE and 950 not in USABLE and 23 not in USABLE
