"""What the dealer's commands ask before they can be given: as the command line does, by numbers."""

from __future__ import annotations

from collections.abc import Mapping

from tablectl.console.dialog import Choice, Entry, Flow, Leave, Order, at_any_time
from tablectl.console.language import Language
from tablectl.console.past import Past
from tablectl.console.questions import OTHER, a_number, free_text, named
from tablectl.console.seen import POSITIONS, Seen


def direct(command: str, args: Mapping[str, str] | None = None) -> Flow:
    """A command with nothing to ask."""
    return Order(command, args or {})
    yield


def sure(command: str, question: str, yes: str) -> Flow:
    """A command that is asked for twice, by two keys."""
    yield Choice(question, (("yes", yes),), danger=True)
    return Order(command)


def leave(w: Language) -> Flow:
    """The console ends; the table goes on."""
    return at_any_time(_leave(w))


def _leave(w: Language) -> Flow:
    yield Choice(w("Leave the console? The table goes on without it."), (("yes", w("leave")),))
    return Leave()


def sign_in(seen: Seen, past: Past) -> Flow:
    """A dealer takes over."""
    names = tuple(name for name in past.dealers if name != seen.dealer)
    w = seen.words
    name = yield from named(w("Who deals?"), names, free_text, 60, w)
    sides = (("left", w("from the left")), ("right", w("from the right")))
    pickup = yield Choice(w("{name} picks the cards up", name=name), sides)
    return Order("sign-in", {"name": name, "pickup": pickup})


def hold(w: Language) -> Flow:
    """The table is put on hold; what was seen does not go along, for this may not be refused."""
    return at_any_time(_hold(w))


def _hold(w: Language) -> Flow:
    because = yield Choice(
        w("Put the table on hold? Only a pit boss releases it."),
        (
            ("called", w("hold the table")),
            ("card-missed", w("a card was drawn and not read")),
            ("card-twice", w("one card was read twice")),
            ("two-cards", w("two cards were drawn at once")),
            (OTHER, w("hold, and write why ...")),
        ),
        danger=True,
    )
    if because == OTHER:
        text = yield Entry(w("Why is the table put on hold?"), free_text, most=200)
        return Order("hold", {"text": text})
    return Order("hold", {} if because == "called" else {"because": because})


def acknowledge(seen: Seen) -> Flow:
    """An alert was seen; whatever else has changed, it was."""
    return at_any_time(_acknowledge(seen))


def _acknowledge(seen: Seen) -> Flow:
    options = tuple((one.code, f"{one.code}: {one.message}") for one in seen.alerts if not one.present)
    w = seen.words
    gone = tuple(
        w("{alert} goes by itself when it is over", alert=one.code) for one in seen.alerts if one.present
    )
    title = w("Which alert was seen?") if options else w("Nothing to acknowledge")
    alert = yield Choice(title, options, gone)
    return Order("ack", {"alert": alert})


def rescan(seen: Seen) -> Flow:
    """Cards pass the scanner again."""
    laid = tuple(place for place in POSITIONS if seen.round and place in seen.round.cards)
    w = seen.words
    options = (("last", w("the last card")), ("hand", w("the whole hand, in the order drawn")))
    cards = seen.round.cards if seen.round else {}
    what = yield Choice(
        w("What is scanned again?"), options + tuple((place, f"{place}  {cards[place]}") for place in laid)
    )
    return Order("rescan", {"what": what})


def burn_done(seen: Seen) -> Flow:
    """Burn cards that the scanner did not see."""
    w = seen.words
    due = w("1 is due.") if seen.burns_due == 1 else w("{n} are due.", n=seen.burns_due)
    asked = w("How many were burned that the scanner did not see?") + (f" {due}" if seen.burns_due else "")
    number = yield from a_number(asked, 1, 30, w)
    return Order("burn done", {"count": str(int(number))})
