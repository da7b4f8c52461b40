"""Questions that several commands ask: a name, a number, a round, a place, and the pit boss's approval."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace

from tablectl.console.dialog import Choice, Entry, Flow, Order, Question
from tablectl.console.language import Language
from tablectl.console.past import Past
from tablectl.console.seen import Seen
from tablectl.table.reasons import REASONS

Asks = Generator[Question, str, str]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}", re.ASCII)
_ROUND = re.compile(r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}", re.ASCII)
OTHER = "\n"
"""The answer "none of these": no name is so."""

SAME = "same"
"""The argument that says whether a card is one that lies aside."""

WORDS = (
    "seen on video",
    "seen at the table",
    "told by the dealer",
    "agreed with the players",
    "written report follows",
)
"""What is written behind a reason's code where there are no letters to write with."""


def named(
    title: str, names: tuple[str, ...], check: Callable[[str], str | None], most: int, w: Language
) -> Asks:
    """A name out of those known, or a new one."""
    if names:
        options = (*((name, name) for name in names[:8]), (OTHER, w("another name ...")))
        name = yield Choice(title, options)
        if name != OTHER:
            return name
    return (yield Entry(w("{title} Name or staff number:", title=title), check, most=most))


def a_number(title: str, low: int, high: int, w: Language) -> Asks:
    def check(text: str) -> str | None:
        return None if low <= int(text) <= high else w("a number from {low} to {high}", low=low, high=high)

    return (
        yield Entry(
            w("{title} ({low} to {high})", title=title, low=low, high=high), check, digits=True, most=9
        )
    )


def a_round(title: str, w: Language) -> Asks:
    def check(text: str) -> str | None:
        return None if _ROUND.fullmatch(text) else w("a round is written SHOE/ROUND: 12/34")

    return (yield Entry(w("{title} SHOE/ROUND:", title=title), check, digits=True, stroke=True, most=19))


def a_place(title: str, places: tuple[str, ...], seen: Seen) -> Asks:
    cards = seen.round.cards if seen.round else {}
    w = seen.words
    lies = {place: cards.get(place) or _where(place, w) for place in places}
    return (yield Choice(title, tuple((place, f"{place}  {what}") for place, what in lies.items())))


def _where(place: str, w: Language) -> str:
    return w("card kept, number {n}", n=place[1:]) if place.startswith("K") else w("no card")


def an_earlier_round(title: str, past: Past, w: Language) -> Asks:
    """A round that is over."""
    options = tuple(
        (
            one.where,
            f"{one.where}  {w(one.what)}" + (f"  {one.totals[0]}:{one.totals[1]}" if one.totals else ""),
        )
        for one in past.rounds[:8]
    )
    if options:
        which = yield Choice(title, (*options, (OTHER, w("another round ..."))))
        if which != OTHER:
            return which
    return (yield from a_round(title, w))


def pit_boss_name(text: str) -> str | None:
    if _NAME.fullmatch(text):
        return None
    return "1 to 32 of A-Z a-z 0-9 . _ -, a letter or digit first"


def free_text(text: str) -> str | None:
    return None if text.isprintable() and text.strip() else "printable characters are needed"


def pin_of(person: str, w: Language, *lines: str) -> Entry:
    """The PIN, with what it is for."""
    return Entry(w("PIN of {name}, then Enter", name=person), most=64, secret=True, lines=lines)


def approved(
    command: str, args: Mapping[str, str], would: str, seen: Seen, past: Past
) -> Generator[Question, str, Order]:
    """The pit boss's part: why, who, and the PIN, which is the last that is asked."""
    w = seen.words
    codes = tuple((code, f"{code}: {w(meaning)}") for code, meaning in REASONS.items())
    code = yield Choice(w("{would} Why?", would=would), codes)
    options = [] if code == "other" else [("", w("nothing more"))]
    options += [(w(words), w(words)) for words in WORDS]
    words = yield Choice(w("{code}: and in words?", code=code), (*options, (OTHER, w("type it ..."))))
    if words == OTHER:
        words = yield Entry(w("{code}: in your words", code=code), free_text, most=150)
    reason = f"{code}: {words}" if words else code
    person = yield from named(w("Which pit boss approves?"), past.pit_bosses, pit_boss_name, 32, w)
    pin = yield pin_of(person, w, would, w("Reason: {reason}", reason=reason))
    return Order(command, args, person, reason, pin)


def which_card(order: Order, told: str, w: Language) -> Flow:
    """An order that was refused because the table cannot know whether its card was counted already."""
    options = (
        ("yes", w("that card: it lies aside and is counted")),
        ("no", w("another card: it was never counted")),
    )
    said = yield Choice(w("Which card is it?"), options, (told,))
    would = dict(options)[said]
    pin = yield pin_of(order.person or "", w, f"{order.command}: {would}")
    return replace(order, args={**order.args, SAME: said}, pin=pin)
