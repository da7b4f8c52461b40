"""The game server's link as the rest of the table knows it: good or why not, and how long it has been bad.

A link that stays bad is told to the pit: a server that is only gone looks the same at the table as one that
has nothing to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tablectl.clock import SECOND, Instant, iso
from tablectl.delivery.lines import Bucket
from tablectl.delivery.outbox import Link
from tablectl.delivery.placed import Placed
from tablectl.printable import sentence
from tablectl.table import Trouble

NO_SERVER = "no game server is configured ([server] url)"

UNREACHABLE = 30 * SECOND
"""A link that has not been good for so long is an alert."""

MEANS = (
    "Betting stays closed where the house wants the link; a hand begun is finished; "
    "results are delivered later."
)


class ServerLink:
    """``configured``: whether there is a game server. Written by the service loop, read by any thread."""

    def __init__(self, configured: bool, clock: Callable[[], Instant]) -> None:
        self.configured = configured
        self._clock = clock
        self._now: tuple[Link, int] = Link(False, "not asked yet"), clock().boot
        """The link, and since when (boot ns) it is bad without an alarm of its own, if it is."""
        self._alerts = Bucket()
        self._told: int | None = None
        """Since when it was bad when that was told last."""

    @property
    def why(self) -> str | None:
        """Why it is not good; None when it is."""
        link, _ = self._now
        if not self.configured:
            return NO_SERVER
        return None if link.good else link.reason

    @property
    def placed(self) -> Placed | None:
        """What the game server said a moment ago of its players, over a good link."""
        return self._now[0].placed

    def now_is(self, link: Link) -> None:
        """It changed."""
        before, since = self._now
        goes_on = _only_bad(before) and _only_bad(link)
        self._now = link, since if goes_on else self._clock().boot

    def troubles(self, at: Instant) -> Iterator[Trouble]:
        """The alert of a server that has been away for :data:`UNREACHABLE`, at ``at``.

        None where delivery raised its own: what the server refuses is not a server that cannot be reached.
        """
        link, since = self._now
        if not (self.configured and _only_bad(link) and at.boot - since >= UNREACHABLE):
            return
        if since == self._told or self._alerts.take(at.boot):  # one that comes and goes is told now and then
            self._told = since
            began = f"{iso(at.wall_at(since))[:19]}Z"
            text = f"No good link to the game server since {began}: {sentence(link.reason)} {MEANS}"
            yield Trouble(at, "server-unreachable", text)


def _only_bad(link: Link) -> bool:
    return not link.good and not link.trouble
