"""What the events told: the last rounds, who works here, and where the cutting card has its place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from tablectl.console.bounded import count, listed, mapping, number, text

MOST_ROUNDS = 40
MOST_NAMES = 16

WANTED = (
    "round.resulted",
    "round.voided",
    "round.amended",
    "dealer.changed",
    "inspection.recorded",
    "shoe.started",
    "table.released",
    "hand.corrected",
)
"""The events that tell something here, as they are called in their type."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A round that is over. ``what``: how; the hands as cards and total, ``player`` first."""

    where: str
    what: str
    player: tuple[str, ...] = ()
    banker: tuple[str, ...] = ()
    totals: tuple[int, int] | None = None
    mark: str = ""

    @property
    def place(self) -> tuple[int, ...]:
        """Shoe and round, in the order of which rounds are played."""
        return tuple(map(int, self.where.split("/")))


@dataclass(frozen=True, slots=True)
class Past:
    """``rounds``: newest first. ``names``: those seen last first. ``cut_place``: cards out when it is due."""

    rounds: tuple[Ended, ...] = ()
    dealers: tuple[str, ...] = ()
    pit_bosses: tuple[str, ...] = ()
    cut_place: int | None = None
    by_share: bool = False
    confirm: str = ""

    def heard(self, event: Mapping[str, Any]) -> Past:
        """After one more event."""
        kind = text(event.get("type"), 60).removeprefix("tablectl.").removesuffix(".v1")
        data = mapping(event.get("data"))
        past = self
        for name in (data.get("approved_by"), *listed(data.get("attested_by"))[1:2]):
            if name:
                past = replace(past, pit_bosses=_first(text(name, 32), past.pit_bosses))
        match kind:
            case "round.resulted":
                return past._ended(_resulted(data, ""))
            case "round.amended":
                return past._ended(_resulted(mapping(data.get("after")), "AMENDED", data))
            case "round.voided":
                return past._ended(Ended(_where(data), "VOID", mark=text(data.get("reason"), 60)))
            case "dealer.changed" if data.get("dealer"):
                return replace(past, dealers=_first(text(data["dealer"], 60), past.dealers))
            case "shoe.started":
                return past._shoe(data)
            case _:
                return past

    def _ended(self, ended: Ended) -> Past:
        """A round that was amended or voided later has its place, and is not the last one by that."""
        others = (one for one in self.rounds if one.where != ended.where)
        rounds = sorted((ended, *others), key=lambda one: one.place, reverse=True)
        return replace(self, rounds=tuple(rounds[:MOST_ROUNDS]))

    def _shoe(self, data: Mapping[str, Any]) -> Past:
        rules = mapping(data.get("rules"))
        shoe, dealing = mapping(rules.get("shoe")), mapping(rules.get("dealing"))
        size, behind, share = (
            52 * count(data.get("decks")),
            number(shoe.get("cutting_card")),
            shoe.get("share"),
        )
        place = None if behind is None or not size else size - behind
        if isinstance(share, str):
            try:
                place = math.ceil(Decimal(share) * size)
            except (ArithmeticError, ValueError):
                place = None
        return replace(
            self,
            cut_place=place if place is not None and 0 < place < size else None,
            by_share=isinstance(share, str),
            confirm=text(dealing.get("confirm"), 12),
        )


def _first(name: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return (name, *(other for other in names if other != name))[:MOST_NAMES]


def _where(data: Mapping[str, Any]) -> str:
    return f"{count(data.get('shoe'))}/{count(data.get('round'))}"


def _resulted(result: Mapping[str, Any], mark: str, data: Mapping[str, Any] | None = None) -> Ended:
    player, banker = mapping(result.get("player")), mapping(result.get("banker"))
    marks = [mark] if mark else []
    marks += ["free hand"] if result.get("free") is True else []
    marks += [
        f"{side} {name}"
        for side, hand in (("player", player), ("banker", banker))
        for name in ("natural", "pair")
        if hand.get(name) is True
    ]
    return Ended(
        _where(result if data is None else data),
        text(result.get("outcome"), 10).capitalize(),
        tuple(text(card, 3) for card in listed(player.get("cards"), 3)),
        tuple(text(card, 3) for card in listed(banker.get("cards"), 3)),
        (count(player.get("total")), count(banker.get("total"))),
        ", ".join(marks),
    )
