"""Rounds whose result is out: void or amended later, always by an event of its own, never by an edit.

What a settled round was is in the journal, not in the state; whoever gives the command has read it
there (:class:`tablectl.table.inputs.Past`).  The state keeps only what became of such rounds since,
so that of two people who look back at the same time one is told that he comes too late.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tablectl import events as ev
from tablectl.cards import Card, Position, Side
from tablectl.events import public_data
from tablectl.odds import bet_results, hand_result, outcome
from tablectl.rules import deal, next_position
from tablectl.table.claims import Claim, answer, claim
from tablectl.table.corrections import check_possible
from tablectl.table.evolve_round import amended, cards_told, come
from tablectl.table.holds import void_is_the_rule
from tablectl.table.inputs import Command, Kind, Past
from tablectl.table.state import KEPT, State
from tablectl.table.turn import Refused, Turn

NONE = "none"
"""What is typed for a position where no card lay."""


def _past(turn: Turn, command: Command, target: str) -> Past:
    """The settled round that is named, as it is now. Raises :class:`Refused`."""
    past = command.past
    if past is None or f"{past.shoe}/{past.round}" != target:
        playing = f"; in play is {turn.state.where}" if turn.in_round else ""
        raise Refused(f"round {target[:24]} has no result and is not void in this journal{playing}")
    known = {(shoe, number): revision for shoe, number, revision in turn.state.revisions}
    revision = known.get((past.shoe, past.round))
    if past.voided or revision == 0:
        # The game server may have refused that void: it is told once more.
        if command.kind is Kind.VOID and (past.shoe, past.round) in turn.state.unsettled:
            return past
        raise Refused(f"round {target} is void already")
    if revision is not None and revision != past.revision:
        raise Refused(
            f"round {target} was amended just now (revision {revision}); look at it again: recall {target}"
        )
    return past


def void_settled(turn: Turn, command: Command, target: str) -> None:
    """The round does not count after all: its bets go back. Its cards stay used."""
    past = _past(turn, command, target)
    assert command.person is not None and command.reason is not None
    cards = {} if past.result is None else cards_told(public_data(past.result))
    uses_kept = void_is_the_rule(turn.state) and target == turn.state.settled[0]
    turn.emit(
        ev.RoundVoided(
            shoe=past.shoe,
            round=past.round,
            reason=command.reason,
            cards={position.value: str(card) for position, card in cards.items()},
            approved_by=command.person,
            earlier=True,
            uses_kept=uses_kept,
        )
    )
    if uses_kept:
        _release(turn, command, "void", "overdraw")
    turn.answer = f"round {target} void"


def _release(turn: Turn, command: Command, action: str, code: str) -> None:
    assert command.person is not None and command.reason is not None
    if not any(hold.code == code for hold in turn.state.holds):
        return
    turn.emit(
        ev.TableReleased(
            action=action,
            reason=command.reason,
            approved_by=command.person,
            codes=(code,),
            **turn.where,
        )
    )


def _found(
    table: State, number: int, before: dict[Position, Card], after: dict[Position, Card], said: str | None
) -> list[Claim]:
    """Where the cards new to a settled hand lay meanwhile, each counted once. Raises :class:`Refused`."""
    found: list[Claim] = []
    known = {one.card for one in table.aside if one.round in (number, number + 1)}
    known |= {one.card for one in table.loose}
    for at in come(before, after, known):
        one = claim(table, number, after[at], said, found, kept=True)
        found += [] if one is None else [one]
    return found


def amend(turn: Turn, command: Command) -> None:
    """Cards of a settled round were read wrong: its result is told anew, with what it was before."""
    target = command.args.get("round", "")
    if turn.in_round and target == turn.state.where:
        raise Refused(f"round {target} has no result yet; its cards are set right by: correct, insert, move")
    past = _past(turn, command, target)
    assert past.result is not None and command.person is not None and command.reason is not None
    before = cards_told(public_data(past.result))
    after = _amended(before, command)
    if after == before:
        raise Refused("these are the cards it has already; say what was wrong: P1=8S")
    in_play = turn.state.shoe is not None and past.shoe == turn.shoe.number
    table, said, found = turn.state if in_play else past.table, answer(command), list[Claim]()
    if table is not None:
        found = _found(table, past.round, before, after, said)
    uses, taken = tuple(one.place for one in found), tuple(one.index for one in found)
    if table is not None:
        then = amended(table, past.round, before, after, uses, taken)
        check_possible(table.the_shoe, then.the_shoe)
    result = _result(past, after)
    turn.emit(
        ev.RoundAmended(
            shoe=past.shoe,
            round=past.round,
            before=public_data(past.result),
            after=public_data(result),
            reason=command.reason,
            approved_by=command.person,
            revision=result.revision,
            uses=uses,
            taken=taken,
        )
    )
    if in_play and KEPT in uses and not turn.state.loose:
        _release(turn, command, "amend", "overdraw")
    turn.answer = f"round {target} amended: {result.outcome.value}, was {past.result.outcome.value}"
    for place in uses:
        turn.answer += f"; a card was {place} before and is counted once"


def _amended(before: dict[Position, Card], command: Command) -> dict[Position, Card]:
    """The cards after the changes, if the drawing rule deals them so. Raises :class:`Refused`."""
    after = dict(before)
    for text, card in command.args.items():
        if text in ("round", "same"):
            continue
        if text not in tuple(Position):
            raise Refused(f"a position is one of {', '.join(Position)}, not {text[:10]!r}")
        try:
            after[Position(text)] = Card.parse(card)
        except ValueError as error:
            if card != NONE:
                raise Refused(f"{text}: {error}, or {NONE}") from None
            after.pop(Position(text), None)
    ordered = {position: after[position] for position in Position if position in after}
    laid, rest = deal(tuple(ordered.values()))
    if laid != ordered or rest or _due(laid) is not None:
        raise Refused(
            "under the drawing rule these cards are no finished hand ("
            + " ".join(f"{position}={card}" for position, card in ordered.items())
            + "); then only a void is left: void "
            + command.args.get("round", "")
        )
    return ordered


def _due(laid: dict[Position, Card]) -> Position | None:
    """The position that still wants a card."""
    player, banker = _hands(laid)
    return next_position([c.points for c in player], [c.points for c in banker])


def _hands(laid: dict[Position, Card]) -> tuple[tuple[Card, ...], tuple[Card, ...]]:
    player = tuple(card for position, card in laid.items() if position.side is Side.PLAYER)
    banker = tuple(card for position, card in laid.items() if position.side is Side.BANKER)
    return player, banker


def _result(past: Past, cards: dict[Position, Card]) -> ev.RoundResulted:
    assert past.result is not None
    player, banker = map(hand_result, _hands(cards))
    bets: dict[str, Any] = {} if past.result.free else bet_results(player, banker, past.rules.payouts)
    return replace(
        past.result,
        outcome=outcome(player, banker),
        player=player,
        banker=banker,
        bets=bets,
        confirmed_by="amended",
        revision=past.revision + 1,
    )
