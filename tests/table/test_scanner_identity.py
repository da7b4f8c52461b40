"""Which scanner is at the table: remembered from row to row, and another one in its place is told."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tablectl import events as ev
from tablectl.scanner import DeviceKind
from tablectl.table import Kind, Started, State, evolve
from tablectl.table.checkpoint import before
from tests.table.playing import NATURAL, Play

ONE = "usb:0403:6001:A50285BI (FT232R USB UART)"
OTHER = "usb:0403:6001:A50285BJ (FT232R USB UART)"


def changed(play: Play) -> list[str]:
    return [message for alert, message in play.state.alerts if alert == "scanner-changed"]


def at_the_table(identity: str = ONE) -> Play:
    play = Play()
    play.idle()
    play.do(Kind.DEVICE_SWAP)  # the helper's own scanner goes
    play.restore(identity)
    assert not changed(play)
    return play


def test_the_same_scanner_elsewhere_is_the_same() -> None:
    play = at_the_table()
    for n in range(3):
        play.lose()
        play.restore(ONE, f"/dev/ttyUSB{n}")
    play.give(Started(play.now(), "1"))
    play.restore(ONE, "/dev/ttyUSB7")
    assert not changed(play)


@pytest.mark.parametrize("restarted", [False, True])
def test_another_scanner_in_its_place_is_told_with_both_names(restarted: bool) -> None:
    play = at_the_table()
    if restarted:
        play.give(Started(play.now(), "1"))
    else:
        play.lose()
    play.restore(OTHER, "/dev/ttyUSB1")
    (message,) = changed(play)
    assert ONE in message and OTHER in message and "/dev/ttyUSB1" in message
    assert play.state.device == OTHER, "it is told once, not at every plug"
    play.do(Kind.ACK, alert="scanner-changed")
    play.lose()
    play.restore(OTHER)
    assert not changed(play)


def test_the_announced_one_is_no_alarm_and_the_next_is() -> None:
    play = at_the_table()
    play.lose()
    play.do(Kind.DEVICE_SWAP)
    play.restore(OTHER)
    play.device(DeviceKind.STARTED)
    assert not changed(play) and play.state.device == OTHER
    play.lose()
    play.restore(ONE)
    assert len(changed(play)) == 1


def test_announced_when_it_is_there_already_covers_no_third() -> None:
    play = at_the_table()
    play.restore(OTHER)
    play.do(Kind.DEVICE_SWAP)
    play.do(Kind.ACK, alert="scanner-changed")
    play.lose()
    play.restore(OTHER)
    assert not changed(play)
    play.restore("a third")
    assert len(changed(play)) == 1


def test_an_identity_of_the_first_release_is_no_other_scanner() -> None:
    """It named the port's number; only rows that say where the device hangs name the device itself."""
    state = evolve(State(), ev.ScannerRestored(identity="/dev/ttyUSB0 (usb-FTDI_x)"))
    assert state.scanner_up and state.device == ""


def test_it_is_in_the_checkpoint_and_an_old_checkpoint_has_none() -> None:
    play = at_the_table()
    play.round(NATURAL)
    play.do(Kind.SHOE_END)
    play.do(Kind.SHOE_NEW)
    play.scan("2S")
    started = [event for event in play.events if isinstance(event, ev.ShoeStarted)][-1]
    carry = json.loads(json.dumps(started.carry))
    state = before(dataclasses.replace(started, carry=carry))
    assert state is not None and state.device == ONE
    del carry["device"]
    old = before(dataclasses.replace(started, carry=carry))
    assert old is not None and old.device == ""
