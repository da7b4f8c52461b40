"""What the tests of irregularities share: a table in a shift, and what people see, try and are told there.

A :class:`Shift` goes through one irregularity after the other, each with a shoe of its own.  What was drawn
is compared with the count face by face (:meth:`Shift.close_book`), what the game server was told is read
from the server's own file (:meth:`Shift.story`).
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any
from unittest import mock

from tablectl_drivers.emulated.faults import Faults
from tablectl_drivers.emulated.wired import WiredShoe

from tablectl.journal import JournalReader
from tablectl.journal.replay import replay
from tablectl.journal.rows import decode_row
from tablectl.table import State
from tests.e2e.harness import BARE, Rig

LONG = BARE | {"betting": {"seconds": 60}}
"""A betting window that is closed by command."""
SEEN = ("phase", "where", "shoe", "holds", "ways", "kept", "reserved", "rescan", "counting", "settled")
"""What of the state a refused command must leave as it was, with the round, version and sequence."""


class Shift(Rig):
    """A table, shoe after shoe. ``begin`` first."""

    mark = 0
    """The last public event before the scenario."""

    def begin(self, cards: str, cutting_cards: tuple[int, ...] = ()) -> None:
        """Whatever the scenario before left: its shoe is ended and one with these cards is in play."""
        self.shoe.plug_in()
        state = self.wait(lambda s: s["scanner"]["up"], "the scanner is there")
        if state["phase"] == "closed":
            self.do("open")
            self.do("sign-in", name="Dora", pickup="left")
        elif state["shoe"] is not None:
            if not state["holds"] and state["phase"] not in ("idle", "burning"):
                self.do("hold", text="the next scenario")
            self.pit("shoe end")
        if self.client.state()["phase"] == "shuffle due":
            self.pit("shoe inspect", method="by-hand")
        for alert in self.client.state()["alerts"]:  # or a scenario takes an old one for its own
            self.command("ack", supervised=True, alert=alert["alert"])
        self.new_shoe(cards, cutting_cards)
        self.mark = self.client.state()["sequence"]

    # --- people ---------------------------------------------------------------------------------------

    def pit(self, command: str, **args: str) -> dict[str, Any]:
        """A pit boss's command that must be accepted."""
        return self.do(command, supervised=True, **args)

    def release(self, action: str) -> dict[str, Any]:
        """A way out that must be open."""
        return self.pit("release", action=action)

    def bets(self) -> None:
        """Open betting and close it."""
        self.do("bets open")
        self.do("bets close")

    def refused(self, command: str, says: str, *, supervised: bool = True, **args: str) -> None:
        """A command that must be refused with these words, and change nothing."""
        before = self.client.state()
        expect = {"version": before["version"]}
        status, answer = self.command(command, supervised=supervised, expect=expect, **args)
        assert status == 409, (command, args, answer)
        assert says in answer["answer"], answer
        after = self.client.state()
        for key in (*SEEN, "version", "sequence", "burns_due", "unread"):
            assert after[key] == before[key], (command, key)
        assert _still(after["round"]) == _still(before["round"]), command

    def deal(self, cards: int) -> None:
        """Draw so many cards, and wait until the table has counted all that were drawn."""
        for _ in range(cards):
            assert self.shoe.draw() is not None
        self.counted()

    def counted(self) -> dict[str, Any]:
        """Wait until every card that was drawn is counted."""
        return self.wait(lambda s: s["shoe"]["out"] == len(self.shoe.out), "all cards are counted")

    # --- what the dealer is told ----------------------------------------------------------------------

    def on_hold(self, codes: str, says: str, ways: str) -> dict[str, Any]:
        """Wait for these holds; the newest says so, and these ways out are offered and no others."""
        wanted = codes.split(", ")
        state = self.wait(lambda s: [hold["code"] for hold in s["holds"]] == wanted, f"on hold: {codes}")
        assert says in state["holds"][-1]["message"]
        offered = ", ".join(way["action"] for way in state["ways"])
        if state["settled"] is None:  # a table whose first round this is has none to amend
            ways = ways.replace("amend, ", "")
        assert offered == ways, f"offered: {offered}"
        return state

    def cards(self) -> dict[str, str]:
        """The hand in play as the screen shows it."""
        cards = self.client.state()["round"]["cards"]
        assert isinstance(cards, dict)
        return cards

    # --- what the game server holds -------------------------------------------------------------------

    def told(self) -> list[tuple[str, dict[str, Any]]]:
        """Type and data of what the server was told since the scenario began."""
        self.settle()
        return [
            (kind.removeprefix("tablectl.").removesuffix(".v1"), json.loads(body)["data"])
            for sequence, _, kind, body in self.server_rows()
            if sequence > self.mark
        ]

    def story(self) -> str:
        """The types of what the server was told, in order; runs as ``card.dealt*4``. Alerts are left out."""
        kinds = [kind for kind, _ in self.told() if not kind.startswith("alert.")]
        runs = [(kind, len(list(run))) for kind, run in groupby(kinds)]
        return " ".join(kind if length == 1 else f"{kind}*{length}" for kind, length in runs)

    def only(self, wanted: str) -> dict[str, Any]:
        """The data of the one event of a type."""
        (data,) = self.every(wanted)
        return data

    def every(self, wanted: str) -> list[dict[str, Any]]:
        """The data of every event of a type."""
        return [data for kind, data in self.told() if kind == wanted]

    def alerts(self) -> set[str]:
        """The alerts the server was told of."""
        return {data["alert"] for data in self.every("alert.raised")}

    def stands(self, where: str | None = None) -> str:
        """A round as the server holds it, in one line; the last one unless named."""
        self.settle()
        held = self.held()
        record = held[where] if where else list(held.values())[-1]
        if record["state"] == "voided":
            laid = " ".join(f"{position}={card}" for position, card in record["result"]["cards"].items())
            return f"voided: {laid}".strip()
        result = record["result"]
        hands = [" ".join(result[side]["cards"]) for side in ("player", "banker")]
        return f"{record['state']}: {hands[0]} / {hands[1]} {result['outcome']} by {result['confirmed_by']}"

    # --- the book -------------------------------------------------------------------------------------

    def table(self) -> State:
        """The table as the journal has it."""
        reader = JournalReader.open(self.journal_path)
        try:
            return replay((row.row, decode_row(row)[0]) for row in reader.every_row())
        finally:
            reader.close()

    def close_book(self, unknown: int = 0) -> None:
        """Journal and server agree, and the cards drawn are the cards counted: each once, by its face.

        ``unknown``: how many of them nobody read.
        """
        self.settle()
        self.check_everything()
        shoe = self.table().shoe
        if shoe is None:
            ended = self.every("shoe.ended")[-1]
            assert ended["dealt"] + len(ended["burned"]) == len(self.shoe.out)
            return
        assert self.client.state()["shoe"]["out"] == shoe.out == len(self.shoe.out)
        counted = [str(card) for card in shoe.drawn if card is not None]
        assert shoe.out - len(counted) == unknown
        assert not Counter(counted) - Counter(self.shoe.out), "a card is counted that was not drawn"


def _still(seen: dict[str, Any] | None) -> dict[str, Any] | None:
    """Without what goes on by itself, and the end of betting as the wall clock has it this microsecond."""
    return seen and {key: value for key, value in seen.items() if key not in ("seconds_left", "closes_at")}


# --- what happens to a shoe --------------------------------------------------------------------------


def wired(rig: Rig) -> WiredShoe:
    """The emulated shoe's inside."""
    assert isinstance(rig.shoe.shoe, WiredShoe)
    return rig.shoe.shoe


@contextlib.contextmanager
def fault(rig: Rig, *names: str) -> Iterator[None]:
    """The shoe or its cable has these faults meanwhile."""
    with mock.patch.object(wired(rig), "_faults", Faults(names)):
        yield


@contextlib.contextmanager
def unheard(rig: Rig) -> Iterator[None]:
    """The shoe speaks and nothing of it arrives."""
    wired(rig).flush()
    with mock.patch.object(wired(rig), "_port"):
        yield
