"""What is wrong with a scanner, told from its counters; and which driver the bytes would fit."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablectl_drivers import angel_eye, bee_tek
from tablectl_drivers.angel_eye_wire import encode_frame

from tablectl.cards import DECK
from tablectl.item_words import hex_of, item_json
from tablectl.plugins import load_driver
from tablectl.reader.tap import Entry
from tablectl.scanner import DeviceEvent, DeviceKind, Item, Label, Reject, Scan
from tablectl.technician.fitting import fits
from tablectl.technician.verdict import KEEP, Tally, is_text, verdict

S = 10**9
CARD = Scan(DECK[0], Label.NONE, b"x")


def heard(
    *records: Entry | bytes | Item, seconds: float = 20.0, connected: bool = True, why: str = ""
) -> Tally:
    """A tally of bytes and items, with the reader's state last."""
    tally = Tally()
    for record in records:
        match record:
            case bytes():
                tally.add({"kind": "bytes", "at": S, "hex": hex_of(record)})
            case dict():
                tally.add(record)
            case _:
                tally.add({"kind": "item", "at": S, "item": item_json(record)})
    tally.add({"kind": "state", "at": int(seconds * S), "connected": connected, "text": why})
    return tally


def unknown(code: bytes) -> Reject:
    return Reject(code + b"\r", "code of no card", framed=True, code=code)


NOISE = b"\x91\xa5\x03\x00\xff"


@pytest.mark.parametrize(
    ("tally", "code", "says"),
    [
        (heard(connected=False, why="no permission to open it"), "absent", "no permission to open it"),
        (heard(), "no-bytes", "the shoe's power"),
        (heard(NOISE, Reject(NOISE, "noise")), "no-frames", "Baud rate or parity"),
        (heard(NOISE, DeviceEvent(DeviceKind.NOTICE, b"", "a stub")), "no-frames", "Baud rate or parity"),
        (heard(b"1010\r\n9999\r\n", Reject(b"9999", "no card has the code 9999")), "no-frames", "plain text"),
        (heard(b"1010\r\n", Reject(b"9999", "code of no card", framed=True)), "no-cards", "code of no card"),
        (heard(NOISE, DeviceEvent(DeviceKind.STANDBY, b"x")), "no-cards", "card table is another deck's"),
        (heard(NOISE, Scan(None, Label.NONE, b"x")), "unread", "reads none"),
        (heard(NOISE, CARD, Reject(b"1", "a"), Reject(b"1", "a")), "noisy", "A bad cable"),
        (heard(NOISE, CARD, CARD, Reject(b"1", "a", lost=True)), "lost", "parts of 1 message were lost"),
        (heard(NOISE, CARD, unknown(b"7"), Reject(b"1", "a", lost=True)), "lost", "may have been a card"),
        (heard(NOISE, CARD, Reject(b"1", "a")), "ok", "the scanner works"),
        (heard(NOISE, CARD, seconds=3.4), "ok", "1 card in 3 s"),
        (heard(NOISE, CARD, unknown(b"9999")), "unknown", "1 of 2 frames was no card of the table"),
        (heard(NOISE, CARD, CARD, Scan(None, Label.NONE, b"x")), "unread", "1 more could not be read"),
    ],
)  # fmt: skip
def test_each_stuck_counter_has_its_verdict(tally: Tally, code: str, says: str) -> None:
    found = verdict(tally, "/dev/ttyUSB0", "angel-eye")
    assert found.code == code
    assert says in " ".join(found.texts)


cards = st.sampled_from([CARD, Scan(None, Label.NONE, b"x"), unknown(b"9999"), unknown(b"\x1b[2J")])


@given(st.lists(cards, min_size=1))
def test_a_scanner_works_only_if_every_frame_was_a_card(items: list[Item]) -> None:
    found = verdict(heard(NOISE, *items), "/dev/ttyUSB0", "barcode")
    assert (found.code == "ok") == all(item == CARD for item in items)
    told = " ".join(found.texts)
    assert told.isprintable()
    for item in items:
        if isinstance(item, Reject):
            assert repr(item.code)[2:-1] in told, "whatever else is wrong"


def test_the_first_unknown_codes_are_named_escaped_and_bounded() -> None:
    codes = [b"X%d" % i for i in range(9)]
    tally = heard(
        NOISE, *([CARD] * 20), *(unknown(code) for code in [b"A\0\n\xff" + b"z" * 200, *codes, *codes])
    )
    _, named, way = verdict(tally, "/dev/ttyUSB0", "barcode").texts
    assert named.startswith(r"Unknown codes: A\x00\n\xffz") and named.endswith("z, X0, X1, X2, X3, …")
    assert len(named) < 100
    assert "card table" in way and "mode" in way
    five = [unknown(b"z" * 50 + code) for code in [b"1", b"2"]] + [unknown(code) for code in codes[:4]]
    named = verdict(heard(NOISE, CARD, *five, *five), "/dev/ttyUSB0", "barcode").texts[1]
    assert named.endswith("X3") and named.count("z, ") == 1, "each once"


