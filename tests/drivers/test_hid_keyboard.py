"""Keyboard wedge: presses and releases, roll-over, and the rows of the field's byte faults."""

from __future__ import annotations

import string
from typing import Any

import pytest
from tablectl_drivers.hid_keyboard import RELEASE, ROLL_OVER, Encoder, check, make_decoder, press

from tablectl.cards import Card
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, Item, Label, Reject, Scan
from tests.drivers import contract
from tests.drivers.contract import CARDS

SUBJECT = contract.SUBJECTS["hid-keyboard"]
ENTER = press(0x28) + RELEASE
ONE, ZERO = press(0x1E), press(0x27)
TYPE = Encoder.type


def decode(*parts: tuple[int, bytes], **settings: Any) -> list[Item]:
    """Items of reports that arrive at so many ms."""
    decoder = make_decoder({**CARDS, **settings})
    items: list[Item] = []
    for at, data in parts:
        items += decoder.feed(data, at * 1_000_000).items
    return items + contract.drain(decoder)


def names(items: list[Item]) -> list[str]:
    return [
        str(item.card) if isinstance(item, Scan) else item.kind if isinstance(item, DeviceEvent) else "reject"
        for item in items
    ]


def test_a_scan_as_a_scanner_types_it() -> None:
    reports = ONE + RELEASE + ZERO + RELEASE + ONE + RELEASE + ZERO + RELEASE + ENTER
    assert decode((0, reports)) == [Scan(Card.parse("AS"), Label.NONE, reports[:-8])]
    assert Encoder(CARDS).card(Card.parse("AS")) == reports


def test_a_key_reported_three_times_without_release_is_one_character() -> None:
    reports = ONE * 3 + RELEASE + ZERO + RELEASE + ONE + RELEASE + ZERO * 2 + RELEASE + ENTER
    assert names(decode((0, reports))) == ["AS"]
    assert names(decode((0, ONE * 3 + RELEASE + ENTER), cards={**CARDS["cards"], "1": "AS"})) == ["AS"]


def test_a_repeated_character_needs_the_release_between() -> None:
    cards = {**CARDS["cards"], "11": "KD"}
    assert names(decode((0, ONE + RELEASE + ONE + RELEASE + ENTER), cards=cards)) == ["KD"]
    assert names(decode((0, ONE + ONE + RELEASE + ENTER), cards=cards)) == ["reject"]


def test_the_next_key_may_come_while_the_last_is_still_down() -> None:
    both = bytes((0, 0, 0x1E, 0x27, 0, 0, 0, 0))
    reports = ONE + both + ZERO + bytes((0, 0, 0x27, 0x1E, 0, 0, 0, 0)) + ONE + both + ENTER
    assert names(decode((0, reports))) == ["AS"]


def test_roll_over_discards_the_scan_up_to_its_enter() -> None:
    head, tail = TYPE("10"), TYPE("10")
    items = decode((0, head + ROLL_OVER + RELEASE + tail + ENTER + TYPE("2020") + ENTER))
    assert names(items) == ["reject", "2H"]
    # The rest alone would be a code: it must not pass for one.
    items = decode((0, TYPE("9") + ROLL_OVER + RELEASE + TYPE("1010") + ENTER))
    assert names(items) == ["reject"]
    assert items == [Reject(items[0].raw, "too many keys at once", lost=True)]
    assert names(decode((0, ROLL_OVER + RELEASE), (3000, TYPE("1010") + ENTER))) == ["reject", "AS"]


@pytest.mark.parametrize(
    "code",
    [b"h11", b"c0", b"?", b"9999", b"1140", b"+1010", b"1_010", b"01010", b" 1010", b"1010 ", b"AS"],
    ids=repr,
)
def test_no_code_is_rejected_with_its_reports(code: bytes) -> None:
    reports = Encoder(CARDS).code(code)
    assert decode((0, reports)) == [Reject(reports[:-8], "code of no card", framed=True, code=code)]
    assert names(decode((0, reports + Encoder(CARDS).code(b"1010")))) == ["reject", "AS"]


def test_enter_alone_is_nothing() -> None:
    assert decode((0, ENTER * 5 + RELEASE * 5)) == []


