"""How each bet kind ends, by the house's payouts, so that a game server needs no rule of its own.

Odds are winnings per unit staked, as decimal strings; the stake comes back on top. 2-Way and
3-Way are a server's combinations of these single bets, settled one by one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablectl.cards import Card, Outcome, Side
from tablectl.events import BetResult, HandResult
from tablectl.house import Payouts
from tablectl.rules import is_natural, is_pair, outcome_of, total

_LOSE = BetResult(result="lose")


def hand_result(cards: Sequence[Card]) -> HandResult:
    """A finished hand as the outside sees it."""
    points = tuple(card.points for card in cards)
    return HandResult(
        cards=tuple(map(str, cards)),
        points=points,
        total=total(points),
        natural=is_natural(cards),
        pair=is_pair(cards),
    )


def outcome(player: HandResult, banker: HandResult) -> Outcome:
    """The outcome of two finished hands."""
    return outcome_of(player.total, banker.total)


def bet_results(player: HandResult, banker: HandResult, payouts: Payouts) -> dict[str, BetResult]:
    """What becomes of each single bet the house offers (baccarat, section 6)."""
    winner = outcome(player, banker)
    results: dict[str, BetResult] = {}
    for bet in payouts.offered:
        match bet:
            case "tie":
                won = winner is Outcome.TIE
                results[bet] = _win(payouts.tie) if won else _LOSE
            case "player_pair" | "banker_pair":
                won = (player if bet == "player_pair" else banker).pair
                results[bet] = _win(payouts.pair) if won else _LOSE
            case _:
                results[bet] = _main_bet(Side(bet), winner, banker.total, payouts)
    return results


def _main_bet(side: Side, winner: Outcome, banker_total: int, payouts: Payouts) -> BetResult:
    if winner is Outcome.TIE:
        return BetResult(result="push" if payouts.on_tie == "returned" else "stand")
    if winner.value != side.value:
        return _LOSE
    if side is Side.PLAYER:
        return _win(payouts.player)
    return _win(payouts.banker_six if banker_total == 6 else payouts.banker)


def _win(odds: str) -> BetResult:
    return BetResult(result="win", odds=odds)
