"""A dealer and a pit boss who play along by the same public commands a person would use.

They look at the controller's state, hold the (emulated) shoe in their hands, and do what comes
next: burn, open betting, deal, announce the cutting card where the shoe does not, confirm, void.
They remember which cards lie on the table, so that after a restart or a lost scanner they can say
whether the screen is right. They never look inside the controller.
"""

from __future__ import annotations

import math
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from tablectl.cards import DECK, Card
from tablectl.emulation import EmulatedShoe
from tablectl.local import NotReachable
from tablectl.printable import sentence


class Console(Protocol):
    """The two calls of the local interface. Both raise :class:`NotReachable`."""

    def state(self, newer: int | None = None) -> dict[str, Any]:
        """``GET /v1/state``; with ``newer``, waits for a newer row than that."""

    def command(self, command: dict[str, Any]) -> tuple[bool, str]:
        """``POST /v1/commands``: accepted or not, and the answer."""


@dataclass(frozen=True, slots=True)
class PitBoss:
    """Who approves."""

    name: str
    pin: str


class NeedsPitBoss(Exception):
    """A pit boss must decide, and none is there; the message says what waits."""


@dataclass(slots=True)
class Ledger:
    """What the dealer has seen, for the summary. ``rounds``: over, void ones among them."""

    rounds: int = 0
    cards: int = 0
    voids: int = 0
    shoes: int = 0
    refusals: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Watch:
    """Whether what is looked at has stayed the same for longer than ``patience`` (s)."""

    patience: float
    seen: Any = None
    since: float = field(default_factory=time.monotonic)

    def too_long(self, now: Any) -> bool:
        if now != self.seen:
            self.seen, self.since = now, time.monotonic()
        return time.monotonic() - self.since > self.patience


