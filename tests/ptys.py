"""A pseudo-terminal in a device's place, behind a name that outlives unplugging.

The kernel gives a freed number to the next who asks, which may be another test in another process. So the
name goes before the terminal does: a reader that looks for its device finds nothing, never a neighbour's.
"""

from __future__ import annotations

import os
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Pty:
    """Plugged in when made. ``kept``: the far end stays open here, so that readers may come and go."""

    def __init__(self, link: Path, *, kept: bool = False) -> None:
        self.link = link
        self.master = -1
        self.slave = -1
        self._kept = kept
        self.plug()

    @property
    def plugged(self) -> bool:
        """Whether it is there."""
        return self.master >= 0

    def plug(self) -> None:
        """Put it there; the number is any."""
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.link.unlink(missing_ok=True)
        self.link.symlink_to(os.ttyname(slave))
        if self._kept:
            self.slave = slave
        else:
            os.close(slave)

    def plug_elsewhere(self, old: str) -> None:
        """Put it there under another number than that of the terminal ``old``."""
        self.plug()
        if os.path.realpath(self.link) == old:
            before = self.master, self.slave
            self.plug()  # the old number is held meanwhile
            for fd in before:
                if fd >= 0:
                    os.close(fd)

    def unplug(self) -> None:
        """Pull it out; may be called twice."""
        self.link.unlink(missing_ok=True)
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)
        self.master = self.slave = -1

    def say(self, data: bytes) -> None:
        """The device says these bytes."""
        os.write(self.master, data)


@contextmanager
def a_pty(link: Path, *, kept: bool = False) -> Iterator[Pty]:
    """One for the time of a ``with``."""
    made = Pty(link, kept=kept)
    try:
        yield made
    finally:
        made.unplug()
