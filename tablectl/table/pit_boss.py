"""The pit boss's commands: ways out of holds, void, ordered burns, and the early end of a shoe.

Who gives them was checked before; each carries a reason.
"""

from __future__ import annotations

from tablectl import events as ev
from tablectl.clock import SECOND
from tablectl.table import words
from tablectl.table.dealer import whole_number
from tablectl.table.dealing import burn as burn_card
from tablectl.table.dealing import lay
from tablectl.table.holds import ACCOUNTS, WAYS, ended_by, offered
from tablectl.table.inputs import Command
from tablectl.table.rounds import (
    end_shoe,
    hand_complete,
    release_after,
    round_over,
    round_refusal,
    void_round,
)
from tablectl.table.state import Phase
from tablectl.table.turn import Refused, Turn

_COMMANDS = frozenset({"void", "shoe end"})


def _by(command: Command) -> tuple[str, str]:
    assert command.person is not None and command.reason is not None
    return command.person, command.reason


def release(turn: Turn, command: Command) -> None:
    """Take one of the ways out that are offered now."""
    action = command.args.get("action", "")
    ways = offered(turn.state)
    if action not in ways or action in _COMMANDS:
        raise Refused(f"{action!r} is no way out now; " + ways_out(ways))
    person, reason = _by(command)
    codes = ended_by(action, turn.state)
    if action not in ACCOUNTS and turn.state.loose:
        raise Refused(f"{len(turn.state.loose)} drawn cards have no place yet; " + ways_out(ways))
    if action == "burn":
        _burn_kept(turn)
    elif action in ACCOUNTS:
        _accept_kept(turn)
        if turn.round.due is None:
            codes = (*codes, "shoe-empty")  # nothing is wanted from the shoe any more
    wanted = turn.now.boot + int(turn.rules.dealing.unread_seconds * SECOND) if turn.state.unread else None
    turn.emit(
        ev.TableReleased(
            action=action,
            reason=reason,
            approved_by=person,
            codes=tuple(h.code for h in turn.state.holds if h.code in codes),
            unread_boot=wanted if all(h.code in codes for h in turn.state.holds) else None,
            **turn.where,
        )
    )
    if turn.state.loose and turn.round.to_be_turned:
        turn.hold("unturned", "First: turn.")
    elif turn.state.loose:
        turn.hold("overdraw", "More cards were kept than the hand takes.")
    turn.answer = f"released: {action}"
    if turn.state.held:
        turn.answer += "; still on hold: " + ", ".join(h.code for h in turn.state.holds)
    elif turn.state.unread:
        turn.say(words.RESCAN)
    elif turn.state.phase is Phase.COMPLETE:
        hand_complete(turn)


def _burn_kept(turn: Turn) -> None:
    """Kept cards are burned; so is a burn card that nobody can read."""
    if not turn.state.loose and turn.state.unread:
        burn_card(turn, None, kept=False)
    while turn.state.loose:
        burn_card(turn, turn.state.loose[0].card, kept=True)


def _accept_kept(turn: Turn) -> None:
    """Kept cards go to the hand in the order they came, as far as the rule gives them a place.

    Face down, as far as the fourth: what comes behind it would tell what lies there.
    """
    while turn.state.loose and turn.round.due is not None and not turn.round.to_be_turned:
        card = turn.state.loose[0].card
        assert card is not None
        lay(turn, card, in_step=False, kept=True)


def ways_out(ways: tuple[str, ...]) -> str:
    """The sentence that lists the ways out."""
    if not ways:
        return "there is none at this moment"
    return "ways out: " + "; ".join(WAYS[way] for way in ways)


def void(turn: Turn, command: Command) -> None:
    """The round in play is void."""
    target = command.args.get("round") or turn.state.where
    if target != turn.state.where:
        raise Refused(f"round {target} is not in play, {turn.state.where} is")
    person, reason = _by(command)
    void_round(turn, reason, person)
    release_after(turn, "void", reason, person)
    round_over(turn)
    if turn.state.shoe is None:
        # It was the shoe's last hand: what outlived the void ends with the shoe.
        release_after(turn, "shoe end", reason, person)
    turn.answer = f"round {target} void"


def burn(turn: Turn, command: Command) -> None:
    """Burn some cards at the pit boss's discretion."""
    count = whole_number(command.args.get("count", ""), 1, 20)
    _order(turn, count, "pit boss")


def burn_error(turn: Turn, command: Command) -> None:
    """The burn after a game error, ordered by the pit boss."""
    count = turn.rules.burn.error
    if not count:
        raise Refused("these house rules burn no card after an error")
    _order(turn, count, "error")


def _order(turn: Turn, count: int, reason: str) -> None:
    if count > turn.shoe.left:
        raise Refused(f"only {turn.shoe.left} cards are left in the shoe")
    turn.emit(ev.BurnsOrdered(shoe=turn.shoe.number, count=count, reason=reason))
    turn.answer = f"burn {count}"


def hand_free(turn: Turn, command: Command) -> None:
    """A hand without wagers: no betting window, published as free."""
    why = round_refusal(turn)
    if why:
        raise Refused(why)
    person, _ = _by(command)
    number = turn.shoe.rounds + 1
    turn.emit(ev.FreeHandOrdered(shoe=turn.shoe.number, round=number, approved_by=person, boot=turn.now.boot))
    turn.answer = f"free hand, round {turn.state.where}"


def shoe_end(turn: Turn, command: Command) -> None:
    """Take the shoe out of play; a round in play (under a hold) is void."""
    person, reason = _by(command)
    number = turn.shoe.number
    if turn.in_round:
        void_round(turn, reason, person)
    codes = ended_by("shoe end", turn.state)
    end_shoe(turn, reason, person)
    if codes:
        turn.emit(
            ev.TableReleased(action="shoe end", reason=reason, approved_by=person, codes=codes, shoe=number)
        )
    turn.answer = f"shoe {number} ended"


def inspect(turn: Turn, command: Command) -> None:
    """The cards were counted by hand; dealer and pit boss attest it."""
    person, reason = _by(command)
    dealer = turn.state.dealer
    method = command.args.get("method", "by-hand")
    if method != "by-hand":
        raise Refused(f"cards are counted by hand here, not {method!r}; --by-hand")
    if dealer is None:
        raise Refused("dealer and pit boss attest the count; first: sign-in NAME")
    turn.emit(ev.InspectionRecorded(method=method, attested_by=(dealer, person), note=reason))
    turn.answer = f"inspection recorded, attested by {dealer} and {person}"
