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
from tablectl.table.corrections import check_possible
from tablectl.table.evolve_round import BURNED, KEPT, RESERVED, amended_shoe, cards_told
from tablectl.table.holds import void_is_the_rule
from tablectl.table.inputs import Command, Past
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
        raise Refused(f"round {target} is void already")
    if revision is not None and revision != past.revision:
        raise Refused(
            f"round {target} was amended just now (revision {revision}); look at it again: recall {target}"
        )
    return past


def void_settled(turn: Turn, command: Command, target: str) -> None:
    """The round does not count after all: its bets go back. Its cards stay used."""
    past = _past(turn, command, target)
    assert past.result is not None and command.person is not None and command.reason is not None
    cards = cards_told(public_data(past.result))
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


def _counted_already(turn: Turn, target: str, new: list[Card]) -> tuple[str, ...]:
    """Where the cards ``new`` to the last hand lay meanwhile: drawn in excess of what it was taken for.

    As many of the first ones as are found there, in order; a card is counted once.
    """
    state = turn.state
    if target != state.settled[0] or turn.in_round:
        return ()
    kept: list[Card | None] = [loose.card for loose in state.loose]
    for place, lay in ((KEPT, kept), (RESERVED, list(state.reserved)), (BURNED, _burned_since(turn))):
        count = next(
            (n for n, (a, b) in enumerate(zip(new, lay, strict=False)) if a != b), min(len(new), len(lay))
        )
        if count:
            return (place,) * count
    return ()


def _burned_since(turn: Turn) -> list[Card | None]:
    """What was burned behind the last result, the first card first."""
    state = turn.state
    if state.last_scan != "burn" or not turn.shoe.burned:
        return []
    try:
        return [Card.parse(turn.shoe.burned[-1])]
    except ValueError:  # it was not read
        return []


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
    uses: tuple[str, ...] = ()
    if turn.state.shoe is not None and past.shoe == turn.shoe.number:
        uses = _counted_already(turn, target, [card for at, card in after.items() if at not in before])
        check_possible(turn.shoe, amended_shoe(turn.shoe, before, after, uses))
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
        )
    )
    if KEPT in uses and not turn.state.loose:
        _release(turn, command, "amend", "overdraw")
    turn.answer = f"round {target} amended: {result.outcome.value}, was {past.result.outcome.value}"


def _amended(before: dict[Position, Card], command: Command) -> dict[Position, Card]:
    """The cards after the changes, if the drawing rule deals them so. Raises :class:`Refused`."""
    after = dict(before)
    for text, card in command.args.items():
        if text == "round":
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
