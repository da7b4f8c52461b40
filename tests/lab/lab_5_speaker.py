"""The PC speaker: what the daemon plays on it is recorded by the emulated machine, and its pitch measured."""

from __future__ import annotations

import json
import wave
from array import array
from itertools import pairwise
from pathlib import Path

from tests.lab.table import Table, config

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
    guest.run("modprobe pcspkr")
    guest.until("the speaker is there", lambda: guest.has("/dev/tablectl/speaker"))
    table.start(config("angel-eye", "/dev/nowhere", beeper='[beeper]\ndriver = "pcspkr"\n'))
    said = guest.out(
        "TABLECTL_SOCKET=/run/tablectl/LAB/tablectl.sock /opt/tablectl/bin/tablectl signal close --json"
    )
    print(json.loads(said))
    guest.run("sleep 2")
    guest.stop()
    print(tones(guest.sound))
    assert tones(guest.sound)
