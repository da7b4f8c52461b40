"""What became of a shoe's cards: dealt, burned, kept, left, and how its rounds ended.

Cards are counted by the table's own fold of the events, so that the report cannot differ from the table; what
is added is only what the table needs no more.  While the shoe is in play only how many: burn cards and cards
kept with a hold are face down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tablectl import events as ev
from tablectl.cards import RANKS, Card
from tablectl.shoe import Shoe
from tablectl.table import State, evolve


def shoe_report(events: Iterable[ev.Event], *, over: bool) -> dict[str, Any]:
    """The report on one shoe from its events, ``shoe.started`` first. ``over``: it has ended."""
    count = _Count()
    for event in events:
        count.take(event)
    return count.report(over=over and count.ended is not None)


class _Count:
    """The shoe and its rounds, event by event."""

    def __init__(self) -> None:
        self.started: ev.ShoeStarted | None = None
        self.ended: ev.ShoeEnded | None = None
        self.state = State()
        """The table with the shoe in play; behind its end as it was then."""
        self.unplaced: list[Card | None] = []
        """Kept when their round was void: used, in no hand."""
        self.rounds: set[int | None] = set()
        self.results: dict[int | None, str] = {}
        self.voids: set[int | None] = set()
        self.amended: set[int | None] = set()
        self.holds = 0

    def take(self, event: ev.Event) -> None:
        """What one event changes."""
        self._card(event)
        match event:
            case ev.ShoeStarted():
                self.started = event
            case ev.ShoeEnded():
                self.ended = event
            case ev.BettingOpened() | ev.FreeHandOrdered():
                self.rounds.add(event.round)
            case ev.TableHeld():
                self.holds += 1
            case ev.RoundResulted(outcome=outcome):
                self.results[event.round] = outcome.value
            case ev.RoundAmended(after=after):
                self.results[event.round] = str(after.get("outcome"))
                self.amended.add(event.round)
            case ev.RoundVoided():
                self.results.pop(event.round, None)
                self.voids.add(event.round)
            case _:
                pass

    def _card(self, event: ev.Event) -> None:
        later = isinstance(event, ev.RoundAmended | ev.RoundVoided)
        if isinstance(event, ev.ShoeEnded) or (self.ended is not None and not later):
            return  # what is found out later of a finished shoe is counted as if it were in play
        before, self.state = self.state, evolve(self.state, event)
        if isinstance(event, ev.RoundVoided) and not self.state.loose:
            self.unplaced += [kept.card for kept in before.loose]

    def report(self, *, over: bool) -> dict[str, Any]:
        """The report as JSON."""
        started, ended = self.started, self.ended
        shoe = self.state.shoe or Shoe(0, 0)
        adopted = int((started.adopted or {}).get("out", 0)) if started else 0
        kept = [*self.unplaced, *(one.card for one in self.state.loose), *self.state.reserved]
        made: dict[str, Any] = {
            **{"shoe": started.shoe if started else None, "over": over},
            **{"decks": shoe.decks, "cards": shoe.size},
            **{"rules": started.rules.get("name") if started else None, "note": started and started.note},
            **{"adopted": started and started.adopted, "out": shoe.out, "left": shoe.left},
            "dealt": shoe.out - adopted - len(shoe.burned) - len(kept),
            **{"burned": len(shoe.burned), "kept": len(kept), "unknown": shoe.unknown},
            **{"rounds": len(self.rounds), "results": dict(Counter(self.results.values()))},
            **{"void": len(self.voids), "amended": len(self.amended), "holds": self.holds},
            "ended": None,
        }
        if over and ended is not None:
            made["ended"] = {
                **{"reason": ended.reason, "approved_by": ended.approved_by},
                **{"integrity": bool(ended.integrity), "withdrawn": ended.withdrawn},
                **{"missing": list(ended.missing), "extra": list(ended.extra)},
            }
            burned = [_face(card) for card in shoe.burned]
            faces = [_face(card) for card in kept]
            dealt = Counter(str(card) for card in shoe.drawn if card) - Counter([*burned, *faces])
            made["faces"] = {
                "dealt_by_rank": _ranks(dealt),
                "burned": burned,
                "kept": faces,
                "left": None if shoe.unknown else dict(Counter(shoe.unseen())),
            }
        return made


def _face(card: Card | str | None) -> str:
    """A card by name; ``?`` for none, and for the words that stand for a card nobody read."""
    return "?" if card in (None, "unread", "unseen") else str(card)


def _ranks(faces: Counter[str]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for face, number in faces.items():
        found[face[0]] += number
    return {rank: found[rank] for rank in RANKS if found[rank]}
