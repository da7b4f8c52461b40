"""A small part of ``make fuzz`` at every run, and that it finds what is planted."""

from __future__ import annotations

import os

import pytest

from tablectl.cards import DECK
from tablectl.scanner import Item, Label, Reject, Scan
from tests.drivers.contract import SUBJECTS
from tests.fuzz.fuzzing import FILLER, check_accounts, fuzz

BYTES = 2_000_000 if os.environ.get("TABLECTL_SOAK") else 8_000


@pytest.mark.soak
@pytest.mark.timeout(900 if os.environ.get("TABLECTL_SOAK") else 60)
@pytest.mark.parametrize("name", sorted(SUBJECTS))
def test_any_bytes_are_parsed_or_rejected_and_nothing_else(name: str) -> None:
    figures = fuzz(name, BYTES)
    assert figures.fed >= BYTES
    assert figures.items["Scan"] and figures.items["Reject"]
    assert figures.memory <= 4 * SUBJECTS[name].memory + 10_000


def test_a_byte_that_vanishes_is_found() -> None:
    card = Scan(DECK[0], Label.NONE, b"[Game]<Card:AS>")
    check_accounts(card.raw + b"AS\r\n", [card], FILLER["bee-tek"])
    wrong: list[tuple[bytes, list[Item]]] = [
        (b"123456789" + card.raw, [card]),
        (card.raw, []),
        (card.raw, [card, card]),
        (b"x" + card.raw, [card, Reject(b"x", "out of order")]),
    ]
    for stream, items in wrong:
        with pytest.raises(AssertionError, match=r"passed over|not what was fed"):
            check_accounts(stream, items, FILLER["bee-tek"])
