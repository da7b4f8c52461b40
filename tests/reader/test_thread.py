"""The reader thread against real pseudo-terminals and sockets, and against links that misbehave."""

from __future__ import annotations

import errno
import os
import queue
import resource
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture
from tablectl_drivers import angel_eye, bee_tek
from tablectl_drivers.angel_eye_encoder import Encoder
from tablectl_drivers.emulated.tcp_port import TcpPort

from tablectl import clock
from tablectl.cards import Card
from tablectl.clock import SECOND, Instant
from tablectl.reader import Reader
from tablectl.reader.intake import Intake
from tablectl.reader.state import ASKED_EACH, BAD_LINES, BAD_WITHIN, LogBudget, Noise, Settling, Told
from tablectl.scanner import (
    Arrival,
    Arrived,
    Backoff,
    Decoded,
    DeviceEvent,
    DeviceKind,
    Discarded,
    Driver,
    Label,
    Link,
    LinkFault,
    LinkRefused,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
    Traits,
)
from tests.descriptors import descriptors, settled_descriptors
from tests.ptys import Pty, a_pty

MS = 1_000_000
EIGHT = Card.parse("8S")


class Silent:
    """A log that keeps its lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def info(self, text: str, **facts: Any) -> None:
        self.lines.append((text, facts))

    warning = error = info


class Rig:
    """A reader and what it delivered."""

    def __init__(self, driver: Driver, device: str, **options: Any) -> None:
        self.arrivals: queue.SimpleQueue[Arrival] = queue.SimpleQueue()
        self.log = Silent()
        self.crashes: list[BaseException] = []
        options.setdefault("settle", 30 * MS)
        options.setdefault("deliver", self.arrivals.put)
        deliver = options.pop("deliver")
        backoff = options.pop("backoff", Backoff(first=20 * MS))
        self.reader = Reader(
            driver, device, {}, deliver, log=self.log, on_crash=self.crashes.append, **options
        )
        self.reader.presence.backoff = backoff

    def next(self, seconds: float = 15) -> Arrival:
        return self.arrivals.get(timeout=seconds)

    def none_for(self, seconds: float) -> None:
        with pytest.raises(queue.Empty):
            self.arrivals.get(timeout=seconds)

    def started(self) -> Rig:
        self.reader.start()
        assert isinstance(self.next(), ScannerRestored)
        return self

    def stop(self) -> list[Arrival]:
        assert self.reader.stop()
        assert self.crashes == []
        return self.rest()

    def rest(self) -> list[Arrival]:
        left = []
        with suppress(queue.Empty):
            while True:
                left.append(self.arrivals.get_nowait())
        return left


class Lines:
    """A decoder of lines: a card, or a Reject."""

    def __init__(self) -> None:
        self.pending = b""
        self.resets = 0
        self.deadline: int | None = None
        self.ticks: list[int] = []

    def feed(self, data: bytes, now: int) -> Decoded:
        *lines, self.pending = (self.pending + data).split(b"\n")
        return Decoded(tuple(map(self.item, lines)), b"A" * len(lines))

    def item(self, line: bytes) -> Scan | Reject:
        try:
            return Scan(Card.parse(line.decode("latin-1")), Label.NONE, line)
        except ValueError as fault:
            return Reject(line, str(fault))

    def tick(self, now: int) -> Decoded:
        self.ticks.append(now)
        self.deadline = None
        return Decoded((DeviceEvent(DeviceKind.NOTICE, b"", "ticked"),))

    def next_deadline(self) -> int | None:
        return self.deadline

    def reset(self) -> None:
        self.resets += 1
        self.pending = b""


class PipeLink:
    """A link on a pipe, with the faults one wants."""

    identity = "pipe"
    where = "/dev/pipe0"

    def __init__(self, world: World) -> None:
        self.world = world
        self.fd, self.writer = os.pipe()
        os.set_blocking(self.fd, False)
        self.written = b""
        self.reads = 0

    def fileno(self) -> int:
        return self.fd

    def read(self) -> bytes:
        self.reads += 1
        if self.world.read_fault is not None:
            fault, self.world.read_fault = self.world.read_fault, None
            raise fault
        if self.world.empties:
            self.world.empties -= 1
            return b""
        try:
            data = os.read(self.fd, 4096)
        except BlockingIOError:
            return b""
        if not data:
            raise LinkFault("scanner lost: hung up")
        return data

    def write(self, data: bytes) -> None:
        if self.world.write_fault is not None:
            fault, self.world.write_fault = self.world.write_fault, None
            raise fault
        self.written += data

    def close(self) -> None:
        self.world.log.append("close")
        for fd in (self.fd, self.writer):
            with suppress(OSError):
                os.close(fd)


class World:
    """A driver of :class:`PipeLink`, the present link, and what happened in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.open_faults: list[Exception] = []
        self.read_fault: Exception | None = None
        self.write_fault: Exception | None = None
        self.empties = 0
        self.link: PipeLink | None = None
        self.decoder = Lines()
        self.devices: list[str] = []
        self.driver = Driver(
            "lines",
            "",
            decoder=lambda settings: self.decoder,
            open=self.open,
            traits=lambda settings: Traits(),
            check=lambda settings: None,
        )

    def open(self, device: str, settings: Mapping[str, Any]) -> Link:
        fault = self.open_faults.pop(0) if self.open_faults else None
        if fault is None:
            self.link = PipeLink(self)
        self.devices.append(device)
        self.log.append("open")  # last: who sees it may speak
        if fault is not None:
            raise fault
        assert self.link is not None
        return self.link

    def say(self, data: bytes) -> None:
        assert self.link is not None
        os.write(self.link.writer, data)


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def rig(world: World) -> Iterator[Rig]:
    made = Rig(world.driver, "the-scanner")
    yield made
    made.reader.stop()


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    with a_pty(tmp_path / "shoe") as made:
        yield made


