"""A pit boss who sees the true cards, and sets the table right by the ways out that are offered.

Nothing here knows why the table is on hold: what lies there is compared with what the screen shows, and the
difference decides. Where no offered way leads there, the round is void; never is anything released that is
not so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablectl.cards import Card
from tablectl.rules import deal
from tablectl.table import Kind, Phase, offered

if TYPE_CHECKING:
    from tests.shift.shift import Shift

_GO_ON = ("keep", "cards-confirmed", "resume", "rescan")


class PitBoss:
    """One look at the table, one act."""

    def __init__(self, shift: Shift) -> None:
        self._shift = shift

    def sides(self) -> tuple[list[int], list[int]]:
        """Points of the true cards, Player's and Banker's, as the rule deals them."""
        laid, _ = deal(self._shift.truth.hand)
        sides: dict[str, list[int]] = {"player": [], "banker": []}
        for position, card in laid.items():
            sides[position.side.value].append(card.points)
        return sides["player"], sides["banker"]

    def resolve(self) -> None:
        state = self._shift.state
        if not state.held:
            return
        if state.round is not None:
            self._in_round()
        else:
            self._between()

    # --- acts ---------------------------------------------------------------------------------------------

    def _do(self, kind: Kind, **args: str) -> bool:
        done = self._shift.table.command(kind, **args)
        name = f"release {args['action']}" if kind is Kind.RELEASE else kind.value
        self._shift.truth.tally.ways[name if not done.refused else f"{name} refused"] += 1
        return not done.refused

    def _release(self, *actions: str) -> bool:
        for action in actions:
            if action in offered(self._shift.state):
                return self._do(Kind.RELEASE, action=action)
        return False

    def _void(self) -> None:
        ways = offered(self._shift.state)
        shift = self._shift
        if "void" in ways and shift.state.round is not None:
            self._do(Kind.VOID)
        elif "shoe end" in ways:
            self._do(Kind.SHOE_END)
        else:
            shift.wait(1)

    # --- in a round ---------------------------------------------------------------------------------------

    def _in_round(self) -> None:
        shift, state = self._shift, self._shift.state
        assert state.round is not None
        if state.phase is Phase.BETTING:
            # What was drawn early is looked at when betting is closed. A lost scanner waits as well.
            if not state.loose and state.scanner_up and not shift.truth.hand:
                self._release(*_GO_ON)
            shift.wait(1)
            return
        shown: list[Card | None] = list(state.round.dealt)
        kept = [loose.card for loose in state.loose]
        true = [*shift.truth.hand, *shift.truth.excess]
        have = [*shown, *kept]
        if len(have) < len(true) and shift.patient and state.scanner_up:
            shift.wait(1)
            return
        shift.lose_patience()
        if have == true:
            self._give_places(len(kept))
            return
        if have == shift.truth.hand and not kept and state.round.due is None:
            # A card in excess that nobody counted: it is burned, and the count stays one short.
            assert state.shoe is not None
            shift.truth.give_up(state.shoe.out)
            shift.truth.excess = []
            return
        if not self._repair(have, len(shown), true):
            self._void()

    def _give_places(self, kept: int) -> None:
        """Every card is known; those kept go where they belong, then the table goes on."""
        shift, state = self._shift, self._shift.state
        assert state.round is not None
        if kept and len(state.round.dealt) < len(shift.truth.hand):
            if not self._release("as-p1", "accept"):
                self._void()
            return
        if kept:
            self._excess()
            return
        if not shift.line.up:
            shift.wait(1)
            shift.shoe.plug_in()
        if not self._release(*_GO_ON):
            if "overdraw" in shift.table.codes and self._release("burn"):
                return
            if not state.scanner_up:
                shift.wait(1)
            else:
                self._void()

    def _excess(self) -> None:
        """Cards in excess of the hand: burned, or what the house does."""
        if self._release("burn"):
            self._shift.truth.excess = []
        else:
            self._void()

    def _repair(self, have: list[Card | None], shown: int, true: list[Card]) -> bool:
        """One step towards the true cards; whether there was one."""
        state = self._shift.state
        assert state.round is not None
        ways = offered(state)
        at = next((i for i, (a, b) in enumerate(zip(have, true, strict=False)) if a != b), None)
        if at is None:
            at = min(len(have), len(true))
        rest, wanted = have[at:], true[at:]
        due = state.round.due
        if len(have) > len(true):
            return "drop" in ways and bool(self._release("drop"))
        if at >= len(have) or rest == wanted[len(wanted) - len(rest) :]:
            # Cards are missing here; those behind are right.
            face = str(wanted[0])
            if at >= len(shown_positions := [p.value for p in state.round.cards]):
                if due is None or at > shown:
                    return False
                if "enter" in ways and self._do(Kind.ENTER, position=due.value, card=face):
                    return True
                return "insert" in ways and self._do(Kind.INSERT, position=due.value, card=face)
            return "insert" in ways and self._do(Kind.INSERT, position=shown_positions[at], card=face)
        position = [p.value for p in state.round.cards][at] if at < shown else f"K{at - shown + 1}"
        if len(have) < len(true) and have[at] is not None:
            if at < shown:
                return "insert" in ways and self._do(Kind.INSERT, position=position, card=str(true[at]))
            return (
                due is not None
                and at == shown
                and "insert" in ways
                and self._do(Kind.INSERT, position=due.value, card=str(true[at]))
            )
        return "correct" in ways and self._do(Kind.CORRECT, position=position, card=str(true[at]))

    # --- between rounds -----------------------------------------------------------------------------------

    def _between(self) -> None:
        shift, state, truth = self._shift, self._shift.state, self._shift.truth
        assert state.shoe is not None
        if not shift.line.up:
            shift.wait(1)
            shift.shoe.plug_in()
        if not state.scanner_up:
            shift.wait(1)
            return
        if state.loose:
            if len(state.loose) > len(truth.excess) and self._release("drop"):
                return
            extra = len(state.loose) > len(truth.excess)
            if self._release("burn"):
                truth.excess = []
                if extra and shift.state.shoe is not None:
                    truth.give_up(shift.state.shoe.out)
            else:
                self._void()
            return
        if state.unread and self._release("burn"):
            return
        if shift.patient:
            shift.wait(1)
            return
        shift.lose_patience()
        unseen = truth.drawn - truth.uncounted - state.shoe.out
        if unseen > 0 and "burn done" in offered(state):
            self._do(Kind.BURN_DONE, count=str(unseen))
            return
        truth.give_up(state.shoe.out)
        truth.excess = []
        if not self._release(*_GO_ON):
            self._void()
