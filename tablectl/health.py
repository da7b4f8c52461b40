"""How a scanner is: in words for a dealer, from what it sent and from what the table waits for.  Pure.

Nothing here holds a table or refuses a card. A dealer who takes time and a scanner that is dead look the
same from here, and the words say so.

A :class:`Watch` is told once a second what was seen (:meth:`Watch.looked`) and says at any time how the
scanner is (:meth:`Watch.report`). All instants and spans are CLOCK_BOOTTIME nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from tablectl.clock import SECOND, Instant
from tablectl.table import Phase, State, Trouble

STOOD_STILL = 5 * SECOND
"""Looks that lie further apart were none: process or machine stood still, and nobody waited for a card."""

LINE = "bytes come but no message (baud rate, parity or driver)"

REFUSED_FOR = 15 * SECOND
"""How long a port may be there without letting itself be opened: udev and ModemManager are done by then."""


class Condition(StrEnum):
    """How a scanner is; the first that is true of it, in this order."""

    ABSENT = "absent"
    FAULTY = "faulty"
    """Much of what it sends cannot be read."""
    MUTE = "mute"
    """A card is due and none has come for long. It may be the dealer."""
    SWAPPED = "swapped"
    """Another one is in its place, and nobody has acknowledged that."""
    OK = "ok"


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on a scanner is mute or faulty; section ``[health]`` of the configuration."""

    mute_after: int = 60 * SECOND
    faulty_rejects: int = 10
    """So many rejects ``within`` the latest time, at least, …"""
    faulty_share: float = 0.2
    """… and so many of all messages in it."""
    faulty_within: int = 60 * SECOND


@dataclass(frozen=True, slots=True)
class Seen:
    """A scanner at one moment. The numbers count since the daemon's start.

    ``due``: see :func:`card_due`. ``swapped``: the alert ``scanner-changed`` is open. ``refused_since``:
    since when the device is there and cannot be opened, where people were told something else.
    """

    up: bool
    why: str = ""
    refused_since: int | None = None
    bytes: int = 0
    frames: int = 0
    cards: int = 0
    rejects: int = 0
    unknown: int = 0
    """Frames among the rejects."""
    due: int | None = None
    swapped: bool = False

    @property
    def messages(self) -> int:
        """All that came, each once: frames, and what was no frame."""
        return self.frames + self.rejects - self.unknown


@dataclass(frozen=True, slots=True)
class Report:
    """How the scanner is and, for people, why; ``why`` is empty when all is well."""

    condition: Condition
    why: str = ""


def card_due(state: State) -> int | None:
    """Whether the table waits for a card from the shoe: the state's version then, None otherwise.

    Not under a hold, and not while four cards lie face down: then people are to act first.
    """
    if state.held:
        return None
    match state.phase, state.round:
        case Phase.BURNING, _:
            return state.version
        case ((Phase.NO_MORE_BETS | Phase.DEALING), r) if r is not None and not r.to_be_turned and r.due:
            return state.version
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Count:
    at: int
    messages: int
    rejects: int
    frames: int


@dataclass(frozen=True, slots=True)
class Watch:
    """What is remembered of a scanner from look to look."""

    limits: Limits = Limits()
    waits_since: int | None = None
    """Since when one card is due."""
    then: Seen = Seen(up=False)
    """What was seen at that moment."""
    counts: tuple[_Count, ...] = ()
    """Looks within the latest :attr:`Limits.faulty_within`, oldest first; the first may be just older."""
    faulty: bool = False

    def looked(self, seen: Seen, now: int) -> Watch:
        """The scanner was looked at."""
        slept = bool(self.counts) and now - self.counts[-1].at > STOOD_STILL
        counts = (*self.counts, _Count(now, seen.messages, seen.rejects, seen.frames))
        begin = now - self.limits.faulty_within
        while len(counts) > 1 and counts[1].at <= begin:
            counts = counts[1:]
        new = replace(self, counts=counts)
        new = replace(new, faulty=new._is_faulty(seen))
        if not seen.up or seen.due is None:
            return replace(new, waits_since=None)
        if self.waits_since is None or slept or not self._same_card(seen):
            return replace(new, waits_since=now, then=seen)
        return new

    def report(self, seen: Seen, now: int) -> Report:
        """How the scanner is now."""
        if not seen.up:
            return Report(Condition.ABSENT, seen.why or "it is not ready yet")
        if self.faulty:
            messages, rejects = self._recent(seen)
            # Not one whole message: that is the line, and no card or window.
            line = "" if seen.frames > self.counts[0].frames else f"; {LINE}"
            return Report(Condition.FAULTY, f"{rejects} of {messages} messages could not be read{line}")
        waited = 0 if self.waits_since is None else now - self.waits_since
        if waited >= self.limits.mute_after and self._same_card(seen):
            why = f"a card is due and none came for {waited // SECOND} s; {self._mute(seen)}"
            return Report(Condition.MUTE, why)
        if seen.swapped:
            return Report(Condition.SWAPPED, "another scanner is in place of the one before")
        return Report(Condition.OK)

    def alerts(self, seen: Seen, at: Instant) -> Iterator[Trouble]:
        """What the dealer must be told now; a lost or changed scanner tells itself."""
        report = self.report(seen, at.boot)
        match report.condition:
            case Condition.MUTE:
                text = f"The scanner: {report.why}. No card drawn yet? Draw on. Drawn? It was not read."
                yield Trouble(at, "scanner-mute", text)
            case Condition.FAULTY:
                line = LINE in report.why
                look = "its cable and baud rate" if line else "its window, its cable, the card table"
                text = f"The scanner is faulty: {report.why}. Look at {look}."
                yield Trouble(at, "scanner-faulty", text)
            case Condition.ABSENT if seen.refused_since is not None:
                if at.boot - seen.refused_since >= REFUSED_FOR:
                    yield Trouble(at, "scanner-refused", f"The scanner cannot be used: {seen.why}")
            case _:
                pass

    def _same_card(self, seen: Seen) -> bool:
        """Whether what is due is still the card that was waited for."""
        return seen.due is not None and (seen.due, seen.cards) == (self.then.due, self.then.cards)

    def _mute(self, seen: Seen) -> str:
        """Where it stops: the cable, the line's settings, or what the messages mean."""
        if seen.bytes == self.then.bytes:
            return "its line is silent"
        if seen.frames == self.then.frames:
            return LINE
        return "messages come but no card (its mode, or the card table)"

    def _recent(self, seen: Seen) -> tuple[int, int]:
        """Messages and the rejects among them, of the latest time."""
        if not self.counts:
            return 0, 0
        return seen.messages - self.counts[0].messages, seen.rejects - self.counts[0].rejects

    def _is_faulty(self, seen: Seen) -> bool:
        """Once it is, it takes half of that to be well again: no alert at each bad card."""
        messages, rejects = self._recent(seen)
        ease = 2 if self.faulty else 1
        enough = rejects > 0 and rejects * ease >= self.limits.faulty_rejects
        return enough and rejects * ease >= self.limits.faulty_share * messages
