"""Devices that go away and come back: wire facts, section 9, items 1, 2, 4, 13 and 14."""

from __future__ import annotations

import errno
import gc
import os
import resource
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import PropertyMock

import pytest
import serial
from pytest_mock import MockerFixture
from tablectl_drivers import bee_tek, links_serial

from tablectl import clock
from tablectl import events as ev
from tablectl.scanner import (
    Arrived,
    Backoff,
    Discarded,
    Link,
    LinkFault,
    ScannerLost,
    ScannerRestored,
)
from tests.descriptors import descriptors, settled_descriptors
from tests.drivers.test_links import port
from tests.field.shared import BEE, GUISES, SOAK, lines, open_port, quick, until_lost
from tests.ptys import Pty
from tests.reader.test_thread import MS, World
from tests.table.playing import Play

# --- 1: an unplug has many faces ---


def break_call(mocker: MockerFixture, call: str, fault: BaseException) -> None:
    """From now on ``call`` of an open port raises ``fault``; what it does is done all the same."""
    real_close = serial.Serial.close

    def close(one: serial.Serial) -> None:
        real_close(one)
        raise fault

    match call:
        case "read":
            mocker.patch("tablectl_drivers.links_serial.os.read", side_effect=fault)
        case "write":
            mocker.patch.object(serial.Serial, "write", side_effect=fault)
        case "in_waiting":
            mocker.patch.object(serial.Serial, call, new_callable=PropertyMock, side_effect=fault)
        case "flush":
            for name in ("flush", "reset_input_buffer", "reset_output_buffer"):
                mocker.patch.object(serial.Serial, name, side_effect=fault)
        case "close":
            mocker.patch.object(serial.Serial, "close", autospec=True, side_effect=close)


@pytest.mark.parametrize("call", ["read", "write", "in_waiting", "flush", "close"])
def test_9_01_an_unplug_in_any_guise_is_one_scanner_lost(call: str, mocker: MockerFixture, pty: Pty) -> None:
    before = settled_descriptors()
    for fault in GUISES:
        rig = quick(lines(), str(pty.link)).started()
        break_call(mocker, call, fault)
        if call in ("read", "write"):
            pty.say(b"8S\n")
        else:
            pty.unplug()
        items, lost = until_lost(rig)
        assert len(items) == (call == "write"), "a card that was read is told before the loss"
        assert lost.reason.startswith("scanner lost"), fault
        mocker.stopall()
        if call not in ("read", "write"):
            pty.plug()
        restored = rig.next()
        while isinstance(restored, Discarded):  # what could not be read before waited in the line
            restored = rig.next()
        assert isinstance(restored, ScannerRestored), fault
        assert rig.stop() == []
        assert rig.reader.counters.outages == 1
    assert descriptors() == before, "no clean-up that failed left anything open"


def test_9_01_the_hand_is_frozen_not_voided() -> None:
    table = Play().no_more_bets()
    table.deal("2C 9D")
    table.lose()
    assert table.codes == ["device-lost"]
    table.restore()
    assert table.codes == ["device-lost"], "coming back releases nothing"
    assert table.state.round is not None
    assert [str(card) for card in table.state.round.cards.values()] == ["2C", "9D"]
    assert not table.of(ev.RoundVoided)


