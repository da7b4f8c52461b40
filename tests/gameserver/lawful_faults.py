"""Game servers with one fault each that refuse what a lawful table sends: the reference, spoiled once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from tablectl.events import RoundResulted
from tablectl.gameserver import intake, lawful, results
from tablectl.gameserver.intake import Intake, Reply
from tablectl.gameserver.messages import Message
from tablectl.gameserver.results import Impossible, place
from tablectl.gameserver.store import RoundRecord, Store

Patch = pytest.MonkeyPatch
Before = RoundRecord | None
LAWFUL: dict[str, tuple[tuple[str, ...], Callable[[Patch], None]]] = {}
"""By its name: the check that must find the fault first, and every other one that does; what spoils it."""


def fault(*checks: str) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    def add(spoil: Callable[[Patch], None]) -> Callable[[Patch], None]:
        LAWFUL[spoil.__name__] = (checks, spoil)
        return spoil

    return add


def refusing(patch: Patch, wrong: Callable[[Message, Before], bool]) -> None:
    """Events are refused of which ``wrong`` says so, given where their round stands."""
    real = results.settle

    def settle(message: Message, before: Before, *, skipped: bool = False) -> Before:
        if wrong(message, before):
            raise Impossible("this server does not like it")
        return real(message, before, skipped=skipped)

    patch.setattr(intake, "settle", settle)


def answering(patch: Patch, wrong: Callable[[bytes], bool], status: int) -> None:
    """Requests are refused of which ``wrong`` says so, given the bytes."""
    real = Intake.take

    def take(self: Intake, *given: Any) -> Reply:
        return Reply(status, {}) if wrong(given[3]) else real(self, *given)

    patch.setattr(Intake, "take", take)


def stands_as(before: Before, state: str) -> bool:
    return before is not None and before.state == state


def amends(message: Message) -> bool:
    return message.type == "tablectl.round.amended.v1"


def voids(message: Message) -> bool:
    return message.type == "tablectl.round.voided.v1"


def parks(message: Message, what: str) -> bool:
    return message.type == "tablectl.event.parked.v1" and what in message.data["parked_type"]


# --- a result, and what comes of it -----------------------------------------------------------------------


@fault("endings")
def ties_are_always_returned(patch: Patch) -> None:

    def check_result(result: RoundResulted) -> None:
        if any(bet.result == "stand" for bet in result.bets.values()):
            raise Impossible("a bet stands?")
        lawful.check_result(result)

    patch.setattr("tablectl.gameserver.results.check_result", check_result)


@fault("endings")
def every_round_has_bets(patch: Patch) -> None:
    refusing(patch, lambda message, _: message.data.get("bets") == {})


@fault("endings")
def every_house_has_side_bets(patch: Patch) -> None:
    refusing(patch, lambda message, _: bool(message.data.get("bets")) and len(message.data["bets"]) == 3)


@fault("void-first", "skipped-rounds")
def a_void_needs_a_result(patch: Patch) -> None:
    refusing(patch, lambda message, before: voids(message) and before is None)


@fault("void-first")
def a_void_names_cards(patch: Patch) -> None:
    refusing(patch, lambda message, _: voids(message) and "?" in message.data["cards"].values())


@fault("amended-twice", "parked-amended")
def one_amendment_is_enough(patch: Patch) -> None:
    refusing(patch, lambda message, before: amends(message) and stands_as(before, "amended"))


@fault("earlier")
def only_the_newest_round_is_set_right(patch: Patch) -> None:
    real = Intake._effect

    def effect(self: Intake, table: str, message: Message, *, over: bool) -> bool:
        floor = self.bank.floors.of(table, message.epoch)
        if (amends(message) or voids(message)) and place(message) < (floor.shoe or 0, floor.round or 0):
            raise intake._Refused(422, "too late")
        return real(self, table, message, over=over)

    patch.setattr(Intake, "_effect", effect)


@fault("earlier")
def what_a_shoe_gave_is_final_when_it_ends(patch: Patch) -> None:
    real, over = Intake._effect, set[object]()

    def effect(self: Intake, table: str, message: Message, **more: Any) -> bool:
        shoe = message.data.get("shoe")
        if message.type == "tablectl.shoe.ended.v1":
            over.add(shoe)
        elif shoe in over:
            raise intake._Refused(422, "that shoe has ended")
        return real(self, table, message, **more)

    patch.setattr(Intake, "_effect", effect)


@fault("one-batch")
def each_event_is_judged_by_what_stood_before_its_batch(patch: Patch) -> None:
    real_keep, real_put, real_round = Intake._keep, Store.put_round, Store.round
    fresh: set[tuple[int, int]] = set()

    def keep(self: Intake, *given: Any) -> Reply:
        fresh.clear()
        return real_keep(self, *given)

    def put(self: Store, table: str, epoch: str, record: RoundRecord) -> None:
        fresh.add((record.shoe, record.round))
        real_put(self, table, epoch, record)

    def round_(self: Store, table: str, epoch: str, shoe: int, number: int) -> Before:
        return None if (shoe, number) in fresh else real_round(self, table, epoch, shoe, number)

    patch.setattr(Intake, "_keep", keep)
    patch.setattr(Store, "put_round", put)
    patch.setattr(Store, "round", round_)


# --- parked -----------------------------------------------------------------------------------------------


@fault("parked-batch")
def what_is_parked_comes_alone(patch: Patch) -> None:
    answering(patch, lambda body: body.startswith(b"[") and b'-p"' in body, 422)


@fault("parked-amended")
def what_was_parked_is_never_amended(patch: Patch) -> None:
    refusing(patch, lambda message, before: amends(message) and stands_as(before, "parked"))


@fault("parked-amended", "skipped-rounds")
def before_is_held_or_nothing(patch: Patch) -> None:
    """The parked amendment was never had, so the next one's ``before`` is not known."""
    refusing(
        patch,
        lambda message, before: (
            amends(message)
            and before is not None
            and message.data["before"]["revision"] > max(1, before.revision)
        ),
    )


