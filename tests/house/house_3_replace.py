"""A PC dies in the middle of a hand, and another takes its place, by the commands of docs/install.md."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.house.house_1_service import same_hand
from tests.house.house_2_package import LISTENS, SECRET, guide
from tests.house.machine import Machine
from tests.house.table import CONFIG, ID, SHOE, UNIT, HouseTable, shoe

SERVER = '[server]\nurl = "http://127.0.0.1:8480/v1/tables/{table}/events"\n'
MIRROR = f'[journal]\nmirror = "/mnt/mirror/tablectl/{ID}.db"\n'


def serve(machine: Machine, held: bytes = b"") -> None:
    """The game server, with what it held before; to the table it is the same one, wherever it runs."""
    machine.write("/root/secret", SECRET + "\n")
    if held:
        machine.write("/root/server.db", held)
    machine.run(
        "systemd-run --quiet --unit=gameserver tablectl gameserver --db /root/server.db"
        " --secret-file /root/secret --accept-test"
    )
    machine.until("it listens", lambda: machine.run(LISTENS, check=False).code == 0)


def test_another_pc_takes_over_in_mid_hand_and_the_server_has_every_result_once(
    installed: Path, measured: Callable[[str, float], None], tmp_path: Path
) -> None:
    medium = tmp_path / "medium"
    medium.mkdir()
    with shoe() as (emulated, device):
        places = [(device, "/dev/shoe0"), (str(medium), "/mnt/mirror")]
        old, new = Machine(places, installed), None
        try:
            table = HouseTable(old, emulated)
            old.run("install -d -m 700 -o tablectl -g tablectl /mnt/mirror/tablectl")
            serve(old)
            old.write("/etc/tablectl/credentials/push-hmac", SECRET + "\n")
            table.begin(SHOE + SERVER + MIRROR)
            table.wait("the link is good", lambda s: s["link"]["good"])
            before = table.in_play()
            table.wait("the server has all of it", lambda s: s["acked"] == s["sequence"])
            time.sleep(2)  # the mirror follows by half a second
            copy = old.outside("/etc/tablectl")
            old.run("tar -cf /root/etc.tar -C /etc tablectl")
            kept = old.outside("/root/etc.tar").read_bytes()
            assert copy.exists()
            old.run("systemctl stop gameserver")
            held = old.outside("/root/server.db").read_bytes()
            old.pull_the_plug()

            new = Machine(places, installed)
            table = HouseTable(new, emulated)
            serve(new, held)
            new.write("/root/etc.tar", kept)
            begun = time.monotonic()
            new.run("tar -xf /root/etc.tar -C /etc")
            (box,) = guide()["Replace the PC in mid-shift"]
            # The single table of this machine: its unit is tablectl.service, its file LAB.toml.
            new.run("set -e\n" + box.replace("tablectl@T07", UNIT).replace("T07", ID))
            measured("replace the PC in mid-hand: from the copy put back to READY", time.monotonic() - begun)
            same_hand(table, before)
            table.wait("the link is good", lambda s: s["link"]["good"])
            table.wait("the server has all of it", lambda s: s["acked"] == s["sequence"])
            assert new.has(CONFIG)
        finally:
            old.forget()
            if new is not None:
                new.forget()
