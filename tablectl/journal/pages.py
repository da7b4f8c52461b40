"""Rows of a journal as plain values, page by page: what ``journal show`` and ``journal export`` are made of.

What must not be seen yet is left out: of the shoe in play only what was published.  Burn faces, cards that
lie face down and what the scanner sent are in the private part of its rows, and are shown after its end, or
to a pit boss.  Nor are the hashes shown: with a row's hash every face can be tried until one fits.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tablectl.clock import iso
from tablectl.events import ShoeEnded, ShoeStarted
from tablectl.journal.reader import PAGE, JournalReader
from tablectl.journal.rounds import said
from tablectl.journal.rows import Row

PAGE_BYTES = 2 << 20
"""About the longest page, whatever is in its rows."""

_NO_CARDS = frozenset({"command.recorded", "pin.attempted", "controller.started", "rows.removed"})
"""Private rows outside a shoe that name no card still to come."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows: behind ``after``, up to ``upto``, of a shoe or a round; ``public``: events alone.

    ``reveal``: a pit boss asks.
    """

    after: int = 0
    upto: int | None = None
    shoe: int | None = None
    round: int | None = None
    public: bool = False
    reveal: bool = False


def facts(reader: JournalReader) -> dict[str, Any]:
    """What a journal is and where it begins and ends."""
    (row, sequence), anchor = reader.last(), reader.anchor()
    return {
        "table": reader.table,
        "epoch": reader.epoch,
        "schema": int(reader.meta()["schema"]),
        "first_row": anchor.row + 1,
        "first_sequence": anchor.sequence + 1,
        "row": row,
        "sequence": sequence,
        "acked": reader.acked(),
        "bytes": reader.path.stat().st_size,
    }


def shoe_in_play(reader: JournalReader) -> tuple[int, int] | None:
    """The shoe whose hidden faces must not be told, and the row with which it began.

    Raises :class:`JournalFault` for a row that is not what was written.
    """
    start, end = reader.last_of_type(ShoeStarted.TYPE) or 0, reader.last_of_type(ShoeEnded.TYPE) or 0
    # A shoe that ended unseen is still held for one in play. That none began since is read in the rows.
    upto = start if start > end else reader.last()[0]
    found = None
    for row in reader.in_order(f"row BETWEEN {max(start, end)} AND {upto}"):
        where = said(row)
        if where.type == ShoeStarted.TYPE:
            found = where.shoe or 0, row.row
        elif where.type == ShoeEnded.TYPE:
            found = None
    return found


def page(reader: JournalReader, wanted: Wanted, limit: int = PAGE) -> dict[str, Any]:
    """Of at most 500 rows those asked for, and ``after``: where to go on; None: that was the end.

    Every row in between is read and checked, so that none is left out.

    Raises :class:`JournalFault` for a row that is not what was written.
    """
    where, values = ["row > ?"], [wanted.after]
    if wanted.upto is not None:
        where.append("row <= ?")
        values.append(wanted.upto)
    if wanted.shoe is not None:
        where.append(reader.lies(wanted.shoe, wanted.round))
    limit = min(limit, PAGE)
    in_play = None if wanted.reveal else shoe_in_play(reader)
    rows: list[dict[str, Any]] = []
    size, after = 0, None
    found = reader.found(f"{' AND '.join(where)} ORDER BY row LIMIT ?", *values, limit)
    for row, digest in found:
        size += len(row.public or b"") + len(row.private) + len(row.raw)
        if after is not None and size > PAGE_BYTES:
            break
        after = row.row
        if not _asked(row, wanted):
            continue
        try:
            rows.append(_told(row, digest, in_play, wanted))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise reader.fault(row.row, str(error)) from error
    else:
        after = after if len(found) == limit else None
    return {"rows": rows, "after": after}


def _asked(row: Row, wanted: Wanted) -> bool:
    where = said(row)
    return (
        wanted.shoe in (None, where.shoe)
        and wanted.round in (None, where.round)
        and not (wanted.public and row.sequence is None)
    )


def _told(row: Row, digest: bytes, in_play: tuple[int, int] | None, wanted: Wanted) -> dict[str, Any]:
    inner, where = json.loads(row.private), said(row)
    made = {"row": row.row, "sequence": row.sequence, "time": iso(int(inner["wall"])), "type": where.type}
    made |= {"shoe": where.shoe, "round": where.round}
    secret = in_play is not None and row.row >= in_play[1] and not wanted.reveal
    made["hash"] = None if secret else digest.hex()
    made["event"] = None if row.public is None else row.public.decode()
    if wanted.public:
        return made
    if wanted.reveal or not _hidden(where.type, where.shoe, in_play):
        return made | {"private": inner["data"], "raw": row.raw.hex()}
    return made | {"hidden": True}


def _hidden(kind: str, shoe: int | None, in_play: tuple[int, int] | None) -> bool:
    if in_play is None:
        return False
    return kind not in _NO_CARDS if shoe is None else shoe >= in_play[0]
