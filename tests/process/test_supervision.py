"""Supervision: which thread does not move, and troubles that are told once, when they begin."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tablectl.clock import SECOND, Instant
from tablectl.journal.disk import Cause
from tablectl.journal.trouble import trouble_of
from tablectl.process.supervision import Supervision
from tablectl.table import Trouble

NOW = 1_000 * SECOND

CAUSES: dict[str, Cause] = {"disk-full": "full", "disk-readonly": "readonly", "journal-locked": "locked"}


class Bench:
    """A table whose every thread has just moved."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.room = True
        self.core: Any = SimpleNamespace(progress=NOW, full=False, offer=self.offer)
        self.reader: Any = SimpleNamespace(progress=NOW, connecting=False)
        self.writer: Any = SimpleNamespace(
            state="ok",
            trouble=None,
            full=False,
            committing_since=None,
            depth=0,
            turns=0,
        )
        self.service: Any = SimpleNamespace(progress=NOW)
        self.signals: Any = SimpleNamespace(trouble=None, troubles={})
        self.crashed = threading.Event()
        self.others: list[Trouble] = []
        self.supervision = Supervision(
            cast(Any, self.core),
            cast(Any, self.reader),
            cast(Any, self.writer),
            cast(Any, self.service),
            cast(Any, self.signals),
            lambda: Instant(NOW, NOW),
            self.crashed,
            lambda at: iter(self.others),
        )

    def offer(self, given: object) -> bool:
        if self.room:
            self.told.append(cast(Trouble, given).code)
        return self.room


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("core", "the core does not move"),
        ("reader", "the reader does not move"),
        ("service", "the service loop does not move"),
    ],
)
def test_a_thread_that_does_not_move_for_over_five_seconds_is_named(part: str, why: str) -> None:
    bench = Bench()
    getattr(bench, part).progress = NOW - 5 * SECOND
    assert bench.supervision.unhealthy() is None
    getattr(bench, part).progress -= 1
    assert bench.supervision.unhealthy() == why


@pytest.mark.parametrize("excused", ["", "nothing waits", "it moves", "a commit", "the disk"])
def test_a_journal_thread_that_takes_no_row_is_named_unless_the_disk_is_to_blame(excused: str) -> None:
    bench = Bench()
    times = iter([0, 5 * SECOND, 5 * SECOND + 1])
    bench.supervision.clock = lambda: Instant(bench.core.progress, NOW)
    bench.writer.depth = 0 if excused == "nothing waits" else 3
    bench.writer.state = "failing" if excused == "the disk" else "ok"
    told = []
    for passed in times:
        moment = NOW + passed
        for part in (bench.core, bench.reader, bench.service):
            part.progress = moment
        bench.writer.turns += excused == "it moves"
        bench.writer.committing_since = moment if excused == "a commit" else None
        told.append(bench.supervision.unhealthy())
    assert told == [None, None, None if excused else "the journal does not move"]


def test_opening_a_device_and_one_commit_may_take_a_minute() -> None:
    bench = Bench()
    bench.reader.connecting, bench.reader.progress = True, NOW - 60 * SECOND
    bench.writer.committing_since = NOW - 60 * SECOND
    assert bench.supervision.unhealthy() is None
    bench.writer.committing_since -= 1
    assert bench.supervision.unhealthy() == "the journal hangs in one commit"
    bench.reader.progress -= 1
    assert bench.supervision.unhealthy() == "the reader does not move"
    bench.crashed.set()
    assert bench.supervision.unhealthy() == "a thread ended"


@pytest.mark.parametrize("state", ["ok", "slow", "failing"])
@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_only_waiting_for_a_disk_in_trouble_excuses_who_does_not_move(
    state: str, waits: bool, full: bool
) -> None:
    """Beginning anew would lose what waits for the disk, and wait for the same disk."""
    bench = Bench()
    bench.writer.state, bench.writer.full, bench.core.full = state, waits, full
    excused = waits and state != "ok"
    bench.core.progress = NOW - 60 * SECOND
    assert bench.supervision.unhealthy() == (None if excused else "the core does not move")
    bench.core.progress, bench.reader.progress = NOW, NOW - 60 * SECOND
    assert bench.supervision.unhealthy() == (None if excused and full else "the reader does not move")


@pytest.mark.parametrize(
    "code",
    [
        *("beeper", "disk-slow", "disk-full", "disk-readonly", "journal-locked", "journal"),
        "server-unreachable",
    ],
)
def test_a_trouble_is_told_when_it_begins_and_not_again_after_each_acknowledgement(code: str) -> None:
    bench = Bench()
    for there in (True, True, True, False, False, True, True):
        match code:
            case "beeper":
                bench.signals.troubles = {"bell": "it is gone"} if there else {}
            case "server-unreachable":
                bench.others = [Trouble(Instant(NOW, NOW), code, "x")] if there else []
            case _:
                state = "slow" if code == "disk-slow" else "failing"
                bench.writer.trouble = trouble_of(state, CAUSES.get(code), "x") if there else None
        bench.supervision.watch()
    assert bench.told == [code] * 2


@pytest.mark.parametrize(
    ("state", "cause"),
    [("slow", None), *(("failing", cause) for cause in ("full", "readonly", "locked", "failing"))],
)
def test_a_journal_in_trouble_is_in_the_log_at_once_now_and_then_and_when_it_is_over(
    state: str, cause: Cause | None
) -> None:
    bench = Bench()
    lines: list[str] = []
    bench.supervision.log = SimpleNamespace(
        error=lambda *_, reason, rows_waiting: lines.append(reason), info=lambda _: lines.append("over")
    )
    trouble = trouble_of(state, cause, "the system's words")
    assert trouble is not None
    told = []
    for second in range(200):
        at = Instant(NOW + second * SECOND, NOW)
        bench.supervision.clock = lambda at=at: at  # type: ignore[misc]
        there = second in range(10, 80) or second in range(82, 84)  # it flaps
        bench.writer.trouble = trouble if there else None
        bench.supervision.watch()
        told.append(len(lines))
    assert [told.index(n) for n in range(1, len(lines) + 1)] == [10, 70, 80, 82, 87]
    assert lines == [trouble.present, trouble.present, "over", trouble.present, "over"]


@pytest.mark.parametrize(
    ("state", "cause"),
    [("slow", None), *(("failing", cause) for cause in ("full", "readonly", "locked", "failing"))],
)
def test_the_alert_of_a_journals_trouble_is_stored_when_it_is_over_and_claims_nothing_of_now(
    state: str, cause: Cause | None
) -> None:
    trouble = trouble_of(state, cause, "")
    assert trouble is not None
    for claim in ("is full", "No betting", "by itself", "cannot"):
        assert claim not in trouble.past
    assert "No betting opens" in trouble.present and "by itself" in trouble.present


def test_a_trouble_that_finds_no_room_is_told_once_there_is() -> None:
    bench = Bench()
    bench.room = False
    bench.signals.troubles = {"bell": "it is gone"}
    bench.supervision.alarm("delivery-halted", "x")
    for _ in range(3):
        bench.supervision.watch()
    bench.room = True
    for _ in range(3):
        bench.supervision.watch()
    assert sorted(bench.told) == ["beeper", "delivery-halted"]


def test_a_second_beeper_that_dies_is_told_again() -> None:
    bench = Bench()
    dead = [{}, {"lamp": "gone"}, {"lamp": "gone"}, {"lamp": "gone", "horn": "gone"}, {"horn": "gone"}]
    told = []
    for bench.signals.troubles in dead:
        bench.supervision.watch()
        told.append(len(bench.told))
    assert told == [0, 1, 1, 2, 2]
