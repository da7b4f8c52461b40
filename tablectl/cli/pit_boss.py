"""The pit boss's commands: each has a name, a PIN, a reason, and what was seen.

Cards are set right in :mod:`tablectl.cli.corrections`; the shoe's commands are in :mod:`tablectl.cli.shoe`.
"""

from __future__ import annotations

from typing import Any

import click

from tablectl.cli import corrections, shoe
from tablectl.cli.arguments import Text
from tablectl.cli.cards import flag, said, same_options
from tablectl.cli.order import Given, Order, dealer_options, pit_boss_options
from tablectl.cli.send import carry_out


@click.command("release")
@click.argument("action", type=Text(40))
@same_options
@pit_boss_options
def release(given: Given, action: str, same: str | None) -> int:
    """Take a way out of a hold; `tablectl status` shows which there are.

    Without --round or --state it only shows what would happen.

    Example:  tablectl release burn --state 512 --as bo --reason "dealing: drawn by mistake"
    """
    return carry_out(
        given, Order("release", {"action": action, **said(same)}, ["release", action, *flag(same)])
    )


class _BurnGroup(click.Group):
    """`burn done N` is the dealer's, `burn N` the pit boss's."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0].isdigit():
            args = ["order", *args]
        return super().resolve_command(ctx, args)


@click.group("burn", cls=_BurnGroup, subcommand_metavar="N --state V --as NAME --reason CODE | done N")
def burn() -> None:
    """Burn N cards, by order of the pit boss; or `done N`: N were burned unscanned.

    \b
    Example:  tablectl burn 2 --state 512 --as bo --reason "dealing: card seen by a player"
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

    Example:  tablectl burn 2 --state 512 --as bo --reason "dealing: card seen by a player"
    """
    return carry_out(given, Order("burn", {"count": str(count)}, ["burn", str(count)]))


@click.command("burn-error")
@pit_boss_options
def burn_error(given: Given) -> int:
    """Order the burn after a game error.

    Example:  tablectl burn-error --state 512 --as bo --reason "dealing: overdraw in 12/34"
    """
    return carry_out(given, Order("burn-error", words=["burn-error"]))


@click.group("hand")
def hand() -> None:
    """A hand out of the ordinary: free.

    Example:  tablectl hand free --state 512 --as bo --reason "routine: first hand"
    """


@hand.command("free")
@pit_boss_options
def hand_free(given: Given) -> int:
    """Deal a hand without wagers.

    Example:  tablectl hand free --state 512 --as bo --reason "routine: first hand"
    """
    return carry_out(given, Order("hand free", words=["hand", "free"]))


COMMANDS: tuple[click.Command, ...] = (
    *corrections.COMMANDS,
    *shoe.COMMANDS,
    release,
    burn,
    burn_error,
    hand,
)
