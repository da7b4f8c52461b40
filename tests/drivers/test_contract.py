"""The contract every decoder owes, on every registered driver by name and on those to come."""

from __future__ import annotations

import os
from importlib.metadata import entry_points
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tablectl.cards import DECK, Card
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, Driver, Reject, Scan, ToldLate, Traits
from tests.drivers import contract
from tests.drivers.contract import SUBJECTS, Subject

COUNT = 5000 if os.environ.get("TABLECTL_SOAK") else 30

pytestmark = pytest.mark.soak

each = pytest.mark.parametrize("name", sorted(SUBJECTS))
counted = settings(
    max_examples=COUNT, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
cards = st.sampled_from(DECK)
seeds = st.integers(0, 2**32)
cuts = st.lists(st.integers(0, 400), max_size=12)


def registered() -> list[tuple[str, Driver]]:
    found = []
    for point in entry_points(group="tablectl.drivers"):
        module, _, attribute = point.value.partition(":")
        if module.startswith("tablectl_drivers."):
            assert attribute == "DRIVER"
            found.append((point.name, point.load()))
    return sorted(found)


def noise_for(subject: Subject, data: st.DataObject) -> bytes:
    """Arbitrary bytes, or damaged messages of the protocol itself."""
    if data.draw(st.booleans()):
        return contract.damaged(subject, data.draw(seeds))
    noise = data.draw(st.binary(max_size=200))
    return noise[: len(noise) - len(noise) % subject.noise_unit]


def test_every_registered_driver_has_a_subject() -> None:
    names = [name for name, _ in registered()]
    assert {"angel-eye", "bee-tek"} <= set(names)
    assert set(names) <= set(SUBJECTS)


@pytest.mark.parametrize(("name", "driver"), registered(), ids=lambda value: getattr(value, "name", value))
def test_the_driver_object_keeps_its_promises(name: str, driver: Driver) -> None:
    subject = SUBJECTS[name]
    assert driver.name == name
    assert driver.about
    driver.check(subject.settings)
    assert isinstance(driver.traits(subject.settings), Traits)
    for key, value in (("bauds", 9600), ("baud", "fast"), ("driver", name)):
        with pytest.raises(ValueError, match=key):
            driver.check({**subject.settings, key: value})
    one, other = (driver.decoder(subject.settings) for _ in range(2))
    assert one is not other
    assert contract.scans(contract.feed(one, subject.encoder()(DECK[7]))) == [DECK[7]]


@each
@given(deck=st.lists(cards | st.none(), max_size=6), split=cuts)
@counted
def test_good_messages_are_the_same_however_split(
    name: str, deck: list[Card | None], split: list[int]
) -> None:
    encode = SUBJECTS[name].encoder()
    contract.check_splits(SUBJECTS[name], b"".join(map(encode, deck)), split)


@each
@given(data=st.data(), split=cuts)
@counted
def test_any_bytes_are_the_same_however_split(name: str, data: st.DataObject, split: list[int]) -> None:
    subject = SUBJECTS[name]
    contract.check_splits(subject, noise_for(subject, data) + data.draw(st.binary(max_size=60)), split)


@each
@given(data=st.data(), card=cards)
@counted
def test_noise_never_costs_the_good_message_after_it(name: str, data: st.DataObject, card: Card) -> None:
    subject = SUBJECTS[name]
    noise = noise_for(subject, data)
    message = subject.encoder()(card)
    # A copy of the very message is no noise: where messages have numbers, it is that message.
    assume(message[: len(message) // 3] not in noise)
    contract.check_noise_before(subject, noise, card)


@each
@given(card=cards, cut=st.integers(1, 200))
@counted
def test_a_message_cut_short_is_told_as_lost_and_never_a_card(name: str, card: Card, cut: int) -> None:
    subject = SUBJECTS[name]
    decoder, message = subject.decoder(), subject.encoder()(card)
    part = message[: min(cut, len(message) - 1)]
    items = contract.feed(decoder, part) + contract.drain(decoder)
    if contract.scans(items):
        assert contract.scans(items) == [card], "only what ends a line was missing"
    else:
        rejects = [item for item in items if isinstance(item, Reject)]
        assert items == rejects and b"".join(item.raw for item in rejects) == part
        assert subject.sent_again or any(item.lost for item in rejects)


@each
@given(data=st.data(), deck=st.lists(cards, min_size=1, max_size=4))
@counted
def test_noise_between_and_behind_costs_nothing(name: str, data: st.DataObject, deck: list[Card]) -> None:
    subject = SUBJECTS[name]
    noises = [data.draw(st.binary(max_size=40)) for _ in deck]
    noises = [noise[: len(noise) - len(noise) % subject.noise_unit] for noise in noises]
    contract.check_noise_between(subject, deck, noises)


@each
@given(
    chunks=st.lists(st.binary(max_size=300), max_size=12),
    pauses=st.lists(st.integers(0, 3_000_000_000), min_size=12, max_size=12),
)
@counted
def test_arbitrary_bytes_do_no_harm(name: str, chunks: list[bytes], pauses: list[int]) -> None:
    contract.check_fuzz(SUBJECTS[name], chunks, pauses[: len(chunks)])


@each
@given(seed=seeds)
@counted
def test_damaged_messages_do_no_harm(name: str, seed: int) -> None:
    subject = SUBJECTS[name]
    contract.check_fuzz(subject, [contract.damaged(subject, seed)], [10_000_000])


@each
@given(data=st.data())
@counted
def test_silence_keeps_nothing_half_read(name: str, data: st.DataObject) -> None:
    subject = SUBJECTS[name]
    contract.check_silence_keeps_nothing(subject, noise_for(subject, data))


@each
@given(noise=st.binary(max_size=80), card=cards)
@counted
def test_reset_forgets_everything(name: str, noise: bytes, card: Card) -> None:
    subject = SUBJECTS[name]
    contract.check_reset(subject, noise + subject.encoder()(card)[:-1], card)


@each
def test_every_card_round_trips_through_the_encoder(name: str) -> None:
    subject = SUBJECTS[name]
    decoder, encode = subject.decoder(), subject.encoder()
    items: list[Any] = []
    for i, card in enumerate(DECK):
        items += contract.feed(decoder, encode(card), i * contract.BOUNCE_FREE)
    assert [item.card for item in items if isinstance(item, Scan)] == list(DECK)
    assert len(items) == len(DECK)
    assert all(item.label == subject.label for item in items)


@each
def test_an_endless_line_stays_within_memory(name: str) -> None:
    subject = SUBJECTS[name]
    decoder = subject.decoder()
    message = subject.encoder()(DECK[0])
    for byte in (0x00, 0x05, 0x31, 0x5B, 0x3C, 0x1E, 0xFF):
        decoder.feed(message[: len(message) // 6] + bytes((byte,)) * 20_000, 0)
        assert contract.pending(decoder) <= subject.memory


BOUNCE = 300_000_000
"""ns: the bounce time of those drivers that have one."""


@each
@given(card=cards, split=cuts, apart=st.sampled_from((0, 1_000_000, 15_000_000)))
@counted
def test_two_equal_cards_at_once_are_two_or_people_are_asked(
    name: str, card: Card, split: list[int], apart: int
) -> None:
    """A line that was held up delivers them so: that they are equal is no reason to drop one in silence."""
    decoder, encode = SUBJECTS[name].decoder(), SUBJECTS[name].encoder()
    items = contract.feed(decoder, encode(card)) + contract.feed_split(decoder, encode(card), split, apart)
    assert told_as_two(items, card)


@each
@given(card=cards, since=st.integers(0, 5 * SECOND), first_too=st.booleans())
@counted
def test_of_two_equal_cards_a_late_one_is_judged_by_what_is_known(
    name: str, card: Card, since: int, first_too: bool
) -> None:
    """The process stood still: the second may have come at any time from ``since`` on; with it the first."""
    decoder, encode = SUBJECTS[name].decoder(), SUBJECTS[name].encoder()
    now = 5 * SECOND
    if first_too and isinstance(decoder, ToldLate):
        decoder.late(since, now)
    items = contract.feed(decoder, encode(card), now if first_too else 0)
    if isinstance(decoder, ToldLate) and not first_too:
        decoder.late(since, now)
    items += contract.feed(decoder, encode(card), now)
    if first_too or since < BOUNCE:
        assert told_as_two(items, card)
    else:
        assert contract.scans(items) == [card] * 2, "too long after it to be the same reading"
    if isinstance(decoder, ToldLate) and (first_too or since < BOUNCE):
        assert contract.scans(items) == [card], "neither is one invented: people are asked"


@each
def test_late_or_not_another_card_is_a_card(name: str) -> None:
    decoder, encode = SUBJECTS[name].decoder(), SUBJECTS[name].encoder()
    if isinstance(decoder, ToldLate):
        decoder.late(0, 5 * SECOND)
    data = b"".join(map(encode, DECK[:4]))
    assert contract.scans(contract.feed(decoder, data, 5 * SECOND)) == list(DECK[:4])


def told_as_two(items: list[Any], card: Card) -> bool:
    """Whether both are cards, or the second is one that people are asked about."""
    asked = [item for item in items if isinstance(item, DeviceEvent) and item.unsure and item.card == card]
    return len(contract.scans(items)) + len(asked) == 2 and contract.scans(items)[0] == card
