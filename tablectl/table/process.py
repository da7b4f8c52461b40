"""What the process itself tells the table: its start, the journal's room, and troubles outside the game."""

from __future__ import annotations

from tablectl import events as ev
from tablectl.table.inputs import Input, JournalFilled, Started, Trouble
from tablectl.table.rounds import close_betting, hand_complete
from tablectl.table.state import Phase
from tablectl.table.turn import Turn


def started(turn: Turn, given: Started) -> None:
    """A process begins on this journal: open betting is closed, an open round or burn is held."""
    r = turn.state.round
    deadline = r.deadline if r is not None else None
    turn.emit(ev.ControllerStarted(version=given.version, **turn.where))
    if turn.state.phase is Phase.BETTING:
        close_betting(turn, "restart", turn.now.boot if deadline is None else min(turn.now.boot, deadline))
    if turn.in_round or turn.state.phase is Phase.BURNING:
        turn.hold("restart", "Compare the cards on the table with the screen.")
    if given.mended:
        turn.alert("journal-mended", f"At the start: {given.mended}.")
        if given.lost and turn.state.shoe is not None and not turn.state.held:
            # A hand that began may be among what was lost.
            turn.hold("called", "The newest entries were lost: compare the cards on the table.")


def trouble(turn: Turn, given: Trouble) -> None:
    """Something outside the game that people must know."""
    there = any(alert == given.code for alert, _ in turn.state.alerts)
    if there or given.news != "over":
        turn.alert(given.code, given.message, anew=given.news != "first")


def journal_full(turn: Turn, given: JournalFilled) -> None:
    """What happens can hardly be written down any more: nothing new may begin."""
    turn.hold("journal")


def journal_back(turn: Turn, given: JournalFilled) -> None:
    """The journal has caught up: that hold, and only that one, ends by itself."""
    if not any(hold.code == "journal" for hold in turn.state.holds):
        return
    if turn.state.loose:
        turn.hold("called", "Cards were drawn meanwhile.")
    turn.emit(
        ev.TableReleased(
            action="resume",
            reason="the journal has caught up",
            approved_by="controller",
            codes=("journal",),
            **turn.where,
        )
    )
    if turn.state.phase is Phase.COMPLETE and not turn.state.held:
        hand_complete(turn)


def nothing(turn: Turn, given: Input) -> None:
    """Time alone: its deadlines are decided already."""
