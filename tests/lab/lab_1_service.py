"""The installed service under a real systemd: it comes up whether or not its scanner is there."""

from __future__ import annotations

from pathlib import Path

from tests.lab.guest import Guest
from tests.lab.table import SOCKET, UNIT, Table, config

NOWHERE = config("angel-eye", "/dev/serial/by-id/usb-none-if00-port0")


def test_the_service_is_ready_without_its_scanner(table: Table) -> None:
    state = table.start(NOWHERE)
    show = dict(
        line.split("=", 1)
        for line in table.guest.out(
            f"systemctl show {UNIT} -p ActiveState,NotifyAccess,MainPID,User"
        ).splitlines()
    )
    assert show["ActiveState"] == "active"
    assert show["User"] == "tablectl"
    assert not state["scanner"]["up"]
    assert table.guest.out(f"stat -c %U:%G {SOCKET}") == "tablectl:tablectl"


def test_a_boot_without_the_scanner_ends_with_the_table_up_and_degraded(guest: Guest, folder: Path) -> None:
    table = Table(guest)
    table.start(NOWHERE)
    # A real boot of a disk on which the service is enabled and configured.
    guest.run("sync")
    boots = guest.out("cat /proc/sys/kernel/random/boot_id")
    guest.reboot()
    state = table.state()
    assert guest.out("cat /proc/sys/kernel/random/boot_id") != boots
    assert not state["scanner"]["up"]
    assert guest.out(f"systemctl is-active {UNIT}") == "active"
    assert guest.out("systemctl show -p NFailedUnits --value") == "0"


def test_the_watchdog_and_the_sandbox_are_in_force(table: Table) -> None:
    table.start(NOWHERE)
    guest = table.guest
    assert guest.out(f"systemctl show {UNIT} -p WatchdogUSec --value") == "10s"
    pid = guest.out(f"systemctl show {UNIT} -p MainPID --value")
    status = guest.out(f"grep -E 'NoNewPrivs|CapEff|Seccomp:' /proc/{pid}/status")
    assert status.split() == ["CapEff:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2"]
    guest.run(f"kill -STOP {pid}")
    guest.until(
        "the watchdog has put another in its place",
        lambda: guest.out(f"systemctl show {UNIT} -p MainPID --value") not in ("0", pid),
    )
    assert not table.state()["scanner"]["up"]
