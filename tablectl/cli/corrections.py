"""Setting cards right: of the hand in play, and of a round that was settled. All of it is the pit boss's."""

from __future__ import annotations

from dataclasses import replace

import click

from tablectl.cli.arguments import ROUND
from tablectl.cli.cards import CARD, LAID, PLACE, PLACE_OR_KEPT, flag, said, same_options
from tablectl.cli.order import Given, Order, pit_boss_options
from tablectl.cli.output import Refused
from tablectl.cli.send import carry_out
from tablectl.local import Client


@click.command("correct")
@click.argument("position", metavar="POS", type=PLACE_OR_KEPT)
@click.argument("card", metavar="CARD", type=CARD)
@pit_boss_options
def correct(given: Given, position: str, card: str) -> int:
    """The card at POS was read wrong: it is CARD.

    POS is P1 to B3, or K1 to K9 for a card kept under the hold, in the order they came. CARD is rank and
    suit: 8S, TH (10H is the same). All cards are then dealt anew by the rule; none is counted twice.

    Example:  tablectl correct B2 8S --state 512 --as bo --reason "misread: seen on video"
    """
    args = {"position": position, "card": card}
    return carry_out(given, Order("correct", args, ["correct", position, card]))


@click.command("insert")
@click.argument("position", metavar="POS", type=PLACE)
@click.argument("card", metavar="CARD", type=CARD)
@same_options
@pit_boss_options
def insert(given: Given, position: str, card: str, same: str | None) -> int:
    """CARD lies at POS (P1 to B3) and was not scanned; the cards scanned behind it move on by the rule.

    CARD is rank and suit: 8S, TH (10H is the same).

    Example:  tablectl insert B1 TH --state 512 --as bo --reason "missed: seen on video"
    """
    args = {"position": position, "card": card, **said(same)}
    return carry_out(given, Order("insert", args, ["insert", position, card, *flag(same)]))


@click.command("move")
@click.argument("position", metavar="POS", type=PLACE_OR_KEPT)
@click.argument("to", metavar="POS", type=PLACE_OR_KEPT)
@pit_boss_options
def move(given: Given, position: str, to: str) -> int:
    """The card at the first POS lies at the second one; all cards are dealt anew by the rule.

    POS is P1 to B3, or K1 to K9 for a card kept under the hold, in the order they came.

    Example:  tablectl move P2 B1 --state 512 --as bo --reason "dealing: order seen on video"
    """
    if position == to:
        raise click.UsageError(f"{position} to {to} is no move")
    return carry_out(given, Order("move", {"position": position, "to": to}, ["move", position, to]))


@click.command("enter")
@click.argument("position", metavar="POS", type=PLACE)
@click.argument("card", metavar="CARD", type=CARD)
@same_options
@pit_boss_options
def enter(given: Given, position: str, card: str, same: str | None) -> int:
    """CARD lies at POS (P1 to B3) and cannot be scanned: it is entered by hand, and published as such.

    CARD is rank and suit: 8S, TH (10H is the same).

    Example:  tablectl enter P3 TH --state 512 --as bo --reason "device: the shoe is dead"
    """
    args = {"position": position, "card": card, **said(same)}
    return carry_out(given, Order("enter", args, ["enter", position, card, *flag(same)]))


@click.command("void")
@click.argument("which", metavar="[SHOE/ROUND]", type=ROUND, required=False)
@pit_boss_options
def void(given: Given, which: str | None) -> int:
    """Make the round in play void, or with SHOE/ROUND an earlier one; its cards stay used.

    The round in play: SHOE/ROUND, --round or --state says what you saw. An earlier one wants --state.
    Without them it only shows what would happen.

    \b
    Example:  tablectl void 12/34 --as bo --reason "dealing: cards fell from the table"
              tablectl void 12/30 --state 512 --as bo --reason "dispute: seen on video"
    """
    if which is not None and given.round is not None and which != given.round:
        raise Refused(
            f"refused: {which} and --round {given.round} are two rounds; "
            "an earlier round is voided with --state"
        )
    round_ = which or given.round
    if which is not None and not given.saw and _in_play(given) == which:
        given = replace(given, round=which)
    return carry_out(
        given,
        Order(
            "void",
            {} if round_ is None else {"round": round_},
            ["void"] if which is None else ["void", which],
            looks_back=which,
        ),
    )


def _in_play(given: Given) -> object:
    """The round in play as the daemon tells it."""
    status, state = Client(given.target.path()).get("/v1/state")
    return state.get("where") if status == 200 else None


@click.command("amend")
@click.argument("which", metavar="SHOE/ROUND", type=ROUND)
@click.argument("cards", metavar="POS=CARD…", type=LAID, nargs=-1, required=True)
@same_options
@pit_boss_options
def amend(given: Given, which: str, cards: tuple[tuple[str, str], ...], same: str | None) -> int:
    """Correct the cards of a round that has its result, and the result with them.

    Name the positions that were wrong: POS is P1 to B3, CARD is rank and suit (8S, TH or 10H), or none
    where no card lay. Cards that break the drawing rule are refused; then only `void` is left.

    \b
    Example:  tablectl amend 12/33 B2=8S --state 512 --as bo --reason "misread: seen on video"
              tablectl amend 12/33 P2=9D P3=none --state 512 --as bo --reason "misread: seen on video"
    """
    laid = dict(cards)
    if len(laid) != len(cards):
        twice = next(place for place, _ in cards if [other for other, _ in cards].count(place) > 1)
        raise click.UsageError(f"{twice} is named twice")
    words = ["amend", which, *(f"{place}={card}" for place, card in laid.items()), *flag(same)]
    return carry_out(given, Order("amend", {"round": which, **laid, **said(same)}, words, looks_back=which))


COMMANDS: tuple[click.Command, ...] = (correct, insert, move, enter, void, amend)
