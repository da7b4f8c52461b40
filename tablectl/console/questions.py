"""Questions that several commands ask: a name, a number, a round, a place, and the pit boss's approval."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping

from tablectl.console.dialog import Choice, Entry, Order, Question
from tablectl.console.past import Past
from tablectl.console.seen import Seen
from tablectl.table.reasons import REASONS

Asks = Generator[Question, str, str]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}", re.ASCII)
_ROUND = re.compile(r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}", re.ASCII)
OTHER = "\n"
"""The answer "none of these": no name is so."""

WORDS = (
    "seen on video",
    "seen at the table",
    "told by the dealer",
    "agreed with the players",
    "written report follows",
)
"""What is written behind a reason's code where there are no letters to write with."""


def named(title: str, names: tuple[str, ...], check: Callable[[str], str | None], most: int) -> Asks:
    """A name out of those known, or a new one."""
    if names:
        options = (*((name, name) for name in names[:8]), (OTHER, "another name ..."))
        name = yield Choice(title, options)
        if name != OTHER:
            return name
    return (yield Entry(f"{title} Name or staff number:", check, most=most))


def a_number(title: str, low: int, high: int) -> Asks:
    def check(text: str) -> str | None:
        return None if low <= int(text) <= high else f"a number from {low} to {high}"

    return (yield Entry(f"{title} ({low} to {high})", check, digits=True, most=9))


def a_round(title: str) -> Asks:
    def check(text: str) -> str | None:
        return None if _ROUND.fullmatch(text) else "a round is written SHOE/ROUND: 12/34"

    return (yield Entry(f"{title} SHOE/ROUND:", check, digits=True, stroke=True, most=19))


def a_place(title: str, places: tuple[str, ...], seen: Seen) -> Asks:
    cards = seen.round.cards if seen.round else {}
    return (
        yield Choice(
            title, tuple((place, f"{place}  {cards.get(place) or _where(place)}") for place in places)
        )
    )


def _where(place: str) -> str:
    return f"card kept, number {place[1:]}" if place.startswith("K") else "no card"


def an_earlier_round(title: str, past: Past) -> Asks:
    """A round that is over."""
    options = tuple(
        (one.where, f"{one.where}  {one.what}" + (f"  {one.totals[0]}:{one.totals[1]}" if one.totals else ""))
        for one in past.rounds[:8]
    )
    if options:
        which = yield Choice(title, (*options, (OTHER, "another round ...")))
        if which != OTHER:
            return which
    return (yield from a_round(title))


def pit_boss_name(text: str) -> str | None:
    if _NAME.fullmatch(text):
        return None
    return "1 to 32 of A-Z a-z 0-9 . _ -, a letter or digit first"


def free_text(text: str) -> str | None:
    return None if text.isprintable() and text.strip() else "printable characters are needed"


def pin_of(person: str, *lines: str) -> Entry:
    """The PIN, with what it is for."""
    return Entry(f"PIN of {person}, then Enter", most=64, secret=True, lines=lines)


def approved(
    command: str, args: Mapping[str, str], would: str, past: Past
) -> Generator[Question, str, Order]:
    """The pit boss's part: why, who, and the PIN, which is the last that is asked."""
    code = yield Choice(
        f"{would} Why?", tuple((code, f"{code}: {meaning}") for code, meaning in REASONS.items())
    )
    options = [] if code == "other" else [("", "nothing more")]
    options += [(words, words) for words in WORDS]
    words = yield Choice(f"{code}: and in words?", (*options, (OTHER, "type it ...")))
    if words == OTHER:
        words = yield Entry(f"{code}: in your words", free_text, most=150)
    reason = f"{code}: {words}" if words else code
    person = yield from named("Which pit boss approves?", past.pit_bosses, pit_boss_name, 32)
    pin = yield pin_of(person, would, f"Reason: {reason}")
    return Order(command, args, person, reason, pin)
