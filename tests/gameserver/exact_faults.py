"""Game servers with one fault each in what they must not take: the reference, spoiled in one place."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from tablectl.gameserver import messages
from tablectl.gameserver.intake import Intake, Reply
from tablectl.gameserver.messages import Message, probe_history, read
from tablectl.gameserver.store import Store, Taken

Patch = pytest.MonkeyPatch
INTAKE = "tablectl.gameserver.intake"
EXACT: dict[str, tuple[str, Callable[[Patch], None]]] = {}
"""By its name: the check that must find the fault, and what spoils the reference."""

NEWEST = 20
"""What a server with a short memory remembers."""


def fault(check: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    def add(spoil: Callable[[Patch], None]) -> Callable[[Patch], None]:
        EXACT[spoil.__name__] = (check, spoil)
        return spoil

    return add


def reply_changed(patch: Patch, change: Callable[[Intake, tuple[Any, ...], Reply], Reply]) -> None:
    """``change``: makes another answer of intake, request (table, type, headers, body) and the right one."""
    real = Intake.take
    patch.setattr(Intake, "take", lambda self, *given: change(self, given, real(self, *given)))


def read_changed(patch: Patch, change: Callable[[list[Message]], list[Message]], *, alone: bool) -> None:
    """``change``: makes others of the events read; ``alone``: of single ones too."""

    def spoiled(body: bytes, *, batch: bool) -> list[Message]:
        found = read(body, batch=batch)
        return change(found) if batch or alone else found

    patch.setattr(f"{INTAKE}.read", spoiled)


class Anything(bytes):
    """A hash that fits every other."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


# --- what is known ----------------------------------------------------------------------------------------


@fault("other-bytes")
def only_the_number_is_known(patch: Patch) -> None:
    patch.setattr(Store, "digest", lambda *_: Anything())


@fault("other-bytes")
def only_the_data_is_compared(patch: Patch) -> None:
    def bare(found: list[Message]) -> list[Message]:
        return [replace(one, body=json.dumps(one.data).encode()) for one in found]

    read_changed(patch, bare, alone=True)


@fault("other-bytes")
def another_id_is_another_event(patch: Patch) -> None:
    """What comes parked under a known sequence is thought to be new."""

    def change(server: Intake, given: tuple[Any, ...], reply: Reply) -> Reply:
        held = server._store.held(given[0])
        if reply.status == 422 and held is not None and b'-p"' in given[3]:
            return Reply(200, {"next": held.next})
        return reply

    reply_changed(patch, change)


@fault("other-bytes-inside")
def a_batch_is_not_compared(patch: Patch) -> None:
    compared_until(patch, 0)


@fault("other-bytes-inside")
def only_the_first_of_a_batch_is_compared(patch: Patch) -> None:
    compared_until(patch, 1)


def compared_until(patch: Patch, count: int) -> None:
    """Of a batch only so many events are compared, a single one always."""
    real, state = Store.digest, {"batch": False, "asked": 0}

    def reading(body: bytes, *, batch: bool) -> list[Message]:
        state.update(batch=batch, asked=0)
        return read(body, batch=batch)

    def digest(self: Store, table: str, epoch: str, sequence: int) -> bytes | None:
        state["asked"] += 1
        free = state["batch"] and state["asked"] > count
        return Anything() if free else real(self, table, epoch, sequence)

    patch.setattr(f"{INTAKE}.read", reading)
    patch.setattr(Store, "digest", digest)


def forgets(patch: Patch, old: bytes | None) -> None:
    """What is held of an event that is not among the newest."""
    real = Store.digest

    def digest(self: Store, table: str, epoch: str, sequence: int) -> bytes | None:
        held = self.held(table)
        known = held is None or sequence >= held.next - NEWEST
        return real(self, table, epoch, sequence) if known else old

    patch.setattr(Store, "digest", digest)


@fault("at-once-other")
def who_comes_at_the_same_moment_is_not_compared(patch: Patch) -> None:
    compared, taken = Store.digest, dict[int, float]()
    add = Store.add

    def added(self: Store, table: str, one: Taken) -> None:
        taken[one.sequence] = time.monotonic()
        add(self, table, one)

    def digest(self: Store, table: str, epoch: str, sequence: int) -> bytes | None:
        early = time.monotonic() - taken.get(sequence, 0) < 0.1
        return Anything() if early else compared(self, table, epoch, sequence)

    patch.setattr(Store, "add", added)
    patch.setattr(Store, "digest", digest)


@fault("far-back")
def old_ones_are_refused(patch: Patch) -> None:
    forgets(patch, None)


@fault("far-back")
def old_ones_are_not_compared(patch: Patch) -> None:
    forgets(patch, Anything())


@fault("far-back")
def old_ones_are_taken_anew(patch: Patch) -> None:
    def change(server: Intake, given: tuple[Any, ...], reply: Reply) -> Reply:
        held, found = server._store.held(given[0]), given[3]
        if reply.status == 200 and held is not None and found.startswith(b"{"):
            sequence = int(json.loads(found)["sequence"])
            if sequence < held.next - NEWEST:
                return Reply(200, {"next": sequence + 1})
        return reply

    reply_changed(patch, change)


# --- what is out of order -----------------------------------------------------------------------------------


@fault("order")
def the_last_of_two_counts(patch: Patch) -> None:
    patch.setattr(f"{INTAKE}._check_name", lambda *_: None)
    patch.setattr("tablectl.gameserver.messages.pairwise", lambda _: ())
    read_changed(patch, lambda found: list({one.sequence: one for one in found}.values()), alone=False)


