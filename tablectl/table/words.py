"""The words a dealer calls or is told, in one place."""

from __future__ import annotations

from collections.abc import Iterable

from tablectl.cards import Outcome, Position, Side
from tablectl.table.state import Round

NO_MORE_BETS = "No More Bets"
LAST_HAND = "Last Hand before shuffle"
OUT_OF_STEP = "The shoe is out of step: confirm the result by hand"
GAP = "Perhaps: messages of the shoe are missing, and it is out of step. Compare card by card."
UNHEARD = (
    "After a restart, or with another scanner: perhaps a card was drawn unseen. "
    "Compare with the screen; all there: accept."
)
LOST = (
    "Part of a message of the scanner was lost: look whether a card was drawn that the screen does not show"
)
CARD_MISSED, HOLD = ". If so: hold --because card-missed", ". If so: hold"
LATE = "Perhaps: a card was told by hand, and this may be its own message, come late."
SAME_CARD = "That card was read before: it counts once"
UNSURE = (
    "The scanner cannot tell whether a card came again or another of its face. "
    "Compare with the screen; one more was drawn: same-again."
)
UNREAD_AGAIN = "Perhaps the card of the void round that could not be read: if it is that one, drop."
RESCAN = "The card could not be read: scan it again"

_WINNER = {Outcome.PLAYER: "Player wins", Outcome.BANKER: "Banker wins", Outcome.TIE: "Egalité, tie"}


def totals(r: Round) -> str:
    """Both totals, as they are called: ``Player 5, Banker 3``."""
    player = sum(c.points for c in r.player) % 10
    banker = sum(c.points for c in r.banker) % 10
    return f"Player {player}, Banker {banker}"


def winner(outcome: Outcome) -> str:
    """The announcement of a result."""
    return _WINNER[outcome]


def next_step(r: Round) -> str:
    """What comes next after a card: "Player draws", "Banker draws", "no more cards"."""
    due = r.due
    if due is None:
        return f"{totals(r)}: no more cards"
    if due in (Position.P3, Position.B3):
        stands = "Player stands, " if due is Position.B3 and len(r.player) == 2 else ""
        return f"{totals(r)}: {stands}{due.side.value.capitalize()} draws"
    return f"{'Player' if due.side is Side.PLAYER else 'Banker'}'s card"


def not_empty(left: int) -> str:
    """What a hold says when the shoe calls itself empty, and cannot be."""
    return f"The shoe says that it is empty; {left} cards are not accounted for."


def ways_out(texts: Iterable[str]) -> str:
    """The sentence that lists the ways out."""
    told = "; ".join(texts)
    return f"ways out: {told}" if told else "there is none at this moment"
