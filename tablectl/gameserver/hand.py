"""The cards of the round in play, as they fell: shown to players until its result is there. Pure.

No rule is known here: where a card lies and what the hand counts is the table's own word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

MOST = 60
"""Events of one round that are looked at."""

_SIDES = {"player": "P", "banker": "B"}
_FACE_DOWN = "?"


def hand_so_far(bodies: Iterable[bytes], shoe: object, round: object) -> dict[str, Any] | None:
    """By side its ``cards`` and ``total`` (None: not told). ``bodies``: events as kept, newest first.

    None: no card of that round has been dealt yet, as far as these events go.
    """
    cards: dict[str, str] = {}
    totals: dict[str, int] = {}
    for body in bodies:
        event = json.loads(body)
        data = event["data"]
        if (data.get("shoe"), data.get("round")) != (shoe, round):
            continue
        match event["type"]:
            case "tablectl.card.dealt.v1":
                place = str(data.get("position", ""))
                cards.setdefault(place, str(data.get("card") or _FACE_DOWN))
                if isinstance(total := data.get("total"), int):
                    totals.setdefault(place[:1], total)
            case "tablectl.hand.corrected.v1" if isinstance(after := data.get("after"), dict):
                cards = {str(place): str(card) for place, card in after.items()} | cards
                break  # it was the whole hand, whatever lay there before
            case "tablectl.hand.turned.v1":
                cards = _turned(data) | cards
                break
            case "tablectl.betting.opened.v1":
                break
    if not cards:
        return None
    return {
        side: {
            "cards": [cards[place] for place in sorted(cards) if place[:1] == letter],
            "total": totals.get(letter),
        }
        for side, letter in _SIDES.items()
    }


def _turned(data: Mapping[str, Any]) -> dict[str, str]:
    hands = {letter: data.get(side) for side, letter in _SIDES.items()}
    return {
        f"{letter}{i + 1}": str(card)
        for letter, hand in hands.items()
        if isinstance(hand, list)
        for i, card in enumerate(hand)
    }
