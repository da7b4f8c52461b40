"""The dealer's commands."""

from __future__ import annotations

import click

from tablectl.cli.arguments import Text
from tablectl.cli.cards import WHAT
from tablectl.cli.order import Given, Order, dealer_options, named_options
from tablectl.cli.send import carry_out


@click.command("open")
@dealer_options
def open_table(given: Given) -> int:
    """Open the table under its house rules.

    Example:  tablectl open
    """
    return carry_out(given, Order("open", words=["open"]))


@click.command("close")
@dealer_options
def close_table(given: Given) -> int:
    """Close the table.

    Example:  tablectl close
    """
    return carry_out(given, Order("close", words=["close"]))


@click.command("sign-in")
@click.argument("name", type=Text(60))
@click.option(
    "--pickup",
    type=click.Choice(["left", "right"]),
    required=True,
    help="Direction the cards are picked up in.",
)
@dealer_options
def sign_in(given: Given, name: str, pickup: str) -> int:
    """A dealer takes over the table.

    Example:  tablectl sign-in anna --pickup left
    """
    words = ["sign-in", name, "--pickup", pickup]
    return carry_out(given, Order("sign-in", {"name": name, "pickup": pickup}, words))


@click.command("sign-out")
@dealer_options
def sign_out(given: Given) -> int:
    """The dealer leaves the table.

    Example:  tablectl sign-out
    """
    return carry_out(given, Order("sign-out", words=["sign-out"]))


@click.group("bets")
def bets() -> None:
    """The betting window: open, close.

    Example:  tablectl bets open
    """


@bets.command("open")
@dealer_options
def bets_open(given: Given) -> int:
    """Open betting: this begins a round.

    Example:  tablectl bets open
    """
    return carry_out(given, Order("bets open", words=["bets", "open"]))


@bets.command("close")
@dealer_options
def bets_close(given: Given) -> int:
    """Close betting before its time.

    Example:  tablectl bets close --round 12/34
    """
    return carry_out(given, Order("bets close", words=["bets", "close"], changes_round=True))


@click.command("turn")
@dealer_options
def turn(given: Given) -> int:
    """The four cards that lay face down are turned.

    Example:  tablectl turn --round 12/34
    """
    return carry_out(given, Order("turn", words=["turn"], changes_round=True))


@click.command("confirm")
@click.argument("outcome", type=click.Choice(["player", "banker", "tie"]), required=False)
@dealer_options
def confirm(given: Given, outcome: str | None) -> int:
    """Announce the result, as said aloud if OUTCOME is given.

    Without --round or --state it only shows what would be announced.

    Example:  tablectl confirm banker --round 12/34
    """
    args = {} if outcome is None else {"outcome": outcome}
    words = ["confirm"] if outcome is None else ["confirm", outcome]
    return carry_out(given, Order("confirm", args, words, changes_round=True))


@click.command("same-again")
@dealer_options
def same_again(given: Given) -> int:
    """Two equal cards were drawn, and the scanner took them for one read twice: count the second.

    Only just after the scanner said so, and before another card.

    Example:  tablectl same-again --round 12/34
    """
    return carry_out(given, Order("same-again", words=["same-again"], changes_round=True))


@click.command("rescan")
@click.argument("what", metavar="[last|hand|POS]", type=WHAT, default="last")
@dealer_options
def rescan(given: Given, what: str) -> int:
    """Scan the last card again, or the whole hand, or the card at POS (P1 to B3). None is counted twice.

    Example:  tablectl rescan hand --round 12/34
    """
    return carry_out(given, Order("rescan", {"what": what}, ["rescan", what], changes_round=True))


@click.command("hold")
@click.argument("text", type=Text(200), required=False)
@click.option(
    "--because",
    type=click.Choice(["card-missed", "card-twice", "two-cards"]),
    help="A card was drawn without a scan, one card was read twice, or two were drawn at once.",
)
@named_options
def hold(given: Given, text: str | None, because: str | None) -> int:
    """Put the table on hold; only a pit boss releases it.

    \b
    Example:  tablectl hold "a card fell on the floor"
              tablectl hold --because card-missed
    """
    args = {"text": text, "because": because}
    words = ["hold"] + ([] if text is None else [text]) + ([] if because is None else ["--because", because])
    return carry_out(given, Order("hold", {name: said for name, said in args.items() if said}, words))


@click.command("ack")
@click.argument("alert", type=Text(60))
@named_options
def ack(given: Given, alert: str) -> int:
    """Say that an alert was seen.

    \b
    Example:  tablectl ack disk-slow
              tablectl ack pin-lockout --as bo
    """
    return carry_out(given, Order("ack", {"alert": alert}, ["ack", alert]))


COMMANDS: tuple[click.Command, ...] = (
    open_table,
    close_table,
    sign_in,
    sign_out,
    bets,
    turn,
    confirm,
    rescan,
    same_again,
    hold,
    ack,
)
