"""Who gives a pit boss's command: PINs checked one at a time per name, slowed down, and written down.

Wrong PINs are counted by name and by the user who sent them: nobody locks a pit boss out from another
account. Every name that is no pit boss's stands in one line, with one count: whoever guesses there holds up
no pit boss, and writes no more rows than the waits allow. (The names themselves are no secret: they are in
the events as ``approved_by``.)

When the wait begins to hurt the pit is told by the alert ``pin-lockout``: a pit boss who forgot a PIN needs a
new one, and somebody who guesses needs to be looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from tablectl.clock import SECOND, Instant
from tablectl.core import Core, Record
from tablectl.events import CommandRecorded, PinAttempted
from tablectl.pins import LOCK_OUT, Attempts, PitBosses

UNKNOWN = ""
"""The line of all names that are no pit boss's."""

NOBODY = "no pit boss is known here: the credential pit-bosses is missing"

BUSY = "the controller is busy; try again"


class NotLetIn(Exception):
    """The text says why. ``status``: of the HTTP answer; ``retry_after``: seconds to wait, if that is it."""

    def __init__(self, text: str, status: int = 403, retry_after: int | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.retry_after = retry_after


class Gate:
    """All methods run on the service loop.

    ``alarm(code, text)`` raises an alert. ``history``: the PIN attempts of before the start; of a lock-out
    among them the pit is told only if it lasts still.
    """

    def __init__(
        self,
        pit_bosses: PitBosses,
        core: Core,
        clock: Callable[[], Instant],
        alarm: Callable[[str, str], None],
        history: Iterable[tuple[PinAttempted, Instant]] = (),
    ) -> None:
        self._pit_bosses = pit_bosses
        self._core = core
        self._clock = clock
        self._alarm = alarm
        self._lines = {name: asyncio.Lock() for name in (*pit_bosses.names, UNKNOWN)}
        self._noted: dict[str, int] = {}
        """The wait whose first refused try is written down already."""
        self.lock_outs = 0
        """How often a wait began that the pit is told of, since the start: some are over within seconds."""
        self._attempts = Attempts()
        now = clock().boot
        for event, at in history:
            # An attempt of the machine's last run may lie ahead of this run's clock.
            self._count(self._counts_as(event.person, event.uid), event.good, min(at.boot, now))
        for counts_as in self._attempts.locked_out(now):
            self._tell_pit(counts_as)

    @property
    def locked_out(self) -> int:
        """How many names wait now, each for one user, after so many wrong PINs that the pit was told."""
        return len(self._attempts.locked_out(self._clock().boot))

    def admit(self, pit_bosses: PitBosses) -> None:
        """Their credential came after the start: from now on these are the pit bosses."""
        self._pit_bosses = pit_bosses
        self._lines = {name: asyncio.Lock() for name in pit_bosses.names} | self._lines

    async def let_in(self, asked: CommandRecorded, pin: str | None) -> None:
        """Return if ``pin`` is right for the person of ``asked``. Raises :class:`NotLetIn`.

        Every PIN tried is a row, and so is the command that was refused for it; of those that come
        during one wait the first.
        """
        if not asked.person or pin is None:
            raise self._refuse(asked, NotLetIn("only a pit boss does this: give a name and PIN"))
        counts_as = self._counts_as(asked.person, asked.uid)
        # One at a time: else a burst of guesses would all be tried before the first one counts.
        async with self._lines[self._known(asked.person)]:
            self._check_wait(asked, counts_as)
            moment = self._clock()
            good = await asyncio.to_thread(self._pit_bosses.verify, asked.person, pin)
            attempt = PinAttempted(person=asked.person, good=good, uid=asked.uid)
            self._count(counts_as, good, self._clock().boot)
            if self._attempts.wrong(counts_as) >= LOCK_OUT:
                self.lock_outs += 1
                self._tell_pit(counts_as)
            if not self._core.offer(Record(attempt, moment)):
                raise NotLetIn(BUSY, 503)
        if not good:
            raise self._refuse(asked, NotLetIn("wrong name or PIN" if self._pit_bosses.names else NOBODY))

    def _known(self, name: str) -> str:
        return name if name in self._lines else UNKNOWN

    def _counts_as(self, name: str, uid: int | None) -> str:
        return f"{self._known(name)} {uid}"  # no name has a blank

    def _count(self, counts_as: str, good: bool, now: int) -> None:
        attempts = self._attempts
        self._attempts = attempts.succeeded(counts_as) if good else attempts.failed(counts_as, now)

    def _tell_pit(self, counts_as: str) -> None:
        """Tell the pit, at every wrong PIN: the table keeps one such alert until it is acknowledged."""
        name, _, uid = counts_as.partition(" ")
        wait = self._wait(counts_as)
        text = (
            f"{self._attempts.wrong(counts_as)} wrong PINs in a row for "
            f"{f'pit boss {name}' if name else 'unknown names'}, from uid {uid} of this machine; "
            f"the next try is allowed in {wait} s."
        )
        self._alarm("pin-lockout", text)

    def _wait(self, counts_as: str) -> int:
        """Seconds until the next try is allowed, rounded up; none left: 0 or less."""
        return -(-(self._attempts.allowed_at(counts_as) - self._clock().boot) // SECOND)

    def _check_wait(self, asked: CommandRecorded, counts_as: str) -> None:
        until = self._attempts.allowed_at(counts_as)
        seconds = self._wait(counts_as)
        if seconds <= 0:
            return
        refusal = NotLetIn(f"too many wrong PINs; wait {seconds} s", retry_after=seconds)
        if self._noted.get(counts_as) != until:
            self._noted[counts_as] = until
            self._refuse(asked, refusal)
        raise refusal

    def _refuse(self, asked: CommandRecorded, refusal: NotLetIn) -> NotLetIn:
        """Write the refused command down, without its id: it may come again with the right PIN."""
        event = CommandRecorded(
            id="",
            command=asked.command,
            args=asked.args,
            person=asked.person,
            supervisor=False,
            uid=asked.uid,
            accepted=False,
            answer=f"{asked.command} refused: {refusal}",
            reason=asked.reason,
            saw_round=asked.saw_round,
            saw_version=asked.saw_version,
        )
        self._core.offer(Record(event, self._clock()))
        return refusal
