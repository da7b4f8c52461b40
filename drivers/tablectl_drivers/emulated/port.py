"""The emulated shoe's end of the wire: a pseudo-terminal or a TCP port, and the thread that keeps the pace.

Saying something returns at once; one thread writes it with the protocol's pauses, and where the protocol
wants an answer waits for it and says it again. A wire nobody listens to never blocks and never fails: what
does not fit is lost, as on a real cable.
"""

from __future__ import annotations

import os
import queue
import select
import tempfile
import threading
import time
import tty
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tablectl_drivers.emulated.faults import Plug, Say, Step, Unplug, Wait

LEAST_PATIENCE = 0.3
"""Seconds an answer is waited for at any speed: the host does not become faster with the emulator."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Say the first of ``tries`` and wait ``seconds`` for one of ``answers``: True ends it, False is "again".

    ``on_silence``: whether no answer is "again" too, or the end.
    """

    tries: tuple[tuple[Step, ...], ...]
    answers: queue.SimpleQueue[bool]
    seconds: float
    on_silence: bool


class Port(ABC):
    """A wire to speak on. ``speed`` divides every pause that is not marked real."""

    def __init__(self, speed: float = 1.0) -> None:
        if not 0 < speed < float("inf"):
            raise ValueError(f"speed {speed!r} is not a number above 0")
        self._speed = speed
        self._steps: queue.SimpleQueue[Step | Ask | threading.Event | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._lock = threading.Lock()  # the writer against hang_up, plug_in and close
        self._hear: Callable[[bytes], None] = lambda _: None
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

    def listen(self, hear: Callable[[bytes], None]) -> None:
        """Call ``hear``, in a thread of the port, with what the reader sends; before that it is not heard."""
        self._hear = hear

    def say(self, steps: Iterable[Step | Ask]) -> None:
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
                case Ask() as ask:
                    self._ask(ask)
                case threading.Event() as reached:
                    reached.set()
                case None:
                    return
                case step:
                    self._do(step)

    def _do(self, step: Step) -> None:
        match step:
            case Say(data):
                with self._lock:
                    self._write(data)
            case Wait(seconds, real):
                self._closing.wait(seconds if real else seconds / self._speed)
            case Unplug():
                self.hang_up()
            case Plug():
                self.plug_in()

    def _ask(self, ask: Ask) -> None:
        with suppress(queue.Empty):
            while True:
                ask.answers.get_nowait()  # it came too late for what was asked before
        for steps in ask.tries:
            for step in steps:
                self._do(step)
            answer = self._answer(ask)
            if answer or (answer is None and not ask.on_silence) or self._closing.is_set():
                return

    def _answer(self, ask: Ask) -> bool | None:
        until = time.monotonic() + max(ask.seconds / self._speed, LEAST_PATIENCE)
        while not self._closing.is_set() and (left := until - time.monotonic()) > 0:
            with suppress(queue.Empty):
                return ask.answers.get(timeout=min(left, 0.05))
        return None


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
        self._ear: threading.Thread | None = None
        self._heard = b""
        self._target = ""
        with self._lock:
            self._up()
        self._writer.start()

    @property
    def device(self) -> str:
        """The path of the link."""
        return str(self._link)

    def listen(self, hear: Callable[[bytes], None]) -> None:
        """As :meth:`Port.listen`; once only."""
        super().listen(hear)
        self._ear = threading.Thread(target=self._listen, name="emulated ear", daemon=True)
        self._ear.start()

    def _listen(self) -> None:
        while not self._closing.is_set():
            ends = self._ends
            if ends is None:
                self._closing.wait(0.02)
                continue
            poller = select.poll()
            poller.register(ends[0], select.POLLIN)
            poller.poll(50)
            with self._lock, suppress(OSError):
                # Under the lock, and only if it is still this terminal: its number may be another's by now.
                if self._ends is ends:
                    self._heard = os.read(ends[0], 4096)
            heard, self._heard = self._heard, b""
            if heard:
                self._hear(heard)

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
        if self._ear is not None:
            self._ear.join()
        if self._folder is not None:
            self._folder.cleanup()
