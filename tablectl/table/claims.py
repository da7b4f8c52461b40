"""Whether a card that a person tells of is one that was drawn already and lies aside.

A card of the same face that lies aside of that very round is it, unless the person says that it is another;
where the faces differ, or it may be of a neighbouring round, the person is asked. Nothing is guessed: what is
asked is refused with both answers in the words.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tablectl.cards import Card
from tablectl.table.inputs import Command
from tablectl.table.state import BURNED, KEPT, LENT, RESERVED, USED, State
from tablectl.table.turn import Refused

SAME, ANOTHER = "yes", "no"
"""What is typed as ``same``: the card lies aside since it was drawn, or it was never counted."""

_LIES = {
    KEPT: "is kept with the hold",
    RESERVED: "is reserved for the next round",
    BURNED: "was burned",
    USED: "was drawn and is used",
}
_ANSWERS = "if it is that card, again with --same; if it is another one, with --another"


@dataclass(frozen=True, slots=True)
class Claim:
    """Where a card lies that is of a hand: ``index`` into the cards kept (:data:`KEPT`), else into those
    aside."""

    place: str
    index: int
    card: Card | None
    sure: bool = True
    """It was drawn with that round; else it was drawn before the hand of the next one began."""


def answer(command: Command) -> str | None:
    """What the person said of it, if anything. Raises :class:`Refused`."""
    said = command.args.get("same")
    if said not in (None, SAME, ANOTHER):
        raise Refused(f"same: {SAME} or {ANOTHER}, not {said[:10]!r}")
    return said


def claim(
    state: State,
    number: int,
    card: Card,
    said: str | None,
    used: Collection[Claim] = (),
    *,
    kept: bool = False,
) -> Claim | None:
    """The card of round ``number`` that lies aside as ``card``; None: it was not counted yet.

    ``used``: taken already. ``kept``: the cards kept with the hold may be it too. Raises :class:`Refused`.
    """
    if said == ANOTHER:
        return None
    places = [one for one in _places(state, number, kept=kept) if one not in used]
    own = [one for one in places if one.sure]
    alike = [one for one in own if one.card == card]
    if said is None or not alike:
        _refuse_lent(state, number, card, asked=bool(alike))
    if alike:
        # Of two with one face the reserved one: were it left behind wrongly, it would begin the next hand by
        # itself, and nobody would be asked; one that is taken wrongly is missed at once.
        return next((one for one in alike if one.place == RESERVED), alike[0])
    near = [one for one in places if not one.sure and one.card == card]
    doubtful = [one for one in own if one.place != KEPT]
    if said == SAME:
        found = near or doubtful
        if len(found) != 1:
            many = "more than one card lies" if found else "no card lies"
            raise Refused(f"{card}: {many} aside that may be it; another card: --another")
        return found[0]
    for one in (*near, *doubtful):
        where = "" if one.sure else f" in round {state.the_shoe.number}/{number + 1}"
        known = "a card of that face" if one.card == card else "a card of this round"
        raise Refused(f"{card}: {known} {_LIES[one.place]}{where}; {_ANSWERS}", asks="same")
    return None


def _places(state: State, number: int, *, kept: bool) -> list[Claim]:
    """What may be a card of round ``number``, the first drawn first."""
    found = [
        Claim(one.place, i, one.card, one.round == number)
        for i, one in enumerate(state.aside)
        if one.place != LENT and (one.round == number or one.round == number + 1)
    ]
    newest = state.the_shoe.rounds
    if kept and number in (newest, newest - 1):
        # What is kept now was drawn with the newest round, perhaps before its hand began.
        found = [*(Claim(KEPT, i, one.card, number == newest) for i, one in enumerate(state.loose)), *found]
    return found


def _refuse_lent(state: State, number: int, card: Card, *, asked: bool) -> None:
    """One of that round lies in the hand of a later one, which would lose it: it is asked about.

    Of another face too, for the face that it seems to have in its own round may be that of one read wrong.
    ``asked``: one alike lies aside besides; then another face is not asked about.
    """
    for one in state.aside:
        if one.place != LENT or one.round != number or (asked and one.card != card):
            continue
        later = f"{state.the_shoe.number}/{one.at}"
        was = f"{card} was" if one.card == card else f"{card}: a card of this round was"
        besides = " The one that lies aside besides: with --same." if asked else ""
        raise Refused(
            f"{was} reserved and lies in round {later} now; first: void {later}, then again. Another"
            f" card{' of that face' * (one.card == card)}: with --another.{besides}"
        )
