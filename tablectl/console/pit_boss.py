"""What the pit boss's commands ask before they can be given; each ends with reason, name and PIN."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tablectl.console import flows
from tablectl.console.dialog import CardEntry, Choice, Entry, Flow, Order, at_any_time
from tablectl.console.language import Language
from tablectl.console.past import Past
from tablectl.console.questions import (
    OTHER,
    a_number,
    a_place,
    an_earlier_round,
    approved,
    free_text,
    named,
    pin_of,
    pit_boss_name,
)
from tablectl.console.seen import POSITIONS, Seen

WHICH = "Which card lies at {place}?"


def release(action: str, does: str, seen: Seen, past: Past) -> Flow:
    """A way out of a hold."""
    return (
        yield from approved(
            "release", {"action": action}, seen.words("Release: {what}.", what=does), seen, past
        )
    )


def plain(command: str, would: str, seen: Seen, past: Past) -> Flow:
    """A command of the pit boss's with nothing to ask besides."""
    return (yield from approved(command, {}, seen.words(would), seen, past))


def correct(seen: Seen, past: Past) -> Flow:
    """A card was read wrong."""
    w = seen.words
    place = yield from a_place(w("Which card was read wrong?"), seen.places, seen)
    card = yield CardEntry(w(WHICH, place=place))
    would = w("Correct {place} to {card}; all cards are dealt anew by the rule.", place=place, card=card)
    return (yield from approved("correct", {"position": place, "card": card}, would, seen, past))


def insert(seen: Seen, past: Past) -> Flow:
    """A card lies there that was not read."""
    w = seen.words
    place = yield from a_place(w("Where does the card lie that was not read?"), POSITIONS, seen)
    card = yield CardEntry(w(WHICH, place=place))
    would = w("Insert {card} at {place}; the cards behind it move on by the rule.", card=card, place=place)
    return (yield from approved("insert", {"position": place, "card": card}, would, seen, past))


def move(seen: Seen, past: Past) -> Flow:
    """A card stands in the wrong place of the order."""
    w = seen.words
    place = yield from a_place(w("Which card stands in the wrong place?"), seen.places, seen)
    others = tuple(other for other in (*POSITIONS, *seen.places[-9:]) if other != place)
    to = yield from a_place(w("Where does {place} belong?", place=place), tuple(dict.fromkeys(others)), seen)
    would = w("Move {place} to {to}; all cards are dealt anew by the rule.", place=place, to=to)
    return (yield from approved("move", {"position": place, "to": to}, would, seen, past))


def enter(seen: Seen, past: Past) -> Flow:
    """The card that is due, told by a person."""
    w = seen.words
    due = seen.round.due if seen.round else ""
    places = (due, *(place for place in POSITIONS if place != due)) if due else POSITIONS
    place = yield from a_place(w("Where does the card lie that is entered by hand?"), places, seen)
    card = yield CardEntry(w(WHICH, place=place))
    would = w("Enter {card} at {place} by hand; it is published as entered by hand.", card=card, place=place)
    return (yield from approved("enter", {"position": place, "card": card}, would, seen, past))


def void(seen: Seen, past: Past) -> Flow:
    """A round does not count."""
    where, w = "", seen.words
    if seen.round is not None:
        this = w("{where}, the round in play", where=seen.where)
        which = yield Choice(
            w("Which round becomes void?"),
            ((seen.where, this), (OTHER, w("an earlier one ..."))),
            danger=True,
        )
        where = "" if which == OTHER else which
    if not where:
        where = yield from an_earlier_round(w("Which earlier round becomes void?"), past, w)
    taken = "Round {where} becomes VOID; bets settled by it are taken back."
    if where == seen.where:
        taken = "Round {where} becomes VOID; its cards stay used."
    would = w(taken, where=where)
    return (yield from approved("void", {"round": where}, would, seen, past))


def amend(seen: Seen, past: Past) -> Flow:
    """The cards of a round whose result is out."""
    w = seen.words
    where = yield from an_earlier_round(w("Which round is amended?"), past, w)
    laid: dict[str, str] = {}
    while True:
        left = tuple((place, place) for place in POSITIONS if place not in laid)
        so_far = (w("So far: {cards}", cards=_listed(laid, w)),) if laid else ()
        done = ((OTHER, w("that is all")),) if laid else ()
        place = yield Choice(w("{where}: which card is wrong?", where=where), left + done, so_far)
        if place == OTHER:
            break
        ways = (("card", w("another card lay there")), ("none", w("no card lay there")))
        what = yield Choice(w("{where}: at {place}", where=where, place=place), ways)
        lay = w("{where}: which card lay at {place}?", where=where, place=place)
        laid[place] = "none" if what == "none" else (yield CardEntry(lay))
    told = "Amend {where}: {cards}; its result becomes what those cards say."
    would = w(told, where=where, cards=_listed(laid, w))
    return (yield from approved("amend", {"round": where, **laid}, would, seen, past))


def _listed(laid: Mapping[str, str], w: Language) -> str:
    return ", ".join(f"{place} {w('no card') if card == 'none' else card}" for place, card in laid.items())


def burn(seen: Seen, past: Past) -> Flow:
    """Cards burned by order."""
    w = seen.words
    number = str(int((yield from a_number(w("How many cards are burned?"), 1, 20, w))))
    return (yield from approved("burn", {"count": number}, w("Burn {n}, by order.", n=number), seen, past))


