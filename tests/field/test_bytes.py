"""Cases from the field, "Bytes": what scanners really sent, and the only right answer to it.

Codes are the public card table's: suit x 1000 + rank x 10, so 1010 is the ace of spades.
"""

from __future__ import annotations

import os
import time

import pytest
from tablectl_drivers import barcode, hid_keyboard

from tablectl.cards import Card
from tablectl.events import ScanPassed
from tablectl.scanner import (
    Arrived,
    DeviceEvent,
    DeviceKind,
    Discarded,
    Item,
    Reject,
    Scan,
    ScannerRestored,
)
from tests.drivers import contract
from tests.drivers.contract import CARDS, SUBJECTS
from tests.field.shared import quick, with_cards
from tests.ptys import Pty
from tests.reader.test_thread import MS
from tests.table.playing import Play

NO_CARD = {
    "h11": b"h11",
    "c0": b"c0",
    "question mark": b"?",
    "9999": b"9999",
    "1140": b"1140",
    "plus sign": b"+1010",
    "underscore": b"1_010",
    "full-width digits": "１０１０".encode(),
    "leading zero": b"01010",
    "leading space": b" 1010",
}


def told(items: list[Item]) -> list[str]:
    """Cards by name, other items by kind."""
    names = []
    for item in items:
        match item:
            case Scan(card=card):
                names.append(str(card))
            case DeviceEvent(kind=kind):
                names.append(kind.value)
            case Reject():
                names.append("reject")
    return names


def heard(*parts: tuple[int, bytes]) -> list[Item]:
    """What comes of parts that arrive at so many ms, and of the time after them."""
    decoder = barcode.DRIVER.decoder(CARDS)
    items: list[Item] = []
    for at, data in parts:
        while (deadline := decoder.next_deadline()) is not None and deadline <= at * MS:
            items += decoder.tick(deadline).items
        items += decoder.feed(data, at * MS).items
    return items + contract.drain(decoder)


# --- `h11`, `c0`, empty, `?`, `9999`, `1140`, `+1010`, `1_010`, full-width digits, leading zero or space ---


@pytest.mark.parametrize("code", NO_CARD.values(), ids=NO_CARD.keys())
def test_bytes_no_code_is_rejected_in_hex_changes_nothing_and_sounds_an_error(code: bytes) -> None:
    (item,) = heard((0, code + b"\r"))
    assert item == Reject(code + b"\r", "code of no card", framed=True, code=code), "the very bytes"
    table = Play().no_more_bets()
    table.deal("2C 9D")
    before = table.state
    table.give(Arrived(item, table.now()))
    assert (table.state.round, table.state.shoe, table.state.holds) == (
        before.round,
        before.shoe,
        before.holds,
    )
    assert table.beeps == ["reject"]


def test_bytes_an_empty_code_is_no_card() -> None:
    assert heard((0, b"\r\n\r\r\n\n")) == [], "an empty line is nothing"
    decoder = barcode.DRIVER.decoder({**CARDS, "prefix": "<"})
    assert contract.feed(decoder, b"<\r") == [Reject(b"<\r", "empty code")]


# --- one chunk; two chunks; every split ---


def test_bytes_one_chunk_two_chunks_and_every_split_are_the_same_two_cards() -> None:
    assert told(heard((0, b"1010\r\n2020\r\n"))) == ["AS", "2H"]
    assert told(heard((0, b"1010\r\n20"), (1, b"20\r\n"))) == ["AS", "2H"]
    contract.check_all_splits(SUBJECTS["barcode"], b"1010\r\n2020\r\n")


# --- line ends that come late, or twice ---


def test_bytes_cr_and_a_late_lf_or_two_crs_are_two_cards_and_no_empty_scans() -> None:
    assert told(heard((0, b"1010\r"), (40, b"\n2020\r"), (80, b"\n"))) == ["AS", "2H"]
    assert told(heard((0, b"1010\r\r2020\r\r"))) == ["AS", "2H"]


# --- `10` 300 ms `10\r`; `10` 5 s `2020\r` ---


def test_bytes_a_short_pause_is_within_a_line_and_a_stub_is_dropped_with_a_notice() -> None:
    assert told(heard((0, b"10"), (300, b"10\r"))) == ["AS"]
    stub, card = heard((0, b"10"), (5000, b"2020\r"))
    assert stub == Reject(b"10", "a line without an end was dropped", lost=True)
    table = Play().no_more_bets()
    table.give(Arrived(stub, table.now()))
    assert table.beeps == ["reject"] and "look whether a card was drawn" in table.said[0]
    assert told([card]) == ["2H"]


# --- `3130\r3130\r` 30 ms apart; 900 ms apart as P1, B1 ---


def test_bytes_the_same_card_30_ms_apart_is_one_with_a_notice_and_900_ms_apart_two() -> None:
    first, bounce = heard((0, b"3130\r"), (30, b"3130\r"))
    assert told([first]) == ["KC"]
    assert isinstance(bounce, DeviceEvent)
    assert (bounce.kind, bounce.card) == (DeviceKind.BOUNCE, Card.parse("KC"))
    table = Play().no_more_bets()
    for item in heard((0, b"3130\r"), (900, b"3130\r")):
        table.pass_time(0.9)
        table.give(Arrived(item, table.now()))
    assert table.state.round is not None and not table.codes
    assert [f"{at}={card}" for at, card in table.state.round.cards.items()] == ["P1=KC", "B1=KC"]


# --- scans sent while the daemon was stopped, and 50 ms after open ---


def test_bytes_scans_from_before_and_50_ms_after_the_opening_are_discarded_and_never_p1(pty: Pty) -> None:
    held = os.open(pty.link, os.O_RDWR | os.O_NOCTTY)
    pty.say(b"1010\r")
    rig = quick(with_cards(barcode.DRIVER), str(pty.link), settle=700 * MS)
    rig.reader.start()
    old = [rig.next()]  # which is read as soon as the port is open
    time.sleep(0.05)
    pty.say(b"2020\r")
    old.append(rig.next())
    assert isinstance(rig.next(), ScannerRestored)
    pty.say(b"3130\r")
    fresh = rig.next()
    rig.stop()
    os.close(held)
    table = Play().no_more_bets()
    for arrival in old:
        assert isinstance(arrival, Discarded)
        table.give(arrival, table.now())
    assert table.state.round is not None and not table.state.round.cards
    assert [(event.card, "discarded" in event.why) for event in table.of(ScanPassed)] == [
        ("AS", True),
        ("2H", True),
    ]
    assert isinstance(fresh, Arrived)
    table.give(Arrived(fresh.item, table.now()))
    assert [f"{at}={card}" for at, card in table.state.round.cards.items()] == ["P1=KC"]


# --- keyboard: `1E` report three times without release ---


def test_bytes_a_key_reported_three_times_without_release_is_one_character() -> None:
    one, enter = hid_keyboard.press(0x1E), hid_keyboard.press(0x28)
    decoder = hid_keyboard.make_decoder({"cards": {**CARDS["cards"], "1": "QD"}})
    reports = one * 3 + hid_keyboard.RELEASE + enter + hid_keyboard.RELEASE
    assert told(contract.feed(decoder, reports)) == ["QD"]
    decoder = hid_keyboard.make_decoder({"cards": {**CARDS["cards"], "1": "QD", "111": "JD"}})
    reports = (one + hid_keyboard.RELEASE) * 3 + enter + hid_keyboard.RELEASE
    assert told(contract.feed(decoder, reports)) == ["JD"], "with the releases it is three"
