"""What a message of an Angel Eye shoe means: cards, hands, results, errors, in the table's terms.

The codes are those of :mod:`tablectl_drivers.angel_eye_wire`. Repeats are found before: each message
that comes here is a new one.
"""

from __future__ import annotations

from tablectl.cards import Card, Outcome
from tablectl.scanner import DeviceEvent, DeviceKind, ErrorKind, Item, Label, Reject, Scan
from tablectl_drivers import angel_eye_wire as wire

_HANDS = {t: label for label, t in wire.HAND_CODES.items()}
_CARDS = {
    0x80 | suit << 4 | rank: Card(rank_name, suit_name)
    for suit_name, suit in wire.SUIT_CODES.items()
    for rank_name, rank in wire.RANK_CODES.items()
}
_OUTCOMES = {0x10: Outcome.PLAYER, 0x20: Outcome.TIE, 0x40: Outcome.BANKER}
_FORCED_END = 0x70
_SIGNALS = {b"S": DeviceKind.STARTED, b"P": DeviceKind.STANDBY, b"C": DeviceKind.CUT_CARD}
_ERROR_KINDS = {
    wire.UNREAD_ERROR: ErrorKind.UNREAD,
    wire.OVERDRAW_ERROR: ErrorKind.OVERDRAW,
    wire.BUTTON_ERROR: ErrorKind.BUTTON,
}
"""All other numbers, unknown ones too, are faults: somebody must look at the shoe."""


class Meaning:
    """Of one shoe, from its start on: what it drew last, and whether it says that a card was one too many."""

    def __init__(self) -> None:
        self._last_draw = b""
        self._overdraw_error = False

    def of(self, frame: wire.Frame) -> Item:
        """The item that a message is, or why it is none."""
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
                text = f"{code.decode()} frame with wrong data {rest.hex(' ')}".rstrip()
                return Reject(raw, text, framed=True)
        return Reject(raw, f"unknown event code {code.hex()}", framed=True)

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
        return Reject(raw, f"D frame with wrong data {rest.hex(' ')}", framed=True)

    def _drawn_again(self, rest: bytes, raw: bytes) -> Item:
        # The sources disagree: one calls R a retransmission, the other an over-drawn card.
        if rest == self._last_draw and not self._overdraw_error:
            return DeviceEvent(DeviceKind.NOTICE, raw, "the shoe sent its last card once more")
        return _card(rest, Label.OVERDRAW, raw)

    def _error(self, raised: bool, byte: int, raw: bytes) -> Item:
        if not byte & 0x80:
            return Reject(raw, f"error byte {byte:02x} without bit 7", framed=True)
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
        return Reject(raw, f"no such card: {rest.hex(' ')}", framed=True)
    return Scan(_CARDS.get(c), label, raw)


def _verdict(byte: int, raw: bytes) -> Item:
    group = byte & 0x70
    if byte & 0x80 and group == _FORCED_END:
        return DeviceEvent(DeviceKind.FORCED_END, raw)
    if not byte & 0x80 or group not in _OUTCOMES:
        return Reject(raw, f"no such result: {byte:02x}", framed=True)
    return DeviceEvent(
        DeviceKind.VERDICT,
        raw,
        outcome=_OUTCOMES[group],
        player_pair=bool(byte & 1),
        banker_pair=bool(byte & 2),
    )
