"""Bee-Tek shoe: streams the cards it sees as text lines; the controller maps order to hands.

9600 8N1, listen only, no check sum and no sequence number: two equal cards in a row are two
cards, always. A frame is ``[mode]<body>``; a warning is ``<body>`` alone. ``[`` or ``<`` begins
anew whatever was being read, so damage never costs the frame after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tablectl.cards import DECK, Card
from tablectl.clock import SECOND
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
from tablectl_drivers import links, options

GAME = "Game"
MANUAL_BURN = "Manual Burn Cards"
"""The mode integrators use, in which the shoe does nothing but stream cards. Not a burn."""
MODES = (GAME, MANUAL_BURN)

FRAME_CAP = 128
"""Bytes; the longest known frame has about 45."""

TRAIL_CAP = 8
"""Bytes after a frame that are passed over, blanks around them apart: in Game mode the shoe
repeats the card's two characters there, before or after the line end."""

STUB_NS = 2 * SECOND
"""A frame unfinished for so long is given up."""

SAME_CARD_NS = SECOND
"""An unread card and the alarm E3 no further apart than this are one card."""

_BLANK = b" \t\r\n\0"
_MODE_NAMES = tuple(mode.encode() for mode in MODES)
_ALARM_MODES = (*_MODE_NAMES, b"GameAlarm")
_ALARM = re.compile(rb"Alarm:([\x20-\x7e]+)")
_ALARM_NUMBER = re.compile(r"E(\d{1,3})(?!\d)")
_CARD_NOT_READ = 3
_WARNING = re.compile(rb"W0x([0-9A-Fa-f]{2})")
_WHOLE_MODE = re.compile(rb"\[[^\]]*\][ \t]*")
_FRAME = re.compile(rb"(?:\[([^\]]*)\][ \t]*)?<([^>]*)>")


def _spellings(card: Card) -> Iterator[bytes]:
    for rank in (card.rank, "10") if card.rank == "T" else (card.rank,):
        yield f"{rank}{card.suit}".encode()
        yield f"{card.suit}{rank}".encode()


_CARDS = {b"Card:" + text: card for card in DECK for text in _spellings(card)}


