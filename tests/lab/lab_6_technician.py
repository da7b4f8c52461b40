"""A technician at the machine: what is plugged in is listed, and the lines shown are the ones that work."""

from __future__ import annotations

import json

from tests.lab.gadget import POS, Gadget
from tests.lab.table import CONFIG, Table, config

TABLECTL = "/opt/tablectl/bin/tablectl"


def test_devices_shows_what_is_plugged_in_and_the_lines_to_paste(table: Table) -> None:
    guest = table.guest
    guest.plug_ftdi("shoe", serial="A50285BI")
    guest.plug_keyboard()
    Gadget(guest, POS, serial="18113B0A21", product=0x0B61).plug()
    guest.until("the adapter is there", lambda: guest.has("/dev/ttyUSB0"))
    guest.run("udevadm settle --timeout=60")
    shown = json.loads(guest.out(f"{TABLECTL} devices --json"))["devices"]
    usb = {one["device"]: one["drivers"] for one in shown if one["usb"]}
    adapter = "/dev/serial/by-id/usb-QEMU_QEMU_USB_SERIAL_A50285BI-if00-port0"
    scanner = "usb:0c2e:0b61:18113B0A21"
    keyboard = "usb:0627:0001:KEYS"
    assert usb.pop(keyboard, []) == [], "an ordinary keyboard is nobody's scanner"
    assert set(usb) == {adapter, scanner}
    assert "angel-eye" in usb[adapter]
    assert "hid-pos" in usb[scanner]
    words = guest.out(f"{TABLECTL} devices")
    for device in (adapter, scanner):
        assert f'device = "{device}"' in words
    assert f'device = "{keyboard}"' not in words
    table.start(config("angel-eye", adapter))
    table.up()
    held = guest.out(f"{TABLECTL} devices")
    assert "only one may read it" in held
    # As the service's own user, with the groups and the rules that were installed.
    said = guest.run(f"runuser -u tablectl -- {TABLECTL} check --config {CONFIG}", check=False).out
    assert f"{adapter} is there" in said
    assert "may not open" not in said
    assert "latency" not in said