def test_glued_and_split_reports_give_the_same_two_cards() -> None:
    two = Encoder(CARDS).code(b"1010") + Encoder(CARDS).code(b"2020")
    assert names(decode((0, two))) == ["AS", "2H"]
    for cut in range(len(two)):
        assert names(decode((0, two[:cut]), (1, two[cut:]))) == ["AS", "2H"]


def test_a_short_pause_is_within_a_scan_and_a_stub_is_a_reject() -> None:
    assert names(decode((0, TYPE("10")), (300, TYPE("10") + ENTER))) == ["AS"]
    assert names(decode((0, TYPE("10")), (5000, TYPE("2020") + ENTER))) == ["reject", "2H"]
    assert names(decode((0, TYPE("1010")), (500, TYPE("2020") + ENTER), idle_end=0.2)) == ["AS", "2H"]


def test_bounce() -> None:
    king = Encoder(CARDS).code(b"3130")
    assert names(decode((0, king), (30, king))) == ["KC", "bounce"]
    assert names(decode((0, king), (900, king))) == ["KC", "KC"]


def test_half_a_report_is_given_up_and_the_next_is_whole_again() -> None:
    items = decode((0, b"\x00\x00\x1e"), (2500, TYPE("1010") + ENTER))
    assert items[0] == Reject(b"\x00\x00\x1e", "half a keyboard report", lost=True)
    assert names(items[1:]) == ["AS"]


def test_keypad_digits_and_enter() -> None:
    keypad = b"".join(press(key) + RELEASE for key in (0x59, 0x62, 0x59, 0x62, 0x58))
    assert names(decode((0, keypad))) == ["AS"]


def test_locks_do_not_matter() -> None:
    for key in (0x39, 0x53):
        lock = press(key) + RELEASE
        assert names(decode((0, lock + TYPE("1010") + ENTER + lock))) == ["AS"]


def test_a_key_that_is_no_character_spoils_its_scan() -> None:
    items = decode((0, TYPE("10") + press(0x3A) + RELEASE + TYPE("10") + ENTER + TYPE("2020") + ENTER))
    assert names(items) == ["reject", "2H"]
    assert names(decode((0, press(0x1E, modifiers=0x01) + RELEASE + TYPE("010") + ENTER))) == ["reject"]


def test_shift_from_either_side_and_every_printable_character() -> None:
    text = string.ascii_letters + string.digits + "!@#$%^&*()-_=+[]{}\\|;:'\"`~,.<>/?"
    cards = {**CARDS["cards"], text: "AS"}
    reports = TYPE(text) + ENTER
    assert names(decode((0, reports), cards=cards)) == ["AS"]
    shifted = bytes(0x20 if byte == 0x02 and i % 8 == 0 else byte for i, byte in enumerate(reports))
    assert shifted != reports
    assert names(decode((0, shifted), cards=cards)) == ["AS"]


def test_a_scan_too_long_is_rejected_and_its_tail_is_no_code() -> None:
    decoder = make_decoder(CARDS)
    items = contract.feed(decoder, TYPE("9" * 256 + "1010") + ENTER + TYPE("2020") + ENTER)
    assert names(items) == ["reject", "reject", "2H"]


def test_keys_after_an_enter_in_the_same_report_are_kept() -> None:
    reports = TYPE("1010") + bytes((0, 0, 0x28, 0x1F, 0, 0, 0, 0)) + RELEASE
    assert names(decode((0, reports + TYPE("020") + ENTER))) == ["AS", "2H"]
    assert names(decode((0, reports))) == ["AS", "reject"]


def test_a_reconnect_forgets_keys_that_were_down() -> None:
    decoder = make_decoder(CARDS)
    decoder.feed(TYPE("20") + ONE + b"\x00", 0)
    decoder.reset()
    assert names(contract.feed(decoder, TYPE("1010") + ENTER, SECOND)) == ["AS"]


def test_settings_are_checked() -> None:
    check({**CARDS, "prefix": "x"})
    bad: dict[str, Any]
    for bad in ({"baud": 9600}, {"stub_drop": 0}, {"cards": {}}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            check({**CARDS, **bad})


def test_the_encoder_refuses_what_is_on_no_key() -> None:
    with pytest.raises(ValueError):
        TYPE("é")
    with pytest.raises(ValueError):
        Encoder(CARDS).code(b"\xff")
    assert Encoder(CARDS).card(None) == b""
