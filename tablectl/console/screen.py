"""The screen: from the model to lines of so many cells.  Pure.

From top to bottom: whose table, the phase in large letters with the countdown, what comes next, both
hands, the shoe, then what is wrong or was last, how the devices are, answers, and the keys.  A dialog takes
the place of all below the hands.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tablectl.console import big, middle
from tablectl.console.hands import hands
from tablectl.console.keys import Key, cap, keys
from tablectl.console.model import Model
from tablectl.console.paper import Line, Span, beside, cells, fit, pad, poor_lines, size, wrap
from tablectl.console.prompt import next_words
from tablectl.console.seen import Seen

LEAST = (80, 24)
"""Columns and lines that everything has room in."""

TALL = 28
"""Lines from which on the prompt is in large letters."""

TIGHTEST = 3

PHASE_STYLE = {
    "betting": "good",
    "no more bets": "bad",
    "dealing": "deal",
    "complete": "deal",
    "burning": "warn",
    "shuffle due": "warn",
}


@dataclass(frozen=True, slots=True)
class Terminal:
    """``blocks``: it has block elements and card suits, else ASCII only."""

    width: int
    height: int
    blocks: bool = True


def screen(model: Model, on: Terminal, now: float, clock: str = "") -> list[Line]:
    """All lines of the screen, each of exactly its width."""
    if model.seen is None:
        lines = _waiting(model, on, now)
    elif on.width < 60 or on.height < 20:
        lines = _small(model, model.seen, on, now)
    else:
        lines = _whole(model, model.seen, on, now, clock)
    lines = lines if on.blocks else poor_lines(lines)
    lines = [fit(line, on.width) for line in lines[: on.height]]
    return lines + [fit((), on.width)] * (on.height - len(lines))


def _waiting(model: Model, on: Terminal, now: float) -> list[Line]:
    w, why = model.words, wrap(model.stale(now), on.width - 2, 4)
    return [
        (Span(pad(" tablectl console", on.width), "head"),),
        (),
        (Span(f" {w('Waiting for the daemon of the table.')}"),),
        *((Span(f" {line}", "warn"),) for line in why),
        (),
        (Span(f" [.] {w('leave')}"),),
    ]


def _whole(model: Model, seen: Seen, on: Terminal, now: float, clock: str) -> list[Line]:
    """All of it. Where a hold's ways out or a question need the room, other things give way, step by step."""
    need = middle.needs(model, seen, on.width)
    for tight in range(TIGHTEST + 1):
        top, foot = _top(model, seen, on, now, clock, tight), _foot(model, seen, on, now, tight)
        if len(top) + len(foot) + need <= on.height:
            break
    room = on.height - len(top) - len(foot)
    if model.dialog is not None:
        return top + middle.dialog(model, model.dialog, on.width, room)
    body = middle.body(model, seen, on.width, max(0, room))[: max(0, room)]
    return top + body + [()] * (room - len(body)) + foot


def _top(model: Model, seen: Seen, on: Terminal, now: float, clock: str, tight: int) -> list[Line]:
    """Down to the shoe. ``tight``: 1, the phase in small letters; 3, the hands on one line."""
    stale = bool(model.stale(now))
    prompt = _next(model, seen, on, now)
    large = _large_prompt(prompt[0], on, seen.words("NEXT: ")) if on.height >= TALL else [prompt]
    phase = list(_large(model, seen, on, now)) if tight < 1 else [_phase_line(model, seen, now)]
    laid = hands(seen, model.past, on.width, blocks=on.blocks) if tight < TIGHTEST else _cards_line(seen)
    top = [_head(model, seen, on, now, clock), *phase, *large, *_faded(laid, stale)]
    return top if model.dialog is not None else top + middle.shoe(seen, model.past, on.width)


def _foot(model: Model, seen: Seen, on: Terminal, now: float, tight: int) -> list[Line]:
    """Devices, message, keys. ``tight``: 2, one line each for devices and message."""
    if model.dialog is not None:
        return []
    stale = bool(model.stale(now))
    short = tight >= TIGHTEST - 1
    lights = middle.worst_lights(seen, on.width) if short else middle.lights(seen, on.width)
    told = _message(model, on, now, 1 if short else 3)
    return [*_faded(lights, stale), *told, *_faded(_keys(model, seen, on), stale)]


def _phase_line(model: Model, seen: Seen, now: float) -> Line:
    return (Span(f" {_word(seen).upper()}{_countdown(model, now)} ", "phase"),)


def _cards_line(seen: Seen) -> list[Line]:
    r = seen.round
    if r is None or not r.cards:
        return []
    return [(Span(" " + "  ".join(f"{place} {card}" for place, card in r.cards.items())),)]


def _faded(lines: list[Line], stale: bool) -> list[Line]:
    """What may not be so any more."""
    return [tuple(Span(text, "dim") for text, _ in line) for line in lines] if stale else lines


def _large_prompt(prompt: Span, on: Terminal, head: str) -> list[Line]:
    """The prompt in large letters where it is short enough, else with room around it."""
    words = prompt.text.strip().removeprefix(head)
    if big.drawable(words):
        rows = [f" {row}" for row in big.draw(words, blocks=on.blocks)]
        if cells(rows[0]) < on.width:
            return [(Span(pad(row, on.width), prompt.style),) for row in ("", *rows, "")]
    edge: Line = (Span(" " * on.width, prompt.style),)
    return [edge, (prompt,), edge]


