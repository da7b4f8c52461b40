"""The cards of a round, row by row, as :mod:`tablectl.past.explain` derives its result from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tablectl import events as ev
from tablectl.cards import Card, Position
from tablectl.clock import Instant, iso
from tablectl.past.round_faces import Told
from tablectl.rules import deal, draws, next_position, total

Decode = Callable[[bytes], "list[str] | None"]
"""The cards that a scan's bytes tell, ``?`` for one that could not be read; None: they tell none."""

PLACES = {side: [p.value for p in Position if p.value[0] == side] for side in "PB"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A journal row with its event read. ``raw``: the scanner's bytes."""

    row: int
    at: Instant
    event: ev.Event
    raw: bytes = b""


@dataclass(slots=True)
class _Kept:
    row: int
    card: str | None


class HandSteps:
    """What the rows of a round's cards lead to. ``steps``: what was done; ``findings``: what is wrong."""

    def __init__(self, faces: Told, decode: Decode) -> None:
        self._faces = faces
        self._decode = decode
        self._player: list[str] = []
        self._banker: list[str] = []
        self._kept: list[_Kept] = []
        self.steps: list[dict[str, Any]] = []
        self.findings: list[str] = []

    def _say(self, entry: Entry | None, text: str, **more: Any) -> None:
        where: dict[str, Any] = {}
        if entry is not None:
            where = {"row": entry.row, "time": iso(entry.at.wall), "event": entry.event.TYPE}
        self.steps.append({**where, "text": text, **more})

    def _find(self, entry: Entry | None, text: str) -> None:
        self.findings.append(text if entry is None else f"row {entry.row}: {text}")

    def other(self, entry: Entry) -> None:
        match entry.event:
            case ev.TableHeld(code=code, codes=codes, message=message):
                self._say(entry, f"hold {code or codes[-1]}: {message}")
            case ev.TableReleased(action=action, reason=reason, approved_by=by):
                if action == "burn":
                    self._kept.clear()
                self._say(entry, f"released: {action}, by {by}: {reason}")
            case ev.KeptNamed(place=place, card=card, approved_by=by):
                if 1 <= place <= len(self._kept):
                    self._kept[place - 1].card = card
                what = f" as {card}" if self._faces.everything else ""
                self._say(entry, f"K{place} named{what}, by {by}")
            case ev.KeptMoved(place=place, to=to, approved_by=by):
                if 1 <= place <= len(self._kept):
                    self._kept.insert(to - 1, self._kept.pop(place - 1))
                self._say(entry, f"K{place} moved to K{to}, by {by}")
            case ev.CardDropped(taken=None, burned=None, approved_by=by):
                del self._kept[-1:]
                self._say(entry, f"the last card kept was one card read twice, by {by}")
            case ev.CardDropped(approved_by=by):
                self._say(entry, f"a card that lay aside was one card read twice, by {by}")
            case ev.CardsReserved(approved_by=by):
                self._kept.clear()
                self._say(entry, f"the cards kept are the first ones of the next round, by {by}")
            case _:
                pass

    def _bytes(self, entry: Entry, card: str | None, at: Entry | None = None) -> tuple[str, dict[str, Any]]:
        """What the bytes of a scan say today, in words; whether that is the card is a finding."""
        if not entry.raw:
            return "", {}
        found = self._decode(entry.raw)
        raw = entry.raw.hex(" ")
        if found is None:
            return f"; bytes {raw}: not decoded", {"raw": raw, "decoded": None}
        if (card or "?") not in found:
            self._find(at or entry, f"the bytes {raw} say {' '.join(found) or 'no card'}, not {card or '?'}")
        return f"; bytes {raw} say {' '.join(found) or 'no card'}", {"raw": raw, "decoded": found}

    def scan_kept(self, entry: Entry, event: ev.ScanKept) -> None:
        self._kept.append(_Kept(entry.row, event.card))
        if self._faces.has(entry.row):
            said, more = self._bytes(entry, event.card)
            text = f"{event.card or 'a card that could not be read'} is kept ({event.code}){said}"
            self._say(entry, text, card=event.card, **more)
        else:
            self._say(entry, f"a card is kept ({event.code}), not told before the shoe has ended")

    def dealt(self, entry: Entry, event: ev.CardDealt) -> None:
        card, position = event.face or event.card or "", event.position.value
        due = next_position(points(self._player), points(self._banker))
        side = self._player if position[0] == "P" else self._banker
        if due is None or due.value != position:
            self._find(entry, f"the rule puts the card at {due.value if due else 'no place'}, not {position}")
        side.append(card)
        how = "by hand" if event.source == "manual" else "by scanner"
        how += f", entered by {event.approved_by}" if event.approved_by else ""
        if event.reserved:
            how += ", reserved in an earlier round"
        elif event.kept:
            how += self._from_kept(card)
        if event.card is not None:
            self._check_card(entry, event, side)
        if not self._faces.has(entry.row):
            self._say(entry, f"{position} face down, {how}", position=position)
            return
        said, more = self._bytes(entry, card)
        text = f"{position} {card}, {_card_points(card)} points, {how}{said}"
        self._say(entry, text, position=position, card=card, source=event.source, **more)

    def _from_kept(self, card: str) -> str:
        """Where a kept card came from; which of several it was is looked for by its face."""
        found = next((kept for kept in self._kept if kept.card == card), None)
        if found is not None:
            self._kept.remove(found)
        elif self._kept:
            self._kept.pop(0)
        return ", kept before" + (f" (row {found.row})" if found and self._faces.has(found.row) else "")

    def _check_card(self, entry: Entry, event: ev.CardDealt, side: Sequence[str]) -> None:
        """What was published with the card: its points, its hand's total, who draws next."""
        wants = {
            "points": _card_points(event.card or ""),
            "total": total(points(side)),
            "next": self._next(),
        }
        for name, made in wants.items():
            said = getattr(event, name)
            if said is not None and said != made:
                self._find(entry, f"published {name} is {said}, derived {made}")

    def _next(self) -> str:
        side = draws(points(self._player), points(self._banker))
        return side.value if side else "none"

    def turned(self, entry: Entry, event: ev.HandTurned) -> None:
        self._say(entry, f"turned: Player {' '.join(event.player)}, Banker {' '.join(event.banker)}")
        if (list(event.player), list(event.banker)) != (self._player, self._banker):
            self._find(entry, "the hand turned is not the one dealt")
        if event.next != self._next():
            self._find(entry, f"published next is {event.next}, derived {self._next()}")

    def corrected(self, entry: Entry, event: ev.HandCorrected) -> None:
        before = self._laid()
        if any(face not in ("?", before.get(place)) for place, face in event.before.items()) or (
            before.keys() != event.before.keys()
        ):
            self._find(entry, "the hand before the correction is not the one dealt")
        self._player, self._banker = list(event.player), list(event.banker)
        if not self._player and not self._banker:
            self._player = [event.after[place] for place in PLACES["P"] if place in event.after]
            self._banker = [event.after[place] for place in PLACES["B"] if place in event.after]
        after = self._laid()
        if any(face not in ("?", after.get(place)) for place, face in event.after.items()) or (
            after.keys() != event.after.keys()
        ):
            self._find(entry, "the hand after the correction is not what was published")
        self._check_order(entry, after)
        if event.next is not None and event.next != self._next():
            self._find(entry, f"published next is {event.next}, derived {self._next()}")
        self._kept = [_Kept(0, None if card == "?" else card) for card in event.kept]
        shown = f": {hand_words(event.before)} -> {hand_words(event.after)}" if self._faces.hand else ""
        text = f"corrected ({event.how or 'correct'}) by {event.approved_by}, {event.reason}{shown}"
        self._say(entry, text, before=event.before, after=event.after)

    def _check_order(self, entry: Entry, laid: dict[str, str]) -> None:
        """The cards of a hand, dealt anew in order, must come to lie where they do."""
        cards = [Card.parse(laid[p.value]) for p in Position if laid.get(p.value, "?") != "?"]
        again, excess = deal(cards)
        if excess or {p.value: str(card) for p, card in again.items()} != laid:
            shown = hand_words(laid) if self._faces.hand else "face down"
            self._find(entry, f"the rule does not deal this hand: {shown}")

    def _laid(self) -> dict[str, str]:
        return dict(zip(PLACES["P"], self._player, strict=False)) | dict(
            zip(PLACES["B"], self._banker, strict=False)
        )


def points(cards: Sequence[str]) -> list[int]:
    return [_card_points(card) for card in cards]


def _card_points(card: str) -> int:
    try:
        return Card.parse(card).points
    except ValueError:
        return 0


def hand_words(laid: dict[str, str]) -> str:
    return " ".join(f"{place} {laid[place]}" for place in sorted(laid, key=lambda p: (p[1:], p[:1] != "P")))