@fault("parked-amended")
def a_round_is_parked_once(patch: Patch) -> None:
    refusing(patch, lambda message, before: parks(message, "amended") and stands_as(before, "parked"))


@fault("parked-void")
def a_parked_void_is_a_void(patch: Patch) -> None:
    real = results._parked

    def parked(message: Message, before: Before) -> Before:
        if parks(message, "voided"):
            return results._record(message, "voided", 0, message.data)
        return real(message, before)

    patch.setattr(results, "_parked", parked)


@fault("parked-other")
def whatever_is_parked_unsettles_its_round(patch: Patch) -> None:
    real = results._parked

    def parked(message: Message, before: Before) -> Before:
        if message.data.get("round") is not None:
            return results._record(message, "parked", 0, message.data)
        return real(message, before)

    patch.setattr(results, "_parked", parked)


@fault("parked-other")
def what_is_parked_has_a_round(patch: Patch) -> None:
    refusing(patch, lambda message, _: parks(message, "") and "round" not in message.data)


# --- skipped, and the rest --------------------------------------------------------------------------------


@fault("skipped")
def one_event_is_no_history(patch: Patch) -> None:
    refusing(patch, lambda message, _: message.data.get("from", 0) == message.data.get("to", 1))


@fault("skipped-rounds")
def a_result_that_never_came_is_not_amended(patch: Patch) -> None:
    real = results.settle
    patch.setattr(intake, "settle", lambda message, before, **_: real(message, before))


@fault("skipped-rounds")
def the_first_amendment_has_revision_two(patch: Patch) -> None:
    refusing(
        patch,
        lambda message, before: amends(message) and before is None and message.data["revision"] != 2,
    )


@fault("every-type")
def one_type_is_not_known(patch: Patch) -> None:
    answering(patch, lambda body: b"cut_card.withdrawn" in body, 422)


@fault("every-type")
def every_shoe_begins_here(patch: Patch) -> None:
    refusing(patch, lambda message, _: "adopted" in message.data)


@fault("times")
def what_is_old_is_a_replay(patch: Patch) -> None:
    def old(message: Message, _: Before) -> bool:
        said = datetime.fromisoformat(json.loads(message.body)["time"]).timestamp()
        return abs(time.time() - said) > 300

    refusing(patch, old)


@fault("late-opening")
def who_opens_too_late_is_refused(patch: Patch) -> None:
    def late(message: Message, _: Before) -> bool:
        text = message.data.get("closes_at")
        return text is not None and datetime.fromisoformat(text).timestamp() < time.time()

    refusing(patch, late)


@fault("large-batch")
def a_framework_stops_at_a_hundred_kilobytes(patch: Patch) -> None:
    answering(patch, lambda body: 100 << 10 < len(body) < 1 << 20, 413)


@fault("same-json")
def the_value_is_hashed_and_not_the_bytes(patch: Patch) -> None:
    def sha256(body: bytes) -> Any:
        return hashlib.sha256(json.dumps(json.loads(body), sort_keys=True).encode())

    patch.setattr(intake, "hashlib", SimpleNamespace(sha256=sha256))
