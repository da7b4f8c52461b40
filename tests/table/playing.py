"""A table under test with a clock in hand: gives inputs one by one and keeps every event.

``Play`` is what the tests speak with: ``deal("8S 3D")``, ``command(Kind.BETS_OPEN)``,
``wait(20)``. After every input it checks what must hold at all times (:meth:`Play.check`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tablectl import events as ev
from tablectl.cards import Card, Outcome
from tablectl.clock import SECOND, Instant
from tablectl.house import HouseRules
from tablectl.profiles import load_rules
from tablectl.scanner import (
    Arrived,
    DeviceEvent,
    DeviceKind,
    Label,
    Scan,
    ScannerLost,
    ScannerRestored,
    Traits,
)
from tablectl.simulate import Simulation
from tablectl.table import (
    Around,
    Command,
    Decision,
    Expect,
    Kind,
    Phase,
    Say,
    Signal,
    State,
    Tick,
    decide,
    evolve,
    offered,
)
from tablectl.table.inputs import ROUND_CHANGING, Input

ANGEL_EYE = Traits(names_positions=True, has_result_button=True, reports_cutting_card=True)

NATURAL = "9S 2H KD 3C"
"""Natural 9 against 5: Player wins with four cards."""
BANKER_WINS = "2C 9D 3H KS"
"""Natural 9 against 5: Banker wins with four cards."""


def house(name: str = "live-casino", **sections: dict[str, Any]) -> HouseRules:
    """A shipped profile with some keys of its sections changed; confirm is settled as automatic."""
    rules = load_rules(name)
    for section, changes in sections.items():
        changed = dataclasses.replace(getattr(rules, section), **changes)
        rules = dataclasses.replace(rules, **{section: changed})
    return rules.resolved(result_button=False)


class Play:
    """One table. ``events``: all since the beginning; ``said``, ``beeps``: effects since the last input."""

    def __init__(self, rules: HouseRules | None = None, traits: Traits = Traits()) -> None:
        self.around = Around(rules or house(), traits)
        self.state = State()
        self.boot = 1_000 * SECOND
        self.wall = 1_790_000_000 * SECOND
        self.events: list[ev.Event] = []
        self.extra: dict[str, Any] = {}
        """What the next input is to carry besides the usual; for tests that make inputs by kind."""
        self.last: Decision = Decision((), (), self.state)

    # --- time ---------------------------------------------------------------------------------------

    def now(self) -> Instant:
        return Instant(self.boot, self.wall)

    def pass_time(self, seconds: float) -> None:
        """Let time pass without anybody telling the table."""
        self.boot += round(seconds * SECOND)
        self.wall += round(seconds * SECOND)

    def wait(self, seconds: float) -> Decision:
        self.pass_time(seconds)
        return self.give(Tick(self.now()))

    # --- inputs --------------------------------------------------------------------------------------

    def give(self, given: Input, now: Instant | None = None) -> Decision:
        before = self.state
        self.last = decide(self.state, given, now or self.now(), self.around)
        self.state = self.last.state
        self.events += self.last.events
        folded = before
        for event in self.last.events:
            folded = evolve(folded, event)
        assert folded == self.state, "the state is the fold of the events"
        self.check()
        return self.last

    def scan(self, card: str | None, label: Label = Label.NONE, *, ago: float = 0.0) -> Decision:
        """One card that arrived ``ago`` seconds before it is handled."""
        self.pass_time(0.5)
        now = self.now()
        at = Instant(now.boot - round(ago * SECOND), now.wall - round(ago * SECOND))
        face = None if card is None else Card.parse(card)
        return self.give(Arrived(Scan(face, label, (card or "?").encode()), at), now)

    def deal(self, cards: str) -> Decision:
        for card in cards.split():
            self.scan(card)
        return self.last

    def deal_labelled(self, cards: str) -> Decision:
        """``P1=8S B1=3D``: as a shoe that names positions tells them."""
        for pair in cards.split():
            label, card = pair.split("=")
            self.scan(card, Label(label))
        return self.last

    def device(self, kind: DeviceKind, **fields: Any) -> Decision:
        self.pass_time(0.1)
        return self.give(Arrived(DeviceEvent(kind, b"", **fields), self.now()))

    def verdict(self, outcome: Outcome, *, player_pair: bool = False, banker_pair: bool = False) -> Decision:
        return self.device(
            DeviceKind.VERDICT, outcome=outcome, player_pair=player_pair, banker_pair=banker_pair
        )

    def lose(self) -> Decision:
        return self.give(ScannerLost("unplugged", self.now()))

    def restore(self) -> Decision:
        return self.give(ScannerRestored("shoe-1", self.now()))

    def command(self, kind: Kind, **args: str) -> Decision:
        """A command of a pit boss who saw the state as it is."""
        self.pass_time(0.1)
        expect = Expect(version=self.state.version) if kind in ROUND_CHANGING else Expect()
        given = Command(
            kind, self.now(), id="c", args=args, person="Pia", supervisor=True, reason="test", expect=expect
        )
        return self.give(given)

    def do(self, kind: Kind, **args: str) -> Decision:
        """A command that must be accepted."""
        done = self.command(kind, **args)
        assert not done.refused, done.answer
        return done

    def refused(self, kind: Kind, **args: str) -> str:
        """A command that must be refused with nothing changed; its answer."""
        before = self.state
        done = self.command(kind, **args)
        assert done.refused, f"{kind} was accepted: {done.answer}"
        assert [type(e) for e in done.events] == [ev.CommandRecorded]
        assert dataclasses.replace(self.state, row=before.row) == before
        return done.answer

    def release(self, action: str) -> Decision:
        return self.do(Kind.RELEASE, action=action)

    # --- ways to a state ----------------------------------------------------------------------------------

    def opened(self) -> Play:
        """Open, scanner there, dealer signed in, cards counted."""
        self.restore()
        self.do(Kind.OPEN)
        self.do(Kind.SIGN_IN, name="Dora", pickup="left")
        self.do(Kind.INSPECT)
        return self

    def idle(self, burns: str = "2S 3H 4D 5C 6S 7H") -> Play:
        """A new shoe, burned, ready for betting."""
        self.opened()
        self.do(Kind.SHOE_NEW)
        if self.state.phase is Phase.BURNING:
            self.deal(burns)
        assert self.state.phase is Phase.IDLE
        return self

    def betting(self) -> Play:
        if self.state.phase is not Phase.IDLE:
            self.idle()
        self.do(Kind.BETS_OPEN)
        return self

    def no_more_bets(self) -> Play:
        self.betting()
        self.wait(20)
        assert self.state.phase is Phase.NO_MORE_BETS
        return self

    def round(self, cards: str) -> Decision:
        """A whole round from betting to its last card."""
        self.no_more_bets()
        return self.deal(cards)

    # --- what is seen --------------------------------------------------------------------------------------

    def of(self, kind: type[ev.Event]) -> list[Any]:
        """All events of a class so far."""
        return [e for e in self.events if isinstance(e, kind)]

    @property
    def codes(self) -> list[str]:
        return [hold.code for hold in self.state.holds]

    @property
    def alerts(self) -> list[str]:
        return [alert for alert, _ in self.state.alerts]

    @property
    def said(self) -> list[str]:
        return [e.text for e in self.last.effects if isinstance(e, Say)]

    @property
    def beeps(self) -> list[str]:
        return [e.pattern for e in self.last.effects if isinstance(e, Signal)]

    def stands(self, phase: Phase) -> bool:
        """Whether the table is in ``phase`` (asked anew each time, which type checkers cannot know)."""
        return self.state.phase is phase

    @property
    def out(self) -> int:
        assert self.state.shoe is not None
        return self.state.shoe.out

    def result(self) -> ev.RoundResulted:
        """The last result."""
        found: ev.RoundResulted = self.of(ev.RoundResulted)[-1]
        return found

    # --- what holds at all times ---------------------------------------------------------------------------

    def check(self) -> None:
        state = self.state
        assert (state.shoe is not None) == (
            state.phase not in (Phase.CLOSED, Phase.NO_SHOE, Phase.SHUFFLE_DUE)
        )
        assert (state.round is not None) == (
            state.phase in (Phase.BETTING, Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE)
        )
        if state.shoe is not None:
            assert state.shoe.out == len(state.shoe.order) <= state.shoe.size + len(state.loose)
            assert state.shoe.out == placed(self.events)
        if state.held:
            assert offered(state), f"a hold without a way out: {state.holds} in {state.phase}"
            assert state.unread_deadline is None and state.auto_open is None
        else:
            assert not state.loose, "a card without a place and no hold"
        assert (state.burns_due > 0) == (state.phase is Phase.BURNING)


def placed(events: list[ev.Event]) -> int:
    """Cards of the shoe in play, counted from the events: in hands, burned, kept with a hold, or voided."""
    count = 0
    for event in events:
        match event:
            case ev.ShoeStarted():
                count = 0
            case ev.CardDealt(kept=False) | ev.CardBurned(kept=False) | ev.ScanKept():
                count += 1
    return count


class Recorded(Simulation):
    """The simulator with its events kept, those of opening the table included."""

    def __init__(self, rules: HouseRules, seed: str) -> None:
        self.events: list[ev.Event] = []
        super().__init__(rules, seed)

    def _give(self, given: Input) -> None:
        before = self.state
        super()._give(given)
        self.events += decide(before, given, given.at, self.around).events