def until(true: Callable[[], bool], seconds: float = 15) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


# --- start, cards, stop -----------------------------------------------------------------------------


def test_first_start_settles_and_says_what_was_opened(rig: Rig, world: World) -> None:
    before = clock.now().boot
    rig.reader.start()
    restored = rig.next()
    assert isinstance(restored, ScannerRestored)
    assert restored.identity == "pipe"
    assert restored.at.boot - before >= 30 * MS
    assert rig.reader.presence.connected
    assert world.devices == ["the-scanner"]


def test_a_card_arrives_stamped_and_counted(rig: Rig, world: World) -> None:
    rig.started()
    before = clock.now().boot
    world.say(b"8S\nrubbish\n")
    card, bad = rig.next(), rig.next()
    assert isinstance(card, Arrived)
    assert card.item == Scan(EIGHT, Label.NONE, b"8S")
    assert before <= card.at.boot <= clock.now().boot
    assert isinstance(bad, Arrived)
    assert isinstance(bad.item, Reject)
    counters = rig.reader.counters
    assert (counters.bytes, counters.frames, counters.rejects) == (11, 1, 1)
    assert counters.last_good == card.at.boot
    assert rig.stop() == []


def test_replies_are_written_back(rig: Rig, world: World) -> None:
    rig.started()
    world.say(b"8S\n8S\n")
    rig.next(), rig.next()
    link = world.link
    assert link is not None
    until(lambda: link.written == b"AA")


def test_the_tap_sees_the_bytes_first(world: World) -> None:
    seen: list[tuple[bytes, Instant]] = []
    rig = Rig(world.driver, "x", tap=lambda data, at: seen.append((data, at))).started()
    world.say(b"8S\n")
    arrived = rig.next()
    assert isinstance(arrived, Arrived)
    assert seen == [(b"8S\n", arrived.at)]
    rig.stop()


def test_a_tap_that_fails_is_no_lost_scanner(world: World) -> None:
    def full(data: bytes, at: Instant) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    rig = Rig(world.driver, "x", tap=full).started()
    world.say(b"8S\n")
    until(lambda: bool(rig.crashes))
    assert rig.rest() == []
    assert world.log == ["open", "close"]
    rig.reader.stop()


def test_the_decoder_is_ticked_at_its_deadline(rig: Rig, world: World) -> None:
    rig.started()
    due = clock.now().boot + 40 * MS
    world.decoder.deadline = due
    world.say(b"x")  # wakes the thread, which then sees the new deadline
    ticked = rig.next()
    assert isinstance(ticked, Arrived)
    assert ticked.at.boot >= due
    assert ticked.at.boot - due < SECOND // 4
    assert len(world.decoder.ticks) == 1


def test_progress_moves_while_nothing_happens(rig: Rig) -> None:
    rig.started()
    seen = rig.reader.progress
    until(lambda: rig.reader.progress > seen)


