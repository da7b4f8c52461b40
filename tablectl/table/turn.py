"""One decision in the making: a scratch pad that handlers write events and effects on.

``emit`` folds each event at once, so a handler always reads the state that its own events have
led to, and the state of the finished decision *is* the fold of its events.
"""

from __future__ import annotations

from typing import TypedDict

from tablectl import events as ev
from tablectl.clock import Instant
from tablectl.house import HouseRules
from tablectl.shoe import Shoe
from tablectl.table.evolve import evolve
from tablectl.table.holds import HOLDS
from tablectl.table.inputs import Around, Effect, Say, Signal
from tablectl.table.state import IN_ROUND, Phase, Round, State


class Refused(Exception):
    """A command cannot be carried out; the text says why and names the way out.

    ``asks``: the argument that would answer the question which the text asks; empty: it asks none.
    """

    def __init__(self, text: str, asks: str = "") -> None:
        super().__init__(text)
        self.asks = asks


class Where(TypedDict):
    """The fields that every event of a shoe and round carries."""

    shoe: int | None
    round: int | None


class Turn:
    """The scratch pad of one decision. ``now`` is the moment of deciding, never an arrival."""

    def __init__(self, state: State, now: Instant, around: Around) -> None:
        self.state = state
        self.now = now
        self.around = around
        self.events: list[ev.Event] = []
        self.effects: list[Effect] = []
        self.answer = ""
        self.asks = ""
        """The argument that a refused command is asked for."""

    def emit(self, event: ev.Event) -> None:
        """Write an event and fold it."""
        self.state = evolve(self.state, event)
        self.events.append(event)

    def signal(self, pattern: str) -> None:
        """Fire a beep pattern."""
        self.effects.append(Signal(pattern))

    def say(self, text: str) -> None:
        """Tell the dealer something."""
        self.effects.append(Say(text))

    @property
    def where(self) -> Where:
        """Shoe and round number now, as event fields."""
        shoe, round_ = self.state.shoe, self.state.round
        return {"shoe": shoe.number if shoe else None, "round": round_.number if round_ else None}

    @property
    def shoe(self) -> Shoe:
        """The shoe in play; only for handlers of phases that have one."""
        return self.state.the_shoe

    @property
    def round(self) -> Round:
        """The round in play; only for handlers of phases that have one."""
        return self.state.the_round

    @property
    def rules(self) -> HouseRules:
        """The rules of the shoe in play."""
        return self.state.the_rules

    @property
    def in_round(self) -> bool:
        """Whether a round is in play."""
        return self.state.phase in IN_ROUND

    @property
    def on_table(self) -> bool:
        """Whether a hand may lie on the table: betting is over and the result not out."""
        return self.in_round and self.state.phase is not Phase.BETTING

    @property
    def shoe_sound(self) -> bool:
        """Whether what was drawn can have been in the shoe in play, if there is one."""
        return self.state.shoe is None or self.state.shoe.sound

    def hold(self, code: str, what: str = "", saw: dict[str, str] | None = None, *, means: str = "") -> None:
        """Put the table on hold; a code that already holds it is not repeated.

        ``saw``: the scan it is about, without what would tell a hidden face. ``means``: in place of what the
        code means, where that is not known to be so.
        """
        if any(h.code == code for h in self.state.holds):
            return
        message = (means or HOLDS[code].means) + (f" {what}" if what else "")
        codes = (*(h.code for h in self.state.holds), code)
        self.emit(ev.TableHeld(codes=codes, message=message, code=code, saw=saw, **self.where))
        self.signal("hold")
        self.say(message)
        if code == "integrity":
            self.alert("integrity", "The cards of this shoe cannot be right: see the hold.")

    def alert(self, name: str, message: str, *, anew: bool = False) -> None:
        """Raise an alert, once until it is acknowledged; ``anew``: again if it has another text now."""
        there = dict(self.state.alerts).get(name)
        if there is not None and (not anew or there == message):
            return
        self.emit(ev.AlertRaised(alert=name, message=message, **self.where))
        self.say(message)
