"""The Patlite lamp over pyusb, on a bus that is not there: its bytes, unplugged and plugged in again."""

from __future__ import annotations

import errno
import threading

import pytest
from tablectl_drivers.beepers import patlite
from tablectl_drivers.emulated.usb_bus import FakeBus, FakeDevice, FakeInterface

NAME = "usb:191a:6001:L1"
QUICK = {"pip": patlite.Show(5, light=1), "hold": patlite.Show(3000, light=1), "accept": patlite.DARK}
PIP = ("out", bytes.fromhex("00 00 00 00 11 00 00 00"))
DARK = ("out", bytes(8))


def a_lamp(serial: str = "L1") -> FakeDevice:
    return FakeDevice(0x191A, 0x6001, serial, "NE-USB", [FakeInterface(out=0x01)])


@pytest.fixture
def bus() -> FakeBus:
    return FakeBus()


def test_the_lamp_shows_a_pattern_and_is_dark_before_and_after(bus: FakeBus) -> None:
    lamp = bus.plug(a_lamp())
    beeper = patlite.Patlite(NAME, QUICK, bus)
    beeper.play("pip")
    assert lamp.sent == [DARK, PIP, DARK]
    assert ("intr_write", 0x01) in lamp.calls
    beeper.play("accept")
    assert lamp.sent == [DARK, PIP, DARK]
    beeper.close()
    assert lamp.sent[3:] == [DARK]
    assert lamp.handles == 0 and lamp.interfaces[0].driver


def test_a_lamp_left_on_by_a_killed_process_is_dark_at_the_next_start(bus: FakeBus) -> None:
    lamp = bus.plug(a_lamp())
    beeper = patlite.Patlite(NAME, QUICK, bus)
    beeper.check()
    assert lamp.sent == [DARK]
    beeper.close()


def test_never_the_first_lamp_found(bus: FakeBus) -> None:
    other = bus.plug(a_lamp("L2"), "1-1")
    mine = bus.plug(a_lamp(), "1-2")
    beeper = patlite.Patlite(NAME, QUICK, bus)
    beeper.play("pip")
    assert not other.sent and PIP in mine.sent
    beeper.close()
    by_socket = patlite.Patlite("usb:191a:6001@1-1", QUICK, bus)
    by_socket.play("pip")
    assert PIP in other.sent
    by_socket.close()


def test_a_lamp_that_is_not_there_is_told_and_comes_back(bus: FakeBus) -> None:
    beeper = patlite.Patlite(NAME, QUICK, bus)
    for ask in (beeper.check, beeper.check):
        with pytest.raises(OSError, match=r"no lamp at usb:191a:6001:L1: check its cable"):
            ask()
    lamp = bus.plug(a_lamp())
    beeper.play("pip")
    assert lamp.sent == [DARK, PIP, DARK]
    bus.unplug(lamp)
    with pytest.raises(OSError, match="no lamp at"):
        beeper.play("pip")
    bus.plug(lamp)
    lamp.sent.clear()
    beeper.play("pip")
    assert lamp.sent == [DARK, PIP, DARK]
    beeper.close()


def test_a_lamp_plugged_in_again_between_two_patterns_is_no_fault(bus: FakeBus) -> None:
    lamp = bus.plug(a_lamp())
    beeper = patlite.Patlite(NAME, QUICK, bus)
    beeper.play("pip")
    bus.unplug(lamp)
    again = bus.plug(a_lamp(), "1-3")
    beeper.play("pip")
    assert again.sent == [DARK, PIP, DARK]
    beeper.close()


def test_a_write_that_fails_in_mid_pattern_is_told_and_begins_dark_again(bus: FakeBus) -> None:
    lamp = bus.plug(a_lamp())
    beeper = patlite.Patlite(NAME, QUICK, bus)
    beeper.check()
    wait = beeper._hushed.wait

    def pulled(seconds: float) -> bool:
        lamp.fail("intr_write", errno.ENODEV)
        return wait(0)

    beeper._hushed.wait = pulled  # type: ignore[method-assign, assignment]
    with pytest.raises(OSError, match="lamp lost: unplugged"):
        beeper.play("pip")
    lamp.sent.clear()
    beeper.check()
    assert lamp.sent == [DARK]
    beeper.close()


def test_a_device_that_takes_no_commands_is_no_lamp(bus: FakeBus) -> None:
    bus.plug(FakeDevice(0x191A, 0x6001, "L1", "NE-USB", [FakeInterface()]))
    with pytest.raises(OSError, match="is no Patlite NE-USB"):
        patlite.Patlite(NAME, QUICK, bus).check()


def test_a_lamp_held_by_another_program_is_said_so(bus: FakeBus) -> None:
    lamp = bus.plug(a_lamp())
    lamp.holders[0] = object()
    with pytest.raises(OSError, match="is in use"):
        patlite.Patlite(NAME, QUICK, bus).check()


def test_a_lamp_is_cut_short_and_dark(bus: FakeBus) -> None:
    lamp = bus.plug(a_lamp())
    beeper = patlite.Patlite(NAME, QUICK, bus)
    thread = threading.Thread(target=beeper.play, args=("hold",))
    thread.start()
    while len(lamp.sent) < 2:
        pass
    beeper.hush()
    thread.join(15)
    assert not thread.is_alive() and lamp.sent[-1] == DARK
    beeper.close()
