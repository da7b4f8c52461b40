"""What one player sees of one table: everything the page shows, as one JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablectl.gameserver import hand
from tablectl.gameserver.bank import Bank, Now, told
from tablectl.gameserver.book import Wager
from tablectl.gameserver.money import places
from tablectl.gameserver.players import Player
from tablectl.gameserver.store import RoundRecord, Store
from tablectl.gameserver.terms import Terms

HISTORY = 30
"""Wagers told."""


def seen_by(bank: Bank, store: Store, player: Player, table: str) -> dict[str, Any]:
    """The page of ``player`` at ``table``. Money in minor units; ``seconds``: until the window's end."""
    now = bank.now(table)
    lying = bank.book.lying(table, player.name)
    newest = bank.book.newest(table, player.name, HISTORY)
    terms = limits(bank, now)
    last = store.last_round(table, now.floor.epoch) if now.floor.epoch else None
    return {
        "table": table,
        "player": player.name,
        "currency": player.currency,
        "places": places(player.currency),
        "balance": bank.players.balance(player),
        "open": now.reason is None,
        "reason": told(now.reason),
        "round": now.round,
        "seconds": round(now.seconds, 3),
        "terms": terms,
        "wagers": [_lying(bank, wager) for wager in lying],
        "again": again(newest, now),
        "hand": _hand(store, now),
        "result": _result(bank, player, table, now.floor.epoch, last) if last is not None else None,
        "history": [_past(bank, store, wager) for wager in newest],
    }


def limits(bank: Bank, now: Now) -> dict[str, Any] | None:
    """The limits shown to the player; None: none are known."""
    floor = now.floor
    number = floor.shoe_terms or floor.opened_terms
    if number is None:
        return None
    terms = bank.floors.terms(number)
    return {
        "rules": terms.rules,
        "currency": terms.currency,
        "places": places(terms.currency),
        "areas": [_area(terms, area) for area in (*terms.offered, *terms.combinations)],
        "below_minimum": terms.below_minimum,
        "standing": terms.standing,
        "chips": list(terms.chips),
    }


def _hand(store: Store, now: Now) -> dict[str, Any] | None:
    """The cards of the newest round, while it has no result."""
    floor = now.floor
    if floor.shoe is None or floor.round is None or now.reason is None:
        return None
    if store.round(floor.table, floor.epoch, floor.shoe, floor.round) is not None:
        return None
    newest = store.newest(floor.table, floor.epoch, hand.MOST)
    found = hand.hand_so_far(newest, floor.shoe, floor.round)
    return None if found is None else {"round": now.round, "hands": found}


def _area(terms: Terms, area: str) -> dict[str, Any]:
    low, high = terms.limit(area)
    most = terms.max_winnings.get(area)
    return {"area": area, "parts": terms.parts(area), "min": low, "max": high, "max_winnings": most}


def placed(bank: Bank, table: str, monotonic: float) -> dict[str, Any]:
    """How many are at the table and how many of them have placed: for the dealer. No names, no stakes."""
    now = bank.now(table)
    there, ready = bank.there_and_ready(now.floor, monotonic)
    return {
        "table": table,
        "round": now.round,
        "open": now.reason is None,
        "players": there,
        "placed": ready,
        "all_placed": now.reason is None and 0 < there == ready,
    }


def again(newest: Sequence[Wager], now: Now) -> list[dict[str, Any]]:
    """The bets of the player's last round before this one: what "last bet again" asks for."""
    here = (now.floor.epoch, now.floor.shoe, now.floor.round)
    earlier = [w for w in newest if (w.epoch, w.shoe, w.round) != here and w.carried_from is None]
    of = {(w.epoch, w.shoe, w.round) for w in earlier[:1]}
    bets = {w.area: w.stake for w in reversed(earlier) if (w.epoch, w.shoe, w.round) in of}
    return [{"area": area, "stake": stake} for area, stake in bets.items()]


def _lying(bank: Bank, wager: Wager) -> dict[str, Any]:
    stands = wager.state == "stands" or wager.carried_from is not None
    return {
        "area": wager.area,
        "part": wager.part,
        "stake": wager.stake,
        "round": f"{wager.shoe}/{wager.round}",
        "stands": stands,
        "locked": stands and bank.book.terms(wager.terms).standing == "locked",
    }


def _ended(bank: Bank, wager: Wager) -> dict[str, Any]:
    ending = bank.book.ending(wager.number)
    number = f"{wager.shoe}/{wager.round}"
    what = {"area": wager.area, "part": wager.part, "stake": wager.stake, "round": number}
    if ending is None:
        return {**what, "how": None, "back": 0, "won": 0, "revision": 0, "capped": False}
    return {
        **what,
        "how": ending.how,
        "back": ending.back,
        "won": ending.won,
        "revision": ending.revision,
        "capped": ending.capped,
    }


def _past(bank: Bank, store: Store, wager: Wager) -> dict[str, Any]:
    record = store.round(wager.table, wager.epoch, wager.shoe, wager.round)
    return {
        **_ended(bank, wager),
        "number": wager.number,
        "state": record.state if record is not None else "open",
        "outcome": record.result.get("outcome") if record is not None else None,
    }


def _result(bank: Bank, player: Player, table: str, epoch: str, last: RoundRecord) -> dict[str, Any]:
    wagers = bank.book.of_round(table, epoch, last.shoe, last.round)
    mine = [w for w in wagers if w.player == player.name and w.state not in ("taken-back", "taken-off")]
    result = last.result
    return {
        "round": f"{last.shoe}/{last.round}",
        "state": last.state,
        "revision": last.revision,
        "outcome": result.get("outcome"),
        "free": bool(result.get("free")),
        "hands": {side: result[side] for side in ("player", "banker") if isinstance(result.get(side), dict)},
        "bets": [_ended(bank, wager) for wager in mine],
    }
