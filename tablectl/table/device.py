"""What the shoe says besides cards, and what becomes of the shoe itself.

The shoe's opinions are checked against the cards, never believed alone; nothing it says starts a
round or a shoe.
"""

from __future__ import annotations

from tablectl import events as ev
from tablectl.cards import Card
from tablectl.odds import hand_result, outcome
from tablectl.scanner import (
    Arrived,
    DeviceEvent,
    DeviceKind,
    Discarded,
    ErrorKind,
    Item,
    Reject,
    Scan,
    ScannerLost,
    ScannerRestored,
)
from tablectl.table import words
from tablectl.table.rounds import cutting_card, end_shoe, publish_result
from tablectl.table.state import Phase
from tablectl.table.turn import Turn


def _event(given: Arrived) -> DeviceEvent:
    assert isinstance(given.item, DeviceEvent)
    return given.item


def note(turn: Turn, kind: str, text: str, *, ends_step: bool = False) -> None:
    """Write down what the shoe said."""
    turn.emit(ev.DeviceNoted(kind=kind, text=text, ends_step=ends_step, **turn.where))


def cut_seen(turn: Turn, given: Arrived) -> None:
    """The shoe reports the cutting card; its second report is the card behind the last one."""
    cut = turn.shoe.cut
    if cut is None:
        cutting_card(turn, "scanner")
    elif not cut.by_scanner:
        note(turn, "cut-card", "the cutting card, already announced")
    elif turn.in_round and not (turn.state.phase is Phase.COMPLETE and turn.round.turned):
        turn.hold("shoe-empty")
    elif turn.shoe.left:
        # By our count it cannot be: nobody ends a shoe in silence with cards not accounted for.
        turn.hold("integrity", words.not_empty(turn.shoe.left))
    elif turn.in_round:
        note(turn, "cut-card", "the shoe is empty; the hand is complete")
    elif turn.state.held:
        turn.hold("shoe-empty")
    else:
        end_shoe(turn, "the shoe is empty")


def verdict(turn: Turn, given: Arrived) -> None:
    """The result button with the hand complete: it confirms, or it holds the table."""
    said, r = _event(given), turn.round
    text = verdict_text(said)
    if not r.turned:
        # Whatever it says would tell the hidden faces.
        note(turn, "verdict", f"{text}; the cards are face down")
        turn.say("The cards are face down; first: turn")
        return
    if not r.in_step:
        note(turn, "verdict", f"{text}; not compared")
        turn.say(words.OUT_OF_STEP)
        return
    player, banker = hand_result(r.player), hand_result(r.banker)
    ours = (outcome(player, banker), player.pair, banker.pair)
    note(turn, "verdict", text)
    if (said.outcome, said.player_pair, said.banker_pair) != ours:
        mine = ours[0].value + _pairs(player.pair, banker.pair)
        saw = {"label": text, "bytes": said.raw[:64].hex(" ")}
        turn.hold("shoe-disagrees", f"The shoe says {text}, the cards say {mine}.", saw)
    elif turn.rules.dealing.confirm == "shoe":
        publish_result(turn, "shoe")


def verdict_text(said: DeviceEvent) -> str:
    """``player, player pair`` and so on."""
    return (said.outcome.value if said.outcome else "nothing") + _pairs(said.player_pair, said.banker_pair)


def _pairs(player: bool, banker: bool) -> str:
    return (", player pair" if player else "") + (", banker pair" if banker else "")


def verdict_afterwards(turn: Turn, given: Arrived) -> None:
    """The result is out and stands until amended: agreeing is ignored, disagreeing is an alert."""
    said = _event(given)
    note(turn, "verdict", verdict_text(said))
    ours, pairs = turn.state.last_outcome, turn.state.last_pairs
    if ours is not None and (said.outcome, (said.player_pair, said.banker_pair)) != (ours, pairs):
        turn.alert(
            "shoe-disagrees",
            f"The shoe says {verdict_text(said)} after a result of {ours.value}{_pairs(*pairs)};"
            " the result stands.",
        )


