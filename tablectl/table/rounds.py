"""How a round and a shoe come to their end; shared by the handlers of cards, shoe and people."""

from __future__ import annotations

import math

from tablectl import events as ev
from tablectl.clock import SECOND, iso
from tablectl.odds import bet_results, hand_result, outcome
from tablectl.table import words
from tablectl.table.holds import ended_by
from tablectl.table.state import Phase
from tablectl.table.turn import Turn

CUT_PLACE_SLACK = 26
"""A cutting card further than this many cards from its place is an alert."""


def close_betting(turn: Turn, reason: str, at_boot: int) -> None:
    """Betting is closed as of ``at_boot``: the event, the beep and "No More Bets" at once.

    Never later than its deadline, however late a command to close it is looked at.
    """
    deadline = turn.round.deadline
    if deadline is not None:
        at_boot = min(at_boot, deadline)
    # After a restart the deadline is gone (it may be the machine's last run's), the announced end is not.
    closed_at = min(turn.now.wall_at(at_boot), turn.round.deadline_wall)
    turn.emit(ev.BettingClosed(reason=reason, closed_at=iso(closed_at), closed_boot=at_boot, **turn.where))
    turn.signal("close")
    turn.say(words.NO_MORE_BETS)


def hand_complete(turn: Turn) -> None:
    """No card is due any more: announce the result, or wait for who announces it.

    Face-down cards are turned first; under a hold everything waits.
    """
    if turn.state.held or not turn.round.turned:
        return
    confirm = turn.rules.dealing.confirm
    if confirm == "automatic":
        publish_result(turn, "automatic")
        return
    if confirm == "shoe" and turn.round.in_step:
        remind = turn.now.boot + int(turn.rules.dealing.verdict_seconds * SECOND)
        turn.emit(ev.AnnouncementAwaited(remind_boot=remind, **turn.where))
        return
    turn.emit(ev.AnnouncementAwaited(**turn.where))
    if confirm == "shoe":
        turn.say(words.OUT_OF_STEP)


def publish_result(turn: Turn, confirmed_by: str) -> None:
    """The announcement: the result event, with how each bet ends; then the shoe's own end, if due."""
    r, rules = turn.round, turn.rules
    player, banker = hand_result(r.player), hand_result(r.banker)
    result = outcome(player, banker)
    opens = rules.betting.opens == "automatic" and turn.shoe.last_round != r.number
    turn.emit(
        ev.RoundResulted(
            outcome=result,
            player=player,
            banker=banker,
            bets={} if r.free else bet_results(player, banker, rules.payouts),
            confirmed_by=confirmed_by,
            free=r.free,
            auto_open_boot=turn.now.boot + int(rules.betting.pause * SECOND) if opens else None,
            **turn.where,
        )
    )
    turn.say(f"{words.winner(result)}: {words.totals(r)}")
    round_over(turn)


def void_round(turn: Turn, reason: str, approved_by: str) -> None:
    """The round in play is void; its cards stay used. Kept cards were counted and need no place now."""
    if turn.state.phase is Phase.BETTING:
        close_betting(turn, "void", turn.now.boot)
    count_unread(turn)
    faces = {position.value: str(card) for position, card in turn.round.cards.items()}
    shown = faces if turn.round.turned else dict.fromkeys(faces, "?")
    hidden = None if turn.round.turned else faces
    turn.emit(ev.RoundVoided(reason=reason, cards=shown, approved_by=approved_by, faces=hidden, **turn.where))


def count_unread(turn: Turn) -> None:
    """A card that could not be read and that nobody will scan again: it left the shoe all the same."""
    if turn.state.unread:
        turn.emit(ev.ScanKept(card=None, label="", code="card-unreadable", **turn.where))


def release_after(turn: Turn, action: str, reason: str, approved_by: str) -> None:
    """End the holds that ``action`` ends, if there are any."""
    codes = ended_by(action, turn.state)
    if codes:
        turn.emit(
            ev.TableReleased(action=action, reason=reason, approved_by=approved_by, codes=codes, **turn.where)
        )


def round_over(turn: Turn) -> None:
    """After a result or a void: the shoe ends with its last hand, or the last hand is announced."""
    shoe = turn.shoe
    if shoe.last_round is None:
        return
    if shoe.rounds >= shoe.last_round:
        end_shoe(turn, "last hand dealt")
    elif not shoe.announced:
        announce_last_hand(turn)


