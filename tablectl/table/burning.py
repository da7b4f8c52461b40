"""Burn cards: each counted out of the shoe, and the first one's value where the house burns by it."""

from __future__ import annotations

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.scanner import Arrived, Label
from tablectl.table import words
from tablectl.table.dealing import face_of, impossible, keep, scan_of
from tablectl.table.rounds import share_reached, watch_shuffle
from tablectl.table.state import told_by_hand
from tablectl.table.turn import Turn

_BURN_LABELS = frozenset({Label.NONE, Label.BURN, Label.BURN_COUNT, Label.OUTSIDE})


def card_burned(turn: Turn, given: Arrived) -> None:
    """A burn card; one that the shoe names as a hand's card is counted burned and holds."""
    scan = scan_of(given)
    if impossible(turn, scan):
        return
    if told_by_hand(turn.state, scan.label.value, scan.card):
        keep(turn, scan, "card-twice", words.LATE)
        return
    burn(turn, scan.card, kept=False, label=scan.label.value)
    around = turn.around.traits
    if around.names_positions and around.burn_frames != "game" and scan.label not in _BURN_LABELS:
        turn.hold("card-conflict", f"A burn card was due, the shoe calls it {scan.label.value}.")


def burn(turn: Turn, card: Card | None, *, kept: bool, label: str = "") -> None:
    """Burn one card: a due one, or one kept with a hold."""
    state = turn.state
    # What was ordered besides the first card's value comes behind it.
    left = max(0, state.burns_due - 1)
    if state.burn_first_card and card is not None:
        left += card.points or 10
    turn.emit(
        ev.CardBurned(
            shoe=turn.shoe.number,
            reason=state.burn_reason if state.burns_due else "error",
            left=left,
            shoe_left=turn.shoe.left - (0 if kept else 1),
            card=face_of(card),
            kept=kept,
            label=label,
        )
    )
    watch_shuffle(turn)
    share_reached(turn)
    if state.burn_first_card and card is None:
        turn.hold("burn-wrong", "The first card's value is not known; then: burn N.")
