"""Text on a grid of cells: lines of styled spans, cut to a width, for rich terminals and poor ones.

What people and peers wrote is escaped where it is read (:mod:`tablectl.console.seen`); here a text only has
a width, and letters a poor terminal lacks are replaced.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from tablectl.printable import by_number


class Span(NamedTuple):
    """Some text in one style, a key of the terminal's palette."""

    text: str
    style: str = "plain"


Line = tuple[Span, ...]


def cells(text: str) -> int:
    """How many cells a text takes."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def cut(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells; three dots tell that there was more."""
    if cells(text) <= width:
        return text
    dots = "..."[: max(0, width)]
    kept, room = "", width - len(dots)
    for char in text:
        room -= _cells(char)
        if room < 0:
            break
        kept += char
    return kept.rstrip() + dots


def pad(text: str, width: int) -> str:
    """``text`` in exactly ``width`` cells."""
    short = cut(text, width)
    return short + " " * (width - cells(short))


def wrap(text: str, width: int, most: int) -> list[str]:
    """``text`` on at most ``most`` lines, broken at spaces where there are some."""
    lines, rest = [""], text.split(" ")
    while rest:
        word = rest.pop(0)
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cells(joined) <= width:
            lines[-1] = joined
        elif len(lines) == most:
            lines[-1] = cut(f"{joined} {' '.join(rest)}", width)
            break
        elif lines[-1]:
            lines.append("")
            rest.insert(0, word)
        else:  # one word, longer than a line
            lines[-1] = _head(word, width)
            lines.append("")
            rest.insert(0, word[len(lines[-2]) :])
    return [line for line in lines if line]


def _head(word: str, width: int) -> str:
    """The first letters of a word that fit; one at least."""
    kept = len(word)
    while kept > 1 and cells(word[:kept]) > width:
        kept -= 1
    return word[:kept]


def size(line: Line) -> int:
    """How many cells a line takes."""
    return sum(cells(span.text) for span in line)


def fit(line: Line, width: int, fill: str = "plain") -> Line:
    """A line in exactly ``width`` cells."""
    made: list[Span] = []
    room = width
    for span in line:
        if room <= 0:
            break
        text = cut(span.text, room)
        made.append(Span(text, span.style))
        room -= cells(text)
    return (*made, Span(" " * room, fill)) if room > 0 else tuple(made)


def beside(left: Line, right: Line, width: int, fill: str = "plain") -> Line:
    """Two lines on one: ``right`` ends at the edge, and is kept whole if only one can be."""
    room = width - size(right)
    if room <= 0:
        return fit(right, width, fill)
    return (*fit(left, room, fill), *right)


_INSTEAD = {
    **{"·": "-", "…": "...", "–": "-", "—": "-", "“": '"', "”": '"', "▶": ">", "●": "*"},
    **{"♠": "S", "♥": "H", "♦": "D", "♣": "C", "█": "#", "░": ".", "▒": "#", "│": "|", "║": "|", "─": "-"},
    **{"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"},
    **{"┌": "+", "┐": "+", "└": "+", "┘": "+"},
}


def poor(text: str) -> str:
    """``text`` in ASCII: each letter's nearest, else its number."""
    return text if text.isascii() else "".join(_poor(char, text, at) for at, char in enumerate(text))


def _poor(char: str, text: str, at: int) -> str:
    if char.isascii():
        return char
    if char in "ÄÖÜ" and (text[at - 1 : at].isupper() or text[at + 1 : at + 2].isupper()):
        return _INSTEAD[char].upper()
    plain = unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode()
    return _INSTEAD.get(char) or plain or by_number(char)


def poor_lines(lines: Iterable[Line]) -> list[Line]:
    """Lines in ASCII."""
    return [tuple(Span(poor(span.text), span.style) for span in line) for line in lines]
