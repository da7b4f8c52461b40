"""Who may play: a name, a currency, and a bearer token of which only the hash is kept.

This is a reference: no passwords, no sign-up, no payments in or out but a deposit by the operator.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from dataclasses import dataclass
from typing import Any

from tablectl.gameserver.ledger import CASHIER, Ledger, Movement, player_account
from tablectl.gameserver.money import MOST
from tablectl.gameserver.store import Store

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_CURRENCY = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class Player:
    name: str
    currency: str


class Players:
    """The players of one store."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger

    def add(self, name: str, currency: str = "USD", deposit: int = 0) -> str:
        """Make a player with ``deposit`` (minor units); the token is told this once.

        For one who is there already a new token is made, and the old one is good no more. Raises
        :class:`ValueError`, naming what is wrong.
        """
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"a player's name is 1 to 32 of A-Z a-z 0-9 _ -, not {name!r:.60}")
        if _CURRENCY.fullmatch(currency) is None:
            raise ValueError(f"a currency is three capital letters, not {currency!r:.60}")
        if not 0 <= deposit <= MOST:
            raise ValueError(f"no deposit: {deposit}")
        token, now = secrets.token_urlsafe(24), time.time_ns()
        with self._store.transaction():
            known = self._store.sql("SELECT currency FROM players WHERE id = ?", name)
            if known and known[0][0] != currency:
                raise ValueError(f"{name} has an account in {known[0][0]}")
            self._store.sql("REPLACE INTO players VALUES (?, ?, ?, ?)", name, currency, _hash(token), now)
            if deposit:
                move = Movement(CASHIER, player_account(name), deposit, "deposit")
                self._ledger.move(move, currency, now)
        return token

    def by_token(self, token: str) -> Player | None:
        """Whose token that is; None: nobody's."""
        found = self._store.sql("SELECT id, currency FROM players WHERE token = ?", _hash(token))
        return Player(*found[0]) if found else None

    def balance(self, player: Player) -> int:
        """Minor units that may be staked."""
        return self._ledger.balance(player_account(player.name), player.currency)

    def movements(self, player: Player, before: int, limit: int) -> list[dict[str, Any]]:
        """What went to and from the player's account, newest first; ``amount`` below zero went away."""
        account = player_account(player.name)
        found = self._store.sql(
            "SELECT m.number, CASE WHEN m.target = ?1 THEN m.amount ELSE -m.amount END, m.why, m.takes_back,"
            " w.area, w.part, w.table_id, w.shoe, w.round, m.seen"
            " FROM movements m LEFT JOIN wagers w ON w.number = m.wager"
            " WHERE (m.source = ?1 OR m.target = ?1) AND m.number < ?2 ORDER BY m.number DESC LIMIT ?3",
            *(account, before, limit),
        )
        names = ("number", "amount", "why", "takes_back", "area", "part", "table", "shoe", "round", "seen")
        return [dict(zip(names, row, strict=True)) for row in found]


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
