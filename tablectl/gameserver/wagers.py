"""Which wagers are taken: the pure half of the book. Reasons in words, German and English.

A bet is one area and one stake; 2-Way and 3-Way are areas too, whose stake lies on each of their single
bets.  On every single bet a player has one wager at most.  Each bet of a request is judged on its own, in
the order asked, and nothing is taken that is not said to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablectl.gameserver.money import MOST_STAKE, shown
from tablectl.gameserver.terms import Terms

MOST_BETS = 20
"""In one request."""


@dataclass(frozen=True, slots=True)
class Bet:
    """What a player asks for. ``stake``: minor units, on each single bet of the area."""

    area: str
    stake: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why not. ``code`` is for programs."""

    code: str
    en: str
    de: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one bet. ``stake``: as taken; ``raised``: to the house's minimum."""

    area: str
    stake: int
    reason: Reason | None = None
    raised: bool = False


REASONS = {
    "late": ("No more bets: betting is closed.", "Nichts geht mehr: Das Setzen ist geschlossen."),
    "unlinked": ("The link to the table was lost: no bets.",
                 "Die Verbindung zum Tisch riss ab: keine Einsätze."),
    "closed": ("The table is closed.", "Der Tisch ist geschlossen."),
    "not-open": ("Betting is not open.", "Das Setzen ist nicht eröffnet."),
    "round": ("That was round {0}; now it is {1}.", "Das war Runde {0}, jetzt ist Runde {1}."),
    "terms": ("The limits of this table are not known.", "Die Limits dieses Tisches sind nicht bekannt."),
    "currency": ("This table plays in {0}, your account is in {1}.", "Hier gilt {0}, Ihr Konto ist in {1}."),
    "offered": ("There is no such bet at this table.", "Diesen Einsatz gibt es an diesem Tisch nicht."),
    "stake": ("A stake is a whole amount above zero.", "Ein Einsatz ist ein ganzer Betrag über null."),
    "under": ("Below the minimum of {0}.", "Unter dem Minimum von {0}."),
    "over": ("Above the maximum of {0}.", "Über dem Maximum von {0}."),
    "area": ("Your bet lies there: take it back first.", "Dort liegt Ihr Einsatz: erst zurücknehmen."),
    "funds": ("Not enough money: you have {0}.", "Nicht genug Guthaben: Sie haben {0}."),
    "covered": ("Your bet there lies on {0}: take that back first.",
                "Ihr Einsatz dort liegt auf {0}: das erst zurücknehmen."),
    "nothing": ("You have no bet there.", "Dort liegt kein Einsatz von Ihnen."),
    "locked": ("This bet stands: it cannot be taken back.", "Dieser Einsatz bleibt stehen."),
}  # fmt: skip
"""Every reason in English and German."""


AREAS = {
    "player": ("Player", "Spieler"), "banker": ("Banker", "Bank"), "tie": ("Tie", "Unentschieden"),
    "player_pair": ("Player Pair", "Paar Spieler"), "banker_pair": ("Banker Pair", "Paar Bank"),
}  # fmt: skip
"""What areas are called in English and German; a combination has one name."""

Amount = tuple[int, str]
"""Minor units and their currency."""


def because(code: str, *values: str | Amount) -> Reason:
    """A reason with its values, money as each language writes it."""
    en, de = (
        words.format(*(one if isinstance(one, str) else shown(*one, point) for one in values))
        for words, point in zip(REASONS[code], ".,", strict=True)
    )
    return Reason(code, en, de)


def covered(others: Sequence[str]) -> Reason:
    """A bet lies there already, as part of ``others``: areas, or some of whose bets this one is made."""
    en, de = (
        ", ".join(AREAS[one][i] if one in AREAS else one.replace("way", "Way") for one in others)
        for i in range(2)
    )
    return Reason("covered", REASONS["covered"][0].format(en), REASONS["covered"][1].format(de))


def elsewhere(area: str, parts: Sequence[str], taken: Mapping[str, str]) -> list[str]:
    """The other areas on which single bets of ``area`` lie. ``taken``: the area each of them lies on."""
    return list(dict.fromkeys(taken[part] for part in parts if taken.get(part, area) != area))


def window_reason(why: str, *, table_open: bool) -> Reason | None:
    """Why no wager is taken or given back now. ``why``: of the window (``betting.py``); "" while open."""
    if not table_open:
        return because("closed")
    match why:
        case "":
            return None
        case "silence" | "a fault here":
            return because("unlinked")
        case "none" | "another history":
            return because("not-open")
    return because("late")


def judge(bets: Sequence[Bet], taken: Mapping[str, str], terms: Terms, balance: int) -> list[Answer]:
    """An answer for each bet. ``taken``: single bets that lie there, and on which area."""
    answers: list[Answer] = []
    lying = dict(taken)
    for bet in bets:
        answer = _judge(bet, lying, terms, balance)
        if answer.reason is None:
            parts = terms.parts(bet.area)
            lying.update(dict.fromkeys(parts, bet.area))
            balance -= answer.stake * len(parts)
        answers.append(answer)
    return answers


def _judge(bet: Bet, taken: Mapping[str, str], terms: Terms, balance: int) -> Answer:
    def no(code: str, *values: Amount) -> Answer:
        return Answer(bet.area, bet.stake, because(code, *values))

    parts = terms.parts(bet.area)
    if not parts:
        return no("offered")
    if not 0 < bet.stake <= MOST_STAKE:
        return no("stake")
    if bet.area in taken.values():
        return no("area")
    if others := elsewhere(bet.area, parts, taken):
        return Answer(bet.area, bet.stake, covered(others))
    low, high = terms.limit(bet.area)
    stake = bet.stake
    if stake < low:
        if terms.below_minimum != "raise":
            return no("under", (low, terms.currency))
        stake = low
    if high is not None and stake > high:
        return no("over", (high, terms.currency))
    if stake * len(parts) > balance:
        return no("funds", (balance, terms.currency))
    return Answer(bet.area, stake, raised=stake != bet.stake)