def adopt(seen: Seen, past: Past) -> Flow:
    """A shoe in mid-shoe from another controller."""
    w = seen.words
    shoe = str(int((yield from a_number(w("The shoe's number"), 1, 999_999_999, w))))
    out = str(int((yield from a_number(w("Cards out of it, burned ones too"), 0, 832, w))))
    rounds = str(int((yield from a_number(w("Rounds played from it"), 0, 832, w))))
    last = yield Choice(w("Is the coming hand its last?"), (("", w("no")), ("yes", w("yes"))))
    args = {"number": shoe, "out": out, "rounds": rounds, "last_hand": last}
    told = "Take over shoe {shoe}: {out} out, {rounds}; its cards are only counted."
    cards = w("1 card") if out == "1" else w("{n} cards", n=out)
    played = w("1 round") if rounds == "1" else w("{n} rounds", n=rounds)
    would = w(told, shoe=shoe, out=cards, rounds=played)
    return (yield from approved("shoe adopt", args, would, seen, past))


_FINDINGS = {
    "missing": "a card is missing",
    "extra": "a card is too many",
    "damaged": "a card is damaged or marked",
    "replaced": "a card was replaced by a new one",
    "foreign": "a card of another set, in words ...",
}


def inspect(seen: Seen, past: Past) -> Flow:
    """The cards are counted; dealer and pit boss attest it."""
    w = seen.words
    if seen.counting:
        ways = (("scan-done", w("the count is over: record it")), ("scan-cancel", w("break the count off")))
    else:
        ways = (
            ("by-hand", w("counted by hand: record it")),
            ("scan", w("begin a count by the scanner: pass every card through it")),
        )
    method = yield Choice(w("Count of the cards, attested by dealer and pit boss"), ways)
    found: dict[str, str] = {}
    kinds = {"by-hand": tuple(_FINDINGS), "scan-done": ("damaged", "replaced", "foreign")}.get(method, ())
    while kinds:
        what = yield Choice(
            w("What was found?"),
            (
                ("", w("that is all") if found else w("complete, none marked")),
                *((kind, w(_FINDINGS[kind])) for kind in kinds),
            ),
            tuple(f"{w(name)}: {cards}" for name, cards in found.items()),
        )
        if not what:
            break
        if what == "foreign":
            found[what] = yield Entry(w("Cards of another set, in your words"), free_text, most=200)
        else:
            card = yield CardEntry(w("Which card: {what}?", what=w(_FINDINGS[what])))
            found[what] = f"{found[what]} {card}" if what in found else card
    told = "; ".join(f"{w(name)} {cards}" for name, cards in found.items())
    does = {
        "by-hand": "Record the count of the cards",
        "scan": "Begin the count: every card scanned then is counted, not dealt",
        "scan-done": "End the count and record it",
        "scan-cancel": "Break the count off; nothing is recorded",
    }[method]
    would = f"{w(does)}{f': {told}' if told else ''}."
    return (yield from approved("shoe inspect", {"method": method, **found}, would, seen, past))


def by_name(ask: Flow, seen: Seen, past: Past) -> Flow:
    """A dealer's command, taken at any time, that a pit boss gives by name and PIN."""
    return at_any_time(_by_name(ask, seen, past))


def _by_name(ask: Flow, seen: Seen, past: Past) -> Flow:
    order = yield from ask
    assert isinstance(order, Order)
    w = seen.words
    person = yield from named(w("Which pit boss?"), past.pit_bosses, pit_boss_name, 32, w)
    pin = yield pin_of(person, w, w("This would do: {command}.", command=order.command))
    return replace(order, person=person, pin=pin)


def hold(seen: Seen, past: Past) -> Flow:
    """Put the table on hold."""
    return (yield from by_name(flows.hold(seen.words), seen, past))


def acknowledge(seen: Seen, past: Past) -> Flow:
    """An alert was seen."""
    return (yield from by_name(flows.acknowledge(seen), seen, past))


Asking = Callable[[Seen, Past], Flow]


def _simple(command: str, would: str) -> Asking:
    return lambda seen, past: plain(command, would, seen, past)


COMMANDS: dict[str, tuple[str, Asking]] = {
    "correct": ("a card was read wrong", correct),
    "insert": ("a card lies there that was not read", insert),
    "move": ("a card stands in the wrong place", move),
    "enter": ("the card that is due, by hand", enter),
    "void": ("a round does not count", void),
    "amend": ("the cards of a round that is over", amend),
    "burn": ("burn cards, by order", burn),
    "burn-error": (
        "the burn after a game error",
        _simple("burn-error", "Order the burn after a game error."),
    ),
    "hand free": ("a hand without wagers", _simple("hand free", "Begin a hand without wagers.")),
    "shoe inspect": ("count the cards", inspect),
    "shoe end": (
        "take the shoe out of play",
        _simple("shoe end", "The shoe is taken out of play; a round in play becomes VOID."),
    ),
    "shoe adopt": ("take over a shoe in mid-shoe", adopt),
    "cut-card undo": (
        "the cutting card is not out",
        _simple("cut-card undo", "The cutting card is taken back."),
    ),
    "shoe new undo": (
        "the new shoe was not started",
        _simple("shoe new undo", "The new shoe is taken back."),
    ),
    "hold": ("put the table on hold", hold),
    "ack": ("an alert was seen", acknowledge),
    "device swap": (
        "another scanner, same cards",
        _simple("device swap", "Another scanner goes on with the same cards."),
    ),
}
"""The pit boss's commands: what stands in the menu, and what is asked; but for ``release``, see there."""
