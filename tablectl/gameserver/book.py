"""The book of wagers: what lies on each table, kept in the server's database with the money that it is.

=============  ==============================================================================
a wager is     that means
=============  ==============================================================================
``open``       it lies on its round; its stake is on the table's account
``taken-back`` the player took it back before the close
``stands``     its round tied: the stake waits for the next betting
``carried``    the stake lies on a later round, as the wager that was ``carried_from`` this one
``settled``    it ended; how is told by its newest ending
``returned``   it stood, and the table closed: the stake went back
``taken-off``  it was carried from a round that was amended or voided later: it never lay here
=============  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tablectl.gameserver.floor import Floor, Floors
from tablectl.gameserver.ledger import Ledger, Movement, player_account, stakes_account
from tablectl.gameserver.store import Store
from tablectl.gameserver.terms import Terms
from tablectl.gameserver.wagers import Answer, Bet, because, covered, elsewhere, judge

_COLUMNS = (
    "number, table_id, epoch, shoe, round, player, area, part, stake, currency,"
    " terms, state, carried_from, placed"
)

_LYING = "state IN ('open', 'stands')"
_BY_LYING = "INDEXED BY wagers_lying"
"""Or all that a player ever placed would be read at each bet."""


@dataclass(frozen=True, slots=True)
class Wager:
    """One single bet: ``part`` of the ``area`` a player asked for. ``placed``: wall ns."""

    number: int
    table: str
    epoch: str
    shoe: int
    round: int
    player: str
    area: str
    part: str
    stake: int
    currency: str
    terms: int
    state: str
    carried_from: int | None
    placed: int

    @property
    def stakes(self) -> str:
        """The account its stake is on while it lies there."""
        return stakes_account(self.table)

    @property
    def purse(self) -> str:
        """The account of who placed it."""
        return player_account(self.player)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a wager ended by one event; a later one stands."""

    wager: int
    event: str
    revision: int
    how: str
    odds: str | None
    back: int
    won: int
    capped: bool


