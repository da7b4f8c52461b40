"""Emulated HID scanners on a pseudo-terminal, through the drivers and the real reader."""

from __future__ import annotations

import queue
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tablectl_drivers import hid_keyboard, hid_pos
from tablectl_drivers.emulated import hid
from tablectl_drivers.emulated.faults import FAULTS

from tablectl.cards import DECK, Card
from tablectl.emulation import Emulator
from tablectl.reader import Reader
from tablectl.scanner import Arrival, Arrived, Driver, Scan, ScannerRestored
from tablectl.scanner_setup import resolve_paths
from tests.drivers.contract import CARDS

SETTINGS: dict[str, Any] = {**CARDS, "bounce_ms": 0}
BOTH = pytest.mark.parametrize(
    ("driver", "emulator"), [(hid_pos.DRIVER, hid.POS), (hid_keyboard.DRIVER, hid.KEYBOARD)]
)
SEEDS = range(3)


def played(driver: Driver, emulator: Emulator, count: int, **how: Any) -> list[Card | None]:
    """The cards that reach the table of ``count`` drawn; they must be the drawn ones, in order."""
    shoe = emulator.make(speed=200, settings=SETTINGS, **how)
    arrivals: queue.Queue[Arrival] = queue.Queue()
    reader = Reader(driver, shoe.device, SETTINGS, arrivals.put, settle=0)
    found: list[Card | None] = []
    reader.start()
    try:
        assert isinstance(arrivals.get(timeout=5), ScannerRestored)
        shoe.load(DECK[:count])
        while shoe.draw() is not None:
            pass
        shoe.flush()
        # Drawn until it is read: where it has arrived, so has all before it.
        end = time.monotonic() + 10
        while not found or found[-1] != DECK[51]:
            assert time.monotonic() < end
            shoe.load(DECK[51:])
            shoe.draw()
            shoe.flush()
            with suppress(queue.Empty):
                while arrival := arrivals.get(timeout=0.3):
                    if isinstance(arrival, Arrived) and isinstance(arrival.item, Scan):
                        found.append(arrival.item.card)
                        if found[-1] == DECK[51]:
                            break
    finally:
        assert reader.stop()
        shoe.close()
    return found[:-1]


@BOTH
def test_every_card_reaches_the_table(driver: Driver, emulator: Emulator) -> None:
    assert played(driver, emulator, 51) == list(DECK[:51])


@BOTH
@pytest.mark.parametrize("seed", SEEDS)
def test_no_fault_makes_another_card(driver: Driver, emulator: Emulator, seed: int) -> None:
    faults = [f"{name}:6" for name in FAULTS if name not in ("hang-up", "stall", "cut-mid-hand")]
    found = played(driver, emulator, 30, faults=faults, seed=seed)
    left: Iterator[Card | None] = iter(DECK[:30])
    # A copy too many is a card read twice where nothing tells a bounce; the order is kept all the same.
    once = [card for i, card in enumerate(found) if i == 0 or card != found[i - 1]]
    assert all(card in left for card in once)
    assert 0 < len(once) < 30


@BOTH
def test_what_cannot_be_used_is_refused(driver: Driver, emulator: Emulator) -> None:
    with pytest.raises(ValueError, match="no TCP port"):
        emulator.make(listen=0, settings=SETTINGS)
    with pytest.raises(ValueError, match="cards: "):
        emulator.make()


@BOTH
def test_the_emulator_names_settings_the_driver_accepts(driver: Driver, emulator: Emulator) -> None:
    for speed in (1, 50, 10_000):
        driver.check(resolve_paths(driver, emulator.settings_at(speed), Path()))
