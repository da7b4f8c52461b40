"""Questions asked one after the other until a command can be sent, all of them answerable on a number pad.

A flow is a generator: it yields a :class:`Question`, is given the answer, and returns an :class:`Order`. A
:class:`Dialog` is a flow and the answers so far; one step back is the same flow with one answer less.  A
PIN is the last question of its flow, so that it is in no answer that is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from tablectl.cards import RANKS, SUITS

PAGE = 9
"""Choices a page may have: one for each digit."""
MORE = "9"

BACK = frozenset({".", ",", "escape"})
"""Keys that go one step back where nothing is typed; some number pads have a comma for the point."""
RUB_OUT = frozenset({"backspace", "delete", "ctrl+h"})
ENTER = "enter"


@dataclass(frozen=True, slots=True)
class Order:
    """A command to send. ``expects``: refused if the table changed since the screen was looked at."""

    command: str
    args: Mapping[str, str] = field(default_factory=dict)
    person: str | None = None
    reason: str | None = None
    pin: str | None = field(default=None, repr=False)
    expects: bool = True


@dataclass(frozen=True, slots=True)
class Leave:
    """Not a command: the console ends."""


class Changed(Enum):
    """What a change of the table, since the dialog began, makes of what a question leads to."""

    REFUSED = "refused"
    TAKEN = "taken"
    EITHER = "either"
    """It depends on the answer."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several. ``options``: the answer, and what stands on the screen for it."""

    title: str
    options: tuple[tuple[str, str], ...]
    lines: tuple[str, ...] = ()
    danger: bool = False
    changed: Changed = Changed.REFUSED


@dataclass(frozen=True, slots=True)
class Entry:
    """Something typed. ``digits``: only numbers, with a stroke where ``stroke``. ``check``: what is wrong."""

    title: str
    check: Callable[[str], str | None] = lambda _: None
    lines: tuple[str, ...] = ()
    most: int = 60
    digits: bool = False
    stroke: bool = False
    secret: bool = False
    changed: Changed = Changed.REFUSED


@dataclass(frozen=True, slots=True)
class CardEntry:
    """One card: its rank, then its suit."""

    title: str
    changed: Changed = Changed.REFUSED


Question = Choice | Entry | CardEntry
Flow = Generator[Question, str, "Order | Leave"]


def at_any_time(ask: Flow) -> Flow:
    """The same flow, of an order that is taken whatever has changed; and no question says otherwise."""
    try:
        asked = next(ask)
        while True:
            asked = ask.send((yield replace(asked, changed=Changed.TAKEN)))
    except StopIteration as end:
        made: Order | Leave = end.value
        return replace(made, expects=False) if isinstance(made, Order) else made


RANK_KEYS = {
    **{"1": "A", "0": "T", "/": "J", "*": "Q", "-": "K"},
    **{digit: digit for digit in "23456789"},
    **{letter: letter for letter in "ATJQK"},
}
SUIT_KEYS = {**dict(zip("1234", SUITS, strict=True)), **{letter: letter for letter in SUITS}}


@dataclass(frozen=True)
class Dialog:
    """``version``: of the table that was on the screen when it began. ``page``: of a long choice."""

    name: str
    make: Callable[[], Flow]
    version: int
    where: str
    answers: tuple[str, ...] = field(default=(), repr=False)
    typed: str = field(default="", repr=False)
    page: int = 0
    wrong: str = ""

    def asks(self) -> Question | Order | Leave:
        """The next question; what is to be done when there is none."""
        flow = self.make()
        try:
            asked = next(flow)
            for answer in self.answers:
                asked = flow.send(answer)
        except StopIteration as end:
            made: Order | Leave = end.value
            return made
        return asked

    def key(self, key: str) -> Dialog | Order | Leave | None:
        """After a key: what it has become, what is to be done, or None: it was broken off."""
        asked = self.asks()
        match asked:
            case Choice():
                return self._choose(asked, key)
            case Entry():
                return self._type(asked, key)
            case CardEntry():
                return self._card(key)
            case Order() | Leave():
                return asked

    def options(self, asked: Choice) -> tuple[tuple[str, str, str], ...]:
        """Key, answer and text of what may be chosen on this page; :data:`MORE` turns it."""
        if len(asked.options) <= PAGE:
            shown = asked.options
        else:
            begin = self.page * (PAGE - 1)
            shown = asked.options[begin : begin + PAGE - 1]
        made = tuple((str(n), answer, text) for n, (answer, text) in enumerate(shown, start=1))
        return made if len(asked.options) <= PAGE else (*made, (MORE, "", ""))

    def _choose(self, asked: Choice, key: str) -> Dialog | Order | Leave | None:
        if key in BACK or key in RUB_OUT:
            return self._back()
        if len(asked.options) > PAGE and key == MORE:
            pages = -(-len(asked.options) // (PAGE - 1))
            return replace(self, page=(self.page + 1) % pages, wrong="")
        for number, answer, _ in self.options(asked):
            if key == number:
                return self._answer(answer)
        return replace(self, wrong="" if key == ENTER else self.wrong)

    def _type(self, asked: Entry, key: str) -> Dialog | Order | Leave | None:
        rubs = key in RUB_OUT or (asked.digits and key in (".", ","))
        if key == "escape" or (rubs and not self.typed):
            return self._back()
        if rubs:
            return replace(self, typed=self.typed[:-1], wrong="")
        if key == ENTER:
            if not self.typed.strip():
                return self._back()
            answer = self.typed if asked.secret else self.typed.strip()
            wrong = asked.check(answer)
            return self._answer(answer) if wrong is None else replace(self, wrong=wrong)
        lawful = len(key) == 1 and key.isprintable()
        if asked.digits:
            lawful = key in "0123456789" or (asked.stroke and key == "/")
        if not lawful or len(self.typed) >= asked.most:
            return self
        return replace(self, typed=self.typed + key, wrong="")

    def _card(self, key: str) -> Dialog | Order | Leave | None:
        if key in BACK or key in RUB_OUT:
            return replace(self, typed="", wrong="") if self.typed else self._back()
        if not self.typed:
            rank = RANK_KEYS.get(key.upper())
            return self if rank is None else replace(self, typed=rank, wrong="")
        suit = SUIT_KEYS.get(key.upper())
        return self if suit is None else self._answer(self.typed + suit)

    def _answer(self, answer: str) -> Dialog | Order | Leave:
        after = replace(self, answers=(*self.answers, answer), typed="", page=0, wrong="")
        asked = after.asks()
        return asked if isinstance(asked, Order | Leave) else after

    def _back(self) -> Dialog | None:
        if not self.answers:
            return None
        return replace(self, answers=self.answers[:-1], typed="", page=0, wrong="")


assert set(RANK_KEYS.values()) == set(RANKS)
