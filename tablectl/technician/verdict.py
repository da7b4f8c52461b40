"""What is wrong with a scanner, in words, from what came of it while somebody listened.  Pure.

Connected but no bytes, bytes but no frame, frames but no card are three different faults with three ways
out; each stuck counter points at another part of the way from the shoe to the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tablectl.item_words import MOST_CODE
from tablectl.printable import number_of

KEEP = 16 * 1024
"""Bytes kept for trying other drivers on; the last ones."""
MOST_REASONS = 100
MOST_CODES = 5
"""Unknown codes that are named."""


@dataclass(slots=True)
class Tally:
    """What was heard. ``frames``: whole ones, notices apart; ``cards``: those that are cards of the table."""

    byte_count: int = 0
    frames: int = 0
    cards: int = 0
    unread: int = 0
    rejects: int = 0
    unknown: int = 0
    """Frames among the rejects: whole ones, of no card of the table."""
    codes: list[str] = field(default_factory=list)
    """The first of what they say, each once; one more than is named."""
    lost: int = 0
    """Messages that came in part, and that nobody sends again: each may have been a card."""
    dropped: int = 0
    seconds: float = 0.0
    connected: bool = False
    why: str = ""
    """Why it is away, last heard."""
    reasons: Counter[str] = field(default_factory=Counter)
    pieces: list[tuple[int, bytes]] = field(default_factory=list)
    _kept: int = 0

    def add(self, entry: Mapping[str, Any]) -> None:
        """One more record of the tap. What has no lawful form counts as nothing."""
        at = entry.get("at")
        if isinstance(at, int) and abs(at) < 10**18:
            self.seconds = max(self.seconds, at / 1e9)
        match entry:
            case {"kind": "bytes", "hex": str(text), "at": int(moment)}:
                self._heard(moment, text)
            case {"kind": "item", "item": dict(item)}:
                self._decoded(item)
            case {"kind": "lost", "text": str(text)}:
                self.connected, self.why = False, text
            case {"kind": "restored"}:
                self.connected, self.why = True, ""
            case {"kind": "state", "connected": bool(connected), "text": str(text)}:
                self.connected, self.why = connected, text
            case {"kind": "dropped", "count": int(count)}:
                self.dropped += count

    def _heard(self, at: int, text: str) -> None:
        try:
            data = bytes.fromhex(text)
        except ValueError:
            return
        self.connected = True
        self.byte_count += len(data)
        self.pieces.append((at, data))
        self._kept += len(data)
        while self._kept > KEEP and len(self.pieces) > 1:
            self._kept -= len(self.pieces.pop(0)[1])

    def _decoded(self, item: Mapping[str, Any]) -> None:
        kind = item.get("kind")
        if kind == "reject":
            self.rejects += 1
            self.lost += item.get("lost") is True
            if item.get("framed") is True:
                self.frames += 1
                self._no_card(item.get("code"))
            if len(self.reasons) < MOST_REASONS:
                self.reasons[str(item.get("text"))] += 1
        elif kind != "notice":
            self.frames += 1
            self.cards += kind == "card" and item.get("card") is not None
            self.unread += kind == "card" and item.get("card") is None

    def _no_card(self, code: object) -> None:
        self.unknown += 1
        if isinstance(code, str) and code[:MOST_CODE] not in self.codes and len(self.codes) <= MOST_CODES:
            self.codes.append(code[:MOST_CODE])

    @property
    def counters(self) -> str:
        """The three counters on a line."""
        counts = {"byte": self.byte_count, "frame": self.frames, "card": self.cards}
        counts |= {"reject": self.rejects} if self.rejects else {}
        return ", ".join(number_of(number, noun) for noun, number in counts.items())


@dataclass(frozen=True, slots=True)
class Verdict:
    """``code``: ok, absent, no-bytes, no-frames, no-cards, unknown, unread, noisy or lost.

    ``texts``: words, a line each.
    """

    code: str
    texts: tuple[str, ...]


def verdict(tally: Tally, device: str, driver: str) -> Verdict:
    """What the counters mean. ``device`` as in the configuration."""
    after = f"in {tally.seconds:.0f} s"
    if not tally.connected and not tally.byte_count:
        return Verdict("absent", (f"not there: {tally.why or f'{device} did not open {after}'}",))
    if not tally.byte_count:
        return Verdict("no-bytes", (f"no byte {after}, the port is open.", *_no_bytes(device)))
    if not tally.frames:
        head = f"{number_of(tally.byte_count, 'byte')} {after}, but no frame of {driver}."
        return Verdict("no-frames", (head, *_most(tally), *_no_frames(tally, device)))
    if not tally.cards and tally.unread:
        text = "cards come, but the shoe reads none: its read window, its lamp, the deck it is set to."
        return Verdict("unread", (text, *_named(tally)))
    if not tally.cards:
        head = f"{number_of(tally.frames, 'frame')} {after}, but no card."
        way = "Was one drawn? Then the shoe is locked, in another mode, or the card table is another deck's."
        return Verdict("no-cards", (head, way, *_most(tally), *_named(tally)))
    if tally.rejects > tally.frames:
        head = f"{number_of(tally.cards, 'card')} {after}, but more rejects than frames."
        way = "A bad cable, a missing earth, or a second reader that takes part of the bytes."
        return Verdict("noisy", (head, way, *_most(tally), *_named(tally)))
    if tally.lost:
        parts = f"parts of {number_of(tally.lost, 'message')} were lost."
        head = f"{number_of(tally.cards, 'card')} {after}; {parts}"
        way = "Each may have been a card: count them. A bad cable, a missing earth, or a second reader."
        return Verdict("lost", (head, way, *_most(tally)))
    if tally.unknown:
        were = "was" if tally.unknown == 1 else "were"
        part = f"{tally.unknown} of {number_of(tally.frames, 'frame')}"
        head = f"{number_of(tally.cards, 'card')} {after}, but {part} {were} no card of the table."
        way = (
            "Cards of this deck? Then complete the card table. If not, another deck is in the shoe, or the"
            " scanner is in another mode (prefix, suffix, identifier)."
        )
        return Verdict("unknown", (head, *_named(tally), way))
    if tally.unread:
        head = f"{number_of(tally.cards, 'card')} {after}, but {tally.unread} more could not be read."
        return Verdict("unread", (head, "Its read window, its lamp, or worn cards."))
    return Verdict("ok", (f"{number_of(tally.cards, 'card')} {after}: the scanner works.", *_most(tally)))


def _most(tally: Tally) -> tuple[str, ...]:
    if not tally.reasons:
        return ()
    reason, count = tally.reasons.most_common(1)[0]
    return (f"Rejected {number_of(tally.rejects, 'time')}, most often ({count}): {reason[:200]}",)


def _named(tally: Tally) -> tuple[str, ...]:
    """The unknown codes, as far as they are kept."""
    if not tally.codes:
        return ()
    more = ", …" if len(tally.codes) > MOST_CODES else ""
    return (f"Unknown codes: {', '.join(tally.codes[:MOST_CODES])}{more}",)


def _no_bytes(device: str) -> tuple[str, ...]:
    if device.startswith("tcp://"):
        return (
            "Was a card drawn meanwhile? Then it is behind the serial server: the cable between it and the "
            "shoe, the shoe's power, or another port of the server.",
            "The server stays connected when that cable is out.",
        )
    if device.startswith("usb:"):
        return ("Was a card read meanwhile? Then the scanner is in another mode, or its cable is loose.",)
    return (
        "Was a card drawn meanwhile? Then the cable (right socket, straight or crossed), the shoe's power, "
        "or another port: `tablectl devices` shows them.",
        "A shoe says nothing until a card is drawn.",
    )


def _no_frames(tally: Tally, device: str) -> tuple[str, ...]:
    data = b"".join(piece for _, piece in tally.pieces)
    if is_text(data):
        return (
            "The bytes are plain text, so the baud rate is right: another driver, or a card table that does "
            "not know these codes.",
        )
    if device.startswith("usb:"):
        return ("Another driver, or the scanner is in another mode.",)
    if device.startswith("tcp://"):
        return (
            "Baud rate or parity, or another driver. The baud rate is set in the serial server, not here.",
        )
    return ("Baud rate or parity, or another driver.",)


def is_text(data: bytes) -> bool:
    """Whether it looks like lines of text: printable ASCII, and line ends now and then."""
    plain = sum(0x20 <= byte < 0x7F or byte in b"\r\n\t" for byte in data)
    return len(data) >= 4 and plain == len(data)
