"""Where a replay may begin: every ``shoe.started`` carries the table as it was just before.

Between shoes a table is small: no shoe, no round, no hold, no card. What else it knew is put into
the private part of the row, so that a restart reads one shoe and not the life of the journal.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from tablectl.cards import Outcome
from tablectl.events import ShoeStarted
from tablectl.table.state import Phase, State

_BEGUN_ANEW = frozenset(
    {
        *("rules", "shoe", "round", "holds", "loose", "aside", "rescan", "counting", "bounced"),
        *("before_shoe", "by_hand", "burns_behind", "burn_run", "tags"),
    }
)
"""Empty between shoes, or set by the shoe's own start."""

_KEPT = tuple(f.name for f in dataclasses.fields(State) if f.name not in _BEGUN_ANEW)


def take(state: State) -> dict[str, Any]:
    """The state as plain JSON values. Only between shoes, without a hold."""
    assert state.shoe is None and state.round is None and not state.holds and not state.loose
    assert not state.aside and state.rescan is None and state.counting is None and not state.by_hand
    plain: dict[str, Any] = json.loads(json.dumps({name: getattr(state, name) for name in _KEPT}))
    return plain


def before(event: ShoeStarted) -> State | None:
    """The state just before ``event``; None for a row that carries none."""
    if event.carry is None:
        return None
    kept = dict(event.carry)
    outcome = kept["last_outcome"]
    player, banker = kept["last_pairs"]
    return State(
        **kept
        | {
            "phase": Phase(kept["phase"]),
            "last_outcome": None if outcome is None else Outcome(outcome),
            "last_pairs": (player, banker),
            "alerts": tuple((alert, message) for alert, message in kept["alerts"]),
            **_later(kept),
        }
    )


def _later(kept: dict[str, Any]) -> dict[str, Any]:
    """What shoes of the first release did not carry yet."""
    where, what = kept.get("settled", ("", ""))
    revisions = tuple((shoe, number, revision) for shoe, number, revision in kept.get("revisions", ()))
    unsettled = tuple((shoe, number) for shoe, number in kept.get("unsettled", ()))
    return {
        "settled": (where, what),
        "revisions": revisions,
        "unheard": kept.get("unheard", True),
        "unsettled": unsettled,
        "last_shoe": kept.get("last_shoe", kept["shoes"]),
        "pickups": tuple((dealer, pickup) for dealer, pickup in kept.get("pickups", ())),
    }
