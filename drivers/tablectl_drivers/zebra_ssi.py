"""Zebra and Symbol scanners that speak SSI: packets with check sum, acknowledged, sent again if not.

9600 8N1. The scanner sends a bar code as one packet (a long one as several, all but the last marked
as continued) and waits for an ACK; without one, or on a NAK, it sends it twice more at most, with the
retransmission bit set. So nothing is lost on the line unnoticed, and nothing counted twice: what comes
again with the bit set is no second card if it is the packet accepted last, and a card if that never came.

One thing cannot be told apart: two equal cards within the scanner's patience, the second lost on the
way and sent again. It is taken as one card and told as a bounce, so that a person may say it is two;
if something damaged came since the first, it may have been the second, and people are asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tablectl.cards import Card
from tablectl.clock import SECOND
from tablectl.scanner import Decoded, DeviceEvent, DeviceKind, Driver, Item, Link, Reject, Scan, Traits
from tablectl_drivers import links, options
from tablectl_drivers import ssi_wire as wire
from tablectl_drivers.barcode_talk import SYMBOL_BEEPS
from tablectl_drivers.code_reader import CODE_SETTINGS, CodeReader, CodeSettings, bounce, code_settings

GAP_NS = 200_000_000
"""A pause within a packet longer than this ends it: the protocol's own character time-out."""

PATIENCE_NS = 10 * SECOND
"""A packet so long after the one accepted last is not sent again for want of its ACK: the longest
response time-out a scanner can be set to is shorter. As long a continued bar code may wait for its rest."""

TEXT_CAP = 256
"""Bytes of a bar code, joined; cards have far fewer."""

RAW_CAP = 1024
"""Bytes kept of its packets."""

CODE_128 = 0x03
TYPES = {
    0x01: "Code 39", 0x02: "Codabar", 0x03: "Code 128", 0x04: "Discrete 2 of 5", 0x05: "IATA 2 of 5",
    0x06: "Interleaved 2 of 5", 0x07: "Code 93", 0x08: "UPC-A", 0x09: "UPC-E0", 0x0A: "EAN-8", 0x0B: "EAN-13",
    0x0C: "Code 11", 0x0E: "MSI", 0x0F: "GS1-128", 0x11: "PDF417", 0x15: "Trioptic Code 39",
    0x1A: "MicroPDF417", 0x1B: "Data Matrix", 0x1C: "QR Code",
}  # fmt: skip
"""Bar-code types by number; there are more."""

SENT_AGAIN = "the packet accepted last, sent again: one card"


class ZebraSsiDecoder:
    """Bytes of an SSI scanner to items and answers; see :class:`tablectl.scanner.Decoder`.

    ``types``: the bar-code types that can be cards; none: any.
    """

    def __init__(self, settings: CodeSettings, types: frozenset[int] = frozenset()) -> None:
        self._reader = CodeReader(settings)
        self._types = types
        self._framer = wire.Framer(wire.SCANNER, wire.FROM_SCANNER)
        self._last_byte = 0
        # What was accepted last outlives a lost link: the scanner may still be sending it again.
        self._last: tuple[bytes, int] | None = None
        self._last_at = 0
        self._last_first = 0  # when it may have come first, if it was read late
        self._bad_at = 0
        self._last_card: Card | None = None
        self._forget_parts()

    def _forget_parts(self) -> None:
        self._text = bytearray()
        self._raw = bytearray()
        self._fault = ""
        self._part_at = 0

    @property
    def pending(self) -> int:
        """Bytes held that have not become an item yet."""
        return len(self._framer) + len(self._raw)

    def reset(self) -> None:
        self._framer.clear()
        self._forget_parts()
        self._reader.reset()

    def feed(self, data: bytes, now: int) -> Decoded:
        late = self.tick(now)
        told = self._told(self._framer.feed(data), now, now)
        if data:
            self._last_byte = now
        return Decoded(late.items + told.items, late.replies + told.replies)

    def tick(self, now: int) -> Decoded:
        told = Decoded(())
        if len(self._framer) and now >= (over := self._last_byte + GAP_NS):
            told = self._told(self._framer.end(), over, self._last_byte)
        if self._raw and now >= self._part_at + PATIENCE_NS:
            lost = Reject(bytes(self._raw), "a bar code without its last part", lost=True)
            self._forget_parts()
            told = Decoded((*told.items, lost), told.replies)
        return told

    def late(self, since: int, now: int) -> None:
        self._reader.late(since, now)

    def next_deadline(self) -> int | None:
        deadlines = []
        if len(self._framer):
            deadlines.append(self._last_byte + GAP_NS)
        if self._raw:
            deadlines.append(self._part_at + PATIENCE_NS)
        return min(deadlines, default=None)

    def _told(self, found: Iterator[wire.Packet | wire.Damage | wire.Spoilt], now: int, came: int) -> Decoded:
        """What was ``found`` at ``now``; its last byte ``came`` then."""
        items: list[Item] = []
        replies = b""
        for one in found:
            match one:
                case wire.Spoilt():
                    self._bad_at = came
                    replies += wire.RESEND
                case wire.Damage(raw, reason):
                    self._bad_at = came
                    items.append(Reject(raw, reason))
                case wire.Packet():
                    item, reply = self._packet(one, now)
                    items += [] if item is None else [item]
                    replies += reply
        return Decoded(tuple(items), replies)

    def _packet(self, one: wire.Packet, now: int) -> tuple[Item | None, bytes]:
        """What a packet means, and the answer it wants."""
        match one.opcode:
            case wire.DECODE_DATA:
                return self._bar_code(one, now), wire.ACK
            case wire.CMD_ACK:
                return None, b""
            case wire.CMD_NAK:
                cause = one.data[:1].hex() or "none"
                return DeviceEvent(DeviceKind.NOTICE, one.raw, f"the scanner refused, cause {cause}"), b""
            case wire.BATCH_DATA:
                # Read some time, when nobody was listening: no card of this hand.
                return Reject(
                    one.raw, "bar codes the scanner had stored; switch its batch mode off"
                ), wire.ACK
            case wire.IMAGE_DATA | wire.VIDEO_DATA:
                return DeviceEvent(DeviceKind.NOTICE, one.raw, "a picture, refused"), wire.DENIED
            case _:
                text = f"message {one.opcode:02X} {one.data[:16].hex(' ')}".rstrip()
                return DeviceEvent(DeviceKind.NOTICE, one.raw, text), wire.ACK

    def _bar_code(self, one: wire.Packet, now: int) -> Item | None:
        continued = one.status & wire.CONTINUED
        had = self._last == (one.data, continued) and now - self._last_at <= PATIENCE_NS
        # Whether something came damaged since, and not just behind it: it may have been another such card.
        unsure = self._bad_at >= self._last_at and self._reader.apart(self._last_first, self._bad_at)
        self._last, self._last_at = (one.data, continued), now
        self._last_first = self._reader.earliest(now)
        if had and one.status & wire.RESENT:
            if continued or self._last_card is None:
                return DeviceEvent(DeviceKind.NOTICE, one.raw, "the packet accepted last, sent again")
            return bounce(self._last_card, one.raw, SENT_AGAIN, unsure=unsure)
        self._last_card = None
        self._raw += one.raw[: RAW_CAP - len(self._raw)]
        self._text += one.data[1:][: TEXT_CAP + 1 - len(self._text)]
        if len(self._text) > TEXT_CAP:
            self._fault = self._fault or "bar code too long"
        if not one.data:
            self._fault = self._fault or "a bar code without its type"
        elif self._types and one.data[0] not in self._types:
            kind = TYPES.get(one.data[0], "unknown")
            self._fault = self._fault or f"bar-code type {one.data[0]} ({kind}) is not allowed here"
        if continued:
            self._part_at = now
            return None
        text, raw, fault = bytes(self._text), bytes(self._raw), self._fault
        self._forget_parts()
        if fault:
            return Reject(raw, fault)
        item = self._reader.read(text, raw, now)
        self._last_card = item.card if isinstance(item, Scan | DeviceEvent) else None
        return item


