"""The emulated shoe's end of the wire: a pseudo-terminal or a TCP port, and the thread that keeps the pace.

Saying something returns at once; one thread writes it with the protocol's pauses. A wire nobody listens
to never blocks and never fails: what does not fit is lost, as on a real cable.
"""

from __future__ import annotations

import os
import queue
import tempfile
import threading
import tty
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from tablectl_drivers.emulated.faults import Plug, Say, Step, Unplug, Wait


class Port(ABC):
    """A wire to speak on. ``speed`` divides every pause that is not marked real."""

    def __init__(self, speed: float = 1.0) -> None:
        if not 0 < speed < float("inf"):
            raise ValueError(f"speed {speed!r} is not a number above 0")
        self._speed = speed
        self._steps: queue.SimpleQueue[Step | threading.Event | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._lock = threading.Lock()  # the writer against hang_up, plug_in and close
        self._writer = threading.Thread(target=self._write_all, name="emulated wire", daemon=True)

    @property
    @abstractmethod
    def device(self) -> str:
        """What a configuration names to reach this port."""

    @abstractmethod
    def _write(self, data: bytes) -> None:
        """Send what fits, lose the rest; under the lock."""

    @abstractmethod
    def _up(self) -> None:
        """Make the port be there; under the lock, harmless if it is."""

    @abstractmethod
    def _down(self) -> None:
        """Make the port go away; under the lock, harmless if it has."""

    def say(self, steps: Iterable[Step]) -> None:
        """Queue ``steps`` for the wire."""
        for step in steps:
            self._steps.put(step)

    def flush(self) -> None:
        """Wait until all that was said is on the wire, or the port is closed."""
        reached = threading.Event()
        self._steps.put(reached)
        while not reached.wait(0.05):
            if not self._writer.is_alive():
                return

    def hang_up(self) -> None:
        """Pull the cable now, in the middle of whatever is being said."""
        with self._lock:
            self._down()

    def plug_in(self) -> None:
        """Put the cable back."""
        with self._lock:
            if not self._closing.is_set():
                self._up()

    def close(self) -> None:
        """Fall silent and remove the port. May be called twice."""
        self._closing.set()
        self._steps.put(None)
        self._writer.join()
        with self._lock:
            self._down()

    def _write_all(self) -> None:
        while not self._closing.is_set():
            match self._steps.get():
                case Say(data):
                    with self._lock:
                        self._write(data)
                case Wait(seconds, real):
                    self._closing.wait(seconds if real else seconds / self._speed)
                case Unplug():
                    self.hang_up()
                case Plug():
                    self.plug_in()
                case threading.Event() as reached:
                    reached.set()
                case None:
                    return


class PtyPort(Port):
    """A pseudo-terminal behind a symbolic link that stays when the terminal behind it changes.

    ``link`` None: one in a temporary folder of its own. Raises :class:`FileExistsError` if something
    that is no symbolic link is in its place.
    """

    def __init__(self, link: str | None = None, speed: float = 1.0) -> None:
        super().__init__(speed)
        self._folder = tempfile.TemporaryDirectory(prefix="tablectl-shoe-") if link is None else None
        self._link = (
            Path(link).absolute()
            if link is not None
            else Path(str(self._folder and self._folder.name)) / "shoe"
        )
        if self._link.exists() and not self._link.is_symlink():
            raise FileExistsError(f"{self._link} is there already and is no symbolic link")
        self._ends: tuple[int, int] | None = None
        self._target = ""
        with self._lock:
            self._up()
        self._writer.start()

    @property
    def device(self) -> str:
        """The path of the link."""
        return str(self._link)

    def _write(self, data: bytes) -> None:
        if self._ends is None:
            return
        with suppress(OSError):  # full because nobody reads, or hung up: lost
            while data:
                data = data[os.write(self._ends[0], data) :]

    def _up(self) -> None:
        if self._ends is not None:
            return
        master, slave = os.openpty()
        # Raw, or the line discipline would echo what is said and translate it. The far end is kept open
        # here, so that a reader may come and go: bytes said meanwhile wait for the next one as old scans.
        tty.setraw(slave)
        os.set_blocking(master, False)
        self._ends = master, slave
        self._target = os.ttyname(slave)
        fresh = self._link.with_name(f"{self._link.name}.{os.getpid()}.new")
        fresh.unlink(missing_ok=True)
        fresh.symlink_to(self._target)
        fresh.replace(self._link)

    def _down(self) -> None:
        if self._ends is None:
            return
        with suppress(OSError):
            if str(self._link.readlink()) == self._target:
                self._link.unlink()
        for end in reversed(self._ends):
            os.close(end)
        self._ends = None

    def close(self) -> None:
        """Fall silent, and remove terminal and link."""
        super().close()
        if self._folder is not None:
            self._folder.cleanup()
