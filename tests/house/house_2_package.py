"""The package: what docs/install.md says, command by command; a new version on a live journal; its end."""

from __future__ import annotations

import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.house.machine import Machine
from tests.house.table import CONFIG, ID, SOCKET, UNIT, HouseTable
from tests.lab.guest import GuestFault
from tests.lab.image import ROOT

Figure = Callable[[str, float], None]

SECRET = "whsec_" + "QUJD" * 11 + "QUI="
PLAYED_HERE = (
    ('id = "T07"', 'id = "T07"\ntest = true'),
    ('driver = "angel-eye"', 'driver = "bee-tek"'),
    ("/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0", "/dev/shoe0"),
    ("https://games.example/", "http://127.0.0.1:8480/"),
    ("tablectl devices\n", "tablectl devices || true\n"),  # there is no USB
)
"""What of the guide's own lines is another thing here: the shoe on the cable, and whose server it is."""


def guide() -> dict[str, list[str]]:
    """The boxes of docs/install.md by the heading they stand under."""
    boxes: dict[str, list[str]] = {}
    for part in re.split(r"(?m)^## ", (ROOT / "docs/install.md").read_text())[1:]:
        heading, _, text = part.partition("\n")
        boxes[heading] = re.findall(r"(?ms)^```sh\n(.*?)^```$", text)
    return boxes


def newer(package: Path, folder: Path, version: str) -> Path:
    """The same package under another version."""
    tree, made = folder / "tree", folder / f"tablectl_{version}_amd64.deb"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
    subprocess.run(
        ["dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, made], check=True, capture_output=True
    )
    return made


def put(machine: Machine, package: Path) -> None:
    """The one package that lies there."""
    machine.run("rm -f /root/tablectl_*.deb")
    machine.write(f"/root/{package.name}", package.read_bytes())


def test_every_command_of_the_guide(
    bare: HouseTable, package: Path, measured: Figure, tmp_path: Path
) -> None:
    machine = bare.machine
    put(machine, package)
    machine.write("/root/secret", SECRET + "\n")
    boxes = guide()
    asked = b"1234\n"  # the PIN that `tablectl pin` asks for

    def follow(heading: str) -> list[str]:
        said = []
        begun = time.monotonic()
        for box in boxes[heading]:
            for theirs, ours in PLAYED_HERE:
                box = box.replace(theirs, ours)
            if box.startswith("CREDENTIALS_DIRECTORY"):  # the server that is there by now
                machine.run(
                    "systemd-run --quiet --unit=gameserver tablectl gameserver --db /root/server.db"
                    " --secret-file /root/secret --accept-test"
                )
                machine.until("it listens", lambda: machine.run(LISTENS, check=False).code == 0)
            said.append(machine.run(f"set -e\n{box}", stdin=asked).out)
        measured(f"docs/install.md, all commands of: {heading}", time.monotonic() - begun)
        return said

    ten_minutes = follow("A table in ten minutes")
    assert len(ten_minutes) == 7
    assert "ok    journal" in ten_minutes[4]
    assert "Active: active (running)" in ten_minutes[5]
    assert re.search(r'Status: "table T07: closed', ten_minutes[5])
    assert "tablectl" in machine.out("id -nG dealer").split()
    machine.run("setpriv --reuid=dealer --init-groups tablectl status")
    machine.until("the link is good", lambda: "link good" in machine.show(UNIT, "StatusText"))
    follow("Several tables on one PC")
    machine.run("tablectl --table T07 status")
    assert machine.show("tablectl@T08", "ActiveState") == "active"
    follow("New settings")
    put(machine, newer(package, tmp_path, "0.1.0+1"))
    follow("A new version")
    assert machine.out("dpkg-query -W -f '${Version}' tablectl") == "0.1.0+1"
    assert machine.show("tablectl@T07", "ActiveState") == "active"
    (gone,) = follow("Taking it away")
    assert "T07.db" in gone and "T08.db" in gone


LISTENS = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8480), 1)'"


