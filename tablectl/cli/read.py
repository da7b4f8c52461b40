"""The state of a table as the daemon tells it, in lines for people; what is missing or odd is ``?``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablectl.cli.output import escape
from tablectl.printable import number_of

NO_SERVER = "no game server is configured ([server] url)"
"""The daemon's reason where none is configured: a table that plays for itself, no trouble."""

MOST_NAMES = 20
"""Cards named on one line."""

POSITIONS = {"Player": ("P1", "P2", "P3"), "Banker": ("B1", "B2", "B3")}


def mapping(value: Any) -> Mapping[str, Any]:
    """``value`` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """``value`` if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def word(value: Any, most: int = 300) -> str:
    """A value in print: escaped, of bounded length, ``?`` if there is none."""
    if value is None:
        return "?"
    text = escape(str(value)[: most + 1])
    return text if len(text) <= most else text[:most] + "…"


def count_of(number: Any, noun: str) -> str:
    """``1 card``, ``3 cards``, ``? cards``: of what a daemon told."""
    return number_of(word(number, 20), noun)


def hand_lines(cards: Mapping[str, Any], totals: Mapping[str, Any]) -> list[str]:
    """Both hands, a line each: the cards by position, and the total."""
    lines = []
    for side, positions in POSITIONS.items():
        laid = "  ".join(
            f"{position} {word(cards[position], 8)}" for position in positions if position in cards
        )
        total = totals.get(side)
        lines.append(f"{side}  {laid:<20}{'' if total is None else f'total {word(total, 8)}'}".rstrip())
    return lines


def link_line(link: Mapping[str, Any]) -> str:
    """The game server's link; ``link`` has ``good`` and ``why``."""
    if link.get("good") is True:
        return "link good"
    why = word(link.get("why"))
    return f"{why}; betting needs none" if why == NO_SERVER else f"link NOT good: {why}"