def test_stop_during_a_wait_is_quick_clean_and_repeatable(rig: Rig, world: World) -> None:
    rig.started()
    began = time.monotonic()
    assert rig.stop() == []
    assert rig.reader.stop()
    assert time.monotonic() - began < 3
    assert world.log == ["open", "close"]
    assert not rig.reader.alive


def test_stop_before_start_does_nothing(rig: Rig) -> None:
    assert rig.reader.stop()


def test_stop_while_it_looks_for_a_lost_device(rig: Rig, world: World) -> None:
    world.open_faults = [LinkFault("no scanner")] * 99
    rig.reader.start()
    assert isinstance(rig.next(), ScannerLost)
    assert rig.stop() == []


def test_stop_while_a_frame_pours_in(pty: Pty) -> None:
    rig = Rig(bee_tek.DRIVER, str(pty.link)).started()
    os.set_blocking(pty.master, False)
    going = threading.Event()

    def pour() -> None:
        while not going.is_set():
            with suppress(OSError):
                pty.say(b"[Game]<Card:8S>\r\n")

    pouring = threading.Thread(target=pour)
    pouring.start()
    rig.next()
    rig.stop()
    going.set()
    pouring.join()


# --- lost and found ---------------------------------------------------------------------------------


def test_no_scanner_at_start_is_told_once_and_picked_up_when_it_comes(rig: Rig, world: World) -> None:
    world.open_faults = [LinkFault("no scanner"), OSError(errno.EACCES, "permission denied")]
    rig.reader.start()
    lost = rig.next()
    assert isinstance(lost, ScannerLost)
    assert lost.reason == "no scanner"
    until(lambda: "permission" in (rig.reader.presence.reason or ""))
    assert isinstance(rig.next(), ScannerRestored)
    assert rig.reader.presence.reason is None
    assert rig.stop() == []


def test_a_lost_device_is_closed_first_and_reopened_by_its_name(rig: Rig, world: World) -> None:
    rig.started()
    world.say(b"8")  # half a line
    until(lambda: world.decoder.pending == b"8")
    world.read_fault = LinkFault("scanner lost: unplugged")
    world.open_faults = [LinkFault("no scanner")]
    world.say(b"S")
    lost = rig.next()
    assert isinstance(lost, ScannerLost)
    assert lost.reason == "scanner lost: unplugged"
    assert isinstance(rig.next(), ScannerRestored)
    assert world.log == ["open", "close", "open", "open"]
    assert set(world.devices) == {"the-scanner"}
    assert world.decoder.resets == 1
    assert rig.reader.counters.outages == 1
    world.say(b"8S\n")
    card = rig.next()
    assert isinstance(card, Arrived)
    assert isinstance(card.item, Scan)
    assert rig.stop() == []


def test_lost_again_before_it_settled_is_the_same_outage(world: World) -> None:
    rig = Rig(world.driver, "x", settle=200 * MS).started()
    world.read_fault = LinkFault("first")
    world.say(b"x")
    assert isinstance(rig.next(), ScannerLost)
    until(lambda: world.log.count("open") == 2)
    world.read_fault = LinkFault("second")
    world.say(b"x")
    assert isinstance(rig.next(), ScannerRestored)
    assert world.log.count("open") == 3
    assert rig.stop() == []


def test_a_port_that_is_refused_for_a_while_after_a_plug_is_no_second_outage(rig: Rig, world: World) -> None:
    """udev has not set its rights, then ModemManager looks at it: it passes."""
    rig.started()
    busy = [LinkRefused(f"no permission, try {n}") for n in range(4)]
    world.open_faults = [LinkFault("no scanner at x"), *busy]
    world.read_fault = LinkFault("scanner lost: unplugged")
    world.say(b"x")
    assert isinstance(rig.next(), ScannerLost)
    until(lambda: rig.reader.presence.refused_since is not None)
    assert rig.reader.presence.where == "" and rig.reader.presence.identity == "pipe"
    since = rig.reader.presence.refused_since
    until(lambda: len(world.open_faults) <= 1)
    assert rig.reader.presence.refused_since == since
    assert isinstance(rig.next(), ScannerRestored)
    assert rig.reader.presence.refused_since is None and rig.reader.presence.where == "/dev/pipe0"
    assert world.log == ["open", "close", *["open"] * 6], "closed before it is looked for"
    assert rig.reader.counters.outages == 1
    assert [text for text, _ in rig.log.lines] == [
        "scanner ready",
        "scanner lost",
        "scanner still away",
        "scanner ready",
    ]
    assert rig.stop() == []


