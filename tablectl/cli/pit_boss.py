"""The shoe's commands and the pit boss's: each of the latter has a name, a PIN and a reason."""

from __future__ import annotations

from typing import Any

import click

from tablectl.cli.arguments import ROUND, Text
from tablectl.cli.order import Given, Order, dealer_options, pit_boss_options
from tablectl.cli.output import Refused
from tablectl.cli.past import shoe_report
from tablectl.cli.send import carry_out


@click.command("release")
@click.argument("action", type=Text(40))
@pit_boss_options
def release(given: Given, action: str) -> int:
    """Take a way out of a hold; `tablectl status` shows which there are.

    Without --round or --state it only shows what would happen.

    Example:  tablectl release burn --state 512 --as bo --reason "card drawn by mistake"
    """
    return carry_out(given, Order("release", {"action": action}, ["release", action], changes_round=True))


@click.command("void")
@click.argument("which", metavar="[SHOE/ROUND]", type=ROUND, required=False)
@pit_boss_options
def void(given: Given, which: str | None) -> int:
    """Make the round in play void; its cards stay used.

    Without SHOE/ROUND, --round or --state it only shows what would happen.

    Example:  tablectl void 12/34 --as bo --reason "cards fell from the table"
    """
    if which is not None and given.round is not None and which != given.round:
        raise Refused(f"refused: {which} and --round {given.round} are two rounds")
    round_ = which or given.round
    given = Given(
        given.target, given.as_json, round_, given.state, given.person, given.reason, given.pin_stdin
    )
    args = {} if round_ is None else {"round": round_}
    return carry_out(given, Order("void", args, ["void"], changes_round=True))


class _BurnGroup(click.Group):
    """`burn done N` is the dealer's, `burn N` the pit boss's."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0].isdigit():
            args = ["order", *args]
        return super().resolve_command(ctx, args)


@click.group("burn", cls=_BurnGroup, subcommand_metavar="N --as NAME --reason TEXT | done N")
def burn() -> None:
    """Burn N cards, by order of the pit boss; or `done N`: N were burned unscanned.

    \b
    Example:  tablectl burn 2 --as bo --reason "card seen by a player"
              tablectl burn done 6
    """


@burn.command("done")
@click.argument("count", type=click.IntRange(1, 30))
@dealer_options
def burn_done(given: Given, count: int) -> int:
    """COUNT cards were burned that did not pass the scanner.

    Example:  tablectl burn done 6
    """
    return carry_out(given, Order("burn done", {"count": str(count)}, ["burn", "done", str(count)]))


@burn.command("order", hidden=True)
@click.argument("count", type=click.IntRange(1, 20))
@pit_boss_options
def burn_order(given: Given, count: int) -> int:
    """Burn COUNT cards, by order of the pit boss.

    Example:  tablectl burn 2 --as bo --reason "card seen by a player"
    """
    return carry_out(given, Order("burn", {"count": str(count)}, ["burn", str(count)]))


@click.command("burn-error")
@pit_boss_options
def burn_error(given: Given) -> int:
    """Order the burn after a game error.

    Example:  tablectl burn-error --as bo --reason "overdraw in 12/34"
    """
    return carry_out(given, Order("burn-error", words=["burn-error"]))


@click.group("hand")
def hand() -> None:
    """A hand out of the ordinary: free.

    Example:  tablectl hand free --as bo --reason "first hand of the shoe"
    """


@hand.command("free")
@pit_boss_options
def hand_free(given: Given) -> int:
    """Deal a hand without wagers.

    Example:  tablectl hand free --as bo --reason "first hand of the shoe"
    """
    return carry_out(given, Order("hand free", words=["hand", "free"]))


@click.group("shoe")
def shoe() -> None:
    """The shoe: new, inspect, end.

    Example:  tablectl shoe new
    """


@shoe.command("new")
@click.option("--note", type=Text(200), help="Which set of cards, who cut.")
@dealer_options
def shoe_new(given: Given, note: str | None) -> int:
    """Start a new shoe.

    Example:  tablectl shoe new --note "set 4, cut by seat 3"
    """
    return carry_out(given, Order("shoe new", {} if note is None else {"note": note}, ["shoe", "new"]))


@shoe.command("inspect")
@click.option("--by-hand", is_flag=True, required=True, help="Counted by hand.")
@pit_boss_options
def shoe_inspect(given: Given, by_hand: bool) -> int:
    """The cards were counted; dealer and pit boss attest it. --reason says what was found.

    Example:  tablectl shoe inspect --by-hand --as bo --reason "complete, none marked"
    """
    return carry_out(given, Order("shoe inspect", {"method": "by-hand"}, ["shoe", "inspect", "--by-hand"]))


@shoe.command("end")
@pit_boss_options
def shoe_end(given: Given) -> int:
    """Take the shoe out of play; a round in play becomes void.

    Example:  tablectl shoe end --state 512 --as bo --reason "cards worn"
    """
    return carry_out(given, Order("shoe end", words=["shoe", "end"], changes_round=True))


shoe.add_command(shoe_report, "report")

COMMANDS: tuple[click.Command, ...] = (shoe, release, void, burn, burn_error, hand)
