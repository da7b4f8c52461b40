"""Bar-code scanners: the rows of the field's byte faults, line ends, identifiers, bounce, settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablectl_drivers.barcode import DRIVER, LINE_CAP, Encoder

from tablectl.cards import Card
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, DeviceKind, Item, Label, Reject, Scan, Traits
from tablectl.signals import PATTERNS
from tests.drivers import contract
from tests.drivers.contract import CARDS

SUBJECT = contract.SUBJECTS["barcode"]


def decode(*parts: tuple[int, bytes], **settings: Any) -> list[Item]:
    """Items of parts that arrive at so many ms; ticks fall where the decoder wants them."""
    decoder = DRIVER.decoder({**CARDS, **settings})
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


# --- the rows of the table of byte faults ----------------------------------------------------------

NO_CARD = {
    "h11": b"h11",
    "c0": b"c0",
    "?": b"?",
    "9999": b"9999",
    "1140": b"1140",
    "+1010": b"+1010",
    "1_010": b"1_010",
    "full-width digits": "１０１０".encode(),
    "leading zero": b"01010",
    "leading space": b" 1010",
    "trailing space": b"1010 ",
    "tab": b"\t1010",
    "NUL": b"1010\0",
    "decimal": b"1010.0",
    "card name": b"AS",
    "0": b"0",
    "AIM identifier": b"]C01010",
}


@pytest.mark.parametrize("code", NO_CARD.values(), ids=NO_CARD.keys())
def test_no_code_is_rejected_with_its_bytes_and_never_a_default(code: bytes) -> None:
    assert decode((0, code + b"\r")) == [Reject(code + b"\r", "code of no card", framed=True, code=code)]
    assert names(decode((0, code + b"\r1010\r"))) == ["reject", "AS"]


def test_an_empty_code_between_prefix_and_suffix_is_rejected() -> None:
    items = decode((0, b"\x02\x03\r"), prefix="\x02", suffix="\x03")
    assert items == [Reject(b"\x02\x03\r", "empty code")]


def test_one_chunk_two_chunks_and_every_split_give_the_same_two_cards() -> None:
    assert names(decode((0, b"1010\r\n2020\r\n"))) == ["AS", "2H"]
    assert names(decode((0, b"1010\r\n20"), (1, b"20\r\n"))) == ["AS", "2H"]
    contract.check_all_splits(SUBJECT, b"1010\r\n2020\r\n")


def test_line_ends_that_come_late_or_twice_make_no_empty_scans() -> None:
    assert names(decode((0, b"1010\r"), (40, b"\n2020\r"), (80, b"\n"))) == ["AS", "2H"]
    assert names(decode((0, b"1010\r\r2020\r\r"))) == ["AS", "2H"]
    assert names(decode((0, b"\r\n\n\r1010\n2020\n"))) == ["AS", "2H"]
    assert decode((0, b"\r\n" * 1000)) == []


def test_a_short_pause_is_within_a_line_and_a_stub_is_a_reject() -> None:
    assert names(decode((0, b"10"), (300, b"10\r"))) == ["AS"]
    items = decode((0, b"10"), (5000, b"2020\r"))
    assert names(items) == ["reject", "2H"]
    assert items[0] == Reject(b"10", "a line without an end was dropped", lost=True)


def test_the_stub_is_dropped_also_when_nobody_ticked() -> None:
    decoder = DRIVER.decoder(CARDS)
    assert decoder.feed(b"10", 0).items == ()
    assert names(list(decoder.feed(b"2020\r", 5 * SECOND).items)) == ["reject", "2H"]


def test_bounce_is_one_card_and_a_notice_but_a_second_card_is_a_second_card() -> None:
    assert names(decode((0, b"3130\r"), (30, b"3130\r"))) == ["KC", "bounce"]
    assert names(decode((0, b"3130\r"), (900, b"3130\r"))) == ["KC", "KC"]
    bounce = decode((0, b"3130\r"), (30, b"3130\r"))[1]
    assert isinstance(bounce, DeviceEvent)
    assert (bounce.kind, bounce.card, bounce.raw) == (DeviceKind.BOUNCE, Card.parse("KC"), b"3130\r")
    assert "KC" not in bounce.text  # it may lie face down


# --- bounce ----------------------------------------------------------------------------------------


def test_bounce_counts_from_the_last_reading_and_only_for_the_same_code() -> None:
    assert names(decode(*[(at, b"3130\r") for at in range(0, 1000, 200)])) == ["KC", *["bounce"] * 4]
    assert names(decode((0, b"3130\r"), (300, b"3130\r"))) == ["KC", "KC"]
    assert names(decode((0, b"3130\r1010\r3130\r"))) == ["KC", "AS", "KC"]
    assert names(decode((0, b"3130\r?\r3130\r"))) == ["KC", "reject", "bounce"]


def test_two_codes_of_one_card_are_two_cards() -> None:
    two_decks = {**CARDS["cards"], "X1": "KC"}
    assert names(decode((0, b"3130\rX1\r"), cards=two_decks)) == ["KC", "KC"]


def test_bounce_time_is_a_setting() -> None:
    assert names(decode((0, b"3130\r3130\r"), bounce_ms=0)) == ["KC", "KC"]
    assert names(decode((0, b"3130\r"), (900, b"3130\r"), bounce_ms=1000)) == ["KC", "bounce"]


def test_a_reconnect_forgets_half_lines_and_bounce() -> None:
    decoder = DRIVER.decoder(CARDS)
    assert names(list(decoder.feed(b"3130\r20", 0).items)) == ["KC"]
    decoder.reset()
    assert names(list(decoder.feed(b"3130\r", 1).items)) == ["KC"]


# --- how scanners are set up -----------------------------------------------------------------------


def test_prefix_and_suffix() -> None:
    both = {"prefix": "\x02", "suffix": "\x03"}
    assert names(decode((0, b"\x021010\x03\r"), **both)) == ["AS"]
    assert names(decode((0, b"1010\x03\r\x021010\r"), **both)) == ["reject", "reject"]


def test_aim_identifier() -> None:
    strip = {"aim": "strip", "aim_allowed": ["C", "Q"]}
    assert names(decode((0, b"]C01010\r]Q32020\r"), **strip)) == ["AS", "2H"]
    assert names(decode((0, b"]d11010\r"), aim="strip")) == ["AS"]
    for line in (b"]A01010\r", b"]c01010\r", b"1010\r", b"]C\r", b"]\r", b"[C01010\r", b"]C01140\r"):
        assert decode((0, line), **strip)[0].raw == line
        assert names(decode((0, line), **strip)) == ["reject"]
    assert decode((0, b"]C0\r"), **strip) == [Reject(b"]C0\r", "empty code")]


def test_an_aim_identifier_can_be_refused() -> None:
    assert names(decode((0, b"1010\r"), aim="refuse")) == ["AS"]
    (item,) = decode((0, b"]C01010\r"), aim="refuse")
    assert isinstance(item, Reject) and 'aim = "strip"' in item.reason
    # What only looks like one is a code of no card like any other.
    assert decode((0, b"]x\r"), aim="refuse") == [Reject(b"]x\r", "code of no card", framed=True, code=b"]x")]


# --- the scanner waits for an answer -----------------------------------------------------------------

ACK, NAK = b"\x06", b"\x15"


def talk(*parts: tuple[int, bytes], **settings: Any) -> list[tuple[str, bytes]]:
    """Names of the items and the replies of each part that has either, and of the time before it."""
    decoder = DRIVER.decoder({**CARDS, "host_ack": True, **settings})
    told: list[tuple[str, bytes]] = []
    for at, data in parts:
        while (deadline := decoder.next_deadline()) is not None and deadline <= at * 1_000_000:
            late = decoder.tick(deadline)
            told.append((" ".join(names(list(late.items))), late.replies))
        items, replies = decoder.feed(data, at * 1_000_000)
        if items or replies:
            told.append((" ".join(names(list(items))), replies))
    return told


def test_without_host_ack_nothing_is_sent_back() -> None:
    decoder = DRIVER.decoder(CARDS)
    assert decoder.feed(b"1010\r9999\r10", 0).replies == b""
    assert decoder.tick(10 * SECOND).replies == b""


def test_a_good_line_is_acknowledged_once() -> None:
    assert talk((0, b"1010\r\n"), (1000, b"20"), (1010, b"20\r")) == [("AS", ACK), ("2H", ACK)]
    assert talk((0, b"1010\r2020\r")) == [("AS 2H", ACK + ACK)]
    assert talk((0, b"1010\r"), (30, b"1010\r")) == [("AS", ACK), ("bounce", ACK)]


def test_a_bad_line_is_asked_for_again_and_counts_once() -> None:
    assert talk((0, b"1\xb010\r"), (60, b"1010\r")) == [("reject", NAK), ("AS", ACK)]


def test_after_two_tries_the_scanner_is_let_go() -> None:
    tries = [(at, b"9999\r") for at in range(0, 400, 100)]
    assert talk(*tries) == [("reject", NAK), ("reject", NAK), ("reject", ACK), ("reject", NAK)]
    assert talk((0, b"9999\r"), (50, b"1010\r"), (900, b"9999\r")) == [
        ("reject", NAK), ("AS", ACK), ("reject", NAK),
    ]  # fmt: skip


def test_a_line_asked_for_because_of_noise_behind_a_counted_card_is_no_second_card() -> None:
    """The scanner sends its last line again, and that one was counted: however late it comes."""
    assert talk((0, b"1010\r"), (700, b"\xff\r"), (1500, b"1010\r")) == [
        ("AS", ACK), ("reject", NAK), ("bounce", ACK),
    ]  # fmt: skip
    # An answer to it and a second noise change nothing.
    noise = (700, b"\xff\r"), (800, b"\xff\r")
    told = [what for what, _ in talk((0, b"1010\r"), *noise, (1500, b"1010\r"))]
    assert told == ["AS", "reject", "reject", "bounce"]
    # Another card than the one counted last is a card.
    assert talk((0, b"1010\r"), (700, b"\xff\r"), (800, b"2020\r"))[-1] == ("2H", ACK)
    # What comes long after was not asked for.
    assert talk((0, b"1010\r"), (700, b"\xff\r"), (2800, b"1010\r"))[-1] == ("AS", ACK)


@pytest.mark.parametrize(("bad_at", "asked"), [(5, False), (299, False), (300, True), (3000, True)])
def test_a_line_asked_for_long_behind_an_equal_card_may_be_a_second_one(bad_at: int, asked: bool) -> None:
    """Noise right behind a card has the scanner send it again; a bad line later is a line of its own."""
    decoder = DRIVER.decoder({**CARDS, "host_ack": True})
    decoder.feed(b"1080\r", 0)
    assert decoder.feed(b"1\xff80\r", bad_at * 1_000_000).replies == NAK
    (item,), replies = decoder.feed(b"1080\r", (bad_at + 100) * 1_000_000)
    assert isinstance(item, DeviceEvent) and replies == ACK
    assert (item.kind, item.card, item.unsure) == (DeviceKind.BOUNCE, Card.parse("8S"), asked)


def test_half_a_line_that_nobody_sends_again_is_told_as_lost() -> None:
    decoder = DRIVER.decoder({**CARDS, "host_ack": True})
    told: list[tuple[bool, bytes]] = []
    for _ in range(3):
        now = 5 * SECOND * (len(told) + 1)
        decoder.feed(b"10", now)
        (stub,), replies = decoder.tick(now + 2 * SECOND)
        assert isinstance(stub, Reject)
        told.append((stub.lost, replies))
    assert told == [(False, NAK), (False, NAK), (True, ACK)]


def test_half_a_line_right_behind_a_card_is_noise_however_late_it_is_given_up() -> None:
    decoder = DRIVER.decoder({**CARDS, "host_ack": True})
    decoder.feed(b"1080\r\xff", 0)
    assert decoder.tick(2 * SECOND).replies == NAK
    (item,), _ = decoder.feed(b"1080\r", 2 * SECOND + SECOND // 10)
    assert isinstance(item, DeviceEvent) and not item.unsure


def test_a_lost_acknowledgement_is_told_apart_by_the_bounce_time_only() -> None:
    assert talk((0, b"1010\r"), (2000, b"1010\r"))[-1] == ("AS", ACK)
    assert talk((0, b"1010\r"), (2000, b"1010\r"), bounce_ms=2500)[-1] == ("bounce", ACK)


def test_half_a_line_and_a_line_too_long_are_asked_for_again() -> None:
    assert talk((0, b"10"), (2100, b"1010\r")) == [("reject", NAK), ("AS", ACK)]
    noise = b"9" * LINE_CAP
    assert talk((0, noise), (1, b"\r"), (2, b"1010\r")) == [("reject", b""), ("", NAK), ("AS", ACK)]
    assert talk((0, noise + b"9\r")) == [("reject reject", NAK)]


def test_a_pause_that_ends_a_line_is_answered() -> None:
    decoder = DRIVER.decoder({**CARDS, "host_ack": True, "idle_end": 0.2})
    assert decoder.feed(b"1010", 0).replies == b""
    assert decoder.tick(SECOND).replies == ACK
    assert decoder.feed(b"99", 2 * SECOND).replies == b""
    assert decoder.feed(b"2020\r", 3 * SECOND).replies == NAK + ACK


def test_a_reconnect_forgets_what_was_asked_for() -> None:
    decoder = DRIVER.decoder({**CARDS, "host_ack": True})
    for _ in range(2):
        assert decoder.feed(b"9999\r", 0).replies == NAK
    decoder.reset()
    assert decoder.feed(b"9999\r", 0).replies == NAK


@given(st.lists(st.tuples(st.sampled_from([b"1010", b"2020", b"\xff"]), st.integers(0, 3000)), max_size=12))
def test_every_line_gets_one_answer(lines: list[tuple[bytes, int]]) -> None:
    decoder = DRIVER.decoder({**CARDS, "host_ack": True})
    now = 0
    for line, pause in lines:
        now += pause * 1_000_000
        assert decoder.feed(line + b"\r\n", now).replies in (ACK, NAK)


@given(
    st.lists(st.sampled_from([b"1010\r\n", b"2020\r", b"\xff\n", b"9" * 300, b"\r", b"10"]), max_size=8),
    st.lists(st.integers(0, 400), max_size=8),
)
def test_answers_do_not_depend_on_how_the_bytes_are_split(lines: list[bytes], cuts: list[int]) -> None:
    waiting = replace(SUBJECT, decoder=lambda: DRIVER.decoder({**CARDS, "host_ack": True}))
    contract.check_splits(waiting, b"".join(lines), cuts)


# --- its own beeper ----------------------------------------------------------------------------------


def test_no_beep_unless_the_maker_is_set() -> None:
    assert [DRIVER.beep(CARDS, pattern) for pattern in PATTERNS] == [b""] * len(PATTERNS)


@pytest.mark.parametrize(
    ("maker", "accept", "reject"),
    [
        ("honeywell", b"\x16\x07\r", b"\x16\x07\r\x16\x07\r"),
        ("datalogic", b"B", b"FE"),
        ("cipherlab", b"#@////\r", b"#@////\r#@////\r"),
        ("opticon", b"\x1bB\r", b"\x1bE\r"),
        ("symbol", b"\x1b[23S", b"\x1b[16S"),
    ],
)
def test_every_maker_has_a_beep_for_every_pattern(maker: str, accept: bytes, reject: bytes) -> None:
    settings = {**CARDS, "beeper": maker}
    DRIVER.check(settings)
    assert DRIVER.beep(settings, "accept") == accept
    assert DRIVER.beep(settings, "reject") == reject
    assert all(DRIVER.beep(settings, pattern) for pattern in PATTERNS)
    assert DRIVER.beep(settings, "gong") == b""


def test_a_pause_can_end_a_line() -> None:
    idle = {"idle_end": 0.2}
    items = decode((0, b"1010"), (150, b""), (500, b"2020\r"), (600, b"3130"), **idle)
    assert names(items) == ["AS", "2H", "KC"]
    assert names(decode((0, b"10"), (150, b"10"), **idle)) == ["AS"]
    assert names(decode((0, b"10"), (200, b"10"), **idle)) == ["reject", "reject"]
    # The line ended when the pause was long enough, not when somebody looked.
    decoder = DRIVER.decoder({**CARDS, **idle})
    decoder.feed(b"3130", 0)
    assert names(list(decoder.tick(10 * SECOND).items)) == ["KC"]
    assert names(list(decoder.feed(b"3130\r", 10 * SECOND).items)) == ["KC"]


def test_stub_time_is_a_setting() -> None:
    assert names(decode((0, b"10"), (2500, b"10\r"), stub_drop=3)) == ["AS"]
    assert names(decode((0, b"10"), (600, b"1010\r"), stub_drop=0.5)) == ["reject", "AS"]


def test_the_tail_of_a_line_too_long_is_no_code() -> None:
    noise = b"9" * LINE_CAP
    items = decode((0, noise + b"1010\r" + b"1010\r"))
    assert names(items) == ["reject", "reject", "AS"]
    assert b"".join(item.raw for item in items) == noise + b"1010\r1010\r"
    assert names(decode((0, noise + b"\r1010\r"))) == ["reject", "AS"]
    assert names(decode((0, noise), (5000, b"1010\r"))) == ["reject", "AS"]
    assert names(decode((0, noise * 3 + b"1010"), (5000, b"1010\r"))) == ["reject"] * 4 + ["AS"]


def test_scan_names_no_place_and_has_its_bytes() -> None:
    assert decode((0, b"1080\r\n")) == [Scan(Card.parse("8S"), Label.NONE, b"1080\r")]
    assert DRIVER.traits(CARDS) == Traits()


@pytest.mark.parametrize(
    "settings",
    [
        {"cards": "/no/such/file.toml"},
        {"cards": {"1010": "AS"}},
        {"prefix": 2},
        {"prefix": "é"},
        {"suffix": "x" * 17},
        {"suffix": "\r"},
        {"suffix": "x\r\n"},
        {"prefix": "\n"},
        {"aim": "on"},
        {"aim_allowed": "C"},
        {"aim_allowed": ["C0"]},
        {"aim_allowed": ["C"]},
        {"idle_end": 0},
        {"idle_end": True},
        {"stub_drop": 0},
        {"stub_drop": "2"},
        {"bounce_ms": -1},
        {"bounce_ms": float("nan")},
        {"host_ack": "yes"},
        {"beeper": "gong"},
        {"parity": "X"},
        {"bcc": "off"},
    ],
    ids=str,
)
def test_a_bad_setting_is_named(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        DRIVER.check({**CARDS, **settings})


def test_good_settings_and_the_one_that_must_be_there() -> None:
    DRIVER.check(
        {
            **CARDS,
            "prefix": "\x02",
            "aim": "strip",
            "aim_allowed": ["C"],
            "idle_end": "off",
            "stub_drop": 2,
            "bounce_ms": 300,
            "baud": 115200,
        }
    )
    with pytest.raises(ValueError, match="cards"):
        DRIVER.check({})


def test_encoder() -> None:
    assert Encoder(CARDS).card(Card.parse("8S")) == b"1080\r\n"
    assert Encoder(CARDS, line_end=b"\r").code(b"9999") == b"9999\r"
    assert Encoder(CARDS).card(None) == b""
    settings = {**CARDS, "prefix": "\x02", "suffix": "\x03", "aim": "strip", "aim_allowed": ["Q"]}
    line = Encoder(settings).card(Card.parse("8S"))
    assert line == b"\x02]Q01080\x03\r\n"
    assert names(decode((0, line), **settings)) == ["8S"]