def test_a_new_version_waits_for_the_end_of_the_round_and_goes_on_in_the_same_journal(
    table: HouseTable, package: Path, measured: Figure, tmp_path: Path
) -> None:
    machine = table.machine
    table.begin()
    before = table.in_play()
    epoch, pid = table.epoch(), table.pid()
    put(machine, newer(package, tmp_path, "0.1.0+1"))
    with pytest.raises(GuestFault, match=f"table {ID} is in the middle of a round; nothing was changed"):
        machine.run("apt-get install --yes ./tablectl_*.deb")
    assert machine.out("dpkg-query -W -f '${Version} ${db:Status-Status}' tablectl") == "0.1.0 installed"
    assert table.pid() == pid, "it was not even stopped"
    table.draw(2)
    table.wait("the result is out", lambda s: s["round"] is None)
    rows = table.state()["row"]
    begun = time.monotonic()
    machine.run("apt-get install --yes ./tablectl_*.deb")
    measured("a new version on a live table, from order to READY", time.monotonic() - begun)
    assert machine.out("dpkg-query -W -f '${Version}' tablectl") == "0.1.0+1"
    state = table.up()
    assert table.pid() not in ("0", pid)
    assert table.epoch() == epoch
    assert state["row"] >= rows
    assert (state["shoe"]["number"], state["shoe"]["out"]) == (before["shoe"]["number"], 4)
    table.bets()
    table.draw(4)
    table.wait("the next result is out", lambda s: s["round"] is None)
    assert len(table.told("round.resulted")) == 2
    # In mid-round after all, by one who says so: the round is held, not lost.
    table.bets()
    table.draw(2)
    put(machine, newer(package, _emptied(tmp_path), "0.1.0+2"))
    machine.run("TABLECTL_ANYWAY=1 apt-get install --yes ./tablectl_*.deb")
    assert [hold["code"] for hold in table.up()["holds"]] == ["restart"]


def _emptied(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def test_a_stopped_table_stays_stopped_over_a_new_version(
    table: HouseTable, package: Path, tmp_path: Path
) -> None:
    table.begin()
    table.machine.run(f"systemctl stop {UNIT}")
    put(table.machine, newer(package, tmp_path, "0.1.0+1"))
    table.machine.run("apt-get install --yes ./tablectl_*.deb")
    assert table.machine.show(UNIT, "ActiveState") == "inactive"
    table.machine.run(f"systemctl start {UNIT}")
    table.up()


def test_removed_and_purged_it_leaves_what_is_money_and_nothing_else(table: HouseTable) -> None:
    machine = table.machine
    table.begin()
    machine.run(f"systemctl enable {UNIT}")
    table.in_play(0)
    table.do("void", boss=True)
    sums = "sha256sum /var/lib/tablectl/LAB.db /etc/tablectl/credentials/* /etc/tablectl/LAB.toml"
    machine.run("apt-get remove --yes tablectl")
    assert machine.run("systemctl is-active tablectl", check=False).code != 0
    assert not machine.has("/opt/tablectl")
    assert not machine.has("/usr/bin/tablectl")
    assert machine.has("/etc/tablectl/table.toml.example")
    kept = machine.out(sums)
    said = machine.out("apt-get purge --yes tablectl")
    assert "kept: the journals in /var/lib/tablectl" in said
    assert machine.out(sums) == kept
    assert not machine.has("/etc/tablectl/table.toml.example")
    left = machine.out(
        "find / -xdev -name '*tablectl*' -not -path '/proc/*' -not -path '/root/*' -not -path '/var/log/*'"
        " -not -path '/var/lib/apt/*' -not -path '/var/cache/*' -not -path '/run/*' -not -path '/tmp/*'"
    ).split()
    assert sorted(path for path in left if "house" not in path) == ["/etc/tablectl", "/var/lib/tablectl"], (
        left
    )
    assert machine.out("stat -c %U /var/lib/tablectl/LAB.db") == "tablectl"


def test_what_else_it_brings_is_there(table: HouseTable) -> None:
    machine = table.machine
    page = machine.out("zcat /usr/share/man/man1/tablectl.1.gz")
    assert ".SS bets open" in page
    assert r"\-\-config" in page
    found = machine.out(
        "bash -c 'source /usr/share/bash-completion/completions/tablectl;"
        ' COMP_WORDS=(tablectl shoe ""); COMP_CWORD=2; _tablectl_completion tablectl;'
        ' printf "%s\\n" "${COMPREPLY[@]}"\''
    )
    assert {"new", "end", "adopt"} <= set(found.split())
    assert machine.out("/opt/tablectl/bin/python3 -c 'import sys; print(sys.prefix)'") == "/opt/tablectl"
    nats = "/opt/tablectl/bin/python3 -c 'import nkeys, tablectl.delivery.nats; print(1)'"
    assert machine.out(nats) == "1", "a NATS credential needs it"
    machine.run("dpkg --verify tablectl")
    machine.run("systemd-analyze verify tablectl.service tablectl@T07.service")
    machine.run("udevadm verify /usr/lib/udev/rules.d/60-tablectl.rules", check=False)  # from systemd 254 on
    assert machine.out("stat -c '%U:%G %a' /etc/tablectl/credentials") == "root:root 700"
    assert not machine.has("/opt/tablectl/bin/pip"), "nothing that fetches"
    assert machine.out("find /opt/tablectl -user tablectl -o -perm -o+w -not -type l") == ""
    assert CONFIG and SOCKET
