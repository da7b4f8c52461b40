"""What each command asks before it can be given: as the command line does, in numbers to choose from."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping

from tablectl.console.dialog import CardEntry, Choice, Entry, Flow, Leave, Order, Question
from tablectl.console.past import Past
from tablectl.console.seen import POSITIONS, Seen
from tablectl.table.reasons import REASONS

Asks = Generator[Question, str, str]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}", re.ASCII)
_ROUND = re.compile(r"[1-9][0-9]{0,8}/[1-9][0-9]{0,8}", re.ASCII)
_OTHER = "\n"
"""The answer "none of these": no name is so."""

WORDS = (
    "seen on video",
    "seen at the table",
    "told by the dealer",
    "agreed with the players",
    "written report follows",
)
"""What is written behind a reason's code where there are no letters to write with."""


# --- parts ----------------------------------------------------------------------------------------


def direct(command: str, args: Mapping[str, str] | None = None, *, expects: bool = True) -> Flow:
    """A command with nothing to ask."""
    return Order(command, args or {}, expects=expects)
    yield


def sure(command: str, question: str, yes: str) -> Flow:
    """A command that is asked for twice, by two keys."""
    yield Choice(question, (("yes", yes),), danger=True)
    return Order(command)


def leave() -> Flow:
    """The console ends; the table goes on."""
    yield Choice("Leave the console? The table goes on without it.", (("yes", "leave"),))
    return Leave()


def _named(title: str, names: tuple[str, ...], check: Callable[[str], str | None], most: int) -> Asks:
    """A name out of those known, or a new one."""
    if names:
        options = (*((name, name) for name in names[:8]), (_OTHER, "another name ..."))
        name = yield Choice(title, options)
        if name != _OTHER:
            return name
    return (yield Entry(f"{title} Name or staff number:", check, most=most))


def _number(title: str, low: int, high: int) -> Asks:
    def check(text: str) -> str | None:
        return None if low <= int(text) <= high else f"a number from {low} to {high}"

    return (yield Entry(f"{title} ({low} to {high})", check, digits=True, most=9))


def _a_round(title: str) -> Asks:
    def check(text: str) -> str | None:
        return None if _ROUND.fullmatch(text) else "a round is written SHOE/ROUND: 12/34"

    return (yield Entry(f"{title} SHOE/ROUND:", check, digits=True, stroke=True, most=19))


def _place(title: str, places: tuple[str, ...], seen: Seen) -> Asks:
    cards = seen.round.cards if seen.round else {}
    return (
        yield Choice(
            title, tuple((place, f"{place}  {cards.get(place) or _where(place)}") for place in places)
        )
    )


def _where(place: str) -> str:
    return f"card kept, number {place[1:]}" if place.startswith("K") else "no card"


def _earlier(title: str, past: Past) -> Asks:
    """A round that is over."""
    options = tuple(
        (one.where, f"{one.where}  {one.what}" + (f"  {one.totals[0]}:{one.totals[1]}" if one.totals else ""))
        for one in past.rounds[:8]
    )
    if options:
        which = yield Choice(title, (*options, (_OTHER, "another round ...")))
        if which != _OTHER:
            return which
    return (yield from _a_round(title))


def _pit_boss_name(text: str) -> str | None:
    if _NAME.fullmatch(text):
        return None
    return "1 to 32 of A-Z a-z 0-9 . _ -, a letter or digit first"


def _free_text(text: str) -> str | None:
    return None if text.isprintable() and text.strip() else "printable characters are needed"


def approved(
    command: str, args: Mapping[str, str], would: str, past: Past
) -> Generator[Question, str, Order]:
    """The pit boss's part: why, who, and the PIN, which is the last that is asked."""
    code = yield Choice(
        f"{would} Why?", tuple((code, f"{code}: {meaning}") for code, meaning in REASONS.items())
    )
    options = [] if code == "other" else [("", "nothing more")]
    options += [(words, words) for words in WORDS]
    words = yield Choice(f"{code}: and in words?", (*options, (_OTHER, "type it ...")))
    if words == _OTHER:
        words = yield Entry(f"{code}: in your words", _free_text, most=150)
    reason = f"{code}: {words}" if words else code
    person = yield from _named("Which pit boss approves?", past.pit_bosses, _pit_boss_name, 32)
    pin = yield Entry(
        f"PIN of {person}, then Enter", most=64, secret=True, lines=(would, f"Reason: {reason}")
    )
    return Order(command, args, person, reason, pin)


# --- the dealer -----------------------------------------------------------------------------------


def sign_in(seen: Seen, past: Past) -> Flow:
    """A dealer takes over."""
    names = tuple(name for name in past.dealers if name != seen.dealer)
    name = yield from _named("Who deals?", names, _free_text, 60)
    pickup = yield Choice(
        f"{name} picks the cards up", (("left", "from the left"), ("right", "from the right"))
    )
    return Order("sign-in", {"name": name, "pickup": pickup})


def hold() -> Flow:
    """The table is put on hold; what was seen does not go along, for this may not be refused."""
    because = yield Choice(
        "Put the table on hold? Only a pit boss releases it.",
        (
            ("called", "hold the table"),
            ("card-missed", "a card was drawn and not read"),
            ("card-twice", "one card was read twice"),
            ("two-cards", "two cards were drawn at once"),
            (_OTHER, "hold, and write why ..."),
        ),
        danger=True,
    )
    if because == _OTHER:
        text = yield Entry("Why is the table put on hold?", _free_text, most=200)
        return Order("hold", {"text": text}, expects=False)
    return Order("hold", {} if because == "called" else {"because": because}, expects=False)


