"""What the bytes may look like: wire facts, section 9, items 9 to 11, on every driver there is."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pytest
from tablectl_drivers import angel_eye, bee_tek, zebra_ssi

from tablectl.cards import DECK, Card
from tablectl.scanner import Arrived, DeviceEvent, DeviceKind, Label, Scan
from tests.drivers import contract
from tests.drivers.contract import SUBJECTS, Subject
from tests.field.shared import BEE, quick
from tests.ptys import Pty

each = pytest.mark.parametrize("name", sorted(SUBJECTS))

MS = 1_000_000
KING = Card.parse("KC")
AT_ONCE = 9
"""Bytes of which every split is tried at once: 256 of them."""


# --- 9: split and glued anywhere ---


def all_splits(subject: Subject, data: bytes) -> None:
    """Every split of nine neighbouring bytes at up to six places, the bytes around them whole."""
    right = contract.feed(subject.decoder(), data)
    for start in range(0, max(1, len(data) - AT_ONCE), max(AT_ONCE // 2, len(data) // 6)):
        for pattern in range(1 << (AT_ONCE - 1)):
            inner = [start + i + 1 for i in range(AT_ONCE - 1) if pattern >> i & 1]
            cuts = [cut for cut in (start, *inner, start + AT_ONCE) if cut < len(data)]
            assert contract.feed_split(subject.decoder(), data, cuts) == right, cuts


@each
def test_9_09_every_split_of_a_byte_string_gives_the_same_scans(name: str) -> None:
    subject = SUBJECTS[name]
    encode = subject.encoder()
    data = encode(KING) + encode(DECK[0])
    assert contract.scans(contract.feed(subject.decoder(), data)) == [KING, DECK[0]]
    all_splits(subject, data)
    contract.check_splits(subject, data, [1])  # and byte by byte


def test_9_09_nobody_waits_for_the_rest_of_a_line(pty: Pty) -> None:
    """A half is never handed over, however long the other half takes; nor is it waited for."""
    rig = quick(bee_tek.DRIVER, str(pty.link)).started()
    pty.say(BEE[:9])
    rig.none_for(0.1)
    pty.say(BEE[9:] + BEE[:3])
    card = rig.next()
    assert isinstance(card, Arrived) and isinstance(card.item, Scan)
    assert rig.stop() == []


# --- 10: the same card twice in a row ---


@each
def test_9_10_a_shuffled_eight_deck_shoe_loses_no_twin(name: str) -> None:
    """Of 415 neighbours seven are expected to be of one face: 1.69 %."""
    subject = SUBJECTS[name]
    decoder, encode = subject.decoder(), subject.encoder()
    shoe = [*DECK] * 8
    random.Random(name).shuffle(shoe)
    assert any(one == other for one, other in pairwise(shoe))
    read: list[Card | None] = []
    for i, card in enumerate(shoe):
        read += contract.scans(contract.feed(decoder, encode(card), i * contract.BOUNCE_FREE))
    assert read == shoe


@dataclass(frozen=True)
class Twice:
    """The same card at so many ms each, as this device tells it; ``copies`` are one card, ``twins`` two."""

    copies: Sequence[tuple[int, bytes]]
    twins: Sequence[tuple[int, bytes]]


def by_number() -> Twice:
    """A sequence number: copies have the same one, however close the next card follows."""
    encoder = angel_eye.Encoder()
    first, second = (encoder.card(Label.P1, KING) for _ in range(2))
    return Twice([(0, first), (50, first), (100, first), (900, first)], [(0, first), (5, second)])


def by_line() -> Twice:
    """Each line is a card: this shoe never says one twice."""
    line = bee_tek.Encoder().card(KING)
    return Twice([(0, line)], [(0, line), (0, line)])


def by_tag() -> Twice:
    """Every card has a tag of its own, said again and again while it lies there."""
    encode = SUBJECTS["rfid"].encoder()
    first, second = encode(KING), encode(KING)
    return Twice([(at, first) for at in range(0, 1000, 50)], [(0, first), (50, second)])


def by_mark() -> Twice:
    """A packet that is sent again says so."""
    packet = SUBJECTS["zebra-ssi"].encoder()(KING)
    again = zebra_ssi.resent(packet)
    return Twice([(0, packet), (500, again), (1000, again)], [(0, packet), (900, packet)])


def by_gap(name: str) -> Twice:
    """Nothing but the gap tells a card read twice from two."""
    code = SUBJECTS[name].encoder()(KING)
    return Twice([(0, code), (30, code)], [(0, code), (900, code)])


TWICE: dict[str, Callable[[], Twice]] = {
    "angel-eye": by_number,
    "bee-tek": by_line,
    "barcode": lambda: by_gap("barcode"),
    "hid-keyboard": lambda: by_gap("hid-keyboard"),
    "hid-pos": lambda: by_gap("hid-pos"),
    "rfid": by_tag,
    "zebra-ssi": by_mark,
}


def test_9_10_every_driver_says_how_it_tells_twins_from_copies() -> None:
    assert set(TWICE) == set(SUBJECTS)


@pytest.mark.parametrize("name", sorted(TWICE))
def test_9_10_copies_are_one_card_and_twins_two_by_each_drivers_own_means(name: str) -> None:
    for story, cards in ((TWICE[name]().copies, 1), (TWICE[name]().twins, 2)):
        decoder = SUBJECTS[name].decoder()
        read = [card for at, data in story for card in contract.scans(contract.feed(decoder, data, at * MS))]
        assert read == [KING] * cards


# --- 11: one bad byte ---


@each
def test_9_11_one_bad_byte_kills_nobody_and_costs_no_later_card(name: str) -> None:
    """Bytes of every kind at places all over a message: a card or a reject, and the next card is read."""
    subject = SUBJECTS[name]
    message = subject.encoder()(KING)
    for value in range(0, 256, 15):
        for place in range(0, len(message), max(1, len(message) // 12)):
            decoder, encode = subject.decoder(), subject.encoder()
            bad = bytearray(encode(KING))
            bad[place] = value
            contract.check_decoded(decoder.feed(bytes(bad) + subject.noise_end, 0))
            later = contract.scans(contract.feed(decoder, encode(DECK[0]), 3 * contract.BOUNCE_FREE))
            assert later[-1:] == [DECK[0]], (value, place)


def test_9_11_fifty_bad_lines_say_check_baud_rate_and_cable(pty: Pty) -> None:
    rig = quick(bee_tek.DRIVER, str(pty.link)).started()
    pty.say(b"[\xff\xfe\x80]<\xc3(>\r\n" * 50)
    items = [rig.next() for _ in range(51)]
    told = [one.item for one in items if isinstance(one, Arrived) and isinstance(one.item, DeviceEvent)]
    assert [(one.kind, one.text) for one in told] == [
        (DeviceKind.NOTICE, "50 unreadable lines in 10 s: check baud rate and cable")
    ]
    pty.say(BEE)
    card = rig.next()
    assert isinstance(card, Arrived) and isinstance(card.item, Scan), "and it reads on"
    assert rig.stop() == []
