"""When a table's betting window is closed: the server's own word, for a table may fall silent at any moment.

A window ends at the first of: ``betting.closed``, this server's monotonic clock reaching ``seconds`` after
the opening came, the wall time ``closes_at``, 15 s without a word from the table (contract, section 2), and
an event that by a fault of this server cannot be taken.
Windows live in memory: after a start of the server all are closed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from tablectl.gameserver.messages import Message

SILENCE = 15.0
"""Seconds without a word from the table; a probe is a word."""

OPENED, CLOSED = "tablectl.betting.opened.v1", "tablectl.betting.closed.v1"
_OF_ITS_ROUND = frozenset(
    {CLOSED, *(f"tablectl.{name}.v1" for name in ("card.dealt", "round.resulted", "round.voided"))}
)
_OF_ITS_TABLE = frozenset(f"tablectl.{name}.v1" for name in ("table.closed", "shoe.started", "shoe.ended"))
"""What there is not while betting is open: no wager is lawful behind it, with or without its close."""


@dataclass(frozen=True, slots=True)
class Window:
    """``until``: monotonic s; ``closes_at``: Unix s; ``epoch``: its history; ``why`` is "" while open."""

    epoch: str
    shoe: object
    round: object
    until: float
    closes_at: float
    heard: float
    why: str = ""

    def at(self, monotonic: float, wall: float, silence: float) -> Window:
        """As it is at that moment; what is closed stays closed."""
        if self.why:
            return self
        for reached, why in (
            (monotonic >= self.until, "seconds"),
            (wall >= self.closes_at, "closes_at"),
            (monotonic - self.heard >= silence, "silence"),
        ):
            if reached:
                return replace(self, why=why)
        return self


class Windows:
    """The newest window of each table. Not safe from several threads at once."""

    def __init__(self, silence: float = SILENCE) -> None:
        self.silence = silence
        self._of: dict[str, Window] = {}

    def heard(self, table: str, monotonic: float, wall: float) -> None:
        """A request of that table came, whose signature was right."""
        window = self.of(table, monotonic, wall)
        if window is not None:
            self._of[table] = replace(window, heard=monotonic)

    def took(self, message: Message, monotonic: float, wall: float) -> None:
        """That event was taken, and not before."""
        table, data = message.table, message.data
        if message.type == OPENED:
            self._of[table] = _opened(message.epoch, data, monotonic).at(monotonic, wall, self.silence)
            return
        window = self._of.get(table)
        if window is None or window.why not in ("", "silence") or not ends(message):
            return  # a silence is over when the table tells how its betting ended
        its_own = (window.shoe, window.round) == (data.get("shoe"), data.get("round"))
        if its_own or message.type in _OF_ITS_TABLE:
            why = message.type.removeprefix("tablectl.").removesuffix(".v1")
            self._of[table] = replace(window, why=why)

    def accepted(self, table: str, epoch: str) -> None:
        """That is the table's history now: nobody will tell when a window of another one closes."""
        window = self._of.get(table)
        if window is not None and window.epoch != epoch and not window.why:
            self._of[table] = replace(window, why="another history")

    def lost(self, table: str) -> None:
        """An event of that table could not be taken, and perhaps it was the close."""
        window = self._of.get(table)
        if window is not None and not window.why:
            self._of[table] = replace(window, why="a fault here")

    def of(self, table: str, monotonic: float, wall: float) -> Window | None:
        """The newest window of a table; None: there was none since the start."""
        window = self._of.get(table)
        if window is None:
            return None
        self._of[table] = window = window.at(monotonic, wall, self.silence)
        return window


def ends(message: Message) -> bool:
    """Whether betting is over by that event, of whichever round it is."""
    return message.type in _OF_ITS_ROUND or message.type in _OF_ITS_TABLE


def opens(message: Message, monotonic: float, wall: float) -> bool:
    """Whether that event opens a window which is not over already."""
    return (
        message.type == OPENED
        and not _opened(message.epoch, message.data, monotonic).at(monotonic, wall, SILENCE).why
    )


def _opened(epoch: str, data: dict[str, Any], monotonic: float) -> Window:
    """What cannot be read opens nothing."""
    seconds, text = data.get("seconds"), data.get("closes_at")
    try:
        length = float(seconds) if not isinstance(seconds, bool | str) and seconds is not None else 0.0
        said = datetime.fromisoformat(str(text))
        closes_at = said.timestamp() if said.tzinfo is not None else 0.0
    except (ValueError, TypeError, OverflowError):
        length = closes_at = 0.0
    return Window(epoch, data.get("shoe"), data.get("round"), monotonic + length, closes_at, monotonic)
