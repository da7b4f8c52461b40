"""Whether a result can be: its cards under the drawing rule, what is said of them, and how bets end.

A game server that settles money believes no number it can work out itself.  All of this follows from
the two hands of cards; the odds and which bets are offered are the house's own and are taken as told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from tablectl.cards import Card, Outcome, Position
from tablectl.events import BetResult, HandResult, RoundResulted
from tablectl.odds import hand_result, outcome
from tablectl.rules import deal, next_position

T = TypeVar("T")

_ODDS = re.compile(r"[0-9]{1,12}(\.[0-9]{1,8})?", re.ASCII)
_ALWAYS_OFFERED = ("player", "banker", "tie")


class Impossible(Exception):
    """The event says what cannot be; the message says why."""


def read_as(adapter: TypeAdapter[T], data: Mapping[str, Any], where: str = "data") -> T:
    """What ``data`` holds; no value is taken for one of another type. Raises :class:`Impossible`."""
    try:
        return adapter.validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        raise Impossible(f"{'.'.join((where, *map(str, first['loc'])))}: {first['msg']}") from None
    except RecursionError:
        raise Impossible(f"{where} is nested too deep") from None


def check_result(result: RoundResulted) -> None:
    """That ``result`` is what its cards say. Raises :class:`Impossible`."""
    if result.cancelled:
        raise Impossible("a cancelled round has no result: it is told by round.voided")
    player, banker = _cards("player", result.player), _cards("banker", result.banker)
    _check_drawing(player, banker)
    says = outcome(result.player, result.banker)
    if result.outcome is not says:
        totals = f"{result.player.total} to {result.banker.total}"
        raise Impossible(f"{totals} is {says}, not {result.outcome}")
    if result.free and result.bets:
        raise Impossible("a free hand settles no bets")
    if not result.free:
        _check_bets(result)


def _cards(side: str, hand: HandResult) -> tuple[Card, ...]:
    """The cards of a hand of which everything said is true."""
    if len(hand.cards) not in (2, 3):
        raise Impossible(f"the {side} hand has {len(hand.cards)} cards; a hand has two or three")
    try:
        cards = tuple(map(Card.parse, hand.cards))
    except ValueError as error:
        raise Impossible(f"the {side} hand: {error}") from None
    truth = hand_result(cards)
    for what in ("points", "total", "natural", "pair"):
        right, said = getattr(truth, what), getattr(hand, what)
        if right != said:
            raise Impossible(f"the {side} hand {' '.join(hand.cards)}: {what} is {right}, not {said}")
    return cards


def _check_drawing(player: tuple[Card, ...], banker: tuple[Card, ...]) -> None:
    """That these cards, dealt in order under the rule, make just these hands and no card is due."""
    # The order of dealing: in turn, then the Player's third, then the Banker's.
    laid, _ = deal([player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:]])
    said = [Position.P3] * (len(player) == 3) + [Position.B3] * (len(banker) == 3)
    for position in said:
        if position not in laid:
            raise Impossible(f"the drawing rule gives no card to {position} here")
    due = next_position([card.points for card in player], [card.points for card in banker])
    if due is not None:
        raise Impossible(f"the hand is not finished: the drawing rule wants a card at {due}")


# --- bets -------------------------------------------------------------------------------------------------


def _check_bets(result: RoundResulted) -> None:
    """That each bet ends as the hands say. Kinds this server does not know are none it offers."""
    for kind in _ALWAYS_OFFERED:
        if kind not in result.bets:
            raise Impossible(f"data.bets does not say how {kind} ends")
    for kind, bet in result.bets.items():
        ends = _may_end(kind, result)
        if ends and bet.result not in ends:
            raise Impossible(f"the bet on {kind}: {' or '.join(ends)} here, not {bet.result!r:.20}")
        _check_odds(kind, bet)
    if result.bets["player"].result != result.bets["banker"].result and result.outcome is Outcome.TIE:
        raise Impossible("a tie leaves the bets on player and banker both standing or returns both")


def _may_end(kind: str, result: RoundResulted) -> tuple[str, ...]:
    """How a bet may end after this result; nothing for a kind that is not known."""
    match kind:
        case "player" | "banker" if result.outcome is Outcome.TIE:
            return ("push", "stand")
        case "player" | "banker" | "tie":
            won = result.outcome == kind
        case "player_pair":
            won = result.player.pair
        case "banker_pair":
            won = result.banker.pair
        case _:
            return ()
    return ("win",) if won else ("lose",)


def _check_odds(kind: str, bet: BetResult) -> None:
    if (bet.odds is not None) != (bet.result == "win"):
        raise Impossible(f"the bet on {kind}: a win, and nothing else, has odds")
    if bet.odds is not None and _ODDS.fullmatch(bet.odds) is None:
        raise Impossible(f"the bet on {kind}: odds are a plain decimal such as 0.95, not {bet.odds!r:.30}")
