"""What the demo and `tablectl play` print: a line a round, pips and beep marked, a bar, the summary."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from tablectl.core import Durable
from tablectl.journal.writer import Batch
from tablectl.printable import escape, number_of
from tablectl.process.notify import short


class Screen:
    """What the demo prints while it plays: a line a round, pips and beep marked, and a progress bar."""

    BAR = 24

    def __init__(self, quiet: bool, many: bool) -> None:
        self._quiet = quiet
        self._many = many
        self._marks: dict[str, str] = {}
        self._bar = sys.stderr.isatty() and not quiet
        self._lock = threading.Lock()
        self.last_hand = 0

    def stored(self, table: str) -> Callable[[Durable, tuple[Batch, ...]], None]:
        """The callback for one table's committed batches."""

        def stored(durable: Durable, batches: tuple[Batch, ...]) -> None:
            for batch in batches:
                for row in batch.rows:
                    if row.public is not None:
                        self.event(table, json.loads(row.public))

        return stored

    def event(self, table: str, event: Mapping[str, Any]) -> None:
        """One event of a table."""
        with self._lock:
            self._event(table, event["type"].split(".", 1)[1][:-3], event["data"])

    def _event(self, table: str, kind: str, data: dict[str, Any]) -> None:
        where = f"{table + ' ' if self._many else ''}{data.get('shoe')}/{data.get('round')}"
        match kind:
            case "shoe.started":
                self.line(f"--- shoe {data['shoe']}: {number_of(data['decks'], 'deck')}, burn first ---")
            case "betting.opened":
                self._marks[table] = ""
            case "betting.closing":
                self._marks[table] = self._marks.get(table, "") + "."
            case "betting.closed":
                self._marks[table] = self._marks.get(table, "") + "BEEP"
            case "cut_card.drawn":
                self.line(f"{where:>8}  cutting card after {number_of(data['out'], 'card')}")
            case "last_hand.announced":
                self.last_hand += 1
                self.line(f"{where:>8}  *** Last Hand before shuffle ***")
            case "round.resulted":
                player, banker = data["player"], data["banker"]
                extras = [n for n, hand in (("P pair", player), ("B pair", banker)) if hand["pair"]]
                extras += ["natural"] if player["natural"] or banker["natural"] else []
                self.line(
                    f"{where:>8}  {self._marks.get(table, ''):<10} "
                    f"P {' '.join(player['cards']):<8} {player['total']}   "
                    f"B {' '.join(banker['cards']):<8} {banker['total']}   "
                    f"{data['outcome'].upper():<6} {', '.join(extras)}".rstrip()
                )
            case "round.voided":
                self.line(f"{where:>8}  VOID: {escape(data['reason'])}")
            case "table.held":
                self.line(f"{where:>8}  ON HOLD: {escape(data['message'])}")
            case "shoe.ended":
                rounds = number_of(data["rounds"], "round")
                self.line(f"--- shoe {data['shoe']} ended: {data['reason']}, {rounds} ---")
            case _:
                pass

    def line(self, text: str) -> None:
        """One line above the bar."""
        if self._quiet:
            return
        if self._bar:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        print(text, flush=True)  # noqa: T201 the demo's purpose

    def bar(self, left: int, size: int) -> None:
        """How much of the shoe is dealt."""
        if not self._bar:
            return
        done = (size - left) * self.BAR // size
        with self._lock:
            sys.stderr.write(f"\r[{'#' * done}{'.' * (self.BAR - done)}] {size - left}/{size} cards ")
            sys.stderr.flush()


def _compared(report: dict[str, Any]) -> str:
    if not report["rounds"]:
        return "nothing to compare"
    if not report["not_compared"]:
        return f"{report['held']} held by the server, {len(report['differences'])} different"
    taken = "" if report["error"] else "all acknowledged, "
    why = short(report["not_compared"], 300)
    return (
        f"{taken}NOT compared with what the server holds: it cannot be asked ({why}). "
        f"Compare it yourself: the journal and the last word on each round are kept in {report['kept']}"
    )


def summary(reports: list[dict[str, Any]], screen: Screen, json_output: bool) -> int:
    faults = ("error", "journal_fault", "differences", "not_compared")
    good = all(r["rounds"] and not any(r[fault] for fault in faults) for r in reports)
    if json_output:
        print(json.dumps({"good": good, "tables": reports, "last_hands": screen.last_hand}))  # noqa: T201
        return 0 if good else 1
    for r in reports:
        screen.line("")
        rounds, cards = number_of(r["rounds"], "round"), number_of(r["cards"], "card")
        screen.line(f"table {r['table']}: {rounds} ({r['voids']} void), {cards} drawn")
        screen.line(f"  last hand announced: {number_of(screen.last_hand, 'time')}")
        screen.line(f"  results: {r['rounds']} sent, {_compared(r)}")
        screen.line(f"  journal: {r['journal_fault'] or number_of(r['journal_rows'], 'row') + ', verified'}")
        screen.line(f"  took {r['seconds']} s")
        for problem in (*r["differences"][:10], r["error"]):
            if problem:
                screen.line(f"  PROBLEM: {short(problem, 1000)}")
    screen.line("all is well" if good else "NOT all is well")
    return 0 if good else 1
