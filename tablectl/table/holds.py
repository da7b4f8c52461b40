"""Holds: what each code means in the dealer's words, and the ways out of it.

A hold lies over the phase; deadlines run on and betting closes on time.  Anyone signed in may hold
the table, only a pit boss releases it, and an action that is not offered is refused.  The texts
here are the ones people read.
"""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.cards import Position
from tablectl.table.repeats import repeat
from tablectl.table.state import HAND, IN_ROUND, Phase, State


@dataclass(frozen=True, slots=True)
class HoldCode:
    """``means``: what happened. ``ways``: the actions that end it, keys of :data:`WAYS`.

    ``by_hand``: only a person sees it and says so (``hold --because CODE``).
    """

    means: str
    ways: tuple[str, ...]
    survives_void: bool = False
    by_hand: bool = False


WAYS = {
    "as-p1": "release as-p1: the card stays as the Player's first card",
    "accept": "release accept: the cards kept go to the hand in the order they came",
    "next": "release next: the cards kept are the first ones of the next round",
    "burn": "release burn: the cards kept are burned",
    "drop": "release drop: one card was read twice, the repeat is taken out of hand and count",
    "keep": "release keep: what the screen shows stands",
    "rescan": "release rescan: scan the card again",
    "rescanned": "release rescanned: the cards just scanned again are the right ones",
    "fewer": "release fewer: no more cards lie there than those scanned again",
    "cards-confirmed": "release cards-confirmed: the cards on the table are those on the screen",
    "resume": "release resume: go on",
    "turn": "turn: the four cards that lie face down are turned",
    "rescan hand": "rescan hand: scan all cards on the table again, in the order they were drawn",
    "correct": "correct POSITION CARD: that card lies there, not what was read (kept cards are K1, K2 …)",
    "insert": "insert POSITION CARD: that card lies there and was not read; later ones move up",
    "move": "move POSITION POSITION: a card stands in the wrong place of the order",
    "enter": "enter POSITION CARD: the card that is due, entered by hand",
    "amend": "amend SHOE/ROUND POSITION=CARD: a card of an earlier round was read wrong",
    "burn done": "burn done N: so many burn cards were drawn that the scanner did not see",
    "device swap": "device swap: another device reads the same cards from here on",
    "void": "void: the round is void, its cards stay used",
    "shoe end": "shoe end: the shoe is taken out of play (a round in play is void)",
}
"""Every way out as the console prints it: the command, then what it does."""

RELEASES = frozenset(way for way, text in WAYS.items() if text.startswith("release "))
"""The ways that are actions of ``release``; the others are commands of their own."""

_REPAIR = ("rescan hand", "correct", "insert", "move")
_END = ("void", "shoe end")
_DEVICE = ("cards-confirmed", *_REPAIR, "enter", "burn done", "device swap", *_END)

HOLDS: dict[str, HoldCode] = {
    "card-early": HoldCode(
        "A card was drawn while betting was open.",
        ("as-p1", "accept", "burn", "drop", "keep", "correct", "insert", *_END),
    ),
    "card-idle": HoldCode("A card was drawn when none was due.", ("burn", "drop", "shoe end")),
    "burn-over": HoldCode("One burn card too many was drawn.", ("burn", "drop", "keep", "shoe end")),
    "burn-wrong": HoldCode("The number of burn cards is not right.", ("keep", "burn done", "shoe end")),
    "card-unreadable": HoldCode(
        "A card could not be read.", ("rescan", "enter", "accept", "burn", "correct", *_END)
    ),
    "card-missed": HoldCode(
        "A card was drawn and not read.", ("keep", "accept", *_REPAIR, "enter", *_END), by_hand=True
    ),
    "card-twice": HoldCode("One card was read twice.", ("drop", "keep", *_REPAIR, *_END), by_hand=True),
    "two-cards": HoldCode(
        "Two cards were drawn at once; their order must be certain, on video.",
        ("keep", "accept", *_REPAIR, *_END),
        by_hand=True,
    ),
    "unturned": HoldCode(
        "A card was drawn before the four cards were turned.",
        ("turn", "accept", "burn", "drop", "keep", "correct", *_END),
    ),
    "card-conflict": HoldCode(
        "The shoe puts a card in another place than the rule.",
        ("accept", "burn", "drop", "keep", *_REPAIR, *_END),
    ),
    "overdraw": HoldCode(
        "A card was drawn in excess of the hand.",
        ("accept", "next", "burn", "drop", *_REPAIR, *_END),
    ),
    "shoe-disagrees": HoldCode("The shoe says another result than the cards.", ("keep", *_REPAIR, *_END)),
    "announce-differs": HoldCode(
        "The dealer announced another result than the cards.", ("keep", *_REPAIR, *_END)
    ),
    "shoe-empty": HoldCode("The shoe is exhausted: no card is left in it.", ("keep", "correct", *_END)),
    "integrity": HoldCode(
        "The cards cannot be right. Was one read wrong? Else take the shoe out of play and count it.",
        ("keep", *_REPAIR, "drop", "amend", *_END),
        survives_void=True,
    ),
    "device-lost": HoldCode("The scanner was lost; a card may have been drawn unseen.", _DEVICE),
    "shoe-restarted": HoldCode("The shoe was restarted in the middle of a round.", _DEVICE),
    "shoe-error": HoldCode("The shoe reports an error.", _DEVICE),
    "restart": HoldCode("The controller was restarted in the middle of a round.", _DEVICE),
    "rescan": HoldCode("Cards on the table are being scanned again.", ("rescanned", "fewer", "keep", *_END)),
    "journal": HoldCode(
        "The journal cannot keep up. The table goes on by itself when it can.", ("resume", *_END)
    ),
    "called": HoldCode(
        "The table was put on hold.",
        ("resume", "accept", "burn", "drop", *_REPAIR, "enter", "burn done", *_END),
    ),
}
"""Every hold code."""

