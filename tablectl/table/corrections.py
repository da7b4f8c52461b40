"""Setting the hand in play right: correct, insert, move, enter, and scanning cards again.

A person says what lies on the table; then all cards of the hand are dealt anew by order under the
rule.  What no longer belongs to the hand is kept as drawn in excess, a missing card becomes due, and
each physical card keeps its count (house rules, section 5).  None of this ends a hold by itself,
for the next card may be wrong too: that takes a release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tablectl import events as ev
from tablectl.cards import Card, Position, Side
from tablectl.rules import deal, draws
from tablectl.shoe import Shoe
from tablectl.table import words
from tablectl.table.aside import newest, surplus
from tablectl.table.claims import Claim, answer, claim
from tablectl.table.dealing import lay
from tablectl.table.evolve_round import UNREAD
from tablectl.table.holds import enterable, offered
from tablectl.table.inputs import Command
from tablectl.table.repeats import ASIDE, BURNED_AS_DUE, burned_twice, repeat, unread_again
from tablectl.table.rounds import hand_complete
from tablectl.table.state import HAND, KEPT, RESERVED, told_by_hand
from tablectl.table.turn import Refused, Turn

_FACE_DOWN = 4
"""Cards of a hand before it is turned."""


# --- dealing anew ---------------------------------------------------------------------------------------


def redeal(
    turn: Turn,
    cards: Sequence[Card],
    kept: Sequence[Card | None],
    how: str,
    command: Command,
    claims: Sequence[Claim] = (),
) -> None:
    """The hand is these ``cards`` in the order they were drawn, and these are ``kept`` besides.

    ``claims``: where some of them lay aside until now. What was reserved behind the hand as it was is kept
    with the hold again, unless it is still what comes behind it. Raises :class:`Refused` when the shoe cannot
    have held them.
    """
    r = turn.round
    most = len(cards) if r.turned else _FACE_DOWN
    laid, rest = deal(cards[:most])
    excess = (*rest, *cards[most:])
    back = [
        Claim(one.place, i, one.card)
        for i, one in enumerate(turn.state.aside)
        if one.place == RESERVED and i not in {taken.index for taken in claims}
    ]
    player, banker = ([card for at, card in laid.items() if at.side is side] for side in Side)
    side = draws([c.points for c in player], [c.points for c in banker])
    if not back or not r.turned or (side is None and not excess):
        back = []
    kept = (*excess, *(one.card for one in back), *kept)
    claims = (*claims, *back)
    before = [*r.dealt, *(loose.card for loose in turn.state.loose), *(one.card for one in claims)]
    check_possible(turn.shoe, turn.shoe.recount(before, [*laid.values(), *kept]))
    assert command.person is not None and command.reason is not None
    unread = turn.state.unread and how != "rescan"
    turn.emit(
        ev.HandCorrected(
            before=_told(r.cards, shown=r.turned),
            after=_told(laid, shown=r.turned),
            reason=command.reason,
            approved_by=command.person,
            next=(side.value if side else "none") if r.turned else None,
            how=how,
            player=tuple(map(str, player)),
            banker=tuple(map(str, banker)),
            kept=tuple(UNREAD if card is None else str(card) for card in kept),
            uses=tuple(one.place for one in claims),
            taken=tuple(one.index for one in claims),
            **turn.where,
        )
    )
    if turn.round.turned:
        turn.say(words.next_step(turn.round))
    if unread and turn.round.due is None:
        turn.emit(ev.ScanKept(card=None, label="", code="overdraw", **turn.where))
        turn.hold("overdraw", "A card could not be read, and the hand is complete without it.")
    if excess and turn.round.to_be_turned:
        turn.hold("unturned", "First: turn.")
    elif excess:
        turn.hold("overdraw", "It no longer belongs to the hand.")
    elif back:
        turn.hold("overdraw", "A card reserved for the next round may be one of this hand.")


def _told(cards: dict[Position, Card], *, shown: bool) -> dict[str, str]:
    return {position.value: str(card) if shown else UNREAD for position, card in cards.items()}


def check_possible(before: Shoe, after: Shoe) -> None:
    """Refuse what makes a shoe impossible that was not so before; a way back is always open."""
    worse = Counter(after.excess()) - Counter(before.excess())
    if worse:
        face = next(iter(worse))
        copy = after.counts[Card.parse(face).number]
        raise Refused(
            f"that would be copy {copy} of {face} in a shoe of {after.decks} decks; look at the cards again,"
            " an earlier one may have been read wrong"
        )
    if after.out > max(after.size, before.out):
        raise Refused(f"that would be card {after.out} from a shoe of {after.size} cards")


# --- what was typed --------------------------------------------------------------------------------------


def _again(turn: Turn) -> str:
    """How the table goes on after a correction: by the way out that says the screen is right, if any."""
    ways = offered(turn.state)
    if turn.state.loose:
        return "; cards are kept, they need their place first"
    found = [way for way in ("keep", "cards-confirmed", "resume") if way in ways]
    return f"; when the screen is right, a pit boss releases the table: release {found[0]}" if found else ""


def _card(command: Command) -> Card:
    try:
        return Card.parse(command.args.get("card", ""))
    except ValueError as error:
        raise Refused(str(error)) from None


def _kept_place(turn: Turn, text: str) -> int | None:
    """The place, from 1, that ``K1``, ``K2`` … names; None for anything else."""
    if text[:1] != "K" or not (text[1:].isascii() and text[1:].isdigit() and len(text) <= 4):
        return None
    place, kept = int(text[1:]), len(turn.state.loose)
    if not 1 <= place <= kept:
        raise Refused(f"there is no kept card {text}; kept are: {_kept_names(kept)}")
    return place


def _kept_names(count: int) -> str:
    return ", ".join(f"K{i}" for i in range(1, count + 1)) or "none"


def _in_hand(turn: Turn, text: str) -> int:
    """The index in deal order of the card at a position. Raises :class:`Refused`."""
    if not turn.on_table:
        raise Refused(
            f"{text[:10]!r}: no hand lies on the table; kept cards are: " + _kept_names(len(turn.state.loose))
        )
    laid = [position.value for position in turn.round.cards]
    if text not in laid:
        raise Refused(f"no card lies at {text[:10]!r}; cards lie at: {', '.join(laid) or 'none'}")
    return laid.index(text)


def _kept(turn: Turn) -> list[Card | None]:
    return [loose.card for loose in turn.state.loose]


# --- the pit boss ------------------------------------------------------------------------------------------


def correct(turn: Turn, command: Command) -> None:
    """A card was read wrong: another one lies there. Its count goes from the one face to the other."""
    card, text = _card(command), command.args.get("position", "")
    place = _kept_place(turn, text)
    if place is not None:
        was = turn.state.loose[place - 1].card
        if was == card:
            raise Refused(f"{text} is that card already")
        check_possible(turn.shoe, turn.shoe.exchange(was, card))
        assert command.person is not None
        turn.emit(
            ev.KeptNamed(
                place=place,
                before=None if was is None else str(was),
                card=str(card),
                approved_by=command.person,
                **turn.where,
            )
        )
        turn.answer = f"{text} is named"
        return
    at = _in_hand(turn, text)
    cards = list(turn.round.dealt)
    if cards[at] == card:
        raise Refused(f"{text} is that card already")
    cards[at] = card
    redeal(turn, cards, _kept(turn), "correct", command)
    turn.answer = f"{text} corrected{_again(turn)}"


def insert(turn: Turn, command: Command) -> None:
    """A card was drawn and not read: it takes its place in the order, the later ones move up."""
    card, text = _card(command), command.args.get("position", "")
    cards = list(turn.round.dealt)
    due = turn.round.due
    if due is not None and text == due.value and not turn.round.to_be_turned:
        if turn.state.unread:
            raise Refused(f"{text} is the card that could not be read; enter it: enter {text} CARD")
        at = len(cards)
    else:
        at = _in_hand(turn, text)
    cards.insert(at, card)
    found, kept = _aside(turn, card, command, kept=True), _kept(turn)
    if found and found[0].place == KEPT:
        kept.pop(found[0].index)
    redeal(turn, cards, kept, "insert", command, [one for one in found if one.place != KEPT])
    _ask_about_kept(turn)
    turn.answer = f"inserted at {text}{_moved(found)}{_again(turn)}"


def move(turn: Turn, command: Command) -> None:
    """A card stands in the wrong place of the order: it goes to the other, those between move up or down."""
    text, to_text = command.args.get("position", ""), command.args.get("to", "")
    place, to = _kept_place(turn, text), _kept_place(turn, to_text)
    if text == to_text:
        raise Refused(f"{text[:10]} is there already")
    if place is not None and to is not None:
        assert command.person is not None
        turn.emit(ev.KeptMoved(place=place, to=to, approved_by=command.person, **turn.where))
        turn.answer = f"{text} moved to {to_text}"
        return
    if to is not None:
        raise Refused(
            "a card of the hand leaves it only by the rule: insert or correct what is wrong, or void"
        )
    at = _in_hand(turn, to_text)
    cards, kept = list(turn.round.dealt), _kept(turn)
    if place is not None:
        card = kept.pop(place - 1)
        if card is None:
            raise Refused(f"{text} could not be read; first: correct {text} CARD")
        cards.insert(at, card)
    else:
        cards.insert(at, cards.pop(_in_hand(turn, text)))
    redeal(turn, cards, kept, "move", command)
    turn.answer = f"{text} moved to {to_text}{_again(turn)}"


def enter(turn: Turn, command: Command) -> None:
    """The card that is due, told by a person: the scanner did not read it, or is dead."""
    card, text = _card(command), command.args.get("position", "")
    state = turn.state
    if state.dealer is None:
        raise Refused("dealer and pit boss enter a card together; first: sign-in NAME")
    if not enterable(state):
        raise Refused("no card can be entered now: cards are kept that came before it, or none is due")
    due = turn.round.due
    assert due is not None and command.person is not None and command.reason is not None
    if text != due.value:
        raise Refused(f"{due} is due, not {text[:10]!r}")
    found = _aside(turn, card, command)
    after = turn.shoe.recount([one.card for one in found], [card])
    check_possible(turn.shoe, after)
    lay(turn, card, in_step=False, source="manual", approved_by=command.person, found=found)
    _ask_about_kept(turn)
    turn.answer = f"{due} entered{_moved(found)}"
    if not turn.state.loose and any(h.code == "card-unreadable" for h in turn.state.holds):
        turn.emit(
            ev.TableReleased(
                action="enter",
                reason=command.reason,
                approved_by=command.person,
                codes=("card-unreadable",),
                **turn.where,
            )
        )
    if turn.state.held:
        turn.answer += _again(turn) if turn.state.nothing_due else f"; next: {words.next_step(turn.round)}"
    elif turn.state.nothing_due:
        hand_complete(turn)


def _aside(turn: Turn, card: Card, command: Command, *, kept: bool = False) -> tuple[Claim, ...]:
    """Where a card that is told of the round in play lay aside until now, if it did. Raises
    :class:`Refused`."""
    said = answer(command)
    found = claim(turn.state, turn.round.number, card, said, kept=kept)
    if found is not None and turn.state.unread and said is None:
        raise Refused(
            f"{card}: a card of this round that lies aside has that face, and another one could not be read;"
            " if it is the one aside, again with --same; if it is the unread one, with --another",
            asks="same",
        )
    return () if found is None else (found,)


def _moved(found: Sequence[Claim]) -> str:
    """That a card was not counted again, and why."""
    return "".join(f"; it was {one.place} before and is counted once" for one in found)


def _ask_about_kept(turn: Turn) -> None:
    """A card that was kept may be the very one which is told by hand now."""
    if any(told_by_hand(turn.state, kept.label, kept.card) for kept in turn.state.loose):
        turn.hold("card-twice", words.LATE)


# --- scanning again ----------------------------------------------------------------------------------------


def rescan(turn: Turn, command: Command) -> None:
    """The dealer scans cards again that lie on the table; a pit boss says whether they are the right ones."""
    what = command.args.get("what") or "last"
    if turn.state.dealer is None and not command.supervisor:
        raise Refused("nobody is signed in; first: sign-in NAME")
    if turn.state.rescan is not None:
        raise Refused("cards are being scanned again already; a pit boss ends it: release rescanned, or keep")
    if not turn.state.scanner_up:
        raise Refused(f"the scanner is not there ({turn.state.scanner_why}); a pit boss can: correct, enter")
    laid = [position.value for position in turn.round.cards]
    if what == "last":
        if not laid:
            raise Refused("no card lies on the table")
        what = laid[-1]
    if what != HAND:
        _in_hand(turn, what)
    turn.emit(ev.RescanBegan(what=what, **turn.where))
    if what == HAND:
        turn.hold("rescan", "All cards of this round, in the order they were drawn.")
        turn.answer = "scan all cards of this round again, in the order they were drawn"
    else:
        turn.hold("rescan", f"The card at {what}.")
        turn.answer = f"scan the card at {what} again"
    turn.answer += "; then a pit boss: release rescanned"


def take_rescanned(turn: Turn, command: Command) -> None:
    """What was scanned again is what lies on the table."""
    rescan = turn.state.rescan
    assert rescan is not None and rescan.cards
    cards, kept = list(turn.round.dealt), _kept(turn)
    if rescan.what == HAND:
        cards, kept = list(rescan.cards), []
    else:
        cards[_in_hand(turn, rescan.what)] = rescan.cards[0]
    if cards != list(turn.round.dealt) or kept != _kept(turn) or (turn.state.unread and rescan.what == HAND):
        try:
            found = _scanned_aside(turn, cards, command) if rescan.what == HAND else ()
            redeal(turn, cards, kept, "rescan" if rescan.what == HAND else "correct", command, found)
        except Refused as refusal:
            told = f"{refusal}; give this scanning up: release keep, then scan again"
            raise Refused(told, refusal.asks) from None


def _scanned_aside(turn: Turn, cards: Sequence[Card], command: Command) -> tuple[Claim, ...]:
    """Where the cards lay aside that are more than the table knew on it. Raises :class:`Refused`."""
    known = [*turn.round.dealt, *_kept(turn)]
    more, said = len(cards) - len(known), answer(command)
    # What is there by its face first, then from the last card on, which is the likeliest to have lain aside.
    alike = [one.card for one in turn.state.aside if one.round == turn.round.number]
    new = [card for card in surplus(cards, known) if card is not None][::-1]
    new.sort(key=lambda card: card not in alike)
    found: list[Claim] = []
    for card in new[: max(0, more)]:
        one = claim(turn.state, turn.round.number, card, said, found)
        found += [] if one is None else [one]
    return tuple(found)


def drop(turn: Turn, command: Command) -> None:
    """One card was read twice: the repeat is taken back out of hand and count, wherever it lies.

    If the first read gave no face, the card has the face of the second one from here on.
    """
    state, person = turn.state, command.person
    place = repeat(state)
    if place is None:
        raise Refused(
            "the last two cards read are not the same; a card is never dropped. See the other ways out"
        )
    assert person is not None
    again, burned = unread_again(state), burned_twice(state)
    if again is not None:
        burned = len(state.burn_run) - 1
        if (card := state.the_shoe.drawn[-1]) is not None:
            turn.emit(ev.UnreadNamed(card=str(card), taken=again, approved_by=person, **turn.where))
    if place == KEPT:
        turn.emit(ev.CardDropped(approved_by=person, **turn.where))
    elif place == BURNED_AS_DUE:
        # Once bets were open the burn is over, and one card short.
        due = state.burns_due + 1 if state.round is None else 0
        turn.emit(ev.CardDropped(approved_by=person, burned=burned, left=due, **turn.where))
    elif place == ASIDE:
        turn.emit(ev.CardDropped(approved_by=person, taken=newest(state), **turn.where))
    else:
        redeal(turn, turn.round.dealt[:-1], (), "drop", command)
