"""The scanner's own beeper, whole: from a pattern through the reader to the bytes on the line, by driver."""

from __future__ import annotations

import os
import time
import tty
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from tablectl_drivers.beepers import scanner
from tablectl_drivers.zebra_ssi import Encoder

from tablectl.beeping import attach, make_beepers
from tablectl.cards import Card
from tablectl.config import make_config
from tablectl.plugins import DRIVERS, load_driver, names
from tablectl.scanner import PATTERNS, Arrived, Driver
from tablectl.scanner_setup import load_scanner
from tablectl.signals import Signals
from tests.reader.test_thread import Rig

SSI_ACK = bytes.fromhex("04 D0 04 00 FF 28")
SCANNERS: dict[str, tuple[dict[str, Any], str]] = {
    "barcode": ({"cards": "suit-rank", "beeper": "honeywell"}, "accept"),
    "zebra-ssi": ({"cards": "suit-rank"}, "pip"),
}
"""Settings with which a serial scanner beeps, and a pattern that one surely has."""
SOUNDS = {"barcode": bytes.fromhex("16 07 0D"), "zebra-ssi": bytes.fromhex("05 E6 04 00 00 FF 11")}


class Table:
    """A reader on a pseudo-terminal and the scanner's own beeper, put together as the daemon does."""

    def __init__(self, name: str, tmp_path: Any, **beeper: Any) -> None:
        self.name = name
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        device = os.ttyname(self.slave)
        raw = {
            "table": {"id": "T07", "test": True},
            "scanner": {"driver": name, "device": device} | SCANNERS[name][0],
            "beeper": {"driver": "scanner"} | beeper,
        }
        config = make_config(raw, tmp_path / "T07.toml")
        driver, self.settings = load_scanner(config)
        self.rig = Rig(_with(driver, self.settings), device, settle=10_000_000)
        made = make_beepers(config)
        attach(config, made, driver, self.settings, self.rig.reader.say)
        self.signals = Signals(*made.values())
        self.rig.started()
        self.signals.start()

    def close(self) -> None:
        self.signals.stop()
        self.rig.stop()
        os.close(self.master)
        os.close(self.slave)

    def hears(self, size: int) -> bytes:
        got, end = b"", time.monotonic() + 5
        os.set_blocking(self.master, False)
        while len(got) < size and time.monotonic() < end:
            try:
                got += os.read(self.master, 4096)
            except BlockingIOError:
                time.sleep(0.0005)
        return got


def _with(driver: Driver, settings: dict[str, Any]) -> Driver:
    """The driver with its settings in it: the rig gives none."""
    return replace(
        driver,
        decoder=lambda _: driver.decoder(settings),
        open=lambda device, _: driver.open(device, settings),
    )


@pytest.fixture(params=sorted(SCANNERS))
def table(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Table]:
    made = Table(request.param, tmp_path)
    yield made
    made.close()


def test_a_pattern_is_the_drivers_bytes_on_the_line(table: Table) -> None:
    name = table.name
    assert table.signals.try_out(SCANNERS[name][1]) == {"": None}
    assert table.hears(len(SOUNDS[name])) == SOUNDS[name]


def test_the_sites_bytes_go_before_the_drivers(tmp_path: Any) -> None:
    table = Table("zebra-ssi", tmp_path, patterns={"pip": "07", "hold": []})
    assert table.signals.try_out("pip") == {"": None}
    assert table.hears(1) == b"\a"
    assert table.signals.try_out("hold") == {"": None}
    table.close()


def test_the_acknowledgement_of_a_scan_is_neither_late_nor_cut_by_a_beep(tmp_path: Any) -> None:
    """A scanner that gets no ACK sends the card again: a beep for every card must never make it so."""
    table = Table("zebra-ssi", tmp_path)
    encoder = Encoder(table.settings)
    beep = load_driver("zebra-ssi").beep(table.settings, "accept")
    waits, stream = [], b""
    for count in range(100):
        packet = encoder.card(Card.parse("8S" if count % 2 else "KD"))
        os.write(table.master, packet[:5])
        table.signals.play("accept")  # asked for while the packet comes
        os.write(table.master, packet[5:])
        began = time.monotonic()
        while stream.count(SSI_ACK) <= count:
            stream += table.hears(1)
            assert time.monotonic() - began < 2
        waits.append(time.monotonic() - began)
    assert sum(isinstance(item, Arrived) for item in table.rig.rest()) == 100
    assert sorted(waits)[90] < 0.1
    assert table.signals.try_out("accept") == {"": None}
    while not stream.endswith(beep):
        stream += table.hears(1)
    beeps = stream.count(beep)
    assert len(stream) == 100 * len(SSI_ACK) + beeps * len(beep), "each in one piece"
    assert 2 <= beeps <= 101
    table.close()


def test_a_table_goes_on_when_its_scanner_with_the_beeper_is_unplugged(table: Table) -> None:
    os.close(table.master)
    table.rig.next()
    told = table.signals.try_out("close")[""]
    assert told and told.startswith("the scanner is away: ")
    table.master = os.open(os.devnull, os.O_RDONLY)


@pytest.mark.parametrize("name", names(DRIVERS))
def test_what_a_driver_beeps_fits_the_beeper(name: str) -> None:
    settings = SCANNERS.get(name, ({},))[0]
    driver = load_driver(name)
    sounds = {pattern: driver.beep(settings, pattern) for pattern in PATTERNS}
    assert all(isinstance(data, bytes) and len(data) <= 64 for data in sounds.values())
    beeper = scanner.make({})
    if any(sounds.values()):
        beeper.attach(lambda pattern: sounds[pattern], lambda data: True)
    else:
        with pytest.raises(ValueError, match="no beep of its own"):
            beeper.attach(lambda pattern: sounds[pattern], lambda data: True)
