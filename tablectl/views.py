"""A table's state and its rounds as JSON for people and programs at the table.

What must not be seen is not here: burn faces, face-down cards before they are turned (nor what the rule
makes of them), and the faces of kept cards, each of which may yet be burned, until they lie in a turned
hand or the shoe has ended.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tablectl.cards import Side
from tablectl.clock import SECOND, Instant, iso
from tablectl.journal_rows import Row
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
        "counting": state.counting
        and {
            "counted": state.counting.out,
            "of": state.counting.size,
            "extra": list(state.counting.excess()),
        },
        "settled": {"where": state.settled[0], "what": state.settled[1]} if state.settled[0] else None,
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


def round_view(rows: Sequence[Row], *, shoe_over: bool) -> dict[str, Any]:
    """One round from its journal rows: cards with positions, times and bytes, holds, result or void.

    ``shoe_over``: its shoe has ended, so that every face may be told.
    """
    view: dict[str, Any] = {
        "shoe": None,
        "round": None,
        "opened": None,
        "closed": None,
        "cards": [],
        "kept": [],
        "holds": [],
        "releases": [],
        "commands": [],
        "result": None,
        "void": None,
        "events": [],
    }
    faces = _Faces(shoe_over, rows)
    for row in rows:
        private = json.loads(row.private)
        data = private["data"] if row.public is None else json.loads(row.public)["data"]
        time = iso(private["wall"])
        view["shoe"], view["round"] = data.get("shoe", view["shoe"]), data.get("round", view["round"])
        if row.public is not None:
            view["events"].append({"sequence": row.sequence, "type": private["type"], "time": time})
        match private["type"]:
            case "card.dealt":
                shown = {key: value for key, value in data.items() if key not in ("shoe", "round")}
                faces.dealt(shown, bool(private["data"].get("kept")))
                raw = {"raw": row.raw.hex(" ")} if "card" in data or faces.turned else {}
                view["cards"].append({**shown, "time": time, **raw})
            case "scan.kept":
                view["kept"].append(faces.kept(data, time, row.raw.hex(" ")))
            case kind:
                if kind == "table.released" and data["action"] == "burn":
                    faces.burned()
                _add(view, kind, data, time)
    return view


class _Faces:
    """Which kept cards of a round may be shown: they are given places in the order they were kept."""

    def __init__(self, shoe_over: bool, rows: Sequence[Row]) -> None:
        self._shoe_over = shoe_over
        self.turned = shoe_over or any(json.loads(row.private)["type"] == "hand.turned" for row in rows)
        self._waiting: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def kept(self, data: dict[str, Any], time: str, raw: str) -> dict[str, Any]:
        """A card that was kept, its face not shown yet unless the shoe is over."""
        shown = {"code": data["code"], "time": time}
        face = {"card": data.get("card"), "raw": raw}
        if self._shoe_over:
            return shown | face
        self._waiting.append((shown, face))
        return shown

    def dealt(self, data: dict[str, Any], kept: bool) -> None:
        """A card has its place; if it was kept, it is the first of those waiting."""
        if kept and self._waiting:
            shown, face = self._waiting.pop(0)
            if self.turned or "card" in data:
                shown |= face

    def burned(self) -> None:
        """Those waiting were burned: face down until the shoe is over."""
        self._waiting.clear()


def _add(view: dict[str, Any], kind: str, data: dict[str, Any], time: str) -> None:
    shown = {key: value for key, value in data.items() if key not in ("shoe", "round")}
    match kind:
        case "betting.opened":
            view["opened"] = time
        case "betting.closed":
            view["closed"] = data["closed_at"]
        case "hand.turned":
            view["turned"] = {**shown, "time": time}
        case "table.held":
            view["holds"].append({**shown, "time": time})
        case "table.released":
            view["releases"].append({**shown, "time": time})
        case "command.recorded":
            wanted = ("command", "args", "person", "uid", "accepted", "answer", "reason")
            view["commands"].append({**{k: data[k] for k in wanted if k in data}, "time": time})
        case "round.resulted":
            view["result"] = {**shown, "time": time}
        case "round.voided":
            view["void"] = {**shown, "time": time}
        case _:
            pass
