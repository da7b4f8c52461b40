"""Two equal cards in a row, of which the scanner told as of one that was read twice."""

from __future__ import annotations

from tablectl.scanner import Arrived, Label, Scan
from tablectl.table.burning import card_burned
from tablectl.table.dealing import card_dealt, card_kept, card_not_due
from tablectl.table.inputs import Command
from tablectl.table.state import Phase
from tablectl.table.turn import Refused, Turn


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