class BeeTekDecoder:
    """Bytes of a Bee-Tek shoe to items; see :class:`tablectl.scanner.Decoder`."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._last_byte = 0
        self.reset()

    def reset(self) -> None:
        self._buffer.clear()
        self._card: Card | None = None
        self._after_frame = False  # whether the bytes outside may be the repeated characters
        self._unread_at: int | None = None  # when a card was last said to be unread
        self._awaits_frame = False  # the alarm came first, the unread frame may follow

    @property
    def pending(self) -> int:
        """Bytes held that have not become an item yet."""
        return len(self._buffer)

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
        return Decoded(tuple(self._end_run("line cut short")))

    def next_deadline(self) -> int | None:
        return self._last_byte + STUB_NS if self._buffer else None

    # --- framing ---------------------------------------------------------------------------------

    def _take(self, byte: int, now: int) -> Iterator[Item]:
        buffer = self._buffer
        in_frame = buffer.startswith((b"[", b"<"))
        char = bytes((byte,))
        if char == b"[" or (char == b"<" and not self._mode_is_whole()):
            yield from self._end_run("frame cut short")
        elif not in_frame and char in _BLANK and not buffer:
            return  # blanks before a frame vary
        elif in_frame and char in b"\r\n":
            yield from self._end_run("line ends within a frame")
            return
        buffer.append(byte)
        # A copy: a match looks into what it was made from, and the buffer goes on changing.
        if char == b">" and (frame := _FRAME.fullmatch(bytes(buffer))):
            buffer.clear()
            self._after_frame = True
            yield self._meaning(frame[1], frame[2], frame[0], now)
        elif len(buffer) == FRAME_CAP:
            yield from self._end_run("frame without an end")

    def _mode_is_whole(self) -> bool:
        """Whether the buffer holds ``[mode]`` and blanks, so that ``<`` goes on with this frame."""
        return _WHOLE_MODE.fullmatch(self._buffer) is not None

    def _end_run(self, why_not_frame: str) -> Iterator[Item]:
        """What was being read is over without having become a frame."""
        raw = bytes(self._buffer)
        self._buffer.clear()
        may_trail, self._after_frame = self._after_frame, False
        if raw.startswith((b"[", b"<")):
            self._card_between()
            yield Reject(raw, why_not_frame, lost=True)
        elif may_trail and self._card and _CARDS.get(b"Card:" + raw.strip(_BLANK), self._card) != self._card:
            # The one thing this shoe says twice. No face: it may be a burn card.
            text = "the shoe told its last card once more, as another one: look at the card"
            yield DeviceEvent(DeviceKind.ERROR, raw, text, error=ErrorKind.FAULT)
        elif raw and not (may_trail and len(raw.rstrip(_BLANK)) <= TRAIL_CAP):
            yield Reject(raw, "bytes outside a frame")

    # --- what a frame means: there is no check sum, so one that means nothing may be a damaged card -----

    def _meaning(self, mode: bytes | None, body: bytes, raw: bytes, now: int) -> Item:
        if warning := _WARNING.fullmatch(body):
            return DeviceEvent(DeviceKind.NOTICE, raw, f"warning {body.decode()}", number=int(warning[1], 16))
        if mode in _ALARM_MODES and (alarm := _ALARM.fullmatch(body)):
            return self._alarm(alarm[1].decode("ascii"), raw, now)
        if mode not in _MODE_NAMES:
            reason = "frame without a mode" if mode is None else "frame with an unknown mode"
            self._card_between()
            return Reject(raw, reason, lost=True)
        if body in _MODE_NAMES:
            return self._unread(raw, now)
        self._card_between()
        self._card = _CARDS.get(body)
        if self._card:
            return Scan(self._card, Label.NONE, raw)
        return Reject(raw, "neither a card nor an alarm", lost=True)

    def _card_between(self) -> None:
        """A card came, or what may have been one: what is unread from here on is another."""
        self._unread_at, self._awaits_frame = None, False

    def _just_unread(self, now: int) -> bool:
        return self._unread_at is not None and now - self._unread_at <= SAME_CARD_NS

    def _unread(self, raw: bytes, now: int) -> Item:
        same = self._awaits_frame and self._just_unread(now)
        self._awaits_frame = False
        self._unread_at = now
        if same:
            return DeviceEvent(DeviceKind.NOTICE, raw, "the unread card of the alarm before")
        return Scan(None, Label.NONE, raw)

    def _alarm(self, text: str, raw: bytes, now: int) -> Item:
        found = _ALARM_NUMBER.match(text)
        number = int(found[1]) if found else None
        if number != _CARD_NOT_READ:
            # Its numbers are this maker's own: none of them is another shoe's over-draw or button.
            return DeviceEvent(DeviceKind.ERROR, raw, f"alarm {text}", number=number, error=ErrorKind.FAULT)
        if self._just_unread(now):
            return DeviceEvent(DeviceKind.NOTICE, raw, f"alarm {text}: the unread card before")
        self._unread_at = now
        self._awaits_frame = True
        return Scan(None, Label.NONE, raw)


# --- the device side -------------------------------------------------------------------------------


class Encoder:
    """What an emulated Bee-Tek shoe puts on the wire. ``mode`` is one of :data:`MODES`.

    Raises :class:`ValueError` for what the protocol cannot say.
    """

    def __init__(self, mode: str = GAME) -> None:
        if mode not in MODES:
            raise ValueError(f"mode: {mode!r} is not one of {', '.join(MODES)}")
        self._mode = mode

    def _line(self, body: str, after: str = "") -> bytes:
        return f"[{self._mode}]<{body}>{after}\r\n".encode("ascii")

    def card(self, card: Card | None) -> bytes:
        """A card drawn; None: it could not be read. Game mode repeats the characters."""
        if card is None:
            return self._line(self._mode)
        return self._line(f"Card:{card}", str(card) if self._mode == GAME else "")

    def alarm(self, text: str) -> bytes:
        """An alarm, for example ``E3 Card Not Read``; at most 80 printable characters."""
        if not re.fullmatch(r"[ -~]{1,80}", text) or set(text) & set("[]<>"):
            raise ValueError(f"{text!r} is no alarm text")
        return self._line(f"Alarm:{text}")

    def warning(self, code: int) -> bytes:
        """Warning ``code``, 0 to 255."""
        if not 0 <= code <= 255:
            raise ValueError(f"warning {code} is not 0 to 255")
        return f"<W0x{code:02X}>\r\n".encode("ascii")


# --- the driver ------------------------------------------------------------------------------------


def _make(settings: Mapping[str, Any]) -> BeeTekDecoder:
    return BeeTekDecoder()


def _open(device: str, settings: Mapping[str, Any]) -> Link:
    return links.open_link(device, settings, defaults=links.SerialDefaults(baud=9600))


def _traits(settings: Mapping[str, Any]) -> Traits:
    return Traits()


def _check(settings: Mapping[str, Any]) -> None:
    options.refuse_unknown(settings, links.LINK_KEYS)
    links.check_link(settings)


DRIVER = Driver(
    name="bee-tek",
    about="Bee-Tek shoe: streams cards in the order drawn",
    decoder=_make,
    open=_open,
    traits=_traits,
    check=_check,
    check_device=links.check_device,
    speeds=(9600,),
    usb_ids=links.ADAPTERS,
)
