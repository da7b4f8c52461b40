"""What became of a shoe's cards: dealt, burned, kept, left, and how its rounds ended.

While the shoe is in play only how many: burn cards and cards kept with a hold are face down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from tablectl import events as ev
from tablectl.cards import DECK, RANKS, Card


def shoe_report(events: Iterable[ev.Event], *, over: bool) -> dict[str, Any]:
    """The report on one shoe from its events, ``shoe.started`` first. ``over``: it has ended."""
    count = _Count()
    for event in events:
        count.take(event)
    return count.report(over=over and count.ended is not None)


class _Count:
    """Where each card of the shoe is; None: its face is not known."""

    def __init__(self) -> None:
        self.started: ev.ShoeStarted | None = None
        self.ended: ev.ShoeEnded | None = None
        self.dealt: list[str | None] = []
        self.burned: list[str | None] = []
        self.unplaced: list[str | None] = []
        """Kept under a hold when their round was void or the shoe ended: used, in no hand."""
        self.kept: list[str | None] = []
        self.reserved: list[str | None] = []
        self.hand: list[str | None] = []
        self.rounds: set[int | None] = set()
        self.results: dict[int | None, str] = {}
        self.voids: set[int | None] = set()
        self.amended: set[int | None] = set()
        self.holds = 0

    def take(self, event: ev.Event) -> None:
        """What one event changes."""
        match event:
            case ev.ShoeStarted():
                self.__init__()  # type: ignore[misc] # a withdrawn start of the same number is no matter
                self.started = event
            case ev.BettingOpened() | ev.FreeHandOrdered():
                self.rounds.add(event.round)
                # No round begins while cards are kept: what became of them is settled.
                self.unplaced += self.kept
                self.kept = []
            case ev.CardDealt():
                self._dealt(event)
            case ev.CardBurned(card=card, kept=kept):
                if kept:
                    card = _take(self.kept, card)
                self.burned.append(_known(card))
            case ev.ScanKept(card=card):
                self.kept.append(card)
            case ev.KeptNamed(place=place, card=card) if 1 <= place <= len(self.kept):
                self.kept[place - 1] = card
            case ev.KeptMoved(place=place, to=to) if 1 <= place <= len(self.kept):
                self.kept.insert(to - 1, self.kept.pop(place - 1))
            case ev.CardDropped():
                del self.kept[-1:]
            case ev.CardsReserved():
                self.reserved += self.kept
                self.kept = []
            case ev.HandCorrected():
                self.hand = [*event.player, *event.banker] or list(event.after.values())
                self.kept = [_known(card) for card in event.kept]
            case ev.TableHeld():
                self.holds += 1
            case ev.RoundResulted() | ev.RoundVoided() | ev.RoundAmended():
                self._settled(event)
            case ev.ShoeEnded():
                self.dealt += self.hand
                self.unplaced += self.kept + self.reserved
                self.hand, self.kept, self.reserved = [], [], []
                self.ended = event
            case _:
                pass

    def _dealt(self, event: ev.CardDealt) -> None:
        card = event.face or event.card
        if event.kept or event.reserved:
            _take(self.reserved if event.reserved else self.kept, card)
        self.hand.append(card)

    def _settled(self, event: ev.RoundResulted | ev.RoundVoided | ev.RoundAmended) -> None:
        match event:
            case ev.RoundResulted(outcome=outcome):
                self.results[event.round] = outcome.value
            case ev.RoundAmended(before=before, after=after):
                self.results[event.round] = str(after.get("outcome"))
                self.amended.add(event.round)
                for side in ("player", "banker"):
                    self._amended(list(before[side]["cards"]), list(after[side]["cards"]))
                return
            case ev.RoundVoided(earlier=earlier):
                self.voids.add(event.round)
                self.results.pop(event.round, None)
                if earlier:
                    return
                self.unplaced += self.kept
                self.kept = []
        self.dealt += self.hand
        self.hand = []

    def _amended(self, before: list[str], after: list[str]) -> None:
        """A settled hand was another one: a card that it lacks now was drawn all the same."""
        for was, card in zip(before, after, strict=False):
            if was in self.dealt:
                self.dealt[self.dealt.index(was)] = card
        self.dealt += after[len(before) :]

    def report(self, *, over: bool) -> dict[str, Any]:
        """The report as JSON."""
        started, ended = self.started, self.ended
        decks = started.decks if started else 0
        adopted = int((started.adopted or {}).get("out", 0)) if started else 0
        dealt = self.dealt + self.hand
        kept = self.unplaced + self.kept + self.reserved
        drawn = dealt + self.burned + kept
        out = len(drawn) + adopted
        left = 52 * decks - out
        if ended is not None and ended.left is not None:
            left = ended.left
        made: dict[str, Any] = {
            **{"shoe": started.shoe if started else None, "over": over, "decks": decks, "cards": 52 * decks},
            **{"rules": started.rules.get("name") if started else None, "note": started and started.note},
            **{"adopted": started and started.adopted, "out": out, "left": left},
            **{"dealt": len(dealt), "burned": len(self.burned), "kept": len(kept)},
            "unknown": sum(card is None for card in drawn) + adopted,
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
            made["faces"] = {
                "dealt_by_rank": _ranks(dealt),
                "burned": [card or "?" for card in self.burned],
                "kept": [card or "?" for card in kept],
                "left": _left(decks, drawn) if not made["unknown"] else None,
            }
        return made


def _take(cards: list[str | None], card: str | None) -> str | None:
    """Take a card out of those waiting: the one of that face, else the first; what it is."""
    if not cards:
        return card
    return cards.pop(cards.index(card) if card in cards else 0)


def _known(card: str | None) -> str | None:
    """A face; None for ``?`` and the words that stand for a card nobody read."""
    return None if card in (None, "?", "unread", "unseen") else card


def _ranks(cards: Sequence[str | None]) -> dict[str, int]:
    found = Counter(card[0] for card in cards if card)
    return {rank: found[rank] for rank in RANKS if found[rank]}


def _left(decks: int, drawn: Sequence[str | None]) -> dict[str, int]:
    """How many of each card were not drawn; cards drawn too often have none left."""
    out = Counter(Card.parse(card) for card in drawn if card)
    return {str(card): decks - out[card] for card in DECK if out[card] < decks}
