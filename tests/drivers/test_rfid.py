"""RFID readers: framing, a tag that lies in the field, a card that comes again, decks of tagged cards."""

from __future__ import annotations

import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablectl_drivers.rfid import DRIVER, FRAME, NOISE_CAP, STUB_NS, Encoder, check_sum

from tablectl.cards import DECK, Card
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, DeviceKind, Item, Label, Reject, Scan
from tests.drivers import contract
from tests.drivers.contract import TAGGED, TAGS

SUBJECT = contract.SUBJECTS["rfid"]
EXAMPLE = Path(__file__).parents[2] / "config" / "cards" / "rfid-example.toml"
MINUTE = 60 * SECOND

ACE, ACE_TOO, TWO = b"0100014D1F", b"0100024D1F", b"0200014D1F"
ACE_FRAME = b"\x020100014D1F52\x03"


def decode(*parts: tuple[int, bytes], **settings: Any) -> list[Item]:
    """Items of parts that arrive at so many ms; ticks fall where the decoder wants them."""
    decoder = DRIVER.decoder({**TAGGED, **settings})
    items: list[Item] = []
    for at, data in parts:
        while (deadline := decoder.next_deadline()) is not None and deadline <= at * 1_000_000:
            items += decoder.tick(deadline).items
        items += decoder.feed(data, at * 1_000_000).items
    return items + contract.drain(decoder)


def names(items: list[Item]) -> list[str]:
    return [
        str(item.card) if isinstance(item, Scan) else item.kind if isinstance(item, DeviceEvent) else "reject"
        for item in items
    ]


def frames(uid: bytes, *at: int) -> list[tuple[int, bytes]]:
    return [(when, Encoder.frame(uid)) for when in at]


# --- framing -----------------------------------------------------------------------------------------


def test_a_frame_by_hand() -> None:
    """01 ^ 00 ^ 01 ^ 4D ^ 1F = 52."""
    assert Encoder.frame(ACE) == ACE_FRAME
    assert len(ACE_FRAME) == FRAME
    assert decode((0, ACE_FRAME)) == [Scan(Card.parse("AS"), Label.NONE, ACE_FRAME, ACE.decode())]


def test_a_frame_the_field_reported() -> None:
    """The frame in the maker's own example: 62 E3 08 6C ED, check sum 08."""
    assert check_sum(b"62E3086CED") == b"08"


def test_every_split_of_two_cards_gives_the_same_two_cards() -> None:
    data = Encoder.frame(ACE) + b"\r\n" + Encoder.frame(TWO)
    right = names(contract.feed(SUBJECT.decoder(), data))
    assert right == ["AS", "2S"]
    for at in range(len(data)):
        for to in range(at, len(data)):
            assert names(contract.feed_split(SUBJECT.decoder(), data, [at, to])) == right


def test_lower_case_digits_are_the_same_tag() -> None:
    assert names(decode((0, ACE_FRAME.lower()), (50, ACE_FRAME))) == ["AS"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x020100014D1F53\x03", "check sum does not fit"),
        (b"\x020100014D1G52\x03", "no ten hex digits and check sum"),
        (b"\x020100014D1F52\x04", "no ten hex digits and check sum"),
        (b"\x020100014D\x03", "frame cut short"),
        (b"\x02\x03", "frame cut short"),
        (b"\x020100014D", "frame cut short"),
        (b"0100014D1F52\x03", "bytes outside a frame"),
        (Encoder.frame(b"FF00014D1F"), "tag of no card"),
    ],
)
def test_what_is_no_card_is_rejected_with_bytes_and_reason(data: bytes, reason: str) -> None:
    whole = reason == "tag of no card"
    code = b"FF00014D1F" if whole else b""
    stub = data == b"\x020100014D"  # no frame behind it, so the tag is gone
    expected = Reject(data, reason, framed=whole, code=code, lost=stub)
    assert decode((0, data)) == [expected]
    # The next frame is whole again, at once and after a pause.
    for late in (0, 2000):
        items = decode((0, data), (late, ACE_FRAME))
        assert names(items) == ["reject", "AS"]
        assert items[0] == replace(expected, lost=stub and late > 0)


@pytest.mark.parametrize("at", range(FRAME))
def test_no_damaged_frame_is_ever_a_card(at: int) -> None:
    for other in range(256):
        if bytes((other,)).upper() != ACE_FRAME[at : at + 1]:
            damaged = ACE_FRAME[:at] + bytes((other,)) + ACE_FRAME[at + 1 :]
            assert contract.scans(decode((0, damaged))) == []


def test_noise_without_end_is_told_in_pieces_and_by_time() -> None:
    items = decode((0, b"\xff" * (NOISE_CAP + 5)))
    assert [len(item.raw) for item in items] == [NOISE_CAP, 5]
    decoder = DRIVER.decoder(TAGGED)
    decoder.feed(ACE_FRAME[:5], 0)
    assert decoder.next_deadline() == STUB_NS
    assert names(list(decoder.feed(ACE_FRAME, STUB_NS).items)) == ["reject", "AS"]


# --- the tag in the field ----------------------------------------------------------------------------


def test_a_tag_that_lies_in_the_field_is_one_card_however_long() -> None:
    hour = range(0, 3_600_000, 250)
    assert names(decode(*frames(ACE, *hour))) == ["AS"]


