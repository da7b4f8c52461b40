"""The middle of the screen: the shoe, holds and their ways out, alerts, the last rounds, and dialogs."""

from __future__ import annotations

from collections.abc import Iterator

from tablectl.console.dialog import CardEntry, Changed, Choice, Dialog, Entry, Leave, Order, Question
from tablectl.console.keys import way_keys
from tablectl.console.language import Language
from tablectl.console.model import Model
from tablectl.console.paper import Line, Span, beside, cut, fit, pad, wrap
from tablectl.console.past import Ended, Past
from tablectl.console.seen import Seen

LAST_HAND = "LAST HAND BEFORE SHUFFLE"
_OUTCOME_CELLS = {"en": 7, "de": 14}


# --- the shoe -------------------------------------------------------------------------------------


def shoe(seen: Seen, past: Past, width: int) -> list[Line]:
    """The gauge, and the last hand or burns due, if there are."""
    if seen.shoe is None:
        return [(Span(f" {seen.words('no shoe in play')}", "dim"),)]
    s, w = seen.shoe, seen.words
    told = f" {w('{n} of {all} left', n=s.left, all=s.size)}, {_cutting_card(seen, past)}"
    name = f" {w('shoe {n}', n=s.number)} "
    gauge = _gauge(seen, past, max(10, min(32, width - len(name) - len(told) - 1)))
    lines: list[Line] = [(Span(name), *gauge, Span(told, "warn" if s.cut else "plain"))]
    if s.last_hand:
        lines.append((Span(w(LAST_HAND).center(width), "alarm"),))
    elif s.last_round is not None:
        last = w("The last hand before the shuffle is round {where}", where=f"{s.number}/{s.last_round}")
        lines.append((Span(f" {last}", "warn"),))
    if seen.burns_due and seen.phase != "burning":
        due = w("burns due: {n} ({why})", n=seen.burns_due, why=seen.burn_reason)
        lines.append((Span(f" {due}", "warn"),))
    return lines


