"""What the pit boss's commands ask before they can be given; each ends with reason, name and PIN."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tablectl.console import flows
from tablectl.console.dialog import CardEntry, Choice, Entry, Flow, Order
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


def release(action: str, does: str, past: Past) -> Flow:
    """A way out of a hold."""
    return (yield from approved("release", {"action": action}, f"Release: {does}.", past))


def plain(command: str, would: str, past: Past) -> Flow:
    """A command of the pit boss's with nothing to ask besides."""
    return (yield from approved(command, {}, would, past))


def correct(seen: Seen, past: Past) -> Flow:
    """A card was read wrong."""
    place = yield from a_place("Which card was read wrong?", seen.places, seen)
    card = yield CardEntry(f"Which card lies at {place}?")
    would = f"Correct {place} to {card}; all cards are dealt anew by the rule."
    return (yield from approved("correct", {"position": place, "card": card}, would, past))


def insert(seen: Seen, past: Past) -> Flow:
    """A card lies there that was not read."""
    place = yield from a_place("Where does the card lie that was not read?", POSITIONS, seen)
    card = yield CardEntry(f"Which card lies at {place}?")
    would = f"Insert {card} at {place}; the cards behind it move on by the rule."
    return (yield from approved("insert", {"position": place, "card": card}, would, past))


def move(seen: Seen, past: Past) -> Flow:
    """A card stands in the wrong place of the order."""
    place = yield from a_place("Which card stands in the wrong place?", seen.places, seen)
    others = tuple(other for other in (*POSITIONS, *seen.places[-9:]) if other != place)
    to = yield from a_place(f"Where does {place} belong?", tuple(dict.fromkeys(others)), seen)
    would = f"Move {place} to {to}; all cards are dealt anew by the rule."
    return (yield from approved("move", {"position": place, "to": to}, would, past))


def enter(seen: Seen, past: Past) -> Flow:
    """The card that is due, told by a person."""
    due = seen.round.due if seen.round else ""
    places = (due, *(place for place in POSITIONS if place != due)) if due else POSITIONS
    place = yield from a_place("Where does the card lie that is entered by hand?", places, seen)
    card = yield CardEntry(f"Which card lies at {place}?")
    would = f"Enter {card} at {place} by hand; it is published as entered by hand."
    return (yield from approved("enter", {"position": place, "card": card}, would, past))


def void(seen: Seen, past: Past) -> Flow:
    """A round does not count."""
    where = ""
    if seen.round is not None:
        which = yield Choice(
            "Which round becomes void?",
            ((seen.where, f"{seen.where}, the round in play"), (OTHER, "an earlier one ...")),
            danger=True,
        )
        where = "" if which == OTHER else which
    if not where:
        where = yield from an_earlier_round("Which earlier round becomes void?", past)
    taken = "its cards stay used" if where == seen.where else "bets settled by it are taken back"
    would = f"Round {where} becomes VOID; {taken}."
    return (yield from approved("void", {"round": where}, would, past))


def amend(_: Seen, past: Past) -> Flow:
    """The cards of a round whose result is out."""
    where = yield from an_earlier_round("Which round is amended?", past)
    laid: dict[str, str] = {}
    while True:
        left = tuple((place, place) for place in POSITIONS if place not in laid)
        so_far = (f"So far: {_listed(laid)}",) if laid else ()
        done = ((OTHER, "that is all"),) if laid else ()
        place = yield Choice(f"{where}: which card is wrong?", left + done, so_far)
        if place == OTHER:
            break
        what = yield Choice(
            f"{where}: at {place}", (("card", "another card lay there"), ("none", "no card lay there"))
        )
        laid[place] = "none" if what == "none" else (yield CardEntry(f"{where}: which card lay at {place}?"))
    would = f"Amend {where}: {_listed(laid)}; its result becomes what those cards say."
    return (yield from approved("amend", {"round": where, **laid}, would, past))


