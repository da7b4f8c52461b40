"""Which drivers fit what is plugged in, and the lines a configuration needs for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tablectl.finder import Found
from tablectl.plugins import DRIVERS, FINDERS, PluginError, load_driver, load_finder, names
from tablectl.profiles import config_dir
from tablectl.scanner import Driver, LinkFault
from tablectl.technician.machine import line_troubles

ADAPTERS = {"0403": "FTDI", "1a86": "CH340", "067b": "PL2303", "10c4": "CP210x"}
"""Makers of serial adapters: behind one may be any device with a serial line."""


@dataclass(frozen=True, slots=True)
class Device:
    """A found device and the drivers that may read it, the likeliest first."""

    found: Found
    drivers: tuple[str, ...]
    held_by: str = ""


def installed() -> tuple[list[Driver], list[str]]:
    """Every driver that loads, and why others do not."""
    drivers, troubles = [], []
    for name in names(DRIVERS):
        try:
            drivers.append(load_driver(name))
        except PluginError as fault:
            troubles.append(str(fault))
    return drivers, troubles


def find_all() -> tuple[list[Found], list[str]]:
    """What every finder finds, and why one cannot look."""
    found: list[Found] = []
    troubles: list[str] = []
    for name in names(FINDERS):
        try:
            found += load_finder(name)()
        except (PluginError, LinkFault, OSError) as fault:
            troubles.append(str(fault))
    return [_with_troubles(one) for one in found], troubles


def _with_troubles(found: Found) -> Found:
    if not found.line or not found.node:
        return found
    return replace(found, troubles=(*found.troubles, *line_troubles(found.node)))


def fitting(found: Found, drivers: Iterable[Driver]) -> tuple[str, ...]:
    """The names of the drivers that may read it, those that list it by its USB id first."""
    of_kind = [driver for driver in drivers if bool(driver.speeds) == found.line]
    listed = [driver.name for driver in of_kind if _lists(driver, found.usb)]
    if not found.line:
        return tuple(listed)
    if listed and found.usb[:4] not in ADAPTERS:
        return tuple(listed)
    return (*listed, *(driver.name for driver in of_kind if driver.name not in listed))


def _lists(driver: Driver, usb: str) -> bool:
    return bool(usb) and (usb in driver.usb_ids or f"{usb[:4]}:*" in driver.usb_ids)


def scanner_lines(device: str, drivers: Sequence[str], whole: bool = False) -> list[str]:
    """The ``[scanner]`` section for ``device``; ``whole``: the driver's commented example, if it has one."""
    if whole or len(drivers) == 1:
        example = config_dir() / "scanners" / f"{drivers[0]}.toml"
        if example.is_file():
            return _example(example.read_text(encoding="utf-8"), device)
    others = f"    # or {', '.join(drivers[1:])}" if len(drivers) > 1 else ""
    return ["[scanner]", f'driver = "{drivers[0]}"{others}', f"device = {_toml(device)}"]


def _example(text: str, device: str) -> list[str]:
    """The example with this device in the place of its own."""
    line = re.compile(r"^device = .*$", re.MULTILINE)
    return line.sub(lambda _: f"device = {_toml(device)}", text, count=1).strip().splitlines()


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
