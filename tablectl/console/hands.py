"""Both hands as they lie: cards with their place and points, the card that is due, and the totals, large."""

from __future__ import annotations

from tablectl.cards import Card
from tablectl.console import big
from tablectl.console.language import Language
from tablectl.console.paper import Line, Span, beside, fit
from tablectl.console.past import Past
from tablectl.console.seen import RoundSeen, Seen

_SUITS = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}


def hands(seen: Seen, past: Past, width: int, *, blocks: bool) -> list[Line]:
    """Four lines: Player on the left, Banker on the right. Between rounds those of the last one."""
    half = width // 2
    over = seen.round is None
    r = seen.round or _last(seen, past)
    due = r.due if r is not None and not seen.held and seen.phase in ("no more bets", "dealing") else ""
    won = r.outcome if r is not None and (over or seen.phase == "complete") else None
    left = _side("player", seen.words, r, due, won, half, blocks=blocks)
    right = _side("banker", seen.words, r, due, won, width - half, blocks=blocks)
    if over and r is not None:
        where = seen.words("{where} is over ", where=past.rounds[0].where)
        left[0] = beside(left[0][:-1], (Span(where, "dim"),), half)
    return [(*one, *other) for one, other in zip(left, right, strict=True)]


def _last(seen: Seen, past: Past) -> RoundSeen | None:
    """The last round of the shoe in play, as it ended."""
    ended = past.rounds[0] if past.rounds else None
    if ended is None or ended.totals is None or seen.shoe is None or seen.phase == "closed":
        return None
    if ended.where.partition("/")[0] != str(seen.shoe.number):
        return None
    cards = {f"P{n}": card for n, card in enumerate(ended.player, start=1)}
    cards |= {f"B{n}": card for n, card in enumerate(ended.banker, start=1)}
    return RoundSeen(0, False, cards, 0, *ended.totals, "", "", "", None)


def _side(
    style: str, w: Language, r: RoundSeen | None, due: str, outcome: str | None, width: int, *, blocks: bool
) -> list[Line]:
    letter = style[0].upper()
    cards = [_card(f"{letter}{n}", r, due, blocks=blocks) for n in (1, 2, 3)]
    total = None if r is None else r.player if letter == "P" else r.banker
    number = ["", "", ""] if total is None else _number(total, blocks=blocks)
    shown = f"{style}won" if outcome == style else "tiewon" if outcome == "tie" else style
    title: Line = (Span(f" {w(style).upper()} ", shown), Span(f" {_notes(letter, r, w)}", "dim"))
    lines = [fit(title, width)]
    for row in range(3):
        line: Line = (Span(" "),)
        for card, kind in cards:
            line = (*line, Span(card[row], kind), Span(" "))
        lines.append(fit((*line, Span("  "), Span(number[row], style)), width))
    return lines


def _number(total: int, *, blocks: bool) -> list[str]:
    if blocks:
        return big.draw(str(total), blocks=True)
    return ["", f"= {total}", ""]


def _notes(letter: str, r: RoundSeen | None, w: Language) -> str:
    if r is None:
        return ""
    laid = [r.cards.get(f"{letter}{n}", "") for n in (1, 2, 3)]
    total = r.player if letter == "P" else r.banker
    notes = [w("natural")] if laid[0] and laid[1] and not laid[2] and total in (8, 9) else []
    notes += [w("pair")] if laid[0] and laid[0][:1] == laid[1][:1] else []
    return ", ".join(notes)


def _card(place: str, r: RoundSeen | None, due: str, *, blocks: bool) -> tuple[list[str], str]:
    """Its three lines of five cells, and their style."""
    empty = ["     "] * 3, "plain"
    if r is None:
        return empty
    if face := r.cards.get(place):
        return _frame(place, _face(face, blocks=blocks), _points(face), blocks=blocks), (
            "red" if face[-1:] in ("H", "D") else "card"
        )
    if not r.cards and _lies_face_down(place, r.face_down):
        return _frame(place, "▒▒▒" if blocks else "###", "", blocks=blocks), "card"
    if place == due:
        return _frame(place, " ? ", "", blocks=blocks), "due"
    return empty


def _lies_face_down(place: str, cards: int) -> bool:
    return place in ("P1", "B1", "P2", "B2", "P3", "B3")[:cards]


def _face(face: str, *, blocks: bool) -> str:
    rank = "10" if face[:1] == "T" else face[:1]
    suit = face[1:2]
    return f"{rank}{_SUITS.get(suit, suit) if blocks else suit}".center(3)


def _points(face: str) -> str:
    try:
        return str(Card.parse(face).points)
    except ValueError:
        return "?"


def _frame(place: str, inside: str, points: str, *, blocks: bool) -> list[str]:
    if blocks:
        return [f"┌{place}─┐", f"│{inside}│", f"└─{points or '─'}─┘"]
    return [f"+{place}-+", f"|{inside}|", f"+-{points or '-'}-+"]
