"""USB scanners that pretend to be a keyboard: boot reports of eight bytes to scanned codes.

The usage ids are mapped here, US layout, so neither the console's keymap nor Caps Lock matters.
A report lists the keys that are down; a character is a key that was not down before. The link takes
the scanner from the kernel's keyboard driver, or the digits would land in the focused window.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tablectl.cards import Card
from tablectl.scanner import Decoded, Driver, Item, Link, Reject, Traits
from tablectl_drivers import options
from tablectl_drivers.code_reader import SETTINGS, CodeReader, CodeSettings, code_settings

REPORT = 8
"""Bytes: modifiers, reserved, six usage ids."""

RAW_CAP = 4096
"""Bytes of reports kept of one scan: 256 characters, each a press and a release."""

_LETTERS = {0x04 + i: chr(ord("a") + i) for i in range(26)}
_DIGITS = dict(zip(range(0x1E, 0x28), "1234567890", strict=True))
_SHIFTED_DIGITS = dict(zip(range(0x1E, 0x28), "!@#$%^&*()", strict=True))
_SIGNS = {0x2C: " ", **dict(zip([*range(0x2D, 0x32), *range(0x33, 0x39)], "-=[]\\;'`,./", strict=True))}
_SHIFTED_SIGNS = {0x2C: " ", **dict(zip(list(_SIGNS)[1:], '_+{}|:"~<>?', strict=True))}
_KEYPAD = dict(zip(range(0x54, 0x58), "/*-+", strict=True)) | dict(
    zip(range(0x59, 0x64), "1234567890.", strict=True)
)

_PLAIN = _KEYPAD | _LETTERS | _DIGITS | _SIGNS
_SHIFT = {key: char.upper() for key, char in _LETTERS.items()} | _SHIFTED_DIGITS | _SHIFTED_SIGNS | _KEYPAD
_SHIFT_KEYS = 0x22
_ENTER = 0x28
_ENDS = (_ENTER, 0x58)
_LOCKS = (0x39, 0x47, 0x53)
"""Caps, Scroll and Num Lock: scanners toggle them for the sake of a host that looks at them."""
_FAULTS = {1: "too many keys at once", 2: "keyboard self-test failed", 3: "keyboard error"}
_STROKES = {char: (2, key) for key, char in _SHIFT.items()} | {char: (0, key) for key, char in _PLAIN.items()}


class HidKeyboardDecoder:
    """Boot reports to items; see :class:`tablectl.scanner.Decoder`.

    USB hands over whole reports; a part of one is put together with what follows, or dropped
    after ``stub_drop``. A scan in which keys were lost (roll-over), or which has a key that is no
    character, is one reject at its Enter: its rest must not pass for a code.
    """

    def __init__(self, settings: CodeSettings) -> None:
        self._set = settings
        self._reader = CodeReader(settings)
        self._last_byte = 0
        self._report = bytearray()
        self._down: tuple[int, ...] = ()
        self._end_scan()

    def _end_scan(self) -> None:
        self._text = ""
        self._raw = bytearray()
        self._fault = ""

    @property
    def pending(self) -> int:
        """Bytes held that have not become an item yet."""
        return len(self._raw) + len(self._report)

    def reset(self) -> None:
        self._report.clear()
        self._down = ()
        self._end_scan()
        self._reader.reset()

    def feed(self, data: bytes, now: int) -> Decoded:
        items = list(self.tick(now).items)
        for byte in data:
            self._report.append(byte)
            if len(self._report) == REPORT:
                report = bytes(self._report)
                self._report.clear()
                items.extend(self._take(report, now))
        if data:
            self._last_byte = now
        return Decoded(tuple(items))

    def tick(self, now: int) -> Decoded:
        deadline = self.next_deadline()
        if deadline is None or now < deadline:
            return Decoded(())
        items: list[Item] = []
        if self._fault or (self._text and self._set.idle_end is not None):
            items.extend(self._line(deadline))
        elif self._raw:
            items.append(Reject(bytes(self._raw), "a scan without an Enter was dropped", lost=True))
        if self._report:
            items.append(Reject(bytes(self._report), "half a keyboard report", lost=True))
            self._report.clear()
        self._end_scan()
        return Decoded(tuple(items))

    def late(self, since: int, now: int) -> None:
        self._reader.late(since, now)

    def next_deadline(self) -> int | None:
        if not self.pending and not self._fault:
            return None
        idle_end = self._set.idle_end
        return self._last_byte + (self._set.stub_drop if idle_end is None else idle_end)

    def _take(self, report: bytes, now: int) -> Iterator[Item]:
        keys = [key for key in report[2:] if key]
        if faults := [_FAULTS[key] for key in keys if key in _FAULTS]:
            # The keys of such a report are unknown: those down before are taken to be still down.
            self._raw += report
            self._fault = self._fault or faults[0]
        else:
            pressed = [key for key in dict.fromkeys(keys) if key not in self._down and key not in _LOCKS]
            self._down = tuple(keys)
            if pressed or self._raw:
                self._raw += report
            for key in pressed:
                if key in _ENDS:
                    yield from self._line(now)
                else:
                    self._raw = self._raw or bytearray(report)  # after an Enter in the same report
                    self._press(report[0], key)
        if len(self._raw) >= RAW_CAP:
            yield Reject(bytes(self._raw), "scan too long")
            self._end_scan()
            self._fault = "end of a scan too long"

    def _press(self, modifiers: int, key: int) -> None:
        char = (_SHIFT if modifiers & _SHIFT_KEYS else _PLAIN).get(key)
        if char is None:
            self._fault = self._fault or f"key {key:02x} is no character"
        elif modifiers & ~_SHIFT_KEYS & 0xFF:
            self._fault = self._fault or f"key {key:02x} with modifiers {modifiers:02x}"
        else:
            self._text += char

    def _line(self, now: int) -> Iterator[Item]:
        text, raw, fault = self._text, bytes(self._raw), self._fault
        self._end_scan()
        if fault and raw:
            yield Reject(raw, fault, lost=fault in _FAULTS.values())
        elif text:
            yield self._reader.read(text.encode("ascii"), raw, now)


def make_decoder(settings: Mapping[str, Any]) -> HidKeyboardDecoder:
    """A fresh decoder. Raises :class:`ValueError` naming the setting that is wrong."""
    return HidKeyboardDecoder(code_settings(settings))


def check(settings: Mapping[str, Any]) -> None:
    """Raise :class:`ValueError` for a setting the decoder does not know or cannot use."""
    options.refuse_unknown(settings, SETTINGS)
    code_settings(settings)


# --- the device side -------------------------------------------------------------------------------


def press(usage: int, modifiers: int = 0) -> bytes:
    """The report of one key down."""
    return bytes((modifiers, 0, usage, 0, 0, 0, 0, 0))


RELEASE = bytes(REPORT)
"""The report of no key down."""

ROLL_OVER = bytes((0, 0, 1, 1, 1, 1, 1, 1))
"""The report of more keys down than it can list."""


class Encoder:
    """The reports of an emulated scanner, set up by the decoder's own settings."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._set = code_settings(settings)
        self._reader = CodeReader(self._set)

    def card(self, card: Card | None) -> bytes:
        """The reports for a card; none for a card the scanner cannot read: it stays silent."""
        return b"" if card is None else self.code(self._set.cards.code(card))

    def code(self, code: bytes) -> bytes:
        """The reports for any code, also one of no card, with Enter.

        Raises :class:`ValueError` for a character which is on no key.
        """
        return self.type(self._reader.write(code).decode("ascii")) + press(_ENTER) + RELEASE

    @staticmethod
    def type(text: str) -> bytes:
        """A press and a release for each character. Raises :class:`ValueError`."""
        reports = bytearray()
        for char in text:
            if char not in _STROKES:
                raise ValueError(f"{char!r} is on no key")
            modifiers, usage = _STROKES[char]
            reports += press(usage, modifiers) + RELEASE
        return bytes(reports)


# --- the driver ------------------------------------------------------------------------------------


def _open(device: str, settings: Mapping[str, Any]) -> Link:
    from tablectl_drivers import links_usb

    return links_usb.open_hid(device, links_usb.Hid(REPORT, keyboard=True))


def _traits(settings: Mapping[str, Any]) -> Traits:
    return Traits()


DRIVER = Driver(
    name="hid-keyboard",
    about="USB scanner that pretends to be a keyboard, with the house's card table",
    decoder=make_decoder,
    open=_open,
    traits=_traits,
    check=check,
    check_device=options.hid_device,
    paths=("cards",),
    usb_ids=("0c2e:*", "23d0:*", "05e0:*", "05f9:*", "1eab:*"),
)
