"""What the game server's answer means, by the contract's classes (section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum

from tablectl.delivery import ways
from tablectl.delivery.placed import Placed, placed_in

AGAIN = frozenset({408, 425, 429})
AT_FAULT = {
    401: "it does not accept our signature (secret or clock)",
    403: "it refuses this table or this history (epoch)",
    404: "there is nothing at this address",
    405: "nothing takes events at this address",
    410: "this address was given up",
    413: "it finds the request too large",
    415: "it does not take this content type",
}
EVENT = frozenset({400, 422})


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer. ``body``: its JSON, None when it is none. ``words``: for people, short.

    ``retry_after``: seconds, see :func:`retry_after`.
    """

    status: int
    body: object = None
    retry_after: float | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """No answer. ``at_fault``: trying again soon is no use (a certificate, a clock).

    ``halts``: a person must act; ``way``: what to do.
    """

    text: str
    at_fault: bool = False
    halts: bool = False
    way: str = ""


class Kind(Enum):
    """NEXT: a good answer. LATER: again with back-off. LINK: link at fault. EVENT: the event is refused.

    HALT: a person must act.
    """

    NEXT = "next"
    LATER = "later"
    LINK = "link"
    EVENT = "event"
    HALT = "halt"


@dataclass(frozen=True, slots=True)
class Verdict:
    kind: Kind
    text: str = ""
    next: int = 0
    retry_after: float | None = None
    way: str = ""
    taken: bool = True
    """Of NEXT: whether what was sent may be taken by it. A 409 says where to go back to, and no more."""
    placed: Placed | None = None


def classify(answer: Answer | Failed) -> Verdict:
    """Into which class an answer falls, and in what words."""
    if isinstance(answer, Failed):
        if answer.halts:
            return Verdict(Kind.HALT, answer.text, way=answer.way)
        return Verdict(Kind.LINK if answer.at_fault else Kind.LATER, answer.text, way=answer.way)
    said = f"the game server answers {answer.status}"
    words = f': "{answer.words}"' if answer.words else ""
    match answer.status:
        case 200 | 409 if isinstance(answer.body, dict) and "next" in answer.body:
            wanted = answer.body["next"]
            if isinstance(wanted, int) and not isinstance(wanted, bool):
                placed = placed_in(answer.body)
                return Verdict(Kind.NEXT, next=wanted, taken=answer.status == 200, placed=placed)
            text = f"{said} with a `next` that is no event number: {wanted!r:.60}"
            return Verdict(Kind.HALT, text, way=ways.MENDED)
        case 200:
            text = f'{said} without {{"next": N}}, which acknowledges nothing'
            return Verdict(Kind.LATER, text if isinstance(answer.body, dict) else f"{text}. {ways.URL}")
        case status if status in AT_FAULT:
            return Verdict(Kind.LINK, f"{said}: {AT_FAULT[status]}{words}", way=ways.LINK.get(status, ""))
        case status if status in EVENT:
            return Verdict(Kind.EVENT, f"{said}{words}")
        case status if 300 <= status < 400:
            return Verdict(Kind.LATER, f"{said}, a redirect, which is not followed. {ways.URL}")
        case status if status in AGAIN or status >= 500:
            return Verdict(Kind.LATER, f"{said}{words}", retry_after=answer.retry_after)
    return Verdict(Kind.LATER, f"{said}, which acknowledges nothing")


def in_words(number: int) -> str:
    """A number that a server named, in print: one of thousands of digits is cut."""
    text = str(number)
    return text if len(text) <= 20 else f"{text[:20]}… ({len(text)} digits)"


def retry_after(header: str | None, wall: float) -> float | None:
    """``Retry-After`` in seconds from ``wall`` (Unix time, s): a number or an HTTP date; None if neither."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12]) if len(text) <= 12 else 1e12
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - wall)
    except (ValueError, TypeError, OverflowError):
        return None