def test_a_port_that_has_just_come_is_not_waited_for_as_long_as_one_that_is_away(world: World) -> None:
    """udev needs some 100 ms for its rights; a port that is away is looked for every five seconds."""
    world.open_faults = [*[LinkFault("no scanner")] * 5, *[LinkRefused("no permission")] * 2]
    rig = Rig(world.driver, "x", backoff=Backoff(first=MS))
    failures: list[int] = []
    real = world.driver.open

    def opened(device: str, settings: Mapping[str, Any]) -> Link:
        failures.append(rig.reader.presence.backoff.failures)
        return real(device, settings)

    rig.reader._opening = replace(rig.reader._opening, driver=replace(world.driver, open=opened))
    rig.reader.start()
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored)
    rig.stop()
    assert failures == [0, 1, 2, 3, 4, 5, 1, 2]


@pytest.mark.parametrize(
    ("pin", "good"), [("pipe", True), ("pip", False), ("usb:0403:6001:A1", False), ("pipe x", False)]
)
def test_another_scanner_than_the_pinned_one_is_refused_and_told(pin: str, good: bool, world: World) -> None:
    rig = Rig(world.driver, "the-scanner", pinned=pin)
    rig.reader.start()
    first = rig.next()
    if good:
        assert isinstance(first, ScannerRestored)
    else:
        assert isinstance(first, ScannerLost)
        assert "another scanner: pipe, at /dev/pipe0" in first.reason and pin in first.reason
        assert world.log[:2] == ["open", "close"]
        assert rig.reader.presence.refused_since is not None
    rig.stop()


def test_a_pin_may_leave_out_the_product_text(world: World, mocker: MockerFixture) -> None:
    mocker.patch.object(PipeLink, "identity", "usb:0403:6001:A1 (FT232R USB UART)")
    Rig(world.driver, "x", pinned="usb:0403:6001:A1").started().stop()


def test_a_reply_that_cannot_be_sent_is_a_lost_scanner(rig: Rig, world: World) -> None:
    rig.started()
    world.write_fault = LinkFault("scanner lost: write")
    world.say(b"8S\n")
    assert isinstance(rig.next(), Arrived)  # the card was read: it is never dropped
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored)


def test_ready_but_empty_for_ever_is_lost_without_a_busy_loop(rig: Rig, world: World) -> None:
    rig.started()
    first = world.link
    world.empties = 1_000_000
    world.say(b"x")
    assert isinstance(rig.next(), ScannerLost)
    assert first is not None
    assert first.reads == 3
    used = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(0.1)
    now = resource.getrusage(resource.RUSAGE_SELF)
    assert now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime < 0.05


def test_two_empty_reads_are_not_the_end(rig: Rig, world: World) -> None:
    rig.started()
    for _ in range(5):
        world.empties = 2
        world.say(b"8S\n")
        assert isinstance(rig.next(), Arrived)
    assert rig.stop() == []


GONE = [
    serial.SerialException("device reports readiness to read but returned no data"),
    OSError(errno.EIO, "Input/output error"),
    OSError(errno.ENXIO, "No such device or address"),
    OSError(errno.ENODEV, "No such device"),
    termios.error(errno.EIO, "Input/output error"),
    ValueError("read of closed file"),
]


@pytest.mark.parametrize("fault", GONE, ids=repr)
def test_unplugged_in_any_way_is_one_lost_and_comes_back(
    fault: BaseException, mocker: MockerFixture, pty: Pty
) -> None:
    before = settled_descriptors()
    rig = Rig(bee_tek.DRIVER, str(pty.link)).started()
    mocker.patch("tablectl_drivers.links_serial.os.read", side_effect=fault)
    mocker.patch.object(serial.Serial, "close", autospec=True, side_effect=_close_and(fault))
    pty.say(b"[")
    assert isinstance(rig.next(), ScannerLost)
    mocker.stopall()
    assert isinstance(rig.next(), ScannerRestored)
    pty.say(b"[Game]<Card:8S>\r\n")
    half = rig.next()  # what could not be read then was still in the line
    assert isinstance(half, Arrived) and isinstance(half.item, Reject)
    card = rig.next()
    assert isinstance(card, Arrived)
    assert isinstance(card.item, Scan)
    assert rig.stop() == []
    assert descriptors() == before