class ScriptedDealer:
    """Deals until so many shoes or rounds are over. ``pause`` (s) is the dealer's pace between two cards.

    ``patience`` (s): without a new row. ``stuck`` (s): without a change at the table, however many commands
    are refused (each is a row), or out of the controller's reach; longer than a betting window.
    ``pit_boss`` None: where one is needed the play ends. ``name``: who signs in.
    ``announces_cut``: the shoe does not report the cutting card, so the dealer does.
    ``stop`` is asked now and then whether to end early.
    """

    def __init__(
        self,
        console: Console,
        shoe: EmulatedShoe,
        pit_boss: PitBoss | None,
        *,
        seed: int,
        name: str = "demo",
        pause: float = 0.0,
        announces_cut: bool = False,
        presses_result: bool = False,
        cut_at: int = 364,
        patience: float = 10.0,
        stuck: float = math.inf,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.ledger = Ledger()
        self._console = console
        self._shoe = shoe
        self._pit_boss = pit_boss
        self._name = name
        self._random = random.Random(seed)  # noqa: S311 - a demonstration, not a secret
        self._pause = pause
        self._announces_cut = announces_cut
        self._presses_result = presses_result
        self._cut_at = cut_at
        self._patience = patience
        self._stuck = stuck
        self._stop = stop
        self._table: list[Card] = []
        self._loaded_for: int | None = None
        self._round: str = ""
        self._pressed: str = ""
        self._cut_out = False  # the cutting card came out of the shoe in play
        self._not_read = False  # a card lies on the table, and nobody holds it yet

    def play(self, shoes: float = math.inf, rounds: float = math.inf) -> None:
        """Until so many shoes, or rounds, have ended.

        Raises :class:`TimeoutError` when the table does not move, and :class:`NeedsPitBoss`.
        """
        rows, table = _Watch(self._patience), _Watch(self._stuck)
        while self.ledger.shoes < shoes and not self._stop():
            try:
                state = self._console.state()
                self._notice_round(state)
                if self.ledger.rounds >= rounds:
                    return
                self._act(state)
            except NotReachable as away:
                if table.too_long(table.seen):
                    raise TimeoutError(f"the table cannot be reached: {away}") from None
                time.sleep(0.1)
                continue
            stands = rows.too_long((state["row"], state["phase"]))
            if table.too_long((state["version"], state["acked"])) or stands:
                why = [*(hold["message"] for hold in state["holds"]), *self.ledger.refusals[-1:]]
                told = [f"the table stands still in phase {state['phase']}", *why]
                raise TimeoutError(" ".join(map(sentence, told)))

    # --- one look, one act ---------------------------------------------------------------------------

    def _act(self, state: dict[str, Any]) -> None:
        if state["holds"]:
            self._on_hold(state)
            return
        if not state["scanner"]["up"]:
            self._wait(state)
            return
        if self._not_read:
            self._call_hold()
            return
        if self._cut_out and state["shoe"] and not state["shoe"]["cut"]:
            # Neither the shoe's report nor the dealer's own got through: it lies there for all to see.
            self._command("cut-card")
            return
        match state["phase"]:
            case "closed":
                self._command("open")
            case "no shoe":
                self._prepare(state)
            case "shuffle due":
                self._shoe_over(state)
            case "burning":
                self._burn(state)
            case "idle":
                self._begin(state)
            case "no more bets" | "dealing":
                self._deal(state)
            case "complete":
                self._finish(state)
            case _:
                self._wait(state)

    def _notice_round(self, state: dict[str, Any]) -> None:
        """A round that ended leaves an empty table; the shoe is made ready for the next."""
        where = state["where"] if state["round"] else ""
        if where != self._round:
            self._not_read = False
            self.ledger.rounds += bool(self._round)
            if self._round and self._table:
                self._shoe.standby()
            self._table = []
            self._round = where

    def _prepare(self, state: dict[str, Any]) -> None:
        if state["dealer"] is None:
            self._command("sign-in", {"name": self._name, "pickup": "left"})
        else:
            self._next_shoe(state)

    def _shoe_over(self, state: dict[str, Any]) -> None:
        if self._loaded_for is not None:
            self._loaded_for = None
            self.ledger.shoes += 1
            return
        self._next_shoe(state)

    def _next_shoe(self, state: dict[str, Any]) -> None:
        """A new shoe, or where it is refused the count that it wants first."""
        if not self._new_shoe(state):
            self._supervised("shoe inspect", {"method": "by-hand"}, state, "routine: cards counted")

    def _new_shoe(self, state: dict[str, Any]) -> bool:
        """Shuffle, load the shoe, and say so."""
        cards = list(DECK * 8)
        self._random.shuffle(cards)
        self._shoe.load(cards, (self._cut_at,) if self._cut_at else ())
        self._cut_out = False
        self._shoe.standby()
        self._shoe.flush()
        accepted = self._command("shoe new")
        if accepted:
            self._loaded_for = state["row"]
        return accepted

    def _begin(self, state: dict[str, Any]) -> None:
        if not self._command("bets open"):
            self._wait(state)

    def _burn(self, state: dict[str, Any]) -> None:
        self._draw(state, burn=True)

    def _deal(self, state: dict[str, Any]) -> None:
        r = state["round"]
        if r["face_down"] >= 4:
            self._command("turn", expect=state)
            return
        card = self._draw(state)
        if card is not None:
            self._table.append(card)
            if not self._wait_until_seen(state):
                # This shoe cannot scan it again, and the next card must not take its place.
                self._not_read = True
                self._call_hold()

    def _call_hold(self) -> None:
        """Until the table takes it, no further card is drawn."""
        if self._command("hold", {"text": "a card was not read"}):
            self._not_read = False

    def _draw(self, state: dict[str, Any], *, burn: bool = False) -> Card | None:
        """Draw a card; a cutting card that comes instead is announced, and the next one drawn."""
        if self._pause:
            time.sleep(self._pause)
        drawn = self._shoe.draw(burn=burn)
        if drawn is not None and drawn.cutting_card:
            self._cut_out = True
            if self._announces_cut:
                self._command("cut-card")
            drawn = self._shoe.draw(burn=burn)
        if drawn is None:
            self._command("hold", {"text": "the shoe is empty"})
            return None
        self.ledger.cards += 1
        if burn:
            self._wait_until_seen(state)
        return drawn.card

    def _wait_until_seen(self, state: dict[str, Any]) -> bool:
        """Whether the controller has taken the card, or holds the table; else it was not read."""
        out = state["shoe"]["out"] if state["shoe"] else 0
        # At a person's pace a slow machine is waited for: a card taken for lost would be drawn again.
        until = time.monotonic() + min(max(2.0, 10 * self._pause), self._patience)
        row = state["row"]
        while time.monotonic() < until and not self._stop():
            now = self._console.state(newer=row)
            row = now["row"]
            if now["shoe"] is None or now["shoe"]["out"] > out or now["holds"]:
                return True
            if now["unread"] > state["unread"]:
                return False
        return self._stop()

    def _finish(self, state: dict[str, Any]) -> None:
        if self._presses_result and self._pressed != state["where"] and not state["step_lost"]:
            self._pressed = state["where"]
            self._shoe.press_result()
            self._wait(state)
            return
        self._command("confirm", expect=state)

    def _wait(self, state: dict[str, Any]) -> None:
        self._console.state(newer=state["row"])

    # --- trouble -----------------------------------------------------------------------------------------

    def _on_hold(self, state: dict[str, Any]) -> None:
        """The pit boss comes: the screen is right, or the round is void, or the shoe is taken out."""
        ways = {way["action"] for way in state["ways"]}
        if "as-p1" in ways:
            self._supervised("release", {"action": "as-p1"}, state, "training: seen on video")
        elif "cards-confirmed" in ways and self._screen_is_right(state):
            self._supervised("release", {"action": "cards-confirmed"}, state, "training: cards compared")
        elif "accept" in ways and self._screen_is_right(state):
            self._supervised("release", {"action": "accept"}, state, "training: seen on video")
        elif state["round"] and "void" in ways:
            if state["scanner"]["up"] and state["phase"] != "betting":
                self.ledger.voids += 1
                self._supervised("void", {}, state, "training: cards not certain")
            else:
                self._wait(state)
        elif "burn" in ways:
            self._supervised("release", {"action": "burn"}, state, "training: burned")
        elif "resume" in ways:
            self._supervised("release", {"action": "resume"}, state, "training: go on")
        elif "shoe end" in ways and state["scanner"]["up"]:
            self._supervised("shoe end", {}, state, "training: shoe not certain")
        else:
            self._wait(state)

    def _screen_is_right(self, state: dict[str, Any]) -> bool:
        """The cards on the table are those on the screen, in deal order, then as many as were kept.

        The faces of kept cards are not shown, for they may yet be burned.
        """
        if state["round"] is None:
            return True
        laid = state["round"]["cards"]
        order = [laid[p] for p in ("P1", "B1", "P2", "B2", "P3", "B3") if p in laid]
        on_the_table = [str(card) for card in self._table]
        return on_the_table[: len(order)] == order and len(on_the_table) == len(order) + len(state["kept"])

    def _supervised(self, command: str, args: dict[str, str], state: dict[str, Any], reason: str) -> None:
        self._command(command, args, supervised=reason, expect=state)

    def _command(
        self,
        command: str,
        args: dict[str, str] | None = None,
        *,
        supervised: str = "",
        expect: dict[str, Any] | None = None,
    ) -> bool:
        body: dict[str, Any] = {"id": uuid.uuid4().hex, "command": command, "args": args or {}}
        if supervised and self._pit_boss is None:
            holds = " ".join(sentence(hold["message"]) for hold in expect["holds"]) if expect else ""
            raise NeedsPitBoss(f"{(holds or command).rstrip('.')}: that is for a pit boss to say")
        if supervised and self._pit_boss is not None:
            body |= {"person": self._pit_boss.name, "pin": self._pit_boss.pin, "reason": supervised}
        if expect is not None:
            body["expect"] = {"version": expect["version"]}
        accepted, answer = self._console.command(body)
        if not accepted:
            self.ledger.refusals.append(answer)
            del self.ledger.refusals[:-50]
        return accepted
