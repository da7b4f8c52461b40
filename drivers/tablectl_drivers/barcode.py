"""Bar-code and 2-D scanners on a serial port: one line of text per card, CR or CR LF at its end.

The house's card table says which code is which card. Lines come split and glued anywhere, some
scanners end them with CR LF, some with CR CR: split on either, empty lines are nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.cards import Card
from tablectl.scanner import Decoded, Driver, Item, Link, Reject, Traits
from tablectl_drivers import links, options
from tablectl_drivers.barcode_talk import SENT_AGAIN, HostAck, beep
from tablectl_drivers.code_reader import SETTINGS, CodeReader, CodeSettings, code_settings

LINE_CAP = 256
"""Bytes; a longer line is no code, up to its end."""

_LINE_ENDS = b"\r\n"


class BarcodeDecoder:
    """Bytes of a line scanner to items; see :class:`tablectl.scanner.Decoder`.

    Any noise is over at the next CR or LF. ``host_ack``: the scanner waits for an answer to each line.
    """

    def __init__(self, settings: CodeSettings, host_ack: bool = False) -> None:
        self._set = settings
        self._reader = CodeReader(settings)
        self._ack = HostAck() if host_ack else None
        self._buffer = bytearray()
        self._overlong = False
        self._last_byte = 0

    @property
    def pending(self) -> int:
        """Bytes held that have not become an item yet."""
        return len(self._buffer)

    def reset(self) -> None:
        self._buffer.clear()
        self._overlong = False
        self._reader.reset()
        if self._ack is not None:
            self._ack.reset()

    def feed(self, data: bytes, now: int) -> Decoded:
        late = self.tick(now)
        items, replies = list(late.items), late.replies
        for byte in data:
            if byte not in _LINE_ENDS:
                self._buffer.append(byte)
                if len(self._buffer) == LINE_CAP:
                    items.append(Reject(self._take(), "line too long"))
                    self._overlong = True
            elif self._buffer or self._overlong:
                ended = self._line(bytes((byte,)), now)
                items += ended.items
                replies += ended.replies
        if data:
            self._last_byte = now
        return Decoded(tuple(items), replies)

    def tick(self, now: int) -> Decoded:
        deadline = self.next_deadline()
        if deadline is None or now < deadline:
            return Decoded(())
        # The pause is when the line ended, however late the tick is.
        if self._overlong or self._set.idle_end is not None:
            return self._line(b"", deadline)
        lost = self._ack is None or self._ack.gives_up
        stub = Reject(self._take(), "a line without an end was dropped", lost=lost)
        return self._answered(stub, deadline, self._last_byte)

    def late(self, since: int, now: int) -> None:
        self._reader.late(since, now)

    def next_deadline(self) -> int | None:
        if not self._buffer and not self._overlong:
            return None
        idle_end = self._set.idle_end
        return self._last_byte + (self._set.stub_drop if idle_end is None else idle_end)

    def _line(self, end: bytes, now: int) -> Decoded:
        line = self._take()
        overlong, self._overlong = self._overlong, False
        if overlong:
            # Its head is a reject already; the tail must not pass for a code.
            return self._answered(Reject(line + end, "end of a line too long") if line else None, now)
        asked = None if self._ack is None else self._ack.asked(now)
        return self._answered(self._reader.read(line, line + end, now, again=SENT_AGAIN, asked=asked), now)

    def _answered(self, item: Item | None, now: int, came: int | None = None) -> Decoded:
        replies = b"" if self._ack is None else self._ack.answer(item, now, came)
        return Decoded(() if item is None else (item,), replies)

    def _take(self) -> bytes:
        line = bytes(self._buffer)
        self._buffer.clear()
        return line


class Encoder:
    """What an emulated scanner puts on the wire, set up by the driver's own settings."""

    def __init__(self, settings: Mapping[str, Any], line_end: bytes = b"\r\n") -> None:
        self._set = code_settings(settings)
        self._reader = CodeReader(self._set)
        self._end = line_end

    def card(self, card: Card | None) -> bytes:
        """The line for a card; nothing for a card the scanner cannot read: it stays silent."""
        return b"" if card is None else self.code(self._set.cards.code(card))

    def code(self, code: bytes) -> bytes:
        """The line for any code, also one of no card."""
        return self._reader.write(code) + self._end


# --- the driver ------------------------------------------------------------------------------------


def _make(settings: Mapping[str, Any]) -> BarcodeDecoder:
    return BarcodeDecoder(code_settings(settings), options.flag(settings, "host_ack"))


def _open(device: str, settings: Mapping[str, Any]) -> Link:
    return links.open_link(device, settings, defaults=links.SerialDefaults(baud=9600))


def _traits(settings: Mapping[str, Any]) -> Traits:
    return Traits()


def _check(settings: Mapping[str, Any]) -> None:
    options.refuse_unknown(settings, SETTINGS, ("host_ack", "beeper"), links.LINK_KEYS)
    links.check_link(settings)
    _make(settings)
    beep(settings, "pip")


DRIVER = Driver(
    name="barcode",
    about="bar-code or 2-D scanner on a serial port, with the house's card table",
    decoder=_make,
    open=_open,
    traits=_traits,
    check=_check,
    check_device=links.check_device,
    paths=("cards",),
    speeds=(9600, 115200, 19200, 38400, 57600, 4800),
    usb_ids=(*links.ADAPTERS, "0c2e:*", "05f9:*", "1eab:*", "065a:*"),
    beep=beep,
)