def test_another_tag_between_makes_no_second_card_of_the_first() -> None:
    both = [frame for at in range(0, 2000, 100) for frame in (*frames(ACE, at), *frames(TWO, at + 50))]
    assert names(decode(*both)) == ["AS", "2S"]
    assert names(decode(*frames(ACE, 0), *frames(TWO, 1000), *frames(ACE, 2000))) == ["AS", "2S", "bounce"]


def test_a_card_that_comes_again_is_told_with_its_card_and_not_counted() -> None:
    items = decode(*frames(ACE, 0, 50, 1000, 1050, 599_000, 599_050))
    assert names(items) == ["AS", "bounce", "bounce"]
    again = items[1]
    assert isinstance(again, DeviceEvent)
    assert (again.kind, again.card, again.raw) == (DeviceKind.BOUNCE, Card.parse("AS"), ACE_FRAME)
    assert again.tag == ACE.decode()
    assert "AS" not in again.text  # it may lie face down


def test_after_a_shuffle_it_is_a_card_again() -> None:
    assert names(decode(*frames(ACE, 0, 600_000))) == ["AS", "AS"]
    assert names(decode(*frames(ACE, 0, 599_999, 1_199_998))) == ["AS", "bounce", "bounce"]
    assert names(decode(*frames(ACE, 0, 30_000, 90_000), again_minutes=1)) == ["AS", "bounce", "AS"]
    assert names(decode(*frames(ACE, 0, 299, 599), again_minutes=0)) == ["AS", "AS"]


def test_the_same_card_of_another_deck_is_another_card() -> None:
    assert names(decode(*frames(ACE, 0), *frames(ACE_TOO, 20))) == ["AS", "AS"]


def test_bounce_time_is_how_long_a_tag_may_be_out_of_sight() -> None:
    assert names(decode(*frames(ACE, 0, 299, 598))) == ["AS"]
    assert names(decode(*frames(ACE, 0, 300))) == ["AS", "bounce"]
    assert names(decode(*frames(ACE, 0, 900), bounce_ms=1000)) == ["AS"]


def test_a_reconnect_makes_no_second_card_of_what_lay_in_the_field() -> None:
    decoder = DRIVER.decoder(TAGGED)
    assert names(list(decoder.feed(ACE_FRAME + ACE_FRAME[:4], 0).items)) == ["AS"]
    decoder.reset()
    assert decoder.next_deadline() is None
    assert names(list(decoder.feed(ACE_FRAME, 5 * SECOND).items)) == ["bounce"]
    assert names(list(decoder.feed(Encoder.frame(TWO), 6 * SECOND).items)) == ["2S"]


@given(st.lists(st.tuples(st.sampled_from(sorted(TAGS)[:12]), st.integers(0, 400)), max_size=60))
def test_within_a_shoe_no_physical_card_counts_twice(seen: list[tuple[str, int]]) -> None:
    """However the tags come and go: each counts once, when it comes first."""
    parts, at = [], 0
    for uid, pause in seen:
        at += pause
        parts += frames(uid.encode(), at)
    right = [TAGS[uid] for uid in dict.fromkeys(uid for uid, _ in seen)]
    assert [str(card) for card in contract.scans(decode(*parts))] == right


# --- decks and tables ----------------------------------------------------------------------------------


def test_the_example_table_is_eight_decks_by_its_rule() -> None:
    codes = tomllib.loads(EXAMPLE.read_text(encoding="utf-8"))["codes"]
    assert Counter(codes.values()) == Counter({str(card): 8 for card in DECK})
    order = list(dict.fromkeys(codes.values()))
    for uid, card in codes.items():
        assert int(uid[:2], 16) == order.index(card) + 1
        assert (uid[2:4], uid[6:]) == ("00", "4D1F")
        assert 1 <= int(uid[4:6], 16) <= 8
    DRIVER.check({"cards": str(EXAMPLE)})


@pytest.mark.parametrize("uid", ["0100014d1f", "0100014D1", "0100014D1FF", "0100014D1G", "AS"])
def test_a_uid_the_reader_cannot_send_is_refused_with_its_line(tmp_path: Path, uid: str) -> None:
    path = tmp_path / "decks.toml"
    path.write_text(EXAMPLE.read_text(encoding="utf-8") + f'"{uid}" = "KD"\n')
    line = len(path.read_text().splitlines())
    with pytest.raises(ValueError, match=f"cards: {path} line {line}: code '{uid}': .*ten hex digits"):
        DRIVER.check({"cards": str(path)})


@pytest.mark.parametrize(
    "settings",
    [
        {"cards": "/no/such/file.toml"},
        {"bounce_ms": -1},
        {"again_minutes": 241},
        {"again_minutes": "10"},
        {"prefix": "x"},
        {"parity": "X"},
    ],
    ids=str,
)
def test_a_bad_setting_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        DRIVER.check({**TAGGED, **settings})


def test_the_table_must_be_there() -> None:
    with pytest.raises(ValueError, match="cards: give"):
        DRIVER.check({})


def test_the_encoder_deals_each_tag_once_in_a_shoe_and_the_longest_unused_first() -> None:
    encoder, ace = Encoder(TAGGED), Card.parse("AS")
    first = [encoder.deal(ace) for _ in range(3)]
    encoder.shuffle()
    second = [encoder.deal(ace) for _ in range(8)]
    assert len(set(second)) == 8
    assert set(first + second[:5]) == set(second)
    with pytest.raises(ValueError, match="all 8 AS"):
        encoder.deal(ace)
    assert encoder.card(None) == b""
