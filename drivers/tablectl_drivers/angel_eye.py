"""Angel Eye II-EX shoe: reads each card as it is drawn, knows the game, and says all it knows.

RS-232, usually behind a TCP serial server; listen only. Each event is sent three times with the
same sequence number, so repeats are told by number and never by equality of cards. Facts marked
uncertain by the field (check sum, wrap of the numbers, burn frames) are settings or tolerated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.scanner import Decoded, DeviceEvent, DeviceKind, Driver, Item, Label, Link, Reject, Scan, Traits
from tablectl_drivers import angel_eye_wire as wire
from tablectl_drivers import links, options
from tablectl_drivers.angel_eye_encoder import Encoder
from tablectl_drivers.angel_eye_meaning import Meaning
from tablectl_drivers.angel_eye_numbers import AFTER_NINE, Numbers

__all__ = ["DRIVER", "AngelEyeDecoder", "Encoder"]

STUB_NS = 500 * options.MILLISECOND
"""A frame takes 25 ms on the wire: one unfinished for so long has lost its end."""

REMEMBERED = 5
"""How many accepted frames a repeat is looked for in; a number comes round after nine."""

SINGLES = 16
"""Messages that wait for their second copy, where there is no check sum."""

BURN_FRAMES = ("burn", "game", "outside")

_START = b"S"


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
        self._meaning = Meaning()

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
        item = self._meaning.of(frame)
        if missing := self._missing(frame, item):
            yield missing
        yield item
        if isinstance(item, Reject) and frame.payload[:1] in _OF_CARDS:
            # The check sum is right, or two copies agree: a card is meant, and nobody will tell it again.
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
    dialects=({"bcc": "strict"}, {"bcc": "including-enq"}),
    usb_ids=links.ADAPTERS,
)
