"""Questions about the past, answered from the journal: rounds, their derivation, shoes.

Every method reads the disk: call it off the event loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tablectl.events import ShoeEnded, ShoeStarted
from tablectl.journal import JournalReader
from tablectl.journal.rows import JournalFault, Row, decode_row
from tablectl.past.explain import Decode, Entry, explain
from tablectl.past.round_view import round_view
from tablectl.past.settled import past_of, table_of
from tablectl.past.shoe_report import shoe_report
from tablectl.scanner import Decoder, Driver, Scan
from tablectl.table import State
from tablectl.table.inputs import Past


def shoe_over(state: State, shoe: int) -> bool:
    """Whether that shoe has ended, and is no later one than ``state`` knows of."""
    return shoe < state.shoes or (shoe == state.shoes and state.shoe is None)


def decode_with(driver: Driver, settings: dict[str, Any]) -> Decode:
    """What the driver in use today makes of the bytes of one scan. Never raises."""

    def decode(raw: bytes) -> list[str] | None:
        try:
            return _cards(driver.decoder(settings), raw)
        except Exception:  # noqa: BLE001 whatever it is, it is told as "not decoded"
            # Bytes of another shoe, or of an older driver: that they mean nothing here is the answer.
            return None

    return decode


_AT_REST = 10**15
"""Boot ns long after the bytes: whatever the decoder waits for is over."""


def _cards(decoder: Decoder, raw: bytes) -> list[str] | None:
    items = [*decoder.feed(raw, 0).items]
    if decoder.next_deadline() is not None:
        items += decoder.tick(_AT_REST).items
    found = [str(item.card) if item.card else "?" for item in items if isinstance(item, Scan)]
    return found or None


class LookingBack:
    """``reader``: safe from any thread. ``decode``: what bytes mean today."""

    def __init__(self, reader: JournalReader, decode: Decode) -> None:
        self._reader = reader
        self._decode = decode

    def past(self, shoe: int, round_: int) -> Past | None:
        """A settled round for the commands that look back; None: not settled, or not (yet) here."""
        rows = self._reader.round_rows(shoe, round_)
        started = self._started(shoe)
        past = past_of(rows, started) if rows else None
        if past is None or started is None:
            return past
        if self._reader.shoe_row(shoe, ShoeEnded.TYPE, started.row) is None:
            return past
        events = (decode_row(row)[0] for row in self._reader.shoe_rows(shoe, started.row))
        return replace(past, table=table_of(events))

    def round(self, state: State, shoe: int, round_: int, *, reveal: bool = False) -> dict[str, Any] | None:
        """One round card by card; None: there is none. ``reveal``: with every face."""
        return self._view(state, shoe, round_, {}, reveal=reveal)

    def rounds(self, state: State, last: int) -> list[dict[str, Any]]:
        """The newest rounds, newest first."""
        known: dict[int, bool] = {}
        found = [self._view(state, *where, known) for where in self._reader.recent_rounds(last)]
        return [view for view in found if view is not None]

    def round_at(self, state: State, wall: int) -> dict[str, Any] | None:
        """The round in play at a wall time (ns), or the last one before it; None: there was none."""
        where = self._reader.round_at(wall)
        return None if where is None else self._view(state, *where, {})

    def explain(self, state: State, shoe: int, round_: int) -> dict[str, Any] | None:
        """The derivation of a round's result; None: there is no such round.

        Raises :class:`tablectl.past.explain.NotExplained`.
        """
        rows = self._reader.round_rows(shoe, round_)
        if not rows:
            return None
        started = self._started(shoe)
        over = shoe_over(state, shoe)
        first = None if started is None else _entry(started)
        told = explain(first, [_entry(row) for row in rows], self._decode, over=over)
        return told | {"unsettled": (shoe, round_) in state.unsettled}

    def shoe(self, state: State, shoe: int) -> dict[str, Any] | None:
        """The report on a shoe; None: there is none. Raises :class:`JournalFault`."""
        started = self._started(shoe)
        if started is None:
            return None
        rows = self._reader.shoe_rows(shoe, started.row)
        events = [decode_row(row)[0] for row in rows]
        try:
            return shoe_report(events, over=shoe_over(state, shoe))
        except (AssertionError, IndexError, KeyError, TypeError, ValueError) as error:
            raise JournalFault(f"shoe {shoe}: its rows cannot be followed ({error!r})") from error

    def _started(self, shoe: int) -> Row | None:
        return self._reader.shoe_row(shoe, ShoeStarted.TYPE)

    def _view(
        self, state: State, shoe: int, round_: int, known: dict[int, bool], *, reveal: bool = False
    ) -> dict[str, Any] | None:
        rows = self._reader.round_rows(shoe, round_)
        if not rows:
            return None
        if shoe not in known:
            known[shoe] = self._integrity(shoe)
        view = round_view(
            rows,
            shoe_over=reveal or shoe_over(state, shoe),
            integrity=known[shoe],
            commands=self._reader.commands_of(rows),
        )
        # Rows may carry the number of a round still to come; the view goes by what was asked.
        return view | {"shoe": shoe, "round": round_, "unsettled": (shoe, round_) in state.unsettled}

    def _integrity(self, shoe: int) -> bool:
        started = self._started(shoe)
        ended = self._reader.shoe_row(shoe, ShoeEnded.TYPE, 0 if started is None else started.row)
        event = None if ended is None else decode_row(ended)[0]
        return isinstance(event, ShoeEnded) and event.integrity is True


def _entry(row: Row) -> Entry:
    event, at = decode_row(row)
    return Entry(row.row, at, event, row.raw)