class Book:
    """The wagers of one store. What changes them is called inside a transaction."""

    def __init__(self, store: Store, floors: Floors, ledger: Ledger) -> None:
        self._store = store
        self._floors = floors
        self._ledger = ledger

    # --- what players do ------------------------------------------------------------------------------------

    def place(self, player: str, currency: str, floor: Floor, bets: Sequence[Bet], seen: int) -> list[Answer]:
        """Judge ``bets`` on the round of ``floor``, whose betting is open, and register those taken."""
        if floor.shoe_terms is None or floor.shoe is None or floor.round is None:
            return [Answer(bet.area, bet.stake, because("terms")) for bet in bets]
        terms = self._floors.terms(floor.shoe_terms)
        if terms.currency != currency:
            return [
                Answer(bet.area, bet.stake, because("currency", terms.currency, currency)) for bet in bets
            ]
        lying = self.lying(floor.table, player)
        taken = {w.part: w.area for w in lying if w.state == "stands" or _is_in(w, floor)}
        balance = self._ledger.balance(player_account(player), currency)
        answers = judge(bets, taken, terms, balance)
        for answer in answers:
            if answer.reason is None:
                for part in terms.parts(answer.area):
                    self._add(floor, player, answer, part, currency, seen)
        return answers

    def _add(self, floor: Floor, player: str, answer: Answer, part: str, currency: str, seen: int) -> None:
        ((number,),) = self._store.sql(
            "INSERT INTO wagers (table_id, epoch, shoe, round, player, area, part, stake, currency, terms,"
            " state, placed) VALUES (?,?,?,?,?,?,?,?,?,?,'open',?) RETURNING number",
            *(floor.table, floor.epoch, floor.shoe, floor.round, player, answer.area, part, answer.stake),
            *(currency, floor.shoe_terms, seen),
        )
        source, target = player_account(player), stakes_account(floor.table)
        self._ledger.move(Movement(source, target, answer.stake, "stake", wager=number), currency, seen)

    def take_back(self, player: str, floor: Floor, areas: Sequence[str] | None, seen: int) -> list[Answer]:
        """Give back the bets on ``areas``, or all, of the round of ``floor``, whose betting is open."""
        lying = [w for w in self.lying(floor.table, player) if _is_in(w, floor)]
        answers = []
        for area in dict.fromkeys(areas if areas is not None else (w.area for w in lying)):
            mine = [w for w in lying if w.area == area and w.state == "open"]
            stake = mine[0].stake if mine else 0
            if not mine:
                parts = self._floors.terms(floor.shoe_terms).parts(area) if floor.shoe_terms else ()
                others = elsewhere(area, parts, {w.part: w.area for w in lying if w.state == "open"})
                answers.append(Answer(area, 0, covered(others) if others else because("nothing")))
            elif any(w.carried_from and self._floors.terms(w.terms).standing == "locked" for w in mine):
                answers.append(Answer(area, stake, because("locked")))
            else:
                for wager in mine:
                    self.give_back(wager, "taken back", "taken-back", "", seen)
                answers.append(Answer(area, stake))
        return answers

    def give_back(self, wager: Wager, why: str, state: str, event: str, seen: int) -> None:
        """Return a stake that lies there, without an ending."""
        self.set_state(wager, state)
        move = Movement(wager.stakes, wager.purse, wager.stake, why, event, wager.number)
        self._ledger.move(move, wager.currency, seen)

    # --- what is asked --------------------------------------------------------------------------------------

    def lying(self, table: str, player: str) -> list[Wager]:
        """A player's wagers on a table that have not ended, of any round."""
        return self._wagers(f"table_id = ? AND player = ? AND {_LYING}", table, player, index=_BY_LYING)

    def of_round(self, table: str, epoch: str, shoe: int, number: int) -> list[Wager]:
        """Every wager ever placed on a round, in order."""
        where = "table_id = ? AND epoch = ? AND shoe = ? AND round = ?"
        return self._wagers(where, table, epoch, shoe, number)

    def placed_by(self, table: str, epoch: str, shoe: int, number: int) -> frozenset[str]:
        """Who has placed on a round; a stake that merely stands is not placed there."""
        found = self._store.sql(
            "SELECT DISTINCT player FROM wagers INDEXED BY wagers_one WHERE table_id = ? AND epoch = ?"
            " AND shoe = ? AND round = ? AND state = 'open' AND carried_from IS NULL",
            *(table, epoch, shoe, number),
        )
        return frozenset(player for (player,) in found)

    def standing(self, table: str) -> list[Wager]:
        """What waits for the next betting at a table, of any history."""
        return self._wagers(f"table_id = ? AND {_LYING} AND state = 'stands'", table, index=_BY_LYING)

    def unsettled(self) -> list[tuple[str, str, int, int, str, int, int]]:
        """All that lies anywhere: table, history, shoe, round, currency, how many wagers, their sum."""
        found = self._store.sql(
            "SELECT table_id, epoch, shoe, round, currency, count(*), sum(stake) FROM wagers"
            " WHERE state IN ('open', 'stands') GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4"
        )
        return [(str(t), str(e), int(s), int(r), str(c), int(n), int(x)) for t, e, s, r, c, n, x in found]

    def newest(self, table: str, player: str, limit: int) -> list[Wager]:
        """A player's wagers on a table that were not taken back, newest first."""
        where = "player = ? AND table_id = ? AND state NOT IN ('taken-back', 'taken-off')"
        return self._wagers(where, player, table, order=f"number DESC LIMIT {limit:d}")

    def after(self, wager: Wager) -> Iterator[Wager]:
        """The wagers its stake was carried on to, in order."""
        while found := self._wagers("carried_from = ?", wager.number):
            (wager,) = found
            yield wager

    def ending(self, wager: int) -> Ending | None:
        """How it ended, by the newest word; None: it has not."""
        found = self._store.sql(
            "SELECT wager, event, revision, how, odds, back, won, capped FROM endings WHERE wager = ?"
            " ORDER BY number DESC LIMIT 1",
            wager,
        )
        if not found:
            return None
        number, event, revision, how, odds, back, won, capped = found[0]
        return Ending(number, event, revision, how, odds, back, won, bool(capped))

    def terms(self, number: int) -> Terms:
        return self._floors.terms(number)

    # --- what settling needs --------------------------------------------------------------------------------

    def set_state(self, wager: Wager, state: str) -> None:
        """From the state in which ``wager`` was read: what is not in it any more has been dealt with."""
        was = self._store.sql(
            "UPDATE wagers SET state = ? WHERE number = ? AND state = ? RETURNING number",
            *(state, wager.number, wager.state),
        )
        if not was:
            raise AssertionError(f"wager {wager.number} is not {wager.state} any more")

    def add_ending(self, ending: Ending) -> None:
        self._store.sql(
            "INSERT INTO endings (wager, event, revision, how, odds, back, won, capped)"
            " VALUES (?,?,?,?,?,?,?,?)",
            *(ending.wager, ending.event, ending.revision, ending.how, ending.odds, ending.back, ending.won),
            ending.capped,
        )

    def carry(self, wager: Wager, floor: Floor, seen: int) -> None:
        """Lay a stake that waits on the round of ``floor``, under the terms of its shoe."""
        terms = wager.terms
        if floor.shoe_terms is not None and self._floors.terms(floor.shoe_terms).currency == wager.currency:
            terms = floor.shoe_terms
        self.set_state(wager, "carried")
        self._store.sql(
            "INSERT INTO wagers (table_id, epoch, shoe, round, player, area, part, stake, currency, terms,"
            " state, carried_from, placed) VALUES (?,?,?,?,?,?,?,?,?,?,'open',?,?)",
            *(wager.table, floor.epoch, floor.shoe, floor.round, wager.player, wager.area, wager.part),
            *(wager.stake, wager.currency, terms, wager.number, seen),
        )

    def _wagers(self, where: str, *values: object, order: str = "number", index: str = "") -> list[Wager]:
        sql = f"SELECT {_COLUMNS} FROM wagers {index} WHERE {where} ORDER BY {order}"  # noqa: S608 our own text
        return [Wager(*row) for row in self._store.sql(sql, *values)]


def _is_in(wager: Wager, floor: Floor) -> bool:
    return (wager.epoch, wager.shoe, wager.round) == (floor.epoch, floor.shoe, floor.round)
