"""RFID readers (RDM6300 and its like): each playing card has a tag, each tag a number of its own.

9600 8N1, listen only. A frame is ``02``, ten hex digits (the UID), two hex digits (their XOR), ``03``,
said again every 50 ms as long as the tag lies in the field.

A UID is one physical card, so unlike a bar code it cannot be dealt twice in one shoe. The decoder knows
no shoes; it knows when it saw each UID last:

* less than ``bounce_ms`` ago: the tag still lies there, the frame says nothing new (however long it lies,
  and whatever other tag was read in between);
* less than ``again_minutes`` ago: that physical card came to the reader again. It is told, with its card.
  A pack is not shuffled in this time, so it should be no card of the next shoe;
* longer ago: a card. It may be dealt again after a shuffle.

Which shoe it is in, and whether it is being scanned again or counted, only the table knows. So the UID goes
with either, as the card's ``tag``, and the table decides: :mod:`tablectl.table.again`. The memory outlives a
lost link, for a card which lay in the field is the same card when the cable is back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.cards import Card
from tablectl.clock import SECOND
from tablectl.scanner import Decoded, DeviceEvent, DeviceKind, Driver, Item, Label, Link, Reject, Scan, Traits
from tablectl_drivers import links, options
from tablectl_drivers.card_codes import CardTable, load_cards

FRAME = 14
"""Bytes of a frame."""

NOISE_CAP = 64
"""Bytes outside frames told together at most."""

STUB_NS = SECOND
"""A frame unfinished for so long is given up; a whole one takes 15 ms."""

REPEAT_SECONDS = 0.05

_UID = re.compile(r"[0-9A-F]{10}")
_UID_WORDS = "an RFID code is ten hex digits 0-9 A-F, as the reader sends them"
_BODY = re.compile(rb"\x02([0-9A-Fa-f]{10})([0-9A-Fa-f]{2})\x03")
_BEGIN, _END = 0x02, 0x03
_BLANK = b"\r\n\0"

AGAIN = "a card seen before came to the reader again: it is in the shoe only once"
"""What it is told as; which card it is stands apart, for it may still lie face down."""


@dataclass(frozen=True, slots=True)
class RfidSettings:
    """Times in ns."""

    cards: CardTable
    bounce: int = 300 * options.MILLISECOND
    again: int = 600 * SECOND


def rfid_settings(settings: Mapping[str, Any]) -> RfidSettings:
    """Read a driver's settings. Raises :class:`ValueError` naming the key that is wrong."""
    if "cards" not in settings:
        raise ValueError("cards: give the path of the decks' UID table, or a table of UID = card")
    return RfidSettings(
        load_cards(settings["cards"], _UID, _UID_WORDS),
        options.span(settings, "bounce_ms", 300, unit=options.MILLISECOND, low=0, high=60_000),
        options.span(settings, "again_minutes", 10, unit=60 * SECOND, low=0, high=240),
    )


def check_sum(uid: bytes) -> bytes:
    """The two hex digits after ``uid``: the XOR of its five bytes."""
    total = 0
    for byte in bytes.fromhex(uid.decode("ascii")):
        total ^= byte
    return b"%02X" % total


