"""Taking events: who sends, is it whole, is it this table's history, is it the next one.

The answer is an HTTP status and a JSON object.  200 and 409 carry ``next``; every refusal carries
``error`` in words a technician at the table can use.  Statuses: contract, section 3.  500: something that
nobody foresaw (:mod:`tablectl.gameserver.surprise`); nothing of the event is kept.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from tablectl.delivery.form import BATCH_TYPE, SINGLE_TYPE
from tablectl.delivery.outbox import message_id as named
from tablectl.delivery.signing import SignatureRefused, parse_secrets, verify
from tablectl.gameserver.bank import Bank
from tablectl.gameserver.betting import OPENED, SILENCE, Window, Windows, ends, opens
from tablectl.gameserver.messages import MOST_SEQUENCE, Message, Unreadable, claimed, probe_history, read
from tablectl.gameserver.money import TooMuch
from tablectl.gameserver.results import Impossible, place, settle
from tablectl.gameserver.store import SKIPPED, Store, Taken
from tablectl.gameserver.surprise import Surprises


@dataclass(frozen=True, slots=True)
class Reply:
    """``of``: epoch and sequence of the message of a stream that was judged; None: no event of its table."""

    status: int
    payload: dict[str, Any]
    of: tuple[str, int] | None = None


class _Refused(Exception):
    def __init__(self, status: int, words: str, **more: object) -> None:
        super().__init__(words)
        self.reply = Reply(status, {"error": words, **more})


class Intake:
    """One server's rules for taking. ``secrets``: as in :func:`parse_secrets`, which may raise."""

    def __init__(
        self,
        store: Store,
        secrets: Sequence[str],
        *,
        accept_test: bool = False,
        clock: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], float] = time.monotonic,
        silence: float = SILENCE,
    ) -> None:
        self._store = store
        self.bank = Bank(store, self.window)
        self._monotonic = monotonic
        self._windows = Windows(silence)
        self._surprises = Surprises()
        self._keys = parse_secrets(secrets)
        self._accept_test = accept_test
        self._clock = clock

    def take(self, table: str, content_type: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Judge one request to ``table`` and keep what is good of it, on the disk before this returns."""
        now, monotonic, at = self._clock(), self._monotonic(), "a request of it"
        try:
            message_id = verify(self._keys, headers, body, now / 1e9)
            kind = content_type.partition(";")[0].strip().lower()
            if kind not in (SINGLE_TYPE, BATCH_TYPE):
                raise _Refused(415, f"send {SINGLE_TYPE} or {BATCH_TYPE}, not {kind!r:.60}")
            messages = read(body, batch=kind == BATCH_TYPE)
            if not messages:
                reply = self._probed(table, message_id)
                self._windows.heard(table, monotonic, now / 1e9)
                return self._with_placed(table, reply)
            at = f"event {messages[0].sequence}"
            _check_name(message_id, messages)
            self._check_sender(table, messages)
            return self._with_placed(table, self._keep(table, messages, now, monotonic))
        except SignatureRefused as refused:
            return Reply(401, {"error": str(refused)})
        except Unreadable as unreadable:
            return Reply(400, {"error": str(unreadable)})
        except _Refused as refused:
            return refused.reply
        except Exception as error:  # noqa: BLE001 whatever it is, it is this table's alone
            return self._surprised(table, at, error)

    def take_message(self, table: str, body: bytes) -> Reply:
        """Judge one message of a stream, whose server has seen to who may publish for ``table``."""
        of, at = None, "a message"
        try:
            (message,) = messages = read(body, batch=False)
            of = (message.epoch, message.sequence) if message.table == table else None
            at = f"event {message.sequence}"
            self._check_sender(table, messages)
            reply = self._keep(table, messages, self._clock(), self._monotonic())
        except Unreadable as unreadable:
            reply, of = Reply(400, {"error": str(unreadable)}), claimed(table, body)
        except _Refused as refused:
            reply = refused.reply
        except Exception as error:  # noqa: BLE001 whatever it is, it is this table's alone
            reply, of = self._surprised(table, at, error), of or claimed(table, body)
        return replace(reply, of=of)

    def wanted(self, table: str, epoch: str) -> Reply:
        """What is wanted next of a table that asks with its history, or without one. Pins nothing.

        Where nothing is held yet a person may accept that history: its table may wait for just that.
        """
        try:
            reply = self._probed(table, f"{table}-{epoch}-probe")
            if self._store.held(table) is None and probe_history(f"{table}-{epoch}-probe") is not None:
                self._store.refuse_epoch(table, epoch)
            self._windows.heard(table, self._monotonic(), self._clock() / 1e9)
            return self._with_placed(table, reply)
        except _Refused as refused:
            return refused.reply
        except Exception as error:  # noqa: BLE001 whatever it is, it is this table's alone
            return self._surprised(table, "its question", error)

    def _surprised(self, table: str, at: str, error: Exception) -> Reply:
        """What a table is told of it. Betting there is over: how much of its hand is missed is not known."""
        words = self._surprises.words(table, at, error)
        self._store.then(partial(self._windows.lost, table))
        self._store.then(partial(self.bank.changed, table))
        return Reply(500, {"error": words})

    def _with_placed(self, table: str, reply: Reply) -> Reply:
        """A good answer, and in it for the dealer while betting is open: how many have placed."""
        if reply.status != 200 or (placed := self.bank.placed(table, self._monotonic())) is None:
            return reply
        return replace(reply, payload=reply.payload | {"placed": asdict(placed)})

    def betting(self, table: str) -> dict[str, Any]:
        """Whether wagers are taken now, and what closed the window."""
        window, *_ = self.window(table)
        if window is None:
            return {"open": False, "why": "no betting.opened since the start"}
        return {"open": not window.why, "why": window.why, "shoe": window.shoe, "round": window.round}

    def window(self, table: str) -> tuple[Window | None, float, float]:
        """The newest window as it is at this moment, how long (s) it stays open at most, and unheard."""
        held = self._store.held(table)
        if held is not None:
            self._windows.accepted(table, held.epoch)
        monotonic, wall = self._monotonic(), self._clock() / 1e9
        window = self._windows.of(table, monotonic, wall)
        if window is None or window.why:
            return window, 0.0, 0.0
        left = min(window.until - monotonic, window.closes_at - wall)
        return window, left, min(left, window.heard + self._windows.silence - monotonic)

    def _probed(self, table: str, message_id: str) -> Reply:
        """The empty batch: what is wanted next. Pins nothing."""
        held, history = self._store.held(table), probe_history(message_id)
        if history is not None and history[0] != table:
            raise _Refused(403, f"this is the address of table {table}, not of {history[0]}")
        if held is not None and history is not None and history[1] != held.epoch:
            self._other_history(table, held.epoch, history[1])
        return Reply(200, {"next": held.next if held else 1})

    def _check_sender(self, table: str, messages: list[Message]) -> None:
        for message in messages:
            if message.table != table:
                raise _Refused(403, f"this is the address of table {table}, not of {message.table}")
            if message.test and not self._accept_test:
                raise _Refused(
                    403, "test tables are not taken here: these events come from no real shoe (--accept-test)"
                )

    def _other_history(self, table: str, pinned: str, epoch: str) -> None:
        self._store.refuse_epoch(table, epoch)
        raise _Refused(
            403,
            f"table {table} is pinned to history {pinned}; this is {epoch}: a second controller, a replaced"
            " PC or a restored journal. A person must accept it here first",
            epoch=pinned,
        )

    def _keep(self, table: str, messages: list[Message], now: int, monotonic: float) -> Reply:
        first = messages[0]
        held = self._store.held(table)
        if held is not None and held.epoch != first.epoch:
            self._other_history(table, held.epoch, first.epoch)
        self._windows.heard(table, monotonic, now / 1e9)
        with self._store.transaction():
            held = self._store.held(table)
            if held is not None and held.epoch != first.epoch:
                raise _Refused(503, f"the history of table {table} was changed at this moment")
            wanted = held.next if held is not None else 1
            if held is None:
                self._store.forget_refused(table, first.epoch)
            if first.sequence > wanted:
                return Reply(409, {"next": wanted, "error": f"event {wanted} comes before {first.sequence}"})
            for at, message in enumerate(messages):
                digest = hashlib.sha256(message.body).digest()
                if message.sequence < wanted:
                    known = self._store.digest(table, message.epoch, message.sequence)
                    if known != digest:
                        what = "was skipped" if known is None else "is held here with other content"
                        raise _Refused(422, f"event {message.sequence} {what}")
                    continue
                if message.sequence > wanted:  # within a batch, behind what was skipped
                    raise _Refused(422, f"event {message.sequence} cannot come before {wanted}")
                over = any(map(ends, messages[at + 1 :]))
                taken = Taken(
                    message.epoch, message.sequence, message.id, message.type, digest, message.body, now
                )
                try:
                    with self._store.transaction():
                        goes_on = _goes_on(message)
                        opened = self._effect(table, message, over=over)
                        self._store.add(table, taken)
                except Exception as error:
                    if isinstance(error, _Refused) or wanted == first.sequence:
                        raise
                    self._surprised(table, f"event {message.sequence}", error)
                    break  # what came before it is taken
                wanted = goes_on
                if opened or message.type != OPENED:
                    self._store.then(partial(self._windows.took, message, monotonic, now / 1e9))
            self._store.then(partial(self.bank.changed, table))
            self._store.pin(table, first.epoch, wanted)
        return Reply(200, {"next": wanted})

    def _effect(self, table: str, message: Message, *, over: bool) -> bool:
        """Settle the event's round and its wagers, once. Unknown types and fields change nothing.

        ``over``: an event that comes with it ends its betting already. False for a ``betting.opened`` of a
        round that was opened before, or has a result: it opens nothing, and no stake is laid there.
        """
        shoe, number = place(message)
        before = None
        if shoe is not None and number is not None:
            before = self._store.round(table, message.epoch, shoe, number)
        if message.type == OPENED and (before is not None or not self.bank.floors.opens_new(message)):
            return False
        skipped = self._store.skipped(table, message.epoch)
        try:
            record = settle(message, before, skipped=skipped)
            if record is not None:
                self._store.put_round(table, message.epoch, record)
            now = self._clock()
            live = not over and opens(message, self._monotonic(), now / 1e9)
            self.bank.settling.took(message, record, live=live, seen=now)
            return True
        except (Impossible, TooMuch) as impossible:
            raise _Refused(422, f"event {message.sequence}: {impossible}") from None


def _check_name(message_id: str, messages: Sequence[Message]) -> None:
    """That a request is signed under the name of what it holds."""
    first = messages[0]
    right = named(first.table, first.epoch, [message.id for message in messages])
    if message_id != right:
        raise Unreadable(f"webhook-id is {right} for these events, not {message_id!r:.160}")


def _goes_on(message: Message) -> int:
    """The sequence behind an event; a skip leaps over what is kept no more."""
    if message.type != SKIPPED:
        return message.sequence + 1
    first, last = message.data.get("from"), message.data.get("to")
    if (
        first != message.sequence
        or not isinstance(last, int)
        or isinstance(last, bool)
        or not first <= last < MOST_SEQUENCE
    ):
        raise _Refused(422, f"event {message.sequence}: a skip is from its own sequence to a later one")
    return last + 1