def announce_last_hand(turn: Turn) -> None:
    """Tell everybody which hand is the last."""
    turn.emit(ev.LastHandAnnounced(shoe=turn.shoe.number, round=turn.shoe.last_round))
    turn.say(words.LAST_HAND)


def end_shoe(turn: Turn, reason: str, approved_by: str | None = None) -> None:
    """The shoe is out of play; burn faces are told now."""
    count_unread(turn)
    shoe = turn.shoe
    codes = {hold.code for hold in turn.state.holds}
    # The shoe itself said that it is empty: what we did not see of a set that can be right is gone.
    gone = shoe.left > 0 and shoe.sound and not shoe.unknown and bool(codes & {"shoe-empty", "integrity"})
    turn.emit(
        ev.ShoeEnded(
            shoe=shoe.number,
            reason=reason,
            rounds=shoe.rounds,
            dealt=shoe.out - len(shoe.burned),
            burned=shoe.burned,
            missing=shoe.unseen() if gone else (),
            extra=shoe.excess(),
            approved_by=approved_by,
            left=shoe.left,
            integrity=True if gone or not shoe.sound else None,
        )
    )


def cutting_card(turn: Turn, by: str) -> None:
    """The cutting card is out for the first time (by scanner, dealer, or the share rule)."""
    shoe, rules = turn.shoe, turn.rules.shoe
    turn.emit(ev.CutCardDrawn(by=by, out=shoe.out, **turn.where))
    expected = rules.cards - rules.cutting_card
    if rules.share is None and abs(shoe.out - expected) > CUT_PLACE_SLACK:
        turn.alert(
            "cutting-card-place",
            f"The cutting card came after {shoe.out} cards, its place is after {expected}.",
        )
    before_first_card = turn.state.phase not in (Phase.DEALING, Phase.COMPLETE)
    if before_first_card or rules.hands_after_cut == 0:
        announce_last_hand(turn)


def share_reached(turn: Turn) -> None:
    """The share rule acts as a cutting card at the card that reaches it."""
    if turn.state.shoe is None or turn.shoe.cut is not None:
        return
    at = turn.rules.shoe.share_card
    if at is not None and turn.shoe.out >= at:
        cutting_card(turn, "share")


def watch_shuffle(turn: Turn) -> None:
    """Alert the pit when the latest cards do not look shuffled; never a void by itself."""
    if any(name == "unshuffled" for name, _ in turn.state.alerts):
        return
    why = turn.shoe.unshuffled()
    if why:
        turn.alert("unshuffled", f"The shoe does not look shuffled: {why}.")


def betting_refusal(turn: Turn) -> str | None:
    """Why betting may not open now, in words with the way out, or None."""
    why = round_refusal(turn)
    if why is None and turn.rules.betting.link_required and turn.around.link_why:
        why = f"the game server's link is not good: {turn.around.link_why}"
    if why is None and turn.rules.betting.beeper_ack and any(a == "beeper" for a, _ in turn.state.alerts):
        why = "the beeper cannot be heard: announce by voice; first: ack beeper"
    return why


def round_refusal(turn: Turn) -> str | None:
    """Why no round of any kind may begin now, or None."""
    if turn.state.dealer is None:
        return "no dealer is signed in; first: sign-in NAME"
    if turn.shoe.left < 6:
        return f"only {turn.shoe.left} cards are left in the shoe; a pit boss ends it: shoe end"
    if not turn.state.scanner_up:
        return f"the scanner is not there ({turn.state.scanner_why})"
    if turn.around.journal_why:
        return f"the journal is not safe: {turn.around.journal_why}"
    return None


def open_betting(turn: Turn) -> None:
    """A new round number, and the betting window with its deadline."""
    seconds = turn.rules.betting.seconds
    deadline = turn.now.boot + math.ceil(seconds * SECOND)
    turn.emit(
        ev.BettingOpened(
            shoe=turn.shoe.number,
            round=turn.shoe.rounds + 1,
            seconds=seconds,
            closes_at=iso(turn.now.wall_at(deadline)),
            deadline_boot=deadline,
            deadline_wall=turn.now.wall_at(deadline),
        )
    )
