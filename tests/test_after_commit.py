"""What follows a commit: how old what it brought is, and of which parked event the pit is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tablectl.after_commit import AfterCommit
from tablectl.clock import Instant
from tablectl.core import Durable
from tablectl.delivery.instead import park, skip
from tablectl.events import private_body, public_body
from tablectl.journal import Outgoing, Row
from tablectl.journal.rows import place
from tablectl.journal.writer import Batch
from tests.gameserver.posting import EPOCH, resulted

AT = Instant(7, 7)


class Told:
    def __init__(self) -> None:
        self.woken: list[tuple[int, int, list[int]]] = []
        self.instead: list[int] = []
        self.alarms: list[str] = []
        delivering: Any = SimpleNamespace(sender=self)
        outside: Any = SimpleNamespace(resulted=lambda data: None)
        log: Any = SimpleNamespace(info=lambda *a, **k: None, warning=lambda *a, **k: None)

        def tell(code: str, text: str) -> None:
            assert code == "round-unsettled"
            self.alarms.append(text)

        self.after = AfterCommit("T07", EPOCH, outside, delivering, alarm=tell, over=tell, log=log)

    def wake(self, head: int, boot: int, fresh: list[Outgoing]) -> None:
        self.woken.append((head, boot, [one.sequence for one in fresh]))

    def sends_instead(self, one: Any) -> None:
        self.instead.append(one.outgoing.sequence)


def batch(decided: int, *rows: Row) -> Batch:
    state: Any = SimpleNamespace(sequence=9, unsettled=((1, 2),))
    return Batch(rows, Durable(state, decided=decided))


def _placed(row: int, sequence: int | None, public: bytes | None, private: bytes) -> Row:
    made = Row(row, sequence, public, private)
    return replace(made, where=place(made))


def result(sequence: int) -> Row:
    event = resulted(sequence)
    public = public_body(event, table="T07", epoch=EPOCH, sequence=sequence, at=AT, test=False)
    return _placed(sequence, sequence, public, private_body(event, AT))


@pytest.mark.parametrize(
    ("batches", "boot"),
    [
        ([batch(100, result(8)), batch(200, result(9))], 100),
        ([batch(100), batch(200, result(9)), batch(300)], 200),
        ([batch(100), batch(200)], 200),
    ],
    ids=["the oldest", "the oldest with an event", "none"],
)
def test_what_was_committed_is_as_old_as_its_decision(batches: list[Batch], boot: int) -> None:
    """However late the loop comes to it: a loop that stood still makes nothing young."""
    told, last = Told(), batches[-1].token
    assert isinstance(last, Durable)
    told.after.stored(last, tuple(batches))
    assert [(head, at) for head, at, _ in told.woken] == [(9, boot)]


def _park() -> Any:
    stored = Outgoing(2, "T07-x", result(2).public or b"")
    return park(stored, EPOCH, AT, "system", "Ann")


def _skip() -> Any:
    return skip("T07", EPOCH, AT, 1, 5, "system", "Ann", test=False)


@pytest.mark.parametrize("made", [_park, _skip])
def test_what_goes_out_in_place_of_something_is_told_to_the_sender(made: Callable[[], Any]) -> None:
    told = Told()
    one = batch(100, _placed(10, None, None, private_body(made(), AT)))
    assert isinstance(one.token, Durable)
    told.after.stored(one.token, (one,))
    assert len(told.instead) == 1


@pytest.mark.parametrize(
    ("unsettled", "alarms"),
    [
        ([(), ()], []),
        ([((1, 2),), ((1, 2),)], ["round 1/2"]),
        ([((1, 2),), ((1, 2), (1, 4)), ((1, 4),), ()], ["round 1/2", "1/2, 1/4", "round 1/4", "Over: "]),
    ],
)
def test_the_pit_is_told_of_each_change_of_the_unsettled_rounds_and_of_their_end(
    unsettled: list[tuple[tuple[int, int], ...]], alarms: list[str]
) -> None:
    told = Told()
    for rounds in unsettled:
        state: Any = SimpleNamespace(sequence=9, unsettled=rounds)
        told.after.stored(Durable(state, decided=1), ())
    assert len(told.alarms) == len(alarms)
    assert all(words in text for words, text in zip(alarms, told.alarms, strict=True)), told.alarms
