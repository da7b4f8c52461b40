"""The drawing rule and the bets as a rule sheet has them, on names of cards: none of the table's code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

FACE = re.compile(r"\b[A23456789TJQK][SHDC]\b")
PLAYER, BANKER = ("P1", "P2", "P3"), ("B1", "B2", "B3")
ORDER = ("P1", "B1", "P2", "B2", "P3", "B3")

BANKER_DRAWS = ("0123456789", "0123456789", "0123456789", "012345679", "234567", "4567", "67", "")
"""By the Banker's two cards, 0 to 7: the values of the Player's third card on which he draws."""


def points(face: str) -> int:
    return "A23456789".find(face[0]) + 1


def total(faces: Sequence[str]) -> int:
    return sum(map(points, faces)) % 10


def due(faces: Sequence[str]) -> str | None:
    """Where the next card goes after ``faces`` in order, or None."""
    if len(faces) < 4:
        return ORDER[len(faces)]
    player, banker = total([faces[0], faces[2]]), total([faces[1], faces[3]])
    if player >= 8 or banker >= 8 or len(faces) == 6:
        return None
    if player >= 6:
        return "B3" if banker <= 5 and len(faces) == 4 else None
    if len(faces) == 4:
        return "P3"
    return "B3" if str(points(faces[4])) in BANKER_DRAWS[banker] else None


def lay(faces: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Place → face by the rule, and what is in excess."""
    laid: dict[str, str] = {}
    for i, face in enumerate(faces):
        place = due(faces[:i])
        if place is None:
            return laid, list(faces[i:])
        laid[place] = face
    return laid, []


def bets(winner: str, sides: Any, banker_total: int, payouts: dict[str, Any]) -> dict[str, Any]:
    """How each bet kind of the house ends."""
    main = {"player": payouts["player"], "banker": payouts["banker_six" if banker_total == 6 else "banker"]}
    tie = {"result": "push" if payouts["on_tie"] == "returned" else "stand"}
    told: dict[str, Any] = {}
    for side, odds in main.items():
        won = {"result": "win", "odds": odds} if winner == side else {"result": "lose"}
        told[side] = tie if winner == "tie" else won
    told["tie"] = {"result": "win", "odds": payouts["tie"]} if winner == "tie" else {"result": "lose"}
    for name, cards in zip(("player_pair", "banker_pair"), sides, strict=True):
        if name in payouts["side_bets"]:
            pair = cards[0][0] == cards[1][0]
            told[name] = {"result": "win", "odds": payouts["pair"]} if pair else {"result": "lose"}
    return told
