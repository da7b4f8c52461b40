"""Angel Eye II-EX shoe: reads each card as it is drawn, knows the game, and says all it knows.

RS-232, usually behind a TCP serial server; listen only. Each event is sent three times with the
same sequence number, so repeats are told by number and never by equality of cards. Facts marked
uncertain by the field (check sum, wrap of the numbers, burn frames) are settings or tolerated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.cards import Card, Outcome
from tablectl.scanner import (
    Decoded,
    DeviceEvent,
    DeviceKind,
    Driver,
    ErrorKind,
    Item,
    Label,
    Link,
    Reject,
    Scan,
    Traits,
)
from tablectl_drivers import angel_eye_wire as wire
from tablectl_drivers import links, options
from tablectl_drivers.angel_eye_encoder import Encoder
from tablectl_drivers.angel_eye_numbers import AFTER_NINE, Numbers

__all__ = ["DRIVER", "AngelEyeDecoder", "Encoder"]

STUB_NS = 500 * options.MILLISECOND
"""A frame takes 25 ms on the wire: one unfinished for so long has lost its end."""

REMEMBERED = 5
"""How many accepted frames a repeat is looked for in; a number comes round after nine."""

SINGLES = 16
"""Messages that wait for their second copy, where there is no check sum."""

BURN_FRAMES = ("burn", "game", "outside")

_HANDS = {t: label for label, t in wire.HAND_CODES.items()}
_CARDS = {
    0x80 | suit << 4 | rank: Card(rank_name, suit_name)
    for suit_name, suit in wire.SUIT_CODES.items()
    for rank_name, rank in wire.RANK_CODES.items()
}
_OUTCOMES = {0x10: Outcome.PLAYER, 0x20: Outcome.TIE, 0x40: Outcome.BANKER}
_FORCED_END = 0x70
_SIGNALS = {b"S": DeviceKind.STARTED, b"P": DeviceKind.STANDBY, b"C": DeviceKind.CUT_CARD}
_START = b"S"
_ERROR_KINDS = {
    wire.UNREAD_ERROR: ErrorKind.UNREAD,
    wire.OVERDRAW_ERROR: ErrorKind.OVERDRAW,
    wire.BUTTON_ERROR: ErrorKind.BUTTON,
}
"""All other numbers, unknown ones too, are faults: somebody must look at the shoe."""


@dataclass(slots=True)
class _Remembered:
    seq: int
    payload: bytes
    last_seen: int


_OF_CARDS = (b"D", b"d", b"R")
_PLACES = {Label.P1: 0, Label.B1: 1, Label.P2: 2, Label.B2: 3}
"""How many cards of the hand lie before a card; of a third card it depends on the hand."""


class AngelEyeDecoder:
    """Bytes of an Angel Eye shoe to items; see :class:`tablectl.scanner.Decoder`.

    ``repeat_window`` in ns: a frame that equals one of the last five, number included, is a repeat if
    it comes no later than this after the copy before it; the very last one however late. ``bcc`` ``off``: a
    message counts once two copies agree, for one alone may be damaged. ``after_nine``: see
    :mod:`tablectl_drivers.angel_eye_numbers`.
    """

    def __init__(
        self,
        bcc: str = "strict",
        repeat_window: int = 1_000 * options.MILLISECOND,
        after_nine: str = "either",
    ) -> None:
        self._framer = wire.Framer(bcc)
        self._sure = bcc != "off"
        self._window = repeat_window
        self._last_byte = 0
        self._numbers = Numbers(after_nine)
        self._forget()

    def _forget(self) -> None:
        self._memory: list[_Remembered] = []
        self._single: list[tuple[wire.Frame, int]] = []
        self._last_draw = b""
        self._overdraw_error = False

    @property
    def pending(self) -> int:
        """Bytes held that have not become an item yet."""
        return len(self._framer) + sum(len(frame.raw) for frame, _ in self._single)

    def feed(self, data: bytes, now: int) -> Decoded:
        items: list[Item] = list(self.tick(now).items)
        for found in self._framer.feed(data):
            if isinstance(found, Reject):
                items.append(found)
            else:
                items.extend(self._accept(found, now))
        if data:
            self._last_byte = now
        return Decoded(tuple(items))

    def tick(self, now: int) -> Decoded:
        items: list[Item] = []
        while self._single and now > self._single[0][1] + self._window:
            items.append(self._alone())
        if len(self._framer) and now >= self._last_byte + STUB_NS and (stub := self._framer.give_up()):
            items.append(stub)
        return Decoded(tuple(items))

    def next_deadline(self) -> int | None:
        wanted = [self._last_byte + STUB_NS] if len(self._framer) else []
        wanted += [at + self._window + 1 for _, at in self._single[:1]]
        return min(wanted, default=None)

    def reset(self) -> None:
        self._framer.clear()
        self._forget()
        self._numbers.reconnected()

    def _accept(self, frame: wire.Frame, now: int) -> Iterable[Item]:
        for known in self._memory:
            if (known.seq, known.payload) != (frame.seq, frame.payload):
                continue
            if now - known.last_seen <= self._window:
                known.last_seen = now
                return
            if known is self._memory[-1] and frame.payload != _START:
                # Nothing came between: a new event would have the next number. The line, or this
                # process, stood still; a card counted twice would be worse than a late copy.
                late = (now - known.last_seen) // options.MILLISECOND
                known.last_seen = now
                yield DeviceEvent(
                    DeviceKind.NOTICE, frame.raw, f"a copy of the last event came {late} ms late"
                )
                return
        if not self._sure and not self._agreed(frame, now):
            if len(self._single) > SINGLES:
                yield self._alone()
            return
        if frame.payload == _START:
            self._forget()
        self._memory = [*self._memory[1 - REMEMBERED :], _Remembered(frame.seq, frame.payload, now)]
        item = self._meaning(frame)
        if missing := self._missing(frame, item):
            yield missing
        yield item
        if isinstance(item, Reject) and self._sure and frame.payload[:1] in _OF_CARDS:
            # The check sum is right: the shoe means a card, which nobody will tell again.
            yield DeviceEvent(DeviceKind.GAP, frame.raw, "a card was drawn; which one cannot be understood")

    def _agreed(self, frame: wire.Frame, now: int) -> bool:
        """Without a check sum: whether this is the second copy of a message."""
        for i, (first, _) in enumerate(self._single):
            if (first.seq, first.payload) == (frame.seq, frame.payload):
                del self._single[i]
                return True
        self._single.append((frame, now))
        return False

    def _alone(self) -> Reject:
        frame, _ = self._single.pop(0)
        return Reject(frame.raw, "one copy alone, and no check sum says that it is right")

    def _missing(self, frame: wire.Frame, item: Item) -> DeviceEvent | None:
        """What the number of ``frame`` says of messages that did not come."""
        if frame.payload == _START:
            self._numbers.started(frame.seq)
            return None
        place = _PLACES.get(item.label) if isinstance(item, Scan) else None
        found = self._numbers.told(frame.seq, place)
        return DeviceEvent(found[0], frame.raw, found[1]) if found else None

    # --- what the payload means ----------------------------------------------------------------

    def _meaning(self, frame: wire.Frame) -> Item:
        code, rest, raw = frame.payload[:1], frame.payload[1:], frame.raw
        match code, len(rest):
            case ((b"S" | b"P" | b"C"), 0):
                return DeviceEvent(_SIGNALS[code], raw)
            case b"D", 1 | 2:
                return self._drawn(frame, rest)
            case b"d", 2:
                return _card(rest, Label.OUTSIDE, raw)
            case b"R", 2:
                return self._drawn_again(rest, raw)
            case b"G", 1:
                return _verdict(rest[0], raw)
            case ((b"E" | b"e"), 1):
                return self._error(code == b"E", rest[0], raw)
            case b"L", 1 if rest[0] & 0x80:
                kind = DeviceKind.LOCKED if rest[0] & 1 else DeviceKind.UNLOCKED
                return DeviceEvent(kind, raw)
            case b"M", _ if rest and all(0x20 <= byte < 0x7F for byte in rest):
                return DeviceEvent(DeviceKind.SETTING, raw, rest.decode("ascii"))
            case ((b"S" | b"P" | b"C" | b"D" | b"d" | b"R" | b"G" | b"E" | b"e" | b"L" | b"M"), _):
                return Reject(raw, f"{code.decode()} frame with wrong data {rest.hex(' ')}".rstrip())
        return Reject(raw, f"unknown event code {code.hex()}")

    def _drawn(self, frame: wire.Frame, rest: bytes) -> Item:
        t, raw = rest[0], frame.raw
        group, index = t & 0xF0, t & 0x0F
        if group == wire.BURN_COUNT_T and len(rest) == 1 and 1 <= index <= 10:
            return DeviceEvent(DeviceKind.BURN_COUNT, raw, f"burn {index}", number=index)
        if len(rest) == 2 and (label := _label(t)):
            item = _card(rest, label, raw)
            if isinstance(item, Scan):
                self._last_draw = rest
            return item
        return Reject(raw, f"D frame with wrong data {rest.hex(' ')}")

    def _drawn_again(self, rest: bytes, raw: bytes) -> Item:
        # The sources disagree: one calls R a retransmission, the other an over-drawn card.
        if rest == self._last_draw and not self._overdraw_error:
            return DeviceEvent(DeviceKind.NOTICE, raw, "the shoe sent its last card once more")
        return _card(rest, Label.OVERDRAW, raw)

    def _error(self, raised: bool, byte: int, raw: bytes) -> Item:
        if not byte & 0x80:
            return Reject(raw, f"error byte {byte:02x} without bit 7")
        number = byte & 0x3F
        if number == wire.OVERDRAW_ERROR:
            self._overdraw_error = raised
        text = f"error {number}: {wire.ERRORS.get(number, 'unknown')}"
        if byte & 0x40:
            text += "; the shoe is in error mode"
        kind = DeviceKind.ERROR if raised else DeviceKind.ERROR_CLEARED
        means = _ERROR_KINDS.get(number, ErrorKind.FAULT)
        return DeviceEvent(kind, raw, text, number=number, error=means)


def _label(t: int) -> Label | None:
    """The label of a T byte of ``D`` that comes with a card; None if malformed."""
    if t & 0xF0 == wire.BURN_T and 1 <= t & 0x0F <= 10:
        return Label.BURN
    if t & 0xF0 == wire.BURN_COUNT_CARD_T:
        return Label.BURN_COUNT
    return _HANDS.get(t)


def _card(rest: bytes, label: Label, raw: bytes) -> Scan | Reject:
    # The T byte of d and R is not judged beyond bit 7: the card has left the shoe and is counted.
    t, c = rest
    if not t & 0x80 or (c != wire.UNREAD and c not in _CARDS):
        return Reject(raw, f"no such card: {rest.hex(' ')}")
    return Scan(_CARDS.get(c), label, raw)


def _verdict(byte: int, raw: bytes) -> Item:
    group = byte & 0x70
    if byte & 0x80 and group == _FORCED_END:
        return DeviceEvent(DeviceKind.FORCED_END, raw)
    if not byte & 0x80 or group not in _OUTCOMES:
        return Reject(raw, f"no such result: {byte:02x}")
    return DeviceEvent(
        DeviceKind.VERDICT,
        raw,
        outcome=_OUTCOMES[group],
        player_pair=bool(byte & 1),
        banker_pair=bool(byte & 2),
    )


# --- the driver ------------------------------------------------------------------------------------


def _make(settings: Mapping[str, Any]) -> AngelEyeDecoder:
    window = options.span(settings, "repeat_window_ms", 1000, unit=options.MILLISECOND, low=100, high=60_000)
    return AngelEyeDecoder(
        options.choice(settings, "bcc", wire.BCC_MODES),
        window,
        options.choice(settings, "after_nine", AFTER_NINE),
    )


def _open(device: str, settings: Mapping[str, Any]) -> Link:
    return links.open_link(device, settings, defaults=links.SerialDefaults(baud=4800))


def _traits(settings: Mapping[str, Any]) -> Traits:
    return Traits(
        names_positions=True,
        has_result_button=True,
        reports_cutting_card=True,
        burn_frames=options.choice(settings, "burn_frames", BURN_FRAMES),
    )


def _check(settings: Mapping[str, Any]) -> None:
    options.refuse_unknown(
        settings, ("after_nine", "bcc", "burn_frames", "repeat_window_ms"), links.LINK_KEYS
    )
    links.check_link(settings)
    _make(settings)
    _traits(settings)


DRIVER = Driver(
    name="angel-eye",
    about="Angel Eye II-EX shoe: cards by position, result button, cutting card",
    decoder=_make,
    open=_open,
    traits=_traits,
    check=_check,
    check_device=links.check_device,
    speeds=(4800, 9600),
    usb_ids=links.ADAPTERS,
)
