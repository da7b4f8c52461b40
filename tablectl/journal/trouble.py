"""A journal that cannot be written, in words: what is wrong, what it means, and the way out.

An alert is a row, and no row can be written while this lasts: whoever shows the table (state, status,
alerts, health, metrics, log) says it from here. The stored alert comes afterwards, and speaks of the past.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tablectl.journal.disk import Cause
from tablectl.printable import sentence


@dataclass(frozen=True, slots=True)
class JournalTrouble:
    """``code``: of its alert; ``what``, ``was``: what is wrong, while it lasts and afterwards.

    ``means``: for the table, meanwhile; ``way``: who does what about it; ``error``: the system's words.
    """

    code: str
    what: str
    was: str
    way: str
    means: str = "No betting opens and no command is taken until it can be written; a hand in play is kept."
    error: str = ""

    @property
    def because(self) -> str:
        """What is wrong, with the system's own words."""
        return f"{self.what}: {self.error}" if self.error else self.what

    @property
    def present(self) -> str:
        """For who looks while it lasts."""
        return f"{self._sentence(self.because)} {self.means} {self.way}"

    @property
    def past(self) -> str:
        """For the alert, which is stored once it can be: by then it is over, or another row says so."""
        words = f"{self.was} ({self.error})" if self.error else self.was
        way = self.way.partition(";")[0]
        return f"{self._sentence(words)} What waited is written. {way}, before it is so again."

    def refuses(self, command: str) -> str:
        """For who gives a command now."""
        return (
            f"{command} refused: {sentence(self.because)} It was not carried out and will not be by itself. "
            f"{self.way.partition(';')[0]}; then give it again"
        )

    def keeps(self, command: str) -> str:
        """For who gave a command before it began: it is with the table, its answer is not stored."""
        return (
            f"{command} waits: {sentence(self.because)} It came before that, and takes effect (or is "
            "refused) by itself as soon as the journal can be written; do not give it again, look at "
            "`tablectl status`. "
            f"{self.way.partition(';')[0]}"
        )

    @staticmethod
    def _sentence(text: str) -> str:
        return sentence(f"{text[0].upper()}{text[1:]}")


BEHIND = JournalTrouble(
    "disk-slow",
    "the journal's disk is slow: one write takes over two seconds",
    "the journal's disk was slow: one write took over two seconds",
    "A technician looks at the disk; the table goes on by itself.",
    "No betting opens until it is done, and answers wait for it.",
)
_FAILING: dict[Cause | None, JournalTrouble] = {
    "full": JournalTrouble(
        "disk-full",
        "the journal's disk is full",
        "the journal's disk was full",
        "A technician frees room on it; the table goes on by itself.",
    ),
    "readonly": JournalTrouble(
        "disk-readonly",
        "the journal's disk is read-only",
        "the journal's disk was read-only",
        "A technician looks at the disk (dmesg) and makes it writable; the table goes on by itself.",
    ),
    "locked": JournalTrouble(
        "journal-locked",
        "another program holds the journal",
        "another program held the journal",
        "A technician ends that program; the table goes on by itself.",
    ),
    "failing": JournalTrouble(
        "journal",
        "the journal cannot be written",
        "the journal could not be written",
        "A technician looks at the disk, with the mirror or a backup ready; the table goes on by itself.",
    ),
}


def trouble_of(state: str, cause: Cause | None, error: str) -> JournalTrouble | None:
    """What is wrong with a journal in this state; None when it is well."""
    match state:
        case "slow":
            return BEHIND
        case "failing":
            return replace(_FAILING.get(cause, _FAILING["failing"]), error=error)
        case _:
            return None