def verdict_too_soon(turn: Turn, given: Arrived) -> None:
    """The button was pressed before the hand is complete."""
    said = verdict_text(_event(given))
    if not turn.round.turned:
        note(turn, "verdict", f"{said}; the cards are face down")
        turn.say("The cards are face down; first: turn")
    else:
        # In step or not: it is the dealer's button, and a dealer who sees a whole hand may see a card more.
        note(turn, "verdict", f"{said}; too soon")
        turn.hold("shoe-disagrees", "Its result button was pressed and the hand is not complete.")


def forced_end(turn: Turn, given: Arrived) -> None:
    """The shoe gave the round up; a person decides what becomes of it."""
    note(turn, "forced-end", "the shoe ended the round by force", ends_step=True)
    turn.hold("shoe-disagrees", "It ended the round by force.")


def standby(turn: Turn, given: Arrived) -> None:
    """Between rounds; in the middle of a hand the shoe is out of step."""
    note(turn, "standby", "stand-by", ends_step=turn.state.phase is Phase.DEALING)


def shoe_restarted(turn: Turn, given: Arrived) -> None:
    """The start signal never starts a shoe: an alert between rounds, a hold in a round."""
    expected = turn.state.swapped
    note(turn, "started", "start of communication", ends_step=True)
    if expected:
        return  # the device that was put in place of the dead one
    if turn.in_round:
        turn.hold("shoe-restarted")
    else:
        turn.alert("shoe-restarted", "The shoe was restarted; the shoe in play goes on.")


def shoe_error(turn: Turn, given: Arrived) -> None:
    """An error of the shoe, in its own words."""
    said = _event(given)
    note(turn, "error", said.text, ends_step=True)
    turn.say(f"The shoe reports: {said.text}")
    if said.error is ErrorKind.BUTTON:
        return  # the dealer does the rest
    if said.error is ErrorKind.UNREAD and _told_unread(turn):
        return  # the card concerned does
    if said.error is ErrorKind.OVERDRAW:
        if turn.in_round or turn.state.last_scan == "result":
            turn.hold("overdraw", "The shoe says so.")
    elif turn.in_round or turn.state.phase is Phase.BURNING:
        turn.hold("shoe-error", said.text, {"label": "error", "bytes": said.raw[:64].hex(" ")})
    else:
        turn.alert("shoe-error", f"The shoe reports an error: {said.text}")


def _told_unread(turn: Turn) -> bool:
    """Whether the card is known of which the shoe says that it could not read it.

    If not, its message was lost, and the next card would take its place.
    """
    return turn.state.unread > 0 or any(kept.card is None for kept in turn.state.loose)


def shoe_note(turn: Turn, given: Arrived) -> None:
    """Lock, setting, cleared error, gap, notice: written down.

    A gap is an alert only where labels are compared: if a card was lost in it, the next one does not follow
    and holds. In a hand in which they are not, or are no more when the next card comes, only people can see
    whether a card is missing. A doubt waits for that next card.
    """
    said = _event(given)
    if said.kind is DeviceKind.BOUNCE and said.card is not None:
        _bounced(turn, said, said.card)
        return
    if said.kind is DeviceKind.DOUBT and turn.state.round is None:
        return  # a card missing now is none of a hand
    note(turn, said.kind.value, said.text)
    if said.kind is DeviceKind.GAP:
        turn.alert("scanner-gap", f"Messages of the shoe are missing: {said.text}")
        r = turn.state.round
        in_hand = r is not None and turn.state.phase in (Phase.NO_MORE_BETS, Phase.DEALING)
        # Not while four cards lie face down: whether a card is due then would tell what they are.
        if in_hand and not turn.state.labels_compared and not turn.round.to_be_turned:
            turn.hold("card-missed", words.GAP)
    if said.kind is DeviceKind.BURN_COUNT:
        _compare_burn_count(turn, said.number)


def first_heard(turn: Turn, item: Item) -> None:
    """The first message of a process or of a device: one before it may be lost, and no number tells."""
    match item:
        case Reject() | DeviceEvent(kind=DeviceKind.NOTICE):
            return  # noise says nothing of what came before
        case _:
            pass
    if turn.state.unheard and turn.around.traits.names_positions:
        note(turn, "doubt", "the first message from here on: what came before is not known")