class RfidDecoder:
    """Bytes of a reader to items; see :class:`tablectl.scanner.Decoder`.

    ``02`` begins anew whatever was being read, so damage never costs the frame after it.
    """

    def __init__(self, settings: RfidSettings) -> None:
        self._set = settings
        self._buffer = bytearray()
        self._last_byte = 0
        self._seen: dict[bytes, int] = {}  # UID of the table -> when it was in the field last

    @property
    def pending(self) -> int:
        """Bytes held that have not become an item yet."""
        return len(self._buffer)

    def reset(self) -> None:
        self._buffer.clear()

    def feed(self, data: bytes, now: int) -> Decoded:
        items = list(self.tick(now).items)
        for byte in data:
            items.extend(self._take(byte, now))
        if data:
            self._last_byte = now
        return Decoded(tuple(items))

    def tick(self, now: int) -> Decoded:
        deadline = self.next_deadline()
        if deadline is None or now < deadline:
            return Decoded(())
        # No repeat came behind it, so the tag was gone by then.
        return Decoded(tuple(self._end_run(lost=self._buffer[0] == _BEGIN)))

    def next_deadline(self) -> int | None:
        return self._last_byte + STUB_NS if self._buffer else None

    def _take(self, byte: int, now: int) -> Iterator[Item]:
        buffer = self._buffer
        if byte == _BEGIN:
            yield from self._end_run()
        elif not buffer and byte in _BLANK:
            return  # some readers end the line behind each frame
        buffer.append(byte)
        if buffer[0] != _BEGIN:
            if len(buffer) == NOISE_CAP:
                yield from self._end_run()
        elif byte == _END or len(buffer) == FRAME:
            frame = bytes(buffer)
            buffer.clear()
            yield from self._frame(frame, now)

    def _end_run(self, *, lost: bool = False) -> Iterator[Reject]:
        raw = bytes(self._buffer)
        self._buffer.clear()
        if raw:
            reason = "frame cut short" if raw[0] == _BEGIN else "bytes outside a frame"
            yield Reject(raw, reason, lost=lost)

    def _frame(self, frame: bytes, now: int) -> Iterator[Item]:
        body = _BODY.fullmatch(frame)
        if body is None:
            yield Reject(
                frame, "frame cut short" if len(frame) < FRAME else "no ten hex digits and check sum"
            )
            return
        uid = body[1].upper()
        if check_sum(uid) != body[2].upper():
            yield Reject(frame, "check sum does not fit")
        elif (card := self._set.cards[uid]) is None:
            yield Reject(frame, "tag of no card", framed=True, code=uid)
        elif item := self._card(uid, card, frame, now):
            yield item

    def _card(self, uid: bytes, card: Card, frame: bytes, now: int) -> Item | None:
        seen = self._seen.get(uid)
        self._seen[uid] = now
        if seen is not None and now - seen < self._set.bounce:
            return None
        if seen is not None and now - seen < self._set.again:
            return DeviceEvent(DeviceKind.BOUNCE, frame, AGAIN, card=card, tag=uid.decode("ascii"))
        return Scan(card, Label.NONE, frame, uid.decode("ascii"))


# --- the device side -------------------------------------------------------------------------------


class Encoder:
    """What an emulated reader puts on the wire for cards of real decks, each with a tag of its own.

    The cards of one name are dealt in turn, so that a UID comes again as late as it can.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._cards = rfid_settings(settings).cards
        self._dealt: dict[Card, int] = {}
        self._left: dict[Card, int] = {}

    def tags(self, card: Card) -> int:
        """How many of ``card`` these decks have."""
        return len(self._cards.codes(card))

    def shuffle(self) -> None:
        """All cards are in the shoe again."""
        self._left = {}

    def deal(self, card: Card) -> bytes:
        """The UID of the next ``card`` out of the shoe. Raises :class:`ValueError`: all of them are out."""
        uids = self._cards.codes(card)
        left = self._left.get(card, len(uids))
        if not left:
            raise ValueError(f"all {len(uids)} {card} of these decks are out of the shoe")
        self._left[card] = left - 1
        self._dealt[card] = at = self._dealt.get(card, -1) + 1
        return uids[at % len(uids)]

    def card(self, card: Card | None) -> bytes:
        """One frame of the next such card; nothing for a card whose tag is dead."""
        return b"" if card is None else self.frame(self.deal(card))

    @staticmethod
    def frame(uid: bytes) -> bytes:
        """The frame of a tag, ten hex digits."""
        return b"\x02" + uid + check_sum(uid) + b"\x03"


# --- the driver ------------------------------------------------------------------------------------


def _make(settings: Mapping[str, Any]) -> RfidDecoder:
    return RfidDecoder(rfid_settings(settings))


def _open(device: str, settings: Mapping[str, Any]) -> Link:
    return links.open_link(device, settings, defaults=links.SerialDefaults(baud=9600))


def _traits(settings: Mapping[str, Any]) -> Traits:
    return Traits()


def _check(settings: Mapping[str, Any]) -> None:
    options.refuse_unknown(settings, ("cards", "bounce_ms", "again_minutes"), links.LINK_KEYS)
    links.check_link(settings)
    rfid_settings(settings)


DRIVER = Driver(
    name="rfid",
    about="RFID reader (RDM6300) with the table of the decks' tags",
    decoder=_make,
    open=_open,
    traits=_traits,
    check=_check,
    check_device=links.check_device,
    paths=("cards",),
    speeds=(9600,),
    usb_ids=links.ADAPTERS,
)
