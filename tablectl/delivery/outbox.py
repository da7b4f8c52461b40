"""What to send next and what an answer means: the delivery's policy, without any I/O.

Theory of operation.  The journal holds events 1 … ``head``; the game server has acknowledged those
up to ``acked``.  The sender asks :meth:`Outbox.next_action`, does it, and reports what came back by
:meth:`Outbox.answered`; meanwhile :meth:`Outbox.stored` tells of new events.  The server leads: every
good answer is ``{"next": N}``, the event it wants next, and the outbox goes there: back as it says,
forward only as far as the server was shown the bytes, for what it holds may be another history's.

What cannot be mended by trying again soon is *trouble*: a link at fault (wrong secret, address or
certificate) is probed slowly; an event refused, or histories that do not fit, halts the sequence
until a person acts (:meth:`Outbox.retried`).  Nothing is ever skipped in silence: a pit boss may
have another body sent in place of an event that is refused (``event.parked``), or of a part of the
history that is kept no more (``history.skipped``); both go through here like any other event.

Instants are boot ns.  Jitter (0 to 1) is an argument.  Rules: contract, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tablectl.clock import SECOND
from tablectl.delivery import ways
from tablectl.delivery.actions import Action, Halted, Probe, Send, Wait
from tablectl.delivery.ages import Ages
from tablectl.delivery.answers import Answer, Failed, Kind, classify, in_words
from tablectl.delivery.placed import AGE, Placed, asked_after
from tablectl.printable import sentence

BATCH = 100
PROBE_EVERY = 5 * SECOND
SLOW_PROBE = 30 * SECOND
LINK_AGE = 30 * SECOND
BACKOFF_FIRST = SECOND // 2
BACKOFF_CAP = 15 * SECOND
RETRY_AFTER_CAP = 300 * SECOND


@dataclass(frozen=True, slots=True)
class Trouble:
    """Worth an alarm. ``halts``: a person must act, else it is probed slowly. ``way``: what to do about it.

    ``refused``: the event at which the sequence is halted because the server refuses it. ``wanted``: the
    one that it wants and that is kept no more.
    """

    code: Literal["delivery-link", "delivery-halted", "certificate"]
    text: str
    way: str = ""
    refused: int | None = None
    wanted: int | None = None

    @property
    def said(self) -> str:
        """What is the matter, and what to do."""
        return f"{sentence(self.text)} {self.way}" if self.way else self.text

    @property
    def halts(self) -> bool:
        return self.code == "delivery-halted"


@dataclass(frozen=True, slots=True)
class Link:
    """Whether bets may be taken as far as delivery goes; ``reason`` says why not, in stable words.

    ``trouble``: what is in the way has an alarm of its own. ``placed``: what the game server said a moment
    ago of its players, while the link is good; nothing depends on it.
    """

    good: bool
    reason: str
    trouble: bool = False
    placed: Placed | None = None


@dataclass(frozen=True, slots=True)
class Outbox:
    """The state. Make the first one with :meth:`begin`; every method gives a new one.

    ``high``: the newest event ever acknowledged: only beyond it is progress. ``single_until``: events up
    to it go one by one, to find the one the server refused in a batch. ``kept_from``: the oldest event that
    can be sent; ``skips``: events older than it in whose place a ``history.skipped`` can. ``sure``: the
    newest event that can have been sent from here before the first answer: a server that has more had it
    from rows that are lost. ``overtaken``: a person gave an order after the request in flight went out: its
    answer is of before. ``sent_at``: when the newest try began. ``placed``: of the newest answer.
    """

    head: int
    acked: int
    high: int = 0
    ages: Ages = Ages()  # noqa: RUF009 frozen
    in_flight: Send | Probe | None = None
    sent_at: int | None = None
    overtaken: bool = False
    probed: bool = False
    failures: int = 0
    not_before: int = 0
    last_at: int | None = None
    last_error: str | None = None
    placed: Placed | None = None
    single_until: int = 0
    trouble: Trouble | None = None
    kept_from: int = 1
    skips: frozenset[int] = frozenset()
    parked: frozenset[int] = frozenset()
    """Events in whose place an ``event.parked`` goes out: they are not parked again."""
    sure: int | None = None
    by_word: bool = False
    """The bytes are compared elsewhere, by the stream: what the game server says it has, it has from here."""

    @classmethod
    def begin(
        cls,
        now: int,
        *,
        head: int,
        acked: int,
        kept_from: int = 1,
        skips: frozenset[int] = frozenset(),
        parked: frozenset[int] = frozenset(),
        sure: int | None = None,
    ) -> Outbox:
        """At a start. Events owed from before count as old."""
        ages = Ages().overdue(head, now) if head > acked else Ages()
        return cls(head, acked, acked, ages, kept_from=kept_from, skips=skips, parked=parked, sure=sure)

    def stored(self, head: int, boot: int) -> Outbox:
        """Events up to ``head`` are in the journal; the oldest new one since ``boot``."""
        if head <= self.head:
            return self
        return replace(self, head=head, ages=self.ages.stored(head, boot))

    @property
    def owed(self) -> int:
        """Events not acknowledged."""
        return self.head - self.acked

    def next_action(self, now: int) -> Action:
        """What to do at ``now``."""
        if self.in_flight is not None:
            return Wait(None)
        if self.trouble is not None and self.trouble.halts:
            return Halted(self.trouble.text)
        if now < self.not_before:
            return Wait(self.not_before)
        if not self.probed:
            return Probe()
        if self.owed:
            first = self.acked + 1
            return Send(first, 1 if first <= self.single_until else min(BATCH, self.owed))
        due = (self.last_at or 0) + (self._probe_after() if self.last_error is None else 0)
        return Probe() if now >= due else Wait(due)

    def _probe_after(self) -> int:
        """How long after a good answer the next probe is due, with nothing to send."""
        if self.placed is None or self.sent_at is None or self.last_at is None:
            return PROBE_EVERY
        return min(PROBE_EVERY, asked_after(self.last_at - self.sent_at))

    def sending(self, action: Send | Probe, at: int | None = None) -> Outbox:
        """The try of ``action`` begins, ``at`` this moment; again, when it turns out that fewer events go."""
        return replace(self, in_flight=action, sent_at=self.sent_at if at is None else at)

    def retried(self) -> Outbox:
        """A person says that it may work now: forget the trouble and ask the server at once."""
        return replace(self.asked_anew(), trouble=None, failures=0, not_before=0, single_until=0)

    def asked_anew(self) -> Outbox:
        """Ask the server before anything else is sent, whatever it answers to the request in flight."""
        return replace(self, probed=False, overtaken=self.in_flight is not None)

    def answered(self, now: int, answer: Answer | Failed, jitter: float) -> Outbox:
        """The request in flight ended with ``answer``; one that an order overtook says nothing any more."""
        request = self.in_flight
        if request is None:
            raise ValueError("no request is in flight")
        if self.overtaken:
            return replace(self, in_flight=None, overtaken=False)
        verdict = classify(answer)
        box = replace(self, in_flight=None, last_at=now, placed=verdict.placed)
        match verdict.kind:
            case Kind.NEXT:
                return box._moved(now, request, verdict.next, verdict.taken, jitter)
            case Kind.LATER:
                return box._later(now, verdict.text, jitter, verdict.retry_after)
            case Kind.LINK:
                return box._at_fault(now, verdict.text, verdict.way)
            case Kind.HALT:
                return box._halted(verdict.text, verdict.way)
            case Kind.EVENT:
                return box._refused(now, request, verdict.text)

    def _moved(self, now: int, request: Send | Probe, wanted: int, taken: bool, jitter: float) -> Outbox:
        """The server wants event ``wanted``. ``taken``: as of a verdict; if not, it is no success either."""
        first = request.first if isinstance(request, Send) else self.acked + 1
        if wanted > self.head + 1:
            return self._halted(
                f"the server is ahead of this journal: it wants event {in_words(wanted)}, "
                f"the newest here is {self.head}",
                ways.AHEAD,
            )
        if self.sure is not None and wanted > self.sure + 1:
            return self._halted(
                f"the server is ahead of this journal: it wants event {in_words(wanted)}, and the events "
                f"behind {self.sure} that it has were lost here; others have their numbers now",
                ways.LOST,
            )
        if wanted < 1:
            text = f"the server wants event {in_words(wanted)}, the first one is 1"
            return self._halted(text, ways.MENDED)
        if wanted < self.kept_from and wanted not in self.skips:
            return self._halted(
                f"the server wants event {wanted}; the oldest kept here is {self.kept_from}",
                ways.gone(wanted, self.kept_from),
                wanted=wanted,
            )
        if isinstance(request, Send) and wanted == first:
            return self._later(now, f"the server took nothing of event {first}", jitter, None)
        if wanted >= first and not taken:
            what = f"events from {first} on" if isinstance(request, Send) else "the empty probe"
            text = f"the server refuses {what} with 409 and wants {wanted}: that takes none"
            return self._later(now, text, jitter, None)
        acked, ages = min(wanted - 1, self._shown(request)), self.ages
        if acked < self.acked:  # what it lacks was stored long ago
            ages = ages.overdue(self.acked, now)
        box = replace(
            self,
            acked=acked,
            high=max(self.high, acked),
            ages=ages.acked(acked),
            probed=True,
            last_error=None,
            not_before=0,
            sure=None,
        )
        if wanted < first and self.failures:  # asked back again and again: not at the network's speed
            return box._later(now, f"the server goes back to event {wanted} again", jitter, None)
        if wanted < first:
            return replace(box, failures=1)
        if isinstance(request, Probe) and box.owed:
            # It proves that the address answers, not that events are taken: what went wrong stays.
            return box
        progress = acked > self.high or isinstance(request, Probe)
        return replace(box, failures=0 if progress else self.failures, trouble=None)

    def _shown(self, request: Send | Probe) -> int:
        """The newest event of which the server has seen the bytes as they stand here.

        That it has more by its own word proves nothing: a journal that was put back holds other events under
        those numbers. They are sent, and it compares.
        """
        if self.by_word:
            return self.head
        if isinstance(request, Probe):
            return self.acked
        # Behind a history.skipped it goes on where a pit boss said.
        return self.head if request.last in self.skips else request.last

    def _later(self, now: int, text: str, jitter: float, retry_after: float | None) -> Outbox:
        full = min(BACKOFF_CAP, BACKOFF_FIRST << min(self.failures, 10))
        delay = full // 2 + int(full // 2 * jitter)
        if retry_after is not None:
            delay = max(delay, int(min(RETRY_AFTER_CAP, retry_after * SECOND)))
        return replace(self, failures=self.failures + 1, not_before=now + delay, last_error=text)

    def _at_fault(self, now: int, text: str, way: str = "") -> Outbox:
        return replace(
            self,
            trouble=Trouble("delivery-link", text, way),
            last_error=text,
            probed=False,
            failures=self.failures + 1,
            not_before=now + SLOW_PROBE,
        )

    def _halted(
        self, text: str, way: str, *, refused: int | None = None, wanted: int | None = None
    ) -> Outbox:
        return replace(self, trouble=Trouble("delivery-halted", text, way, refused, wanted), last_error=text)

    def _refused(self, now: int, request: Send | Probe, text: str) -> Outbox:
        if isinstance(request, Probe):
            return self._at_fault(now, f"the server refuses the empty probe: {text}")
        if request.count > 1:
            return replace(self, single_until=request.last, last_error=text)
        first = request.first
        way = ways.PARKED if first in self.parked else ways.refused(first)
        return self._halted(f"the server refuses event {first}: {text}", way, refused=first)

    def link(self, now: int) -> Link:
        """The rule for taking bets: the last exchange succeeded lately, and nothing old is owed."""
        if self.trouble is not None:
            return Link(False, self.trouble.text, trouble=True)
        if self.last_at is None or not self.probed:
            return Link(False, self.last_error or "the game server has not answered yet")
        if self.last_error is not None:
            return Link(False, self.last_error)
        if now - self.last_at > LINK_AGE:
            return Link(False, "no word from the game server for 30 s")
        if self.owed and self.ages.too_old(now):
            return Link(False, "the game server is owed events older than 2 s")
        return Link(True, "", placed=self.placed if now - self.last_at <= AGE else None)


def message_id(table: str, epoch: str, ids: Sequence[str]) -> str:
    """The ``webhook-id``: of the event, ``<first>_<last>`` of a batch; a probe's names the history too."""
    match ids:
        case []:
            return f"{table}-{epoch}-probe"
        case [one]:
            return one
        case [first, *_, last]:
            return f"{first}_{last}"
    raise AssertionError(ids)
