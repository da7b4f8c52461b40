"""Beepers: the PC speaker, recorded by the emulated machine and its pitch measured; the scanner's own."""

from __future__ import annotations

import wave
from array import array
from itertools import pairwise
from pathlib import Path

from tests.lab.gadget import POS, Gadget
from tests.lab.table import SOCKET, AngelEye, Table, config

LOUD = 2000
"""Of 32767; silence is 0."""


def tones(recording: Path) -> list[int]:
    """The pitches heard, in Hz, one for each stretch of sound of at least 30 ms."""
    with wave.open(str(recording)) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        samples = array("h", file.readframes(file.getnframes()))[::channels]
    found: list[int] = []
    crossings = [n for n, (a, b) in enumerate(pairwise(samples)) if a <= 0 < b or (a < LOUD <= b)]
    run: list[int] = []
    for place in [*crossings, len(samples) + rate]:
        if run and place - run[-1] > rate // 50:
            if len(run) > 2 and run[-1] - run[0] > rate * 0.03:
                found.append(round((len(run) - 1) * rate / (run[-1] - run[0])))
            run = []
        run.append(place)
    return found


def test_the_beep_at_the_close_of_betting_is_heard(table: Table) -> None:
    guest = table.guest
    shoe = AngelEye(guest.plug_ftdi("shoe", serial="A50285BI"))
    device = "/dev/tablectl/by-serial/0403:6001:A50285BI"
    table.start(config("angel-eye", device, beeper='[beeper]\ndriver = "pcspkr"\n'))
    table.up()
    table.open()
    shoe.standby()
    table.bets()
    table.wait("betting is closed", lambda s: s["phase"] != "betting")
    guest.run(f"TABLECTL_SOCKET={SOCKET} /opt/tablectl/bin/tablectl signal accept")
    guest.run("sleep 2")  # the tones themselves
    guest.stop()
    heard = tones(guest.sound)
    print("heard, in Hz:", heard)
    assert [near(pitch, 880) for pitch in heard[:1]] == [True], "the close of betting"
    assert [near(pitch, 1760) for pitch in heard[1:]] == [True], "accept"


def test_the_scanner_is_told_to_beep(table: Table) -> None:
    guest = table.guest
    scanner = Gadget(guest, POS, serial="18113B0A21", product=0x0B61)
    scanner.plug()
    lines = ('cards = "suit-rank"',)
    table.start(
        config("hid-pos", "usb:0c2e:0b61:18113B0A21", *lines, beeper='[beeper]\ndriver = "scanner"\n')
    )
    table.up()
    guest.run(f"TABLECTL_SOCKET={SOCKET} /opt/tablectl/bin/tablectl signal accept")
    assert scanner.told().rstrip(b"\0") == bytes.fromhex("fd 03 16 07 0d")


def near(pitch: int, wanted: int) -> bool:
    """Within 3 %, half a semitone: the emulated timer divides by whole numbers."""
    return abs(pitch - wanted) < wanted * 0.03
