"""What a card does, phase by phase: burned, dealt, kept with a hold, or only written down.

A card that left the shoe is counted once, whatever becomes of it; no card is invented, and none
takes a place that the rule does not give it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablectl import events as ev
from tablectl.cards import Card, Position
from tablectl.clock import SECOND
from tablectl.rules import draws
from tablectl.scanner import Arrived, Label, Scan
from tablectl.table import words
from tablectl.table.claims import Claim
from tablectl.table.evolve import HANDLING
from tablectl.table.holds import another_than_unread
from tablectl.table.repeats import may_come_again
from tablectl.table.rounds import hand_complete, share_reached, watch_shuffle
from tablectl.table.state import Phase, told_by_hand
from tablectl.table.turn import Turn

_HAND = frozenset(Label(position.value) for position in Position)
_NO_HAND = frozenset({Label.OUTSIDE, Label.BURN, Label.BURN_COUNT})
_ANOTHER = "The next card was drawn behind it."


def scan_of(given: Arrived) -> Scan:
    """The scan of an input that is one."""
    assert isinstance(given.item, Scan)
    return given.item


def face_of(card: Card | None) -> str | None:
    """As events write it."""
    return None if card is None else str(card)


def keep(turn: Turn, scan: Scan, code: str, what: str = "", *, means: str = "") -> None:
    """Count the card out, keep it with the hold ``code``, and hold the table: ``means`` as for a hold."""
    turn.emit(ev.ScanKept(card=face_of(scan.card), label=scan.label.value, code=code, **turn.where))
    turn.hold(code, what, seen(scan), means=means)


def seen(scan: Scan) -> dict[str, str]:
    """What a hold may tell of its scan: the bytes only of a card that has no face (it may be burned)."""
    told = {"label": scan.label.value or "none"}
    return told if scan.card is not None else told | {"bytes": scan.raw[:64].hex(" ")}


def impossible(turn: Turn, scan: Scan) -> bool:
    """Hold for a card that the shoe cannot have held. It is kept, so that it can be looked at."""
    problem = turn.shoe.problem(scan.card)
    if problem:
        hidden = not turn.in_round or turn.rules.dealing.deal == "face-down"
        keep(turn, scan, "integrity", "" if hidden else f"This was {problem}.")
    return problem is not None


def card_handled(turn: Turn, given: Arrived) -> None:
    """No shoe is in play: the card is being handled; an error beep, no hold."""
    scan = scan_of(given)
    if turn.state.counting is not None:
        _count(turn, scan)
        return
    why = f"{HANDLING}{turn.state.phase.value}"
    turn.emit(ev.ScanPassed(why=why, card=face_of(scan.card), label=scan.label.value))
    turn.signal("reject")


def _count(turn: Turn, scan: Scan) -> None:
    """The set is being counted: every card passes the scanner once."""
    turn.emit(ev.CardCounted(card=face_of(scan.card)))
    turn.signal("reject" if scan.card is None else "accept")
    if scan.card is None:
        turn.say("That card could not be read: scan it again; if it never can, it is foreign or damaged")


def card_kept(turn: Turn, given: Arrived) -> None:
    """Under a hold a card is kept with it and never assigned by itself.

    A card that is being scanned again, and again cannot be read, is still the same one.
    """
    scan = scan_of(given)
    rescan = turn.state.rescan
    if rescan is not None and not rescan.full:
        _rescanned(turn, scan)
        return
    if scan.card is None and turn.state.unread and not another_than_unread(turn.state, scan.label.value):
        turn.emit(ev.ScanUnread(label=scan.label.value, **turn.where))
    elif not impossible(turn, scan):
        code = "card-early" if _early(turn, given) else turn.state.holds[0].code
        late = _told_before(turn, scan)
        turn.emit(ev.ScanKept(card=face_of(scan.card), label=scan.label.value, code=code, **turn.where))
        if late:
            turn.hold("card-twice", words.LATE)
    turn.signal("reject")


def _rescanned(turn: Turn, scan: Scan) -> None:
    """A card that lies on the table passes the scanner again: it is not counted."""
    if scan.card is None:
        turn.emit(ev.ScanPassed(why="re-scan: not read", label=scan.label.value, **turn.where))
        turn.signal("reject")
        turn.say(words.RESCAN)
        return
    turn.emit(ev.CardRescanned(card=str(scan.card), label=scan.label.value, **turn.where))
    turn.signal("accept")


def card_not_due(turn: Turn, given: Arrived) -> None:
    """A card that nobody was to draw: early, in excess, or with no round in play."""
    scan = scan_of(given)
    if _repeated(turn, scan) or impossible(turn, scan) or _unturned(turn, scan):
        return
    # No face in these messages: the card may become a burn card, or lie face down.
    what = "" if scan.card else "It could not be read."
    if may_come_again(turn.state):
        what = words.UNREAD_AGAIN
    match turn.state.phase, turn.state.last_scan:
        case Phase.BETTING, _:
            keep(turn, scan, "card-early", what)
        case (Phase.COMPLETE, _) | (Phase.IDLE, "result"):
            keep(turn, scan, "overdraw", what)
        case Phase.IDLE, "burn":
            keep(turn, scan, "burn-over", what)
        case _:
            keep(turn, scan, "card-idle", what)


def _repeated(turn: Turn, scan: Scan) -> bool:
    """The shoe tells of a card a second time: same hand, same position, same face, in step.

    Behind its stand-by it is a card of another hand.
    """
    r = turn.state.round
    if r is None or not r.in_step or turn.state.standby or not _lies_there(turn, scan):
        return False
    turn.emit(
        ev.ScanPassed(
            why="repeat: told before", card=face_of(scan.card), label=scan.label.value, **turn.where
        )
    )
    return True


def _no_hand(turn: Turn, scan: Scan) -> str:
    if scan.label is Label.OUTSIDE:
        return "It was drawn while the shoe was out of the game."
    return f"{turn.round.due} is due, the shoe calls it {scan.label.value}."


def _lies_there(turn: Turn, scan: Scan) -> bool:
    """Whether the very card lies at the very position that the shoe gives it."""
    r = turn.state.round
    return r is not None and any(p.value == scan.label.value and c == scan.card for p, c in r.cards.items())


def _told_before(turn: Turn, scan: Scan) -> bool:
    """Whether this may be the late message of a card that people told, or one told before out of step."""
    if _in_step(turn, scan.label):
        return False
    return told_by_hand(turn.state, scan.label.value, scan.card) is not None or (
        scan.card is not None and _lies_there(turn, scan)
    )


def _before_close(turn: Turn, given: Arrived, scan: Scan) -> bool:
    """Hold for a card that was drawn while betting was open, though it is looked at only now."""
    early = _early(turn, given)
    if early:
        keep(turn, scan, "card-early", "It was drawn before the close.")
    return early


def _early(turn: Turn, given: Arrived) -> bool:
    """Whether a card came before the close of its round, whatever else holds the table."""
    r = turn.state.round
    if r is None:
        return False
    return turn.state.phase is Phase.BETTING or (r.closed_boot is not None and given.at.boot < r.closed_boot)


def _unturned(turn: Turn, scan: Scan) -> bool:
    """Hold for a card drawn before the four face-down cards were turned.

    Whether it is the next card or one in excess would tell what lies there.
    """
    r = turn.state.round
    unturned = r is not None and r.to_be_turned
    if unturned:
        keep(turn, scan, "unturned", "First: turn.")
    return unturned


def card_unread(turn: Turn, given: Arrived) -> None:
    """A due card could not be read. Once: it is wanted again and takes the place. Twice: hold."""
    scan = scan_of(given)
    if _before_close(turn, given, scan) or _unturned(turn, scan):
        return
    if turn.in_round and scan.label is Label.OVERDRAW:
        keep(turn, scan, "overdraw", "The shoe calls it a card in excess, and it could not be read.")
        return
    if turn.in_round and scan.label in _NO_HAND:
        keep(turn, scan, "card-conflict", _no_hand(turn, scan))
        return
    if another_than_unread(turn.state, scan.label.value):
        keep(turn, scan, "card-unreadable", _ANOTHER)
        return
    if _told_before(turn, scan):
        keep(turn, scan, "card-twice", words.LATE)
        return
    due = turn.state.round.due if turn.state.round else None
    other = due is not None and scan.label in _HAND and scan.label.value != due.value
    if other and _in_step(turn, scan.label):
        keep(turn, scan, "card-conflict", f"{due} is due, the shoe calls it {scan.label.value}.")
        return
    if turn.state.unread:
        turn.emit(ev.ScanUnread(label=scan.label.value, **turn.where))
        turn.hold("card-unreadable", "It was tried twice.", seen(scan))
        return
    wait = int(turn.rules.dealing.unread_seconds * SECOND)
    turn.emit(ev.ScanUnread(label=scan.label.value, hold_boot=turn.now.boot + wait, **turn.where))
    turn.signal("reject")
    turn.say(words.RESCAN)


def card_dealt(turn: Turn, given: Arrived) -> None:
    """The next card of the hand, if the shoe agrees that it is; else it is kept and the table held."""
    scan, r = scan_of(given), turn.round
    if _repeated(turn, scan) or impossible(turn, scan):
        return
    if _before_close(turn, given, scan) or _unturned(turn, scan):
        return
    due = r.due
    assert due is not None and scan.card is not None
    in_step = _in_step(turn, scan.label)
    if scan.label is Label.OVERDRAW:
        keep(turn, scan, "overdraw", "The shoe calls it a card in excess.")
    elif scan.label in _NO_HAND:
        keep(turn, scan, "card-conflict", _no_hand(turn, scan))
    elif another_than_unread(turn.state, scan.label.value):
        keep(turn, scan, "card-unreadable", _ANOTHER)
    elif _told_before(turn, scan):
        keep(turn, scan, "card-twice", words.LATE)
    elif r.gap_before or (r.gap and not in_step):
        if r.gap_told:
            keep(turn, scan, "card-missed", words.GAP)
        else:
            keep(turn, scan, "card-missed", means=words.UNHEARD)
    elif in_step and scan.label.value != due.value:
        keep(turn, scan, "card-conflict", f"{due} is due, the shoe calls it {scan.label.value}.")
    else:
        source = "rescan" if turn.state.unread else "scanner"
        lay(turn, scan.card, in_step=in_step, source=source)
        turn.signal("accept")
        if turn.state.phase is Phase.COMPLETE:
            hand_complete(turn)


def _in_step(turn: Turn, label: Label) -> bool:
    """Whether the shoe's labels are to be compared from this card on (scanners, section 1, item 5)."""
    return turn.around.traits.names_positions and label is not Label.NONE and turn.state.labels_compared