def acknowledge(seen: Seen) -> Flow:
    """An alert was seen."""
    options = tuple((one.code, f"{one.code}: {one.message}") for one in seen.alerts if not one.present)
    gone = tuple(f"{one.code} goes by itself when it is over" for one in seen.alerts if one.present)
    alert = yield Choice("Which alert was seen?" if options else "Nothing to acknowledge", options, gone)
    return Order("ack", {"alert": alert}, expects=False)


def rescan(seen: Seen) -> Flow:
    """Cards pass the scanner again."""
    laid = tuple(place for place in POSITIONS if seen.round and place in seen.round.cards)
    options = (("last", "the last card"), ("hand", "the whole hand, in the order drawn"))
    cards = seen.round.cards if seen.round else {}
    what = yield Choice(
        "What is scanned again?", options + tuple((place, f"{place}  {cards[place]}") for place in laid)
    )
    return Order("rescan", {"what": what})


def burn_done(seen: Seen) -> Flow:
    """Burn cards that the scanner did not see."""
    due = f" {seen.burns_due} are due." if seen.burns_due else ""
    number = yield from _number(f"How many were burned that the scanner did not see?{due}", 1, 30)
    return Order("burn done", {"count": str(int(number))})


# --- the pit boss ---------------------------------------------------------------------------------


def release(action: str, does: str, past: Past) -> Flow:
    """A way out of a hold."""
    return (yield from approved("release", {"action": action}, f"Release: {does}.", past))


def plain(command: str, would: str, past: Past) -> Flow:
    """A command of the pit boss's with nothing to ask besides."""
    return (yield from approved(command, {}, would, past))


def correct(seen: Seen, past: Past) -> Flow:
    """A card was read wrong."""
    place = yield from _place("Which card was read wrong?", seen.places, seen)
    card = yield CardEntry(f"Which card lies at {place}?")
    would = f"Correct {place} to {card}; all cards are dealt anew by the rule."
    return (yield from approved("correct", {"position": place, "card": card}, would, past))


def insert(seen: Seen, past: Past) -> Flow:
    """A card lies there that was not read."""
    place = yield from _place("Where does the card lie that was not read?", POSITIONS, seen)
    card = yield CardEntry(f"Which card lies at {place}?")
    would = f"Insert {card} at {place}; the cards behind it move on by the rule."
    return (yield from approved("insert", {"position": place, "card": card}, would, past))


def move(seen: Seen, past: Past) -> Flow:
    """A card stands in the wrong place of the order."""
    place = yield from _place("Which card stands in the wrong place?", seen.places, seen)
    others = tuple(other for other in (*POSITIONS, *seen.places[-9:]) if other != place)
    to = yield from _place(f"Where does {place} belong?", tuple(dict.fromkeys(others)), seen)
    would = f"Move {place} to {to}; all cards are dealt anew by the rule."
    return (yield from approved("move", {"position": place, "to": to}, would, past))


def enter(seen: Seen, past: Past) -> Flow:
    """The card that is due, told by a person."""
    due = seen.round.due if seen.round else ""
    places = (due, *(place for place in POSITIONS if place != due)) if due else POSITIONS
    place = yield from _place("Where does the card lie that is entered by hand?", places, seen)
    card = yield CardEntry(f"Which card lies at {place}?")
    would = f"Enter {card} at {place} by hand; it is published as entered by hand."
    return (yield from approved("enter", {"position": place, "card": card}, would, past))


def void(seen: Seen, past: Past) -> Flow:
    """A round does not count."""
    where = ""
    if seen.round is not None:
        which = yield Choice(
            "Which round becomes void?",
            ((seen.where, f"{seen.where}, the round in play"), (_OTHER, "an earlier one ...")),
            danger=True,
        )
        where = "" if which == _OTHER else which
    if not where:
        where = yield from _earlier("Which earlier round becomes void?", past)
    taken = "its cards stay used" if where == seen.where else "bets settled by it are taken back"
    would = f"Round {where} becomes VOID; {taken}."
    return (yield from approved("void", {"round": where}, would, past))


def amend(_: Seen, past: Past) -> Flow:
    """The cards of a round whose result is out."""
    where = yield from _earlier("Which round is amended?", past)
    laid: dict[str, str] = {}
    while True:
        left = tuple((place, place) for place in POSITIONS if place not in laid)
        so_far = (f"So far: {_listed(laid)}",) if laid else ()
        done = ((_OTHER, "that is all"),) if laid else ()
        place = yield Choice(f"{where}: which card is wrong?", left + done, so_far)
        if place == _OTHER:
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
    number = str(int((yield from _number("How many cards are burned?", 1, 20))))
    return (yield from approved("burn", {"count": number}, f"Burn {number}, by order.", past))


def adopt(_: Seen, past: Past) -> Flow:
    """A shoe in mid-shoe from another controller."""
    shoe = str(int((yield from _number("The shoe's number", 1, 999_999_999))))
    out = str(int((yield from _number("Cards out of it, burned ones too", 0, 832))))
    rounds = str(int((yield from _number("Rounds played from it", 0, 832))))
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
            found[what] = yield Entry("Cards of another set, in your words", _free_text, most=200)
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


Asking = Callable[[Seen, Past], Flow]


def _simple(command: str, would: str) -> Asking:
    return lambda seen, past: plain(command, would, past)


PIT_BOSS: dict[str, tuple[str, Asking]] = {
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
    "device swap": (
        "another scanner, same cards",
        _simple("device swap", "Another scanner goes on with the same cards."),
    ),
}
"""The pit boss's commands: what stands in the menu, and what is asked; but for ``release``, see there."""
