"""A table played with every input at every moment, watched by a bookkeeper (:mod:`tests.table.oracle`).

After every input the table is held against the books, and what changed against who may change it; at the
end the journal must lead to the same table again. What is done to the table is in :mod:`tests.table.steps`.
"""

from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tablectl import events as ev
from tablectl.cards import DECK, Card
from tablectl.clock import Instant
from tablectl.events import private_body, public_body
from tablectl.house import HouseRules
from tablectl.journal.rows import Row, decode_row
from tablectl.scanner import (
    Arrived,
    Label,
    Scan,
    Traits,
)
from tablectl.table import (
    Command,
    Decision,
    JournalFilled,
    Kind,
    Phase,
    Started,
    State,
    evolve,
    offered,
)
from tablectl.table.checkpoint import before as checkpoint_before
from tablectl.table.inputs import Input, kind_of
from tablectl.table.state import next_deadline
from tests.table.oracle import Given, Oracle
from tests.table.playing import ANGEL_EYE, Play, house

REACHED: Counter[str] = Counter()
"""How often each hold, way out, phase and accepted command was met."""

TRIED: set[object] = set()
"""Situations under a hold in which every way out was tried."""

_ONE: dict[str, Any] = {"decks": 1, "cutting_card": 0, "inspection": False}
HOUSES: dict[str, tuple[HouseRules, Traits]] = {
    "live-casino": (house(), Traits()),
    "classic": (house("classic"), Traits()),
    "commission-free": (house("commission-free"), Traits()),
    "atlantic-city": (house("atlantic-city"), Traits()),
    "face-down": (house(dealing={"deal": "face-down", "confirm": "dealer"}), Traits()),
    "dealer": (house(dealing={"confirm": "dealer"}), Traits()),
    "shoe": (house(dealing={"confirm": "shoe"}), ANGEL_EYE),
    "labels-down": (house(dealing={"confirm": "shoe", "deal": "face-down"}), ANGEL_EYE),
    "automatic": (house(betting={"opens": "automatic", "pause": 1.0}), Traits()),
    "unscanned": (house(burn={"scanned": False}), Traits()),
    "first-card": (house(burn={"by": "first-card"}, shoe={"hands_after_cut": 1}), Traits()),
    "next": (house(dealing={"overdraw": "next"}), Traits()),
    "next-down": (house(dealing={"overdraw": "next", "deal": "face-down", "confirm": "dealer"}), Traits()),
    "overdraw-void": (house(dealing={"overdraw": "void"}), Traits()),
    "early-burned": (house(dealing={"early_card": "burn"}), Traits()),
    "one-deck": (house(shoe=_ONE), Traits()),
    "one-deck-next": (house(shoe=_ONE, dealing={"overdraw": "next", "confirm": "dealer"}), ANGEL_EYE),
    "share": (house(shoe={"share": "0.05", "hands_after_cut": 1}), Traits()),
}

_ALWAYS = frozenset(
    {
        Kind.HOLD,
        Kind.ACK,
        Kind.CUT_CARD,
        Kind.CUT_UNDO,
        Kind.DEVICE_SWAP,
        Kind.VOID,
        Kind.AMEND,
        Kind.BETS_CLOSE,
        Kind.TURN,
        Kind.SHOE_END,
        Kind.SAME_AGAIN,
    }
)
"""Commands that a hold keeps nobody from, whether or not they are a way out of it."""
_WAYS = {Kind.RESCAN: "rescan hand"} | {
    kind: kind.value for kind in (Kind.CORRECT, Kind.INSERT, Kind.MOVE, Kind.ENTER, Kind.BURN_DONE)
}


def _way(command: Command) -> str | None:
    """The way out that a command takes, None for one that needs no hold."""
    if command.kind is Kind.RELEASE:
        return command.args.get("action", "")
    return _WAYS.get(command.kind)


