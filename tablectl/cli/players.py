"""The reference game server's players and books, from the command line."""

from __future__ import annotations

from pathlib import Path

import click

from tablectl.cli import output
from tablectl.cli.arguments import TABLE, Pattern, Text, json_option
from tablectl.cli.output import Refused
from tablectl.printable import number_of

NAME = Pattern("name", r"[A-Za-z0-9_-]{1,32}", "a player's name is 1 to 32 of A-Z a-z 0-9 _ -")
CURRENCY = Pattern("currency", r"[A-Z]{3}", "a currency is three capital letters, for example EUR")

ROUND = Pattern("round", r"[0-9]{1,9}/[0-9]{1,9}", "a round is SHOE/ROUND, for example 12/34")
EPOCH = Pattern("epoch", r"[0-9a-f]{6}", "a history is six of 0-9 a-f, as gameserver books shows it")

_db = click.option("--db", type=Text(255), help="The server's database.  [default: as before this command]")


@click.command("player")
@click.argument("name", type=NAME)
@click.option(
    "--deposit", default="0", type=Text(30), help="To put on the account, for example 500 or 12.50."
)
@click.option("--currency", default="USD", show_default=True, type=CURRENCY)
@_db
@click.pass_context
def player(context: click.Context, name: str, deposit: str, currency: str, db: str | None) -> int:
    """Make a player of the reference game server, or a new token for one; the server may run meanwhile.

    The token is printed this once. It opens the page http://HOST:PORT/play/TABLE.

    Example:  tablectl gameserver player anna --deposit 500
    """
    import sqlite3

    from tablectl.gameserver.ledger import Ledger
    from tablectl.gameserver.money import minor, shown
    from tablectl.gameserver.players import Player, Players
    from tablectl.gameserver.store import Store

    path = _path(context, db)
    try:
        amount = minor(deposit, currency)
        store = Store(path)
        try:
            players = Players(store, Ledger(store))
            token = players.add(name, currency, amount)
            balance = players.balance(Player(name, currency))
        finally:
            store.close()
    except ValueError as fault:
        raise Refused(str(fault)) from None
    except (OSError, sqlite3.Error) as fault:
        raise Refused(f"{path}: {output.in_words(fault)}") from None
    output.say(f"player {name} has {shown(balance, currency)}; token: {token}")
    return 0


@click.command("books")
@_db
@json_option
@click.pass_context
def books(context: click.Context, db: str | None, as_json: bool) -> int:
    """Show every account of the reference game server and what lies unsettled, and add all up again.

    Exit code 1 when anything does not agree: the accounts of a currency sum to zero, each balance is what
    its movements give, and what lies on a table is what its wagers say.

    Example:  tablectl gameserver books
    """
    import sqlite3

    from tablectl.gameserver.bank import Bank
    from tablectl.gameserver.money import shown
    from tablectl.gameserver.store import Store

    path = _existing(context, db)
    try:
        store = Store(path)
        try:
            with store.transaction():
                bank = Bank(store, lambda _: (None, 0.0, 0.0))
                accounts, faults = bank.ledger.accounts(), bank.ledger.audit()
                lying = bank.book.unsettled()
        finally:
            store.close()
    except (OSError, sqlite3.Error) as fault:
        raise Refused(f"{path}: {output.in_words(fault)}") from None
    if as_json:
        told = [{"name": a.name, "currency": a.currency, "balance": a.balance} for a in accounts]
        names = ("table", "history", "shoe", "round", "currency", "wagers", "stakes")
        lies = [dict(zip(names, one, strict=True)) for one in lying]
        output.say_json({"ok": not faults, "accounts": told, "lying": lies, "faults": faults})
    else:
        for account in accounts:
            output.say(f"{shown(account.balance, account.currency):>24}  {account.name}")
        for table, epoch, shoe, number, currency, count, stakes in lying:
            where = f"round {shoe}/{number} of table {table}, history {epoch}"
            output.say(f"{shown(stakes, currency):>24}  unsettled on {where}: {number_of(count, 'wager')}")
        output.say("the books agree" if not faults else "the books do not agree")
    for line in faults:
        output.complain(line)
    return output.REFUSED if faults else 0


@click.command("give-back")
@click.argument("table", type=TABLE)
@click.argument("round_", metavar="SHOE/ROUND", type=ROUND)
@click.option("--history", type=EPOCH, help="Of another history than the one the table is pinned to.")
@_db
@click.pass_context
def give_back(context: click.Context, table: str, round_: str, history: str | None, db: str | None) -> int:
    """Return the stakes that lie on a round no word will ever come of.

    Its table's PC was replaced in mid-round and the old history is over, or its events were skipped:
    `tablectl gameserver books` shows what lies there. Should the result come all the same it is settled then.
    A round of a table that plays is voided at the table instead.

    Example:  tablectl gameserver give-back T07 12/34 --history 4f2a91
    """
    import sqlite3
    import time

    from tablectl.gameserver.bank import Bank
    from tablectl.gameserver.store import Store

    path = _existing(context, db)
    try:
        store = Store(path)
        try:
            with store.transaction():
                held = store.held(table)
                epoch = history or (held.epoch if held is not None else "")
                shoe, number = map(int, round_.split("/"))
                settling = Bank(store, lambda _: (None, 0.0, 0.0)).settling
                count = settling.give_back(
                    table,
                    epoch,
                    shoe,
                    number,
                    time.time_ns(),
                    pinned=held is not None and held.epoch == epoch,
                )
        finally:
            store.close()
    except (LookupError, ValueError) as fault:
        raise Refused(str(fault.args[0])) from None
    except (OSError, sqlite3.Error) as fault:
        raise Refused(f"{path}: {output.in_words(fault)}") from None
    output.say(f"round {round_} of table {table}: {number_of(count, 'wager')} given back")
    return 0


def _existing(context: click.Context, db: str | None) -> Path:
    path = _path(context, db)
    if not path.exists():
        raise Refused(f"{path}: no game server's database")
    return path


def _path(context: click.Context, db: str | None) -> Path:
    assert context.parent is not None
    return Path(db if db is not None else str(context.parent.params["db"]))
