"""USB scanners in HID POS mode: input reports of 64 bytes, a long code in several of them.

Three layouts are in use; byte 0 is always 02, byte 1 the number of data bytes, byte 63 is 1 if more follows:

    honeywell   2-4 AIM identifier, 5-60 data            Honeywell, Youjie, and most others
    offset      2 something, 3-5 AIM identifier, 6- data
    newland     2-57 data, 62 symbology, no AIM identifier

Reports carry no number of their own: one that is lost must not join the halves of two codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.cards import Card
from tablectl.scanner import Decoded, DeviceEvent, DeviceKind, Driver, Item, Link, Reject, Traits
from tablectl_drivers import options
from tablectl_drivers.code_reader import CODE_SETTINGS, CodeReader, CodeSettings, code_settings

REPORT = 64
"""Bytes."""

DATA = 56
"""Most data bytes of one report."""

SCAN_CAP = 40
"""Reports of one scan or answer."""

_ID = 2
_ANSWERS = (b"]X0", b"]Z6")
"""AIM identifiers of what is no bar code: the scanner answers a command."""

_TORN = "reports of two scans: one between them is lost"

_HONEYWELL = (0x0C2E, 0x23D0)
_READY = b"\xfe\x01"
"""The feature report that Honeywell's scanners expect after they are opened."""

_BEEP = b"\xfd\x03\x16\x07\x0d"
"""The output report that makes Honeywell's scanners beep."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand in a report; ``aim`` None: it has no AIM identifier."""

    aim: int | None
    data: int


LAYOUTS = {"honeywell": Layout(2, 5), "offset": Layout(3, 6), "newland": Layout(None, 2)}
VARIANTS = ("auto", *LAYOUTS)
_MAKERS = ("none", "honeywell")
_OWN = ("variant", "beeper")
_KNOWN = (*CODE_SETTINGS, "stub_drop", *_OWN)
_DEFAULTS: dict[str, Any] = {"stub_drop": 0.25}


def _aim(report: bytes, layout: Layout) -> bytes:
    return b"" if layout.aim is None else report[layout.aim : layout.aim + 3]


def _is_aim(told: bytes) -> bool:
    return told[:1] == b"]" and told[1:2].isalpha() and told[2:3].isalnum()


def _code_settings(settings: Mapping[str, Any]) -> tuple[CodeSettings, str]:
    """The settings of the codes and the variant. Raises :class:`ValueError` naming the key that is wrong."""
    options.refuse_unknown(settings, _KNOWN)
    variant = options.choice(settings, "variant", VARIANTS)
    options.choice(settings, "beeper", _MAKERS)
    if variant != "newland" and settings.get("aim") == "refuse":
        raise ValueError('aim: "refuse" fits variant = "newland" only; each other has an AIM identifier')
    # The report says of each code what kind it is, so it is looked at unless it is switched off.
    aim = {"aim": "off" if variant == "newland" else "strip"}
    codes = {key: value for key, value in settings.items() if key not in _OWN}
    return code_settings({**_DEFAULTS, **aim, **codes}), variant


