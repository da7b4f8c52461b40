"""Cards and places on the layout as they are typed: a wrong one is told before anything is sent.

A card is rank and suit: ``8S``, ``th`` or ``10H``. A place is ``P1`` to ``B3``, or ``K1`` to ``K9`` for the
cards kept under a hold, in the order in which they came.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import click

from tablectl.cards import Card, Position

MOST_KEPT = 9
MOST_LISTED = 100
"""Cards in one list."""

_POSITIONS = tuple(position.value for position in Position)
_KEPT = tuple(f"K{number}" for number in range(1, MOST_KEPT + 1))


def card_name(text: str) -> str:
    """The card's name as the table has it: ``10s`` is ``TS``. Raises :class:`ValueError`."""
    upper = text.upper()
    return str(Card.parse(f"T{upper[2:]}" if upper.startswith("10") else upper))


class CardType(click.ParamType[str]):
    """One card."""

    name = "card"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return card_name(str(value))
        except ValueError:
            self.fail(_no_card(str(value)), param, ctx)


class PlaceType(click.ParamType[str]):
    """A position of a hand, or (``kept``) of a card kept under a hold."""

    name = "position"

    def __init__(self, *, kept: bool = False) -> None:
        self._places = _POSITIONS + (_KEPT if kept else ())
        self._wants = f"a position is one of {' '.join(_POSITIONS)}" + (
            f", or K1 to K{MOST_KEPT} for a card kept under the hold" if kept else ""
        )

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        place = str(value).upper()
        if place not in self._places:
            self.fail(f"{_short(value)}: {self._wants}", param, ctx)
        return place


class WhatType(click.ParamType[str]):
    """What is scanned again: the last card, the whole hand, or one position."""

    name = "last|hand|position"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if text.lower() in ("last", "hand"):
            return text.lower()
        if text.upper() not in _POSITIONS:
            self.fail(f"{_short(text)}: last, hand, or one of {' '.join(_POSITIONS)}", param, ctx)
        return text.upper()


class LaidType(click.ParamType[tuple[str, str]]):
    """``P1=8S``; ``B3=none``: no card lay there."""

    name = "pos=card"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        place, equals, card = str(value).partition("=")
        if not equals or place.upper() not in _POSITIONS:
            wants = f"write POSITION=CARD, the position one of {' '.join(_POSITIONS)}: P1=8S B3=none"
            self.fail(f"{_short(value)}: {wants}", param, ctx)
        if card.lower() == "none":
            return place.upper(), "none"
        try:
            return place.upper(), card_name(card)
        except ValueError:
            self.fail(f"{_no_card(card)}, or none", param, ctx)


class CardsType(click.ParamType[str]):
    """Some cards, with spaces or commas between them; as often as there are of them."""

    name = "cards"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        words = [word for word in re.split(r"[ ,]+", str(value)) if word]
        if not words:
            self.fail('cards are needed, such as "KS 8D"', param, ctx)
        if len(words) > MOST_LISTED:
            self.fail(f"{len(words)} cards are too many; {MOST_LISTED} are allowed", param, ctx)
        for word in words:
            try:
                card_name(word)
            except ValueError:
                self.fail(_no_card(word), param, ctx)
        return " ".join(card_name(word) for word in words)


def _short(text: object) -> str:
    shown = str(text)
    return repr(shown if len(shown) <= 20 else shown[:20] + "…")


def _no_card(text: str) -> str:
    return f"{_short(text)} is not a card: write rank (A 2-9 T J Q K) and suit (S H D C), for example 8S"


CARD = CardType()
CARDS = CardsType()
LAID = LaidType()
PLACE = PlaceType()
PLACE_OR_KEPT = PlaceType(kept=True)
WHAT = WhatType()


def same_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Whether a card that is told is one which lies aside already: what the table asks where it cannot
    know."""
    same = click.option(
        "--same", "same", flag_value="yes", help="The card lies aside already: burned, reserved or used."
    )
    another = click.option(
        "--another", "same", flag_value="no", help="The card is none of those: it was never counted."
    )
    return same(another(command))


def said(same: str | None) -> dict[str, str]:
    """The argument that tells it."""
    return {} if same is None else {"same": same}


def flag(same: str | None) -> list[str]:
    """As it is typed."""
    return {"yes": ["--same"], "no": ["--another"]}.get(same or "", [])
