"""The result that a finished hand has under the house's payouts, and how it differs from one published."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablectl.cards import Card, Outcome
from tablectl.events import BetResult, HandResult
from tablectl.house import Payouts
from tablectl.odds import bet_results, hand_result, outcome

_COMPARED = ("outcome", "player", "banker", "bets", "cancelled", "free", "revision")
"""Fields of a result that follow from the rows; who confirmed it does not."""


def derive(
    player: Sequence[str], banker: Sequence[str], payouts: Payouts, *, free: bool
) -> tuple[dict[str, Any], list[str]]:
    """The result as it must be published, and the same in words. Raises ValueError for what is no card."""
    hands = {
        "player": hand_result([Card.parse(c) for c in player]),
        "banker": hand_result([Card.parse(c) for c in banker]),
    }
    words = [_hand_words(name.capitalize(), hand) for name, hand in hands.items()]
    won = outcome(hands["player"], hands["banker"])
    totals = f"{hands['player'].total} to {hands['banker'].total}"
    words.append(f"{won.value}: Player {totals} Banker")
    bets = {} if free else bet_results(hands["player"], hands["banker"], payouts)
    if free:
        words.append("no wagers: no bets are settled")
    words += [_bet_words(bet, result, won, hands["banker"].total) for bet, result in bets.items()]
    made = {
        "outcome": won.value,
        **{name: _hand_plain(hand) for name, hand in hands.items()},
        "bets": {bet: _bet_plain(result) for bet, result in bets.items()},
        "cancelled": False,
        "free": free,
    }
    return made, words


def compare(made: dict[str, Any], said: dict[str, Any]) -> list[str]:
    """Where a published result differs from the derived one, field by field."""
    return [
        f"published {path} is {there}, derived {here}"
        for name in _COMPARED
        for path, here, there in _differences(name, made.get(name), said.get(name))
    ]


def _differences(path: str, here: Any, there: Any) -> list[tuple[str, Any, Any]]:
    if isinstance(here, dict) and isinstance(there, dict):
        keys = [*here, *(key for key in there if key not in here)]
        return [one for key in keys for one in _differences(f"{path}.{key}", here.get(key), there.get(key))]
    # A boolean is no number here: True is not 1.
    same = here == there and isinstance(here, bool) == isinstance(there, bool)
    return [] if same else [(path, _short(here), _short(there))]


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= 100 else text[:100] + "…"


def told_result(said: dict[str, Any]) -> str:
    """A published result in a few words."""
    try:
        revision = "" if said.get("revision", 1) == 1 else f", revision {said['revision']}"
        return f"{said['outcome']} {said['player']['total']} to {said['banker']['total']}{revision}"
    except (KeyError, TypeError):
        return "something that is no result"


def _hand_words(name: str, hand: HandResult) -> str:
    points = " + ".join(map(str, hand.points))
    marks = [word for word, is_so in (("natural", hand.natural), ("pair", hand.pair)) if is_so]
    return f"{name} {' '.join(hand.cards)}: {points}, total {hand.total}" + "".join(f", {m}" for m in marks)


def _bet_words(bet: str, result: BetResult, won: Outcome, banker_total: int) -> str:
    name = bet.replace("_", " ")
    if result.odds is None:
        return f"bet {name}: {result.result}"
    six = bet == "banker" and won is Outcome.BANKER and banker_total == 6
    key = "pair" if bet.endswith("_pair") else "banker_six" if six else bet
    return f"bet {name}: {result.result} at {result.odds} to 1 (payouts.{key})"


def _hand_plain(hand: HandResult) -> dict[str, Any]:
    return {
        **{"cards": list(hand.cards), "points": list(hand.points), "total": hand.total},
        **{"natural": hand.natural, "pair": hand.pair},
    }


def _bet_plain(result: BetResult) -> dict[str, Any]:
    return {"result": result.result} | ({} if result.odds is None else {"odds": result.odds})