def _listed(laid: Mapping[str, str]) -> str:
    return ", ".join(f"{place} {card}" for place, card in laid.items())


def burn(_: Seen, past: Past) -> Flow:
    """Cards burned by order."""
    number = str(int((yield from a_number("How many cards are burned?", 1, 20))))
    return (yield from approved("burn", {"count": number}, f"Burn {number}, by order.", past))


def adopt(_: Seen, past: Past) -> Flow:
    """A shoe in mid-shoe from another controller."""
    shoe = str(int((yield from a_number("The shoe's number", 1, 999_999_999))))
    out = str(int((yield from a_number("Cards out of it, burned ones too", 0, 832))))
    rounds = str(int((yield from a_number("Rounds played from it", 0, 832))))
    last = yield Choice("Is the coming hand its last?", (("", "no"), ("yes", "yes")))
    args = {"number": shoe, "out": out, "rounds": rounds, "last_hand": last}
    would = f"Take over shoe {shoe}: {out} cards out, {rounds} rounds; its cards are only counted."
    return (yield from approved("shoe adopt", args, would, past))


_FINDINGS = {
    "missing": "a card is missing",
    "extra": "a card is too many",
    "damaged": "a card is damaged or marked",
    "replaced": "a card was replaced by a new one",
    "foreign": "a card of another set, in words ...",
}


def inspect(seen: Seen, past: Past) -> Flow:
    """The cards are counted; dealer and pit boss attest it."""
    if seen.counting:
        ways = (("scan-done", "the count is over: record it"), ("scan-cancel", "break the count off"))
    else:
        ways = (
            ("by-hand", "counted by hand: record it"),
            ("scan", "begin a count by the scanner: pass every card through it"),
        )
    method = yield Choice("Count of the cards, attested by dealer and pit boss", ways)
    found: dict[str, str] = {}
    kinds = {"by-hand": tuple(_FINDINGS), "scan-done": ("damaged", "replaced", "foreign")}.get(method, ())
    while kinds:
        what = yield Choice(
            "What was found?",
            (
                ("", "that is all" if found else "complete, none marked"),
                *((kind, _FINDINGS[kind]) for kind in kinds),
            ),
            tuple(f"{name}: {cards}" for name, cards in found.items()),
        )
        if not what:
            break
        if what == "foreign":
            found[what] = yield Entry("Cards of another set, in your words", free_text, most=200)
        else:
            card = yield CardEntry(f"Which card: {_FINDINGS[what]}?")
            found[what] = f"{found[what]} {card}" if what in found else card
    told = "; ".join(f"{name} {cards}" for name, cards in found.items())
    does = {
        "by-hand": "Record the count of the cards",
        "scan": "Begin the count: every card scanned then is counted, not dealt",
        "scan-done": "End the count and record it",
        "scan-cancel": "Break the count off; nothing is recorded",
    }[method]
    would = f"{does}{f': {told}' if told else ''}."
    return (yield from approved("shoe inspect", {"method": method, **found}, would, past))


def by_name(ask: Flow, past: Past) -> Flow:
    """A dealer's command that a pit boss gives by name and PIN, where no dealer is signed in."""
    order = yield from ask
    assert isinstance(order, Order)
    person = yield from named("Which pit boss?", past.pit_bosses, pit_boss_name, 32)
    pin = yield pin_of(person, f"This would do: {order.command}.")
    return replace(order, person=person, pin=pin)


def hold(_: Seen, past: Past) -> Flow:
    """Put the table on hold."""
    return (yield from by_name(flows.hold(), past))


def acknowledge(seen: Seen, past: Past) -> Flow:
    """An alert was seen."""
    return (yield from by_name(flows.acknowledge(seen), past))


Asking = Callable[[Seen, Past], Flow]


def _simple(command: str, would: str) -> Asking:
    return lambda seen, past: plain(command, would, past)


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
