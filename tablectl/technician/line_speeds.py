"""Which line speeds are tried where bytes come that mean nothing, and where there is none to try.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.scanner import Driver

COMMON_SPEEDS = (9600, 4800, 19200, 38400, 57600, 115200)
"""Tried (baud) after the driver's own."""


def others(driver: Driver, settings: Mapping[str, Any]) -> tuple[int, ...]:
    """The speeds (baud) worth a trial, likely ones first; not the one that is in use by ``settings``."""
    if not driver.speeds:
        return ()
    now = settings.get("baud", driver.speeds[0])
    return tuple(speed for speed in dict.fromkeys((*driver.speeds, *COMMON_SPEEDS)) if speed != now)


def no_speed(driver: Driver, device: str) -> str | None:
    """Why there is no line speed to set here, in words; None: there is one."""
    if not driver.speeds:
        return f"the driver {driver.name} reads no serial line: there is no line speed to try"
    if device.startswith("tcp://"):
        return "the line speed is set in the serial server, not here"
    return None
