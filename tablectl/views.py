"""A table's state as JSON for people and programs at the table; its rounds: :mod:`tablectl.past.round_view`.

What must not be seen is not here: burn faces, face-down cards before they are turned (nor what the rule
makes of them), and the faces of kept cards, each of which may yet be burned, until they lie in a turned
hand or the shoe has ended.
"""

from __future__ import annotations

from typing import Any

from tablectl.cards import Side
from tablectl.clock import SECOND, Instant, iso
from tablectl.table import WAYS, Phase, State, offered, words
from tablectl.table.state import Round


def state_view(state: State, at: Instant) -> dict[str, Any]:
    """The part of ``GET /v1/state`` that comes from the state alone."""
    shoe = state.shoe
    return {
        "rules": state.rules.name if state.rules else None,
        "phase": _phase(state).value,
        "where": state.where,
        "shoe": shoe
        and {
            "number": shoe.number,
            "left": shoe.left,
            "out": shoe.out,
            "rounds": shoe.rounds,
            "cut": shoe.cut is not None,
            "last_round": shoe.last_round,
            "last_hand": shoe.announced,
        },
        "round": state.round and _round_view(state.round, at),
        "holds": [
            {"code": hold.code, "message": hold.message, "saw": dict(hold.saw) or None}
            for hold in state.holds
        ],
        "ways": [{"action": way, "text": WAYS[way]} for way in offered(state)] if state.holds else [],
        "kept": ["?"] * len(state.loose),
        "reserved": len(state.reserved),
        "rescan": state.rescan and {"what": state.rescan.what, "scanned": len(state.rescan.cards)},
        "read_twice": state.bounced is not None,
        "counting": state.counting
        and {
            "counted": state.counting.out,
            "of": state.counting.size,
            "extra": list(state.counting.excess()),
        },
        "settled": {"where": state.settled[0], "what": state.settled[1]} if state.settled[0] else None,
        "unsettled": [f"{shoe}/{number}" for shoe, number in state.unsettled],
        "dealer": state.dealer,
        "pickup": state.pickup,
        "burns_due": state.burns_due,
        "burn_reason": state.burn_reason if state.burns_due else None,
        "step_lost": state.step_lost,
        "unread": state.unread,
        "alerts": [{"alert": alert, "message": message} for alert, message in state.alerts],
        "version": state.version,
        "row": state.row,
        "sequence": state.sequence,
    }


def with_present(view: dict[str, Any]) -> dict[str, Any]:
    """The whole view, with the alert of a journal that cannot store one: ``present``, until it is over."""
    journal = view["journal"]
    if (code := journal["alert"]) is None:
        return view
    present = {"alert": code, "message": journal["why"], "present": True}
    return view | {"alerts": [present, *(one for one in view["alerts"] if one["alert"] != code)]}


def _phase(state: State) -> Phase:
    """Whether four face-down cards are a complete hand would tell that there is a natural, or none."""
    hidden = state.round is not None and not state.round.turned
    return Phase.DEALING if hidden and state.phase is Phase.COMPLETE else state.phase


def _round_view(r: Round, at: Instant) -> dict[str, Any]:
    shown = r.turned
    due = r.due
    left = None if r.deadline is None else max(0.0, round((r.deadline - at.boot) / SECOND, 2))
    return {
        "number": r.number,
        "free": r.free,
        "cards": {position.value: str(card) for position, card in r.cards.items()} if shown else {},
        "face_down": 0 if shown else len(r.player) + len(r.banker),
        "player_total": _total(r, Side.PLAYER) if shown else None,
        "banker_total": _total(r, Side.BANKER) if shown else None,
        "next": (due.side.value if due else "none") if shown else None,
        "due": due.value if due and shown else None,
        "words": words.next_step(r) if shown else "cards face down",
        "seconds_left": left,
        "closes_at": None if r.deadline is None else iso(at.wall_at(r.deadline)),
    }


def _total(r: Round, side: Side) -> int | None:
    cards = r.player if side is Side.PLAYER else r.banker
    return sum(card.points for card in cards) % 10 if cards else None