@fault("order")
def a_gap_in_a_batch_is_hushed_up(patch: Patch) -> None:
    """Nothing is taken, and the answer says all."""

    def change(server: Intake, given: tuple[Any, ...], reply: Reply) -> Reply:
        held = server._store.held(given[0])
        if "cannot follow" in reply.payload.get("error", "") and held is not None:
            return Reply(200, {"next": held.next + given[3].count(b'"specversion"')})
        return reply

    reply_changed(patch, change)


@fault("order")
def a_batch_out_of_order_is_tried_for_ever(patch: Patch) -> None:
    def change(server: Intake, given: tuple[Any, ...], reply: Reply) -> Reply:
        return Reply(503, {}) if "cannot follow" in reply.payload.get("error", "") else reply

    reply_changed(patch, change)


# --- what belongs to somebody else --------------------------------------------------------------------------


@fault("unpinned")
def a_probe_pins(patch: Patch) -> None:
    real = Intake._probed

    def probed(self: Intake, table: str, message_id: str) -> Reply:
        history = probe_history(message_id)
        if history is not None and self._store.held(table) is None:
            self._store.pin(table, history[1], 1)
        return real(self, table, message_id)

    patch.setattr(Intake, "_probed", probed)


@fault("unpinned")
def a_probe_must_name_a_history(patch: Patch) -> None:
    def change(server: Intake, given: tuple[Any, ...], reply: Reply) -> Reply:
        named = given[2]["webhook-id"]
        return Reply(400, {}) if given[3] == b"[]" and probe_history(named) is None else reply

    reply_changed(patch, change)


@fault("other-probe")
def a_probe_of_any_history_is_answered(patch: Patch) -> None:
    patch.setattr(f"{INTAKE}.probe_history", lambda _: None)


@fault("other-probe")
def a_probe_of_any_table_is_answered(patch: Patch) -> None:
    def own(message_id: str) -> tuple[str, str] | None:
        found = probe_history(message_id)
        return None if found is None or found[0] == "OTHER" else found

    patch.setattr(f"{INTAKE}.probe_history", own)


@fault("other-epoch")
def the_first_of_a_batch_speaks_for_all(patch: Patch) -> None:
    patch.setattr("tablectl.gameserver.messages.pairwise", lambda _: ())
    patch.setattr(f"{INTAKE}._check_name", lambda *_: None)
    read_changed(
        patch, lambda found: [replace(one, epoch=found[0].epoch) for one in found if found], alone=False
    )


@fault("other-epoch")
def who_comes_a_second_time_is_let_in(patch: Patch) -> None:
    real = Intake._other_history

    def other(self: Intake, table: str, pinned: str, epoch: str) -> None:
        if epoch in self._store.refused_epochs(table):
            self._store.accept_epoch(table, epoch)
        real(self, table, pinned, epoch)

    patch.setattr(Intake, "_other_history", other)


@fault("other-table")
def the_first_of_a_batch_is_of_this_table(patch: Patch) -> None:
    real = Intake._check_sender
    patch.setattr(f"{INTAKE}._check_name", lambda *_: None)
    patch.setattr(Intake, "_check_sender", lambda self, table, found: real(self, table, found[:1]))


# --- what contradicts itself --------------------------------------------------------------------------------


def mended(patch: Patch, mend: Callable[[dict[str, Any]], dict[str, Any]], *, alone: bool) -> None:
    """Events are read as if they were what ``mend`` makes of them."""
    strict, state = messages._message, {"batch": False}

    def message(value: Any, own: str) -> Message:
        free = isinstance(value, dict) and (state["batch"] or alone)
        return strict(mend(value) if free else value, own)

    def reading(body: bytes, *, batch: bool) -> list[Message]:
        state["batch"] = batch
        return read(body, batch=batch)

    patch.setattr(messages, "_message", message)
    patch.setattr(f"{INTAKE}.read", reading)
    patch.setattr(f"{INTAKE}._check_name", lambda *_: None)


def by_the_rest(value: dict[str, Any]) -> dict[str, Any]:
    """The id that fits."""
    table = str(value.get("source")).removeprefix("/tables/")
    end = str(value.get("id"))[-2:]
    made = f"{table}-{value.get('epoch')}-{value.get('sequence')}"
    return value | {"id": made + (end if end in ("-p", "-s") else "")}


@fault("id")
def ids_are_not_looked_at(patch: Patch) -> None:
    mended(patch, by_the_rest, alone=True)


@fault("id")
def ids_in_a_batch_are_not_looked_at(patch: Patch) -> None:
    mended(patch, by_the_rest, alone=False)


def number(value: dict[str, Any]) -> dict[str, Any]:
    """Whatever tells a sequence, as a number does in any language."""
    try:
        return value | {"sequence": f"{int(value['sequence']):012d}"}
    except (LookupError, TypeError, ValueError):
        return value


@fault("form")
def a_sequence_is_any_number(patch: Patch) -> None:
    mended(patch, number, alone=True)


@fault("form")
def a_sequence_in_a_batch_is_any_number(patch: Patch) -> None:
    mended(patch, number, alone=False)


@fault("form")
def any_version_is_read(patch: Patch) -> None:
    mended(patch, lambda value: value | {"specversion": "1.0"}, alone=True)


@fault("webhook-id")
def the_header_tells_what_came(patch: Patch) -> None:
    def change(server: Intake, given: tuple[Any, ...], reply: Reply) -> Reply:
        headers: Mapping[str, str] = given[2]
        told = headers.get("webhook-id", "")[-12:]
        if reply.status == 400 and "webhook-id is" in reply.payload["error"] and told.isdigit():
            return Reply(200, {"next": int(told) + 1})
        return reply

    reply_changed(patch, change)
