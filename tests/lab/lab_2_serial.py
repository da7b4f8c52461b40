"""A shoe on an FTDI adapter: unplugged in mid-frame, plugged in again, renumbered, and one of two alike."""

from __future__ import annotations

import pytest

from tablectl.scanner import Label
from tests.lab.table import UNIT, AngelEye, Table, config

SERIAL = "A50285BI"
BY_ID = f"/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_{SERIAL}-if00-port0"


def plugged(table: Table) -> AngelEye:
    return AngelEye(table.guest.plug_ftdi("shoe", serial=SERIAL))


def again(table: Table) -> AngelEye:
    """The same shoe plugged in again."""
    table.guest.drop_backend("shoe")
    shoe = plugged(table)
    table.up()
    return shoe


def test_the_shoe_is_unplugged_in_mid_frame_and_plugged_in_again(table: Table) -> None:
    shoe = plugged(table)
    table.start(config("angel-eye", BY_ID))
    table.up()
    table.open()
    shoe.standby()
    table.bets()
    shoe.draw(Label.P1, "8S")
    table.out(1)

    shoe.break_off(Label.B1, "5C")
    table.guest.unplug("shoe")
    table.lost()
    state = table.wait("the table is held", lambda s: s["holds"])
    assert [hold["code"] for hold in state["holds"]] == ["device-lost"]
    assert state["shoe"]["out"] == 1
    assert state["round"]["cards"] == {"P1": "8S"}

    shoe = again(table)
    state = table.state()
    assert [hold["code"] for hold in state["holds"]] == ["device-lost"], "coming back releases nothing"
    assert state["shoe"]["out"] == 1, "half a frame is no card"
    # The dealer shows the card that came out; the pit boss puts it in its place, and the hand goes on.
    table.do("insert", boss=True, position="B1", card="5C")
    table.do("release", boss=True, action="cards-confirmed")
    shoe.draw(Label.P2, "9H")
    # Its number tells that a message was lost while the cable was out; people have put that card in already.
    state = table.wait("the gap is asked about", lambda s: s["holds"])
    assert [hold["code"] for hold in state["holds"]] == ["card-missed"]
    table.out(3)
    table.do("release", boss=True, action="accept")
    shoe.draw(Label.B2, "2D")
    table.out(4)
    state = table.wait("the hand is complete", lambda s: s["phase"] != "dealing")
    assert state["round"]["cards"] == {
        "P1": "8S",
        "B1": "5C",
        "P2": "9H",
        "B2": "2D",
    }
    assert len(table.told("scanner.lost")) == 1, "lost once, told once"
    assert len(table.told("scanner.restored")) == 2, "at the start, and once more"


def test_the_shoe_comes_back_as_another_tty_and_is_found(table: Table) -> None:
    guest = table.guest
    plugged(table)
    table.start(config("angel-eye", BY_ID))
    table.up()
    assert guest.out(f"readlink -f {BY_ID}") == "/dev/ttyUSB0"
    guest.unplug("shoe")
    table.lost()
    # Another adapter takes the number that has become free; it is not the table's, and nobody opens it.
    guest.plug_ftdi("other", serial="OTHER")
    guest.until("the other adapter is ttyUSB0", lambda: guest.has("/dev/ttyUSB0"))
    shoe = again(table)
    assert guest.out(f"readlink -f {BY_ID}") == "/dev/ttyUSB1"
    pid = guest.out(f"systemctl show {UNIT} -p MainPID --value")
    opened = guest.out(f"ls -l /proc/{pid}/fd")
    assert "/dev/ttyUSB1" in opened
    assert "/dev/ttyUSB0" not in opened
    table.open()
    shoe.standby()
    table.bets()
    shoe.draw(Label.P1, "8S")
    table.out(1)


@pytest.mark.parametrize("serial", [SERIAL, ""], ids=["same-number", "no-number"])
def test_two_adapters_of_one_name_are_refused_and_work_by_their_sockets(table: Table, serial: str) -> None:
    guest = table.guest
    guest.plug_ftdi("one", serial=serial, socket="1")
    second = AngelEye(guest.plug_ftdi("two", serial=serial, socket="2"))
    guest.until("both are there", lambda: guest.has("/dev/ttyUSB1"))
    guest.run("udevadm settle --timeout=60")
    names = guest.out("ls -d /dev/serial/by-id/* /dev/tablectl/by-serial/* 2>/dev/null; true").split()
    assert len(names) == (2 if serial else 1), "one name for two adapters"
    for name in names:
        state = table.start(config("angel-eye", name))
        assert not state["scanner"]["up"]
        table.says(f"{name} is ambiguous")
        guest.run(f"systemctl stop {UNIT}")
    for folder in ("serial", "tablectl"):
        socket = guest.out(f"ls -d /dev/{folder}/by-path/*:2:1.0-port0")
        table.start(config("angel-eye", socket))
        table.up()
        assert guest.out(f"readlink -f {socket}") == "/dev/ttyUSB1"
        guest.run(f"systemctl stop {UNIT}")
    table.start(config("angel-eye", socket))
    table.up()
    table.open()
    second.standby()
    table.bets()
    second.draw(Label.P1, "8S")
    assert table.out(1)["round"]["cards"] == {"P1": "8S"}