def _gauge(seen: Seen, past: Past, width: int) -> Line:
    """Cards out, cards left, and the place of the cutting card."""
    s = seen.shoe
    assert s is not None
    size = max(1, s.size)
    gone = min(width, s.out * width // size)
    bar = ["█"] * (width - gone) + ["░"] * gone
    if past.cut_place is not None and not s.cut:
        bar[min(width - 1, max(0, width - 1 - past.cut_place * width // size))] = "║"
    text = "".join(bar)
    return (Span(text[: width - gone], "gauge"), Span(text[width - gone :], "dim"))


def _cutting_card(seen: Seen, past: Past) -> str:
    s, w = seen.shoe, seen.words
    assert s is not None
    if s.cut:
        return w("CUTTING CARD OUT")
    if past.cut_place is None:
        return w("cutting card in")
    ahead = past.cut_place - s.out
    what = w("end of the shoe") if past.by_share else w("cutting card")
    return w("{what} in about {n}", what=what, n=ahead) if ahead > 0 else w("{what} due now", what=what)


# --- holds, alerts, rounds ------------------------------------------------------------------------


def body(model: Model, seen: Seen, width: int, room: int) -> list[Line]:
    """What is wrong first, then what is to be said, then the last rounds, as far as there is room."""
    w = seen.words
    lines = list(_holds(model, seen, width, room)) if seen.held else []
    alerts = [line for one in seen.alerts for line in _alert(w("ALERT"), one.code, one.message, width)]
    most = max(1, room - len(lines) - 2)
    if len(alerts) > most:
        more = w("... {n} alerts in all: key /", n=len(seen.alerts))
        alerts = [*alerts[: most - 1], (Span(f" {more}", "alert"),)]
    lines += alerts
    if seen.unsettled:
        names = ", ".join(seen.unsettled)
        owed = w("UNSETTLED at the game server: {rounds}. Void or amend.", rounds=names)
        lines.append((Span(cut(f" {owed}", width), "alert"),))
    if seen.reserved:
        lines.append((Span(f" {w('{n} kept for the next round', n=seen.reserved)}", "warn"),))
    say = f" {w('say')} "
    lines += [(Span(say, "dim"), Span(cut(text, width - len(say) - 1), "say")) for text in _says(seen)]
    return lines + [_ended(one, w, width) for one in model.past.rounds[: max(0, room - len(lines))]]


def needs(model: Model, seen: Seen, width: int) -> int:
    """How many lines a question or the ways out of a hold take; nothing else has to be there whole."""
    if model.dialog is not None:
        return len(_asked(model, model.dialog, width)[0]) + 1
    if not seen.held:
        return 0
    return len(list(_holds(model, seen, width, 99))) + bool(seen.alerts)


def _says(seen: Seen) -> tuple[str, ...]:
    """What was said last, but for what stands on the screen elsewhere."""
    elsewhere = {hold.message for hold in seen.holds} | {alert.message for alert in seen.alerts}
    return tuple(seen.words.told(text) for text in seen.say if text not in elsewhere)[-2:]


def _holds(model: Model, seen: Seen, width: int, room: int) -> Iterator[Line]:
    """The first hold's message is the prompt; what was seen, the others, and every way out by number."""
    ways = way_keys(seen, model.past, model.page)
    spare = max(1, room - len(ways))
    told: list[Line] = []
    w = seen.words
    for n, hold in enumerate(seen.holds):
        lines = wrap(f"{hold.code}: {w.told(hold.message)}", width - 2, 2)
        if n or len(lines) > 1:
            told += [(Span(f" {line}", "bad"),) for line in lines]
        if hold.saw:
            told.append(
                (Span(cut(f" {w('{code}, saw: {what}', code=hold.code, what=hold.saw)}", width), "dim"),)
            )
    if seen.kept:
        kept = w("cards kept with the hold: {names}", names=" ".join(f"K{n + 1}" for n in range(seen.kept)))
        told.insert(0, (Span(cut(f" {kept}", width), "warn"),))
    yield from told[:spare]
    for one in ways:
        yield (Span(" "), Span(f" {one.key} ", "key"), Span(f" {cut(one.label, width - 7)}", "plain"))


def _alert(head: str, code: str, message: str, width: int) -> Iterator[Line]:
    for n, line in enumerate(wrap(f"{code}: {message}", width - 5 - len(head), 2)):
        yield (
            Span(f" {head} " if n == 0 else " " * (len(head) + 2), "alert" if n == 0 else "plain"),
            Span(f" {line}", "warn"),
        )


def _ended(one: Ended, w: Language, width: int) -> Line:
    style = one.what.lower() if one.what.lower() in ("player", "banker", "tie") else "warn"
    where = Span(f" {pad(one.where, 8)}", "dim")
    what = Span(pad(w(one.what), _OUTCOME_CELLS[w.code]), style)
    if one.totals is None:
        return fit((where, what, Span(one.mark, "dim")), width)
    hands = (
        f"{one.totals[0]}:{one.totals[1]}  P {pad(' '.join(one.player), 9)} B {pad(' '.join(one.banker), 9)} "
    )
    marks = ", ".join(w(part) for part in one.mark.split(", "))
    return fit((where, what, Span(hands), Span(marks, "dim")), width)


# --- devices --------------------------------------------------------------------------------------


def lights(seen: Seen, width: int) -> list[Line]:
    """One line when all is well; each trouble on a line of its own."""
    good: list[Span] = [Span(" ")]
    for light in seen.lights:
        if light.good:
            good += [
                Span(f" {light.name} {seen.words('ok')} ", "lightgood"),
                Span(f"{light.what}  ".lstrip(), "dim"),
            ]
    lines: list[Line] = [fit(tuple(good), width)] if len(good) > 1 else []
    for light in seen.lights:
        if not light.good:
            lines.append(
                (Span(" "), Span(f" {light.name} ", "alarm"), Span(cut(f" {light.why}", width - 12), "bad"))
            )
    return lines


def worst_lights(seen: Seen, width: int) -> list[Line]:
    """The same on one line, the troubles only if there are some."""
    bad = [light for light in seen.lights if not light.good]
    if not bad:
        return lights(seen, width)
    share = (width - 1) // len(bad)
    pairs = [
        (Span(f" {one.name} ", "alarm"), Span(f" {cut(one.why, share - len(one.name) - 4)} ", "bad"))
        for one in bad
    ]
    return [fit((Span(" "), *(span for pair in pairs for span in pair)), width)]


# --- dialogs --------------------------------------------------------------------------------------


def dialog(model: Model, open_: Dialog, width: int, room: int) -> list[Line]:
    """The question that stands open, on so many lines."""
    made, foot = _asked(model, open_, width)
    made = made[: max(1, room - 1)]
    return [*made, *([()] * (room - 1 - len(made))), foot]


def _asked(model: Model, open_: Dialog, width: int) -> tuple[list[Line], Line]:
    """Its lines, and the last one, which tells how to go on."""
    asked, w = open_.asks(), model.words
    made: list[Line] = [fit((Span(f" {open_.name}", "dialog"),), width, "dialog")]
    if model.changed_since and (changed := _changed(asked, w)):
        made.append((Span(cut(f" {changed}", width), "alarm"),))
    match asked:
        case Choice():
            made += _question(asked.title, width, danger=asked.danger)
            made += [(Span(f"   {cut(line, width - 4)}", "warn"),) for line in asked.lines]
            for key, _, text in open_.options(asked):
                made.append(
                    (Span("  "), Span(f" {key} ", "key"), Span(f" {cut(text or w('more ...'), width - 8)}"))
                )
            hint = w("a number chooses")
        case Entry():
            made += _question(asked.title, width)
            made += [
                (Span(f"   {line}", "warn"),) for told in asked.lines for line in wrap(told, width - 4, 3)
            ]
            typed = open_.typed
            if asked.secret:
                typed = w("(typed, not shown)") if typed else ""
            made.append((Span("   > "), Span(cut(typed, width - 8), "main"), Span("_", "main")))
            hint = w("Enter takes it, {key} rubs out", key="." if asked.digits else w("Backspace"))
        case CardEntry():
            made += _question(asked.title, width)
            made += _card_keys(open_.typed, w)
            hint = w("rank, then suit")
        case _:
            hint = ""
    for words in (w(open_.wrong), model.message.text if model.message is not None else ""):
        made += [(Span(f"   {line}", "bad"),) for line in wrap(words, width - 4, 3)]
    back = w("Enter on nothing or Esc goes back") if isinstance(asked, Entry) else w(". goes back")
    return made, beside((Span(f"  {hint}", "dim"),), (Span(f"{back} ", "dim"),), width)


def _changed(asked: Question | Order | Leave, w: Language) -> str:
    """What a table that has changed since means for what is asked; empty: nothing."""
    if isinstance(asked, Order | Leave) or asked.changed is Changed.TAKEN:
        return ""
    if asked.changed is Changed.EITHER:
        return w("The table has changed since you began: this list is old. Go back and look.")
    return w("The table has changed since you began: this will be refused. Go back and look.")


def _question(title: str, width: int, *, danger: bool = False) -> list[Line]:
    return [(Span(f"  {line}", "bad" if danger else "main"),) for line in wrap(title, width - 4, 3)]


def _card_keys(rank: str, w: Language) -> list[Line]:
    if rank:
        suits = (("1", "spades S"), ("2", "hearts H"), ("3", "diamonds D"), ("4", "clubs C"))
        shown = "10" if rank == "T" else rank
        return [
            (Span(f"   {w('{rank} of ...', rank=shown)} "),),
            *((Span("  "), Span(f" {key} ", "key"), Span(f" {w(name)}")) for key, name in suits),
        ]
    rows = (
        (("1", "Ace"), *((digit, digit) for digit in "23456789")),
        (("0", "10"), ("/", "Jack"), ("*", "Queen"), ("-", "King")),
    )
    return [
        tuple(
            span for key, name in row for span in (Span("  "), Span(f" {key} ", "key"), Span(f" {w(name)}"))
        )
        for row in rows
    ] + [(Span(f"   {w('or the letters A T J Q K')}", "dim"),)]
