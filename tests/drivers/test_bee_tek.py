"""Bee-Tek: every tolerated form, unread cards and their alarm, the field's byte faults transposed."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tablectl_drivers.bee_tek import DRIVER, GAME, MANUAL_BURN, MODES, STUB_NS, BeeTekDecoder, Encoder

from tablectl.cards import DECK, Card
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, DeviceKind, ErrorKind, Item, Label, Reject, Scan, Traits
from tests.drivers import contract

SUBJECT = contract.SUBJECTS["bee-tek"]
E3 = b"[Game]<Alarm:E3 Card Not Read>\r\n"
UNREAD = b"[Game]<Game>\r\n"


def decode(*parts: bytes | tuple[bytes, int]) -> list[Item]:
    """Items of parts, each with its time in ms (0 if none is given)."""
    decoder = BeeTekDecoder()
    items: list[Item] = []
    for part in parts:
        data, now = part if isinstance(part, tuple) else (part, 0)
        items += decoder.feed(data, now * 1_000_000).items
    return items


def names(items: list[Item]) -> list[str]:
    return [
        str(item.card or "unread")
        if isinstance(item, Scan)
        else item.kind
        if isinstance(item, DeviceEvent)
        else "reject"
        for item in items
    ]


FORMS = {
    "game": (b"[Game]<Card:4S>4S\r\n", "4S"),
    "game, characters after the line end": (b"[Game]<Card:4S>\r\n4S\r\n", "4S"),
    "game, characters after the line end without one": (b"[Game]<Card:4S>\r\n4S", "4S"),
    "game, ten as three characters": (b"[Game]<Card:10S>10S\r\n", "TS"),
    "game, characters not repeated": (b"[Game]<Card:4S>\r\n", "4S"),
    "burn mode": (b"[Manual Burn Cards]<Card:TH>\r\n", "TH"),
    "burn mode, 10": (b"[Manual Burn Cards]<Card:10H>\r\n", "TH"),
    "suit then rank": (b"[Game]<Card:H3>H3\r\n", "3H"),
    "suit then ten": (b"[Game]<Card:H10>\r\n", "TH"),
    "suit then T": (b"[Game]<Card:HT>\r\n", "TH"),
    "blanks before": (b"  \t[Game]<Card:KD>\r\n", "KD"),
    "many blanks before": (b" " * 500 + b"[Game]<Card:KD>\r\n", "KD"),
    "blanks after": (b"[Game]<Card:KD>   \r\n", "KD"),
    "blanks between": (b"[Game] <Card:KD>\r\n", "KD"),
    "CR only": (b"[Game]<Card:KD>\r", "KD"),
    "no line end": (b"[Game]<Card:KD>", "KD"),
    "CR CR LF": (b"[Game]<Card:KD>KD\r\r\n", "KD"),
}


@pytest.mark.parametrize(("data", "card"), FORMS.values(), ids=FORMS.keys())
def test_tolerated_form(data: bytes, card: str) -> None:
    decoder = BeeTekDecoder()
    first = contract.feed(decoder, data)
    second = contract.feed(decoder, data)
    assert names(first + second) == [card, card]
    assert contract.drain(decoder) == []
    for item in first:
        assert isinstance(item, Scan)
        assert item.label == Label.NONE
        assert item.raw == data.lstrip()[: data.lstrip().index(b">") + 1]
    contract.check_splits(SUBJECT, data * 2, range(0, len(data), 3))


def test_every_card_in_every_mode_and_spelling() -> None:
    for card in DECK:
        for mode in MODES:
            assert names(decode(Encoder(mode).card(card))) == [str(card)]
        assert names(decode(f"[Game]<Card:{card.suit}{card.rank}>".encode())) == [str(card)]


def test_encoder_bytes() -> None:
    four = Card.parse("4S")
    assert Encoder().card(four) == b"[Game]<Card:4S>4S\r\n"
    assert Encoder(MANUAL_BURN).card(Card.parse("TH")) == b"[Manual Burn Cards]<Card:TH>\r\n"
    assert Encoder().card(None) == UNREAD
    assert Encoder(MANUAL_BURN).card(None) == b"[Manual Burn Cards]<Manual Burn Cards>\r\n"
    assert Encoder().alarm("E3 Card Not Read") == E3
    assert Encoder().warning(1) == b"<W0x01>\r\n"


def test_the_same_card_any_number_of_times_is_so_many_cards() -> None:
    assert names(decode(b"[Game]<Card:4S>4S\r\n" * 5)) == ["4S"] * 5
    assert names(decode(UNREAD * 3)) == ["unread"] * 3


# --- unread cards ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_in_card_place_is_an_unread_card(mode: str) -> None:
    raw = f"[{mode}]<{mode}>".encode()
    assert decode(raw + b"\r\n") == [Scan(None, Label.NONE, raw)]


def test_the_alarm_within_a_second_is_the_same_card() -> None:
    assert names(decode(UNREAD, (E3, 1000))) == ["unread", "notice"]
    assert names(decode(UNREAD, (b"[GameAlarm]<Alarm:E3 Card Not Read>\r\n", 300))) == ["unread", "notice"]
    assert names(decode(UNREAD, (E3, 100), (E3, 200))) == ["unread", "notice", "notice"]
    assert names(decode(UNREAD, (E3, 1001))) == ["unread", "unread"]


def test_the_alarm_may_come_first() -> None:
    assert names(decode(E3, (UNREAD, 1000))) == ["unread", "notice"]
    assert names(decode(E3, (UNREAD, 1001))) == ["unread", "unread"]


def test_two_unread_cards_with_an_alarm_each_are_two_cards() -> None:
    assert names(decode(UNREAD, (E3, 50), (UNREAD, 900), (E3, 950))) == ["unread", "notice"] * 2
    assert names(decode(E3, (UNREAD, 50), (UNREAD, 900))) == ["unread", "notice", "unread"]


def test_an_alarm_alone_is_an_unread_card() -> None:
    assert decode(E3) == [Scan(None, Label.NONE, E3.rstrip())]


@pytest.mark.parametrize("first", [E3, UNREAD, E3 + UNREAD, UNREAD + E3])
@pytest.mark.parametrize("last", [E3, UNREAD])
@pytest.mark.parametrize("gap", [0, 1, 400])
@pytest.mark.parametrize(
    ("between", "told"),
    [
        (b"[Game]<Card:4S>4S\r\n", "4S"),
        (b"[Manual Burn Cards]<Card:TH>\r\n", "TH"),
        (b"[Game]<Cxrd:4S>4S\r\n", "reject"),
        (b"[Gxme]<Card:4S>\r\n", "reject"),
        (b"<Card:4S>\r\n", "reject"),
        (b"[Game]<Ca\r\n", "reject"),
    ],
)
def test_behind_another_card_an_unread_one_is_one_more(
    first: bytes, last: bytes, gap: int, between: bytes, told: str
) -> None:
    """An alarm and an unread card are one only if no card, and nothing that may be one, lies between."""
    items = [name for name in names(decode(first, (between, gap), (last, 2 * gap))) if name != "notice"]
    assert items == ["unread", told, "unread"]


def test_other_alarms_and_warnings() -> None:
    raw = b"[GameAlarm]<Alarm:E12 Door Open>"
    assert decode(raw) == [DeviceEvent(DeviceKind.ERROR, raw, "alarm E12 Door Open", number=12)]
    assert names(decode(b"[Game]<Alarm:E30 Else>\r\n[Game]<Alarm:Jam>\r\n")) == ["error", "error"]
    assert decode(b"<W0x1f>\r\n") == [DeviceEvent(DeviceKind.NOTICE, b"<W0x1f>", "warning W0x1f", number=31)]
    assert names(decode(b"[Game]<W0x01>\r\n")) == ["notice"]


def test_no_alarm_means_what_the_same_number_means_to_another_maker() -> None:
    for text in ("E1 Motor", "E2 Door Open", "E4", "E30 Else", "Jam"):
        (item,) = decode(f"[GameAlarm]<Alarm:{text}>\r\n".encode())
        assert isinstance(item, DeviceEvent)
        assert (item.kind, item.error) == (DeviceKind.ERROR, ErrorKind.FAULT)
    # E3 is "card not read": an unread card, never also an error.
    assert names(decode(b"[GameAlarm]<Alarm:E3 Card Not Read>\r\n")) == ["unread"]


# --- bytes that mean nothing -----------------------------------------------------------------------

NO_CARD = {
    "h11": b"h11",
    "c0": b"c0",
    "empty": b"",
    "?": b"?",
    "9999": b"9999",
    "1140": b"1140",
    "+1010": b"+1010",
    "1_010": b"1_010",
    "full-width digits": "４S".encode(),
    "leading zero": b"04S",
    "leading space": b" 4S",
    "trailing space": b"4S ",
    "lower case": b"4s",
    "one": b"1S",
    "eleven": b"11S",
    "no suit": b"4",
    "two cards": b"4S4S",
    "NUL": b"4S\0",
}


@pytest.mark.parametrize("text", NO_CARD.values(), ids=NO_CARD.keys())
def test_no_card_is_rejected_with_its_bytes_and_never_a_default(text: bytes) -> None:
    raw = b"[Game]<Card:" + text + b">"
    (item,) = decode(raw + b"\r\n")
    assert isinstance(item, Reject)
    assert item.raw == raw


@pytest.mark.parametrize(
    "line",
    [
        b"[Setup]<Card:4S>",
        b"<Card:4S>",
        b"Game]<Card:4S>",
        b"[game]<Card:4S>",
        b"[Game]<card:4S>",
        b"[Game]<4S>",
        b"[Game]",
        b"[Game]<Card:4S",
        b"[Game<Card:4S>",
        b"[Game]x<Card:4S>",
        b"[Game]\r\n<Card:4S>",
        b"[Game]<>",
        b"[Game]<Alarm:>",
        b"4S",
        b"[Gam\xff]<Card:4S>",
    ],
)
def test_a_damaged_line_is_rejected_and_all_its_bytes_told(line: bytes) -> None:
    decoder = BeeTekDecoder()
    items = contract.feed(decoder, line + b"\r\n") + contract.drain(decoder)
    assert set(names(items)) == {"reject"}
    told = b"".join(item.raw for item in items)
    assert re.sub(rb"\s", b"", told) == re.sub(rb"\s", b"", line)


def test_up_to_eight_bytes_after_a_frame_are_passed_over() -> None:
    frame = b"[Game]<Card:4S>"
    assert names(decode(frame + b"x" * 8 + frame)) == ["4S", "4S"]
    items = decode(frame + b"x" * 9 + frame)
    assert names(items) == ["4S", "reject", "4S"]
    assert items[1].raw == b"x" * 9
    assert names(decode(frame + b"x" * 8 + b"<W0x01>")) == ["4S", "notice"]
    # Only once, and only after a frame.
    assert names(decode(b"4S\r\n" + frame)) == ["reject", "4S"]
    assert names(decode(b"[Game\r\n4S" + frame)) == ["reject", "reject", "4S"]


BEFORE = {
    "half a frame": b"[Game]<Ca",
    "half a mode": b"[Ga",
    "a whole mode": b"[Game]",
    "an open angle": b"<",
    "angles": b"[Game]<<<>>",
    "brackets": b"[[[]]]",
    "bracket in a mode": b"[Ga]me]<",
    "line end in a frame": b"[Game]<Card\r\n:4S>",
    "binary": bytes(range(256)),
    "no end": b"[Game]<Card:" + b"4" * 400,
    "nothing but noise": b"\xff\x00" * 300,
}


@pytest.mark.parametrize("noise", BEFORE.values(), ids=BEFORE.keys())
@pytest.mark.parametrize("good", [b"[Game]<Card:4S>", b"<W0x01>"], ids=["card", "warning"])
def test_noise_never_hides_the_frame_behind_it(noise: bytes, good: bytes) -> None:
    assert names(decode(noise + good)[-1:]) == [names(decode(good))[0]]
    contract.check_splits(SUBJECT, noise + good + noise, range(0, 900, 11))


def test_every_split_of_a_line() -> None:
    contract.check_all_splits(SUBJECT, b"[Game]<Game>\r\n")
    contract.check_all_splits(SUBJECT, b"<W0x01><W0x02>")


def test_a_line_in_parts_is_one_card_and_a_stub_is_given_up() -> None:
    assert names(decode(b"[Game]<Ca", (b"rd:4S>\r\n", 300))) == ["4S"]
    assert names(decode(b"[Game]<Ca", (b"[Game]<Card:2H>2H\r\n", 5000))) == ["reject", "2H"]
    decoder = BeeTekDecoder()
    decoder.feed(b"[Game]<Ca", SECOND)
    assert decoder.next_deadline() == SECOND + STUB_NS
    assert decoder.tick(SECOND + STUB_NS).items == (Reject(b"[Game]<Ca", "line cut short", lost=True),)


def test_settings() -> None:
    DRIVER.check({"baud": 19200})
    assert DRIVER.traits({}) == Traits()
    bad: dict[str, Any]
    for bad in ({"bcc": "off"}, {"baud": "x"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            DRIVER.check(bad)


def test_the_encoder_refuses_what_the_protocol_cannot_say() -> None:
    with pytest.raises(ValueError):
        Encoder("Setup")
    for text in ("", "a>b", "a\r\n", "x" * 81):
        with pytest.raises(ValueError):
            Encoder(GAME).alarm(text)
    with pytest.raises(ValueError):
        Encoder().warning(256)


@pytest.mark.parametrize("between", [b"", b"\r\n"])
@pytest.mark.parametrize("echo", [b"5S", b"S5", b"TH", b"10H"])
def test_a_repetition_that_names_another_card_is_an_error_without_a_face(between: bytes, echo: bytes) -> None:
    card, error, behind = decode(b"[Game]<Card:4S>" + between + echo + b"\r\n[Game]<Card:KD>\r\n")
    assert isinstance(card, Scan) and isinstance(behind, Scan)
    assert isinstance(error, DeviceEvent) and (error.kind, error.error) == (DeviceKind.ERROR, ErrorKind.FAULT)
    assert not any(str(face) in error.text for face in DECK)


@pytest.mark.parametrize("echo", [b"4S", b"S4", b"", b"x", b"Game", b"4"])
def test_a_repetition_that_names_no_other_card_is_skipped(echo: bytes) -> None:
    items = decode(b"[Game]<Card:4S>" + echo + b"\r\n[Game]<Card:KD>\r\n")
    assert [item.card for item in items if isinstance(item, Scan)] == [Card.parse("4S"), Card.parse("KD")]
    assert len(items) == 2
