"""The settled rounds of one shoe as they stand now, from the journal's events: the display's only source.

After an amendment or a void they are made anew from the same events, so nothing is ever patched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.cards import Outcome
from tablectl.events import Event, HandResult, RoundAmended, RoundResulted, RoundVoided
from tablectl.roads import Mark


@dataclass(frozen=True, slots=True)
class Result:
    """How a round ended, as it stands now."""

    outcome: Outcome
    player: HandResult
    banker: HandResult
    free: bool = False

    @property
    def mark(self) -> Mark:
        """As the score boards have it."""
        return Mark(
            self.outcome,
            player_pair=self.player.pair,
            banker_pair=self.banker.pair,
            natural=self.player.natural or self.banker.natural,
        )


@dataclass(frozen=True, slots=True)
class Settled:
    """A round by its number in the shoe. ``result`` None: it is void."""

    number: int
    result: Result | None
    amended: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """What was played of a shoe. ``unseen``: its first rounds, of which only their number is known.

    They were played on another controller, before the shoe was adopted.
    """

    rounds: tuple[Settled, ...] = ()
    unseen: int = 0


def settled_rounds(events: Iterable[Event]) -> tuple[Settled, ...]:
    """The last word on every round of a shoe, in the order of the rounds. ``events``: in the journal's order.

    Raises :class:`ValueError`, :class:`KeyError` or :class:`TypeError` for an amendment that is no result.
    """
    found: dict[int, Settled] = {}
    for event in events:
        number = event.round
        if number is None:
            continue
        match event:
            case RoundResulted():
                result = Result(event.outcome, event.player, event.banker, event.free)
                found[number] = Settled(number, result)
            case RoundAmended():
                found[number] = Settled(number, _result(event.after), amended=True)
            case RoundVoided():
                found[number] = Settled(number, None)
            case _:
                pass
    return tuple(found[number] for number in sorted(found))


def marks(settled: Iterable[Settled]) -> list[Mark]:
    """What the score boards are drawn of: every result, voids left out."""
    return [one.result.mark for one in settled if one.result is not None]


def _result(plain: Mapping[str, Any]) -> Result:
    return Result(
        Outcome(plain["outcome"]),
        _hand(plain["player"]),
        _hand(plain["banker"]),
        bool(plain.get("free", False)),
    )


def _hand(plain: Mapping[str, Any]) -> HandResult:
    return HandResult(
        cards=tuple(str(card) for card in plain["cards"]),
        points=tuple(int(points) for points in plain["points"]),
        total=int(plain["total"]),
        natural=bool(plain["natural"]),
        pair=bool(plain["pair"]),
    )
