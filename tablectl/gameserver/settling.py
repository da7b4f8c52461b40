"""What each event does to the wagers and the money, in the very commit that keeps the event.

So an event that comes again moves nothing, and a server that dies at any moment has either both or none.

* ``round.resulted`` ends the wagers of its round; ``round.voided`` returns all its stakes.
* ``round.amended`` ends them anew: what the earlier ending moved is moved back row by row, then the new one
  is moved; both stay in the ledger.
* ``event.parked`` moves nothing: the round's wagers wait for the void or the amendment.
* ``betting.opened`` lays what stands on the new round; ``table.closed`` returns what stands.

A stake begins to stand by the result of the newest round only. One that would begin to stand later, by an
amendment or the late end of an earlier round, is returned: its player may have another one there by then.

A stake that stood is one stake. When its first round is amended or voided later it is fetched from where it
went since, and ends there: the wagers it was carried on as never were.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tablectl.events import BetResult
from tablectl.gameserver.book import Book, Ending, Wager
from tablectl.gameserver.floor import Floor, Floors
from tablectl.gameserver.ledger import HOUSE, Ledger, Movement
from tablectl.gameserver.messages import Message
from tablectl.gameserver.settlement import Ended, end, in_time, voided
from tablectl.gameserver.store import RoundRecord


@dataclass(frozen=True, slots=True)
class Settling:
    """The effects of events on one book. All is called inside the event's transaction."""

    book: Book
    floors: Floors
    ledger: Ledger

    def took(self, message: Message, record: RoundRecord | None, *, live: bool, seen: int) -> None:
        """``record``: where the event leaves its round; ``live``: its betting is really open here.

        A ``betting.opened`` that opens no new round (:meth:`Floors.opens_new`) must not come here.

        Raises :class:`TooMuch` for winnings beyond all measure.
        """
        floor = self.floors.took(message)
        match message.type:
            case "tablectl.betting.opened.v1":
                self._lay(floor, live, message.id, seen)
            case "tablectl.table.closed.v1":
                for wager in self.book.standing(message.table):
                    self.book.give_back(wager, "returned", "returned", message.id, seen)
        if record is not None and record.state != "parked":
            newest = floor.open and (floor.shoe, floor.round) == (record.shoe, record.round)
            self._settle(message, record, seen, newest=newest)

    def give_back(self, table: str, epoch: str, shoe: int, number: int, seen: int, *, pinned: bool) -> int:
        """A person returns what lies on a round no word will come of; how many wagers.

        ``pinned``: that is the table's history now. Should the word come all the same, it settles the round
        as an amendment would. Raises :class:`LookupError` where nothing lies, and :class:`ValueError` while
        the round is in play.
        """
        floor = self.floors.of(table, epoch)
        if pinned and floor.open and (floor.shoe, floor.round) == (shoe, number):
            raise ValueError(f"round {shoe}/{number} is in play: void it at the table")
        lying = [w for w in self.book.of_round(table, epoch, shoe, number) if w.state in ("open", "stands")]
        if not lying:
            raise LookupError(f"nothing lies on round {shoe}/{number} of table {table}, history {epoch}")
        for wager in lying:
            self._end(wager, voided(wager.stake), f"by-hand-{seen}", 0, seen)
        return len(lying)

    def _lay(self, floor: Floor, live: bool, event: str, seen: int) -> None:
        """Where a stake may be withdrawn it is laid only while it can be: in a betting that is open here."""
        if floor.shoe is None or floor.round is None:
            return
        for wager in self.book.standing(floor.table):
            if wager.epoch != floor.epoch:  # of a history that is over
                self.book.give_back(wager, "returned", "returned", event, seen)
            elif live or self.book.terms(wager.terms).standing == "locked":
                self.book.carry(wager, floor, seen)

    def _settle(self, message: Message, record: RoundRecord, seen: int, *, newest: bool) -> None:
        bets = _bets(record.result) if record.state != "voided" else None
        wagers = self.book.of_round(message.table, message.epoch, record.shoe, record.round)
        for wager in wagers:
            if wager.state in ("taken-back", "taken-off"):
                continue
            if bets is None:
                ended = voided(wager.stake)
            else:
                ended = end(wager.part, wager.stake, bets, self.book.terms(wager.terms))
            self._end(wager, ended, message.id, record.revision, seen, newest=newest)

    def _end(
        self, wager: Wager, ended: Ended, event: str, revision: int, seen: int, *, newest: bool = False
    ) -> None:
        """One wager ends, for the first time or anew. ``newest``: no later round has been opened."""
        before = self.book.ending(wager.number)
        may_stand = newest if before is None else wager.state in ("stands", "carried", "returned")
        ended = in_time(ended, wager.stake, may_stand)
        self.book.add_ending(
            Ending(wager.number, event, revision, ended.how, ended.odds, ended.back, ended.won, ended.capped)
        )
        if before is not None:
            if (before.how, before.back, before.won) == (ended.how, ended.back, ended.won):
                return
            self._fetch(wager, event, seen)
        if ended.how == "stand":
            self.book.set_state(wager, "stands")
            return
        self._move_ends(wager, ended, event, seen)
        self.book.set_state(wager, "settled")

    def _move_ends(self, wager: Wager, ended: Ended, event: str, seen: int) -> None:
        for source, target, amount in (
            (wager.stakes, wager.purse, ended.back),
            (wager.stakes, HOUSE, wager.stake - ended.back),
            (HOUSE, wager.purse, ended.won),
        ):
            if amount:
                move = Movement(source, target, amount, ended.how, event, wager.number)
                self.ledger.move(move, wager.currency, seen)

    def _fetch(self, wager: Wager, event: str, seen: int) -> None:
        """Bring the stake back to the layout, from wherever it went since the wager ended."""
        last = wager
        if wager.state == "carried":
            for last in self.book.after(wager):
                self.book.set_state(last, "taken-off")
                if last.state != "carried":  # it ended here: what came later was taken off then
                    break
        match last.state:
            case "settled":
                self.ledger.take_back(last.number, event, last.currency, seen)
            case "taken-back" | "returned":
                again = Movement(last.purse, last.stakes, last.stake, "stake again", event, last.number)
                self.ledger.move(again, last.currency, seen)


def _bets(result: Mapping[str, Any]) -> dict[str, BetResult]:
    return {
        kind: BetResult(result=bet["result"], odds=bet.get("odds")) for kind, bet in result["bets"].items()
    }
