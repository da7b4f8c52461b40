"""The computed recordings of code scanners: as their maker makes them, and with the cards they tell of."""

from __future__ import annotations

import json

import pytest

from tablectl.plugins import load_driver
from tablectl.scanner import Item
from tests.data_tools import code_recordings, hid_recordings
from tests.data_tools.code_recordings import FOLDER, Made
from tests.drivers import contract

RECORDINGS = (*code_recordings.recordings(), *hid_recordings.recordings())


@pytest.mark.parametrize("made", RECORDINGS, ids=lambda made: made.driver)
def test_a_recording_holds_the_cards_it_tells_of(made: Made) -> None:
    text = (FOLDER / f"{made.driver}.capture").read_text(encoding="utf-8")
    assert text == code_recordings.text(made)
    head, _, body = text.partition("\n\n")
    (settings,) = (line.removeprefix("settings: ") for line in head.splitlines() if line[:9] == "settings:")
    driver = load_driver(made.driver)
    driver.check(json.loads(settings))
    decoder = driver.decoder(json.loads(settings))
    items: list[Item] = []
    for line in body.splitlines():
        at, _, data = line.partition(" ")
        now = round(float(at) * 1_000_000) * 1000
        while (deadline := decoder.next_deadline()) is not None and deadline <= now:
            items += decoder.tick(deadline).items
        items += decoder.feed(bytes.fromhex(data), now).items
    items += contract.drain(decoder)
    assert " ".join(map(str, contract.scans(items))) == made.cards
    assert len(items) > len(contract.scans(items)) + 2