# --- the device side -------------------------------------------------------------------------------


class Encoder:
    """What an emulated scanner puts on the wire, set up by the driver's own settings."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._set = code_settings(settings, lines=False)
        self._reader = CodeReader(self._set)
        self._type = min(_types(settings), default=CODE_128)

    def card(self, card: Card | None) -> bytes:
        """The packet for a card; nothing for a card the scanner cannot read: it stays silent."""
        return b"" if card is None else self.code(self._set.cards.code(card))

    def code(self, code: bytes) -> bytes:
        """The packet for any code, also one of no card."""
        return self.part(self._reader.write(code))

    def part(self, text: bytes, *, continued: bool = False) -> bytes:
        """One packet of a bar code. Raises :class:`ValueError` if it is too long."""
        status = wire.CONTINUED if continued else 0
        return wire.packet(wire.DECODE_DATA, bytes((self._type,)) + text, wire.SCANNER, status)


def resent(packet: bytes) -> bytes:
    """``packet`` as it is sent again."""
    return wire.packet(packet[1], packet[wire.HEADER : -wire.SUM], packet[2], packet[3] | wire.RESENT)


# --- the driver ------------------------------------------------------------------------------------


def _types(settings: Mapping[str, Any]) -> frozenset[int]:
    types = settings.get("types", [])
    if not isinstance(types, list | tuple) or not all(type(one) is int and 0 <= one <= 255 for one in types):
        named = ", ".join(f"{number} {name}" for number, name in TYPES.items())
        raise ValueError(f"types: {types!r} is not a list of bar-code types; some are {named}")
    return frozenset(types)


def _make(settings: Mapping[str, Any]) -> ZebraSsiDecoder:
    return ZebraSsiDecoder(code_settings(settings, lines=False), _types(settings))


def _open(device: str, settings: Mapping[str, Any]) -> Link:
    return links.open_link(device, settings, defaults=links.SerialDefaults(baud=9600))


def _traits(settings: Mapping[str, Any]) -> Traits:
    return Traits()


def _check(settings: Mapping[str, Any]) -> None:
    options.refuse_unknown(settings, CODE_SETTINGS, ("types",), links.LINK_KEYS)
    links.check_link(settings)
    _make(settings)


def _beep(settings: Mapping[str, Any], pattern: str) -> bytes:
    number = SYMBOL_BEEPS.get(pattern)
    return b"" if number is None else wire.packet(wire.BEEP, bytes((number,)))


DRIVER = Driver(
    name="zebra-ssi",
    about="Zebra or Symbol scanner that speaks SSI, with the house's card table",
    decoder=_make,
    open=_open,
    traits=_traits,
    check=_check,
    check_device=links.check_device,
    paths=("cards",),
    speeds=(9600, 115200, 19200, 38400, 57600),
    usb_ids=(*links.ADAPTERS, "05e0:*"),
    beep=_beep,
)
