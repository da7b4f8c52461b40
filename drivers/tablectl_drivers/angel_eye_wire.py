"""Finding whole frames in the byte stream of an Angel Eye shoe, and the codes both ends share.

A frame is ``05 | SEQ digit | DATA | 03 | BCC``, the BCC two upper-case hex digits of an XOR. DATA
has bit 7 set or is printable ASCII, so 05 stands nowhere but at a frame's start: whatever was
being read when a 05 comes, a new frame begins there, and damage never costs the frame after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import xor

from tablectl.cards import Card
from tablectl.scanner import Label, Reject

ENQ = 0x05
ETX = 0x03

BCC_MODES = ("strict", "including-enq", "off")
"""Where the check sum starts: at SEQ, at the 05, or that it is not looked at."""

FRAME_CAP = 64
"""Bytes. The longest known frame has 12; more without an end is no frame."""

UNREAD = 0x80
"""The card byte of a card which the shoe could not read."""

SUIT_CODES = {"D": 1, "C": 2, "S": 3, "H": 4}
RANK_CODES = {rank: i for i, rank in enumerate("A23456789TJQK", start=1)}

HAND_CODES = {
    Label.P1: 0x81,
    Label.P2: 0x82,
    Label.P3: 0x83,
    Label.B1: 0x91,
    Label.B2: 0x92,
    Label.B3: 0x93,
}
"""The T byte of a card drawn to a hand: bits 6-4 the hand, low nibble the card's place in it."""

BURN_T = 0xA0
BURN_COUNT_CARD_T = 0xC0
BURN_COUNT_T = 0xD0

UNREAD_ERROR = 1
OVERDRAW_ERROR = 2
BUTTON_ERROR = 3
ERRORS = {
    UNREAD_ERROR: "cannot read card",
    OVERDRAW_ERROR: "overdraw",
    BUTTON_ERROR: "wrong button",
    4: "reverse run at exit",
    5: "reverse run midway",
    6: "wrong deck code",
    7: "draw time-out",
}


def card_byte(card: Card | None) -> int:
    """The C byte: ``1sss rrrr``; 80 for an unread card."""
    return UNREAD if card is None else 0x80 | SUIT_CODES[card.suit] << 4 | RANK_CODES[card.rank]


def block_check(seq_to_etx: bytes, mode: str) -> bytes:
    """The two BCC digits of the bytes from SEQ to 03 inclusive."""
    return b"%02X" % reduce(xor, seq_to_etx, ENQ if mode == "including-enq" else 0)


def encode_frame(seq: int, payload: bytes, mode: str) -> bytes:
    """One whole frame. ``seq`` is 0 to 9; in mode ``off`` the shoe still sends the usual BCC."""
    body = b"%d" % seq + payload + bytes((ETX,))
    return bytes((ENQ,)) + body + block_check(body, mode)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame whose shape and check sum are right: ``payload`` is DATA."""

    seq: int
    payload: bytes
    raw: bytes


class Framer:
    """Cuts a stream into frames and rejects. Pure; holds at most :data:`FRAME_CAP` bytes."""

    def __init__(self, bcc: str = "strict") -> None:
        self._bcc = bcc
        self._buffer = bytearray()

    def __len__(self) -> int:
        return len(self._buffer)

    def clear(self) -> None:
        """Forget what is half read."""
        self._buffer.clear()

    def give_up(self) -> Reject | None:
        """No more bytes are coming: what is half read is a reject, or None if there is nothing."""
        if not self._buffer:
            return None
        reason = "frame cut short" if self._buffer[0] == ENQ else "bytes outside a frame"
        return Reject(self._take(), reason)

    def feed(self, data: bytes) -> Iterator[Frame | Reject]:
        """The frames and rejects that become complete with ``data``."""
        buffer = self._buffer
        for byte in data:
            if byte == ENQ and (stub := self.give_up()):
                yield stub
            buffer.append(byte)
            if buffer[0] == ENQ and len(buffer) >= 4 and buffer[-3] == ETX:
                yield self._judge(self._take())
            elif len(buffer) == FRAME_CAP:
                reason = "frame without an end" if buffer[0] == ENQ else "bytes outside a frame"
                yield Reject(self._take(), reason)

    def _take(self) -> bytes:
        raw = bytes(self._buffer)
        self._buffer.clear()
        return raw

    def _judge(self, raw: bytes) -> Frame | Reject:
        body, bcc = raw[1:-2], raw[-2:]
        # The check sum first: with a wrong one nothing else in the frame is worth naming.
        if self._bcc != "off" and bcc != (right := block_check(body, self._bcc)):
            return Reject(raw, f"check sum is {bcc!r}, should be {right!r}")
        if not body[:1].isdigit():
            return Reject(raw, "sequence number is not a digit")
        if len(body) < 3:
            return Reject(raw, "frame without data")
        return Frame(body[0] - 0x30, body[1:-1], raw)
