"""An open device as the reader sees it: every way in which it can fail is one thing, :class:`Lost`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tablectl.scanner import Link, LinkFault

_EMPTY_READS = 3  # a dead port is "ready" and gives nothing, for ever (pyserial issue 17)

T = TypeVar("T")


class Lost(Exception):
    """The device failed: only calls of its link raise it, so a full disk in a tap is no lost scanner."""


class Line:
    """The calls of an open :class:`~tablectl.scanner.Link`; each raises :class:`Lost` when it is gone."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._empty = 0

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return _guard(self._link.fileno)

    def read(self) -> bytes:
        """What is there, of a line that is ready; now and then nothing is, but not for ever."""
        data = _guard(self._link.read)
        self._empty = 0 if data else self._empty + 1
        if self._empty >= _EMPTY_READS:
            raise Lost("scanner lost: its port is ready but gives nothing; check the cable")
        return data

    def write(self, data: bytes) -> None:
        """Send ``data``, if there is any."""
        if data:
            _guard(lambda: self._link.write(data))


def _guard(call: Callable[[], T]) -> T:
    try:
        return call()
    except (LinkFault, OSError) as fault:
        raise Lost(str(fault)) from fault