def deal_reserved(turn: Turn) -> None:
    """Betting is closed: cards that were reserved for this hand are its first ones.

    Under a hold too: a pit boss gave them this place when they were reserved, before any later card.
    """
    state = turn.state
    if not state.reserved or state.phase is not Phase.NO_MORE_BETS:
        return
    while turn.state.reserved and turn.round.due is not None and not turn.round.to_be_turned:
        lay(turn, turn.state.reserved[0], in_step=False, reserved=True)
    if turn.state.phase is Phase.COMPLETE:
        hand_complete(turn)


def lay(
    turn: Turn,
    card: Card,
    *,
    in_step: bool,
    kept: bool = False,
    reserved: bool = False,
    source: str = "scanner",
    approved_by: str | None = None,
    found: Sequence[Claim] = (),
) -> None:
    """Give ``card`` the position that is due, and say what comes next. ``found``: where it lay aside, if it
    did."""
    r = turn.round
    due = r.due
    assert due is not None
    hand = r.player if due.side.value == "player" else r.banker
    open_ = r.turned
    after = _after(turn, due, card)
    # Four face-down cards wait to be turned, whatever is due then.
    waits = after != "none" and (open_ or len(r.player) + len(r.banker) < 3)
    remind = turn.now.boot + int(turn.rules.dealing.due_seconds * SECOND)
    turn.emit(
        ev.CardDealt(
            position=due,
            card=str(card) if open_ else None,
            points=card.points if open_ else None,
            total=(sum(c.points for c in hand) + card.points) % 10 if open_ else None,
            source=source,
            next=after if open_ else None,
            face=None if open_ else str(card),
            kept=kept,
            reserved=reserved,
            in_step=in_step,
            approved_by=approved_by,
            uses=found[0].place if found else None,
            taken=found[0].index if found else None,
            remind_boot=remind if waits else None,
            **turn.where,
        )
    )
    if open_:
        turn.say(words.next_step(turn.round))
    watch_shuffle(turn)
    share_reached(turn)


def _after(turn: Turn, due: Position, card: Card) -> str:
    """Which hand draws after ``card`` lies at ``due``: player, banker or none."""
    r = turn.round
    player = [c.points for c in r.player]
    banker = [c.points for c in r.banker]
    (player if due.side.value == "player" else banker).append(card.points)
    side = draws(player, banker)
    return side.value if side else "none"
