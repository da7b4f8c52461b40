"""Which faces of a round may be told before its shoe has ended.

Secret are: burn cards, so every card kept with a hold, which may yet be burned, until it lies in a turned
hand; and face-down cards until they are turned. A face-down card that a correction may have taken out of
the hand stays secret even then. Where the rows leave a doubt, the face is not told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from tablectl import events as ev

FACE = re.compile(
    r"(?<![A-Za-z0-9])(?:10|[A2-9TJQK])[SHDC](?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(?:10|[2-9tjqk])[shdc](?![A-Za-z0-9])"
)
"""A card as it is typed. (A small ``as`` or ``ad`` is a word.)"""

_NAMES_CARDS = frozenset({"correct", "insert", "enter", "amend"})
_OPEN = re.compile(r"[PB][123]", re.ASCII)


@dataclass(slots=True)
class Told:
    """``rows``: those whose face and bytes may be told. ``kept_row``: of a laid card, where it was kept."""

    everything: bool
    turned: int | None = None
    """The row from which on the hand lies face up; None: it does not."""
    rows: set[int] = field(default_factory=set)
    kept_row: dict[int, int] = field(default_factory=dict)

    def has(self, row: int) -> bool:
        """Whether the face in that row may be told."""
        return self.everything or row in self.rows

    @property
    def hand(self) -> bool:
        """Whether the cards of the hand may be told."""
        return self.everything or self.turned is not None

    def words(self, text: str) -> str:
        """Words of people with the cards in them blotted out."""
        return text if self.everything else FACE.sub("?", text)

    def shows(self, row: int, command: ev.CommandRecorded) -> bool:
        """Whether the cards named in a command may be told: they are in the hand, which was turned then."""
        if self.everything:
            return True
        place = command.args.get("position", "P1" if command.command == "amend" else "")
        return (
            self.turned is not None
            and row > self.turned
            and command.accepted
            and command.command in _NAMES_CARDS
            and _OPEN.fullmatch(place) is not None
        )


@dataclass(slots=True)
class _Kept:
    row: int
    card: str | None


def told(events: Sequence[tuple[int, ev.Event]], *, shoe_over: bool) -> Told:
    """What of a round's events, each with its row, may be told."""
    public = [shown for _, event in events if (shown := _public(event)) is not None]
    turned = next((row for row, event in events if isinstance(event, ev.HandTurned)), None)
    if turned is None and public and all(public):
        turned = 0  # dealt face up: every card was public at once
    made = Told(shoe_over, turned)
    waiting: list[_Kept | None] = []
    hidden, doubtful = dict[int, int](), False
    for row, event in events:
        match event:
            case ev.ScanKept(card=card):
                waiting.append(_Kept(row, card))
            case ev.KeptNamed(place=place, card=card) if 1 <= place <= len(waiting):
                kept = waiting[place - 1]
                # What it was read as before may be another card's face.
                unread = kept is not None and kept.card is None
                waiting[place - 1] = _Kept(kept.row, card) if kept and unread else None
            case ev.KeptMoved(place=place, to=to) if 1 <= place <= len(waiting):
                waiting.insert(to - 1, waiting.pop(place - 1))
            case ev.CardDropped(taken=None, burned=None) if waiting:
                waiting.pop()
            case ev.HandCorrected(kept=cards):
                # Which of those kept are now in the hand is not known from here on.
                waiting = [None] * len(cards)
                doubtful = True
            case ev.HandTurned():
                made.rows |= hidden.keys() if not doubtful else set()
                made.rows |= set(hidden.values()) - {0} if not doubtful else set()
            case ev.CardsReserved() | ev.RoundVoided(earlier=False):
                waiting.clear()
            case ev.TableReleased(action="burn"):
                waiting.clear()
            case ev.CardDealt():
                was = waiting.pop(0) if event.kept and not event.reserved and waiting else None
                kept_row = 0 if was is None or was.card != (event.face or event.card) else was.row
                if kept_row:
                    made.kept_row[row] = kept_row
                if event.face is None:
                    made.rows |= {row, kept_row} - {0}
                else:
                    hidden[row] = kept_row
            case _:
                pass
    return made


def _public(event: ev.Event) -> bool | None:
    """Whether the event lays cards of the hand face up; None: it lays none. All may be told by hand alone."""
    match event:
        case ev.CardDealt(face=face):
            return face is None
        case ev.HandCorrected(after=after) if after:
            return "?" not in after.values()
        case _:
            return None
