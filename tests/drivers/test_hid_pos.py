"""HID POS scanners: every layout, codes of several reports, answers, and what is no scan."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tablectl_drivers import hid_pos
from tablectl_drivers.hid_pos import DATA, DRIVER, REPORT, Encoder

from tablectl.cards import DECK, Card
from tablectl.scanner import DeviceEvent, DeviceKind, Item, Label, Reject, Scan
from tablectl.signals import PATTERNS
from tests.drivers import contract
from tests.drivers.contract import CARDS, CODES

ACE, HEART = Card.parse("AS"), Card.parse("2H")
VARIANTS = ("auto", "honeywell", "offset", "newland")
LONG = "9" * 60
LONG_CARDS = {"cards": {**CODES, LONG: "KD"}}


def report(data: bytes = b"1010\r", aim: bytes = b"]C0", *, more: int = 0, **at: int) -> bytes:
    """One report of the usual layout; ``b1=9`` sets byte 1."""
    made = bytearray(b"\x02" + bytes([len(data)]) + aim + data).ljust(REPORT, b"\0")
    made[63] = more
    for key, value in at.items():
        made[int(key[1:])] = value
    return bytes(made)


def decode(*parts: tuple[int, bytes], **settings: Any) -> list[Item]:
    """Items of reports that arrive at so many ms."""
    decoder = DRIVER.decoder({**CARDS, **settings})
    items: list[Item] = []
    for at, data in parts:
        items += decoder.feed(data, at * 1_000_000).items
    return items + contract.drain(decoder)


def names(items: list[Item]) -> list[str]:
    return [
        str(item.card) if isinstance(item, Scan) else item.kind if isinstance(item, DeviceEvent) else "reject"
        for item in items
    ]


def reason(items: list[Item]) -> str:
    (item,) = items
    assert isinstance(item, Reject)
    return item.reason


# --- layouts --------------------------------------------------------------------------------------


def test_a_report_as_the_makers_describe_it() -> None:
    wire = bytes.fromhex("02 05 5D 43 30 31 30 31 30 0D".replace(" ", "")).ljust(61, b"\0") + b"\x6a\0\0"
    assert decode((0, wire)) == [Scan(ACE, Label.NONE, wire)]
    assert Encoder(CARDS).card(ACE) == wire[:61] + bytes(3)


def test_the_layout_with_an_extra_byte() -> None:
    wire = (b"\x02\x04\x07]C01010").ljust(REPORT, b"\0")
    assert names(decode((0, wire))) == ["AS"]
    assert names(decode((0, wire), variant="offset")) == ["AS"]
    assert names(decode((0, wire), variant="honeywell")) == ["reject"]


def test_newland_has_no_aim_identifier_and_its_symbology_elsewhere() -> None:
    wire = (b"\x02\x051010\r").ljust(62, b"\0") + b"\x03\0"
    assert names(decode((0, wire), variant="newland")) == ["AS"]
    assert "variant" in reason(decode((0, wire)))
    assert names(decode((0, wire), variant="newland", aim="strip")) == ["reject"]
    wire = (b"\x02\x08]C01010\r").ljust(REPORT, b"\0")
    assert names(decode((0, wire), variant="newland", aim="strip")) == ["AS"]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_card_in_every_layout_whole_and_byte_by_byte(variant: str) -> None:
    settings = {**CARDS, "variant": variant}
    encoder = Encoder(settings)
    for card in DECK:
        wire = encoder.card(card)
        assert len(wire) == REPORT
        whole = DRIVER.decoder(settings)
        assert contract.feed(whole, wire) == [Scan(card, Label.NONE, wire)]
        single = DRIVER.decoder(settings)
        assert contract.feed_split(single, wire, range(REPORT)) == [Scan(card, Label.NONE, wire)]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [55, 56, 57, 60, 112, 113, 128])
def test_a_code_of_several_reports_is_joined_in_every_layout(variant: str, size: int) -> None:
    code = "7" * size
    settings = {"cards": {**CODES, code: "KD"}, "variant": variant}
    wire = Encoder(settings).code(code.encode())
    assert len(wire) == REPORT * -(-(size + 1) // DATA)
    assert contract.feed(DRIVER.decoder(settings), wire) == [Scan(Card.parse("KD"), Label.NONE, wire)]
    single = DRIVER.decoder(settings)
    assert len(contract.feed_split(single, wire, range(len(wire)))) == 1


@settings(deadline=None)
@given(told=st.binary(min_size=3, max_size=3))
def test_what_is_no_aim_identifier_is_no_card(told: bytes) -> None:
    items = decode((0, report(b"1010", told)))
    looks = told[:1] == b"]" and told[1:2].isalpha() and told[2:3].isalnum() and told not in (b"]X0", b"]Z6")
    assert (names(items) == ["AS"]) == looks
    assert len(items) == 1


# --- AIM identifiers, line ends, prefix and suffix ------------------------------------------------


def test_only_the_symbologies_of_the_house_are_taken() -> None:
    assert names(decode((0, report(aim=b"]C0")), aim_allowed=["C", "Q"])) == ["AS"]
    assert names(decode((0, report(aim=b"]Q1")), aim_allowed=["C", "Q"])) == ["AS"]
    assert "symbology A is not allowed" in reason(decode((0, report(aim=b"]A0")), aim_allowed=["C", "Q"]))
    assert names(decode((0, report(aim=b"\0\0\0")), variant="honeywell", aim="off")) == ["AS"]
    assert "no AIM" in reason(decode((0, report(aim=b"\0\0\0")), variant="honeywell"))


@pytest.mark.parametrize("aim", [b"]X0", b"]Z6"])
def test_an_answer_to_a_command_is_no_card(aim: bytes) -> None:
    told = report(b"1010\r", aim)
    assert decode((0, told)) == [DeviceEvent(DeviceKind.NOTICE, told, "the scanner answers: 1010")]
    long = report(b"REVINF: " + b"x" * 48, aim, more=1) + report(b"\x06.", aim)
    (item,) = decode((0, long))
    assert isinstance(item, DeviceEvent)
    assert item.text.startswith("the scanner answers: REVINF: xxx")
    assert item.text.isprintable()


def test_one_cr_at_the_end_is_taken_off() -> None:
    assert names(decode((0, report(b"1010\r")))) == ["AS"]
    assert names(decode((0, report(b"1010")))) == ["AS"]
    for data in (b"1010\r\r", b"1010\r\n", b"\r1010", b"1010\n", b" 1010", b"1010 "):
        assert names(decode((0, report(data)))) == ["reject"], data


def test_prefix_and_suffix_stand_around_the_data_and_the_aim_identifier_apart() -> None:
    settings: dict[str, Any] = {"prefix": "<", "suffix": ">", "aim_allowed": ["Q"]}
    wire = Encoder({**CARDS, **settings}).card(ACE)
    assert wire[2:11] == b"]Q0<1010>"
    assert names(decode((0, wire), **settings)) == ["AS"]
    assert "begin" in reason(decode((0, report(aim=b"]Q0")), **settings))


@pytest.mark.parametrize(
    "code", [b"h11", b"c0", b"?", b"9999", b"1140", b"+1010", b"1_010", b"01010", b"1010\0"], ids=repr
)
def test_no_code_is_rejected_with_its_report(code: bytes) -> None:
    told = report(code)
    assert decode((0, told)) == [Reject(told, "code of no card", framed=True, code=code)]


# --- joining --------------------------------------------------------------------------------------


def test_a_scan_whose_last_report_does_not_come_is_a_reject() -> None:
    first = Encoder(LONG_CARDS).code(LONG.encode())[:REPORT]
    items = decode((0, first), (300, report(b"1010")), **LONG_CARDS)
    assert names(items) == ["reject", "AS"]
    assert items[0].raw == first


@pytest.mark.parametrize("size", [56, 30, 0])
@settings(deadline=None)
@given(second=st.sampled_from([code for code in CODES if code != "1010"]))
def test_a_lost_report_never_joins_the_halves_of_two_codes(size: int, second: str) -> None:
    head = report(b"1010"[: size and 4] + b"x" * max(0, size - 4), more=1)
    for aim in (b"]C0", b"]Q0"):
        assert "AS" not in names(decode((0, head), (5, report(second.encode(), aim))))
    # Nor does what is left of a scan pass for a code, once one of its reports was bad.
    for bad in (report(b1=57, more=1), report(b63=2), report(b0=3, more=1), report(b0=9, b63=255)):
        assert names(decode((0, bad), (5, report(second.encode())))) == ["reject"]


def test_reports_of_different_symbologies_are_of_two_scans() -> None:
    two = report(b"10", b"]C0", more=1) + report(b"10", b"]Q0")
    assert reason(decode((0, two))) == "reports of two scans: one between them is lost"


def test_the_link_lost_in_the_middle_forgets_the_half() -> None:
    decoder = DRIVER.decoder(CARDS)
    decoder.feed(report(b"10", more=1), 0)
    decoder.reset()
    assert contract.scans(contract.feed(decoder, report(b"1010"))) == [ACE]


def test_a_scan_without_end_is_bounded_and_its_tail_is_no_code() -> None:
    decoder = DRIVER.decoder(CARDS)
    items = contract.feed(decoder, report(b"9" * 56, more=1) * hid_pos.SCAN_CAP + report(b"1010"))
    assert names(items) == ["reject", "reject"]
    assert names(contract.feed(decoder, report(b"2020"))) == ["2H"]


def test_two_scans_in_one_read() -> None:
    two = report(b"1010") + report(b"2020\r")
    assert names(decode((0, two))) == ["AS", "2H"]


# --- malformed ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (report(b0=3), "report 03 is no scan"),
        (bytes(REPORT), "report 00 is no scan"),
        (report(b1=57), "a report of 57 data bytes: 56 fit"),
        (report(b1=255), "a report of 255 data bytes"),
        (report(b""), "empty scan"),
        (report(b"\r"), "empty scan"),
        (b"\xff" * REPORT, "report FF is no scan"),
    ],
)
def test_a_malformed_report_is_a_reject_with_its_bytes(told: bytes, why: str) -> None:
    items = decode((0, told))
    assert reason(items).startswith(why)
    assert items[0].raw == told


def test_half_a_report_is_given_up_and_the_next_is_whole_again() -> None:
    assert decode((0, report()[:10]), (300, report())) == [
        Reject(report()[:10], "half a report", lost=True),
        Scan(ACE, Label.NONE, report()),
    ]


def test_bounce() -> None:
    king = Encoder(CARDS).code(b"3130")
    items = decode((0, king), (30, king), (930, king))
    assert names(items) == ["KC", DeviceKind.BOUNCE, "KC"]


# --- settings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"variant": "zebra"}, "variant: 'zebra' is not one of auto, honeywell, offset, newland"),
        ({"idle_end": 1}, "idle_end: this driver has no such setting"),
        ({"baud": 9600}, "baud: this driver has no such setting"),
        ({"beeper": True}, "beeper: True is not one of none, honeywell"),
        ({"aim": "refuse"}, 'aim: "refuse" fits variant = "newland" only'),
        ({"stub_drop": 0}, "stub_drop: 0 is not a number"),
        ({"aim_allowed": ["C"], "aim": "off"}, "aim_allowed: is looked at only"),
        ({"cards": 1}, "cards: give the path"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=f"^{told}"):
        DRIVER.check({**CARDS, **wrong})


def test_the_scanner_beeps_if_it_is_told_so_but_never_for_a_card_not_taken() -> None:
    settings = {**CARDS, "beeper": "honeywell"}
    beeps = {pattern: DRIVER.beep(settings, pattern) for pattern in PATTERNS}
    assert beeps["accept"] == bytes.fromhex("FD0316070D")
    assert beeps["reject"] == beeps["hold"] == b""
    assert {DRIVER.beep(CARDS, pattern) for pattern in PATTERNS} == {b""}
