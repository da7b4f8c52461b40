"""All that has to do with money, over one store: players, wagers, ledger, and what a player may do.

A request to place or take back carries an ``id``: sent again it is answered as it was the first time and
does nothing; and the round the player saw, so that one that comes late is never a bet on the next.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tablectl.delivery.placed import Placed
from tablectl.gameserver.betting import Window
from tablectl.gameserver.book import Book
from tablectl.gameserver.floor import Floor, Floors
from tablectl.gameserver.ledger import Ledger
from tablectl.gameserver.players import Player, Players
from tablectl.gameserver.presence import Presence
from tablectl.gameserver.settling import Settling
from tablectl.gameserver.store import Store
from tablectl.gameserver.wagers import Answer, Bet, Reason, because, window_reason

REMEMBERED = 7 * 86_400 * 10**9
"""How long (ns) a request's id is known, and what it was answered."""
FORGOTTEN_AT_ONCE = 10

WindowOf = Callable[[str], tuple[Window | None, float, float]]
"""A table's newest window at this moment, how many seconds it stays open at most, and if no word comes."""


class OtherRequest(Exception):
    """A request's id was used for another one."""


@dataclass(frozen=True, slots=True)
class Now:
    """A table at this moment. ``reason``: why no wager is taken; ``seconds``: until the window's end.

    ``unheard``: until it is closed if the table says nothing more.
    """

    floor: Floor
    reason: Reason | None
    seconds: float
    unheard: float
    why: str

    @property
    def round(self) -> str:
        """The newest round, ``SHOE/ROUND``; "" before the first."""
        return f"{self.floor.shoe}/{self.floor.round}" if self.floor.round is not None else ""


class Bank:
    """The money side of one server. Not safe from several threads at once."""

    def __init__(self, store: Store, window: WindowOf) -> None:
        self._store = store
        self._window = window
        self.ledger = Ledger(store)
        self.floors = Floors(store)
        self.book = Book(store, self.floors, self.ledger)
        self.settling = Settling(self.book, self.floors, self.ledger)
        self.players = Players(store, self.ledger)
        self.presence = Presence()
        self.on_change: Callable[[str], None] = lambda table: None

    def changed(self, table: str) -> None:
        """Something that is shown of that table is another than before."""
        self.on_change(table)

    def now(self, table: str) -> Now:
        """How it stands at a table."""
        held = self._store.held(table)
        window, seconds, unheard = self._window(table)
        floor = self.floors.of(table, held.epoch if held is not None else "")
        why = "none" if window is None else window.why
        reason = window_reason(why, table_open=floor.open)
        if reason is None and window is not None:
            place = (window.epoch, window.shoe, window.round)
            ended = (
                floor.shoe and floor.round and self._store.round(table, floor.epoch, floor.shoe, floor.round)
            )
            if place != (floor.epoch, floor.shoe, floor.round) or ended:
                why, reason = "none", because("not-open")
            elif floor.shoe_terms is None:
                why, reason = "none", because("terms")
        if reason is not None:
            seconds = unheard = 0.0
        return Now(floor, reason, seconds, unheard, why)

    def placed(self, table: str, monotonic: float) -> Placed | None:
        """What the table's dealer is told while betting is open; None: it is not."""
        now = self.now(table)
        if now.reason is not None or now.floor.shoe is None or now.floor.round is None:
            return None
        return Placed(now.floor.shoe, now.floor.round, *self.there_and_ready(now.floor, monotonic))

    def there_and_ready(self, floor: Floor, monotonic: float) -> tuple[int, int]:
        """How many players are at a table, and how many of them have placed in its round, or passed."""
        there = self.presence.at(floor.table, monotonic)
        if floor.shoe is None or floor.round is None:
            return len(there), 0
        place = (floor.epoch, floor.shoe, floor.round)
        ready = self.presence.are_done(floor.table, place) | self.book.placed_by(floor.table, *place)
        return len(there), len(there & ready)

    def place(
        self, player: Player, table: str, request: str, round: str, bets: Sequence[Bet]
    ) -> dict[str, Any]:
        """Register what can be taken of ``bets``; the answer, on the disk before this returns."""
        asked = ["place", table, round, [[bet.area, bet.stake] for bet in bets]]

        def register(floor: Floor) -> list[Answer]:
            return self.book.place(player.name, player.currency, floor, bets, time.time_ns())

        return self._once(player, table, request, asked, round, bets, register)

    def take_back(
        self, player: Player, table: str, request: str, round: str, areas: Sequence[str] | None
    ) -> dict[str, Any]:
        """Give back the bets on ``areas``, or all of them."""
        asked = ["take back", table, round, list(areas) if areas is not None else None]

        def give(floor: Floor) -> list[Answer]:
            return self.book.take_back(player.name, floor, areas, time.time_ns())

        return self._once(player, table, request, asked, round, [Bet(a, 0) for a in areas or ()], give)

    def _once(
        self,
        player: Player,
        table: str,
        request: str,
        asked: list[Any],
        round: str,
        bets: Sequence[Bet],
        do: Callable[[Floor], list[Answer]],
    ) -> dict[str, Any]:
        digest = hashlib.sha256(json.dumps(asked).encode()).digest()
        with self._store.transaction():
            known = self._store.sql(
                "SELECT sha256, answer FROM answered WHERE player = ? AND id = ?", player.name, request
            )
            if known:
                if bytes(known[0][0]) != digest:
                    raise OtherRequest(f"another request had the id {request}")
                answer: dict[str, Any] = json.loads(known[0][1])
                return answer
            now = self.now(table)  # decided here, once: the clock is not looked at again
            reason = now.reason
            if reason is None and round != now.round:
                reason = because("round", round, now.round)
            answers = [Answer(b.area, b.stake, reason) for b in bets] if reason is not None else do(now.floor)
            answer = {
                "round": now.round,
                "bets": [_answer(one) for one in answers],
                "reason": told(reason),
                "balance": self.players.balance(player),
            }
            seen = time.time_ns()
            self._store.sql(
                "INSERT INTO answered VALUES (?, ?, ?, ?, ?)",
                *(player.name, request, digest, json.dumps(answer), seen),
            )
            self._forget(seen - REMEMBERED)
            self._store.then(lambda: self.changed(table))
        return answer

    def _forget(self, before: int) -> None:
        """Some of the requests answered before then: more at each call than one call adds."""
        self._store.sql(
            "DELETE FROM answered WHERE (player, id) IN"
            " (SELECT player, id FROM answered WHERE seen < ? ORDER BY seen LIMIT ?)",
            *(before, FORGOTTEN_AT_ONCE),
        )


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "area": answer.area,
        "stake": answer.stake,
        "accepted": answer.reason is None,
        "raised": answer.raised,
        "reason": told(answer.reason),
    }


def told(reason: Reason | None) -> dict[str, str] | None:
    """As it is sent: code, and words in both languages."""
    return None if reason is None else {"code": reason.code, "en": reason.en, "de": reason.de}
