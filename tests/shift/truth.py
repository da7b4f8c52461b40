"""What really happened: the cards that left the shoe, and the faults that were made. The table is held to it.

A result must be that of the cards which lie on the table. A hold must have a cause: a fault that was made in
this round or the one before it, and that may lead to a hold of this code. A void must come of a hold.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.house import HouseRules
from tablectl.rules import deal
from tablectl.scanner import Arrived, Discarded, Scan, Traits
from tablectl.table import Command, Decision
from tablectl.table.inputs import Input
from tests.shift.protocols import CRASH, Protocol
from tests.shift.wire import BEGAN, Clock
from tests.table.playing import Play

DELAY = "delay"
"""Noted when the dealer lost patience with a line that was still speaking."""

_ANY = "LOSES", "DOUBLES", "unreadable", "restart"
CAUSES: dict[str, tuple[str, ...]] = {
    "card-early": ("early", "DOUBLES", DELAY),
    "card-idle": ("idle-card", "overdraw", *_ANY),
    "burn-over": ("idle-card", *_ANY),
    "card-unreadable": ("unreadable",),
    "card-missed": ("LOSES", "DOUBLES", "unreadable", DELAY, CRASH),
    # Out of step a shoe may call a card by the place at which its like lies.
    "card-twice": ("DOUBLES", DELAY, "LOSES", "unreadable", "restart", "button", "idle-card", "early"),
    "card-conflict": ("LOSES", "unreadable", "idle-card", DELAY),
    "overdraw": ("overdraw", "idle-card", *_ANY, DELAY),
    "shoe-disagrees": ("LOSES", "unreadable", "button"),
    "restart": (CRASH,),
    "device-lost": ("hang-up", "away"),
    "shoe-error": ("unreadable",),
    "shoe-restarted": ("restart",),
    "shoe-empty": ("LOSES", "DOUBLES"),
    "integrity": ("LOSES", "DOUBLES"),
    "rescan": (*_ANY, DELAY),
    "called": (*_ANY, "overdraw", "early", DELAY),
}
"""Which faults may lead to a hold; in capitals the protocol's own sets."""

OF_THE_SHOE = ("shoe-empty", "integrity")
"""Holds that come of the count, whose cause may lie anywhere in the shoe."""


class Wrong(AssertionError):
    """What must never be. The message says when, where and what."""


@dataclass
class Tally:
    """What came of a shift."""

    rounds: int = 0
    results: int = 0
    voids: int = 0
    shoes: int = 0
    cards: int = 0
    holds: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)


class Truth:
    """The physical side of a table."""

    def __init__(self, protocol: Protocol, clock: Clock) -> None:
        self.protocol = protocol
        self.tally = Tally()
        self.hand: list[Card] = []
        """The cards of the round, in the order they were drawn."""
        self.excess: list[Card] = []
        """Drawn besides: too many, or when none was due."""
        self.drawn = 0
        """Cards that left the shoe in play."""
        self.uncounted = 0
        """Of these, how many the controller can no longer know: lost, and their round void."""
        self.results: list[str] = []
        self._untold: deque[Card | None] = deque()
        self._unreadable = False
        self._clock = clock
        self._faults: list[tuple[int, str]] = []
        self._of_shoe: set[str] = set()
        self._this_round = 0
        self._last_round = 0

    def note(self, fault: str) -> None:
        """A fault is made now."""
        self.tally.faults[fault] += 1
        self._faults.append((self._clock.now, fault))
        self._of_shoe.add(fault)
        self._unreadable |= fault == "unreadable"

    def drew(self, card: Card) -> None:
        """A card left the shoe; what the decoder is to tell of it."""
        self.drawn += 1
        self.tally.cards += 1
        self._untold.append(None if self._unreadable else card)
        self._unreadable = False

    def told(self, card: Card | None, *, played: bool) -> None:
        """The decoder tells of a card: it must be the next that was drawn, or a fault made it another.

        A copy that is not ``played``, for the line is not settled, may tell of it again.
        """
        if card not in self._untold:
            if not played:
                return
            # An alarm that is held up for long, or stands behind rubbish that may have been a card, is no
            # longer seen to belong to its card.
            torn = ("freeze", "noise") if card is None else ()
            self._need_cause(f"{card} told and not drawn", ("DOUBLES", *torn))
            return
        while (next_ := self._untold.popleft()) != card:
            self._need_cause(f"{next_} drawn and not told", ("LOSES",))

    def recent(self) -> list[str]:
        """The faults of this round and the one before."""
        return [fault for _, fault in self._faults]

    def when(self) -> str:
        """Virtual time since the shift began, h:mm:ss."""
        seconds = (self._clock.now - BEGAN.boot) // 1_000_000_000
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"

    def wrong(self, what: str) -> Wrong:
        laid = " ".join(map(str, self.hand))
        return Wrong(f"{self.when()}: {what}; true cards: {laid}; faults: {', '.join(self.recent())}")

    # --- what the table says, against what is so -------------------------------------------------------

    def round_begins(self) -> None:
        self._faults = [(at, fault) for at, fault in self._faults if at >= self._last_round]
        self._last_round, self._this_round = self._this_round, self._clock.now

    def shoe_begins(self) -> None:
        self.drawn = self.uncounted = 0
        self._of_shoe = set()
        self._untold.clear()
        self.tally.shoes += 1

    def held(self, code: str) -> None:
        self.tally.holds[code] += 1
        if code in self.protocol.explains and self.tally.faults:
            return
        self._need_cause(f"hold {code}", CAUSES.get(code, ()), of_shoe=code in OF_THE_SHOE)

    def give_up(self, out: int) -> None:
        """No way out puts the count right: so many cards are to stay unknown, or counted twice."""
        if self.drawn - out != self.uncounted:
            self._need_cause("a count that is wrong", ("LOSES", "DOUBLES", "unreadable", DELAY))
            self.uncounted = self.drawn - out

    def _need_cause(self, what: str, causes: tuple[str, ...], *, of_shoe: bool = False) -> None:
        may: set[str] = set()
        for cause in causes:
            may |= {"LOSES": self.protocol.loses, "DOUBLES": self.protocol.doubles}.get(cause, {cause})
        if not may & (self._of_shoe if of_shoe else set(self.recent())):
            raise self.wrong(f"{what} without a cause")

    def resulted(self, result: ev.RoundResulted, out: int) -> None:
        self.tally.results += 1
        laid, rest = deal(self.hand)
        right = {side: tuple(str(c) for p, c in laid.items() if p.side.value == side) for side in _SIDES}
        told = {"player": result.player.cards, "banker": result.banker.cards}
        if told != right or rest:
            raise self.wrong(f"round {result.shoe}/{result.round}: WRONG RESULT {told}")
        self.counted(out)
        self.results.append(f"{result.shoe}/{result.round} {result.outcome.value} {told}")

    def counted(self, out: int) -> None:
        """No card is invented, and none that a person could see is lost from the count."""
        if self.drawn - out != self.uncounted:
            raise self.wrong(
                f"{out} cards counted, {self.drawn} drawn, {self.uncounted} of them not to be known"
            )


