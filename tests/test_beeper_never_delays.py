"""A beeper that takes ten seconds or is missing, of every kind by name: the close is on time, one warning.

The beepers are the real ones; what they hang on is a device that is not there, or one that takes nothing.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tablectl_drivers.beepers import bell, null, patlite, pcspkr, relay, scanner, sound
from tablectl_drivers.emulated.usb_bus import FakeBus, FakeDevice, FakeInterface

from tablectl import plugins
from tablectl.beeper import Beeper
from tablectl.clock import SECOND
from tablectl.journal.rows import decode_row
from tablectl.signals import Signals
from tests.test_core import Bench


class Log:
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def info(self, text: str, **facts: Any) -> None:
        pass

    def warning(self, text: str, **facts: Any) -> None:
        self.warnings.append(facts["reason"])

    def bind(self, **facts: Any) -> Log:
        return self


@dataclass
class Place:
    """Where a beeper's device would be."""

    folder: Path
    undo: list[Callable[[], object]] = field(default_factory=list)

    def full_terminal(self) -> str:
        """A terminal whose other end reads nothing any more."""
        master, slave = os.openpty()
        tty.setraw(slave)
        self.undo += [lambda: os.close(master), lambda: os.close(slave)]
        self.fill(os.open(os.ttyname(slave), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))
        return os.ttyname(slave)

    def full_pipe(self) -> str:
        path = self.folder / "spkr"
        os.mkfifo(path)
        reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.undo.append(lambda: os.close(reading))
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 4096)
        self.fill(fd)
        return str(path)

    def fill(self, fd: int) -> None:
        with suppress(BlockingIOError):
            while True:
                os.write(fd, bytes(4096))
        with suppress(BlockingIOError):
            while True:
                os.write(fd, b"\0")
        os.close(fd)

    def player(self) -> str:
        program = self.folder / "play"
        program.write_text("#!/bin/sh\nexec sleep 10\n")
        program.chmod(0o755)
        return str(program)

    def hanging_lamp(self) -> FakeBus:
        go_on = threading.Event()
        self.undo.append(go_on.set)

        class Hanging(FakeBus):
            def intr_write(self, *given: Any) -> int:
                go_on.wait(10)
                return 8

        bus = Hanging()
        bus.plug(FakeDevice(0x191A, 0x6001, "L1", "NE-USB", [FakeInterface(out=1)]))
        return bus

    def hanging_line(self) -> Beeper:
        go_on = threading.Event()
        self.undo.append(go_on.set)
        return self.no_line(lambda data: go_on.wait(10))

    def no_line(self, say: Callable[[bytes], bool]) -> Beeper:
        beeper = scanner.make({})
        beeper.attach(lambda pattern: b"\a", say)
        return beeper


def away(data: bytes) -> bool:
    raise OSError("the scanner is away: unplugged")


MISSING: dict[str, Callable[[Place], Beeper]] = {
    "bell": lambda place: bell.make({"terminal": str(place.folder / "none")}),
    "sound": lambda place: sound.make({"player": str(place.folder / "none")}),
    "pcspkr": lambda place: pcspkr.make({"device": str(place.folder / "none")}),
    "relay": lambda place: relay.make({"device": str(place.folder / "none")}),
    "patlite": lambda place: patlite.Patlite("usb:191a:6001:L1", where=FakeBus()),
    "scanner": lambda place: place.no_line(away),
}
SLOW: dict[str, Callable[[Place], Beeper]] = {
    "bell": lambda place: bell.make({"terminal": place.full_terminal()}),
    "sound": lambda place: sound.make({"player": place.player()}),
    "pcspkr": lambda place: pcspkr.make({"device": place.full_pipe()}),
    "relay": lambda place: relay.make({"device": place.full_terminal()}),
    "patlite": lambda place: patlite.Patlite("usb:191a:6001:L1", where=place.hanging_lamp()),
    "scanner": lambda place: place.hanging_line(),
}
FAULTY = {f"{name} missing": make for name, make in MISSING.items()} | {
    f"{name} slow": make for name, make in SLOW.items()
}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    for undo in made.undo:
        undo()


def test_every_beeper_is_here_by_name() -> None:
    assert {*MISSING, "null"} == {*SLOW, "null"} == set(plugins.names(plugins.BEEPERS))
    null.make({}).play("close")  # it hangs on nothing


@pytest.fixture
def no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bell must not fall back to the terminal of whoever runs the tests."""
    monkeypatch.setattr("sys.stderr", open(os.devnull, "w"))  # noqa: SIM115


@pytest.mark.usefixtures("no_terminal")
@pytest.mark.parametrize("kind", sorted(FAULTY))
def test_the_close_is_on_time_and_there_is_one_warning_with_a_beeper(kind: str, place: Place) -> None:
    log = Log()
    bench = Bench()
    signals = Signals(FAULTY[kind](place), log=log)
    bench.core._signals = signals
    signals.start()
    bench.core.start()
    try:
        bench.betting()
        deadline = bench.clock.boot + 20 * SECOND
        for _ in range(3):  # pips
            signals.play("pip")
        began = time.monotonic()
        bench.clock.boot = deadline
        bench.until_type("betting.closed")
        assert time.monotonic() - began < 5  # who hangs here hangs for ten seconds
        closed = decode_row(bench.paper.rows[bench.paper.types.index("betting.closed")])[0]
        assert closed.closed_boot == deadline  # type: ignore[attr-defined]
        for _ in range(3):
            signals.play("reject")
            time.sleep(0.02)
        if kind.endswith("missing"):
            told = log.warnings
            end = time.monotonic() + 2
            while not told and time.monotonic() < end:
                time.sleep(0.005)
            assert signals.trouble and len(told) == 1
        assert len(log.warnings) <= 1
    finally:
        bench.core.stop()
        signals.stop(0.2)
    assert bench.crashes == []


@pytest.mark.usefixtures("no_terminal")
@pytest.mark.parametrize("name", sorted(MISSING))
def test_a_dead_beeper_does_not_silence_the_other(name: str, place: Place) -> None:
    played = []

    class Good:
        def play(self, pattern: str) -> None:
            played.append(pattern)

        def close(self) -> None:
            pass

    signals = Signals(MISSING[name](place), Good(), names=("dead", "good"), log=Log())
    signals.start()
    told = signals.try_out("close", late=10 * SECOND)
    assert played == ["close"]
    assert told["good"] is None and told["dead"]
    assert (signals.trouble or "").startswith("dead: ") and "good" not in (signals.trouble or "")
    signals.stop()
