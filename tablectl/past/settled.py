"""A settled round as the journal has it, for the commands that look back (``void`` and ``amend``)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tablectl.events import Event, RoundAmended, RoundResulted, RoundVoided, ShoeEnded, ShoeStarted
from tablectl.house import HouseRules
from tablectl.journal.rows import JournalFault, Row, decode_row
from tablectl.table import State, evolve
from tablectl.table.inputs import Past

_ROUND = re.compile(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", re.ASCII)


def parse_round(text: str) -> tuple[int, int] | None:
    """Shoe and round of ``SHOE/ROUND``; None for anything else."""
    found = _ROUND.fullmatch(text)
    return None if found is None else (int(found[1]), int(found[2]))


@cache
def _results() -> TypeAdapter[RoundResulted]:
    return TypeAdapter(RoundResulted)


def result_of(plain: dict[str, Any], shoe: int | None, round_: int | None) -> RoundResulted:
    """A result from its published data, as ``before`` and ``after`` of an amendment hold it.

    Raises :class:`ValueError` when the data is no result.
    """
    return _results().validate_python({"shoe": shoe, "round": round_, **plain})


def past_of(rows: Sequence[Row], shoe_row: Row | None) -> Past | None:
    """What became of the round of ``rows``; None when it has neither result nor void.

    ``shoe_row``: the start of its shoe, which has the rules. Raises :class:`JournalFault`.
    """
    shoe = None if shoe_row is None else decode_row(shoe_row)[0]
    if not isinstance(shoe, ShoeStarted):
        return None
    result, revision, voided, where = None, 0, False, (0, 0)
    for row in rows:
        event, _ = decode_row(row)
        match event:
            case RoundResulted():
                result, revision = event, event.revision
            case RoundAmended():
                try:
                    result = result_of(event.after, event.shoe, event.round)
                except ValidationError as error:
                    raise JournalFault(f"journal row {row.row}: no result is in it: {error}") from error
                revision = event.revision
            case RoundVoided():
                voided = True
            case _:
                continue
        where = (event.shoe or 0, event.round or 0)
    if result is None and not voided:
        return None
    return Past(*where, result, revision, voided, HouseRules.from_dict(shoe.rules))


def table_of(events: Iterable[Event]) -> State | None:
    """The table as a shoe left it, from the shoe's own events; None while it is in play.

    What was found out of its rounds since is counted as if the shoe were in play.
    """
    state, over = State(), False
    for event in events:
        match event:
            case ShoeEnded():
                over = True
            case RoundAmended() | RoundVoided():
                state = evolve(state, event)
            case _ if not over:
                state = evolve(state, event)
            case _:
                pass
    return state if over and state.shoe is not None else None
