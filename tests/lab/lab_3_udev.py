"""The project's udev rules: what they do to a scanner's devices, and that they do nothing to any other."""

from __future__ import annotations

from tests.lab.guest import Guest

SERIAL = "A50285BI"
CLAIMED = "/run/claimed-by-brltty"


def plug(guest: Guest) -> dict[str, str]:
    """An FTDI adapter, with the rules applied; the properties of its USB device."""
    guest.plug_ftdi("shoe", serial=SERIAL)
    guest.until("it is there", lambda: guest.has("/dev/ttyUSB0"))
    return properties(guest, usb_device(guest, "/dev/ttyUSB0"))


def usb_device(guest: Guest, node: str) -> str:
    """The folder in /sys of the USB device that a tty hangs on."""
    settle(guest)
    start = f"d=$(realpath /sys$(udevadm info -q path {node}))"
    return guest.out(f"{start}; until [ -e $d/idVendor ]; do d=$(dirname $d); done; echo $d")


def settle(guest: Guest) -> None:
    guest.run("udevadm settle --timeout=60")


def properties(guest: Guest, path: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in guest.out(f"udevadm info -q property {path}").splitlines())


def mode(guest: Guest, path: str) -> str:
    return guest.out(f"stat -L -c '%U:%G %a' {path}")


def test_udev_reads_the_rules_without_complaint(guest: Guest) -> None:
    guest.write("/etc/udev/rules.d/99-wrong.rules", 'SUBSYSTEM=="tty", GROOP="dialout"\n')
    guest.run("systemctl restart systemd-udevd && udevadm control --ping")
    plug(guest)  # an event, so that the rules have been read
    settle(guest)
    said = guest.out("journalctl -u systemd-udevd --no-pager -o cat")
    assert "99-wrong.rules" in said, "a fault would be told"
    assert "tablectl" not in said


def test_an_ftdi_adapter_gets_links_group_mode_and_one_millisecond(guest: Guest) -> None:
    of_usb = plug(guest)
    for link in (f"by-serial/0403:6001:{SERIAL}", "by-path/*usb-0:1:1.0-port0"):
        assert guest.out(f"readlink -f /dev/tablectl/{link}") == "/dev/ttyUSB0"
    assert mode(guest, "/dev/ttyUSB0") == "root:dialout 660"
    assert guest.out("cat /sys/bus/usb-serial/devices/ttyUSB0/latency_timer") == "1"
    device = usb_device(guest, "/dev/ttyUSB0")
    assert guest.out(f"cat {device}/power/control") == "on"
    assert of_usb["ID_MM_DEVICE_IGNORE"] == "1"
    assert properties(guest, "/dev/ttyUSB0")["ID_MM_DEVICE_IGNORE"] == "1"


def test_without_the_rules_it_gets_none_of_that_and_brltty_claims_it(guest: Guest) -> None:
    guest.run("rm /etc/udev/rules.d/*tablectl* && udevadm control --reload")
    of_usb = plug(guest)
    assert "ID_MM_DEVICE_IGNORE" not in of_usb
    assert not guest.has("/dev/tablectl/by-serial")
    assert guest.out("cat /sys/bus/usb-serial/devices/ttyUSB0/latency_timer") != "1"
    guest.until("brltty claims it", lambda: guest.has(CLAIMED))


def test_brltty_is_told_off(guest: Guest) -> None:
    of_usb = plug(guest)
    assert "BRLTTY_BRAILLE_DRIVER" not in of_usb
    assert "SYSTEMD_WANTS" not in of_usb
    guest.run("systemctl list-jobs --no-legend | grep -q . && sleep 1; true")
    assert guest.out("systemctl list-units --all --no-legend 'brltty-device@*'") == ""
    assert not guest.has(CLAIMED)


def test_an_ordinary_keyboard_is_left_as_it_was(guest: Guest) -> None:
    guest.plug_keyboard()
    links = "ls /dev/input/by-id/*-event-kbd 2>/dev/null"
    node = guest.until("the keyboard is there", lambda: guest.run(links, check=False).out.strip())
    device = usb_device(guest, node)
    bus_node = guest.out(f"udevadm info -q property {device} | sed -n s/^DEVNAME=//p")
    assert mode(guest, bus_node) == "root:root 664"
    assert mode(guest, node) == "root:input 660"
    assert "TABLECTL" not in properties(guest, device)
    with_rules = guest.out(f"cat {device}/power/control")
    guest.unplug("keyboard")
    guest.until("it is gone", lambda: not guest.has(node))
    guest.run("rm /etc/udev/rules.d/*tablectl* && udevadm control --reload")
    guest.plug_keyboard()
    guest.until("it is back", lambda: guest.has(node))
    assert guest.out(f"cat {usb_device(guest, node)}/power/control") == with_rules
    assert not guest.has("/dev/tablectl/usb")


def test_the_speaker_is_the_services_to_use(guest: Guest) -> None:
    assert mode(guest, "/dev/tablectl/speaker") == "root:input 660"
    assert guest.out("readlink -f /dev/tablectl/speaker") == guest.out(
        "readlink -f /dev/input/by-path/platform-pcspkr-event-spkr"
    )
