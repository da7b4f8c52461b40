"""A whole shoe at a table: opened, counted, burned, dealt, set right, handed over, ended, closed.

The same for whoever works it, so that two journals can be laid side by side.
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

from tablectl.cards import DECK, Card
from tests.console.working import Works
from tests.e2e.harness import Changes, Rig, until

RULES = Changes({"betting": {"seconds": 600, "pips": 0}, "dealing": {"confirm": "dealer"}})
"""The default profile, the dealer announces, betting is closed by hand."""


def cards_of(seed: int) -> list[Card]:
    """A shuffled shoe."""
    cards = list(DECK * 8)
    random.Random(seed).shuffle(cards)
    return cards


async def play(rig: Rig, works: Works, *, cut_at: int, seed: int = 7) -> int:
    """Play it until the shoe has ended, and close: how many rounds it had."""
    await works.dealer("open")
    await works.dealer("sign-in", "4711", "--pickup", "left")
    await works.pit_boss("shoe", "inspect", "--by-hand")
    await asyncio.to_thread(_load, rig, cards_of(seed), cut_at)
    await works.dealer("shoe", "new")
    for _ in range(6):
        await _draw(rig, works, burn=True)
    number = 0
    while _state(rig)["phase"] == "idle":
        number += 1
        await works.dealer("bets", "open")
        await works.dealer("bets", "close")
        await _hand(rig, works, misread=number == 1)
        for alert in _state(rig)["alerts"]:
            await works.dealer("ack", alert["alert"])
        if number == 1:
            await works.dealer("sign-in", "boris", "--pickup", "right")
            await _draw(rig, works, burn=True)
    assert _state(rig)["phase"] == "shuffle due"
    await works.pit_boss("shoe", "inspect", "--by-hand")
    await works.dealer("sign-out")
    await works.dealer("close")
    return number


def _state(rig: Rig) -> dict[str, Any]:
    return rig.client.state()


def _load(rig: Rig, cards: list[Card], cut_at: int) -> None:
    rig.shoe.load(cards, (cut_at,))
    rig.shoe.standby()
    rig.shoe.flush()


async def _hand(rig: Rig, works: Works, *, misread: bool) -> None:
    while (state := _state(rig))["phase"] != "complete":
        if misread and len(state["round"]["cards"]) == 2:
            misread = False
            await _misread(rig, works)
        else:
            await _draw(rig, works)
    r = state["round"]
    player, banker = r["player_total"], r["banker_total"]
    said = "tie" if player == banker else "player" if player > banker else "banker"
    await works.dealer("confirm", said)
    await asyncio.to_thread(rig.shoe.standby)


async def _misread(rig: Rig, works: Works) -> None:
    """The third card is read as another one; the dealer sees it, the pit boss sets it right."""
    out = _state(rig)["shoe"]["out"]
    load = cards_of(7)
    read = load[out]
    other = next(card for card in DECK if card.points == (read.points + 1) % 10)
    rig.shoe.misread(str(other))
    await _counted(rig, out + 1)
    await works.dealer("hold")
    await works.pit_boss("correct", "P2", str(other))
    await works.pit_boss("release", "resume")
    assert _state(rig)["round"]["cards"]["P2"] == str(other)


async def _draw(rig: Rig, works: Works, *, burn: bool = False) -> None:
    out = _state(rig)["shoe"]["out"]
    drawn = await asyncio.to_thread(rig.shoe.draw, burn)
    assert drawn is not None
    if drawn.cutting_card:
        await works.dealer("cut-card")
        drawn = await asyncio.to_thread(rig.shoe.draw, burn)
    await _counted(rig, out + 1)


async def _counted(rig: Rig, out: int) -> None:
    await asyncio.to_thread(until, lambda: _state(rig)["shoe"]["out"] == out, f"{out} cards are out")


def story(rig: Rig) -> list[tuple[str, dict[str, Any]]]:
    """What the journal published, without what differs from one run to the next: times."""
    told = []
    for event in rig.public():
        data = {key: value for key, value in event["data"].items() if key not in ("closes_at", "closed_at")}
        told.append((event["type"], data))
    return told
