"""HID scanners made inside the guest: configfs describes one, dummy_hcd is the socket it is plugged into.

To the guest's kernel, and so to the daemon, it is a USB device like any other: it is enumerated, usbhid
binds to it, libusb claims it, and it can be pulled out in the middle of a read.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.lab.guest import Guest

POS_REPORT = bytes.fromhex(
    "06 8c00 0902 a101 8502 0903 1500 26ff00 7508 953f 8102"  # input report 2: 63 bytes besides its number
    "85fe 0904 7508 9501 b102"  # feature report FE: the host says it is ready
    "85fd 0905 7508 953f 9102 c0"  # output report FD: commands to the scanner
)
KEYBOARD_REPORT = bytes.fromhex(
    "0501 0906 a101 0507 19e0 29e7 1500 2501 7501 9508 8102 9501 7508 8103"
    "9505 7501 0508 1901 2905 9102 9501 7503 9103 9506 7508 1500 2565 0507 1900 2965 8100 c0"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A scanner's descriptors. ``subclass`` and ``protocol`` 1: a keyboard as a BIOS knows it."""

    product: str
    report: bytes
    length: int
    subclass: int
    protocol: int


POS = Kind("Honeywell POS scanner", POS_REPORT, 64, 0, 0)
KEYBOARD = Kind("Honeywell keyboard scanner", KEYBOARD_REPORT, 8, 1, 1)


class Gadget:
    """One scanner. Made unplugged; it says its reports to whoever reads it."""

    def __init__(self, guest: Guest, kind: Kind, *, serial: str, product: int, number: int = 0) -> None:
        self.guest = guest
        self.length = kind.length
        self._udc = f"dummy_udc.{number}"
        self._node = f"/dev/hidg{number}"
        self._folder = folder = f"/sys/kernel/config/usb_gadget/scanner{number}"
        guest.run("modprobe -a dummy_hcd libcomposite && mountpoint -q /sys/kernel/config")
        words = {
            "idVendor": "0x0c2e",
            "idProduct": f"{product:#06x}",
            "strings/0x409/manufacturer": "Honeywell",
            "strings/0x409/product": kind.product,
            "strings/0x409/serialnumber": serial,
            "functions/hid.0/subclass": str(kind.subclass),
            "functions/hid.0/protocol": str(kind.protocol),
            "functions/hid.0/report_length": str(kind.length),
        }
        guest.run(
            f"cd /sys/kernel/config/usb_gadget && mkdir {folder} && cd {folder}"
            " && mkdir strings/0x409 configs/c.1 functions/hid.0"
            + "".join(f" && echo '{value}' > {name}" for name, value in words.items())
        )
        guest.run(f"cat > {folder}/functions/hid.0/report_desc", stdin=kind.report)
        guest.run(f"ln -s {folder}/functions/hid.0 {folder}/configs/c.1/")

    def plug(self) -> str:
        """Plug it in; its folder below /sys/bus/usb/devices once the system is done with it."""
        self.guest.run(f"echo {self._udc} > {self._folder}/UDC")
        self.guest.until("it is configured", lambda: self.state() == "configured")
        self.guest.run("udevadm settle --timeout=60")
        serial = self.guest.out(f"cat {self._folder}/strings/0x409/serialnumber")
        return self.guest.out(f"dirname $(grep -lx '{serial}' /sys/bus/usb/devices/*/serial)")

    def unplug(self) -> None:
        """Pull it out."""
        self.guest.run(f"echo > {self._folder}/UDC")

    def state(self) -> str:
        """What the device's end knows: ``configured`` or not."""
        return self.guest.out(f"cat /sys/class/udc/{self._udc}/state")

    def say(self, reports: bytes) -> None:
        """Send reports, each whole and by itself; returns when the host has taken all but the last."""
        count = f"obs={self.length} ibs={self.length} iflag=fullblock status=none"
        self.guest.run(f"timeout 60 dd {count} of={self._node}", stdin=reports)

    def told(self) -> bytes:
        """The output report that the host has sent it; waits for one."""
        heard = self.guest.out(
            f"timeout 60 dd if={self._node} bs={self.length} count=1 status=none | od -An -v -tx1"
        )
        return bytes.fromhex(heard)
