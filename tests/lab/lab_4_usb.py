"""USB scanners read through libusb: taken from the kernel's driver, given back, pulled out, found again."""

from __future__ import annotations

import tomllib

from tablectl_drivers import hid_keyboard, hid_pos

from tablectl.cards import Card
from tests.lab.gadget import KEYBOARD, POS, Gadget
from tests.lab.guest import Guest
from tests.lab.image import ROOT
from tests.lab.table import UNIT, Table, config

SERIAL = "18113B0A21"
PRODUCT = 0x0B61
DEVICE = f"usb:0c2e:0b61:{SERIAL}"
CARDS = tomllib.loads((ROOT / "config/cards/suit-rank.toml").read_text())["codes"]
CARD_TABLE = 'cards = "suit-rank"'


def driver_of(guest: Guest, device: str) -> str:
    """Which driver of the kernel has the scanner's interface."""
    return guest.run(f"basename $(readlink {device}/*:1.0/driver)", check=False).out.strip()


def pos(card: str) -> bytes:
    return hid_pos.Encoder({"cards": CARDS}).card(Card.parse(card))


def keys(card: str) -> bytes:
    return hid_keyboard.Encoder({"cards": CARDS}).card(Card.parse(card))


def dealing(table: Table) -> None:
    table.up()
    table.open()
    table.bets()


def test_a_pos_scanner_is_taken_from_the_kernel_read_and_given_back(table: Table) -> None:
    guest = table.guest
    scanner = Gadget(guest, POS, serial=SERIAL, product=PRODUCT)
    device = scanner.plug()
    assert driver_of(guest, device) == "usbhid", "before the daemon, the kernel has it"
    node = guest.out(f"readlink -f /dev/tablectl/usb/0c2e:0b61:{SERIAL}")
    assert guest.out(f"stat -c '%U:%G %a' {node}") == "root:dialout 660"
    table.start(config("hid-pos", DEVICE, CARD_TABLE))
    dealing(table)
    assert driver_of(guest, device) == "usbfs"
    for number, card in enumerate(("8S", "5C", "9H"), start=1):
        scanner.say(pos(card))
        table.out(number)
    assert table.state()["round"]["cards"] == {"P1": "8S", "B1": "5C", "P2": "9H"}
    guest.run(f"systemctl stop {UNIT}")
    guest.until("the kernel has it again", lambda: driver_of(guest, device) == "usbhid")


def test_a_pos_scanner_pulled_out_is_lost_once_and_found_at_its_new_address(table: Table) -> None:
    guest = table.guest
    scanner = Gadget(guest, POS, serial=SERIAL, product=PRODUCT)
    device = scanner.plug()
    address = guest.out(f"cat {device}/devnum")
    table.start(config("hid-pos", DEVICE, CARD_TABLE))
    dealing(table)
    scanner.say(pos("8S"))
    table.out(1)
    scanner.unplug()
    table.lost()
    state = table.wait("the table is held", lambda s: s["holds"])
    assert [hold["code"] for hold in state["holds"]] == ["device-lost"]
    device = scanner.plug()
    table.up()
    assert guest.out(f"cat {device}/devnum") != address
    table.do("release", boss=True, action="cards-confirmed")
    scanner.say(pos("8S"))  # another eight of spades: eight decks
    state = table.out(2)
    assert state["round"]["cards"] == {"P1": "8S", "B1": "8S"}
    (lost,) = table.told("scanner.lost")
    assert "unplugged" in lost["reason"], "errno 19 in words"
    assert len(table.told("scanner.restored")) == 2, "at the start, and once more"


def test_two_scanners_of_one_make_are_told_apart_by_their_serial_numbers(table: Table) -> None:
    guest = table.guest
    guest.run("modprobe dummy_hcd num=2")
    other = Gadget(guest, POS, serial="OTHER", product=PRODUCT, number=0)
    other.plug()
    mine = Gadget(guest, POS, serial=SERIAL, product=PRODUCT, number=1)
    mine.plug()
    table.start(config("hid-pos", DEVICE, CARD_TABLE))
    dealing(table)
    other.say(pos("2D"))
    mine.say(pos("8S"))
    state = table.out(1)
    assert state["round"]["cards"] == {"P1": "8S"}


def test_no_digit_of_a_keyboard_scanner_reaches_the_console(table: Table) -> None:
    guest = table.guest
    scanner = Gadget(guest, KEYBOARD, serial=SERIAL, product=PRODUCT)
    device = scanner.plug()
    assert driver_of(guest, device) == "usbhid"
    guest.until(
        "it is a keyboard", lambda: guest.run("ls /dev/input/by-id/*-event-kbd", check=False).code == 0
    )
    # What a focused window would get: everything every input device says, in one file.
    listen = "for d in /dev/input/event*; do cat $d >> /run/typed & done; wait"
    guest.run(f"systemd-run --quiet --unit=typed bash -c '{listen}'")
    scanner.say(keys("8S"))
    guest.until(
        "without the daemon its digits are typed",
        lambda: guest.run("test -s /run/typed", check=False).code == 0,
    )
    guest.run("systemctl stop typed; rm /run/typed")

    table.start(config("hid-keyboard", DEVICE, CARD_TABLE))
    dealing(table)
    assert driver_of(guest, device) == "usbfs"
    guest.run(f"systemd-run --quiet --unit=typed bash -c '{listen}'")
    for number, card in enumerate(("8S", "5C"), start=1):
        scanner.say(keys(card))
        table.out(number)
    assert table.state()["round"]["cards"] == {"P1": "8S", "B1": "5C"}
    assert guest.run("test -s /run/typed", check=False).code != 0
    guest.run(f"systemctl stop {UNIT}")
    guest.until("the kernel has it again", lambda: driver_of(guest, device) == "usbhid")
