"""Beepers: the PC speaker, recorded by the emulated machine and its pitch measured; the scanner's own."""

from __future__ import annotations

import wave
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.lab.gadget import POS, Gadget
from tests.lab.table import SOCKET, AngelEye, Table, config

LOUD = 0.3
"""Of the loudest sample; what is above it is a crest."""

SAME = 0.1
"""By how much two waves of one tone may differ in length."""

SHORTEST = 0.03
"""Seconds; what sounds for less is a click."""


class Tone(NamedTuple):
    """A stretch of sound of one pitch (Hz), and how long it was (s)."""

    seconds: float
    pitch: float


def tones(recording: Path) -> list[Tone]:
    """What was heard. The machine records no silence: one tone follows right behind the other."""
    with wave.open(str(recording)) as file:
        rate, channels = file.getframerate(), file.getnchannels()
        samples = array("h", file.readframes(file.getnframes()))[::channels]
    found: list[Tone] = []
    run: list[int] = []  # crests of waves of one length
    for crest in [*_crests(samples), len(samples) + rate]:
        if len(run) > 1:
            usual = (run[-1] - run[0]) / (len(run) - 1)
            if abs(crest - run[-1] - usual) > max(2, SAME * usual):
                length = (run[-1] - run[0]) / rate
                if length > SHORTEST:
                    found.append(Tone(length, (len(run) - 1) / length))
                run = run[-1:]
        run.append(crest)
    return found


def _crests(samples: Sequence[int]) -> Iterator[int]:
    """Where the sound rises above LOUD; again only after it has been at or below zero."""
    loud = LOUD * max(samples, default=0)
    armed = True
    for place, sample in enumerate(samples):
        if armed and sample > loud:
            yield place
            armed = False
        elif sample <= 0:
            armed = True


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
    print(*heard, sep="\n")
    assert len(heard) == 2
    assert near(heard[0].pitch, 880), "the close of betting"
    assert near(heard[1].pitch, 1760), "accept"


def test_the_scanner_is_told_to_beep(table: Table) -> None:
    guest = table.guest
    scanner = Gadget(guest, POS, serial="18113B0A21", product=0x0B61)
    scanner.plug()
    lines = ('cards = "suit-rank"', 'beeper = "honeywell"')
    beeper = '[beeper]\ndriver = "scanner"\n'
    table.start(config("hid-pos", "usb:0c2e:0b61:18113B0A21", *lines, beeper=beeper))
    table.up()
    guest.run(f"TABLECTL_SOCKET={SOCKET} /opt/tablectl/bin/tablectl signal accept")
    assert scanner.told().rstrip(b"\0") == bytes.fromhex("fd 03 16 07 0d")


def near(pitch: float, wanted: float) -> bool:
    """Within 3 %, half a semitone: the emulated timer divides by whole numbers."""
    return abs(pitch - wanted) < wanted * 0.03
