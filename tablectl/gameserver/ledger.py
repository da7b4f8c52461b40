"""The ledger, in double entry: every movement takes from one account what it gives to another.

A movement is one row, ``amount`` out of ``source`` into ``target``, so all accounts of a currency always
sum to zero. Rows are never changed or deleted; what was wrong is moved back by a row of its own, which
names the one it takes back. Balances are kept by the database itself with each row, and :meth:`audit`
adds all up again. All of it is called inside a transaction of the store.

Accounts: ``player/NAME``; ``stakes/TABLE``, what lies on a layout; ``house``; ``cashier``, the world.
"""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.gameserver.store import Store

HOUSE, CASHIER = "house", "cashier"


@dataclass(frozen=True, slots=True)
class Movement:
    """``why``: deposit, stake, taken back, win, lose, push, void, stand …; ``event``: that caused it.

    ``wager``: its number; ``takes_back``: the movement this one sets right.
    """

    source: str
    target: str
    amount: int
    why: str
    event: str = ""
    wager: int | None = None
    takes_back: int | None = None


@dataclass(frozen=True, slots=True)
class Account:
    name: str
    currency: str
    balance: int


def player_account(player: str) -> str:
    return f"player/{player}"


def stakes_account(table: str) -> str:
    return f"stakes/{table}"


class Ledger:
    """The accounts in one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def move(self, movement: Movement, currency: str, seen: int) -> int:
        """Keep one movement, its number is returned. ``seen``: wall ns. Nothing is no movement."""
        if movement.amount <= 0:
            raise ValueError(f"no amount to move: {movement}")
        self._store.sql(
            "INSERT OR IGNORE INTO accounts VALUES (?, ?, 0), (?, ?, 0)",
            *(movement.source, currency, movement.target, currency),
        )
        ((number,),) = self._store.sql(
            "INSERT INTO movements (source, target, currency, amount, why, event, wager, takes_back, seen)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
            *(movement.source, movement.target, currency, movement.amount, movement.why, movement.event),
            *(movement.wager, movement.takes_back, seen),
        )
        return int(number)

    def take_back(self, wager: int, event: str, currency: str, seen: int) -> None:
        """Move back all that the wager's last ending moved, row by row; its stake is on the layout then."""
        rows = self._store.sql(
            "SELECT number, source, target, amount FROM movements m INDEXED BY movements_of_wager"
            " WHERE wager = ? AND why IN ('win', 'lose', 'push', 'void')"
            " AND NOT EXISTS (SELECT 1 FROM movements WHERE takes_back = m.number) ORDER BY number DESC",
            wager,
        )
        for number, source, target, amount in rows:
            back = Movement(target, source, amount, "set right", event, wager, int(number))
            self.move(back, currency, seen)

    def balance(self, account: str, currency: str) -> int:
        found = self._store.sql(
            "SELECT balance FROM accounts WHERE name = ? AND currency = ?", account, currency
        )
        return int(found[0][0]) if found else 0

    def accounts(self) -> list[Account]:
        """All of them, in order."""
        found = self._store.sql("SELECT name, currency, balance FROM accounts ORDER BY currency, name")
        return [Account(*row) for row in found]

    def audit(self) -> list[str]:
        """What is wrong with the books; nothing, if nothing is."""
        faults = []
        for currency, total in self._store.sql("SELECT currency, sum(balance) FROM accounts GROUP BY 1"):
            if total:
                faults.append(f"all accounts in {currency} sum to {total}, not to zero")
        added: dict[tuple[str, str], int] = {}
        for source, target, currency, amount in self._store.sql(
            "SELECT source, target, currency, sum(amount) FROM movements GROUP BY 1, 2, 3"
        ):
            added[source, currency] = added.get((source, currency), 0) - amount
            added[target, currency] = added.get((target, currency), 0) + amount
        for account in self.accounts():
            total = added.pop((account.name, account.currency), 0)
            if total != account.balance:
                faults.append(f"{account.name}: the balance is {account.balance}, its movements give {total}")
        faults += [f"{name}: movements without an account" for name, _ in added]
        lying = {
            (str(table), str(currency)): int(stake)
            for table, currency, stake in self._store.sql(
                "SELECT table_id, currency, sum(stake) FROM wagers WHERE state IN ('open', 'stands')"
                " GROUP BY 1, 2"
            )
        }
        for account in self.accounts():
            kind, _, table = account.name.partition("/")
            if kind == "stakes":
                stake = lying.pop((table, account.currency), 0)
                if stake != account.balance:
                    faults.append(f"{account.name} holds {account.balance}, the wagers there are {stake}")
        faults += [f"wagers of {stake} at {table} have no account" for (table, _), stake in lying.items()]
        return faults
