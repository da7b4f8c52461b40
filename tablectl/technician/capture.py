"""A recording of what a scanner sent: bytes with their times, to be read by people and played again.  Pure.

    tablectl capture 1
    driver: angel-eye
    device: /dev/serial/by-id/…
    settings: {"bcc": "strict"}
    started: 2026-11-30T08:15:00Z
    note: free words, may repeat

    0.000000 05 31 44 81 B8 03 34 46
    # a comment; seconds since the start, then the bytes of one read in hex

Settings that name files stand here with what was in the file, so that a recording is whole by itself. A
recording dropped into ``tests/data/recordings/`` is a test (docs/technician.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tablectl.clock import SECOND
from tablectl.item_words import hex_of, item_words
from tablectl.scanner import Decoder, Item

FIRST_LINE = "tablectl capture 1"
MOST_BYTES = 16 * 2**20
"""Of a file: some hundred thousand cards."""
MOST_LINE = 64 * 1024
"""Characters; a read gives at most 4096 bytes, card tables stand in the settings."""

_PIECE = re.compile(r"([0-9]{1,9}\.[0-9]{6})((?: [0-9A-Fa-f]{2})+)", re.ASCII)
_STARTED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z", re.ASCII)


class CaptureFault(ValueError):
    """The text is no recording; it names the line."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where the bytes come from. ``started``: RFC 3339 in UTC, ``2026-11-30T08:15:00Z``."""

    driver: str
    device: str
    settings: Mapping[str, Any]
    started: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes of one read. ``at``: ns since the start."""

    at: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Recording:
    """A whole recording; pieces in the order they came."""

    header: Header
    pieces: tuple[Piece, ...] = field(default=())
    torn: str = ""
    """The last line, if whoever recorded was stopped in the middle of it: it is left out."""


# --- writing -------------------------------------------------------------------------------------------


def header_text(header: Header) -> str:
    """The lines before the first piece, the blank one included.

    Raises :class:`CaptureFault` for what one line cannot hold.
    """
    settings = json.dumps(dict(header.settings), separators=(", ", ": "))
    fields = [
        ("driver", header.driver),
        ("device", header.device),
        ("settings", settings),
        ("started", header.started),
        *(("note", note) for note in header.notes),
    ]
    for name, value in fields:
        if not value.strip() or not value.isprintable() or len(value) > MOST_LINE - 20:
            raise CaptureFault(f"{name}: some printable characters are needed, and no more than fit a line")
    return FIRST_LINE + "\n" + "".join(f"{name}: {value}\n" for name, value in fields) + "\n"


def piece_line(piece: Piece) -> str:
    """One piece as a line, with its end."""
    microseconds = piece.at // 1000
    return f"{microseconds // 1_000_000}.{microseconds % 1_000_000:06d} {hex_of(piece.data)}\n"


def capture_text(recording: Recording) -> str:
    """The whole recording; :func:`parse_capture` takes it back (times to the microsecond)."""
    return header_text(recording.header) + "".join(map(piece_line, recording.pieces))


# --- reading -------------------------------------------------------------------------------------------


def parse_capture(text: str) -> Recording:
    """The recording a text holds. Raises :class:`CaptureFault` naming the line."""
    if len(text) > MOST_BYTES:
        raise CaptureFault(f"longer than {MOST_BYTES} characters")
    text, torn = _torn(text)
    lines = list(enumerate(text.split("\n"), start=1))
    if lines[-1][1] == "":
        lines.pop()
    for number, line in lines:
        if len(line) > MOST_LINE:
            raise CaptureFault(f"line {number}: longer than {MOST_LINE} characters")
    if not lines or lines[0][1] != FIRST_LINE:
        raise CaptureFault(f'line 1: "{FIRST_LINE}" is expected; this is no recording')
    blank = next((index for index, (_, line) in enumerate(lines) if not line), None)
    if blank is None:
        raise CaptureFault(f"line {lines[-1][0]}: the header ends here without a blank line after it")
    return Recording(_header(lines[1:blank]), tuple(_pieces(lines[blank + 1 :])), torn)


def _torn(text: str) -> tuple[str, str]:
    """``text`` without a last line that has no end and says nothing, and that line."""
    whole, end, last = text.rpartition("\n")
    if not last or not end or not last[0].isdigit() or _PIECE.fullmatch(last):
        return text, ""
    return whole + end, last


def _header(lines: Sequence[tuple[int, str]]) -> Header:
    once: dict[str, str] = {}
    notes: list[str] = []
    settings: Any = {}
    for number, line in lines:
        if line.startswith("#"):
            continue
        name, colon, value = line.partition(": ")
        if not colon or name not in ("driver", "device", "settings", "started", "note"):
            raise CaptureFault(
                f"line {number}: driver, device, settings, started or note, a colon and a value are expected"
            )
        if not value.strip() or not value.isprintable():
            raise CaptureFault(f"line {number}: {name}: some printable characters are expected")
        if name == "note":
            notes.append(value)
        elif name in once:
            raise CaptureFault(f"line {number}: {name} stands here twice")
        else:
            once[name] = value
        if name == "settings":
            settings = _settings(number, value)
        if name == "started" and not _STARTED.fullmatch(value):
            raise CaptureFault(f"line {number}: started: a time such as 2026-11-30T08:15:00Z is expected")
    missing = [name for name in ("driver", "device", "settings", "started") if name not in once]
    if missing:
        raise CaptureFault(f"line {lines[-1][0] if lines else 1}: the header has no {', '.join(missing)}")
    return Header(once["driver"], once["device"], settings, once["started"], tuple(notes))


def _settings(number: int, value: str) -> Any:
    try:
        settings = json.loads(value)
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise CaptureFault(f'line {number}: settings: a JSON object such as {{"baud": 4800}} is expected')
    return settings


def _pieces(lines: Sequence[tuple[int, str]]) -> Iterator[Piece]:
    last = 0
    for number, line in lines:
        if line.startswith("#") or not line.strip():
            continue
        match = _PIECE.fullmatch(line)
        if match is None:
            raise CaptureFault(
                f"line {number}: seconds and bytes in hex are expected, "
                'with six decimals as in "0.049812 05 31 44"'
            )
        seconds, _, micros = match[1].partition(".")
        at = int(seconds) * SECOND + int(micros) * 1000
        if at < last:
            raise CaptureFault(f"line {number}: its time is before that of the line above")
        last = at
        yield Piece(at, bytes.fromhex(match[2]))


# --- playing -------------------------------------------------------------------------------------------


def decoded(pieces: Sequence[Piece], decoder: Decoder, start: int = 0) -> Iterator[tuple[int, Item]]:
    """Every item with its time (ns, as in the pieces), also those that only time brings.

    ``start``: the decoder's own time (boot ns) at the recording's beginning.
    """
    for piece in pieces:
        yield from _ticks(decoder, start, piece.at)
        for item in decoder.feed(piece.data, start + piece.at).items:
            yield piece.at, item
    yield from _ticks(decoder, start, None)


def _ticks(decoder: Decoder, start: int, until: int | None) -> Iterator[tuple[int, Item]]:
    """Let time pass to ``until``; None: until nothing is waited for."""
    while (deadline := decoder.next_deadline()) is not None:
        if until is not None and deadline >= start + until:
            return
        for item in decoder.tick(deadline).items:
            yield deadline - start, item
        if decoder.next_deadline() == deadline:
            return  # a decoder that does not move on is the contract suite's to find


def item_line(at: int, item: Item) -> str:
    """A line of a golden file: seconds since the start, then the item in words."""
    microseconds = at // 1000
    return f"{microseconds // 1_000_000}.{microseconds % 1_000_000:06d}  {item_words(item)}"
