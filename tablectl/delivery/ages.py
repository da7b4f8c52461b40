"""How old the events are that the game server is owed: few marks, however many events. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass

from tablectl.clock import SECOND

OWED_AGE = 2 * SECOND
"""An event that is owed for longer is overdue."""
_GRAIN = SECOND // 10
"""Events stored this close together count as stored at once, so that the marks stay few."""


@dataclass(frozen=True, slots=True)
class Ages:
    """``marks``: pairs (sequence, boot ns): the events up to it, behind the mark before, were stored then."""

    marks: tuple[tuple[int, int], ...] = ()

    def stored(self, sequence: int, boot: int) -> Ages:
        """Events up to ``sequence`` are new, the oldest of them stored at ``boot``."""
        marks = self.marks
        if marks and boot - marks[-1][1] < _GRAIN:
            return Ages((*marks[:-1], (sequence, marks[-1][1])))
        old = [mark for mark in marks if boot - mark[1] > OWED_AGE]
        kept = marks[max(0, len(old) - 1) :]
        if old:  # all of these are overdue already: one mark for them will do
            kept = ((old[-1][0], old[0][1]), *kept[1:])
        return Ages((*kept, (sequence, boot)))

    def overdue(self, sequence: int, now: int) -> Ages:
        """The events up to ``sequence``, older than all marks, are owed too, and from long ago."""
        return Ages(((sequence, now - OWED_AGE - 1), *self.marks))

    def acked(self, sequence: int) -> Ages:
        """The events up to ``sequence`` are owed no more."""
        return Ages(tuple(mark for mark in self.marks if mark[0] > sequence))

    def too_old(self, now: int) -> bool:
        """Whether one that is owed is overdue."""
        return bool(self.marks) and now - self.marks[0][1] > OWED_AGE
