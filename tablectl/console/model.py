"""The console as a value: what it knows, what stands open on it, and what becomes of a key.  Pure.

Times are seconds of a clock that never goes back.  A key does what the screen said it does: one whose
meaning changed a moment ago, under the finger, is not taken (:data:`SETTLES`), and a command carries the
version of the state that was on the screen.  Without the daemon nothing is sent and nothing is kept for
later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from tablectl.console.bounded import number, text
from tablectl.console.dialog import Choice, Dialog, Leave, Order
from tablectl.console.keys import MORE_WAYS, cap, keys, way_pages
from tablectl.console.language import ENGLISH, Language
from tablectl.console.past import Past
from tablectl.console.questions import SAME, which_card
from tablectl.console.seen import Seen, read

SETTLES = 0.4
"""How long (s) a key must have meant the same before it is taken: nobody reads and acts faster."""
REPEATS = 1.1
"""A key that is held down comes again by itself within so long (s), a second later at the most."""
RUSHES = 0.015
"""Two keys closer than this (s) nobody has pressed: a text was pasted, or they were held up on their way."""
SILENT = 8.0
"""Without an answer for so long (s) what is shown is stale: the daemon answers every 5 s at least."""
LEFT_OPEN = 90.0
"""After so long (s) without a key an open question is closed, and what was typed is gone: a PIN, too."""
LINGERS = {"good": 10.0, "dim": 10.0, "bad": 60.0}
"""How long (s) a message stays on the screen."""
PAD = {
    **{"decimal": ".", "separator": ",", "divide": "/", "multiply": "*", "subtract": "-", "add": "+"},
    **{"ctrl+m": "enter", "ctrl+j": "enter"},
}
"""Keys of a number pad by the names that some terminals give them."""
HOLDS = "0"
"""The key that puts the table on hold, out of any list of choices too."""
NO_NUMBERS = frozenset(
    {"home", "end", "up", "down", "left", "right", "pageup", "pagedown", "insert", "kp_begin"}
)
"""What the digits of a number pad are while its lock is off."""


@dataclass(frozen=True, slots=True)
class Send:
    """A command for the daemon, as ``POST /v1/commands`` wants it, but for the id."""

    name: str
    body: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a command. ``done``: carried out; ``pin``: the PIN was not taken; ``asks``: it was refused
    for want of a word, whether a card is the :data:`SAME` as one that lies aside."""

    done: bool
    text: str
    pin: bool = False
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """Words of the console to whoever works it. ``kind``: ``good``, ``bad`` or ``dim``."""

    text: str
    kind: str
    at: float

    def over(self, now: float) -> bool:
        """Whether it has been read."""
        return now - self.at > LINGERS[self.kind]