def test_9_01_it_is_looked_for_again_ever_less_often(world: World) -> None:
    tried: list[int] = []
    world.open_faults = [LinkFault("no scanner")] * 5

    def opening(device: str, settings: Mapping[str, Any]) -> Link:
        tried.append(clock.now().boot)
        return world.open(device, settings)

    rig = quick(lines(opening), "x", backoff=Backoff(first=10 * MS))
    rig.reader.start()
    assert isinstance(rig.next(), ScannerLost)
    assert isinstance(rig.next(), ScannerRestored)
    rig.stop()
    pauses = [(later - sooner) // MS for sooner, later in pairwise(tried)]
    assert all(pause >= wanted for pause, wanted in zip(pauses, (10, 20, 40, 80, 160), strict=True)), pauses
    state = Backoff()
    for _ in range(60):
        state = state.failed(0)
    assert state.retry_at == 5_000 * MS, "and at least every five seconds"


# --- 2: a dead port that is ready and empty ---


def test_9_02_a_dead_port_is_read_a_few_times_and_is_lost(mocker: MockerFixture, pty: Pty) -> None:
    rig = quick(bee_tek.DRIVER, str(pty.link)).started()
    read = mocker.spy(os, "read")
    pty.unplug()
    assert isinstance(rig.next(), ScannerLost)
    assert sum(call.args[1] == 4096 for call in read.call_args_list) <= 3
    used = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(0.15)
    now = resource.getrusage(resource.RUSAGE_SELF)
    assert now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime < 0.075, "a busy loop"
    assert rig.stop() == []


# --- 4: the same device under another name ---


def test_9_04_closed_first_then_opened_by_its_stable_name(pty: Pty) -> None:
    held_while_opening: list[str] = []

    def opening(device: str, settings: Mapping[str, Any]) -> Link:
        open_now = [os.readlink(entry.path) for entry in os.scandir("/proc/self/fd") if _is_link(entry.path)]
        held_while_opening.extend(name for name in open_now if name.startswith(old))
        return open_port(device, settings)

    old = os.path.realpath(pty.link)
    rig = quick(lines(opening), str(pty.link)).started()
    pty.unplug()
    assert isinstance(rig.next(), ScannerLost)
    pty.plug_elsewhere(old)
    assert os.path.realpath(pty.link) != old
    assert isinstance(rig.next(), ScannerRestored)
    assert held_while_opening == []
    pty.say(b"8S\n")
    assert isinstance(rig.next(), Arrived)
    assert rig.stop() == []


def _is_link(path: str) -> bool:
    try:
        return bool(os.readlink(path))
    except OSError:  # the descriptor of the listing itself
        return False


def test_9_04_two_adapters_of_one_name_are_not_guessed_at(tmp_path: Path) -> None:
    folder = tmp_path / "by-id"
    folder.mkdir()
    target = tmp_path / "ttyUSB1"
    target.touch()
    link = folder / "usb-1a86_USB_Serial-if00-port0"
    link.symlink_to(target)
    twins = [port("/dev/ttyUSB0", "1-1"), port(str(target), "1-2")]
    with pytest.raises(LinkFault, match="ambiguous"):
        links_serial.refuse_ambiguous(str(link), lambda: twins)
    twins[0].serial_number = "A5"
    links_serial.refuse_ambiguous(str(link), lambda: twins)


def test_9_04_never_the_first_port_that_opens(pty: Pty, tmp_path: Path) -> None:
    """The configured device is away; another adapter is there, and it speaks."""
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    other = Pty(elsewhere / "shoe")
    pty.unplug()
    rig = quick(bee_tek.DRIVER, str(pty.link))
    rig.reader.start()
    assert isinstance(rig.next(), ScannerLost)
    other.say(BEE)
    rig.none_for(0.06)
    assert rig.reader.counters.bytes == 0
    pty.plug()
    assert isinstance(rig.next(), ScannerRestored)
    pty.say(BEE)
    assert isinstance(rig.next(), Arrived)
    assert rig.stop() == []
    other.unplug()


# --- 13: a serial server whose cable is out ---


def test_9_13_keepalive_tells_of_a_cable_that_is_out(mocker: MockerFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        link = open_port(f"tcp://127.0.0.1:{server.getsockname()[1]}")
        with socket.socket(fileno=os.dup(link.fileno())) as opened:
            assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT)
            assert [opened.getsockopt(socket.IPPROTO_TCP, option) for option in options] == [30, 10, 3]
        # What the kernel answers once its three probes were in vain.
        dead = mocker.patch.object(link, "_socket")
        dead.recv.side_effect = OSError(errno.ETIMEDOUT, "Connection timed out")
        with pytest.raises(LinkFault, match="scanner lost: the serial server does not answer"):
            link.read()
        mocker.stopall()
        link.close()


# --- 14: closing while somebody reads ---


def test_9_14_stopped_in_the_middle_of_a_read_without_a_traceback(pty: Pty) -> None:
    before = settled_descriptors()
    os.set_blocking(pty.master, False)
    done = threading.Event()

    def pour() -> None:
        while not done.is_set():
            with suppress(BlockingIOError):
                pty.say(BEE)

    pouring = threading.Thread(target=pour)
    pouring.start()
    took_its_number: list[int] = []
    try:
        for _ in range(5):
            rig = quick(bee_tek.DRIVER, str(pty.link), settle=0)
            rig.reader.start()
            while not isinstance(rig.next(), Arrived):
                pass
            rig.stop()  # asserts that nothing crashed and the thread has ended
            took_its_number.append(os.open("/dev/null", os.O_RDONLY))
    finally:
        done.set()
        pouring.join()
    gc.collect()  # what a finalizer would close
    for fd in took_its_number:
        os.close(fd)  # raises if somebody closed a number that was not his any more
    assert descriptors() == before


@pytest.mark.soak
def test_9_14_a_thousand_cycles_leave_descriptors_and_memory_flat(pty: Pty) -> None:
    """Opened, read, unplugged, read again and closed."""

    def cycle() -> None:
        link = open_port(str(pty.link))
        pty.say(b"x")
        assert link.read() == b"x"
        pty.unplug()
        with suppress(LinkFault):
            assert link.read() == b""
        link.close()
        pty.plug()

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    cycle()
    before, memory = settled_descriptors(), resident()
    for _ in range(1000 if SOAK else 100):
        cycle()
    assert descriptors() == before
    assert resident() - memory < 2**20
