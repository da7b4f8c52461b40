"""What is plugged in, as a finder tells it.  Pure: finders look, and are found by entry point.

A finder (group ``tablectl.finders``) is a function without arguments that gives every :class:`Found`, or
raises :class:`tablectl.scanner.LinkFault` with words when it cannot look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """A serial port (``line``) or a USB device that is read directly.

    ``device`` is what a configuration is to name: the name that outlives plugging in again. ``node``: the
    device file, if it has one. ``usb``: ``vvvv:pppp``. ``others``: its other names. ``troubles``: what a
    technician must know, a sentence each.
    """

    device: str
    about: str
    line: bool
    node: str = ""
    usb: str = ""
    serial: str = ""
    others: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()


Finder = Callable[[], Iterable[Found]]
