"""The scanner's part of ``tablectl check``: is it there, the right one, free, and may it be opened.

Nothing is opened: the port may be the daemon's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tablectl.cli.check.findings import FAIL, OK, WARN, Finding, reach

if TYPE_CHECKING:
    from tablectl.config import Config
    from tablectl.finder import Found

DEVICE = "device"


def device_findings(config: Config) -> Iterator[Finding]:
    """A line for each thing that is wrong with the scanner's port, or one that says what is there."""
    from tablectl.technician.machine import grabbers

    device = config.scanner.device
    daemon = _daemon(config)
    if device.startswith("tcp://"):
        yield _server(device, daemon)
        return
    if device.startswith("usb:"):
        yield from _usb(config)
        return
    if not device.startswith("/"):
        yield Finding(DEVICE, OK, f"{device}: looked for when the daemon starts")
        return
    yield from _port(config, daemon)
    for text in grabbers():
        yield Finding(DEVICE, WARN, text)


def _server(device: str, daemon: int | None) -> Finding:
    if daemon is not None:
        # Not tried: some servers drop the reader they have for a new one.
        return Finding(DEVICE, OK, f"{device}: the daemon (pid {daemon}) reads it (`tablectl status`)")
    found = reach(DEVICE, device)
    if found.grade == OK:
        return Finding(DEVICE, OK, f"{found.text}; whether its cable is in, `tablectl scan` tells")
    return found


def _usb(config: Config) -> Iterator[Finding]:
    from tablectl.technician.devices import find_all, fitting, installed

    device = config.scanner.device
    found, troubles = find_all()
    there = [one for one in found if not one.line]
    mine = next(
        (one for one in there if device.lower() in {n.lower() for n in (one.device, *one.others)}), None
    )
    if mine is None:
        others = ", ".join(one.device for one in there) or "; ".join(troubles) or "none"
        yield Finding(DEVICE, FAIL, f"{device} is not there; USB scanners here: {others}")
        return
    grade = FAIL if mine.troubles else OK
    for text in mine.troubles:
        yield Finding(DEVICE, FAIL, text)
    if grade == OK:
        yield Finding(DEVICE, OK, f"{device} is there: {mine.about}")
    fit = fitting(mine, installed()[0])
    if fit and config.scanner.driver not in fit:
        yield _unfit(mine, config.scanner.driver, fit)


def _unfit(found: Found, driver: str, fit: tuple[str, ...]) -> Finding:
    text = f"{found.about} ({found.usb}) is read with {' or '.join(fit)}, not with {driver}"
    return Finding(DEVICE, WARN, text)


def _port(config: Config, daemon: int | None) -> Iterator[Finding]:
    from tablectl.scanner_setup import is_pseudo_terminal
    from tablectl.technician.machine import Holders, holders, is_tty, line_troubles, may_open

    device = config.scanner.device
    if not Path(device).exists():
        yield Finding(
            DEVICE,
            FAIL,
            f"{device} is not there; is it plugged in, and the name right? `tablectl devices` tells",
        )
        return
    if is_pseudo_terminal(device) and not config.table.test:
        yield Finding(DEVICE, FAIL, f"{device} is a pseudo-terminal; that needs table.test = true")
        return
    found = _found(device)
    if found is None and not is_tty(device) and not is_pseudo_terminal(device) and _reads_lines(config):
        yield Finding(DEVICE, FAIL, f"{device} is no serial port; `tablectl devices` shows those that are")
        return
    why = may_open(device)
    if why is not None:
        yield Finding(DEVICE, FAIL, why)
    held = holders(device) if is_tty(device) else Holders((), hidden=False)
    others = [f"{name} (pid {pid})" for pid, name in held.processes if pid != daemon]
    if others:
        yield Finding(DEVICE, FAIL, f"{', '.join(others)} reads {device} too: only one may; stop that")
    if found is not None:
        yield from _identity(config, found)
    for text in line_troubles(device):
        if text != why:
            yield Finding(DEVICE, WARN, text)
    if why is None:
        is_ = "is there and may be opened" if found is None else f"is there: {_about(found)}"
        by = f", held by the daemon (pid {daemon})" if daemon in dict(held.processes) else ""
        yield Finding(DEVICE, OK, f"{device} {is_}{by}")


def _reads_lines(config: Config) -> bool:
    """Whether the driver wants a serial line."""
    from tablectl.plugins import PluginError, load_driver

    try:
        return bool(load_driver(config.scanner.driver).speeds)
    except PluginError:  # which is told by another line
        return False


def _found(device: str) -> Found | None:
    """What the finders know of a port."""
    from tablectl.technician.devices import find_all

    real = os.path.realpath(device)
    return next((one for one in find_all()[0] if one.node and os.path.realpath(one.node) == real), None)


def _about(found: Found) -> str:
    if not found.usb:
        return found.about
    serial = f"serial number {found.serial}" if found.serial else "no serial number"
    return f"{found.about}, usb {found.usb}, {serial}"


def _identity(config: Config, found: Found) -> Iterator[Finding]:
    """Whether the name is one that means this device for good, and the driver one for it."""
    from tablectl.technician.devices import fitting, installed

    device = config.scanner.device
    twins = [text for text in found.troubles if "cannot be told" in text]
    if "/by-id/" in device and device != found.device and (twins or not found.serial):
        why = twins[0] if twins else "an adapter without a serial number: another one may take this name"
        yield Finding(DEVICE, FAIL if twins else WARN, f'{device}: {why}; write device = "{found.device}"')
    elif found.usb and device == found.node:
        better = f'; write device = "{found.device}"' if found.device != found.node else ""
        yield Finding(DEVICE, WARN, f"{device} is another device's name after the next plugging in{better}")
    fit = fitting(found, installed()[0])
    if fit and config.scanner.driver not in fit:
        yield _unfit(found, config.scanner.driver, fit)


def _daemon(config: Config) -> int | None:
    """The process that holds the table's lock, or the journal's own."""
    from tablectl.lock import holder, lock_path

    path = config.journal_path
    return holder(lock_path(path, config.table.id)) or holder(path)
