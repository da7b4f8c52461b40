"""``tablectl devices``: what is plugged in, which driver fits, and the lines to paste."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

import click

from tablectl.cli import output
from tablectl.cli.arguments import Text, json_option
from tablectl.cli.output import REFUSED, Refused, escape

if TYPE_CHECKING:
    from tablectl.technician.devices import Device

NOTHING = (
    "nothing is plugged in that a scanner could be: no serial port, no USB scanner.",
    "Plug the adapter or scanner in and look again; a second later `dmesg` names it, or it is dead.",
    "In a virtual machine the USB device must be handed over to it. For a serial server on the network:",
    "  tablectl devices --host ITS-ADDRESS",
)


class _Address(click.ParamType[IPv4Address | IPv6Address]):
    name = "ip"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IPv4Address | IPv6Address:
        try:
            return ip_address(str(value))
        except ValueError:
            self.fail("one address in numbers is needed, such as 192.0.2.10", param, ctx)


@click.command("devices")
@click.option("--host", type=_Address(), help="Try the usual ports of a TCP serial server there instead.")
@click.option("--driver", type=Text(40), help="Show this driver's whole example for each device it fits.")
@json_option
def devices(host: IPv4Address | IPv6Address | None, driver: str | None, as_json: bool) -> int:
    """Show serial ports and USB scanners, who holds them, which drivers fit, and the lines to paste.

    Nothing is opened. With --host one address is tried, each usual port once, for three seconds in all; not
    while a table on another machine is played through it, for some servers drop their reader for a new one.
    Exit code 1: there is nothing.

    \b
    Example:  tablectl devices
              tablectl devices --driver angel-eye
              tablectl devices --host 192.0.2.10
    """
    from tablectl.technician.devices import installed

    drivers, troubles = installed()
    if driver is not None and driver not in {one.name for one in drivers}:
        known = ", ".join(one.name for one in drivers)
        raise Refused(f"refused: there is no driver {escape(driver)}; there are: {known}")
    if host is not None:
        serial = [one.name for one in drivers if one.speeds and driver in (None, one.name)]
        return _host(host, serial, driver is not None, as_json)
    return _plugged(driver, troubles, as_json)


# --- on this machine --------------------------------------------------------------------------------------


def _plugged(driver: str | None, troubles: list[str], as_json: bool) -> int:
    from tablectl.technician.devices import Device, find_all, fitting, installed
    from tablectl.technician.machine import Holders, grabbers, holders

    found, more = find_all()
    troubles = [*troubles, *more, *grabbers()]
    drivers = installed()[0]
    there, hidden = [], False
    for one in found:
        fit = fitting(one, drivers)
        held = holders(one.node) if one.node else Holders((), hidden=False)
        hidden |= held.hidden
        there.append(Device(one, fit if driver is None or driver not in fit else (driver,), held.words))
    if hidden:
        troubles.append("other users' processes could not be looked at: root sees all who hold a port")
    if as_json:
        output.say_json({"devices": [_json(device) for device in there], "troubles": troubles})
        return 0 if there else REFUSED
    for device in there:
        for line in device_lines(device, driver is not None):
            output.say(escape(line))
        output.say()
    for text in troubles:
        output.say(f"! {escape(text)}")
    if not there:
        for text in NOTHING:
            output.say(text)
    return 0 if there else REFUSED


def device_lines(device: Device, whole: bool) -> list[str]:
    """One device for people; the lines to paste last, set in."""
    from tablectl.technician.devices import ADAPTERS, scanner_lines

    found = device.found
    adapter = f" ({ADAPTERS[found.usb[:4]]} adapter)" if found.line and found.usb[:4] in ADAPTERS else ""
    lines = [f"{found.node or found.device}  {found.about}{adapter}"]
    if found.usb:
        serial = f"serial number {found.serial}" if found.serial else "no serial number"
        lines.append(f"  usb {found.usb}, {serial}")
    if found.node and found.device != found.node:
        lines.append(f"  named {found.device}")
    lines += [f"  also {name}" for name in found.others if name != found.node]
    if device.held_by:
        lines.append(f"  held by {device.held_by}: only one may read it")
    lines += [f"  ! {text}" for text in found.troubles]
    if not device.drivers:
        return [*lines, "  no driver lists it; if it is a scanner, see its manual for its serial (COM) mode"]
    return [*lines, *(f"    {line}" for line in scanner_lines(found.device, device.drivers, whole))]


def _json(device: Device) -> dict[str, Any]:
    from tablectl.technician.devices import scanner_lines

    found = device.found
    return {
        "device": found.device,
        "node": found.node,
        "about": found.about,
        "kind": "serial" if found.line else "usb",
        "usb": found.usb,
        "serial": found.serial,
        "others": list(found.others),
        "held_by": device.held_by,
        "troubles": list(found.troubles),
        "drivers": list(device.drivers),
        "lines": scanner_lines(found.device, device.drivers) if device.drivers else [],
    }


# --- on the network ---------------------------------------------------------------------------------------


def _host(host: IPv4Address | IPv6Address, drivers: list[str], whole: bool, as_json: bool) -> int:
    from tablectl.technician.devices import scanner_lines
    from tablectl.technician.machine import connected_ports
    from tablectl.technician.serial_servers import PORTS, USABLE, try_ports

    taken = connected_ports(host) & set(PORTS)
    answers = try_ports(host, tuple(port for port in PORTS if port not in taken))
    shown = f"[{host}]" if host.version == 6 else str(host)
    if as_json:
        ports = [
            {"port": port, "about": PORTS[port], "device": f"tcp://{shown}:{port}"} for port in answers.open
        ]
        output.say_json(
            {
                "host": str(host),
                "open": ports,
                "refused": answers.refused,
                "in_use_here": sorted(taken),
                "why": answers.why,
            }
        )
        return 0 if answers.open or taken else REFUSED
    for port in sorted(taken):
        output.say(f"{shown}:{port}  is read from this machine already (the daemon?): not tried")
    for port in answers.open:
        output.say(f"{shown}:{port}  takes connections: {PORTS[port]}")
        if port in USABLE and drivers:
            for line in scanner_lines(f"tcp://{shown}:{port}", drivers, whole):
                output.say(f"    {escape(line)}")
    if answers.open:
        output.say("The line speed is set in the serial server. That it takes connections does not say that")
        output.say("its cable to the shoe is in: `tablectl scan` tells.")
    elif taken:
        return 0
    elif answers.refused:
        output.say(
            f"{shown} is there, but refuses the usual ports: it is no serial server, it is not in TCP server "
            "mode, or another reader has its one connection (the daemon: `tablectl status`)"
        )
    else:
        output.say(f"{shown}: {answers.why}")
    return 0 if answers.open else REFUSED


COMMANDS: tuple[click.Command, ...] = (devices,)
