"""What every decoder owes: reusable checks, run by name on each driver.

A driver joins with one :class:`Subject` in :data:`SUBJECTS`; ``test_contract.py`` fails for a
registered driver that has none.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tablectl_drivers import angel_eye, barcode, bee_tek, hid_keyboard, hid_pos, rfid, zebra_ssi

from tablectl.cards import DECK, Card
from tablectl.clock import SECOND
from tablectl.scanner import Decoded, Decoder, DeviceEvent, DeviceKind, Item, Label, Reject, Scan

SUITS_CODED = {"S": 1, "H": 2, "C": 3, "D": 4}
CODES = {
    f"{SUITS_CODED[card.suit] * 1000 + ('A23456789TJQK'.index(card.rank) + 1) * 10}": str(card)
    for card in DECK
}
"""The public table, made from its rule: suit x 1000 + rank x 10."""

CARDS: dict[str, Any] = {"cards": CODES}

TAGS = {
    f"{number:02X}00{deck:02X}4D1F": str(card) for deck in range(1, 9) for number, card in enumerate(DECK, 1)
}
"""Eight decks of cards with a tag each."""

TAGGED: dict[str, Any] = {"cards": TAGS}
_BOX_OF_TAGS = rfid.Encoder(TAGGED)

BOUNCE_FREE = 400_000_000
"""ns: later than any bounce time, earlier than any time-out of half a message."""


@dataclass(frozen=True)
class Subject:
    """One protocol as the contract sees it.

    ``encoder()`` makes the device side anew: a function from a card to the bytes the device
    sends for it. ``noise_end`` is what must come between noise and a good message (nothing where
    a message shows its own begin); ``noise_unit``: noise comes in multiples of so many bytes.
    ``sent_again``: what does not become whole comes again by itself, in copies or for want of an ACK.
    """

    name: str
    decoder: Callable[[], Decoder]
    encoder: Callable[[], Callable[[Card | None], bytes]]
    label: Label = Label.NONE
    noise_end: bytes = b""
    noise_unit: int = 1
    sent_again: bool = False
    memory: int = 256
    settings: Mapping[str, Any] = field(default_factory=dict)


def _angel_eye() -> Callable[[Card | None], bytes]:
    encoder = angel_eye.Encoder()
    return lambda card: encoder.card(Label.P1, card) * 3


def _bee_tek() -> Callable[[Card | None], bytes]:
    return bee_tek.Encoder().card


def _barcode() -> Callable[[Card | None], bytes]:
    return barcode.Encoder(CARDS).card


def _rfid() -> Callable[[Card | None], bytes]:
    return copy.deepcopy(_BOX_OF_TAGS).card  # to read the table of 416 tags anew takes far longer


def _zebra_ssi() -> Callable[[Card | None], bytes]:
    return zebra_ssi.Encoder(CARDS).card


def _hid_pos() -> Callable[[Card | None], bytes]:
    return hid_pos.Encoder(CARDS).card


def _hid_keyboard() -> Callable[[Card | None], bytes]:
    return hid_keyboard.Encoder(CARDS).card


SUBJECTS = {
    subject.name: subject
    for subject in (
        Subject(
            "angel-eye",
            lambda: angel_eye.DRIVER.decoder({}),
            _angel_eye,
            label=Label.P1,
            sent_again=True,
            memory=64,
        ),
        Subject("bee-tek", lambda: bee_tek.DRIVER.decoder({}), _bee_tek, memory=128),
        Subject("barcode", lambda: barcode.DRIVER.decoder(CARDS), _barcode, noise_end=b"\r", settings=CARDS),
        Subject("rfid", lambda: rfid.DRIVER.decoder(TAGGED), _rfid, memory=64, settings=TAGGED),
        Subject(
            "zebra-ssi",
            lambda: zebra_ssi.DRIVER.decoder(CARDS),
            _zebra_ssi,
            sent_again=True,
            memory=1600,
            settings=CARDS,
        ),
        Subject(
            "hid-pos",
            lambda: hid_pos.DRIVER.decoder(CARDS),
            _hid_pos,
            noise_unit=hid_pos.REPORT,
            memory=(hid_pos.SCAN_CAP + 1) * hid_pos.REPORT,
            settings=CARDS,
        ),
        Subject(
            "hid-keyboard",
            lambda: hid_keyboard.DRIVER.decoder(CARDS),
            _hid_keyboard,
            noise_end=hid_keyboard.RELEASE + hid_keyboard.press(0x28) + hid_keyboard.RELEASE,
            noise_unit=hid_keyboard.REPORT,
            memory=5000,
            settings=CARDS,
        ),
    )
}


def feed(decoder: Decoder, data: bytes, now: int = 0) -> list[Item]:
    """The items of ``data``, arrived at once."""
    return list(decoder.feed(data, now).items)


def told_split(decoder: Decoder, data: bytes, cuts: Sequence[int], now: int = 0) -> Decoded:
    """Items and replies of ``data`` handed over in parts, cut at ``cuts``."""
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    items: list[Item] = []
    replies = b""
    for start, end in pairwise(edges):
        told = decoder.feed(data[start:end], now)
        items += told.items
        replies += told.replies
    return Decoded(tuple(items), replies)


def feed_split(decoder: Decoder, data: bytes, cuts: Sequence[int], now: int = 0) -> list[Item]:
    """The items alone."""
    return list(told_split(decoder, data, cuts, now).items)


def drain(decoder: Decoder, now: int = 0) -> list[Item]:
    """Let time pass until the decoder wants no more of it; the items that came."""
    items: list[Item] = []
    for _ in range(3):
        deadline = decoder.next_deadline()
        if deadline is None:
            return items
        items += decoder.tick(max(now, deadline)).items
    raise AssertionError("the decoder asks for ticks without end")


def scans(items: Sequence[Item]) -> list[Card | None]:
    """The cards among ``items``; None stands for an unread one."""
    return [item.card for item in items if isinstance(item, Scan)]


def check_splits(subject: Subject, data: bytes, cuts: Sequence[int]) -> None:
    """Whole, byte by byte and in parts: the same items and answers, also the items that time brings."""
    whole, single, parts = subject.decoder(), subject.decoder(), subject.decoder()
    told = whole.feed(data, 0)
    assert told_split(single, data, range(len(data))) == told
    assert told_split(parts, data, cuts) == told
    late = drain(whole)
    assert drain(single) == late
    assert drain(parts) == late


def check_all_splits(subject: Subject, data: bytes) -> None:
    """Every one of the 2^(n-1) ways to split ``data`` gives the same items."""
    right = feed(subject.decoder(), data)
    for pattern in range(1 << (len(data) - 1)):
        cuts = [i + 1 for i in range(len(data) - 1) if pattern >> i & 1]
        assert feed_split(subject.decoder(), data, cuts) == right


def check_noise_before(subject: Subject, noise: bytes, card: Card) -> None:
    """A good message behind any noise always yields its card."""
    decoder = subject.decoder()
    message = subject.encoder()(card)
    feed(decoder, noise + subject.noise_end)
    after = feed(decoder, message, BOUNCE_FREE)
    assert [(item.card, item.label) for item in after if isinstance(item, Scan)] == [(card, subject.label)]


def check_noise_between(subject: Subject, cards: Sequence[Card], noises: Sequence[bytes]) -> None:
    """No noise between good messages costs one of them."""
    decoder, encode = subject.decoder(), subject.encoder()
    found: list[Card | None] = []
    now = 0
    for card, noise in zip(cards, noises, strict=True):
        found += scans(feed(decoder, encode(card), now))
        feed(decoder, noise + subject.noise_end, now)
        now += BOUNCE_FREE
    assert found == list(cards)


def check_fuzz(subject: Subject, chunks: Sequence[bytes], pauses: Sequence[int]) -> None:
    """Any bytes at any pace: nothing raises, memory is bounded, every item is one of the three."""
    decoder = subject.decoder()
    now = 0
    for chunk, pause in zip(chunks, pauses, strict=True):
        for decoded in (decoder.feed(chunk, now), decoder.tick(now + pause)):
            check_decoded(decoded)
        assert pending(decoder) <= subject.memory
        now += pause
    drain(decoder, now)
    assert pending(decoder) == 0
    decoder.reset()
    assert decoder.next_deadline() is None


def check_decoded(decoded: Decoded) -> None:
    """Items are items; what they hold can be shown to people."""
    assert isinstance(decoded.replies, bytes)
    for item in decoded.items:
        assert isinstance(item.raw, bytes)
        match item:
            case Scan(card=card):
                assert card is None or card in DECK
                assert item.raw
            case DeviceEvent(kind=kind, text=text):
                assert kind in DeviceKind
                assert text.isprintable()
            case Reject(reason=reason, raw=raw):
                assert raw
                assert reason.isprintable()
                assert reason
            case _:
                raise AssertionError(f"{item!r} is no item")


def check_silence_keeps_nothing(subject: Subject, data: bytes) -> None:
    """Bytes left over without an end become an item by time alone, and only once."""
    decoder = subject.decoder()
    feed(decoder, data, 5 * SECOND)
    if (deadline := decoder.next_deadline()) is None:
        return
    assert deadline > 5 * SECOND
    assert decoder.tick(deadline - 1).items == ()
    check_decoded(decoder.tick(deadline))
    assert decoder.next_deadline() is None
    assert decoder.tick(deadline + SECOND).items == ()


def check_reset(subject: Subject, noise: bytes, card: Card) -> None:
    """After a reset the decoder is as good as new."""
    used = subject.decoder()
    feed(used, noise)
    used.reset()
    assert used.next_deadline() is None
    message = subject.encoder()(card)
    # That something was missed meanwhile may be told; what comes now is understood as by a new one.
    told = [
        item
        for item in feed(used, message)
        if getattr(item, "kind", None) not in (DeviceKind.GAP, DeviceKind.DOUBT)
    ]
    assert told == feed(subject.decoder(), message)


def pending(decoder: Decoder) -> int:
    """How many bytes the decoder holds; each decoder tells."""
    held = decoder.pending  # type: ignore[attr-defined]
    assert isinstance(held, int)
    return held


def damaged(subject: Subject, seed: int) -> bytes:
    """Noise that looks like the protocol: good messages with bytes lost, doubled, changed, cut."""
    rng = random.Random(seed)
    encode = subject.encoder()
    noise = bytearray()
    for _ in range(rng.randrange(1, 4)):
        message = bytearray(encode(rng.choice([*DECK, None])))
        for _ in range(rng.randrange(1, 4)):
            if not message:
                break
            at = rng.randrange(len(message))
            match rng.randrange(4):
                case 0:
                    del message[at]
                case 1:
                    message.insert(at, rng.randrange(256))
                case 2:
                    message[at] = rng.randrange(256)
                case 3:
                    del message[at:]
        noise += message
    return bytes(noise[: len(noise) - len(noise) % subject.noise_unit])