BY_HAND = ("called", *(code for code, hold in HOLDS.items() if hold.by_hand))
"""What a person may put the table on hold for."""

ACCOUNTS = frozenset({"as-p1", "accept", "next", "burn", "drop"})
"""Actions that give the cards kept under a hold their place."""


def offered(state: State) -> tuple[str, ...]:
    """The ways out of the holds now in force, as action names, in the order of :data:`WAYS`."""
    wanted = {way for hold in state.holds for way in _ways(hold.code, state)}
    if state.loose:
        wanted |= {"accept", "burn", "correct", "move"}
    if state.unread and "insert" in wanted:
        wanted.add("enter")  # the card that could not be read is no other than the one due
    if state.round is not None and state.round.to_be_turned:
        wanted.add("turn")  # a hold does not keep anybody from it
    return tuple(way for way in WAYS if way in wanted and _possible(way, state))


def _ways(code: str, state: State) -> tuple[str, ...]:
    """The ways out of one hold; an empty shoe keeps no complete hand from its result, but any other one."""
    ways = HOLDS[code].ways
    stands = state.phase is Phase.COMPLETE and state.round is not None and state.round.turned
    # One burn card too many is burned; once an amendment has found it in a hand, nothing is left to do.
    keeps = not state.loose if code == "burn-over" else stands or code != "shoe-empty"
    return ways if keeps else tuple(way for way in ways if way != "keep")


_CHANGES_THE_HAND = frozenset({"as-p1", "accept", "drop", "correct", "insert", "move", "enter"})


def _possible(way: str, state: State) -> bool:
    if state.shoe is None or state.rules is None:
        return way in ("keep", "resume")
    sound = state.shoe.sound
    if state.rescan is not None and way in _CHANGES_THE_HAND:
        return False  # what is being scanned again must still lie where it lay
    match way:
        case "as-p1":
            return state.phase is Phase.NO_MORE_BETS and _acceptable(state) and not _called_later(state)
        case "accept":
            return _acceptable(state)
        case "next":
            return _may_be_next(state)
        case "burn":
            return sound and _burnable(state)
        case "drop":
            return repeat(state) is not None
        case "rescan":
            return state.phase is not Phase.BETTING and not state.loose
        case "rescanned":
            return state.rescan is not None and bool(state.rescan.cards) and not still_to_scan(state)
        case "fewer":
            return state.rescan is not None and bool(state.rescan.cards) and still_to_scan(state) > 0
        case "rescan hand":
            return state.scanner_up and state.rescan is None and _on_table(state)
        case "correct":
            return bool(state.loose) or _in_hand(state) > 0
        case "move":
            return len(state.loose) > 1 or (_in_hand(state) > 0 and _in_hand(state) + len(state.loose) > 1)
        case "insert":
            return _on_table(state)
        case "enter":
            return enterable(state)
        case "turn":
            return state.round is not None and state.round.to_be_turned
        case "burn done":
            return state.phase is Phase.BURNING and not state.loose
        case "void":
            return state.phase in IN_ROUND or void_is_the_rule(state)
        case "amend":
            return bool(state.settled[0])
        case "device swap" | "shoe end":
            return True
        case "cards-confirmed":
            return (state.scanner_up or state.nothing_due) and not state.loose and sound
        case "keep" if state.rescan is not None:
            return True  # it gives up the scanning; what else holds the table goes on holding it
        case _:
            return not state.loose and sound


def to_scan(state: State) -> int:
    """How many cards are to be scanned again: all that are known to be drawn, or the one that is named."""
    if state.rescan is None:
        return 0
    if state.rescan.what != HAND:
        return 1
    return _in_hand(state) + len(state.loose) + bool(state.unread)


