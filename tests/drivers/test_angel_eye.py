"""Angel Eye: the computed frames, what the field taught, and the field's byte faults transposed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from tablectl_drivers import angel_eye_wire as wire
from tablectl_drivers.angel_eye import DRIVER, STUB_NS, AngelEyeDecoder, Encoder

from tablectl.cards import DECK, Card, Outcome
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, DeviceKind, ErrorKind, Item, Label, Reject, Scan
from tests.drivers import contract

MS = 1_000_000
EIGHT_S = Card.parse("8S")
FIVE_C = Card.parse("5C")


def frame(seq: int, *payload: int | bytes) -> bytes:
    """A frame put together from the rules, not by the encoder under test."""
    data = b"".join(part if isinstance(part, bytes) else bytes((part,)) for part in payload)
    body = f"{seq}".encode() + data + b"\x03"
    check = 0
    for byte in body:
        check ^= byte
    return b"\x05" + body + f"{check:02X}".encode()


def decode(*frames: bytes, apart: int = SECOND, **options: Any) -> list[Item]:
    decoder = AngelEyeDecoder(**options)
    items: list[Item] = []
    for i, data in enumerate(frames):
        items += decoder.feed(data, i * apart).items
    return items


def kinds(items: Iterable[Item]) -> list[str]:
    return [
        str(item.card or "unread")
        if isinstance(item, Scan)
        else item.kind
        if isinstance(item, DeviceEvent)
        else "reject"
        for item in items
    ]


VECTORS: list[tuple[str, str, Callable[[Encoder], bytes], Item]] = [
    ("P1 = 8S", "05 31 44 81 B8 03 34 46", lambda e: e.card(Label.P1, EIGHT_S), Scan(EIGHT_S, Label.P1, b"")),
    ("B1 = 5C", "05 31 44 91 A5 03 34 32", lambda e: e.card(Label.B1, FIVE_C), Scan(FIVE_C, Label.B1, b"")),
    (
        "Player wins, player pair",
        "05 31 47 91 03 45 34",
        lambda e: e.result(Outcome.PLAYER, player_pair=True),
        DeviceEvent(DeviceKind.VERDICT, b"", outcome=Outcome.PLAYER, player_pair=True),
    ),
    (
        "cutting card",
        "05 31 43 03 37 31",
        lambda e: e.cutting_card(),
        DeviceEvent(DeviceKind.CUT_CARD, b""),
    ),
    ("start", "05 31 53 03 36 31", lambda e: e.start(), DeviceEvent(DeviceKind.STARTED, b"")),
    ("stand-by", "05 31 50 03 36 32", lambda e: e.standby(), DeviceEvent(DeviceKind.STANDBY, b"")),
    (
        "error 1, in error mode",
        "05 31 45 C1 03 42 36",
        lambda e: e.error(1),
        DeviceEvent(
            DeviceKind.ERROR,
            b"",
            "error 1: cannot read card; the shoe is in error mode",
            number=1,
            error=ErrorKind.UNREAD,
        ),
    ),
    (
        "error 1 cleared",
        "05 31 65 81 03 44 36",
        lambda e: e.error_cleared(1),
        DeviceEvent(
            DeviceKind.ERROR_CLEARED, b"", "error 1: cannot read card", number=1, error=ErrorKind.UNREAD
        ),
    ),
    ("locked", "05 31 4C 81 03 46 46", lambda e: e.lock(True), DeviceEvent(DeviceKind.LOCKED, b"")),
    (
        "forced end",
        "05 31 47 F0 03 38 35",
        lambda e: e.forced_end(),
        DeviceEvent(DeviceKind.FORCED_END, b""),
    ),
]


def without_raw(item: Item) -> Item:
    match item:
        case Scan(card=card, label=label):
            return Scan(card, label, b"")
        case DeviceEvent():
            return DeviceEvent(
                item.kind,
                b"",
                item.text,
                item.outcome,
                item.player_pair,
                item.banker_pair,
                item.number,
                item.error,
            )
        case Reject(reason=reason):
            return Reject(b"", reason)


@pytest.mark.parametrize(
    ("wire_hex", "encode", "item"), [v[1:] for v in VECTORS], ids=[v[0] for v in VECTORS]
)
def test_computed_vector(wire_hex: str, encode: Callable[[Encoder], bytes], item: Item) -> None:
    raw = bytes.fromhex(wire_hex)
    assert encode(Encoder()) == raw
    (found,) = decode(raw)
    assert without_raw(found) == item
    assert found.raw == raw


# --- every payload ---------------------------------------------------------------------------------


def test_all_cards_at_all_places() -> None:
    for label in (Label.P1, Label.P2, Label.P3, Label.B1, Label.B2, Label.B3):
        for card in (*DECK, None):
            raw = Encoder().card(label, card)
            assert decode(raw) == [Scan(card, label, raw)]


def test_suits_and_ranks_as_the_shoe_codes_them() -> None:
    for byte, name in ((0x91, "AD"), (0xA1, "AC"), (0xB1, "AS"), (0xC1, "AH"), (0xCB, "JH"), (0xCD, "KH")):
        assert kinds(decode(frame(1, b"D", 0x81, byte))) == [name]
    assert kinds(decode(frame(1, b"D", 0x81, 0x80))) == ["unread"]


def test_burn_frames() -> None:
    items = decode(
        Encoder(seq=1).burn_count_card(FIVE_C),
        Encoder(seq=2).burn_count(5),
        Encoder(seq=3).burn_card(1, EIGHT_S),
        Encoder(seq=4).burn_card(10, None),
    )
    assert [without_raw(item) for item in items] == [
        Scan(FIVE_C, Label.BURN_COUNT, b""),
        DeviceEvent(DeviceKind.BURN_COUNT, b"", "burn 5", number=5),
        Scan(EIGHT_S, Label.BURN, b""),
        Scan(None, Label.BURN, b""),
    ]


def test_a_card_outside_a_game_is_never_one_of_a_hand() -> None:
    # Mode 001 is "error", although the same bits of D mean Banker.
    for mode in (0, 1, 2):
        (item,) = decode(Encoder().outside_card(mode, 1, EIGHT_S))
        assert without_raw(item) == Scan(EIGHT_S, Label.OUTSIDE, b"")


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("pairs", [(False, False), (True, False), (False, True), (True, True)])
def test_result_button(outcome: Outcome, pairs: tuple[bool, bool]) -> None:
    (item,) = decode(Encoder().result(outcome, *pairs))
    assert isinstance(item, DeviceEvent)
    assert (item.kind, item.outcome, item.player_pair, item.banker_pair) == (
        DeviceKind.VERDICT,
        outcome,
        *pairs,
    )


def test_result_codes_and_unverified_bits() -> None:
    for byte, outcome in ((0x90, "player"), (0xA0, "tie"), (0xC0, "banker"), (0xCC, "banker")):
        (item,) = decode(frame(1, b"G", byte))
        assert isinstance(item, DeviceEvent)
        assert item.outcome == outcome


def test_lock_setting_and_unknown_error_number() -> None:
    items = decode(
        Encoder(seq=1).lock(False), Encoder(seq=2).setting("AB1234"), Encoder(seq=3).error(9, False)
    )
    assert [without_raw(item) for item in items] == [
        DeviceEvent(DeviceKind.UNLOCKED, b""),
        DeviceEvent(DeviceKind.SETTING, b"", "AB1234"),
        DeviceEvent(DeviceKind.ERROR, b"", "error 9: unknown", number=9),
    ]


@pytest.mark.parametrize("number", range(64))
def test_what_an_error_means_is_told_with_it(number: int) -> None:
    means = {1: ErrorKind.UNREAD, 2: ErrorKind.OVERDRAW, 3: ErrorKind.BUTTON}.get(number, ErrorKind.FAULT)
    for in_error_mode in (False, True):
        items = decode(
            Encoder(seq=1).error(number, in_error_mode), Encoder(seq=2).error_cleared(number, in_error_mode)
        )
        found = [(i.kind, i.number, i.error) for i in items if isinstance(i, DeviceEvent)]
        assert found == [
            (DeviceKind.ERROR, number, means),
            (DeviceKind.ERROR_CLEARED, number, means),
        ]


MALFORMED = {
    "player index 0": b"D\x80\xb8",
    "player index 4": b"D\x84\xb8",
    "banker index 15": b"D\x9f\xb8",
    "hand 011": b"D\xb1\xb8",
    "hand 111": b"D\xf1\xb8",
    "burn index 0": b"D\xa0\xb8",
    "burn index 11": b"D\xab\xb8",
    "burn count 0": b"D\xd0",
    "burn count 11": b"D\xdb",
    "position without bit 7": b"D\x01\xb8",
    "rank 0": b"D\x81\xb0",
    "rank 14": b"D\x81\xbe",
    "suit 0": b"D\x81\x88",
    "suit 5": b"D\x81\xd8",
    "card without bit 7": b"D\x81\x38",
    "no card": b"D\x81",
    "no data": b"D",
    "a byte too many": b"D\x81\xb8\xb8",
    "outside card of no rank": b"d\x81\xbe",
    "result 000": b"G\x80",
    "result 011": b"G\xb0",
    "result without bit 7": b"G\x11",
    "result missing": b"G",
    "start with data": b"S\x81",
    "error without bit 7": b"E\x41",
    "error missing": b"E",
    "lock without bit 7": b"L\x01",
    "setting with control byte": b"MAB\x00",
    "setting empty": b"M",
    "unknown code": b"X\x81",
    "h11": b"h11",
    "c0": b"c0",
    "?": b"?",
    "1140": b"1140",
    "full-width digits": "１０１０".encode(),
}


@pytest.mark.parametrize("payload", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_payload_is_rejected_with_its_bytes(payload: bytes) -> None:
    raw = frame(1, payload)
    assert b"\x05" not in raw[1:]
    item, *more = decode(raw)
    assert isinstance(item, Reject)
    assert item.raw == raw
    assert item.reason
    # The shoe means a card that nobody will tell again.
    assert kinds(more) == (["gap"] if payload[:1] in (b"D", b"d", b"R") else [])


def test_malformed_payload_sent_three_times_is_one_reject() -> None:
    assert kinds(decode(*[frame(1, b"D\x81\xbe")] * 3, apart=50 * MS)) == ["reject", "gap"]


# --- check sum -------------------------------------------------------------------------------------


def test_wrong_check_sum_is_rejected_with_its_bytes() -> None:
    raw = bytes.fromhex("05 31 44 81 B8 03 34 45")
    (item,) = decode(raw)
    assert isinstance(item, Reject)
    assert item.raw == raw
    assert "check sum" in item.reason


def test_check_sum_from_the_enq() -> None:
    usual = Encoder("strict").card(Label.P1, EIGHT_S)
    other = Encoder("including-enq").card(Label.P1, EIGHT_S)
    assert other == bytes.fromhex("05 31 44 81 B8 03 34 41")
    assert kinds(decode(usual, bcc="strict")) == kinds(decode(other, bcc="including-enq")) == ["8S"]
    assert kinds(decode(other, bcc="strict")) == kinds(decode(usual, bcc="including-enq")) == ["reject"]


def test_check_sum_off() -> None:
    raw = bytes.fromhex("05 31 44 81 B8 03 5A 5A")
    assert kinds(decode(raw, raw, raw, bcc="off", apart=50 * MS)) == ["8S"]


def test_without_a_check_sum_one_copy_alone_is_told_and_believed_by_nobody() -> None:
    raw = Encoder().card(Label.P1, EIGHT_S)
    decoder = AngelEyeDecoder(bcc="off")
    assert not decoder.feed(raw, 0).items and decoder.pending == len(raw)
    due = decoder.next_deadline()
    assert due is not None and not decoder.tick(due - 1).items
    (item,) = decoder.tick(due).items
    assert isinstance(item, Reject) and item.raw == raw and "one copy alone" in item.reason
    assert decoder.next_deadline() is None and decoder.pending == 0
    flood = [b"\x05%dD\x81%c\x03ZZ" % (seq, byte) for seq in range(10) for byte in range(0x80, 0x100)]
    items = decoder.feed(b"".join(flood), due).items
    assert set(kinds(items)) == {"reject"} and decoder.pending < 200


def test_without_a_check_sum_no_single_damaged_bit_makes_another_card() -> None:
    encoder = Encoder()
    before, raw, behind = encoder.standby(), encoder.card(Label.P1, EIGHT_S), encoder.card(Label.B1, EIGHT_S)
    for copy in range(3):
        for bit in range(8 * len(raw)):
            damaged = bytearray(raw)
            damaged[bit // 8] ^= 1 << bit % 8
            copies = [bytes(damaged) if i == copy else raw for i in range(3)]
            frames = [before] * 3 + copies + [behind] * 3
            items = decode(*frames, b"", bcc="off", apart=50 * MS)
            assert [kind for kind in kinds(items) if kind not in ("reject", "gap")] == ["standby", "8S", "8S"]
            assert [item.label for item in items if isinstance(item, Scan)] == [Label.P1, Label.B1]


def test_any_single_damaged_byte_is_never_a_card() -> None:
    raw = Encoder().card(Label.P1, EIGHT_S)
    for at in range(len(raw)):
        for byte in range(256):
            if byte != raw[at]:
                damaged = raw[:at] + bytes((byte,)) + raw[at + 1 :]
                decoder = AngelEyeDecoder()
                assert contract.scans(contract.feed(decoder, damaged)) == []
                assert contract.scans(contract.feed(decoder, raw)) == [EIGHT_S]


# --- repeats and sequence numbers ------------------------------------------------------------------


def test_three_copies_are_one_card() -> None:
    raw = Encoder().card(Label.P1, EIGHT_S)
    assert decode(raw, raw, raw, apart=50 * MS) == [Scan(EIGHT_S, Label.P1, raw)]


def test_a_damaged_copy_costs_nothing() -> None:
    raw = Encoder().card(Label.P1, EIGHT_S)
    bad = raw[:4] + b"\xb9" + raw[5:]
    assert kinds(decode(bad, raw, raw, apart=50 * MS)) == ["reject", "8S"]
    assert kinds(decode(raw, bad, raw, apart=50 * MS)) == ["8S", "reject"]


def test_the_same_card_twice_in_a_row_is_two_cards() -> None:
    encoder = Encoder()
    p1, b1 = encoder.card(Label.P1, EIGHT_S), encoder.card(Label.B1, EIGHT_S)
    assert kinds(decode(p1 * 3 + b1 * 3)) == ["8S", "8S"]


def test_the_same_place_and_card_with_the_next_number_is_a_new_event() -> None:
    encoder = Encoder()
    first, second = encoder.card(Label.P1, EIGHT_S), encoder.card(Label.P1, EIGHT_S)
    assert kinds(decode(first, second, apart=MS)) == ["8S", "8S"]


def test_late_copies_among_newer_frames_are_still_repeats() -> None:
    encoder = Encoder()
    frames = [encoder.card(Label.P1, card) for card in DECK[:5]]
    assert len(decode(*frames, *frames, apart=10 * MS)) == 5


def test_only_five_frames_are_remembered() -> None:
    encoder = Encoder()
    frames = [encoder.card(Label.P1, card) for card in DECK[:6]]
    assert kinds(decode(*frames, frames[0], apart=10 * MS))[6:] == [DeviceKind.GAP, "AS"]


def test_repeat_window() -> None:
    raw = Encoder().standby()
    assert len(decode(raw, raw, apart=SECOND)) == 1
    assert len(decode(raw, raw, apart=1900 * MS, repeat_window=2 * SECOND)) == 1
    older = [raw, frame(2, b"L\x80")]
    assert kinds(decode(*older, raw, apart=400 * MS)) == ["standby", "unlocked"]
    assert kinds(decode(*older, raw, apart=600 * MS)) == ["standby", "unlocked", "gap", "standby"]


@pytest.mark.parametrize("late", [2, 60, 86_400])
@pytest.mark.parametrize("payload", [b"D\x81\xb8", b"d\x90\xb8", b"D\xa1\xb8", b"C", b"G\x90", b"R\x84\xb8"])
def test_a_copy_of_the_last_event_is_a_copy_however_late(payload: bytes, late: int) -> None:
    """Its number says so: the line or this process stood still. No card is counted twice by it."""
    first, *rest = decode(frame(1, payload), frame(1, payload), frame(1, payload), apart=late * SECOND)
    assert not isinstance(first, Reject)
    assert [(item.kind, "late" in item.text) for item in rest if isinstance(item, DeviceEvent)] == [
        (DeviceKind.NOTICE, True)
    ] * len(rest) and len(rest) == 2


def test_two_restarts_are_two() -> None:
    assert kinds(decode(Encoder().start(), Encoder().start(), apart=2 * SECOND)) == ["started", "started"]


@pytest.mark.parametrize("wrap_to", [0, 1])
def test_both_wraps_of_the_sequence_number_are_no_gap(wrap_to: int) -> None:
    encoder = Encoder(wrap_to=wrap_to)
    items = decode(*[encoder.card(Label.P1, card) * 3 for card in DECK], apart=50 * MS)
    doubts = [kind for kind in kinds(items) if kind == DeviceKind.DOUBT]
    assert len(doubts) == (len(DECK) - 1) // 9 * wrap_to, (
        "it is told where no label shows that nothing is missing"
    )
    assert [kind for kind in kinds(items) if kind not in doubts] == list(map(str, DECK))


@pytest.mark.parametrize("wrap_to", [0, 1])
def test_where_the_site_says_what_follows_9_nothing_is_in_doubt(wrap_to: int) -> None:
    encoder = Encoder(wrap_to=wrap_to)
    frames = [encoder.card(Label.P1, card) for card in DECK]
    assert kinds(decode(*frames, apart=50 * MS, after_nine=str(wrap_to))) == list(map(str, DECK))
    other = decode(*frames, apart=50 * MS, after_nine=str(1 - wrap_to))
    assert DeviceKind.GAP in kinds(other)


def test_a_jump_is_told_before_the_event() -> None:
    items = decode(frame(1, b"P"), frame(3, b"D\x81\xb8"), frame(4, b"P"))
    assert kinds(items) == ["standby", "gap", "8S", "standby"]
    assert items[1].raw == items[2].raw == frame(3, b"D\x81\xb8")
    assert kinds(decode(frame(8, b"P"), frame(1, b"P"))) == ["standby", "gap", "standby"]
    assert kinds(decode(frame(9, b"P"), frame(2, b"P"))) == ["standby", "gap", "standby"]


def test_same_number_with_another_card_is_a_jump() -> None:
    assert kinds(decode(frame(1, b"D\x81\xb8"), frame(1, b"D\x81\xb9"))) == ["8S", "gap", "9S"]


def test_without_check_sum_a_damaged_first_copy_is_no_jump() -> None:
    good, bad = frame(2, b"D\x81\xb8"), frame(2, b"D\x81\xbe")
    first, last = frame(1, b"P"), frame(3, b"P")
    items = decode(first, first, bad, good, good, last, last, bcc="off", apart=50 * MS)
    assert kinds(items) == ["standby", "8S", "standby"]


def test_start_forgets_numbers_and_repeats() -> None:
    encoder = Encoder()
    frames = [encoder.start(), encoder.card(Label.P1, EIGHT_S)]
    again = [encoder.start(), encoder.card(Label.P1, EIGHT_S)]
    assert frames == again
    both = decode(*frames, frame(3, b"P"), frame(4, b"S"), *again[1:], apart=10 * MS)
    assert kinds(both) == ["started", "8S", "standby", "started", "gap", "8S"]


def test_start_with_any_number_is_no_gap_and_its_copies_are_repeats() -> None:
    items = decode(frame(5, b"P"), *[frame(0, b"S")] * 3, *[frame(1, b"P")] * 3, apart=50 * MS)
    assert kinds(items) == ["standby", "started", "standby"]


def test_reconnect_forgets_repeats_and_tells_what_was_missed() -> None:
    decoder = AngelEyeDecoder()
    raw = frame(7, b"D\x81\xb8")
    assert kinds(decoder.feed(raw + raw[:5], 0).items) == ["8S"]
    decoder.reset()
    assert kinds(decoder.feed(raw, MS).items) == ["gap", "8S"]
    decoder.reset()
    assert kinds(decoder.feed(frame(8, b"D\x91\xb8"), 2 * MS).items) == ["8S"], "the next one: nothing missed"
    decoder.reset()
    assert kinds(decoder.feed(frame(1, b"S"), 3 * MS).items) == ["started"], "it was off"


def test_the_wrap_of_the_number_is_learned() -> None:
    decoder = AngelEyeDecoder()
    numbers = (8, 9, 1, 2, 9, 0, 8, 9, 1)
    heard = [kinds(decoder.feed(frame(seq, b"P"), at * 100_000 * MS).items) for at, seq in enumerate(numbers)]
    assert ["gap" in items for items in heard] == [False, False, False, False, True, False, True, False, True]


# --- R: retransmission or over-draw ----------------------------------------------------------------


def test_r_equal_to_the_last_card_is_a_repeat() -> None:
    encoder = Encoder()
    drawn, again = encoder.card(Label.P1, EIGHT_S), encoder.retransmission(Label.P1, EIGHT_S)
    assert kinds(decode(drawn * 3, again * 3)) == ["8S", "notice"]


def test_r_equal_to_the_last_card_while_error_2_stands_is_an_overdraw() -> None:
    encoder = Encoder()
    frames = [
        encoder.card(Label.P1, EIGHT_S),
        encoder.error(2),
        encoder.retransmission(Label.P1, EIGHT_S),
        encoder.error_cleared(2),
        encoder.retransmission(Label.P1, EIGHT_S),
    ]
    items = decode(*frames)
    assert kinds(items) == ["8S", "error", "8S", "error-cleared", "notice"]
    assert isinstance(items[2], Scan)
    assert items[2].label == Label.OVERDRAW


@pytest.mark.parametrize(
    "encode",
    [lambda e: e.retransmission(Label.P1, FIVE_C), lambda e: e.retransmission(Label.B1, EIGHT_S)],
    ids=["other card", "other place"],
)
def test_any_other_r_is_an_overdraw(encode: Callable[[Encoder], bytes]) -> None:
    encoder = Encoder()
    items = decode(encoder.card(Label.P1, EIGHT_S), encode(encoder), encoder.overdraw(EIGHT_S))
    assert [item.label for item in items if isinstance(item, Scan)] == [
        Label.P1,
        Label.OVERDRAW,
        Label.OVERDRAW,
    ]


def test_r_after_a_start_is_an_overdraw() -> None:
    items = decode(frame(1, b"D\x81\xb8"), frame(2, b"S"), frame(3, b"R\x81\xb8"))
    assert [item.label for item in items if isinstance(item, Scan)] == [Label.P1, Label.OVERDRAW]


# --- framing under fire ----------------------------------------------------------------------------

GOOD = Encoder().card(Label.P1, EIGHT_S)

BEFORE = {
    "frame without its end": bytes.fromhex("05 32 44 81 B8"),
    "frame without its check sum": bytes.fromhex("05 32 44 81 B8 03"),
    "frame with half a check sum": bytes.fromhex("05 32 44 81 B8 03 34"),
    "frame with a wrong check sum": bytes.fromhex("05 32 44 81 B8 03 34 34"),
    "a lone start byte": b"\x05",
    "start bytes": b"\x05" * 100,
    "start byte in noise": b"\xff\x05\xfe",
    "an end in noise": b"\x05\x03\x03\x03",
    "frame without a sequence number": frame(1, b"P").replace(b"1", b"D", 1),
    "frame without data": bytes.fromhex("05 31 03 33 32"),
    "long noise after a start byte": b"\x05" + b"\x80" * 62,
    "longer noise after a start byte": b"\x05" + b"\x80" * 63,
    "noise without a start byte": bytes(range(6, 256)),
    "frame without its start byte": GOOD[1:],
    "answers to a host command": bytes.fromhex("06 15 30 31"),
}


@pytest.mark.parametrize("noise", BEFORE.values(), ids=BEFORE.keys())
def test_noise_never_hides_the_frame_behind_it(noise: bytes) -> None:
    items = decode(noise + GOOD)
    assert kinds(items[-1:]) == ["8S"]
    assert set(kinds(items[:-1])) == {"reject"}
    assert b"".join(item.raw for item in items) == noise + GOOD
    contract.check_splits(contract.SUBJECTS["angel-eye"], noise + GOOD + noise, range(0, 300, 7))


def test_every_split_of_a_frame_and_of_two_glued_ones() -> None:
    subject = contract.SUBJECTS["angel-eye"]
    contract.check_all_splits(subject, GOOD)
    contract.check_all_splits(subject, frame(1, b"P") + frame(2, b"C"))


def test_a_half_frame_left_over_is_a_reject_after_a_while() -> None:
    decoder = AngelEyeDecoder()
    decoder.feed(GOOD[:5], 0)
    assert decoder.pending == 5
    assert decoder.next_deadline() == STUB_NS
    assert decoder.tick(STUB_NS - 1).items == ()
    assert decoder.tick(STUB_NS).items == (Reject(GOOD[:5], "frame cut short"),)
    assert decoder.next_deadline() is None
    # Without a tick in between the late bytes mean the same.
    decoder.feed(GOOD[:5], SECOND)
    assert kinds(decoder.feed(GOOD[5:] + GOOD, 2 * SECOND).items) == ["reject", "reject", "8S"]


def test_a_frame_in_two_parts_is_one_card() -> None:
    decoder = AngelEyeDecoder()
    decoder.feed(GOOD[:4], 0)
    assert kinds(decoder.feed(GOOD[4:], 300 * MS).items) == ["8S"]


def test_the_buffer_never_exceeds_its_cap() -> None:
    decoder = AngelEyeDecoder()
    for byte in (b"\x05" + b"\x80" * 500)[:400]:
        decoder.feed(bytes((byte,)), 0)
        assert decoder.pending <= wire.FRAME_CAP


# --- settings and encoder --------------------------------------------------------------------------


def test_traits() -> None:
    traits = DRIVER.traits({})
    assert traits.names_positions
    assert traits.has_result_button
    assert traits.reports_cutting_card
    assert traits.burn_frames == "burn"
    assert DRIVER.traits({"burn_frames": "game"}).burn_frames == "game"


@pytest.mark.parametrize(
    "settings",
    [
        {"bcc": "loose"},
        {"bcc": 1},
        {"burn_frames": "never"},
        {"repeat_window_ms": 0},
        {"repeat_window_ms": True},
        {"repeat_window_ms": "1000"},
        {"cards": {}},
        {"baud": -1},
    ],
)
def test_a_bad_setting_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        DRIVER.check(settings)


def test_good_settings() -> None:
    settings = {"bcc": "including-enq", "burn_frames": "outside", "repeat_window_ms": 2500, "baud": 9600}
    DRIVER.check(settings)
    decoder = DRIVER.decoder(settings)
    raw = Encoder("including-enq").standby()
    assert kinds(decoder.feed(raw, 0).items) == ["standby"]
    assert decoder.feed(raw, 2400 * MS).items == ()


@pytest.mark.parametrize(
    "impossible",
    [
        lambda: Encoder("loose"),
        lambda: Encoder().card(Label.BURN, EIGHT_S),
        lambda: Encoder().burn_card(11, EIGHT_S),
        lambda: Encoder().burn_count(0),
        lambda: Encoder().outside_card(3, 1, EIGHT_S),
        lambda: Encoder().error(64),
        lambda: Encoder().setting("ABC"),
    ],
)
def test_the_encoder_refuses_what_the_protocol_cannot_say(impossible: Callable[[], object]) -> None:
    with pytest.raises(ValueError):
        impossible()
