"""`tablectl devices`, and the scanner in `tablectl check`: findings a technician can act on, a line each."""

from __future__ import annotations

import json
import os
import socket
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tablectl.cli.check.device import device_findings
from tablectl.cli.check.findings import Finding
from tablectl.cli.devices import NOTHING
from tablectl.config import load_config
from tablectl.finder import Found
from tablectl.lock import TableLock
from tablectl.plugins import FINDERS, load_finder, names
from tablectl.technician.machine import Holders
from tests.cli.conftest import Typed
from tests.cli.test_technician import alone, configured  # noqa: F401 a fixture

FTDI = Found(
    device="/dev/serial/by-id/usb-FTDI_A5",
    about="FTDI FT232R",
    line=True,
    node="/dev/ttyUSB0",
    usb="0403:6001",
    serial="A5",
    others=("/dev/serial/by-path/pci-1",),
)
TWIN = Found(
    device="/dev/serial/by-path/pci-2",
    about="USB serial adapter",
    line=True,
    node="/dev/ttyUSB1",
    usb="1a86:7523",
    troubles=("/dev/ttyUSB2 cannot be told from it: …",),
)
HID = Found(
    "usb:0c2e:0b61:S1", "Xenon", line=False, usb="0c2e:0b61", serial="S1", others=("usb:0c2e:0b61@1-1",)
)
KEYBOARD = Found("usb:046d:c31c@1-2", "Keyboard", line=False, usb="046d:c31c")


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> list[Found]:
    """What the finders find; nobody holds it, nothing grabs it."""
    there: list[Found] = []
    monkeypatch.setattr("tablectl.technician.devices.find_all", lambda: (there, []))
    monkeypatch.setattr("tablectl.technician.machine.grabbers", lambda: [])
    monkeypatch.setattr("tablectl.technician.machine.holders", lambda _: Holders((), hidden=False))
    return there


def test_the_finders_are_there() -> None:
    assert {"serial", "usb"} <= set(names(FINDERS))
    assert callable(load_finder("serial"))


# --- devices ----------------------------------------------------------------------------------------------


def test_each_device_is_shown_with_names_troubles_and_lines(alone: Typed, plugged: list[Found]) -> None:  # noqa: F811
    plugged += [FTDI, TWIN, HID, KEYBOARD]
    code, out, err = alone("devices")
    assert (code, err) == (0, "")
    for text in (
        "/dev/ttyUSB0  FTDI FT232R (FTDI adapter)",
        "  usb 0403:6001, serial number A5",
        "  named /dev/serial/by-id/usb-FTDI_A5",
        "  also /dev/serial/by-path/pci-1",
        '    device = "/dev/serial/by-id/usb-FTDI_A5"',
        "(CH340 adapter)",
        "no serial number",
        "  ! /dev/ttyUSB2 cannot be told from it",
        '    device = "usb:0c2e:0b61:S1"',
        "no driver lists it",
    ):
        assert text in out
    first = out.partition("\n\n")[0].partition("    [scanner]")
    section = tomllib.loads("[scanner]" + first[2])["scanner"]
    assert section == {"driver": "angel-eye", "device": FTDI.device}
    assert "bee-tek" in first[2]


def test_one_drivers_example_and_json(alone: Typed, plugged: list[Found]) -> None:  # noqa: F811
    plugged += [FTDI]
    _, out, _ = alone("devices", "--driver", "bee-tek")
    assert 'driver = "bee-tek"' in out and "# or" not in out
    code, out, _ = alone("devices", "--json")
    (device,) = json.loads(out)["devices"]
    assert code == 0
    assert device["kind"] == "serial" and device["device"] == FTDI.device and "angel-eye" in device["drivers"]
    code, _, err = alone("devices", "--driver", "dance")
    assert code == 1 and "there is no driver dance; there are: angel-eye" in err