def _close_and(fault: BaseException) -> Callable[[serial.Serial], None]:
    real = serial.Serial.close

    def close(port: serial.Serial) -> None:
        real(port)
        raise fault

    return close


def test_unplugged_for_real_and_plugged_in_elsewhere(pty: Pty) -> None:
    rig = Rig(bee_tek.DRIVER, str(pty.link)).started()
    first = os.path.realpath(pty.link)
    pty.unplug()
    lost = rig.next()
    assert isinstance(lost, ScannerLost)
    assert "scanner lost" in lost.reason
    until(lambda: "no scanner at" in (rig.reader.presence.reason or ""))
    pty.plug_elsewhere(first)
    assert os.path.realpath(pty.link) != first
    restored = rig.next(6)
    assert isinstance(restored, ScannerRestored)
    assert (restored.identity, restored.where) == (str(pty.link), os.path.realpath(pty.link))
    assert rig.stop() == []


def test_a_second_reader_on_the_port_is_refused_and_takes_over(pty: Pty) -> None:
    first = Rig(bee_tek.DRIVER, str(pty.link)).started()
    second = Rig(bee_tek.DRIVER, str(pty.link))
    second.reader.start()
    lost = second.next()
    assert isinstance(lost, ScannerLost)
    name = Path("/proc/self/comm").read_text().strip()
    assert f"is in use: process {os.getpid()} ({name}) has it open" in lost.reason
    pty.say(b"[Game]<Card:8S>\r\n")
    assert isinstance(first.next(), Arrived)
    first.stop()
    assert isinstance(second.next(6), ScannerRestored)
    assert second.stop() == []


def test_a_serial_server_with_one_connection(tmp_path: Path) -> None:
    port = TcpPort(0)
    first = Rig(bee_tek.DRIVER, port.device).started()
    second = Rig(bee_tek.DRIVER, port.device)
    second.reader.start()
    lost = second.next()
    assert isinstance(lost, ScannerLost)
    assert "another reader" in lost.reason
    port.hang_up()
    assert isinstance(first.next(), ScannerLost)
    second.reader.stop()
    port.plug_in()
    assert isinstance(first.next(6), ScannerRestored)
    first.stop()
    port.close()


@pytest.mark.soak
def test_descriptors_stay_flat_over_many_readers(pty: Pty) -> None:
    count = 1000 if "TABLECTL_SOAK" in os.environ else 50
    before = settled_descriptors()
    for _ in range(count):
        rig = Rig(bee_tek.DRIVER, str(pty.link), settle=0).started()
        rig.stop()
    assert descriptors() == before


