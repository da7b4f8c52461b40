"""What the dealer's commands ask before they can be given: as the command line does, by numbers."""

from __future__ import annotations

from collections.abc import Mapping

from tablectl.console.dialog import Choice, Entry, Flow, Leave, Order
from tablectl.console.past import Past
from tablectl.console.questions import OTHER, a_number, free_text, named
from tablectl.console.seen import POSITIONS, Seen


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


def sign_in(seen: Seen, past: Past) -> Flow:
    """A dealer takes over."""
    names = tuple(name for name in past.dealers if name != seen.dealer)
    name = yield from named("Who deals?", names, free_text, 60)
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
            (OTHER, "hold, and write why ..."),
        ),
        danger=True,
    )
    if because == OTHER:
        text = yield Entry("Why is the table put on hold?", free_text, most=200)
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
    number = yield from a_number(f"How many were burned that the scanner did not see?{due}", 1, 30)
    return Order("burn done", {"count": str(int(number))})
