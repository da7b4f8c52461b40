"""The pit boss's commands: ways out of holds, void, ordered burns, a free hand, another device.

Who gives them was checked before; each carries a reason.
"""

from __future__ import annotations

from tablectl import events as ev
from tablectl.clock import SECOND
from tablectl.table import words
from tablectl.table.burning import burn as burn_card
from tablectl.table.corrections import drop, take_rescanned
from tablectl.table.dealing import lay
from tablectl.table.holds import ACCOUNTS, RELEASES, WAYS, ended_by, offered, still_to_scan, to_scan
from tablectl.table.inputs import Command
from tablectl.table.rounds import hand_complete, release_after, round_over, round_refusal, void_round
from tablectl.table.settled import void_settled
from tablectl.table.shoes import by, whole_number
from tablectl.table.state import Phase
from tablectl.table.turn import Refused, Turn


def release(turn: Turn, command: Command) -> None:
    """Take one of the ways out that are offered now.

    None that leaves kept cards without a place is offered while there are any, but to give up a re-scan.
    """
    action = command.args.get("action", "")
    ways = offered(turn.state)
    if action == "rescanned" and still_to_scan(turn.state):
        raise Refused(_half_scanned(turn))
    if action not in ways or action not in RELEASES:
        raise Refused(f"{action!r} is no way out now; " + words.ways_out(WAYS[way] for way in ways))
    person, reason = by(command)
    codes = ended_by(action, turn.state)
    if action == "keep" and turn.state.rescan is not None:
        codes = ("rescan",)
    if action == "burn":
        _burn_kept(turn)
    elif action == "next":
        turn.emit(ev.CardsReserved(approved_by=person, **turn.where))
    elif action == "drop":
        drop(turn, command)
        if turn.state.loose:
            codes = tuple(code for code in codes if code == "card-twice")
    elif action in ("rescanned", "fewer"):
        take_rescanned(turn, command)
    elif action in ACCOUNTS:
        _accept_kept(turn)
        if turn.round.due is None:
            codes = (*codes, "shoe-empty")  # nothing is wanted from the shoe any more
    if not turn.shoe_sound:
        codes = tuple(code for code in codes if code != "integrity")
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
    if action == "keep" and "shoe-empty" in codes and turn.shoe.left:
        turn.hold("integrity", words.not_empty(turn.shoe.left))
    if turn.state.loose and (action in ("as-p1", "accept") or not turn.state.held):
        _hold_kept(turn)
    turn.answer = f"released: {action}"
    if action == "drop" and turn.state.burns_due:
        turn.answer += f"; still to be burned: {turn.state.burns_due}"
    if turn.state.held:
        turn.answer += "; still on hold: " + ", ".join(h.code for h in turn.state.holds)
    elif turn.state.unread:
        turn.say(words.RESCAN)
    elif turn.state.phase is Phase.COMPLETE:
        hand_complete(turn)


def _half_scanned(turn: Turn) -> str:
    """A card that was counted is not dropped because nobody scanned it again."""
    state = turn.state
    done, ways = to_scan(state) - still_to_scan(state), offered(state)
    told = words.ways_out(WAYS[way] for way in ("keep", "fewer") if way in ways)
    many = to_scan(state)
    of = f"{done} of the {many} cards of this round were" if many > 1 else "the card was not"
    return f"{of} scanned again: scan {'the rest' if done else 'first'}; {told}"


def _hold_kept(turn: Turn) -> None:
    """Cards are left over that have no place yet."""
    if not turn.in_round:
        turn.hold("called", "Cards were drawn meanwhile.")
    elif turn.round.to_be_turned:
        turn.hold("unturned", "First: turn.")
    else:
        turn.hold("overdraw", "More cards were kept than the hand takes.")


def _burn_kept(turn: Turn) -> None:
    """Kept cards are burned; so is a burn card that nobody can read."""
    due = turn.state.phase is Phase.BURNING
    if not turn.state.loose and turn.state.unread:
        burn_card(turn, None, kept=False)
    burned = excess = 0
    while turn.state.loose:
        burned, excess = burned + 1, excess + (turn.state.burns_due == 0)
        burn_card(turn, turn.state.loose[0].card, kept=True)
    if due and excess:
        turn.hold("burn-wrong", f"{burned - excess} were due, {burned} were burned.")


def _accept_kept(turn: Turn) -> None:
    """Kept cards go to the hand in the order they came, as far as the rule gives them a place.

    Face down, as far as the fourth: what comes behind it would tell what lies there.
    """
    while turn.state.loose and turn.round.due is not None and not turn.round.to_be_turned:
        card = turn.state.loose[0].card
        assert card is not None
        lay(turn, card, in_step=False, kept=True)


def void(turn: Turn, command: Command) -> None:
    """The round in play is void, or one that was settled before."""
    target = command.args.get("round") or turn.state.where
    if not turn.in_round and "round" not in command.args:
        raise Refused("no round is in play; one that was settled before: void SHOE/ROUND")
    if not turn.in_round or target != turn.state.where:
        void_settled(turn, command, target)
        return
    person, reason = by(command)
    void_round(turn, reason, person)
    # Before the release: a shoe that ends with this round remembers what was held against it.
    round_over(turn)
    release_after(turn, "void", reason, person)
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
    due = turn.state.burns_due
    if count > turn.shoe.left - due:
        besides = f", {due} are due to be burned already" if due else ""
        raise Refused(f"only {turn.shoe.left} cards are left in the shoe{besides}")
    turn.emit(ev.BurnsOrdered(shoe=turn.shoe.number, count=count, reason=reason))
    turn.answer = f"burn {count}"


def hand_free(turn: Turn, command: Command) -> None:
    """A hand without wagers: no betting window, published as free."""
    why = round_refusal(turn)
    if why:
        raise Refused(why)
    person, _ = by(command)
    number = turn.shoe.rounds + 1
    turn.emit(ev.FreeHandOrdered(shoe=turn.shoe.number, round=number, approved_by=person, boot=turn.now.boot))
    turn.answer = f"free hand, round {turn.state.where}"


def device_swap(turn: Turn, command: Command) -> None:
    """A dead shoe is replaced: the same cards go on in another device."""
    person, _ = by(command)
    turn.emit(ev.DeviceSwapped(approved_by=person, **turn.where))
    turn.answer = "another device is expected with the same cards"
    if turn.state.phase in (Phase.NO_MORE_BETS, Phase.DEALING, Phase.BURNING) and not turn.state.held:
        turn.hold("device-lost", "Another one takes its place.")
    if turn.state.held:
        turn.answer += "; when it is there, compare the cards, then: release cards-confirmed"