_SIDES = ("player", "banker")


class Watched(Play):
    """The table, every event of which is held against the truth."""

    def __init__(self, rules: HouseRules, traits: Traits, clock: Clock, truth: Truth) -> None:
        super().__init__(rules, traits)
        self._clock = clock
        self._truth = truth
        self.boot, self.wall = clock.instant().boot, clock.instant().wall
        self.trace: Callable[[str], None] | None = None
        """Told every input and what came of it."""

    def pass_time(self, seconds: float) -> None:
        self._clock.run(self._clock.now + round(seconds * 1_000_000_000))

    def give(self, given: Input, now: Any = None) -> Decision:
        at = self._clock.instant()
        self.boot, self.wall = at.boot, at.wall
        if isinstance(given, Arrived | Discarded) and isinstance(given.item, Scan):
            self._truth.told(given.item.card, played=isinstance(given, Arrived))
        held_before = self.state.held
        done = super().give(given, at)
        truth = self._truth
        if self.trace is not None:
            self.trace(_line(truth, given, done))
        for event in done.events:
            match event:
                case ev.ShoeStarted():
                    self.events = [event]
                    truth.shoe_begins()
                case ev.BettingOpened():
                    truth.tally.rounds += 1
                    truth.round_begins()
                case ev.TableHeld(code=code):
                    truth.held(code)
                case ev.RoundResulted():
                    shoe = done.state.shoe
                    out = (
                        shoe.out
                        if shoe
                        else next(e.dealt + len(e.burned) for e in done.events if isinstance(e, ev.ShoeEnded))
                    )
                    truth.resulted(event, out)
                    truth.hand = []
                case ev.RoundVoided():
                    truth.tally.voids += 1
                    if not held_before:
                        raise truth.wrong("a void without a hold")
                    truth.hand = []
                    truth.excess = []
                    if done.state.shoe:
                        truth.give_up(done.state.shoe.out)
        return done

    def check(self) -> None:
        """The dear check is made once a round; in between the cheap ones."""
        if self.state.round is None or self.state.held:
            super().check()


def _line(truth: Truth, given: Input, done: Decision) -> str:
    """An input, what came of it, and where the table then stands."""
    match given:
        case Arrived(item=item) | Discarded(item=item):
            what = f"{type(given).__name__.lower()} {item}"
        case Command():
            what = f"{given.kind.value} {given.args or ''} -> {done.answer}"
        case _:
            what = type(given).__name__
    state = done.state
    events = " ".join(
        type(event).__name__ for event in done.events if not isinstance(event, ev.CommandRecorded)
    )
    cards = " ".join(map(str, state.round.dealt)) if state.round else ""
    holds = ",".join(hold.code for hold in state.holds)
    out = state.shoe.out if state.shoe else 0
    stands = f"{state.phase.value} [{holds}] {cards} +{len(state.loose)} out {out}/{truth.drawn}"
    return f"{truth.when()} {what}\n        {events} | {stands}"