def still_to_scan(state: State) -> int:
    """How many of them were not yet: those would be lost to the count."""
    return max(0, to_scan(state) - len(state.rescan.cards)) if state.rescan is not None else 0


def _on_table(state: State) -> bool:
    """Whether cards of a hand may lie on the table: betting is over and the result not out."""
    return state.phase in (Phase.NO_MORE_BETS, Phase.DEALING, Phase.COMPLETE)


def _in_hand(state: State) -> int:
    r = state.round
    return 0 if r is None or not _on_table(state) else len(r.player) + len(r.banker)


def enterable(state: State) -> bool:
    """Whether the card that is due may be entered by hand: nothing kept comes before it."""
    r = state.round
    return (
        state.phase in (Phase.NO_MORE_BETS, Phase.DEALING)
        and r is not None
        and not r.to_be_turned
        and (not state.loose or state.unread > 0)
    )


def another_than_unread(state: State, label: str) -> bool:
    """Whether the shoe says that this is not the card it could not read: it gives it another place.

    In step or not: where the first of them lies the shoe may not know; that they are two, it does.
    """
    places = tuple(Position)
    return (
        state.unread > 0 and label in places and state.unread_label in places and label != state.unread_label
    )


def _begun_later(state: State) -> bool:
    """Whether the first card kept is no first card: behind its stand-by the shoe calls it a later one."""
    r = state.round
    if not state.loose or not state.loose[0].begins or r is None or r.due is not Position.P1:
        return False
    return _called_later(state)


def _called_later(state: State) -> bool:
    """Whether the shoe calls the first card kept another than the Player's first."""
    return bool(state.loose) and state.loose[0].label in tuple(Position)[1:]


def _acceptable(state: State) -> bool:
    """Whether the cards kept may go to the hand: betting over, faces known, and a card due."""
    if state.phase not in (Phase.NO_MORE_BETS, Phase.DEALING) or state.round is None:
        return False
    if not state.the_shoe.sound:
        return False
    if state.the_rules.dealing.early_card == "burn" and any(k.code == "card-early" for k in state.loose):
        return False
    if state.loose and another_than_unread(state, state.loose[0].label):
        return False
    if _begun_later(state):
        return False
    return (
        not state.round.to_be_turned
        and bool(state.loose)
        and all(kept.card is not None for kept in state.loose)
    )


def _overdrawn(state: State) -> bool:
    """Whether the house's rule for a card in excess of a hand decides over the cards kept."""
    codes = {hold.code for hold in state.holds}
    return "overdraw" in codes and state.phase in (Phase.COMPLETE, Phase.IDLE) and bool(state.loose)


def _may_be_next(state: State) -> bool:
    if not _overdrawn(state) or state.the_rules.dealing.overdraw != "next":
        return False
    shoe = state.the_shoe
    more = shoe.last_round is None or shoe.rounds < shoe.last_round
    return more and shoe.sound and all(kept.card is not None for kept in state.loose)


def void_is_the_rule(state: State) -> bool:
    """Whether the house voids a round for a card in excess, and the round's result is out already."""
    return (
        _overdrawn(state)
        and state.the_rules.dealing.overdraw == "void"
        and state.phase is Phase.IDLE
        and bool(state.settled[0])
        and not _void_already(state)
    )


def _void_already(state: State) -> bool:
    """Whether the round that was settled last is void: it cannot be void once more for another card."""
    return any(f"{shoe}/{number}" == state.settled[0] and not rev for shoe, number, rev in state.revisions)


def _burnable(state: State) -> bool:
    codes = {hold.code for hold in state.holds}
    if state.unread and state.phase is Phase.BURNING:
        return True
    if _overdrawn(state):
        if state.the_rules.dealing.overdraw == "void":
            return state.phase is Phase.IDLE and not void_is_the_rule(state)
        return not _may_be_next(state)
    return bool(state.loose) or "overdraw" in codes


def ended_by(action: str, state: State) -> tuple[str, ...]:
    """The codes of the holds that ``action`` ends."""
    match action:
        case "void":
            return tuple(h.code for h in state.holds if not HOLDS[h.code].survives_void)
        case "shoe end":
            return tuple(h.code for h in state.holds)
        case "rescanned" | "fewer" if state.rescan is not None and state.rescan.what == HAND:
            # All cards on the table were read again: whatever was in doubt about them is settled.
            settled = {"rescan", *(c for c, hold in HOLDS.items() if "rescan hand" in hold.ways)}
            return tuple(
                h.code for h in state.holds if h.code in settled - {"called", "overdraw", "integrity"}
            )
        case _:
            return tuple(h.code for h in state.holds if action in _ways(h.code, state))