def _bounced(turn: Turn, said: DeviceEvent, card: Card) -> None:
    """One card, by the time between its reads; only who saw them drawn can know that there were two.

    By its own number it is one without a doubt. No face in the words: it may be burned, or lie face down.
    """
    if said.tag:
        text = "a card was read again: by its own number it is the same card"
        turn.emit(ev.DeviceNoted(kind="same-card", text=text, card=str(card), **turn.where))
        turn.say(words.SAME_CARD)
        return
    text = "a card was read twice and is taken as one"
    turn.emit(ev.DeviceNoted(kind="bounce", text=text, card=str(card), **turn.where))
    if turn.state.bounced is None:
        return
    if said.unsure:
        turn.hold("card-missed", means=words.UNSURE)
    else:
        turn.say("A card was read twice: taken as one. If two equal cards were drawn: same-again")


def _compare_burn_count(turn: Turn, shoe_expects: int | None) -> None:
    """A shoe counts burns by the first card's value; only where the house does too can they differ."""
    state = turn.state
    if state.phase is not Phase.BURNING or turn.rules.burn.by != "first-card" or state.burn_first_card:
        return
    due = state.burns_due - sum(count for count, _ in state.burns_behind)
    if shoe_expects is not None and shoe_expects != due:
        turn.alert(
            "burn-count",
            f"The shoe expects {shoe_expects} burn cards, the house rules {due}.",
        )


def rejected(turn: Turn, given: Arrived) -> None:
    """Bytes that mean nothing: written down with their reason, an error beep, nothing changes.

    If part of a message is lost, only who saw the cards drawn can know whether it was one.
    """
    assert isinstance(given.item, Reject)
    turn.emit(ev.ScanPassed(why=f"rejected: {given.item.reason}", **turn.where))
    turn.signal("reject")
    if given.item.lost and turn.state.shoe is not None:
        way = "" if turn.state.held else words.CARD_MISSED if turn.on_table else words.HOLD
        turn.say(words.LOST + way)


def discarded(turn: Turn, given: Discarded) -> None:
    """What waited in the line before the scanner was ready is never played."""
    match given.item:
        case Scan(card=card, label=label):
            turn.emit(
                ev.ScanPassed(
                    why="discarded: from before the scanner was ready",
                    card=None if card is None else str(card),
                    label=label.value,
                    **turn.where,
                )
            )
            turn.alert("scan-discarded", "A card came before the scanner was ready; it does not count.")
        case DeviceEvent(text=text, kind=kind):
            note(turn, "discarded", f"{kind.value} {text}".strip())
            if kind is DeviceKind.CUT_CARD:
                turn.alert(
                    "cut-card-discarded",
                    "The cutting card was told before the scanner was ready. If it is out: cut-card",
                )
        case Reject(reason=reason):
            turn.emit(ev.ScanPassed(why=f"discarded: {reason}", **turn.where))


def scanner_lost(turn: Turn, given: ScannerLost) -> None:
    """The hand is frozen, never voided; betting closes on time all the same."""
    turn.emit(ev.ScannerLost(reason=given.reason, **turn.where))
    if turn.in_round or turn.state.phase is Phase.BURNING:
        turn.hold("device-lost", given.reason)
    turn.alert("scanner-lost", f"The scanner is lost: {given.reason}")


def scanner_restored(turn: Turn, given: ScannerRestored) -> None:
    """It is back; what lies on the table is still to be confirmed by a person.

    Another device in its place may read other cards: nobody but a pit boss puts it there (``device swap``).
    """
    before = turn.state.device
    turn.emit(ev.ScannerRestored(identity=given.identity, where=given.where, **turn.where))
    turn.say("The scanner is ready")
    if before and given.where and given.identity != before:
        turn.alert(
            "scanner-changed",
            f"Another scanner is in place of the one before: {given.identity}, at {given.where};"
            f" it was {before}.",
        )
