"""A tour as steps: what stands in its boxes and tables, in the order of the page.

A box of ``sh`` is pasted whole. A box of ``console`` has a line after each ``$``, and what is printed.
Each line of a box of ``shoe`` is typed in the shoe's terminal. In a table that begins with ``press`` the
first cell has keys of the console (or ``shoe:`` and lines for the shoe); what is in backticks in the second
stands on the screen then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

TOURS = Path(__file__).parents[2] / "docs" / "tour"
_BLOCK = re.compile(
    r"^```(\w*)\n(.*?)^```$|^\| press \|[^\n]*\n\|[-|]+\n((?:^\|[^\n]*\n?)+)", re.MULTILINE | re.DOTALL
)
_TICKED = re.compile(r"`` ?(.+?) ?``|`([^`]+)`")


@dataclass(frozen=True)
class Paste:
    """Lines for a shell, as a whole."""

    text: str


@dataclass
class Typed:
    """A line typed in the shell, and what it prints."""

    line: str
    prints: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class AtShoe:
    """What the dealer's hand does."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Pressed:
    """Keys of the console (or the shoe's lines), and what stands on the screen afterwards."""

    keys: tuple[str, ...]
    shoe: tuple[str, ...]
    seen: tuple[str, ...]


Step = Paste | Typed | AtShoe | Pressed


def steps(text: str) -> list[Step]:
    """The steps of a page."""
    found: list[Step] = []
    for block in _BLOCK.finditer(text):
        if block[3]:
            found += [_row(row) for row in block[3].splitlines()]
        elif block[1] == "sh":
            found.append(Paste(block[2]))
        elif block[1] == "console":
            found += _typed(block[2])
        elif block[1] == "shoe":
            found.append(AtShoe(tuple(block[2].splitlines())))
    return found


def _typed(text: str) -> list[Step]:
    made: list[Typed] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            made.append(Typed(line[2:]))
        elif line.startswith("> "):
            made[-1].line += "\n" + line[2:]
        else:
            made[-1].prints.append(line)
    return list(made)


def _row(row: str) -> Pressed:
    press, see = re.split(r"(?<!\\)\|", row.strip().strip("|"))[:2]
    lines: list[str] = []
    for one in re.finditer(r"`([^`]+)`(?: × (\d+))?", press):
        lines += [one[1]] * int(one[2] or 1)
    at_shoe = press.strip().startswith("shoe:")
    seen = tuple(one[1] or one[2] for one in _TICKED.finditer(see))
    return Pressed(() if at_shoe else tuple(lines), tuple(lines) if at_shoe else (), seen)
