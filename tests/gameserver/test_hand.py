"""The hand in play, as a player sees it fall."""

from __future__ import annotations

import json
from typing import Any

from tablectl.gameserver.hand import hand_so_far


def event(kind: str, round: int = 4, **data: Any) -> bytes:
    return json.dumps({"type": f"tablectl.{kind}.v1", "data": {"shoe": 1, "round": round, **data}}).encode()


def dealt(place: str, card: str | None, total: int | None = None, round: int = 4) -> bytes:
    return event("card.dealt", round, position=place, card=card, total=total)


def so_far(*events: bytes) -> Any:
    found = hand_so_far(reversed(events), 1, 4)
    return found and {side: (" ".join(hand["cards"]), hand["total"]) for side, hand in found.items()}


OPENED = event("betting.opened")
BEFORE = [event("betting.opened", 3), dealt("P1", "9S", 9, round=3), event("round.resulted", 3)]


def test_cards_lie_as_they_fell_and_only_of_this_round() -> None:
    assert so_far(*BEFORE, OPENED) is None
    first = [*BEFORE, OPENED, event("betting.closed"), dealt("P1", "KH", 0)]
    assert so_far(*first) == {"player": ("KH", 0), "banker": ("", None)}
    more = [*first, dealt("B1", "2C", 2), dealt("P2", "5D", 5), dealt("B2", "AS", 3), dealt("P3", "TC", 5)]
    assert so_far(*more) == {"player": ("KH 5D TC", 5), "banker": ("2C AS", 3)}


def test_a_face_that_lies_down_is_none_until_it_is_turned() -> None:
    down = [OPENED, dealt("P1", None), dealt("B1", None), dealt("P2", None), dealt("B2", None)]
    assert so_far(*down) == {"player": ("? ?", None), "banker": ("? ?", None)}
    turned = [*down, event("hand.turned", player=["2C", "3H"], banker=["9D", "KS"])]
    assert so_far(*turned) == {"player": ("2C 3H", None), "banker": ("9D KS", None)}
    assert so_far(*turned, dealt("P3", "4C", 9)) == {"player": ("2C 3H 4C", 9), "banker": ("9D KS", None)}


def test_what_tells_no_cards_changes_nothing() -> None:
    """The page of a player is no place to fail for an event that says less than it should."""
    events = [
        OPENED,
        event("hand.turned", player=5),
        event("hand.corrected", after="x"),
        dealt("P1", "2C", 2),
    ]
    assert so_far(*events) == {"player": ("2C", 2), "banker": ("", None)}


def test_a_correction_is_the_whole_hand() -> None:
    """What it took away does not come back from before it."""
    events = [OPENED, dealt("P1", "2C", 2), dealt("B1", "9D", 9), dealt("P2", "3H", 5), dealt("B2", "KS", 9)]
    events += [dealt("P3", "4C", 9), event("hand.corrected", before={}, after={"P1": "2C", "B1": "9D"})]
    assert so_far(*events) == {"player": ("2C", None), "banker": ("9D", None)}
    assert so_far(*events, dealt("P2", "8H", 0)) == {"player": ("2C 8H", 0), "banker": ("9D", None)}
