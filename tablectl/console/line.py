"""The console's line to the daemon: threads that ask, follow and send, and hand over what they heard.

One follows the state by long polls, one the events, and each command has one of its own: none waits for
another, and the screen waits for none.  All of them die with the process.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from tablectl.console.language import ENGLISH, Language
from tablectl.console.model import Answer, Send
from tablectl.console.past import WANTED
from tablectl.local import Client, Interrupted, NotReachable

AGAIN = 0.5
"""How long (s) until the next try."""
ONCE_MORE = 0.2
"""How long (s) until a command that was not answered is asked for again."""
POLL_SECONDS = 7.5
"""A poll that is not answered by then is broken off; the daemon answers after 5 s at the latest."""
BACKLOG = 3000
"""Events read at the start: more than a shoe has."""


class Line:
    """To one daemon. The callbacks run on threads of this line and only hand over what they are given."""

    def __init__(
        self,
        path: str,
        *,
        table: str | None,
        words: Language = ENGLISH,
        told: Callable[[Mapping[str, Any]], None],
        gone: Callable[[str], None],
        heard: Callable[[Mapping[str, Any]], None],
        answered: Callable[[Answer], None],
    ) -> None:
        self._path = path
        self._table = table
        self._words = words
        self._told = told
        self._gone = gone
        self._heard = heard
        self._answered = answered
        self._over = threading.Event()
        self._epoch = ""
        self._newest = 0
        self._begin = 0, 0
        """Which history this is, counted, and behind which event it is followed."""
        self._known = threading.Event()

    def start(self) -> None:
        """Begin to follow."""
        for name, work in (("console-state", self._follow_state), ("console-events", self._follow_events)):
            threading.Thread(target=work, name=name, daemon=True).start()

    def stop(self) -> None:
        """Hand over nothing more."""
        self._over.set()

    # --- looking ----------------------------------------------------------------------------------

    def _follow_state(self) -> None:
        client = Client(self._path, POLL_SECONDS)
        newest: int | None = None
        while not self._over.is_set():
            try:
                state = client.state(newest)
                if self._table is not None and state.get("table") != self._table:
                    raise Interrupted(self._another(state.get("table")))
            except NotReachable as fault:
                newest = None
                self._say(self._gone, str(fault).removeprefix(f"{self._path}: "))
                self._over.wait(AGAIN)
                continue
            row = state.get("row")
            newest = row if isinstance(row, int) and not isinstance(row, bool) else None
            self._say(self._told, state)
            self._note(state)  # behind it: with another history what was heard before is forgotten
            if newest is None:
                self._over.wait(AGAIN)

    def _another(self, table: Any) -> str:
        return self._words("this is table {this}, not {that}", this=table, that=self._table)

    def _note(self, state: Mapping[str, Any]) -> None:
        """Where the events begin that are to be followed: anew with another history, or an older journal."""
        epoch, sequence = str(state.get("epoch")), state.get("sequence")
        if not isinstance(sequence, int):
            return
        if epoch != self._epoch or sequence < self._newest:
            self._begin = self._begin[0] + 1, max(0, sequence - BACKLOG)
            self._known.set()
        self._epoch, self._newest = epoch, sequence

    def _follow_events(self) -> None:
        client = Client(self._path)
        history = after = 0
        while not self._over.is_set():
            if not self._known.wait(AGAIN):
                continue
            if history != self._begin[0]:
                history, after = self._begin
            with contextlib.suppress(NotReachable):
                for line in client.events(f"/v1/events?after={after}"):
                    if self._over.is_set() or self._begin[0] != history:
                        break
                    after = self._event(line, after)
            self._over.wait(AGAIN)

    def _event(self, line: str, after: int) -> int:
        try:
            event = json.loads(line)
            sequence = int(event["sequence"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return after
        if any(name in str(event.get("type")) for name in WANTED):
            self._say(self._heard, event)
        return sequence

    def _say(self, to: Callable[[Any], None], what: Any) -> None:
        if not self._over.is_set():
            to(what)

    # --- ordering ---------------------------------------------------------------------------------

    def send(self, order: Send) -> None:
        """Send a command; :attr:`answered` is called once."""
        body = {"id": secrets.token_hex(16), **order.body}
        threading.Thread(
            target=lambda: self._say(self._answered, ask(Client(self._path), order.name, body, self._words)),
            name="console-command",
            daemon=True,
        ).start()


def ask(client: Client, name: str, body: Mapping[str, Any], w: Language = ENGLISH) -> Answer:
    """Send it; where no answer comes the same once more, which the daemon does not carry out twice."""
    for last in (False, True):
        try:
            status, answer = client.post("/v1/commands", body)
        except NotReachable as fault:
            sent = isinstance(fault, Interrupted)
            if not sent and not last:
                return Answer(False, w("NOT SENT: {command}; {why}", command=name, why=fault))
            if last:
                return Answer(False, _unknown(name, str(fault), w))
            time.sleep(ONCE_MORE)
            continue
        if status == 503 and not isinstance(answer.get("kept"), bool) and not last:
            time.sleep(ONCE_MORE)
            continue
        return _told(name, status, answer, w)
    raise AssertionError("unreachable")


def _unknown(name: str, why: str, w: Language) -> str:
    told = (
        "Whether '{command}' was carried out is not known: look at the table before it is given again. {why}"
    )
    return w(told, command=name, why=why)


def _told(name: str, status: int, answer: Mapping[str, Any], w: Language) -> Answer:
    told = str(answer.get("answer") or answer.get("error") or "")
    words = w.answered(told)
    if status == 200 and answer.get("accepted") is True:
        return Answer(True, words or w("done"))
    if status not in (400, 403, 409, 503) or not words:
        return Answer(False, _unknown(name, f"HTTP {status} {words}".strip(), w))
    after = answer.get("retry_after")
    if isinstance(after, int | float) and after > 0:
        words += w("; try again in {n} s", n=f"{after:.0f}")
    if answer.get("kept") is not True and "refused: " not in told[:30]:
        words = w("refused: {why}", why=words)
    asks = answer.get("asks")
    return Answer(False, words, pin=status == 403, asks=asks if isinstance(asks, str) else "")