@dataclass(frozen=True)
class Model:
    """``heard``: when the daemon last answered; ``lost``: why it does not. ``sending``: what is under way."""

    past: Past = field(default_factory=Past)
    seen: Seen | None = None
    heard: float = 0.0
    lost: str = "not connected yet"
    lost_at: float = 0.0
    dialog: Dialog | None = None
    sending: str = ""
    again: Dialog | None = None
    """Where to go on if the PIN is not taken."""
    asked: Order | None = None
    """What goes on being asked for if it is refused for want of a word; without its PIN."""
    message: Message | None = None
    meant: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """What each key means, and since when."""
    page: int = 0
    settles: float = SETTLES
    touched: float = 0.0
    """When a key was pressed last, and which."""
    last_key: str = ""
    words: Language = ENGLISH

    # --- what comes from the daemon ---------------------------------------------------------------

    def told(self, raw: Mapping[str, Any], now: float) -> Model:
        """A state came."""
        seen = read(raw, self.words)
        back = self.lost and self.seen is not None
        before = self.seen
        # Another history, or this one as it was once: an older journal was put back.
        anew = before is not None and (before.epoch != seen.epoch or seen.sequence < before.sequence)
        model = replace(self, seen=seen, heard=now, lost="", past=Past() if anew else self.past)
        if seen.ways != (self.seen.ways if self.seen else ()):
            model = replace(model, page=0)
        if back:
            gone = f"{max(0.0, now - self.lost_at):.0f}"
            told = self.words("The daemon is back, after {n} s. Compare the screen with the table.", n=gone)
            model = model.says(told, "good", now)
        return model._note_keys(now)

    def gone(self, why: str, now: float) -> Model:
        """The daemon does not answer."""
        return replace(self, lost=text(why, 300), lost_at=self.lost_at if self.lost else now)

    def heard_event(self, event: Mapping[str, Any], now: float) -> Model:
        """One more event."""
        return replace(self, past=self.past.heard(event))._note_keys(now)

    def answered(self, answer: Answer, now: float) -> Model:
        """The command that was under way is answered."""
        again, asked = (None, None) if self.dialog is not None else (self.again, self.asked)
        model = replace(self, sending="", again=None, asked=None)
        if again is not None and asked is not None and answer.asks == SAME:
            told = answer.text.partition("; ")[0]
            make = partial(which_card, asked, told.partition(": ")[2] or told, self.words)
            return replace(model, dialog=replace(again, make=make, answers=()), message=None)
        if answer.pin and again is not None:
            model = replace(model, dialog=again)
        return model.says(answer.text, "good" if answer.done else "bad", now)

    def says(self, words: str, kind: str, now: float) -> Model:
        """The same with a message."""
        return replace(self, message=Message(text(words, 600), kind, now))

    def _note_keys(self, now: float) -> Model:
        if self.seen is None:
            return self
        meant = {
            one.key: (one.means, since if before == one.means else now)
            for one in keys(self.seen, self.past, self.page)
            for before, since in [self.meant.get(one.key, ("", now))]
        }
        return replace(self, meant=meant)

    # --- what is so now ---------------------------------------------------------------------------

    def stale(self, now: float) -> str:
        """Why what is shown is not what is; empty when it is."""
        if self.lost:
            gone = f"{max(0.0, now - self.lost_at):.0f}"
            return self.words("no answer for {n} s; {why}", n=gone, why=self.words.told(self.lost))
        if now - self.heard > SILENT:
            return self.words("no word for {n} s", n=f"{now - self.heard:.0f}")
        return ""

    def seconds_left(self, now: float) -> float | None:
        """Until betting closes."""
        r = self.seen.round if self.seen else None
        if r is None or r.seconds_left is None or self.stale(now):
            return None
        return max(0.0, r.seconds_left - (now - self.heard))

    @property
    def changed_since(self) -> bool:
        """Whether the table is not any more what the open dialog began with."""
        return self.dialog is not None and self.seen is not None and self.dialog.version != self.seen.version

    # --- what comes from the keyboard -------------------------------------------------------------

    def key(self, key: str, now: float) -> tuple[Model, Send | Leave | None]:
        """After a key, and what is to be done outside."""
        key = PAD.get(key, key)
        model, wanted = self._key(key, now)
        return replace(model, touched=now, last_key=key), wanted

    def _unmeant(self, key: str, now: float) -> str:
        """Why nothing may be sent by this key: it may be that nobody has pressed it now. Empty if not."""
        since = now - self.touched
        if not self.settles or not self.last_key:
            return ""
        if key == self.last_key and since < REPEATS:
            return self.words("[{key}] is held down or came twice. Let go, look, press again.", key=cap(key))
        if since < RUSHES:
            return self.words("Nobody presses keys so fast. Look, then press [{key}] again.", key=cap(key))
        return ""

    def _key(self, key: str, now: float) -> tuple[Model, Send | Leave | None]:
        if key in NO_NUMBERS:
            told = self.words("This key does nothing here. On a number pad: switch NumLock on.")
            return self.says(told, "dim", now), None
        if self.dialog is not None and not (key == HOLDS and isinstance(self.dialog.asks(), Choice)):
            return self._in_dialog(self.dialog, key, now)
        if self.seen is None:
            return (self, Leave()) if key in ("escape", ".", "+") else (self, None)
        found = next((one for one in keys(self.seen, self.past, self.page) if one.key == key), None)
        if found is None:
            return (replace(self, message=None) if key in ("escape", ".") else self), None
        if found.means == MORE_WAYS:
            return replace(self, page=(self.page + 1) % way_pages(self.seen))._note_keys(now), None
        since = self.meant.get(key, ("", now))[1]
        if not found.at_once and now - since < self.settles:
            told = "[{key}] has just changed to: {what}. Look, then press again."
            return self.says(self.words(told, key=cap(key), what=found.label), "dim", now), None
        dialog = Dialog(found.label, found.make, self.seen.version, self.seen.where)
        asked = dialog.asks()
        if not isinstance(asked, Order):
            return replace(self, dialog=dialog, message=None), None
        if why := self._unmeant(key, now):
            return self.says(why, "dim", now), None
        return self._send(asked, dialog, now)

    def waited(self, now: float) -> Model:
        """Time has come this far."""
        if self.dialog is None or now - self.touched <= LEFT_OPEN:
            return self
        closed = replace(self, dialog=None)
        told = self.words("{what}: nobody answered, nothing was sent.", what=self.dialog.name)
        return closed.says(told, "dim", now)

    def _in_dialog(self, dialog: Dialog, key: str, now: float) -> tuple[Model, Send | Leave | None]:
        after = dialog.key(key)
        match after:
            case None:
                return replace(self, dialog=None), None
            case Dialog():
                return replace(self, dialog=after, message=None), None
            case Leave():
                return replace(self, dialog=None), after
            case Order() if after.command != "hold" and (why := self._unmeant(key, now)):
                return self.says(why, "dim", now), None
            case Order():
                return replace(self, dialog=None)._send(after, dialog, now)

    def _send(self, order: Order, dialog: Dialog, now: float) -> tuple[Model, Send | None]:
        if why := self.stale(now):
            told = self.words("NOT SENT: {command}; {why}", command=order.command, why=why)
            return self.says(told, "bad", now), None
        if self.sending and order.command != "hold":
            told = self.words(
                "NOT SENT: {command}; wait for {other}", command=order.command, other=self.sending
            )
            return self.says(told, "bad", now), None
        expect: dict[str, int] = {}
        if order.expects:
            expect = {"version": dialog.version, **_round(dialog.where)}
        body = {
            "command": order.command,
            "args": dict(order.args),
            "expect": expect,
            "person": order.person,
            "pin": order.pin,
            "reason": order.reason,
        }
        again, asked = (
            (None, None) if order.pin is None else (replace(dialog, typed=""), replace(order, pin=None))
        )
        model = replace(self, sending=order.command, again=again, asked=asked, message=None)
        return model, Send(order.command, body)


def _round(where: str) -> dict[str, int]:
    """Shoe and round out of ``12/34``; nothing between rounds."""
    shoe, stroke, round_ = where.partition("/")
    parts = [int(part) if part.isascii() and part.isdigit() else None for part in (shoe, round_)]
    if not stroke or number(parts[0]) is None or number(parts[1]) is None:
        return {}
    return {"shoe": parts[0] or 0, "round": parts[1] or 0}
