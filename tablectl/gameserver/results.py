"""Where a round stands after each of the events that settle bets (contract, section 2).

=================  =============================================================
stands as          may become
=================  =============================================================
nothing yet        resulted · voided (a round may be void before it has a result)
resulted, amended  amended, with a higher revision · voided
parked             amended · voided: until then its bets are unsettled
voided             nothing more
=================  =============================================================
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from tablectl.cards import Card, Position
from tablectl.events import EventParked, RoundAmended, RoundResulted, RoundVoided
from tablectl.gameserver.lawful import Impossible, check_result, read_as
from tablectl.gameserver.messages import Message
from tablectl.gameserver.store import RoundRecord

__all__ = ["Impossible", "place", "settle"]

FACE_DOWN = "?"
"""How a void tells a card that was never turned."""

_MOST = 1 << 31

_RESULTED = TypeAdapter(RoundResulted)
_VOIDED = TypeAdapter(RoundVoided)
_AMENDED = TypeAdapter(RoundAmended)
_PARKED = TypeAdapter(EventParked)

SETTLING = ("tablectl.round.resulted.v1", "tablectl.round.voided.v1", "tablectl.round.amended.v1")


def settle(message: Message, before: RoundRecord | None, *, skipped: bool = False) -> RoundRecord | None:
    """The round's standing after ``message``, None when the event changes none.

    ``before``: where that round stood. ``skipped``: a part of the history was, and the round's result, or an
    amendment of it, may have been there. Raises :class:`Impossible`.
    """
    match message.type:
        case "tablectl.round.resulted.v1":
            return _resulted(message, before)
        case "tablectl.round.voided.v1":
            return _voided(message, before)
        case "tablectl.round.amended.v1":
            return _amended(message, before, skipped)
        case "tablectl.event.parked.v1":
            return _parked(message, before)
    return None


def _resulted(message: Message, before: RoundRecord | None) -> RoundRecord:
    result = read_as(_RESULTED, message.data)
    made = _record(message, "resulted", result.revision, message.data)
    if before is not None:
        raise Impossible(f"{_name(made)} is {before.state} already")
    if result.revision != 1:
        raise Impossible(f"a round's first result has revision 1, not {result.revision}")
    check_result(result)
    return made


def _voided(message: Message, before: RoundRecord | None) -> RoundRecord:
    voided = read_as(_VOIDED, message.data)
    made = _record(message, "voided", before.revision if before else 0, message.data)
    if before is not None and before.state == "voided":
        raise Impossible(f"{_name(made)} is voided already")
    for position, card in voided.cards.items():
        try:
            Position(position)
            if card != FACE_DOWN:
                Card.parse(card)
        except ValueError as error:
            raise Impossible(f"data.cards.{position:.10}: {error}") from None
    return made


def _amended(message: Message, before: RoundRecord | None, skipped: bool) -> RoundRecord:
    amended = read_as(_AMENDED, message.data)
    made = _record(message, "amended", amended.revision, dict(message.data["after"]))
    if before is None and not skipped:
        raise Impossible(f"{_name(made)} has no result here: nothing to amend")
    if before is not None and before.state == "voided":
        raise Impossible(f"{_name(made)} is voided: nothing to amend")
    if before is not None and amended.revision <= before.revision:
        raise Impossible(f"revision {amended.revision} does not follow {before.revision}")
    after = read_as(_RESULTED, amended.after, "data.after")
    if (after.shoe, after.round) != (made.shoe, made.round):
        raise Impossible(
            f"data.after is of round {after.shoe}/{after.round}, not of {made.shoe}/{made.round}"
        )
    if after.revision != amended.revision:
        raise Impossible(f"data.after has revision {after.revision}, the event {amended.revision}")
    check_result(after)
    if before is not None and before.state != "parked":
        _check_same_round(amended, after, before, missed=skipped and amended.revision > before.revision + 1)
    return made


def _check_same_round(
    amended: RoundAmended, after: RoundResulted, held: RoundRecord, *, missed: bool
) -> None:
    """That ``before`` is the result held, and that the round is still one with the same bets.

    ``missed``: an amendment between them may have been skipped.
    """
    was = read_as(_RESULTED, held.result)
    said = read_as(_RESULTED, amended.before, "data.before")
    same = (said.outcome, said.player, said.banker) == (was.outcome, was.player, was.banker)
    if not same and not missed:
        raise Impossible("data.before is not the result that is held here")
    if (after.free, after.bets.keys()) != (was.free, was.bets.keys()):
        raise Impossible("data.after offers other bets than the round did")


def _parked(message: Message, before: RoundRecord | None) -> RoundRecord | None:
    parked = read_as(_PARKED, message.data)
    # What was set aside behind a void was refused for being behind it: the void stands.
    if _full(parked.parked_type) not in SETTLING or (before is not None and before.state == "voided"):
        return None
    return _record(message, "parked", before.revision if before else 0, message.data)


def _full(name: str) -> str:
    """A type's full name; ``round.resulted`` stands for ``tablectl.round.resulted.v1``."""
    return name if name.startswith("tablectl.") else f"tablectl.{name}.v1"


def _record(message: Message, state: str, revision: int, result: dict[str, Any]) -> RoundRecord:
    shoe, number = place(message)
    if shoe is None or number is None:
        raise Impossible("data.shoe and data.round name the round")
    if not 0 <= revision < _MOST:
        raise Impossible(f"revision {revision} is none")
    return RoundRecord(shoe, number, state, revision, result, message.id)


def _name(record: RoundRecord) -> str:
    return f"round {record.shoe}/{record.round}"


def place(message: Message) -> tuple[int | None, int | None]:
    """Shoe and round an event names; None for what is no number from 1."""
    shoe, number = (
        n if isinstance(n, int) and not isinstance(n, bool) and 0 < n < _MOST else None
        for n in (message.data.get("shoe"), message.data.get("round"))
    )
    return shoe, number
