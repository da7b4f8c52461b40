"""The dealer's commands. A refusal names what is missing and the way out, and changes nothing."""

from __future__ import annotations

import dataclasses

from tablectl import events as ev
from tablectl.cards import Outcome
from tablectl.odds import hand_result, outcome
from tablectl.table import checkpoint, words
from tablectl.table.device import note
from tablectl.table.inputs import Command
from tablectl.table.rounds import (
    betting_refusal,
    close_betting,
    cutting_card,
    hand_complete,
    open_betting,
    publish_result,
)
from tablectl.table.turn import Refused, Turn


def open_table(turn: Turn, command: Command) -> None:
    """Open the table under the configured house rules."""
    rules = turn.around.rules
    limits = rules.limits
    turn.emit(
        ev.TableOpened(
            rules=rules.name,
            currency=limits.currency,
            limits={bet: dataclasses.asdict(limit) for bet, limit in limits.bets.items()},
            max_winnings=dict(limits.max_winnings),
            profile=rules.as_dict(),
        )
    )
    turn.answer = f"table open, rules {rules.name}"


def close_table(turn: Turn, command: Command) -> None:
    """Close it; where the house wants it, the cards are counted first."""
    state = turn.state
    if state.count_due or (turn.rules.shoe.inspection and state.shoe_since_open and not state.inspected):
        raise Refused("the cards are to be counted before closing; first: shoe inspect --by-hand")
    turn.emit(ev.TableClosed())
    turn.answer = "table closed"


def sign_in(turn: Turn, command: Command) -> None:
    """A dealer takes over. On a shoe that was played, a change of dealer burns a card."""
    name, pickup = command.args.get("name", ""), command.args.get("pickup", "")
    if not name:
        raise Refused("a name is needed: sign-in NAME --pickup left|right")
    if pickup not in ("left", "right"):
        raise Refused(f"the pick-up direction is left or right, not {pickup!r}")
    state = turn.state
    if state.dealer == name:
        raise Refused(f"{name} is signed in already")
    changes = state.last_dealer != name
    turn.emit(ev.DealerChanged(dealer=name, pickup=pickup, **turn.where))
    turn.answer = f"{name} deals"
    shoe = state.shoe
    due = turn.rules.burn.dealer_change
    if changes and shoe is not None and shoe.rounds > 0 and due:
        turn.emit(ev.BurnsOrdered(count=due, reason="dealer change", **turn.where))
        turn.answer += f"; burn {due}"


def sign_out(turn: Turn, command: Command) -> None:
    """The dealer leaves the table."""
    if turn.state.dealer is None:
        raise Refused("no dealer is signed in")
    turn.answer = f"{turn.state.dealer} is signed out"
    turn.emit(ev.DealerChanged(**turn.where))


def shoe_new(turn: Turn, command: Command) -> None:
    """Start a shoe: the next number, the rules it is dealt under, and its burn cards."""
    state = turn.state
    rules = turn.around.rules
    if state.dealer is None:
        raise Refused("no dealer is signed in; first: sign-in NAME")
    if rules.shoe.inspection and not state.shoe_since_open and not state.inspected:
        raise Refused("the cards are to be inspected before the first shoe; first: shoe inspect --by-hand")
    if rules.burn.scanned and not state.scanner_up:
        raise Refused(f"the scanner is not there ({state.scanner_why}); a card drawn now would be lost")
    if state.count_due:
        raise Refused("the last shoe's cards could not be right; count them first: shoe inspect --by-hand")
    number = state.shoes + 1
    turn.emit(
        ev.ShoeStarted(
            shoe=number,
            decks=rules.shoe.decks,
            rules=rules.as_dict(),
            rules_hash=rules.digest,
            note=command.args.get("note") or None,
            carry=checkpoint.take(state),
        )
    )
    turn.answer = f"shoe {number}"
    due = rules.burn.due_after_shuffle
    if due:
        first = rules.burn.by == "first-card"
        turn.emit(ev.BurnsOrdered(shoe=number, count=due, reason="shuffle", first_card=first))
        turn.answer += "; burn the first card and its value" if first else f"; burn {due}"


