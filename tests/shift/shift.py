"""A shift: a dealer who draws, makes mistakes and looks at the screen, for so many hours of virtual time."""

from __future__ import annotations

import random

from tablectl.cards import DECK, Card, Outcome
from tablectl.clock import SECOND
from tablectl.rules import next_position
from tablectl.scanner import Arrival
from tablectl.table import Kind, Phase, Started, State, Tick
from tablectl.table.state import next_deadline
from tests.shift.pit_boss import PitBoss
from tests.shift.protocols import CRASH, LINE, Protocol
from tests.shift.truth import DELAY, Tally, Truth, Watched
from tests.shift.wire import BEGAN, Clock, Line, NotedFaults, VirtualReader
from tests.table.playing import house

PATIENCE = (1.5, 3.0, 12.0)
"""Seconds a dealer waits for a card to show; only the last is longer than the line may stand still."""

STUCK = 600
"""So many acts without a round are a table that stands still."""

CUT_AT = 364


class Shift:
    """One seed of one protocol. ``rare``: how many frames or acts a fault strikes one of, on average."""

    def __init__(
        self, protocol: Protocol, seed: int, *, rare: float | None = None, patience: float | None = None
    ) -> None:
        self.random = random.Random(f"{protocol.name} {seed}")
        self.protocol = protocol
        self.clock = Clock()
        self.truth = Truth(protocol, self.clock)
        self.rare = rare if rare is not None else self.random.choice((15.0, 60.0, 200.0, 600.0))
        line = [name for name in LINE if name in protocol.faults]
        on_the_wire = [f"{name}:{self.rare:g}" for name in (*line, "unreadable")]
        cut = ["cut-mid-hand:2"]
        self.patience = patience if patience is not None else self.random.choice(PATIENCE)
        self.faults = NotedFaults([*on_the_wire, *cut], seed, self.truth.note)
        self.line = Line(self.clock, self.strikes)
        self.shoe = protocol.make(self.line, self.faults)
        rules = house(dealing={"confirm": self.random.choice(protocol.confirms)})
        traits = protocol.driver.traits(protocol.settings)
        self.table = Watched(rules, traits, self.clock, self.truth)
        self._alive = True
        self.clock.watched.append((self._deadline, self._tick))
        self.reader = self._new_reader()
        self.pit_boss = PitBoss(self)
        self.careless = protocol.driver.traits(protocol.settings).names_positions
        self.cut_out = False
        self.drew_at = 0
        self._round = ""
        self._draws_early = False

    def _new_reader(self, waiting: bytes = b"") -> VirtualReader:
        decoder = self.protocol.driver.decoder(self.protocol.settings)
        return VirtualReader(self.clock, self.line, decoder, self._deliver, waiting)

    def _crash(self) -> None:
        """The controller is killed, and started again some seconds later by its keeper."""
        waiting = self.reader.killed()
        self._alive = False
        self.wait(0.1, 4)
        self._alive = True
        self.table.give(Started(self.clock.instant(), "1"))
        self.reader = self._new_reader(bytes(waiting))

    def _deadline(self) -> int | None:
        return next_deadline(self.state) if self._alive else None

    def _tick(self) -> None:
        self.table.give(Tick(self.clock.instant()))

    def _deliver(self, arrival: Arrival) -> None:
        self.table.give(arrival)

    @property
    def state(self) -> State:
        """What the console shows, and more; people here look only at what it shows."""
        return self.table.state

    def strikes(self, name: str) -> bool:
        """Whether a fault that is made by hand happens this time."""
        if name not in self.protocol.faults or self.random.random() * self.rare >= 1:
            return False
        self.truth.note(name)
        return True

    def wait(self, low: float, high: float | None = None) -> None:
        """Let a time between ``low`` and ``high`` seconds pass."""
        self.table.pass_time(low if high is None else self.random.uniform(low, high))

    def play(self, hours: float) -> Tally:
        """So many hours, and the round in play to its end. Raises :class:`tests.shift.truth.Wrong`."""
        end = BEGAN.boot + round(hours * 3600 * SECOND)
        acts, rounds = 0, 0
        while self.clock.now < end or self.state.round is not None:
            self.act()
            acts = acts + 1 if rounds == self.truth.tally.rounds else 0
            rounds = self.truth.tally.rounds
            if acts > STUCK:
                codes = self.table.codes
                raise self.truth.wrong(f"the table stands still in {self.state.phase.value}, holds {codes}")
        return self.truth.tally

    # --- one look, one act ------------------------------------------------------------------------------

    def act(self) -> None:
        self._notice_round()
        if self.strikes(CRASH):
            self._crash()
        state = self.state
        if state.held:
            self.wait(1, 4)
            self.pit_boss.resolve()
            return
        if not state.scanner_up:
            self.wait(2)
            self.shoe.plug_in()
            return
        if self.cut_out and state.shoe is not None and state.shoe.cut is None:
            self.wait(1)
            if self.state.shoe is not None and self.state.shoe.cut is None:
                self.table.command(Kind.CUT_CARD)
            return
        match state.phase:
            case Phase.CLOSED:
                self.table.do(Kind.OPEN)
            case Phase.NO_SHOE | Phase.SHUFFLE_DUE:
                self._new_shoe()
            case Phase.BURNING:
                self._burn()
            case Phase.IDLE:
                self._between_rounds()
            case Phase.BETTING:
                self._betting()
            case Phase.NO_MORE_BETS | Phase.DEALING:
                self._deal()
            case Phase.COMPLETE:
                self._announce()

    def _notice_round(self) -> None:
        where = self.state.where if self.state.round else ""
        if where != self._round:
            if self._round:
                self.shoe.standby()
            self._round = where

    def _new_shoe(self) -> None:
        if self.state.dealer is None:
            self.table.do(Kind.SIGN_IN, name="Dora", pickup="left")
        if self.state.count_due or not self.state.inspected:
            self.table.command(Kind.INSPECT, method="by-hand")
        self.wait(*(self.protocol.shuffle if self.state.shoes else (60, 240)))
        cards = list(DECK * 8)
        self.random.shuffle(cards)
        self.shoe.load(cards, (CUT_AT,))
        self.cut_out = False
        self.shoe.standby()
        self.wait(5)
        self.truth.hand, self.truth.excess = [], []
        self.table.command(Kind.SHOE_NEW)

    # --- drawing ---------------------------------------------------------------------------------------

    def draw(self, *, burn: bool = False) -> Card | None:
        """The next card into the dealer's hand; the cutting card before it is laid aside."""
        drawn = self.shoe.draw(burn=burn)
        if drawn is not None and drawn.cutting_card:
            self.cut_out = True
            self.wait(1.5)
            if self.state.shoe is not None and self.state.shoe.cut is None:
                self.table.command(Kind.CUT_CARD)
            drawn = self.shoe.draw(burn=burn)
        if drawn is None or drawn.card is None:
            return None
        self.drew_at = self.clock.now
        self.truth.drew(drawn.card)
        return drawn.card

    def _seen(self, out: int, unread: int) -> bool:
        """Wait until the card that was drawn shows, or the table is held. Whether it did."""
        waited = 0.0
        while waited < self.patience:
            state = self.state
            if state.shoe is None or state.held or state.shoe.out > out or state.unread > unread:
                return True
            self.wait(0.25)
            waited += 0.25
        self.lose_patience()
        return False

    def lose_patience(self) -> None:
        """Whoever acts now acts on what shows; the line may still be speaking."""
        if self.line.busy:
            self.truth.note(DELAY)

    @property
    def patient(self) -> bool:
        """Whether a card that was just drawn may yet show."""
        return self.clock.now - self.drew_at < self.patience * SECOND

    def _burn(self) -> None:
        self.wait(1, 3)
        if self.state.held or self.state.phase is not Phase.BURNING or self.state.shoe is None:
            return
        out, unread = self.state.shoe.out, self.state.unread
        if self.strikes("away"):
            self._away()
        card = self.draw(burn=True)
        self._back()
        if card is not None and not self._seen(out, unread):
            self.table.command(Kind.HOLD, text="a burn card was not read")
        elif self.state.unread > unread and not self.state.held:
            self.table.command(Kind.HOLD, text="a burn card cannot be read")

    def _between_rounds(self) -> None:
        self.wait(3, 8)
        if self.state.held:
            return
        if self.state.shoe is not None:
            # A burn card that was counted twice stays so: no way out takes it back.
            self.truth.give_up(self.state.shoe.out)
        if self.strikes("idle-card"):
            card = self.draw()
            if card is not None:
                self.truth.excess.append(card)
                self.wait(self.patience)
                if not self.state.held:
                    self.table.command(Kind.HOLD, text="a card was drawn, and is not told")
            if self.random.random() < 0.5:
                self.shoe.standby()
            return
        done = self.table.command(Kind.BETS_OPEN)
        self._draws_early = not done.refused and self.strikes("early")
        if done.refused and "cards are left" in done.answer:
            self.table.do(Kind.HOLD, text="the shoe is nearly empty")
            self.table.do(Kind.SHOE_END)

    def _betting(self) -> None:
        if self._draws_early:
            self._draws_early = False
            self.wait(1, 15)
            if self.state.phase is Phase.BETTING and not self.state.held:
                self._draw_one()
            return
        self.wait(1)

    def _draw_one(self) -> bool:
        """Draw a card of the hand, perhaps with the cable out; whether the controller showed something."""
        assert self.state.shoe is not None
        out, unread = self.state.shoe.out, self.state.unread
        if self.strikes("away"):
            self._away()
        if self.strikes("restart"):
            self.shoe.restart()
        card = self.draw()
        if card is None:
            return True
        self.truth.hand.append(card)
        self._back()
        in_step = self.state.round is not None and self.state.round.in_step
        first = len(self.truth.hand) == 1 and not self.state.step_lost
        if self.careless and (in_step or first) and self.random.random() < 0.5:
            # The shoe's own labels must show what is missing to a dealer who does not look.
            self.wait(0.8, 2)
            return True
        return self._seen(out, unread)

    def _away(self) -> None:
        self.shoe.hang_up()
        self.wait(0, 2)

    def _back(self) -> None:
        if not self.line.up and self.random.random() < 0.7:
            self.wait(0.1, 20)
            self.shoe.plug_in()

    def _deal(self) -> None:
        self.wait(0.6, 1.6)
        if self.strikes("button"):
            self.shoe.press_result(self.random.choice((None, *Outcome)))
            self.wait(0.5)
        state = self.state
        if state.held or state.phase not in (Phase.NO_MORE_BETS, Phase.DEALING) or state.shoe is None:
            return
        if not self.careless and state.round is not None and list(state.round.dealt) != self.truth.hand:
            self._call()
            return
        if self._hand_is_complete():
            if not self.patient:
                self.lose_patience()
                self._look_again()
            return
        if not self._draw_one():
            self._call()
        elif self.state.unread and not self.state.held and self.random.random() < 0.7:
            # It cannot pass the shoe again. A dealer who does nothing is held by the clock, or the next card.
            self._call()

    def _hand_is_complete(self) -> bool:
        player = [card.points for card in self.truth.hand[0::2]]
        banker = [card.points for card in self.truth.hand[1::2]]
        if len(self.truth.hand) > 4:
            player, banker = self.pit_boss.sides()
        return next_position(player, banker) is None

    def _look_again(self) -> None:
        """All cards lie there and the table wants more: one was not read."""
        if self.careless and self.state.the_round.in_step and self.random.random() < 0.5:
            self.shoe.press_result()
            self.wait(2)
        if not self.state.held and self.state.phase in (Phase.NO_MORE_BETS, Phase.DEALING):
            self._call()

    def _call(self) -> None:
        """The dealer calls for the pit boss: what lies there is not what the screen shows."""
        if self.state.held:
            return
        laid = list(self.state.round.dealt) if self.state.round else []
        because = "card-missed" if len(laid) < len(self.truth.hand) else "card-twice"
        if len(laid) == len(self.truth.hand) or self.state.phase is Phase.BETTING:
            because = "called"
        self.table.command(Kind.HOLD, because=because, text="look")

    def _announce(self) -> None:
        self.wait(0.5, 2)
        if self.state.held or self.state.phase is not Phase.COMPLETE or self.state.round is None:
            return
        if list(self.state.round.dealt) != self.truth.hand:
            self._call()
            return
        if self.strikes("overdraw"):
            card = self.draw()
            if card is not None:
                self.truth.excess.append(card)
                self.wait(self.patience)
                if not self.state.held:
                    self.table.command(Kind.HOLD, text="a card was drawn, and is not told")
            return
        if self.table.around.rules.dealing.confirm == "shoe" and self.state.round.in_step:
            self.shoe.press_result()
            self.wait(2)
            if self.state.held or self.state.phase is not Phase.COMPLETE:
                return
        self.table.command(Kind.CONFIRM)
