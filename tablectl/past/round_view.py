"""One round from its journal rows, for disputes: what lay where, when it came, and who did what about it.

What must not be seen yet is not here (:mod:`tablectl.past.round_faces`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tablectl import events as ev
from tablectl.cards import Position
from tablectl.clock import iso
from tablectl.journal.rows import Row, decode_row
from tablectl.past.round_faces import Told, told

INTEGRITY = "the shoe was closed on an integrity fault"

_PLAYER = [position.value for position in Position if position.value[0] == "P"]
_BANKER = [position.value for position in Position if position.value[0] == "B"]


def round_view(
    rows: Sequence[Row], *, shoe_over: bool, integrity: bool = False, commands: Sequence[Row] = ()
) -> dict[str, Any]:
    """Cards with positions, times and bytes, holds, corrections, result or void, and what came later.

    ``shoe_over``: its shoe has ended, so that every face may be told. ``integrity``: with cards that
    cannot be right. ``commands``: those that concern the round and are no rows of it.
    Raises :class:`JournalFault` for rows of another version.
    """
    decoded = [(row, *decode_row(row)) for row in rows]
    faces = told([(row.row, event) for row, event, _ in decoded], shoe_over=shoe_over)
    view = _View(faces)
    for row, event, at in decoded:
        view.add(row, event, iso(at.wall))
    for row in commands:
        event, at = decode_row(row)
        if isinstance(event, ev.CommandRecorded):
            view.command(row.row, event, iso(at.wall))
    made = view.made
    made["commands"].sort(key=lambda command: command["time"])
    made["hand"] = dict(sorted(view.hand.items(), key=lambda item: list(Position).index(Position(item[0]))))
    made["flag"] = INTEGRITY if integrity else None
    return made


class _View:
    def __init__(self, faces: Told) -> None:
        self._faces = faces
        self._kept: dict[int, dict[str, Any]] = {}
        self.hand: dict[str, str] = {}
        lists = (
            *("cards", "kept", "holds", "releases", "corrections", "notes"),
            *("commands", "amendments", "events"),
        )
        self.made: dict[str, Any] = {
            **{"shoe": None, "round": None, "opened": None, "closed": None, "result": None, "void": None},
            **{name: [] for name in lists},
        }

    def add(self, row: Row, event: ev.Event, time: str) -> None:
        made = self.made
        made["shoe"], made["round"] = event.shoe, event.round
        if row.public is not None:
            made["events"].append({"sequence": row.sequence, "type": event.TYPE, "time": time})
        public = {} if row.public is None else json.loads(row.public)["data"]
        shown = {key: value for key, value in public.items() if key not in ("shoe", "round")}
        shown["time"] = time
        match event:
            case ev.BettingOpened():
                made["opened"] = time
            case ev.BettingClosed():
                made["closed"] = event.closed_at
            case ev.CardDealt():
                self._dealt(row, event, shown)
            case ev.ScanKept():
                self._scan_kept(row, event, time)
            case ev.HandTurned():
                made["turned"] = shown
                self._lies(event.player, event.banker)
            case ev.HandCorrected():
                self._corrected(event, shown)
            case ev.TableHeld():
                made["holds"].append(shown | self._saw(event))
            case ev.TableReleased():
                made["releases"].append(shown)
            case ev.CommandRecorded():
                self.command(row.row, event, time)
            case ev.RoundResulted():
                made["result"] = shown
            case ev.RoundVoided():
                if self._faces.everything and event.faces:
                    shown["cards"] = event.faces
                made["void"] = shown | ({"earlier": True} if event.earlier else {})
            case ev.RoundAmended():
                made["amendments"].append(shown)
                player, banker = (event.after.get(side, {}) for side in ("player", "banker"))
                self._lies(player.get("cards", ()), banker.get("cards", ()))
            case _:
                self._note(event, time)

    def _dealt(self, row: Row, event: ev.CardDealt, shown: dict[str, Any]) -> None:
        card = event.face or event.card
        if self._faces.has(row.row):
            # The bytes of a card that was kept came with its scan.
            raw = row.raw.hex(" ")
            shown |= {"card": card, "raw": raw}
            if event.source == "manual":
                shown["approved_by"] = event.approved_by
        if self._faces.hand and card is not None:
            self.hand[event.position.value] = card
        kept = self._kept.get(self._faces.kept_row.get(row.row, 0))
        if kept is not None and self._faces.has(row.row):
            kept["position"] = event.position.value
        self.made["cards"].append(shown)

    def _scan_kept(self, row: Row, event: ev.ScanKept, time: str) -> None:
        shown: dict[str, Any] = {"code": event.code, "time": time}
        if self._faces.has(row.row):
            shown |= {"card": event.card, "raw": row.raw.hex(" ")}
        self._kept[row.row] = shown
        self.made["kept"].append(shown)

    def _corrected(self, event: ev.HandCorrected, shown: dict[str, Any]) -> None:
        if self._faces.everything and event.player:
            shown["after"] = _positions(event.player, event.banker)
            shown["kept"] = list(event.kept)
        if event.player or event.banker:
            self._lies(event.player, event.banker)
        elif self._faces.hand and "?" not in event.after.values():
            self.hand = dict(event.after)
        self.made["corrections"].append({**shown, "how": event.how or "correct"})

    def _lies(self, player: Sequence[str], banker: Sequence[str]) -> None:
        if self._faces.hand:
            self.hand = _positions(player, banker)

    def _saw(self, event: ev.TableHeld) -> dict[str, Any]:
        """What the controller saw; no bytes that are those of a card which is not told."""
        if not event.saw:
            return {}
        saw = dict(event.saw)
        if not self._faces.hand or (
            not self._faces.everything and any("raw" not in kept for kept in self._kept.values())
        ):
            saw.pop("bytes", None)
        return {"saw": saw}

    def command(self, row: int, event: ev.CommandRecorded, time: str) -> None:
        """A command: who, why, what was seen, what came of it."""
        names = ("command", "person", "uid", "accepted", "answer", "reason", "saw_round", "saw_version")
        shown = {name: value for name in names if (value := getattr(event, name)) is not None}
        shown["args"] = dict(event.args)
        if not self._faces.shows(row, event):
            blot = self._faces.words
            shown |= {name: blot(shown[name]) for name in ("answer", "reason") if name in shown}
            shown["args"] = {
                blot(key): "?" if key == "card" or (key[:1] in "PB" and len(key) == 2) else blot(value)
                for key, value in event.args.items()
            }
        self.made["commands"].append({**shown, "time": time})

    def _note(self, event: ev.Event, time: str) -> None:
        """What happened to kept cards and scans, in words; with faces once they may be told."""
        faces = self._faces.everything
        match event:
            case ev.KeptNamed(place=place):
                text = f"K{place} named" + (
                    f": {event.before or 'not read'} -> {event.card}" if faces else ""
                )
            case ev.KeptMoved(place=place, to=to):
                text = f"K{place} moved to K{to}"
            case ev.CardDropped(taken=None, burned=None):
                text = "the last card kept was one card read twice; it is not counted"
            case ev.CardDropped():
                text = "a card that lay aside was one card read twice; it is not counted"
            case ev.CardsReserved():
                text = "the cards kept are the first ones of the next round"
            case ev.RescanBegan(what=what):
                text = f"scanned again: {what}"
            case ev.CardRescanned():
                text = "a card was scanned again" + (f": {event.card}" if faces else "")
            case ev.ScanUnread():
                text = "a card could not be read"
            case ev.DeliveryParked():
                text = f"the game server refused {event.parked_type} (event {event.event}); it was parked"
            case ev.DeviceSwapped():
                text = "another shoe is in use from here on"
            case _:
                return
        who = {"approved_by": by} if (by := asdict(event).get("approved_by")) else {}
        self.made["notes"].append({"text": text, "time": time, **who})


def _positions(player: Sequence[str], banker: Sequence[str]) -> dict[str, str]:
    return dict(zip(_PLAYER, player, strict=False)) | dict(zip(_BANKER, banker, strict=False))