@pytest.mark.parametrize(
    ("device", "records", "says", "never"),
    [
        ("tcp://192.0.2.10:4001", (), "behind the serial server", "straight or crossed"),
        ("tcp://192.0.2.10:4001", (NOISE,), "set in the serial server, not here", "\0"),
        ("usb:0c2e:0b61@1-1.2", (), "another mode", "straight or crossed"),
        ("usb:0c2e:0b61@1-1.2", (NOISE,), "Another driver", "Baud"),
    ],
)
def test_a_way_out_is_one_of_that_kind_of_device(
    device: str, records: tuple[bytes, ...], says: str, never: str
) -> None:
    text = " ".join(verdict(heard(*records), device, "angel-eye").texts)
    assert says in text
    assert never not in text


values = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.integers(), max_size=2)
keys = st.sampled_from(["kind", "at", "hex", "item", "text", "connected", "count", "card"])
kinds = st.sampled_from(["bytes", "item", "lost", "restored", "state", "dropped", "end", "header"])


@given(st.lists(st.dictionaries(keys, values | st.dictionaries(keys, values)), max_size=8), kinds)
def test_records_of_any_form_are_counted_or_ignored(records: list[dict[str, Any]], kind: str) -> None:
    tally = Tally()
    for record in records:
        tally.add(record)
        tally.add(record | {"kind": kind})
    assert verdict(tally, "/dev/x", "bee-tek").texts


def test_of_a_long_listening_only_the_last_bytes_are_kept() -> None:
    tally = heard(*([bytes(1000)] * 50))
    assert tally.byte_count == 50_000
    assert KEEP - 1000 <= sum(len(data) for _, data in tally.pieces) <= KEEP


def test_text_is_told_from_noise() -> None:
    assert is_text(b"1010\r\n2020\r\n")
    assert not is_text(b"1010\r\n\xff")
    assert not is_text(b"")


# --- what would fit ---------------------------------------------------------------------------------------


def bee_tek_bytes() -> bytes:
    encoder = bee_tek.Encoder()
    return b"".join(encoder.card(card) for card in DECK[:5])


def angel_eye_bytes() -> bytes:
    encoder = angel_eye.Encoder()
    return b"".join(encoder.card(Label.P1, card) * 3 for card in DECK[:5])


def with_parity(data: bytes, odd: int) -> bytes:
    return bytes(byte | ((byte.bit_count() + odd) % 2) << 7 for byte in data)


def test_bytes_of_another_device_are_known_by_their_frames() -> None:
    (fit,) = fits([(0, bee_tek_bytes())], "angel-eye", {})
    assert (fit.driver, fit.cards, fit.rejects, fit.parity) == ("bee-tek", 5, 0, "")
    assert fit.words == "these look like bee-tek: 5 frames, 5 cards"
    found = fits([(i * S, frame) for i, frame in enumerate([angel_eye_bytes()])], "bee-tek", {"baud": 9600})
    assert [(fit.driver, fit.cards) for fit in found] == [("angel-eye", 5)]


@pytest.mark.parametrize(("odd", "parity"), [(0, "E"), (1, "O")])
def test_a_parity_bit_that_nobody_expects_is_found(odd: int, parity: str) -> None:
    (fit,) = fits([(0, with_parity(bee_tek_bytes(), odd))], "bee-tek", {})
    assert (fit.driver, fit.parity, fit.cards) == ("bee-tek", parity, 5)
    assert f'bytesize = 7 and parity = "{parity}"' in fit.words
    settings = {"bytesize": 7, "parity": parity}
    load_driver("bee-tek").check(settings)


@pytest.mark.parametrize(("speaks", "configured"), [("including-enq", "strict"), ("strict", "including-enq")])
def test_another_check_sum_of_the_same_shoe_is_found_and_what_to_write(speaks: str, configured: str) -> None:
    frames = [
        encode_frame(i, b"D" + bytes((t, 0xB8)), speaks) for i, t in enumerate((0x81, 0x91, 0x82, 0x92))
    ]
    heard = [(i * S, frame) for i, frame in enumerate(frames)]
    (best, *others) = fits(heard, "angel-eye", {"bcc": configured})
    assert best.words == f'these look like angel-eye, with bcc = "{speaks}": 4 frames, 4 cards'
    assert others == []
    if speaks == "strict":
        assert [fit.dialect for fit in fits(heard, "bee-tek", {})] == [""], "the usual one needs no word"


def test_noise_fits_nothing() -> None:
    rng = random.Random(7)
    for _ in range(20):
        noise = [(i * S // 10, rng.randbytes(40)) for i in range(20)]
        assert fits(noise, "angel-eye", {}) == []
