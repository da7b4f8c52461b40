"""SSI scanners: check sums, acknowledgements, packets sent again, continued bar codes, noise, beeps."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablectl_drivers import ssi_wire as wire
from tablectl_drivers.zebra_ssi import DRIVER, GAP_NS, PATIENCE_NS, TEXT_CAP, Encoder, resent

from tablectl.cards import DECK, Card
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, DeviceKind, Item, Label, Reject, Scan
from tablectl.signals import PATTERNS
from tests.drivers import contract
from tests.drivers.contract import CARDS

SUBJECT = contract.SUBJECTS["zebra-ssi"]

ACK = bytes.fromhex("04 D0 04 00 FF 28")
NAK = bytes.fromhex("05 D1 04 00 01 FF 25")
NAMES = {"cards": {str(card): str(card) for card in DECK}}


def decode(*parts: tuple[int, bytes], **settings: Any) -> tuple[list[Item], bytes]:
    """Items and replies of parts that arrive at so many ms; ticks fall where the decoder wants them."""
    decoder = DRIVER.decoder({**CARDS, **settings})
    items: list[Item] = []
    replies = b""
    for at, data in parts:
        while (deadline := decoder.next_deadline()) is not None and deadline <= at * 1_000_000:
            late = decoder.tick(deadline)
            items += late.items
            replies += late.replies
        told = decoder.feed(data, at * 1_000_000)
        items += told.items
        replies += told.replies
    while (deadline := decoder.next_deadline()) is not None:
        late = decoder.tick(deadline)
        items += late.items
        replies += late.replies
    return items, replies


def names(told: tuple[list[Item], bytes]) -> tuple[str, bytes]:
    words = [
        str(item.card) if isinstance(item, Scan) else item.kind if isinstance(item, DeviceEvent) else "reject"
        for item in told[0]
    ]
    return " ".join(words), told[1]


def sent(code: str, **how: Any) -> bytes:
    return Encoder(CARDS).part(code.encode(), **how)


# --- packets -----------------------------------------------------------------------------------------


def test_the_computed_vectors() -> None:
    assert wire.ACK == ACK
    assert wire.RESEND == NAK
    assert wire.packet(wire.BEEP, b"\0") == bytes.fromhex("05 E6 04 00 00 FF 11")
    decode_as = bytes.fromhex("07 F3 00 00 03 41 53 FE 6F")
    assert Encoder(NAMES).card(Card.parse("AS")) == decode_as
    items, replies = decode((0, decode_as), **NAMES)
    assert items == [Scan(Card.parse("AS"), Label.NONE, decode_as)]
    assert replies == ACK


def test_every_split_gives_the_same_card() -> None:
    contract.check_all_splits(SUBJECT, sent("1010"))


def test_glued_and_fragmented_packets() -> None:
    data = sent("1010") + sent("2020")
    assert names(decode((0, data))) == ("AS 2H", ACK + ACK)
    assert names(decode((0, data[:15]), (150, data[15:]))) == ("AS 2H", ACK + ACK)


@pytest.mark.parametrize("at", range(11))
def test_no_damaged_packet_is_ever_a_card_and_it_is_asked_for_again(at: int) -> None:
    good = sent("1010")
    for other in range(256):
        if other == good[at]:
            continue
        damaged = good[:at] + bytes((other,)) + good[at + 1 :]
        told = decode((0, damaged), (400, resent(good)))
        assert names(told)[0].split()[-1] == "AS"
        assert contract.scans(told[0]) == [Card.parse("AS")]
        assert b"".join(item.raw for item in told[0]) == damaged + resent(good)
        # Where its head still looked like a packet's the scanner is asked at once, else it asks itself.
        assert told[1] in (NAK + ACK, ACK)
        assert (told[1] == NAK + ACK) or at < 3


def test_a_wrong_check_sum_is_answered_at_once_and_only_once() -> None:
    decoder = DRIVER.decoder(CARDS)
    damaged = sent("1010")[:-1] + b"\0"
    assert decoder.feed(damaged, 0) == ((), NAK)
    assert decoder.feed(resent(sent("1010")), 5_000_000).replies == ACK
    items, replies = decode((0, damaged))
    assert items == [Reject(damaged, "check sum does not fit")]
    assert replies == NAK


def test_half_a_packet_is_given_up_after_a_pause_and_asked_for_again() -> None:
    good = sent("1010")
    decoder = DRIVER.decoder(CARDS)
    assert decoder.feed(good[:6], 0) == ((), b"")
    assert decoder.next_deadline() == GAP_NS
    assert decoder.tick(GAP_NS) == ((Reject(good[:6], "packet cut short"),), NAK)
    assert names(decode((0, good[:2]), (900, good))) == ("reject AS", ACK)


def test_a_packet_hidden_behind_a_false_length_is_found() -> None:
    assert names(decode((0, b"\xf0\xf3\x00" + sent("1010")))) == ("reject AS", NAK + ACK)
    assert names(decode((0, b"\xf0" + sent("1010")))) == ("reject AS", ACK)


def test_the_hosts_own_packets_are_no_packets_of_a_scanner() -> None:
    echo = ACK + NAK + wire.packet(wire.BEEP, b"\0")
    items, replies = decode((0, echo))
    assert b"".join(item.raw for item in items) == echo
    assert (contract.scans(items), replies) == ([], b"")


# --- sent again --------------------------------------------------------------------------------------


def test_the_packet_accepted_last_sent_again_is_no_second_card() -> None:
    card = sent("1010")
    items, replies = decode((0, card), (2000, resent(card)), (4000, resent(card)))
    assert replies == ACK * 3
    assert isinstance(items[0], Scan) and len(items) == 3
    for again in items[1:]:
        assert isinstance(again, DeviceEvent)
        assert (again.kind, again.card) == (DeviceKind.BOUNCE, Card.parse("AS"))
        assert "AS" not in again.text  # it may lie face down


def test_a_packet_sent_again_that_never_came_is_a_card() -> None:
    assert names(decode((0, resent(sent("1010"))))) == ("AS", ACK)
    assert names(decode((0, sent("1010")), (900, resent(sent("2020"))))) == ("AS 2H", ACK * 2)
    # Also the same card, once the scanner cannot be trying to get rid of the first one any more.
    late = PATIENCE_NS // 1_000_000 + 1
    assert names(decode((0, sent("1010")), (late, resent(sent("1010"))))) == ("AS AS", ACK * 2)


def test_the_same_card_sent_anew_is_a_second_card_unless_it_bounces() -> None:
    assert names(decode((0, sent("1010")), (900, sent("1010")))) == ("AS AS", ACK * 2)
    assert names(decode((0, sent("1010")), (100, sent("1010")))) == ("AS bounce", ACK * 2)
    assert names(decode((0, sent("1010")), (100, sent("1010")), bounce_ms=0)) == ("AS AS", ACK * 2)


@pytest.mark.parametrize(
    ("bad_at", "asked"), [(None, False), (5, False), (299, False), (300, True), (3000, True)]
)
def test_sent_again_behind_damage_it_may_be_another_card(bad_at: int | None, asked: bool) -> None:
    """Without damage its ACK was lost; damage right behind it is noise; later it may be an equal card."""
    card = sent("1080")
    damaged = card[:5] + bytes((card[5] ^ 1,)) + card[6:]
    bad = () if bad_at is None else ((bad_at, damaged),)
    items, _ = decode((0, card), *bad, (3100, resent(card)), (5000, resent(card)))
    again = [item for item in items if isinstance(item, DeviceEvent)]
    assert [(item.kind, item.unsure) for item in again] == [
        (DeviceKind.BOUNCE, asked),
        (DeviceKind.BOUNCE, False),
    ]


def test_what_was_no_card_is_none_when_sent_again() -> None:
    told = decode((0, sent("9999")), (2000, resent(sent("9999"))))
    assert names(told) == ("reject notice", ACK * 2)


def test_a_reconnect_forgets_half_packets_but_not_what_was_accepted() -> None:
    decoder = DRIVER.decoder(CARDS)
    decoder.feed(sent("1010") + sent("2020")[:5], 0)
    decoder.reset()
    assert (decoder.next_deadline(), contract.pending(decoder)) == (None, 0)
    again = decoder.feed(resent(sent("1010")), SECOND)
    assert names(([*again.items], again.replies)) == ("bounce", ACK)


@given(
    deck=st.lists(st.sampled_from(DECK), max_size=20, unique=True),
    lost=st.lists(st.sampled_from(["card", "ack", "none", "damage"]), min_size=60, max_size=60),
)
def test_with_packets_and_acks_lost_every_card_counts_once(deck: list[Card], lost: list[str]) -> None:
    """The scanner tries three times, the last time nothing is lost."""
    decoder, encoder = DRIVER.decoder(CARDS), Encoder(CARDS)
    found: list[Card | None] = []
    now, fates = 0, iter(lost)
    for card in deck:
        packet = encoder.card(card)
        for fate in (next(fates), next(fates), "none"):
            data = packet if fate != "damage" else packet[:7] + bytes((packet[7] ^ 0x40,)) + packet[8:]
            if fate != "card":
                told = decoder.feed(data, now)
                found += contract.scans(told.items)
            now += 2 * SECOND
            if fate == "none":
                assert told.replies.endswith(ACK)
                break
            packet = resent(packet)
    assert found == list(deck)


# --- continued bar codes -------------------------------------------------------------------------------


def test_a_continued_bar_code_is_joined_and_each_part_acknowledged() -> None:
    parts = sent("10", continued=True), sent("1", continued=True), sent("0")
    items, replies = decode((0, parts[0]), (100, parts[1]), (9000, parts[2]))
    assert items == [Scan(Card.parse("AS"), Label.NONE, b"".join(parts))]
    assert replies == ACK * 3


def test_a_part_sent_again_is_not_joined_twice() -> None:
    part = sent("10", continued=True)
    told = decode((0, part), (2000, resent(part)), (2100, sent("10")))
    assert names(told) == ("notice AS", ACK * 3)
    # Two parts may read alike.
    assert names(decode((0, part), (10, part), (20, sent(""))))[0] == "AS"


def test_a_bar_code_without_its_last_part_is_given_up() -> None:
    part = sent("10", continued=True)
    items, replies = decode((0, part))
    assert items == [Reject(part, "a bar code without its last part", lost=True)]
    assert replies == ACK
    assert names(decode((0, part), (11_000, sent("2020")))) == ("reject 2H", ACK * 2)


def test_an_endless_bar_code_is_bounded() -> None:
    decoder = DRIVER.decoder(CARDS)
    for _ in range(100):
        assert decoder.feed(sent("9" * 200, continued=True), 0) == ((), ACK)
        assert contract.pending(decoder) <= SUBJECT.memory
    (item,) = decoder.feed(sent("9"), 0).items
    assert isinstance(item, Reject) and item.reason == "bar code too long"
    assert names(([*decoder.feed(sent("1010"), SECOND).items], b""))[0] == "AS"
    assert TEXT_CAP > 200


# --- other messages ------------------------------------------------------------------------------------


def message(opcode: int, data: bytes = b"") -> bytes:
    return wire.packet(opcode, data, wire.SCANNER)


@pytest.mark.parametrize(
    ("packet", "told", "reply"),
    [
        (message(wire.CMD_ACK), "", b""),
        (message(wire.CMD_NAK, b"\6"), "notice", b""),
        (message(wire.EVENT, b"\1"), "notice", ACK),
        (message(wire.PARAM_SEND, b"\xff\1\2"), "notice", ACK),
        (message(wire.REPLY_REVISION, b"PAAAAS"), "notice", ACK),
        (message(wire.CAPABILITIES), "notice", ACK),
        (message(wire.BATCH_DATA, b"\x031010"), "reject", ACK),
        (message(wire.IMAGE_DATA, b"\1\2"), "notice", wire.DENIED),
        (message(wire.DECODE_DATA), "reject", ACK),
        (message(wire.DECODE_DATA, b"\x03"), "reject", ACK),
    ],
)
def test_other_messages_are_answered_as_the_protocol_wants(packet: bytes, told: str, reply: bytes) -> None:
    assert names(decode((0, packet))) == (told, reply)


def test_bar_code_types_can_be_held_to() -> None:
    assert names(decode((0, sent("1010")), types=[3, 0x1B])) == ("AS", ACK)
    items, replies = decode((0, sent("1010")), types=[0x1B])
    assert isinstance(items[0], Reject) and "type 3 (Code 128)" in items[0].reason
    assert replies == ACK


def test_prefix_suffix_and_identifier_as_in_a_line() -> None:
    settings = {**CARDS, "suffix": "\r", "aim": "strip", "aim_allowed": ["Q"], "types": [0x1C]}
    packet = Encoder(settings).card(Card.parse("8S"))
    assert packet[4:-2] == b"\x1c]Q01080\r"
    assert names(decode((0, packet), **settings)) == ("8S", ACK)


def test_beeps() -> None:
    beeps = {pattern: DRIVER.beep(CARDS, pattern) for pattern in PATTERNS}
    assert len(set(beeps.values())) == len(PATTERNS)
    for beep in beeps.values():
        assert beep[:4] == bytes.fromhex("05 E6 04 00") and beep[4] <= 0x17
        assert wire.check_sum(beep[:-2]) == beep[-2:]
    assert DRIVER.beep(CARDS, "gong") == b""


@pytest.mark.parametrize(
    "settings",
    [
        {"types": 3},
        {"types": [256]},
        {"types": [True]},
        {"idle_end": 1},
        {"cards": "/none.toml"},
        {"aim": "x"},
    ],
    ids=str,
)
def test_a_bad_setting_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        DRIVER.check({**CARDS, **settings})
