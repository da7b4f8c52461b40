"""Commands that were answered: one sent again under its id gets its answer again, and is not done twice."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import dataclass

from tablectl.events import CommandRecorded
from tablectl.table import Command

ANSWERS = 2_000
"""Commands remembered, the newest."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the sender of a command is told, after the commit."""

    accepted: bool
    text: str
    where: str
    version: int
    asks: str = ""
    """The argument that a refused command is asked for: again with it, and it may be carried out."""


class Answers:
    """The answers by the commands' ids. A command without an id is never remembered."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[bytes, Answer]] = OrderedDict()

    def store(self, asked: Command | CommandRecorded, answer: Answer) -> None:
        """``asked`` was answered so."""
        if asked.id:
            self._known[asked.id] = _digest(asked), answer
            if len(self._known) > ANSWERS:
                self._known.popitem(last=False)

    def has(self, id_: str) -> bool:
        """Whether a command with this id was answered."""
        return id_ in self._known

    def find(self, asked: Command | CommandRecorded) -> Answer | CommandRecorded | None:
        """The answer it got; the record of its refusal if its id stands for another; None: it is new."""
        known = self._known.get(asked.id)
        if known is None:
            return None
        digest, answer = known
        return answer if digest == _digest(asked) else _reused(asked)


def _name(asked: Command | CommandRecorded) -> str:
    return asked.kind.value if isinstance(asked, Command) else asked.command


def _digest(asked: Command | CommandRecorded) -> bytes:
    """What was asked and by whom: two commands under one id are the same only if this is."""
    same = [_name(asked), sorted(asked.args.items()), asked.person]
    return hashlib.sha256(json.dumps(same).encode()).digest()


def _reused(asked: Command | CommandRecorded) -> CommandRecorded:
    """A refusal; it is written down without the id, which stays the other command's."""
    return CommandRecorded(
        id="",
        command=_name(asked),
        args=asked.args,
        person=asked.person,
        supervisor=asked.supervisor,
        uid=asked.uid,
        accepted=False,
        answer=f"{_name(asked)} refused: this id was used for another command ({asked.id})",
        reason=asked.reason,
    )
