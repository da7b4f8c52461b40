"""What the table display shows, as plain data: pure, made of the committed state and the settled rounds.

In two parts, because one changes with every card and the other with every round: the *table* (phase,
countdown, hands, result) and the *boards* (roads, predictions, statistics).  What ``/v1/state`` hides is not
here either: :func:`tablectl.views.state_view` is where the hands come from.

No part tells the time: a countdown is told as the instant of its end, in milliseconds of the table's own
clock, so that the same bytes serve every page, whenever it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tablectl.cards import Position, Side
from tablectl.clock import Instant
from tablectl.display.rounds import Played, Result, Settled, marks
from tablectl.house import HouseRules
from tablectl.roads import (
    LAGS,
    Cell,
    Mark,
    Placed,
    bead_plate,
    big_road,
    derived_road,
    prediction,
    statistics,
)
from tablectl.table import Phase, State
from tablectl.table.state import Round
from tablectl.views import state_view

MILLISECOND = 1_000_000
_NO_TIME = Instant(0, 0)
_RESULT_SHOWN = frozenset({Phase.IDLE, Phase.BURNING, Phase.SHUFFLE_DUE})
"""Between two rounds: the last result stays to be seen."""


@dataclass(frozen=True, slots=True)
class About:
    """What the display tells of the table besides its state. ``language`` None: the browser's own."""

    table: str
    test: bool = False
    language: str | None = None
    predictions: bool = True


def shoe_shown(state: State) -> int | None:
    """The shoe whose rounds are shown: the one in play, or the last one until the next begins."""
    return None if state.phase is Phase.CLOSED else state.newest_shoe or None


def table_part(state: State, about: About, played: Played | None) -> dict[str, Any]:
    """Phase, countdown, hands and result. ``played``: of :func:`shoe_shown`; None: not known."""
    view = state_view(state, _NO_TIME)
    now = state.round
    rounds = played.rounds if played and now is None and state.phase in _RESULT_SHOWN else ()
    last = rounds[-1] if rounds else None
    hands = _hands(now, view["round"]) if now else _shown(last.result if last else None)
    return {
        "table": about.table,
        "test": about.test,
        "language": about.language,
        "phase": view["phase"],
        "held": state.held,
        "shoe": shoe_shown(state),
        "round": now.number if now else None,
        "free": now is not None and now.free,
        "last_hand": state.shoe is not None and state.shoe.announced,
        "deadline": now.deadline // MILLISECOND if now and now.deadline is not None else None,
        "window": round(state.rules.betting.seconds * 1000) if state.rules else None,
        **hands,
        "next": view["round"]["next"] if now else None,
        "result": _told(last),
        "limits": _limits(state.rules),
    }


def _hands(r: Round, view: dict[str, Any]) -> dict[str, Any]:
    """Of the round in play. A card whose face may not be seen is ``?``."""
    made: dict[str, Any] = {}
    for side, lying in ((Side.PLAYER, r.player), (Side.BANKER, r.banker)):
        places = [place for place in Position if place.side is side][: len(lying)]
        cards = [view["cards"].get(place.value, "?") for place in places]
        made[side.value] = {"cards": cards, "total": view[f"{side.value}_total"]}
    return made


def _shown(result: Result | None) -> dict[str, Any]:
    hands = (None, None) if result is None else (result.player, result.banker)
    return {
        side.value: {"cards": list(hand.cards), "total": hand.total} if hand else {"cards": [], "total": None}
        for side, hand in zip((Side.PLAYER, Side.BANKER), hands, strict=True)
    }


def _told(last: Settled | None) -> dict[str, Any] | None:
    """The result banner. ``outcome`` None: the round is void."""
    if last is None:
        return None
    told: dict[str, Any] = {"round": last.number, "outcome": None, "amended": last.amended, "extras": []}
    if (result := last.result) is not None:
        hands = (("player", result.player), ("banker", result.banker))
        told["outcome"] = result.outcome.value
        told["extras"] = [f"{side}_natural" for side, hand in hands if hand.natural]
        told["extras"] += [f"{side}_pair" for side, hand in hands if hand.pair]
    return told


def _limits(rules: HouseRules | None) -> dict[str, Any] | None:
    if rules is None or not rules.limits.bets:
        return None
    return {
        "currency": rules.limits.currency,
        "bets": {name: [limit.min, limit.max] for name, limit in rules.limits.bets.items()},
    }


def boards_key(state: State) -> tuple[object, ...]:
    """What tells that the boards are others: while it is the same, so are the rounds of the shoe."""
    return shoe_shown(state), state.settled, state.revisions


def boards_part(played: Played, *, predictions: bool) -> dict[str, Any]:
    """Roads and statistics of a shoe. Cells: column and row from 0, then what is in the cell."""
    results = marks(played.rounds)
    return {
        "unseen": played.unseen,
        "statistics": statistics(results),
        "bead": [[at.column, at.row, *_bead(at.what)] for at in bead_plate(results)],
        "big": [_cell(cell) for cell in big_road(results)],
        "derived": {road.value: [_entry(at) for at in derived_road(results, road)] for road in LAGS},
        "predictions": _predictions(results) if predictions else None,
    }


def _predictions(results: Sequence[Mark]) -> dict[str, dict[str, str | None]]:
    """What each derived road gets if a side wins next; None: no entry yet."""
    return {side.value: {road.value: prediction(results, road, side) for road in LAGS} for side in Side}


def _bead(mark: Mark) -> list[Any]:
    return [mark.outcome.value, int(mark.player_pair), int(mark.banker_pair), int(mark.natural)]


def _cell(cell: Cell) -> list[Any]:
    side = None if cell.side is None else cell.side.value
    return [cell.column, cell.row, side, cell.ties, int(cell.player_pair), int(cell.banker_pair)]


def _entry(at: Placed[Any]) -> list[Any]:
    return [at.column, at.row, at.what.value]
