"""Holds: what each code means in the dealer's words, and the ways out of it.

A hold lies over the phase; deadlines run on and betting closes on time.  Anyone signed in may hold
the table, only a pit boss releases it, and an action that is not offered is refused.  The texts
here are the ones people read.
"""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.table.state import IN_ROUND, Phase, State


@dataclass(frozen=True, slots=True)
class HoldCode:
    """``means``: what happened. ``ways``: the actions that end it, keys of :data:`WAYS`."""

    means: str
    ways: tuple[str, ...]
    survives_void: bool = False


WAYS = {
    "as-p1": "release as-p1: the card stays as the Player's first card",
    "accept": "release accept: the cards kept go to the hand in the order they came",
    "burn": "release burn: the cards kept are burned",
    "keep": "release keep: what the controller has stands",
    "rescan": "release rescan: scan the card again",
    "cards-confirmed": "release cards-confirmed: the cards on the table are those on the screen",
    "resume": "release resume: go on",
    "void": "void: the round is void, its cards stay used",
    "shoe end": "shoe end: the shoe is taken out of play (a round in play is void)",
}
"""Every way out as the console prints it: the command, then what it does."""

HOLDS: dict[str, HoldCode] = {
    "card-early": HoldCode(
        "A card was drawn while betting was open.", ("as-p1", "accept", "burn", "void", "shoe end")
    ),
    "card-idle": HoldCode("A card was drawn when none was due.", ("burn", "shoe end")),
    "burn-over": HoldCode("One burn card too many was drawn.", ("burn", "shoe end")),
    "burn-wrong": HoldCode("The number of burn cards is not right.", ("keep", "shoe end")),
    "card-unreadable": HoldCode(
        "A card could not be read.", ("rescan", "accept", "burn", "void", "shoe end")
    ),
    "unturned": HoldCode(
        "A card was drawn before the four cards were turned.", ("accept", "burn", "void", "shoe end")
    ),
    "card-conflict": HoldCode(
        "The shoe puts a card in another place than the rule.", ("accept", "burn", "keep", "void", "shoe end")
    ),
    "overdraw": HoldCode("A card was drawn in excess of the hand.", ("accept", "burn", "void", "shoe end")),
    "shoe-disagrees": HoldCode("The shoe says another result than the cards.", ("keep", "void", "shoe end")),
    "announce-differs": HoldCode(
        "The dealer announced another result than the cards.", ("keep", "void", "shoe end")
    ),
    "shoe-empty": HoldCode("The shoe is exhausted: no card is left in it.", ("void", "shoe end")),
    "integrity": HoldCode(
        "The cards cannot be right. Take the shoe out of play and count it.",
        ("void", "shoe end"),
        survives_void=True,
    ),
    "device-lost": HoldCode(
        "The scanner was lost; a card may have been drawn unseen.", ("cards-confirmed", "void", "shoe end")
    ),
    "shoe-restarted": HoldCode(
        "The shoe was restarted in the middle of a round.", ("cards-confirmed", "void", "shoe end")
    ),
    "shoe-error": HoldCode("The shoe reports an error.", ("cards-confirmed", "void", "shoe end")),
    "restart": HoldCode(
        "The controller was restarted in the middle of a round.", ("cards-confirmed", "void", "shoe end")
    ),
    "journal": HoldCode(
        "The journal cannot keep up. The table goes on by itself when it can.",
        ("resume", "void", "shoe end"),
    ),
    "called": HoldCode("The table was put on hold.", ("resume", "accept", "burn", "void", "shoe end")),
}
"""Every hold code."""

ACCOUNTS = frozenset({"as-p1", "accept", "burn"})
"""Actions that give the cards kept under a hold their place."""


def offered(state: State) -> tuple[str, ...]:
    """The ways out of the holds now in force, as action names, in the order of :data:`WAYS`."""
    wanted = {way for hold in state.holds for way in HOLDS[hold.code].ways}
    if state.loose:
        wanted |= {"accept", "burn"}
    return tuple(way for way in WAYS if way in wanted and _possible(way, state))


def _possible(way: str, state: State) -> bool:
    codes = {hold.code for hold in state.holds}
    match way:
        case "as-p1":
            return state.phase is Phase.NO_MORE_BETS and _acceptable(state)
        case "accept":
            return _acceptable(state)
        case "burn":
            burnable = state.loose or "overdraw" in codes or (state.unread and state.phase is Phase.BURNING)
            return bool(burnable) and "integrity" not in codes
        case "rescan":
            return state.phase is not Phase.BETTING and not state.loose
        case "void":
            return state.phase in IN_ROUND
        case "shoe end":
            return state.shoe is not None
        case "cards-confirmed":
            return state.scanner_up and not state.loose
        case _:
            return not state.loose


def _acceptable(state: State) -> bool:
    """Whether the cards kept may go to the hand: betting over, faces known, and a card due."""
    if state.phase not in (Phase.NO_MORE_BETS, Phase.DEALING) or state.round is None:
        return False
    if any(hold.code == "integrity" for hold in state.holds):
        return False
    return (
        not state.round.to_be_turned
        and bool(state.loose)
        and all(kept.card is not None for kept in state.loose)
    )


def ended_by(action: str, state: State) -> tuple[str, ...]:
    """The codes of the holds that ``action`` ends."""
    match action:
        case "void":
            return tuple(h.code for h in state.holds if not HOLDS[h.code].survives_void)
        case "shoe end":
            return tuple(h.code for h in state.holds)
        case _:
            return tuple(h.code for h in state.holds if action in HOLDS[h.code].ways)