def burn_done(turn: Turn, command: Command) -> None:
    """Burn cards that do not pass the scanner, told by the dealer; their faces stay unknown."""
    count = whole_number(command.args.get("count", ""), 1, 30)
    state = turn.state
    due, first_card = state.burns_due, state.burn_first_card
    if turn.rules.burn.scanned:
        raise Refused("burn cards pass the scanner at this table; scan them")
    if count > turn.shoe.left:
        raise Refused(f"only {turn.shoe.left} cards are left in the shoe")
    for i in range(1, count + 1):
        # By the first card's value only the dealer saw how many: what is told is all of them.
        left = count - i if first_card else max(0, due - i)
        turn.emit(
            ev.CardBurned(
                shoe=turn.shoe.number, reason=state.burn_reason, left=left, shoe_left=turn.shoe.left - 1
            )
        )
    turn.answer = f"{count} burned"
    if turn.state.burns_due:
        turn.answer += f", {turn.state.burns_due} still due"
    elif not first_card and count > due:
        turn.hold("burn-wrong", f"{due} were due, {count} were burned.")


def whole_number(text: str, low: int, high: int) -> int:
    """A plain number in a range. Raises :class:`Refused`."""
    if not (text.isascii() and text.isdigit() and len(text) <= 6 and low <= int(text) <= high):
        raise Refused(f"a number from {low} to {high} is needed, not {text[:20]!r}")
    return int(text)


def bets_open(turn: Turn, command: Command) -> None:
    """Open betting for a new round."""
    why = betting_refusal(turn)
    if why:
        raise Refused(why)
    open_betting(turn)
    turn.answer = f"betting open, round {turn.state.where}, {turn.rules.betting.seconds:g} s"


def bets_close(turn: Turn, command: Command) -> None:
    """Close betting early."""
    close_betting(turn, "command", turn.now.boot)
    turn.answer = f"betting closed, round {turn.state.where}"


def cut_card(turn: Turn, command: Command) -> None:
    """The dealer announces the cutting card; the shoe's own report of it is the same card."""
    cut = turn.shoe.cut
    if cut is None:
        cutting_card(turn, "dealer")
        last = turn.shoe.last_round
        turn.answer = f"cutting card noted; the last hand is round {turn.shoe.number}/{last}"
    else:
        note(turn, "cut-card by command", "the cutting card, already noted")
        turn.answer = "the cutting card is noted already"


def turn_cards(turn: Turn, command: Command) -> None:
    """Face-down cards are turned: only now may anybody see them."""
    r = turn.round
    if r.turned:
        raise Refused("the cards lie face up already")
    if len(r.player) < 2 or len(r.banker) < 2:
        raise Refused("four cards are dealt before they are turned")
    due = r.due
    turn.emit(
        ev.HandTurned(
            player=tuple(map(str, r.player)),
            banker=tuple(map(str, r.banker)),
            next=due.side.value if due else "none",
            **turn.where,
        )
    )
    turn.say(words.next_step(turn.round))
    turn.answer = words.totals(turn.round)
    if due is None:
        hand_complete(turn)


def confirm(turn: Turn, command: Command) -> None:
    """The dealer announces the result. Another outcome than the cards' holds before it is published."""
    r = turn.round
    if not r.turned:
        raise Refused("the cards are face down; first: turn")
    ours = outcome(hand_result(r.player), hand_result(r.banker))
    said = command.args.get("outcome") or ours.value
    if said not in tuple(Outcome):
        raise Refused(f"an outcome is player, banker or tie, not {said!r}")
    if said != ours.value:
        turn.hold("announce-differs", f"Announced {said}, the cards say {ours.value}: {words.totals(r)}.")
        turn.answer = f"on hold: announced {said}, the cards say {ours.value}"
        return
    where = turn.state.where
    publish_result(turn, "dealer")
    turn.answer = f"round {where}: {ours.value}"


def hold(turn: Turn, command: Command) -> None:
    """Anyone signed in may put the table on hold."""
    text = command.args.get("text", "")
    if turn.state.dealer is None and not command.supervisor:
        raise Refused("nobody is signed in; first: sign-in NAME")
    if any(h.code == "called" for h in turn.state.holds):
        raise Refused("the table is on hold by call already")
    turn.hold("called", text)
    turn.answer = "on hold"


def acknowledge(turn: Turn, command: Command) -> None:
    """A named person has seen an alert."""
    name = command.args.get("alert", "")
    open_ = [alert for alert, _ in turn.state.alerts]
    if name not in open_:
        raise Refused(f"there is no alert {name!r}; open: {', '.join(open_) or 'none'}")
    # A name counts only with its PIN; else it is whoever works the table.
    who = (command.person if command.supervisor else None) or turn.state.dealer or "the console"
    turn.emit(ev.AlertAcknowledged(alert=name, acknowledged_by=who, **turn.where))
    turn.answer = f"{name} acknowledged"
