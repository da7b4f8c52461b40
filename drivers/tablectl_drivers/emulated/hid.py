"""Emulated HID scanners: the same reports as on USB, on a pseudo-terminal, which the drivers read on a test table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tablectl.cards import Card
from tablectl.emulation import Emulator
from tablectl_drivers import hid_keyboard, hid_pos
from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.port import Port
from tablectl_drivers.emulated.wired import WiredShoe, make_port