def _small(model: Model, seen: Seen, on: Terminal, now: float) -> list[Line]:
    """A window too small for it all: what must not be missed."""
    lines = [
        _head(model, seen, on, now, ""),
        _phase_line(model, seen, now),
        _next(model, seen, on, now),
    ]
    if model.dialog is not None:
        return lines + middle.dialog(model, model.dialog, on.width, on.height - len(lines))
    lines += _cards_line(seen)
    shown = _keys(model, seen, on)
    told = _message(model, on, now, max(1, min(3, on.height - len(lines) - len(shown))))
    foot = [*told, *shown]
    room = max(0, on.height - len(lines) - len(foot))
    return lines + middle.body(model, seen, on.width, room)[:room] + foot


def _countdown(model: Model, now: float) -> str:
    left = model.seconds_left(now)
    return "" if left is None else f"  {_whole_seconds(left)} s"


def _whole_seconds(left: float) -> int:
    """20 while the twentieth second runs; 0 only when it is over."""
    return int(left) + (left > int(left))


def _head(model: Model, seen: Seen, on: Terminal, now: float, clock: str) -> Line:
    style = "stale" if model.stale(now) else "head"
    w = seen.words
    left = [f" {seen.table}", *([w("TEST TABLE")] if seen.test else [])]
    if seen.round is not None:
        left.append(w("round {where}", where=seen.where) + (f" {w('FREE HAND')}" if seen.round.free else ""))
    elif seen.shoe is not None:
        left.append(w("shoe {n}", n=seen.shoe.number))
    signed_in = w("dealer {name}, picks up {side}", name=seen.dealer, side=w(seen.pickup))
    left.append(signed_in if seen.dealer else w("no dealer"))
    right = (Span(f"  {clock} ", style),) if clock else ()
    return beside((Span("  ".join(left), style),), right, on.width, style)


def _word(seen: Seen) -> str:
    if seen.phase == "burning" and seen.burns_due:
        return seen.words("burn {n}", n=seen.burns_due)
    return seen.words(seen.phase)


def _large(model: Model, seen: Seen, on: Terminal, now: float) -> Iterator[Line]:
    stale = bool(model.stale(now))
    words, style = _word(seen), PHASE_STYLE.get(seen.phase, "phase")
    if seen.held:
        words, style = seen.words("on hold"), "bad"
    left = model.seconds_left(now)
    count = "" if left is None else str(_whole_seconds(left))
    drawn = big.draw(words, blocks=on.blocks)
    numbers = big.draw(count, blocks=on.blocks) if count else [""] * big.rows(blocks=on.blocks)
    count_style = "bad" if left is not None and left <= 5 else "good"
    for row, (text, digits) in enumerate(zip(drawn, numbers, strict=True)):
        right: Line = (Span(f"{digits}  ", count_style),) if digits else ()
        if seen.held and row == 0 and not digits:
            right = (Span(f"{seen.words(seen.phase)}  ", "dim"),)
        if stale:
            right = (Span(f"{seen.words('STALE')}  ", "stale"),) if row == 0 else ()
        yield beside((Span(f" {text}", "dim" if stale else style),), right, on.width)


def _next(model: Model, seen: Seen, on: Terminal, now: float) -> Line:
    """What the dealer does next: the prompt."""
    if model.stale(now):
        was = seen.words("STALE: this is how it was. Nothing is sent. Trying again.")
        return (Span(pad(f" {was}", on.width), "stale"),)
    words, style = next_words(model, seen)
    return (Span(pad(f" {words}", on.width), style),)


def _message(model: Model, on: Terminal, now: float, most: int = 3) -> list[Line]:
    if model.sending:
        return [(Span(f" {model.words('sending: {command} ...', command=model.sending)}", "warn"),)]
    message = model.message
    refused = message is not None and message.kind == "bad" and not message.over(now)
    if (why := model.stale(now)) and not refused:
        lines = wrap(f"{model.words('STALE')}: {why}", on.width - 6, most)
        return [(Span(f"     {line}", "warn"),) for line in lines]
    if message is None or message.over(now):
        return []
    mark = {"good": "OK  ", "bad": "!!  "}.get(message.kind, "    ")
    lines = wrap(message.text, on.width - 6, most)
    return [
        (Span(f" {mark if n == 0 else '    '}", message.kind), Span(line, message.kind))
        for n, line in enumerate(lines)
    ]


def _keys(model: Model, seen: Seen, on: Terminal) -> list[Line]:
    """The keys that do something now; the ways out of a hold stand with the hold."""
    shown = [
        one
        for one in keys(seen, model.past, model.page)
        if not (seen.held and one.key.isdigit() and one.key != "0")
    ]
    lines: list[Line] = [()]
    for one in shown:
        cap = _cap(one)
        if lines[-1] and size(lines[-1]) + size(cap) > on.width - 1:
            lines.append(())
        lines[-1] = (*lines[-1], Span(" "), *cap) if lines[-1] else (Span(" "), *cap)
    return lines


def _cap(one: Key) -> Line:
    style = "keymain" if one.main else "keyhold" if one.means == "hold" else "key"
    return (Span(f" {cap(one.key)} ", style), Span(f" {one.label} ", "main" if one.main else "plain"))