@pytest.mark.soak
@pytest.mark.timeout(600 if "TABLECTL_SOAK" in os.environ else 60)
def test_opened_unplugged_and_closed_many_times_descriptors_and_memory_stay_flat() -> None:
    """In a process of its own, whose memory nothing else uses; the soak prints its figures (``-s``)."""
    count = 1000 if "TABLECTL_SOAK" in os.environ else 40
    done = subprocess.run(
        [sys.executable, "-m", "tests.data_tools.cycles", str(count)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent.parent,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    print(done.stdout)
    told = [[int(word) for word in line.split() if word.isdigit()] for line in done.stdout.splitlines()]
    first, last = told[1], told[-1]  # the very first cycle fills what is made once
    assert last[0] == count and len(told) == 11
    assert last[1:3] == first[1:3], "descriptors and threads"
    assert last[3] - first[3] < 512, "kB"


# --- what waited in the line is never played --------------------------------------------------------


def test_what_comes_while_the_line_settles_is_discarded(world: World) -> None:
    rig = Rig(world.driver, "x", settle=150 * MS)
    rig.reader.start()
    until(lambda: world.link is not None)
    world.say(b"8S\n8S\nbad\n")
    items = [rig.next() for _ in range(3)]
    assert all(isinstance(one, Discarded) for one in items)
    assert isinstance(rig.next(), ScannerRestored)
    world.say(b"8S\n")
    assert isinstance(rig.next(), Arrived)
    rig.stop()


def test_a_frame_that_begins_in_the_settling_time_is_discarded_whole(world: World) -> None:
    rig = Rig(world.driver, "x", settle=90 * MS)
    rig.reader.start()
    until(lambda: world.link is not None)
    end = clock.now().boot + 200 * MS
    world.say(b"8")
    while clock.now().boot < end:  # one byte each few ms, beyond the 90 ms
        world.say(b"8")
        time.sleep(0.005)
    world.say(b"\n")
    assert isinstance(rig.next(), Discarded)
    assert isinstance(rig.next(), ScannerRestored)
    rig.stop()


@pytest.mark.parametrize("before_end", [140, 100, 60, 20])
def test_copies_that_straddle_the_end_of_settling_are_never_played(before_end: int, pty: Pty) -> None:
    """Three copies 50 ms apart, the first of them so many ms before the 150 ms are over."""
    frame = Encoder().card(Label.P1, EIGHT)
    for _ in range(20):
        rig = Rig(angel_eye.DRIVER, str(pty.link), settle=150 * MS)
        begun = time.monotonic()
        rig.reader.start()
        until(lambda: rig.reader.progress > 0 and not rig.reader.connecting and _held(pty))  # noqa: B023
        time.sleep((150 - before_end) / 1000)
        pty.say(frame)
        until(lambda: rig.reader.counters.bytes > 0)  # noqa: B023
        if time.monotonic() - begun < 0.15:
            break
        rig.stop()  # the machine was too slow: it was read when all was over
    for _ in range(2):
        time.sleep(0.05)
        pty.say(frame)
    arrivals = [rig.next()]
    while not isinstance(arrivals[-1], ScannerRestored):
        arrivals.append(rig.next())
    time.sleep(0.12)
    arrivals += rig.rest()
    assert [type(one) for one in arrivals if not isinstance(one, ScannerRestored)] == [Discarded]
    pty.say(frame)  # the same frame within the repeat window: still a repeat
    rig.none_for(0.1)
    rig.stop()


def _held(pty: Pty) -> bool:
    """Whether somebody has the port open: its lock is taken."""
    import fcntl

    fd = os.open(pty.link, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def test_bytes_said_before_anybody_listened_are_never_played(tmp_path: Path) -> None:
    with a_pty(tmp_path / "shoe", kept=True) as pty:
        for _ in range(3):
            pty.say(Encoder().card(Label.P1, EIGHT))
        rig = Rig(angel_eye.DRIVER, str(pty.link))
        rig.reader.start()
        old = rig.next()
        assert isinstance(old, Discarded) and isinstance(old.item, Scan) and old.item.card == EIGHT
        assert isinstance(rig.next(), ScannerRestored)
        rig.none_for(0.1)
        rig.stop()


# --- noise, logs, crashes ---------------------------------------------------------------------------


def test_noise_is_written_down_in_few_rows_and_no_good_card_is_lost_in_it(world: World) -> None:
    """An hour of it, with a good card in each second."""
    fast = FastWait()
    now = fast.boot
    arrivals: list[Arrival] = []
    logged: list[str] = []
    intake = Intake(world.decoder, arrivals.append, None, lambda text, now: logged.append(text))
    intake.ready()
    for _ in range(3600):
        now += SECOND
        intake.looked = now
        intake.heard(b"bad\n" * 20 + b"8S\n", Instant(now, now))
        intake.passed(Instant(now, now))
    items = [one.item for one in arrivals if isinstance(one, Arrived)]
    assert sum(isinstance(item, Scan) for item in items) == 3600
    assert sum(isinstance(item, Reject) for item in items) == BAD_LINES
    notices = [item.text for item in items if isinstance(item, DeviceEvent)]
    assert len(notices) <= 1 + 360
    assert "check baud rate and cable" in notices[0]
    assert all("200 more unreadable lines in 10 s" in text for text in notices[2:])
    assert "62 61 64" in notices[1]
    assert not any("62 61 64" in text for text in logged), "a log is read by more people than the journal"
    assert intake.counters.rejects == 20 * 3600


def test_fifty_bad_lines_give_one_notice_and_the_rest_when_the_line_is_lost(rig: Rig, world: World) -> None:
    rig.started()
    world.say(b"bad\n" * 120 + b"8S\n")
    items = [rig.next() for _ in range(52)]
    notices = [one.item for one in items if isinstance(one, Arrived) and isinstance(one.item, DeviceEvent)]
    assert [(one.kind, "check baud rate and cable" in one.text) for one in notices] == [
        (DeviceKind.NOTICE, True)
    ]
    assert isinstance(items[-1], Arrived) and isinstance(items[-1].item, Scan)
    world.read_fault = LinkFault("scanner lost: x")
    world.say(b"x")
    rest = rig.next()
    assert isinstance(rest, Arrived) and isinstance(rest.item, DeviceEvent)
    assert rest.item.text.startswith("70 more unreadable lines")
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored)
    assert rig.stop() == []


class FastWait:
    """Time that passes only while the reader waits: ``select.poll`` and the clock in one."""

    def __init__(self) -> None:
        self.boot = clock.now().boot
        self.ready = False

    def clock(self) -> Instant:
        return Instant(self.boot, 0)

    def register(self, fd: int, events: int) -> None:
        pass

    def poll(self, milliseconds: int) -> list[tuple[int, int]]:
        self.boot += max(milliseconds, 1) * MS
        return [(-1, 1)] if self.ready else []


@pytest.mark.parametrize("flapping", [False, True])
def test_an_hour_without_scanner_writes_little(flapping: bool, world: World, mocker: MockerFixture) -> None:
    """No port with a reason that changes at every try; or a port that opens, settles and is lost at once."""
    fast = FastWait()
    mocker.patch("tablectl.reader.thread.select.poll", return_value=fast)
    end = fast.boot + 3600 * SECOND
    tries = 0

    def attempt(device: str, settings: Mapping[str, Any]) -> Link:
        nonlocal tries
        tries += 1
        if fast.boot > end:
            raise StopIteration
        if not flapping:
            raise LinkFault(f"no scanner, try {tries}")
        return PipeLink(world)

    def told(arrival: Arrival) -> None:
        arrivals.append(arrival)
        if isinstance(arrival, ScannerRestored):
            fast.ready = True
            world.read_fault = LinkFault(f"lost {tries}")
        elif isinstance(arrival, ScannerLost):
            fast.ready = False

    arrivals: list[Arrival] = []
    driver = Driver("x", "", world.driver.decoder, attempt, world.driver.traits, world.driver.check)
    rig = Rig(driver, "x", clock=fast.clock, deliver=told, backoff=Backoff())
    rig.reader.start()
    until(lambda: not rig.reader.alive, 20)
    assert [type(one) for one in rig.crashes] == [StopIteration]
    assert tries > 700
    assert 1 <= len(rig.log.lines) < 200
    lost = [one for one in arrivals if isinstance(one, ScannerLost)]
    assert len(lost) == (tries - 1 if flapping else 1)


@pytest.mark.parametrize("where", ["deliver", "decoder", "open"])
def test_anything_unexpected_is_told_and_the_link_closed(where: str, world: World) -> None:
    class Bug(Exception):
        pass

    def bug(*_: object) -> Any:
        raise Bug

    options: dict[str, Any] = {}
    if where == "deliver":
        options["deliver"] = bug
    elif where == "decoder":
        world.decoder.feed = bug  # type: ignore[method-assign,assignment]
    else:
        world.open_faults = [Bug()]
    rig = Rig(world.driver, "x", **options)
    rig.reader.start()
    until(lambda: world.link is not None or where == "open")
    if where == "decoder":
        world.say(b"x")
    until(lambda: not rig.reader.alive)
    assert [type(one) for one in rig.crashes] == [Bug]
    assert world.log.count("close") == (where != "open")
    assert rig.reader.stop()


class Jumping:
    """A clock that can jump ahead, as it does for a process that was stopped or a machine that slept."""

    def __init__(self) -> None:
        self.ahead = 0

    def __call__(self) -> Instant:
        real = clock.now()
        return Instant(real.boot + self.ahead, real.wall + self.ahead)


@pytest.mark.parametrize(("stood_still", "known"), [(0.2, True), (30, False), (3600, False)])
def test_what_came_while_everything_stood_still_may_be_as_old_as_the_last_look(
    world: World, stood_still: float, known: bool
) -> None:
    """A card that may have been drawn before the close is told as of then, never as fresh."""
    jumping = Jumping()
    rig = Rig(world.driver, "x", clock=jumping).started()
    before = jumping().boot
    jumping.ahead = round(stood_still * SECOND)
    world.say(b"8S\n")
    card = rig.next()
    assert isinstance(card, Arrived)
    if known:
        assert card.at.boot >= before + jumping.ahead
    else:
        assert before - SECOND < card.at.boot < before + SECOND
        assert card.at.wall - card.at.boot == pytest.approx(jumping().wall - jumping().boot, abs=SECOND)
    fresh_after = jumping().boot
    world.say(b"9H\n")
    fresh = rig.next()
    assert isinstance(fresh, Arrived) and fresh.at.boot >= fresh_after
    rig.stop()


# --- the small states, on a clock of their own ------------------------------------------------------


def test_settling_ends_when_the_span_is_over_and_the_line_empty() -> None:
    state = Settling(0, 150)
    assert not state.over(149, bytes_waited=False)
    assert not state.over(150, bytes_waited=True)
    assert state.over(150, bytes_waited=False)


def test_settling_waits_for_quiet_but_not_for_ever() -> None:
    state = Settling(0, 150)
    state.heard(140)
    assert state.until == 190
    assert not state.over(189, bytes_waited=False)
    for now in range(150, 600, 10):
        state.heard(now)
        assert not state.over(now, bytes_waited=True)
    assert state.over(600, bytes_waited=True)


def test_no_settling_at_all() -> None:
    assert Settling(5, 0).over(5, bytes_waited=False)


def heard_bad(noise: Noise, now: int) -> Told | None:
    """One bad line, as the intake asks: the notice after it, if it was handed over and one too many."""
    return None if noise.only_counted(now, b"rubbish", maybe_card=False) else noise.bad(now)


def test_forty_nine_bad_lines_or_fifty_slow_ones_are_no_noise() -> None:
    few = Noise()
    assert not any(heard_bad(few, i) for i in range(BAD_LINES - 1))
    slow = Noise()
    assert not any(heard_bad(slow, i * (BAD_WITHIN // 48)) for i in range(500))
    assert few.due is slow.due is None


def test_noise_is_told_again_only_after_a_pause() -> None:
    noise = Noise()
    assert [i for i in range(300) if heard_bad(noise, i)] == [BAD_LINES - 1]
    later = 300 + BAD_WITHIN + 1
    told = noise.passed(later)
    assert told == ("250 more unreadable lines in 10 s", b"rubbish")
    assert noise.due is None
    assert [i for i in range(300) if heard_bad(noise, later + i)] == [BAD_LINES - 1]


def test_noise_is_over_when_only_few_bad_lines_come() -> None:
    noise = Noise()
    for i in range(BAD_LINES):
        heard_bad(noise, i)
    now = 0
    for _ in range(2):  # one each nine seconds: that is no noise any more
        now += 9 * SECOND
        noise.passed(now)
        heard_bad(noise, now)
    assert noise.due is None
    assert not noise.only_counted(now, b"", maybe_card=False)


@given(st.lists(st.tuples(st.integers(0, 2 * SECOND), st.booleans()), max_size=300), st.integers(0, 10**18))
def test_every_bad_line_is_handed_over_or_counted_and_a_long_noise_is_short(
    lines: list[tuple[int, bool]], start: int
) -> None:
    noise, now, handed, counted, notices, asked = Noise(), start, 0, 0, [], -1
    for gap, maybe_card in lines * 3:
        now += gap
        while noise.due is not None and noise.due <= now:
            notices.append(noise.passed(noise.due))
        before = noise.due
        if noise.only_counted(now, b"", maybe_card=maybe_card):
            counted += 1
            assert not maybe_card or now - asked < ASKED_EACH, "nobody was asked to look"
        else:
            assert before is None or maybe_card
            asked = now if maybe_card else asked
            handed += 1
            noise.bad(now)
    notices.append(noise.summary(now))
    told = sum(int(notice.text.split()[0]) for notice in notices if notice is not None)
    assert handed + counted == 3 * len(lines)
    assert told == counted
    # With no pause of ten seconds in it, it stays one stretch: at most one notice each ten seconds.
    assert len(notices) <= 2 + (now - start) // BAD_WITHIN


@given(st.lists(st.integers(0, 3 * SECOND), max_size=2000), st.integers(0, 10**18))
def test_no_hour_holds_two_hundred_lines(gaps: list[int], start: int) -> None:
    budget = LogBudget()
    now, passed, held = start, [], 0
    for gap in gaps * 3:
        now += gap
        told = budget.take(now)
        if told is not None:
            passed.append(now)
            held += told
    for i, at in enumerate(passed):
        assert sum(1 for later in passed[i:] if later < at + 3600 * SECOND) < 200
    assert len(passed) + held + budget.held_back == 3 * len(gaps)