def test_who_holds_it_and_who_would_grab_it_is_told(
    alone: Typed,  # noqa: F811
    plugged: list[Found],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugged += [FTDI]
    monkeypatch.setattr(
        "tablectl.technician.machine.holders", lambda _: Holders(((9, "mini\x1bcom"),), hidden=False)
    )
    monkeypatch.setattr("tablectl.technician.machine.grabbers", lambda: ["ModemManager is running: …"])
    _, out, _ = alone("devices")
    assert "held by mini\\x1bcom (pid 9)" in out
    assert "! ModemManager is running" in out


def test_where_nothing_is_plugged_in_it_is_said_what_to_do(alone: Typed, plugged: list[Found]) -> None:  # noqa: F811
    code, out, _ = alone("devices")
    assert code == 1
    assert all(text in out for text in NOTHING)
    assert alone("devices", "--json")[0] == 1


def test_a_machine_as_it_is_can_be_looked_at(alone: Typed) -> None:  # noqa: F811
    code, out, err = alone("devices")
    assert code in (0, 1) and out and err == ""


def test_a_serial_server_is_tried_port_by_port(alone: Typed, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setattr("tablectl.technician.serial_servers.PORTS", {port: "a server", 1: "none"})
        monkeypatch.setattr("tablectl.technician.serial_servers.USABLE", {port})
        code, out, _ = alone("devices", "--host", "127.0.0.1", "--driver", "angel-eye")
        assert code == 0 and f'device = "tcp://127.0.0.1:{port}"' in out
        assert "The line speed is set in the serial server" in out
        assert f'"port": {port}' in alone("devices", "--host", "127.0.0.1", "--json")[1]
        with socket.create_connection(("127.0.0.1", port)):
            accepted = [server.accept() for _ in range(3)]  # two tries, and the daemon's
            server.settimeout(0.05)
            code, out, _ = alone("devices", "--host", "127.0.0.1")
            assert code == 0 and f"127.0.0.1:{port}  is read from this machine already" in out
            with pytest.raises(TimeoutError):
                server.accept()
            for connection, _ in accepted:
                connection.close()
    code, out, _ = alone("devices", "--host", "127.0.0.1")
    assert code == 1 and "refuses the usual ports" in out
    for text in ("10.0.0.0/8", "example.org", "1.2.3"):
        assert alone("devices", "--host", text)[0] == 2


# --- check ------------------------------------------------------------------------------------------------


def findings(folder: Path, device: str, driver: str = "angel-eye", **more: Any) -> list[Finding]:
    return list(device_findings(load_config(configured(folder, device, driver, **more))))


def test_check_names_what_is_there_by_its_identity(
    tmp_path: Path, plugged: list[Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "ttyUSB0"
    node.write_bytes(b"")
    named = Found(str(node), "FTDI FT232R", line=True, node=str(node), usb="0403:6001", serial="A5")
    plugged += [named]
    (only,) = findings(tmp_path, str(node))[-1:]
    assert only.grade == "ok" and "FTDI FT232R, usb 0403:6001, serial number A5" in only.text
    (gone,) = findings(tmp_path, str(tmp_path / "ttyUSB7"))
    assert gone.grade == "FAIL" and "`tablectl devices`" in gone.text


def test_check_warns_of_names_that_may_mean_another_device(tmp_path: Path, plugged: list[Found]) -> None:
    node, by_id = tmp_path / "ttyUSB1", tmp_path / "by-id" / "usb-CH340"
    node.write_bytes(b"")
    by_id.parent.mkdir()
    by_id.symlink_to(node)
    here = Found("/dev/serial/by-path/p2", "CH340", line=True, node=str(node), usb="1a86:7523")
    plugged += [here]
    first, *_ = findings(tmp_path, str(node))
    assert first.grade == "warn" and 'write device = "/dev/serial/by-path/p2"' in first.text
    first, *_ = findings(tmp_path, str(by_id))
    assert first.grade == "warn" and "without a serial number" in first.text
    plugged[:] = [Found(**{**_fields(here), "troubles": ("/dev/ttyUSB2 cannot be told from it",)})]
    first, *_ = findings(tmp_path, str(by_id))
    assert first.grade == "FAIL" and "cannot be told" in first.text and "by-path/p2" in first.text


def _fields(found: Found) -> dict[str, Any]:
    return {name: getattr(found, name) for name in Found.__dataclass_fields__}


def test_check_tells_a_driver_that_does_not_fit(tmp_path: Path, plugged: list[Found]) -> None:
    plugged += [HID, KEYBOARD]
    for device in (HID.device, *HID.others):
        first, second = findings(tmp_path, device, "bee-tek")
        assert first.grade == "ok" and "Xenon" in first.text
        assert (
            second.grade == "warn"
            and "is read with hid-" in second.text
            and "not with bee-tek" in second.text
        )
    (gone,) = findings(tmp_path, "usb:0c2e:0b61:S2", "bee-tek")
    assert gone.grade == "FAIL" and HID.device in gone.text


def test_check_names_another_reader_but_not_the_daemon(
    tmp_path: Path, plugged: list[Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "ttyUSB0"
    node.write_bytes(b"")
    plugged += [Found(str(node), "FTDI", line=True, node=str(node), usb="0403:6001", serial="A5")]
    monkeypatch.setattr("tablectl.technician.machine.is_tty", lambda _: True)
    held = Holders(((os.getpid(), "tablectl"), (9, "minicom")), hidden=False)
    monkeypatch.setattr("tablectl.technician.machine.holders", lambda _: held)
    (tmp_path / "data").mkdir()
    with TableLock(tmp_path / "data" / "T09.db", "T09"):
        found = findings(tmp_path, str(node))
    assert [one.grade for one in found if "minicom (pid 9)" in one.text] == ["FAIL"]
    assert f"held by the daemon (pid {os.getpid()})" in found[-1].text
    assert not any("tablectl (pid" in one.text for one in found[:-1])
    (first, *_) = findings(tmp_path, str(node))
    assert f"tablectl (pid {os.getpid()})" in first.text, "no daemon holds the lock: it is a stranger"


def test_check_leaves_a_serial_server_alone_that_the_daemon_reads(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (open_,) = findings(tmp_path, f"tcp://127.0.0.1:{port}")
        assert open_.grade == "ok" and "tablectl scan" in open_.text
    (tmp_path / "data").mkdir()
    (shut,) = findings(tmp_path, f"tcp://127.0.0.1:{port}")
    assert shut.grade == "FAIL"
    with TableLock(tmp_path / "data" / "T09.db", "T09"), socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        (theirs,) = findings(tmp_path, f"tcp://127.0.0.1:{server.getsockname()[1]}")
        assert theirs.grade == "ok" and f"the daemon (pid {os.getpid()})" in theirs.text
        with pytest.raises(TimeoutError):
            server.accept()  # nobody came: the daemon's connection might have been dropped for it


def test_check_warns_of_what_would_grab_the_adapter(
    tmp_path: Path, plugged: list[Found], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablectl.technician.machine.grabbers", lambda: ["brltty is running: …"])
    monkeypatch.setattr("tablectl.technician.machine.latency_ms", lambda *_: 16)
    node = tmp_path / "ttyUSB0"
    node.write_bytes(b"")
    plugged += [Found(str(node), "FTDI", line=True, node=str(node), usb="0403:6001", serial="A5")]
    found = findings(tmp_path, str(node))
    warned = " ".join(one.text for one in found if one.grade == "warn")
    assert "brltty is running" in warned and "latency timer is 16 ms" in warned