class HidPosDecoder:
    """Reports to items; see :class:`tablectl.scanner.Decoder`.

    USB hands over whole reports; a part of one is put together with what follows, or given up after
    ``stub_drop``, and so is a scan whose next report does not come. Once a scan has a malformed report,
    all of it up to its last is one reject: its rest must not pass for a code.
    """

    def __init__(self, settings: CodeSettings, variant: str = "auto") -> None:
        self._set = settings
        self._variant = variant
        self._reader = CodeReader(settings)
        self._last_byte = 0
        self._report = bytearray()
        self._end_scan()

    def _end_scan(self) -> None:
        self._raw = bytearray()
        self._data = bytearray()
        self._layout: Layout | None = None
        self._aim = b""
        self._fault = ""

    @property
    def pending(self) -> int:
        """Bytes held that have not become an item yet."""
        return len(self._raw) + len(self._report)

    def reset(self) -> None:
        self._report.clear()
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
        raw, fault, half = bytes(self._raw), self._fault, bytes(self._report)
        self._end_scan()
        self._report.clear()
        if raw and fault:
            items.append(Reject(raw, fault, lost=fault == _TORN))
        elif raw:
            items.append(Reject(raw, "a scan whose last report did not come was dropped", lost=True))
        if half:
            items.append(Reject(half, "half a report", lost=True))
        return Decoded(tuple(items))

    def late(self, since: int, now: int) -> None:
        self._reader.late(since, now)

    def next_deadline(self) -> int | None:
        return self._last_byte + self._set.stub_drop if self.pending or self._fault else None

    def _take(self, report: bytes, now: int) -> Iterator[Item]:
        self._raw += report
        # Only the first fault is told; what follows it may be of no scan at all.
        self._fault = self._fault or self._join(report)
        if report[-1]:
            if len(self._raw) >= SCAN_CAP * REPORT:
                yield Reject(bytes(self._raw), self._fault or "scan too long")
                self._end_scan()
                self._fault = "end of a scan too long"
            return
        raw, data, aim, fault = bytes(self._raw), bytes(self._data), self._aim, self._fault
        has_aim = self._layout is not None and self._layout.aim is not None
        self._end_scan()
        line = data.removesuffix(b"\r")
        if fault:
            yield Reject(raw, fault, lost=fault == _TORN)
        elif has_aim and aim in _ANSWERS:
            yield DeviceEvent(DeviceKind.NOTICE, raw, f"the scanner answers: {_printable(data)}")
        elif not line:
            yield Reject(raw, "empty scan")
        else:
            yield self._reader.read(line, raw, now, aim=aim if has_aim else None)

    def _join(self, report: bytes) -> str:
        """Add a report to the scan; what is wrong with it in words, ``""`` if nothing is."""
        if report[0] != _ID:
            return f"report {report[0]:02X} is no scan"
        size = report[1]
        if size > DATA:
            return f"a report of {size} data bytes: {DATA} fit"
        if report[-1] > 1:
            return f"byte 63 is {report[-1]:02X}, neither 00 nor 01"
        layout = self._layout or self._recognise(report)
        if layout is None:
            return 'no AIM identifier at byte 2 or 3; a scanner that sends none needs variant = "newland"'
        aim = _aim(report, layout)
        if self._layout is not None and aim != self._aim:
            return _TORN
        self._layout, self._aim = layout, aim
        self._data += report[layout.data : layout.data + size]
        return ""

    def _recognise(self, report: bytes) -> Layout | None:
        if self._variant != "auto":
            return LAYOUTS[self._variant]
        found = (layout for layout in LAYOUTS.values() if _is_aim(_aim(report, layout)))
        return next(found, None)


def _printable(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else " " for byte in data).strip()


# --- the device side -------------------------------------------------------------------------------


class Encoder:
    """The reports of an emulated scanner, set up by the decoder's own settings."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._set, variant = _code_settings(settings)
        self._reader = CodeReader(self._set)
        self._layout = LAYOUTS["honeywell" if variant == "auto" else variant]

    def card(self, card: Card | None) -> bytes:
        """The reports for a card; none for a card the scanner cannot read: it stays silent."""
        return b"" if card is None else self.code(self._set.cards.code(card))

    def code(self, code: bytes) -> bytes:
        """The reports for any code, also one of no card, with CR."""
        if self._layout.aim is None:
            return self.reports(self._reader.write(code) + b"\r")
        aim = b"]" + (self._set.aim_allowed[:1] or b"C") + b"0"
        return self.reports(self._set.prefix + code + self._set.suffix + b"\r", aim)

    def reports(self, data: bytes, aim: bytes = b"]C0") -> bytes:
        """``data`` in as many reports as it needs."""
        pieces = [data[i : i + DATA] for i in range(0, len(data), DATA)] or [b""]
        stream = bytearray()
        for left, piece in zip(range(len(pieces) - 1, -1, -1), pieces, strict=True):
            report = bytearray(REPORT)
            report[0], report[1], report[-1] = _ID, len(piece), bool(left)
            if self._layout.aim is not None:
                report[self._layout.aim : self._layout.aim + 3] = aim
            report[self._layout.data : self._layout.data + len(piece)] = piece
            stream += report
        return bytes(stream)


# --- the driver ------------------------------------------------------------------------------------


def _make(settings: Mapping[str, Any]) -> HidPosDecoder:
    return HidPosDecoder(*_code_settings(settings))


def _open(device: str, settings: Mapping[str, Any]) -> Link:
    from tablectl_drivers import links_usb

    link = links_usb.open_hid(device, links_usb.Hid(REPORT))
    if isinstance(link, links_usb.UsbLink) and link.vendor in _HONEYWELL:
        try:
            link.feature(_READY)
        except BaseException:
            link.close()
            raise
    return link


def _traits(settings: Mapping[str, Any]) -> Traits:
    return Traits()


def _check(settings: Mapping[str, Any]) -> None:
    _code_settings(settings)


def _beep(settings: Mapping[str, Any], pattern: str) -> bytes:
    """One sound is all it has: it must not stand both for "taken" and for "not taken"."""
    wanted = options.choice(settings, "beeper", _MAKERS) == "honeywell"
    return _BEEP if wanted and pattern in ("pip", "close", "accept") else b""


DRIVER = Driver(
    name="hid-pos",
    about="USB bar-code or 2-D scanner in HID POS mode, with the house's card table",
    decoder=_make,
    open=_open,
    traits=_traits,
    check=_check,
    check_device=options.hid_device,
    paths=("cards",),
    usb_ids=("0c2e:*", "23d0:*", "05e0:*", "05f9:*", "1eab:*"),
    beep=_beep,
)
