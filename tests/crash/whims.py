"""What else happens at a table, by the seed: people change their minds, and the shoe's cable is pulled.

Each round has one whim before its betting and one while it is dealt.  Each strikes once, at its place in the
game and not at a time, so that a play with deaths comes to the same rounds as one without.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from typing import Any

from tablectl.cards import Card
from tablectl.local import NotReachable
from tests.crash.people import SteadyDealer

BETWEEN = ("", "hold", "dealer", "amend", "void", "free", "burn", "cable")
DEALING = ("", "", "hold", "void", "unread")
SUITS = "SHDC"

State = dict[str, Any]


class WhimsicalDealer(SteadyDealer):
    """A steady dealer with whims; see the module."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._struck: set[str] = set()
        self._laid: dict[str, list[Card]] = {}
        """What lay on the table, by round."""

    def _whim(self, where: str, among: tuple[str, ...]) -> str:
        """Of a place in the game; empty once it has struck."""
        chance = random.Random(f"{self._seed} {where} {len(among)}")
        whim, self._card = chance.choice(among), chance.randint(1, 3)
        return "" if where in self._struck else whim

    def _notice_round(self, state: State) -> None:
        if self._round and self._table:
            self._laid[self._round] = self._table
        super()._notice_round(state)

    # --- before the betting -------------------------------------------------------------------------------

    def _begin(self, state: State) -> None:
        shoe = state["shoe"]
        where = f"before {shoe['number']}/{shoe['rounds'] + 1}"
        last = f"{shoe['number']}/{shoe['rounds']}"
        acts: dict[str, Callable[[], bool]] = {
            "hold": lambda: self._command("hold", {"text": "a player asks"}),
            "dealer": lambda: self._command("sign-in", {"name": f"second {where[-1]}", "pickup": "right"}),
            "free": lambda: self._order("hand free", {}, state),
            "burn": lambda: self._order("burn", {"count": "1"}, state),
            "void": lambda: self._look_back("void", last, {}, state),
            "amend": lambda: self._look_back("amend", last, self._other_suit(last), state),
            "cable": lambda: self._pulled(state),
        }
        whim = self._whim(where, BETWEEN)
        if not whim:
            super()._begin(state)
        elif acts[whim]():
            self._struck.add(where)

    def _look_back(self, command: str, last: str, args: dict[str, str], state: State) -> bool:
        """On the round before, if one was dealt; one that was void already is left so."""
        if not self._laid.get(last) or state["settled"]["what"].startswith("void"):
            return True
        return self._order(command, {"round": last} | args, state)

    def _other_suit(self, where: str) -> dict[str, str]:
        """The Player's first card was of another suit: the result stands, its cards do not."""
        if not self._laid.get(where):
            return {}
        card = str(self._laid[where][0])
        return {"P1": card[0] + SUITS[SUITS.index(card[1]) - 1]}

    # --- while a hand is dealt ----------------------------------------------------------------------------

    def _deal(self, state: State) -> None:
        where = state["where"]
        whim = self._whim(where, DEALING)
        acts: dict[str, Callable[[], bool]] = {
            "hold": lambda: self._command("hold", {"text": "a card turned over"}),
            "void": lambda: self._order("void", {"round": where}, state),
            "unread": lambda: self._unread(state),
        }
        if not whim or len(self._table) != self._card:
            super()._deal(state)
        elif acts[whim]():
            self._struck.add(where)

    def _unread(self, state: State) -> bool:
        """A card is drawn while the cable is out."""

        def draw() -> None:
            card = self._draw(state)
            if card is not None:
                self._table.append(card)

        return self._pulled(state, draw)

    # --- both ---------------------------------------------------------------------------------------------

    def _on_hold(self, state: State) -> None:
        """What the dealer called for is over; the rest as always."""
        called = [hold["code"] for hold in state["holds"]] == ["called"]
        if called and self._screen_is_right(state):
            self._order("release", {"action": "resume"}, state)
        else:
            super()._on_hold(state)

    def _pulled(self, state: State, then: Callable[[], None] = lambda: None) -> bool:
        """The cable is out until the controller has seen it, or died; ``then`` something is done."""
        self._shoe.hang_up()
        try:
            with contextlib.suppress(NotReachable):
                while state["scanner"]["up"] and not self._stop():
                    state = self._console.state(newer=state["row"])
            then()
        finally:
            self._shoe.plug_in()
        return True

    def _order(self, command: str, args: dict[str, str], state: State) -> bool:
        """By the pit boss, who sees what the dealer sees."""
        return self._command(command, args, supervised="training: a whim", expect=state)
