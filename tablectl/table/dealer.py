"""The dealer's commands. A refusal names what is missing and the way out, and changes nothing."""

from __future__ import annotations

import dataclasses

from tablectl import events as ev
from tablectl.cards import Outcome
from tablectl.clock import SECOND
from tablectl.odds import hand_result, outcome
from tablectl.table import words
from tablectl.table.holds import BY_HAND
from tablectl.table.inputs import Command
from tablectl.table.rounds import (
    betting_refusal,
    close_betting,
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
    fixed = dict(state.pickups).get(name, pickup)
    if fixed != pickup:
        raise Refused(
            f"{name} picks the cards up {fixed} until the table is closed, so that every hand can be laid out"
            f" again; first: sign-in {name} --pickup {fixed}"
        )
    changes = state.last_dealer != name
    turn.emit(ev.DealerChanged(dealer=name, pickup=pickup, fixed=True, **turn.where))
    turn.answer = f"{name} deals"
    shoe = state.shoe
    due = min(turn.rules.burn.dealer_change, shoe.left) if shoe else 0
    if changes and shoe is not None and shoe.rounds > 0 and due:
        turn.emit(ev.BurnsOrdered(count=due, reason="dealer change", **turn.where))
        turn.answer += f"; burn {due}"


def sign_out(turn: Turn, command: Command) -> None:
    """The dealer leaves the table."""
    if turn.state.dealer is None:
        raise Refused("no dealer is signed in")
    turn.answer = f"{turn.state.dealer} is signed out"
    turn.emit(ev.DealerChanged(**turn.where))


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
            remind_boot=turn.now.boot + int(turn.rules.dealing.due_seconds * SECOND) if due else None,
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
    """Anyone signed in may put the table on hold, for what only a person sees."""
    text, code = command.args.get("text", ""), command.args.get("because") or "called"
    if turn.state.dealer is None and not command.supervisor:
        raise Refused("nobody is signed in; first: sign-in NAME")
    if code not in BY_HAND:
        raise Refused(f"a table is put on hold for {', '.join(BY_HAND)}, not {code[:20]!r}")
    if code != "called" and not turn.on_table:
        raise Refused(f"no hand lies on the table, so it is not {code}; hold it without --because")
    if any(h.code == code for h in turn.state.holds):
        raise Refused(f"the table is on hold {'by call' if code == 'called' else 'for ' + code} already")
    turn.hold(code, text)
    turn.answer = "on hold"


def acknowledge(turn: Turn, command: Command) -> None:
    """A named person has seen an alert."""
    name = command.args.get("alert", "")
    open_ = [alert for alert, _ in turn.state.alerts]
    if name not in open_:
        raise Refused(f"there is no alert {name!r}; open: {', '.join(open_) or 'none'}")
    # A name counts only with its PIN; else it is whoever works the table.
    who = (command.person if command.supervisor else None) or turn.state.dealer
    if who is None:
        raise Refused(
            "nobody is signed in who could have seen it; first: sign-in NAME, or a pit boss: --as NAME"
        )
    turn.emit(ev.AlertAcknowledged(alert=name, acknowledged_by=who, **turn.where))
    turn.answer = f"{name} acknowledged"