class Watched(Play):
    """A table and its bookkeeper; also the physical shoe, whose cards are what they are."""

    def __init__(self, rules: HouseRules, traits: Traits, oracle: type[Oracle] = Oracle) -> None:
        super().__init__(rules, traits)
        self.oracle = oracle()
        self.stock: list[Card] = []
        self.true: str | None = None
        """The real card behind the next scan or entry; None: there is none."""
        self.unread_card: str | None = None
        self.missed: list[str] = []

    # --- the physical shoe -----------------------------------------------------------------------------

    def draw(self) -> str:
        """The next card of the shoe; one that could not be read is passed again. None left: any other."""
        if self.unread_card is not None:
            card, self.unread_card = self.unread_card, None
            return card
        return str(self.stock.pop()) if self.stock else "8S"

    def _shuffle(self, events: Sequence[ev.Event]) -> None:
        for event in events:
            if isinstance(event, ev.ShoeStarted):
                self.stock = list(DECK) * event.decks
                random.Random(event.shoe).shuffle(self.stock)
                self.stock = self.stock[int((event.adopted or {}).get("out", 0)) :]
                self.unread_card, self.missed = None, []

    def scan_true(self, label: Label = Label.NONE, *, ago: float = 0.0) -> None:
        self.true = self.draw()
        self.scan(self.true, label, ago=ago)

    # --- every input -------------------------------------------------------------------------------------

    def give(self, given: Input, now: Instant | None = None) -> Decision:
        before = self.state
        done = super().give(given, now)
        seen = self._seen(given, before, accepted=not done.refused)
        self.true = None
        self._shuffle(done.events)
        self.oracle.step(seen, done.events)
        self.compare()
        self._check_ways_out()
        deadline = next_deadline(before)
        if isinstance(given, Started) or deadline is None or deadline > given.at.boot:
            self._check_authority(before, given, done)
        REACHED.update(f"hold {event.code}" for event in done.events if isinstance(event, ev.TableHeld))
        REACHED[f"phase {self.state.phase.value}{', held' if self.state.held else ''}"] += 1
        if isinstance(given, Command):
            REACHED[f"{'refused' if done.refused else 'command'} {given.kind.value}"] += 1
            way = (
                given.args.get("action")
                if given.kind is Kind.RELEASE
                else _WAYS.get(given.kind, given.kind.value)
            )
            if before.held and not done.refused:
                REACHED[f"way {way}"] += 1
        return done

    def _seen(self, given: Input, before: State, *, accepted: bool) -> Given:
        seen = Given(kind_of(given).value, given.at.boot, true=self.true, accepted=accepted)
        match given:
            case Arrived(item=Scan(card=card, label=label)):
                seen.face, seen.label = None if card is None else str(card), label.value
            case Command(kind=Kind.SAME_AGAIN) if accepted:
                seen.face = str(before.bounced)
            case Command(args=args):
                seen.args = dict(args)
        return seen

    def _check_authority(self, before: State, given: Input, done: Decision) -> None:
        """What a refused command, and what any input under a hold, may change."""
        if done.refused:
            assert dataclasses.replace(self.state, row=before.row) == before, (
                "a refused command changed the table"
            )
            assert len(done.events) == 1 and not done.effects
        if not before.held or done.refused:
            return
        if isinstance(given, Command):
            way = given.args.get("action", "") if given.kind is Kind.RELEASE else _WAYS.get(given.kind)
            assert given.kind in _ALWAYS if way is None else way in offered(before), (
                f"{given.kind} {way} was not offered"
            )
            return
        old, new = before.round, self.state.round
        if old is not None and new is not None and not isinstance(given, JournalFilled):
            # Cards that a pit boss reserved for this hand are its first ones as soon as betting is closed.
            closed = before.phase is Phase.BETTING and isinstance(given, Started)
            assert old.dealt == new.dealt or (closed and before.reserved), "the hand changed by itself"
            assert closed or self.state.phase is before.phase, "the phase changed under a hold by itself"

    def _check_ways_out(self) -> None:
        """A hold has a way out that is taken, and one that is offered and refused names one that is taken."""
        state = self.state
        deadline = next_deadline(state)
        if not state.held or (deadline is not None and deadline <= self.now().boot):
            return
        rules = (state.rules.dealing.overdraw, state.rules.shoe.decks) if state.rules else ()
        lies = (min(len(state.loose), 2), bool(state.unread), bool(state.reserved))
        situation = (rules, state.phase, frozenset(self.codes), offered(state), lies)
        if situation in TRIED:
            return
        TRIED.add(situation)
        answers = self.tried()
        # Of a face that this shoe cannot have, typed only here, the way itself is not to blame.
        right = [w for w, answer in answers.items() if not answer or "refused: that would be" in answer]
        # A shoe whose cards cannot be right may have none but its end.
        sound = state.shoe is None or state.shoe.sound
        assert any(way != "shoe end" for way in right) or not sound, f"no way out of {self.codes}: {answers}"
        for way, answer in answers.items():
            if way == "amend" and not self.amendments():
                continue  # which of the earlier rounds are void the table does not know
            named = [other for other in right if other in answer]
            assert way in right or named, f"{way} leads nowhere: {answer}"

    def compare(self) -> None:
        """The table against the books."""
        state, books = self.state, self.oracle
        assert (state.row, state.sequence) == (books.rows, books.sequence)
        assert [hold.code for hold in state.holds] == books.holds
        assert (state.round is not None) == books.in_round
        assert (state.phase is Phase.BETTING) == (books.betting is not None)
        assert state.unread == books.unread, f"{state.unread} unread, {books.unread} in the books"
        assert (state.shoe.number if state.shoe else None) == books.shoe
        assert [kept.card and str(kept.card) for kept in state.loose] == [paper.told for paper in books.kept]
        assert [str(card) for card in state.reserved] == [paper.told for paper in books.reserved]
        assert state.burns_due == books.burns_due
        if state.round is not None:
            assert [str(card) for card in state.round.dealt] == books.faces
            assert state.round.turned == books.turned
        if state.shoe is not None:
            counts = {str(DECK[n]): count for n, count in enumerate(state.shoe.counts) if count}
            assert state.shoe.out == books.out, f"{state.shoe.out} cards are out, {books.out} in the books"
            assert counts == {k: v for k, v in books.counts.items() if v}, "a face is counted wrong"
            assert state.shoe.rounds == books.rounds and state.shoe.last_round == books.last_hand

    def finish(self) -> None:
        """The journal gives the same table: from its first row, as JSON, and from the last shoe's start."""
        state, sequence = State(), 0
        start: int | None = None
        at = Instant(self.boot, self.wall)
        for i, event in enumerate(self.events):
            sequence += event.PUBLIC
            public = (
                public_body(event, table="T1", epoch="e", sequence=sequence, at=at, test=False)
                if event.PUBLIC
                else None
            )
            read, _ = decode_row(
                Row(i + 1, sequence if event.PUBLIC else None, public, private_body(event, at))
            )
            assert read == event, f"{event.TYPE} does not come back out of its row"
            state = evolve(state, read)
            start = i if isinstance(event, ev.ShoeStarted) else start
        assert state == self.state, "the rows do not lead to the same table"
        if start is None:
            return
        first = self.events[start]
        assert isinstance(first, ev.ShoeStarted)
        early = checkpoint_before(dataclasses.replace(first, carry=json.loads(json.dumps(first.carry))))
        assert early is not None
        for event in self.events[start:]:
            early = evolve(early, event)
        assert early == self.state, "the last shoe's start does not lead to the same table"
