"""What a delivery tells of itself: the log, the table's alerts, and whether the link is good.

A link that comes and goes must not fill the log or the table's events, and the last state must be told.
"""

from __future__ import annotations

import re
from dataclasses import replace

import structlog

from tablectl.clock import SECOND
from tablectl.delivery.job import Job
from tablectl.delivery.lines import Bucket, Lines
from tablectl.delivery.outbox import Link, Outbox, Trouble
from tablectl.delivery.tls import Tls
from tablectl.printable import sentence

DAY = 86_400 * SECOND

OF_THE_LINK = ("delivery-halted", "delivery-link", "server-unreachable")
"""The alerts of which none is true while the link is good."""
OVER = "Over: the game server's link is good and the delivery goes on."
COMES_AND_GOES = "It comes and goes."

log = structlog.get_logger(__name__)


class Telling:
    """Tells whom the ``job`` names. Times are boot ns."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._lines = Lines()
        self._alerts = Bucket()
        self._link: Link | None = None
        self._well = False
        """Whether it was told that no trouble is left, here or by the process before."""
        self._late: Trouble | None = None
        """Trouble that was told too often: it is told when it stands again later."""
        self._warned: dict[str, int] = {}

    def answered(self, at: int, before: Outbox, after: Outbox) -> None:
        """What an answer changed: trouble that began, a try that failed, one that went well again."""
        if after.trouble is not None and _kind(after.trouble) != _kind(before.trouble):
            if self._alerts.take(at) or after.trouble.halts:
                self._late = None
                self._alarm(after.trouble)
            else:
                self._late = after.trouble
        if after.last_error is not None:
            left_out = self._lines.worth(at, after.last_error)
            if left_out is not None:
                log.warning(
                    "delivery failed",
                    table=self._job.table,
                    reason=after.last_error,
                    owed=after.owed,
                    left_out=left_out,
                )
        elif before.last_error is not None and self._lines.worth(at, "again") is not None:
            log.info("delivery goes on", table=self._job.table, owed=after.owed)

    def late(self, at: int, trouble: Trouble | None) -> None:
        """Trouble of a link that comes and goes is told in the end, if it stands: the last state counts.

        That it is over needs no such care: it changes an alert that was raised, or nothing.
        """
        late = self._late
        if late is not None and _kind(trouble) != _kind(late):
            self._late = None
        elif late is not None and self._alerts.take(at):
            self._late = None
            way = f"{sentence(late.way)} {COMES_AND_GOES}" if late.way else COMES_AND_GOES
            self._alarm(replace(late, way=way))

    def link(self, link: Link) -> None:
        """How it stands now; at once, whenever that changes."""
        if link != self._link:
            self._link = link
            self._job.on_link(link)
        if link.good != self._well:
            self._well = link.good
            for code in OF_THE_LINK if link.good else ():
                self._job.on_over(code, OVER)

    def certificates(self, tls: Tls | None) -> None:
        """Once a day: a certificate that ends soon."""
        at = self._job.clock()
        for text in () if tls is None else tls.ending(at.wall / SECOND, self._job.warn_days):
            whose = text.partition(" certificate ")[0]
            if at.boot - self._warned.get(whose, at.boot - DAY) >= DAY:
                self._warned[whose] = at.boot
                self._alarm(Trouble("certificate", f"{text[0].upper()}{text[1:]}."))

    def _alarm(self, trouble: Trouble) -> None:
        log.error("delivery alarm", table=self._job.table, code=trouble.code, reason=trouble.text)
        self._job.on_alarm(trouble.code, trouble.said)


def _kind(trouble: Trouble | None) -> str:
    """Trouble without the numbers in a server's words: one that counts seconds is not a new alarm."""
    if trouble is None:
        return ""
    words = re.sub(r"\d+", "#", trouble.text)
    return f"{trouble.code} {trouble.refused} {trouble.wanted} {words}"
