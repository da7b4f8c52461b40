"""The prompt: what the dealer does next, or calls, in the bar below the phase.  Pure."""

from __future__ import annotations

from tablectl.console.keys import keys
from tablectl.console.model import Model
from tablectl.console.seen import Seen


def next_words(model: Model, seen: Seen) -> tuple[str, str]:
    """What comes next in words, and the style that fits it."""
    r, w = seen.round, seen.words
    if seen.held:
        return w("HOLD: {why}", why=w.told(seen.holds[0].message)), "held"
    if seen.unread:
        return w("NEXT: scan the card again, it could not be read"), "alarm"
    if seen.counting:
        return w("COUNT of the cards: {how_far}", how_far=seen.counting), "next"
    if seen.rescan:
        return w("SCAN AGAIN: {how_far}", how_far=seen.rescan), "next"
    last = seen.shoe is not None and seen.shoe.last_hand
    match seen.phase:
        case "closed":
            return w("NEXT: open the table"), "next"
        case "no shoe" | "shuffle due" | "idle" if not seen.dealer:
            return w("NEXT: a dealer signs in"), "next"
        case "no shoe":
            return w("NEXT: shuffle, cut and load, then start the new shoe"), "next"
        case "shuffle due":
            return w("NEXT: shuffle and load, then start the new shoe"), "next"
        case "burning":
            why = f" ({seen.burn_reason})" if seen.burn_reason else ""
            return w("NEXT: burn {n} face down{why}", n=seen.burns_due or "", why=why).replace(
                "  ", " "
            ), "next"
        case "idle" if last:
            return w("NEXT: open betting. The coming hand is the LAST"), "next"
        case "idle":
            return w("NEXT: open betting"), "next"
        case "betting":
            return _betting(model, seen)
        case "no more bets":
            return w("NO MORE BETS. NEXT: Player's first card"), "next"
        case "dealing" if r is not None and r.to_be_turned:
            return w("NEXT: turn the four cards, then press Enter"), "next"
        case "dealing" if r is not None and not r.cards:
            return w("NEXT: deal, face down: {n} of 4", n=r.face_down), "next"
        case "dealing" if r is not None:
            return f"{w('NEXT: ')}{r.words.rpartition(': ')[2].upper()}", "next"
        case "complete" if r is not None and r.outcome is not None:
            return _announce(model, seen, r.outcome, (r.player, r.banker)), f"{r.outcome}won"
        case _:
            return w(seen.phase), "next"


def _betting(model: Model, seen: Seen) -> tuple[str, str]:
    """Betting is open: who has placed, where the game server tells. Nothing is closed by that."""
    w, open_ = seen.words, seen.words("BETS ARE OPEN: draw no card")
    if seen.placed is None:
        return open_, "next"
    if seen.placed.everybody:
        early = next((one.key for one in keys(seen, model.past) if one.means == "bets close"), "")
        how = w(": betting may be closed early, key {key}", key=early) if early else ""
        return w("ALL HAVE PLACED") + how, "tiewon"
    players = "{n} of 1 player has placed" if seen.placed.players == 1 else "{n} of {all} players have placed"
    return f"{open_}. {w(players, n=seen.placed.placed, all=seen.placed.players)}", "next"


def _announce(model: Model, seen: Seen, outcome: str, totals: tuple[int | None, int | None]) -> str:
    w = seen.words
    words = w({"player": "PLAYER WINS", "banker": "BANKER WINS", "tie": "EGALITÉ, TIE"}[outcome])
    how = w("announce it")
    if model.past.confirm == "shoe" and not seen.step_lost:
        how = w("press the shoe's result button")
    elif seen.step_lost:
        how = w("the shoe is out of step: announce it here")
    return w("{wins}, Player {p}, Banker {b}: {how}", wins=words, p=totals[0], b=totals[1], how=how)
