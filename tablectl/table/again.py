"""The same card again: one read twice, two of one face, or a card with a number of its own.

A card with a tag of its own (RFID) is in the shoe once. Whether it was drawn already, lies on the table to
be scanned again, or is being counted, only the table knows: what the scanner says of it is put right here. A
card that the scanner knows and the table does not may be a stray of another pack, so people are asked.
"""

from __future__ import annotations

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.scanner import Arrived, DeviceEvent, DeviceKind, Label, Scan
from tablectl.table.burning import card_burned
from tablectl.table.dealing import card_dealt, card_kept, card_not_due
from tablectl.table.inputs import Command
from tablectl.table.state import Phase, State
from tablectl.table.turn import Refused, Turn


def by_tag(state: State, given: Arrived) -> Arrived:
    """What a card with a tag is to this table: a card, one it has (``BOUNCE`` with the tag), or unsure."""
    item = given.item
    match item:
        case Scan(card=Card() as card, tag=tag) if tag:
            new = True
        case DeviceEvent(kind=DeviceKind.BOUNCE, card=Card() as card, tag=tag) if tag:
            new = False
        case _:
            return given
    rescan, passed = state.rescan, state.tags
    if rescan is not None and not rescan.full:
        new, passed = True, rescan.tags
    elif state.counting is not None:
        new = True
    elif state.shoe is None:
        passed = ()
    if tag in passed:
        item = DeviceEvent(DeviceKind.BOUNCE, item.raw, card=card, tag=tag)
    elif new:
        item = Scan(card, Label.NONE, item.raw, tag)
    else:
        item = DeviceEvent(DeviceKind.BOUNCE, item.raw, card=card, unsure=True)
    return Arrived(item, given.at)


def remember(turn: Turn, before: State, given: Arrived) -> None:
    """Write down the tag of a card that was taken, whatever it became."""
    if not isinstance(given.item, Scan) or not given.item.tag:
        return
    rescan, was = turn.state.rescan, before.rescan
    again = rescan is not None and was is not None and len(rescan.cards) > len(was.cards)
    if again or _taken(turn.state) > _taken(before):
        turn.emit(ev.CardTagged(tag=given.item.tag, again=again, **turn.where))


def _taken(state: State) -> int:
    of = state.shoe or state.counting
    return 0 if of is None else of.out


def same_again(turn: Turn, command: Command) -> None:
    """The card which was taken for one read twice is another of the same face: it does what a card does."""
    card = turn.state.bounced
    if card is None:
        raise Refused("the scanner told of no card read twice since the last card; an extra card: hold")
    again = Arrived(Scan(card, Label.NONE, b""), command.at)
    if turn.state.held:
        card_kept(turn, again)
    elif turn.state.phase is Phase.BURNING:
        card_burned(turn, again)
    elif turn.state.phase is Phase.DEALING:
        card_dealt(turn, again)
    else:
        card_not_due(turn, again)
    turn.answer = "counted as a second card"
