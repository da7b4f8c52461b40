"""Where a round stands after each of the three events that settle bets (contract, section 2)."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from tablectl.events import HandResult, RoundAmended, RoundResulted, RoundVoided
from tablectl.gameserver.messages import Message
from tablectl.gameserver.store import RoundRecord

T = TypeVar("T")

_MOST = 1 << 31

_RESULTED = TypeAdapter(RoundResulted)
_VOIDED = TypeAdapter(RoundVoided)
_AMENDED = TypeAdapter(RoundAmended)
_HAND = TypeAdapter(HandResult)

SETTLING = ("tablectl.round.resulted.v1", "tablectl.round.voided.v1", "tablectl.round.amended.v1")


class Impossible(Exception):
    """The event says what cannot be; the message says why."""


def _as(adapter: TypeAdapter[T], message: Message) -> T:
    try:
        return adapter.validate_python(message.data)
    except ValidationError as error:
        first = error.errors()[0]
        raise Impossible(f"data.{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def settle(message: Message, before: RoundRecord | None) -> RoundRecord | None:
    """The round's standing after ``message``, None when the event settles nothing.

    ``before``: where that round stood. Raises :class:`Impossible`.
    """
    match message.type:
        case "tablectl.round.resulted.v1":
            result = _as(_RESULTED, message)
            if before is not None and before.state != "parked":
                raise Impossible(f"round {result.shoe}/{result.round} is {before.state} already")
            return _record(message, "resulted", result.revision, _checked(message.data))
        case "tablectl.round.voided.v1":
            _as(_VOIDED, message)
            return _record(message, "voided", before.revision if before else 0, message.data)
        case "tablectl.round.amended.v1":
            amended = _as(_AMENDED, message)
            if before is not None and amended.revision <= before.revision:
                raise Impossible(f"revision {amended.revision} does not follow {before.revision}")
            return _record(message, "amended", amended.revision, _checked(dict(amended.after)))
        case "tablectl.event.parked.v1" if _full(message.data.get("parked_type")) in SETTLING:
            return _record(message, "parked", before.revision if before else 0, message.data)
    return None


def _full(name: object) -> str:
    """A type's full name; ``round.resulted`` stands for ``tablectl.round.resulted.v1``."""
    return str(name) if str(name).startswith("tablectl.") else f"tablectl.{name}.v1"


def _record(message: Message, state: str, revision: int, result: dict[str, Any]) -> RoundRecord:
    shoe, number = place(message)
    if shoe is None or number is None:
        raise Impossible("data.shoe and data.round name the round")
    if not 0 <= revision < _MOST:
        raise Impossible(f"revision {revision} is none")
    return RoundRecord(shoe, number, state, revision, result, message.id)


def place(message: Message) -> tuple[int | None, int | None]:
    """Shoe and round an event names; None for what is no number from 1."""
    shoe, number = (
        n if isinstance(n, int) and not isinstance(n, bool) and 0 < n < _MOST else None
        for n in (message.data.get("shoe"), message.data.get("round"))
    )
    return shoe, number


def _checked(result: dict[str, Any]) -> dict[str, Any]:
    """A result whose outcome is what its two totals say."""
    try:
        player, banker = (_HAND.validate_python(result.get(side)) for side in ("player", "banker"))
    except ValidationError as error:
        raise Impossible(f"a result has both hands: {error.errors()[0]['msg']}") from None
    for side, hand in (("player", player), ("banker", banker)):
        if hand.total != sum(hand.points) % 10:
            raise Impossible(f"the {side} hand's points {list(hand.points)} do not total {hand.total}")
    says = "player" if player.total > banker.total else "banker" if banker.total > player.total else "tie"
    if result.get("outcome") != says:
        raise Impossible(f"{player.total} to {banker.total} is {says}, not {result.get('outcome')!r:.20}")
    return result
