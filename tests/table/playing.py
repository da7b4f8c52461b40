"""A table under test with a clock in hand: gives inputs one by one and keeps every event.

``Play`` is what the tests speak with: ``deal("8S 3D")``, ``command(Kind.BETS_OPEN)``,
``wait(20)``. After every input it checks what must hold at all times (:meth:`Play.check`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from tablectl import events as ev
from tablectl.cards import DECK, Card, Outcome
from tablectl.clock import SECOND, Instant
from tablectl.house import HouseRules
from tablectl.past.settled import table_of
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
from tablectl.table.holds import RELEASES
from tablectl.table.inputs import LOOKING_BACK, ROUND_CHANGING, Input, Past
from tests import pairs

ANGEL_EYE = Traits(names_positions=True, has_result_button=True, reports_cutting_card=True)

REASON = "training: test"
RESULT = TypeAdapter(ev.RoundResulted)

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
        self.places = Places()

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
        pairs.note(before, given)
        self.last = decide(self.state, given, now or self.now(), self.around)
        self.state = self.last.state
        self.events += self.last.events
        folded = before
        for event in self.last.events:
            self.places.take(event, folded)
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

    def restore(self, identity: str = "shoe-1", where: str = "/dev/ttyUSB0") -> Decision:
        return self.give(ScannerRestored(identity, self.now(), where))

    def command(self, kind: Kind, **args: str) -> Decision:
        """A command of a pit boss who saw the state as it was when it was typed, a moment ago."""
        self.pass_time(0.1)
        return self.give(self.typing(kind, args))

    def typing(self, kind: Kind, args: dict[str, str]) -> Command:
        """That command, not given yet."""
        return Command(
            kind,
            self.now(),
            id="c",
            args=args,
            person="Pia",
            supervisor=True,
            reason=REASON,
            expect=Expect(version=self.state.version) if kind in ROUND_CHANGING else Expect(),
            past=self.past(args.get("round", "")) if kind in LOOKING_BACK else None,
        )

    def tried(self) -> dict[str, str]:
        """What each way out that is offered would answer if it were refused; empty: it would be accepted."""
        answers = {}
        for way in offered(self.state):
            kind, args = (Kind.RELEASE, {"action": way}) if way in RELEASES else self.typed(way)
            for typed in self.amendments() or [args] if kind is Kind.AMEND else [args]:
                done = decide(self.state, self.typing(kind, typed), self.now(), self.around)
                if "--another" in done.answer:  # asked whether it is one that lies aside
                    said = self.typing(kind, {**typed, "same": "no"})
                    done = decide(self.state, said, self.now(), self.around)
                answers[way] = done.answer if done.refused else ""
                if not done.refused:
                    break
        return answers

    def amendments(self) -> list[dict[str, str]]:
        """Every settled round that is not void, with another suit at its first place."""
        found = []
        for where in dict.fromkeys(f"{e.shoe}/{e.round}" for e in self.of(ev.RoundResulted)):
            past = self.past(where)
            if past is not None and past.result is not None and not past.voided:
                face = past.result.player.cards[0]
                found += [{"round": where, "P1": face[0] + suit} for suit in "SHDC" if suit != face[1]]
        return found

    def past(self, target: str) -> Past | None:
        """The settled round ``SHOE/ROUND``, as the journal would have it."""
        return past_round(self.events, target)

    def take(self, way: str, **args: str) -> Decision:
        """One of the ways out that are offered, with something fitting typed behind it."""
        if way in RELEASES:
            return self.release(way)
        kind, typed = self.typed(way)
        return self.do(kind, **{**typed, **args})

    def typed(self, way: str) -> tuple[Kind, dict[str, str]]:
        """The command of a way out that is no release, with lawful arguments for this state."""
        state = self.state
        laid = [position.value for position in state.round.cards] if state.round else []
        places = [f"K{i}" for i in range(1, len(state.loose) + 1)]
        on_table = state.phase not in (Phase.BETTING, Phase.IDLE, Phase.BURNING)
        spots = laid if on_table and laid else places
        due = state.round.due if state.round else None
        match way:
            case "rescan hand":
                return Kind.RESCAN, {"what": "hand"}
            case "correct":
                return Kind.CORRECT, {"position": spots[-1] if spots else "P1", "card": self.rare()}
            case "insert":
                hidden = state.round is not None and state.round.to_be_turned
                place = due.value if due and not hidden else [*laid, "P1"][0]
                return Kind.INSERT, {"position": place, "card": self.rare()}
            case "move":
                every = [*places, *laid] if on_table else places
                first, last = (every[0], every[-1]) if every else ("P1", "B1")
                return Kind.MOVE, {"position": first, "to": last}
            case "enter":
                return Kind.ENTER, {"position": due.value if due else "P1", "card": self.rare()}
            case "burn done":
                return Kind.BURN_DONE, {"count": str(max(1, state.burns_due))}
            case "amend":
                where = state.settled[0]
                past = self.past(where)
                return Kind.AMEND, {"round": where, "P1": other_suit(past)}
            case "device swap":
                return Kind.DEVICE_SWAP, {}
            case "void":
                return Kind.VOID, {} if state.round else {"round": state.settled[0]}
            case _:
                return Kind(way), {}

    def rare(self) -> str:
        """A face of which the fewest copies are out of the shoe."""
        assert self.state.shoe is not None
        counts = self.state.shoe.counts
        return str(DECK[min(range(52), key=lambda n: counts[n])])

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
            assert state.shoe.out == len(state.shoe.order)
            assert state.shoe.out <= state.shoe.size + len(state.loose) or "integrity" in self.codes
            self.places.check(state)
        if state.held:
            assert offered(state), f"a hold without a way out: {state.holds} in {state.phase}"
            assert state.unread_deadline is None and state.auto_open is None
        else:
            assert not state.loose, "a card without a place and no hold"
        assert (state.burns_due > 0) == (state.phase is Phase.BURNING)


def other_suit(past: Past | None) -> str:
    """The card at P1 of a settled round in another suit: lawful whatever the hand."""
    face = past.result.player.cards[0] if past and past.result else "8S"
    return face[0] + ("C" if face[1] != "C" else "D")


class Places:
    """Where the cards of the shoe in play are, by its public events: in settled hands, or used besides.

    Of an amendment nothing is believed but the hands: a card new to one lay somewhere, or was counted anew.
    """

    def __init__(self) -> None:
        self.hands: dict[tuple[int | None, int | None], int] = {}
        self.used = 0
        self.back = 0
        """Cards that came to settled hands: so many of those used may be the same ones."""

    def take(self, event: ev.Event, before: State) -> None:
        """Book an event; ``before``: the table before it."""
        where = (event.shoe, event.round)
        match event:
            case ev.ShoeStarted(adopted=adopted):
                self.__init__()  # type: ignore[misc]
                self.used = int((adopted or {}).get("out", 0))
            case ev.RoundResulted():
                self.hands[where] = len(event.player.cards) + len(event.banker.cards)
            case ev.RoundAmended(after=after) if where in self.hands:
                more = sum(len(after[side]["cards"]) for side in ("player", "banker")) - self.hands[where]
                self.hands[where] += more
                self.used += max(0, -more)
                self.back += max(0, more)
            case ev.RoundVoided(earlier=False):
                self.used += len(before.the_round.dealt) + len(before.loose)
            case ev.RoundVoided(uses_kept=True):
                self.used += len(before.loose)
            case _:
                pass

    def check(self, state: State) -> None:
        """The shoe has as many cards out as lie somewhere."""
        shoe, dealt = state.the_shoe, len(state.round.dealt) if state.round else 0
        on_table = dealt + len(state.loose) + len(state.reserved) + len(shoe.burned)
        rest = shoe.out - on_table - sum(self.hands.values())
        assert self.used - self.back <= rest <= self.used, "a card is in two places, or in none"


def past_round(events: Sequence[ev.Event], target: str) -> Past | None:
    """The settled round ``SHOE/ROUND``, worked out from all events so far; None if it is none."""
    result: ev.RoundResulted | None = None
    revision, voided, rules = 0, False, None
    for event in events:
        if isinstance(event, ev.ShoeStarted) and f"{event.shoe}/" == target.partition("/")[0] + "/":
            rules = HouseRules.from_dict(event.rules)
        if f"{event.shoe}/{event.round}" != target:
            continue
        match event:
            case ev.RoundResulted():
                result, revision = event, event.revision
            case ev.RoundAmended():
                result, revision = RESULT.validate_python(event.after), event.revision
            case ev.RoundVoided():
                voided = True
    if rules is None or (result is None and not voided):
        return None
    shoe, number = map(int, target.split("/"))
    table = table_of([event for event in events if event.shoe == shoe])
    return Past(shoe, number, result, revision, voided, rules, table)


class Recorded(Simulation):
    """The simulator with its events kept, those of opening the table included."""

    def __init__(self, rules: HouseRules, seed: str) -> None:
        self.events: list[ev.Event] = []
        super().__init__(rules, seed)

    def _give(self, given: Input) -> None:
        before = self.state
        super()._give(given)
        self.events += decide(before, given, given.at, self.around).events
