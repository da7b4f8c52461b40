"""What this machine does to a port, read from /proc and /sys as they would be on a technician's machine."""

from __future__ import annotations

import os
import socket
from ipaddress import ip_address
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from tablectl.technician.machine import (
    Holders,
    connected_ports,
    grabbers,
    holders,
    is_tty,
    latency_ms,
    line_troubles,
    may_open,
)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A port, and a link to it as udev makes one."""
    port = tmp_path / "dev" / "ttyUSB3"
    port.parent.mkdir()
    port.write_bytes(b"")
    (tmp_path / "by-id").symlink_to(port)
    return tmp_path / "by-id"


def process(proc: Path, pid: int, name: str, *opens: Path) -> Path:
    folder = proc / str(pid)
    (folder / "fd").mkdir(parents=True)
    (folder / "comm").write_text(f"{name}\n")
    for number, path in enumerate(opens):
        (folder / "fd" / str(number)).symlink_to(path)
    return folder


def test_who_holds_a_port_is_named_by_whatever_link_it_is_asked_for(node: Path, tmp_path: Path) -> None:
    proc, port = tmp_path / "proc", node.resolve()
    process(proc, 812, "tablectl", Path("/dev/null"), port)
    process(proc, 99, "minicom", port, port)
    process(proc, 5, "sshd", Path("/dev/null"))
    process(proc, os.getpid(), "python", port)
    (proc / "uptime").write_text("1")
    found = holders(str(node), proc)
    assert found == Holders(((99, "minicom"), (812, "tablectl")), hidden=False)
    assert found.words == "minicom (pid 99), tablectl (pid 812)"


def test_a_process_that_ends_meanwhile_is_no_fault(node: Path, tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    (proc / "77").mkdir(parents=True)
    assert holders(str(node), proc).words == ""
    assert grabbers(proc) == []
    assert holders(str(node), tmp_path / "none") == Holders((), hidden=False)


def test_what_may_not_be_looked_at_is_said_to_be_hidden(
    node: Path, tmp_path: Path, mocker: MockerFixture
) -> None:
    process(tmp_path / "proc", 7, "secret", node.resolve())
    real = Path.iterdir

    def iterdir(path: Path) -> object:
        if path.name == "fd":
            raise PermissionError
        return real(path)

    mocker.patch.object(Path, "iterdir", iterdir)
    assert holders(str(node), tmp_path / "proc") == Holders((), hidden=True)


def test_who_grabs_adapters_is_named_with_the_way_out(tmp_path: Path) -> None:
    process(tmp_path, 1, "systemd")
    process(tmp_path, 2, "ModemManager")
    process(tmp_path, 3, "brltty")
    first, second = grabbers(tmp_path)
    assert first.startswith("ModemManager is running") and "udev rules" in first
    assert second.startswith("brltty is running") and "udev rules" in second


def test_the_latency_timer_of_an_adapter_is_read_and_told_when_long(node: Path, tmp_path: Path) -> None:
    sys, proc = tmp_path / "sys", tmp_path / "proc"
    assert latency_ms(str(node), sys) is None
    assert not is_tty(str(node), sys)
    timer = sys / "class" / "tty" / "ttyUSB3" / "device" / "latency_timer"
    timer.parent.mkdir(parents=True)
    for text, ms in (("16\n", 16), ("1\n", 1), ("", None)):
        timer.write_text(text)
        assert latency_ms(str(node), sys) == ms
        assert bool(line_troubles(str(node), proc, sys)) == (ms == 16)
    timer.write_text("16\n")
    assert "16 ms" in line_troubles(str(node), proc, sys)[0]
    assert is_tty(str(node), sys)


def test_connections_to_a_host_are_seen_by_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        assert connected_ports(ip_address("127.0.0.1")) >= {server.getsockname()[1]}
        assert server.getsockname()[1] not in connected_ports(ip_address("127.0.0.2"))
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as server:
        assert server.getsockname()[1] not in connected_ports(ip_address("::1")), "nobody is connected"
        with socket.create_connection(server.getsockname()[:2]):
            assert server.getsockname()[1] in connected_ports(ip_address("::1"))
    assert connected_ports(ip_address("127.0.0.1"), tmp_path) == frozenset()


def test_who_may_not_open_a_port_is_told_the_group(node: Path, mocker: MockerFixture) -> None:
    assert may_open(str(node)) is None
    mocker.patch("os.access", return_value=False)
    group = mocker.patch("grp.getgrgid")
    group.return_value.gr_name = "dialout"
    node.resolve().chmod(0o660)
    why = may_open(str(node)) or ""
    assert "usermod -aG dialout" in why and str(node) in why
    node.resolve().chmod(0o600)
    assert "udev rules" in (may_open(str(node)) or "")
    group.return_value.gr_name = "root"
    node.resolve().chmod(0o660)
    assert "udev rules" in (may_open(str(node)) or "")