class State:
    """``GET /v1/state`` in print."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw = raw
        self.where = word(raw.get("where"), 30)
        self.ways = {
            word(way.get("action"), 40): word(way.get("text"))
            for way in map(mapping, sequence(raw.get("ways"))[:30])
        }

    def lines(self) -> list[str]:
        """All of it."""
        raw = self.raw
        test = "  TEST TABLE" if raw.get("test") else ""
        rules = f"  rules {word(raw['rules'], 60)}" if raw.get("rules") else ""
        version = f"  state {word(raw.get('version'), 20)}"
        lines = [f"table {word(raw.get('table'), 30)}{test}  {word(raw.get('phase'), 40)}{rules}{version}"]
        if raw.get("dealer"):
            lines.append(f"dealer {word(raw['dealer'], 60)}, picks up {word(raw.get('pickup'), 10)}")
        else:
            lines.append("no dealer is signed in")
        lines += self._shoe_lines() + self.round_lines() + self._placed_lines() + self.settled_lines()
        lines += self.progress_lines() + self.hold_lines()
        lines += [f"say: {word(text)}" for text in sequence(raw.get("say"))[-3:]]
        return lines + self._alert_lines() + self._outside_lines()

    def _shoe_lines(self) -> list[str]:
        shoe = mapping(self.raw.get("shoe"))
        if not shoe:
            return ["no shoe"]
        line = (
            f"shoe {word(shoe.get('number'), 20)}: {count_of(shoe.get('left'), 'card')} left, "
            f"{word(shoe.get('out'), 20)} out, {count_of(shoe.get('rounds'), 'round')}"
        )
        if shoe.get("last_hand"):
            line += "; this is the last hand"
        elif shoe.get("last_round") is not None:
            line += f"; the last hand is round {word(shoe['last_round'], 20)}"
        elif shoe.get("cut"):
            line += "; the cutting card is out"
        lines = [line]
        if self.raw.get("step_lost") and mapping(self.raw.get("scanner")).get("names_positions"):
            lines.append("the shoe is out of step: only the order of the cards counts; confirm the result")
        due = self.raw.get("burns_due")
        burns = f"burn {word(due, 10)} ({word(self.raw.get('burn_reason'), 60)})"
        return [*lines, burns] if due else lines

    def round_lines(self) -> list[str]:
        """The round in play: number, cards, totals, what comes next."""
        now = mapping(self.raw.get("round"))
        if not now:
            return ["no round in play"]
        free = ", a free hand" if now.get("free") else ""
        line = f"round {self.where}{free}, {word(self.raw.get('phase'), 40)}"
        left = now.get("seconds_left")
        if isinstance(left, int | float):
            line += f", betting closes in {left:.1f} s"
        totals = {"Player": now.get("player_total"), "Banker": now.get("banker_total")}
        cards = mapping(now.get("cards"))
        lines = [line]
        if cards:
            lines += hand_lines(cards, totals)
        if now.get("words"):
            lines.append(word(now["words"]))
        return lines

    def _placed_lines(self) -> list[str]:
        """How many players have placed, while betting is open and the game server says so."""
        said = mapping(self.raw.get("placed"))
        players, placed = said.get("players"), said.get("placed")
        if not said:
            return []
        if players == 0:
            return ["no player is connected"]
        if said.get("all") is True:
            who = "the only player has" if players == 1 else f"all {count_of(players, 'player')} have"
            return [f"{who} placed: `tablectl bets close` ends betting early"]
        have = "has" if players == 1 else "have"
        return [f"{word(placed, 20)} of {count_of(players, 'player')} {have} placed"]

    def settled_lines(self) -> list[str]:
        """How the last round ended, and which ones the game server has not settled."""
        settled = mapping(self.raw.get("settled"))
        lines = (
            [f"last: round {word(settled.get('where'), 30)}, {word(settled.get('what'))}"] if settled else []
        )
        if rounds := sequence(self.raw.get("unsettled")):
            names = ", ".join(word(name, 30) for name in rounds[:MOST_NAMES])
            more = " …" if len(rounds) > MOST_NAMES else ""
            lines.append(f"UNSETTLED: round {names}{more}: void or amend what the game server refused")
        return lines

    def progress_lines(self) -> list[str]:
        """What is under way besides a round: cards scanned again, a count; and cards set aside."""
        lines = []
        if rescan := mapping(self.raw.get("rescan")):
            what = word(rescan.get("what"), 20)
            what = {"last": "the last card", "hand": "the hand"}.get(what, what)
            lines.append(f"re-scan of {what}: {count_of(rescan.get('scanned'), 'card')} so far")
        if counting := mapping(self.raw.get("counting")):
            line = f"count: {word(counting.get('counted'), 20)} of {word(counting.get('of'), 20)}"
            if extra := sequence(counting.get("extra")):
                names = " ".join(word(card, 8) for card in extra[:MOST_NAMES])
                line += f", {len(extra)} extra: {names}{' …' if len(extra) > MOST_NAMES else ''}"
            if counting.get("unknown"):
                line += f", {word(counting['unknown'], 20)} unknown"
            lines.append(line)
        if self.raw.get("reserved"):
            lines.append(f"{count_of(self.raw['reserved'], 'card')} reserved for the next round")
        return lines

    def hold_lines(self) -> list[str]:
        """Holds with what the controller saw, the cards kept with them, and the ways out."""
        raw = self.raw
        lines = []
        for hold in map(mapping, sequence(raw.get("holds"))[:30]):
            lines.append(f"HOLD {word(hold.get('code'), 40)}: {word(hold.get('message'))}")
            saw = mapping(hold.get("saw"))
            told = [word(saw.get("label"), 120)] if saw.get("label") else []
            told += [f"bytes {word(saw.get('bytes'), 120)}"] if saw.get("bytes") else []
            lines += [f"  saw: {', '.join(told)}"] if told else []
        if kept := sequence(raw.get("kept"))[:60]:
            lines.append(
                "cards kept: " + "  ".join(f"K{i} {word(card, 8)}" for i, card in enumerate(kept, 1))
            )
        return lines + [f"way out: {text}" for text in self.ways.values()]

    def _alert_lines(self) -> list[str]:
        alerts = map(mapping, sequence(self.raw.get("alerts"))[:30])
        return [f"alert {word(a.get('alert'), 60)}: {word(a.get('message'), 1000)}" for a in alerts]

    def _outside_lines(self) -> list[str]:
        raw = self.raw
        scanner, link, journal = (mapping(raw.get(name)) for name in ("scanner", "link", "journal"))
        up = "up" if scanner.get("up") else f"DOWN: {word(scanner.get('why'))}"
        if scanner.get("up") and scanner.get("health", "ok") != "ok":
            up += f", {word(scanner['health'], 20).upper()}: {word(scanner.get('why'))}"
        hangs = f", at {word(scanner['where'], 120)}" if scanner.get("where") else ""
        it_is = [f"  {word(scanner['identity'], 200)}{hangs}"] if scanner.get("identity") else []
        age = scanner.get("last_good_age")
        last = f", last good one {age:.1f} s ago" if isinstance(age, int | float) else ""
        mirror = mapping(raw.get("mirror"))
        behind = f"mirror {count_of(mirror.get('behind'), 'row')} behind: {word(mirror.get('error'), 800)}"
        stored = f"events {word(raw.get('sequence'), 20)}, acknowledged {word(raw.get('acked'), 20)}"
        return [
            f"scanner {word(scanner.get('driver'), 40)} {word(scanner.get('device'), 120)} {up}",
            *it_is,
            f"  {count_of(scanner.get('bytes'), 'byte')}, {count_of(scanner.get('frames'), 'frame')}, "
            f"{count_of(scanner.get('rejects'), 'reject')}{last}",
            link_line(link),
            f"journal {word(journal.get('state'), 40)}, {word(journal.get('depth'), 20)} waiting; {stored}",
            *([f"  {word(journal['why'], 600)}"] if journal.get("why") else []),
            *([behind] if mirror.get("error") else []),
        ]
