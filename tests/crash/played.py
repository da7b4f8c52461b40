"""What a play came to, and whether another one came to the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.crash.boundaries import Arm

MONEY = frozenset({"dealer", "shoe", "betting", "round", "last_hand", "cut_card"})
"""First words of the types of events that a death adds none to and takes none from."""
UNSEEN = "None"
"""A burn card that was told by a person, who does not say its face."""


@dataclass(frozen=True)
class Played:
    """What a play came to.

    ``rounds``: how each stands at the game server, by ``SHOE/ROUND``. ``said``: the events by which bets are
    taken, closed and settled, and shoes begun and ended: type and subject, in order. ``last``: the state in
    the end. ``deaths``: where it died.
    """

    rounds: dict[str, Any]
    said: list[tuple[str, str]]
    counted: list[str]
    last: dict[str, Any]
    deaths: tuple[Arm, ...]
    reached: Counter[str]


def lasting(state: dict[str, Any]) -> dict[str, Any]:
    """What of a state does not depend on how often the controller was started."""
    kept = ("phase", "where", "shoe", "round", "holds", "kept", "reserved", "dealer", "pickup", "burns_due")
    return {name: state[name] for name in kept}


def about_money(events: Iterable[dict[str, Any]]) -> list[tuple[str, str]]:
    """Type and subject of the events by which money moves."""
    return [(one["type"], one["subject"]) for one in events if one["type"].split(".")[1] in MONEY]


def standing(held: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """State, revision, outcome, cards and bets of each round as the server holds it."""
    found: dict[str, Any] = {}
    for where, record in held.items():
        result = record["result"]
        hands = {side: result[side]["cards"] for side in ("player", "banker") if side in result}
        found[where] = (
            record["state"],
            record["revision"],
            result.get("outcome"),
            hands,
            result.get("bets"),
        )
    return found


def compare(played: Played, smooth: Played) -> None:
    """A play with deaths came to what the play without came to. Raises :class:`AssertionError`."""
    assert played.rounds == smooth.rounds, f"rounds {played.rounds} instead of {smooth.rounds}"
    assert played.said == smooth.said, f"{played.said} instead of {smooth.said}"
    assert played.last == smooth.last, f"state {played.last} instead of {smooth.last}"
    same = [
        card if card != UNSEEN else other for card, other in zip(played.counted, smooth.counted, strict=False)
    ]
    assert len(played.counted) == len(smooth.counted) and same == smooth.counted, (
        f"cards {played.counted} instead of {smooth.counted}"
    )
