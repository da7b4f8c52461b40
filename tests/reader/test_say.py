"""What another thread tells a scanner through the reader that owns its line: whole, after scans, or not."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tablectl_drivers.links_serial import SerialDefaults, SerialLink

from tablectl.clock import SECOND
from tablectl.reader import Reader
from tablectl.reader.say import Away, Mouth
from tablectl.scanner import Decoded, Driver, Link, ScannerLost, ScannerRestored, Traits
from tests.ptys import Pty, a_pty
from tests.reader.test_thread import Lines, Rig

BEEP = b"\x16\x07\r"


class Framed(Lines):
    """Lines that are acknowledged; one that has begun has a deadline."""

    def next_deadline(self) -> int | None:
        return 10**18 if self.pending else None


def a_driver(opened: Any = None) -> Driver:
    def open_(device: str, settings: Any) -> Link:
        return SerialLink(device, settings, SerialDefaults(9600))

    return Driver("lines", "", lambda _: Framed(), opened or open_, lambda _: Traits(), lambda settings: None)


class Bench(Pty):
    """A reader on a pseudo-terminal, and the device's side of it."""

    def __init__(self, link: Path) -> None:
        super().__init__(link, kept=True)
        self.rig = Rig(a_driver(), str(link), settle=10_000_000).started()
        self.reader = self.rig.reader

    def hears(self, wanted: bytes) -> None:
        got = b""
        while len(got) < len(wanted):
            got += os.read(self.master, 100)
        assert got == wanted


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path / "scanner")
    yield made
    made.rig.stop()
    made.unplug()


def test_bytes_reach_the_device_and_who_said_them_knows(bench: Bench) -> None:
    assert bench.reader.say(BEEP)
    bench.hears(BEEP)
    assert bench.reader.say(b"B")
    bench.hears(b"B")


def test_the_wake_up_is_taken_and_the_reader_does_not_spin(bench: Bench) -> None:
    assert bench.reader.say(BEEP)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.1


def test_an_acknowledgement_goes_first_and_both_are_whole(bench: Bench) -> None:
    """Scans and beeps at the same time: every scan is answered, every beep is in one piece."""
    rounds = 200
    said = 0

    def beep() -> None:
        nonlocal said
        for _ in range(rounds):
            said += bench.reader.say(BEEP)

    thread = threading.Thread(target=beep)
    thread.start()
    for _ in range(rounds):
        os.write(bench.master, b"8S\n")
    thread.join()
    for _ in range(rounds):
        bench.rig.next()
    got = b""
    while len(got) < rounds + said * len(BEEP):
        got += os.read(bench.master, 1000)
    assert got.count(BEEP) == said
    assert got.replace(BEEP, b"") == b"A" * rounds


def test_nothing_is_said_into_a_frame_and_what_waited_too_long_is_left_out(bench: Bench) -> None:
    os.write(bench.master, b"8")
    while not bench.reader.counters.bytes:
        time.sleep(0.001)
    began = time.monotonic()
    assert not bench.reader.say(BEEP)
    assert 0.25 < time.monotonic() - began < 3
    os.write(bench.master, b"S\n")
    bench.hears(b"A")
    assert bench.reader.say(b"later")
    bench.hears(b"later")


def test_what_waits_for_the_end_of_a_frame_is_said_right_after_its_acknowledgement(bench: Bench) -> None:
    os.write(bench.master, b"8")
    while not bench.reader.counters.bytes:
        time.sleep(0.001)
    with ThreadPoolExecutor(1) as aside:
        said = aside.submit(bench.reader.say, BEEP)
        time.sleep(0.03)
        os.write(bench.master, b"S\n")
        assert said.result()
    bench.hears(b"A" + BEEP)


def test_a_line_that_takes_nothing_holds_up_no_scan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Framed, "feed", lambda self, data, now: Decoded(Lines.feed(self, data, now).items))
    bench = Bench(tmp_path / "scanner")
    fd = os.open(bench.link, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    refused = 0
    while refused < 10:  # the kernel carries some of it on after a while
        try:
            os.write(fd, bytes(100 if refused == 0 else 1))
            refused = 0
        except BlockingIOError:
            refused += 1
            time.sleep(0.005)
    os.close(fd)
    meanwhile: list[bool] = []
    with ThreadPoolExecutor(1) as aside:
        while not any(meanwhile):  # on a busy machine the wait may be over first, now and then
            assert len(meanwhile) < 20, "each card waits until the beep is given up"
            said = aside.submit(bench.reader.say, BEEP)
            time.sleep(0.03)
            os.write(bench.master, b"8S\n")
            bench.rig.next()
            meanwhile.append(not said.done())
            assert not said.result()
    bench.rig.stop()
    bench.unplug()


def test_a_scanner_that_is_away_is_said_in_words(bench: Bench) -> None:
    bench.unplug()
    assert isinstance(bench.rig.next(), ScannerLost)
    with pytest.raises(OSError, match=r"^the scanner is away: (scanner lost|no scanner)"):
        bench.reader.say(BEEP)
    bench.plug()
    assert isinstance(bench.rig.next(), ScannerRestored)
    assert bench.reader.say(BEEP)
    bench.hears(BEEP)


def test_a_write_that_fails_is_a_lost_scanner(tmp_path: Path) -> None:
    class Mute(SerialLink):
        def write(self, data: bytes) -> None:
            raise OSError(5, "Input/output error")

    driver = a_driver(lambda device, settings: Mute(device, settings, SerialDefaults(9600)))
    with a_pty(tmp_path / "scanner", kept=True) as pty:
        rig = Rig(driver, str(pty.link), settle=10_000_000).started()
        with pytest.raises(Away, match="Input/output error"):
            rig.reader.say(BEEP)
        assert isinstance(rig.next(), ScannerLost)
        assert isinstance(rig.next(), ScannerRestored)
        rig.stop()


def test_one_that_overtakes_another_is_the_one_that_is_said() -> None:
    mouth = Mouth()
    wake = os.eventfd(0, os.EFD_NONBLOCK)
    mouth.opens(wake)
    mouth.line_is(None)
    with ThreadPoolExecutor(2) as aside:
        first = aside.submit(mouth.say, b"first", 3)
        while not mouth.waits:
            time.sleep(0.001)
        second = aside.submit(mouth.say, b"second", 3)
        assert not first.result()
        written: list[bytes] = []
        mouth.speak(wake, written.append)
        assert second.result() and written == [b"second"]
    os.close(wake)


def test_what_waits_when_the_scanner_goes_is_refused() -> None:
    mouth = Mouth()
    wake = os.eventfd(0, os.EFD_NONBLOCK)
    mouth.opens(wake)
    mouth.line_is(None)
    with ThreadPoolExecutor(1) as aside:
        said = aside.submit(mouth.say, BEEP, 3)
        while not mouth.waits:
            time.sleep(0.001)
        mouth.line_is("unplugged")
        with pytest.raises(Away, match="the scanner is away: unplugged"):
            said.result()
    os.close(wake)


def test_nobody_speaks_before_the_start_and_after_the_end(bench: Bench) -> None:
    other = Reader(a_driver(), "/nonexistent", {}, lambda _: None, settle=SECOND)
    with pytest.raises(Away):
        other.say(BEEP)
    assert bench.reader.stop()
    with pytest.raises(Away):
        bench.reader.say(BEEP)
