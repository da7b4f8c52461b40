"""From one scanned line to a card: prefix, suffix and identifier off, table looked up, bounce told.

Shared by every scanner that reads codes off cards, whatever link it hangs on. Such a scanner has
no sequence number, so whether the same code twice is one card read twice or two equal cards is
decided by the gap between the arrivals, never by equality alone. Where the gap is not known, nobody
can tell, and people are asked: the process stood still, a serial server held the line up, or the
first reading of the second one was damaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.cards import Card
from tablectl.clock import SECOND
from tablectl.scanner import DeviceEvent, DeviceKind, Item, Label, Reject, Scan
from tablectl_drivers import options
from tablectl_drivers.card_codes import CardTable, load_cards

CODE_SETTINGS = ("cards", "prefix", "suffix", "aim", "aim_allowed", "bounce_ms")
LINE_SETTINGS = ("idle_end", "stub_drop")
SETTINGS = (*CODE_SETTINGS, *LINE_SETTINGS)
AIM_MODES = ("off", "strip", "refuse")

AT_ONCE = 20 * options.MILLISECOND
"""No scanner reads a card twice so fast, ns: the line was held up somewhere, and the gap is not known."""

AGAIN = "the same code again within the bounce time: one card"
"""What a bounce is told as; which card it is stands apart, for it may still lie face down."""

UNSURE = "the same code again, and nothing tells whether it is another card"
"""What it is told as where people are asked."""


@dataclass(frozen=True, slots=True)
class CodeSettings:
    """How a site's scanner is set up. Times in ns; ``idle_end`` None: a pause ends no line.

    ``prefix`` and ``suffix`` stand around the payload in every line, the suffix before the line
    end. ``aim`` ``strip``: each payload follows an AIM identifier ``]`` letter modifier, the
    letter one of ``aim_allowed`` (any if empty); ``refuse``: a payload with one is no code, the
    scanner was set up anew by somebody; ``off``: nobody looks for one, the payload is the code.
    """

    cards: CardTable
    prefix: bytes = b""
    suffix: bytes = b""
    aim: str = "off"
    aim_allowed: bytes = b""
    idle_end: int | None = None
    stub_drop: int = 2 * SECOND
    bounce: int = 300 * options.MILLISECOND


def code_settings(settings: Mapping[str, Any], *, lines: bool = True) -> CodeSettings:
    """Read a driver's settings. Raises :class:`ValueError` naming the key that is wrong.

    ``lines``: CR or LF ends a code; otherwise it is a character like others.
    """
    allowed = settings.get("aim_allowed", [])
    if not isinstance(allowed, list | tuple) or not all(
        isinstance(letter, str) and len(letter) == 1 and letter.isascii() and letter.isalpha()
        for letter in allowed
    ):
        raise ValueError(f"aim_allowed: {allowed!r} is not a list of letters, for example C, Q")
    aim = options.choice(settings, "aim", AIM_MODES)
    if allowed and aim != "strip":
        raise ValueError('aim_allowed: is looked at only with aim = "strip"')
    idle_end = None
    if settings.get("idle_end", "off") != "off":
        idle_end = options.span(settings, "idle_end", 0, unit=SECOND, low=0.01, high=60)
    return CodeSettings(
        cards=cards_setting(settings),
        prefix=_around(settings, "prefix", lines),
        suffix=_around(settings, "suffix", lines),
        aim=aim,
        aim_allowed="".join(allowed).encode("ascii"),
        idle_end=idle_end,
        stub_drop=options.span(settings, "stub_drop", 2, unit=SECOND, low=0.1, high=60),
        bounce=options.span(settings, "bounce_ms", 300, unit=options.MILLISECOND, low=0, high=60_000),
    )


def _around(settings: Mapping[str, Any], key: str, lines: bool) -> bytes:
    """What stands around each code, the line end apart: with one in it no line would ever fit."""
    text = options.ascii_text(settings, key, 16)
    if lines and (b"\r" in text or b"\n" in text):
        raise ValueError(f"{key}: leave CR and LF out of it: the end of a line is known without")
    return text


def cards_setting(settings: Mapping[str, Any]) -> CardTable:
    """The card table of the setting ``cards``, which must be there. Raises :class:`ValueError`."""
    if "cards" not in settings:
        raise ValueError("cards: give the path of the house's card table, or a table of code = card")
    return load_cards(settings["cards"])


_AIM_REFUSED = 'an AIM identifier; switch it off in the scanner, or set aim = "strip"'


def bounce(card: Card, raw: bytes, text: str, *, unsure: bool) -> DeviceEvent:
    """The same code again: one card, as ``text`` says, or nobody can tell."""
    return DeviceEvent(DeviceKind.BOUNCE, raw, UNSURE if unsure else text, card=card, unsure=unsure)


class CodeReader:
    """Lines to items. ``line`` is what the scanner sent without its line end, ``raw`` the wire bytes."""

    def __init__(self, settings: CodeSettings) -> None:
        self._set = settings
        self.reset()

    def reset(self) -> None:
        """Forget the last code: the link was opened anew."""
        self._last: tuple[bytes, int, int] | None = None  # code; its latest and earliest arrival
        self._late = (0, 0)

    def late(self, since: int, now: int) -> None:
        """What is read at ``now`` may have arrived from ``since`` on."""
        self._late = (since, now)

    def earliest(self, now: int) -> int:
        """When a line that ended at ``now`` may have ended first."""
        since, late = self._late
        return now - (late - since) if late <= now <= late + (self._set.idle_end or 0) else now

    def read(
        self,
        line: bytes,
        raw: bytes,
        now: int,
        *,
        aim: bytes | None = None,
        again: str = "",
        asked: int | None = None,
    ) -> Item:
        """The item of one whole line, not empty, that ended at ``now``.

        ``aim`` is the AIM identifier where it comes apart from the line; None: it is within it.
        ``again``: words, if the line is known to be sent a second time, because of something bad that
        came at ``asked``. Where it is the code read last, it is that card if the bad thing came within
        the bounce time behind it, and may be a second one if it came later.
        """
        code = self._payload(line, aim)
        if isinstance(code, str):
            return Reject(raw, code)
        card = self._set.cards[code]
        if card is None:
            return Reject(raw, "code of no card" if code else "empty code", framed=bool(code), code=code)
        last, first = self._last, self.earliest(now)
        self._last = (code, now, first)
        if last and last[0] == code:
            _, then, then_first = last
            if asked is not None:
                unsure = self.apart(then_first, asked)
                return bounce(card, raw, again, unsure=unsure)
            if first - then < self._set.bounce:
                at_once = now - then < min(AT_ONCE, self._set.bounce // 15)
                unsure = at_once or self.apart(then_first, now)
                return bounce(card, raw, AGAIN, unsure=unsure)
        return Scan(card, Label.NONE, raw)

    def apart(self, then: int, now: int) -> bool:
        """Whether two readings may be those of two cards, by the time between them at most."""
        return now - then >= self._set.bounce

    def _payload(self, line: bytes, aim: bytes | None) -> bytes | str:
        """The code in a line, or the fault in words."""
        prefix, suffix = self._set.prefix, self._set.suffix
        if not line.startswith(prefix):
            return f"line does not begin with {prefix!r}"
        line = line[len(prefix) :]
        if not line.endswith(suffix):
            return f"line does not end with {suffix!r}"
        line = line[: len(line) - len(suffix)]
        if self._set.aim == "off":
            return line
        code = line
        if aim is None:
            aim, code = line[:3], line[3:]
        identified = len(aim) == 3 and aim[:1] == b"]" and aim[1:2].isalpha() and aim[2:3].isalnum()
        if self._set.aim == "refuse":
            return _AIM_REFUSED if identified else line
        if not identified:
            return "no AIM identifier"
        if self._set.aim_allowed and aim[1] not in self._set.aim_allowed:
            return f"symbology {aim[1:2].decode()} is not allowed here"
        return code

    def write(self, code: bytes) -> bytes:
        """The line a scanner set up like this sends for ``code``, without the line end."""
        aim = b""
        if self._set.aim == "strip":
            aim = b"]" + (self._set.aim_allowed[:1] or b"C") + b"0"
        return self._set.prefix + aim + code + self._set.suffix
