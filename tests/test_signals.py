"""Signals: nothing a beeper does holds anybody up, and a beep for the past is not played."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tablectl import signals as module
from tablectl.clock import SECOND, Instant
from tablectl.signals import LATE, PATTERNS, SLOW, Signals


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.boot = 1000 * SECOND

    def __call__(self) -> Instant:
        return Instant(self.boot, 0)


class FakeBeeper:
    """Plays into a queue; can be made to hang or to fail."""

    def __init__(self) -> None:
        self.begun: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.go_on = threading.Event()
        self.go_on.set()
        self.fault: Exception | None = None
        self.close_fault: Exception | None = None
        self.closed = 0
        self.threads: set[int] = set()

    def play(self, pattern: str) -> None:
        self.threads.add(threading.get_ident())
        self.begun.put(pattern)
        self.go_on.wait(10)
        if self.fault is not None:
            raise self.fault

    def close(self) -> None:
        self.closed += 1
        self.threads.add(threading.get_ident())
        if self.close_fault is not None:
            raise self.close_fault


class Log:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def bind(self, **facts: Any) -> Log:
        return self

    def info(self, text: str, **facts: Any) -> None:
        self.lines.append(text)

    warning = info


class Rig:
    def __init__(self) -> None:
        self.clock = Clock()
        self.beeper = FakeBeeper()
        self.log = Log()
        self.signals = Signals(self.beeper, clock=self.clock, log=self.log)
        self.signals.start()

    def played(self, pattern: str) -> None:
        """Play and see it begin and end."""
        done = self.signals.played
        self.signals.play(pattern)
        assert self.beeper.begun.get(timeout=15) == pattern
        until(lambda: self.signals.played == done + 1)


@pytest.fixture
def rig() -> Iterator[Rig]:
    made = Rig()
    yield made
    made.beeper.go_on.set()
    made.signals.stop()


def until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 3
    while not true():
        assert time.monotonic() < end
        time.sleep(0.001)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_is_played(pattern: str, rig: Rig) -> None:
    rig.played(pattern)
    assert rig.signals.trouble is None
    assert rig.log.lines == []


def test_an_unknown_pattern_is_refused(rig: Rig) -> None:
    with pytest.raises(ValueError, match="fanfare"):
        rig.signals.play("fanfare")


def test_a_beeper_that_hangs_delays_nobody_and_nothing_is_queued_behind_it(rig: Rig) -> None:
    rig.beeper.go_on.clear()
    rig.signals.play("pip")
    assert rig.beeper.begun.get(timeout=15) == "pip"
    began = time.monotonic()
    for _ in range(1000):
        rig.signals.play("close")
    assert time.monotonic() - began < 5  # who hangs here hangs for ten seconds
    rig.beeper.go_on.set()
    assert rig.beeper.begun.get(timeout=15) == "close"  # the newest, while it is fresh
    until(lambda: rig.signals.played == 2)
    assert rig.signals.skipped == 999
    assert rig.beeper.begun.empty()


@pytest.mark.parametrize(("age", "heard"), [(LATE, True), (LATE + 1, False)])
def test_a_late_pattern_is_skipped(age: int, heard: bool, rig: Rig) -> None:
    rig.beeper.go_on.clear()
    rig.signals.play("pip")
    rig.beeper.begun.get(timeout=15)
    rig.signals.play("close")
    rig.clock.boot += age
    rig.beeper.go_on.set()
    until(lambda: rig.signals.played + rig.signals.skipped == 2)
    assert rig.signals.played == 1 + heard
    assert rig.signals.skipped == (not heard)


def test_a_beeper_that_takes_ten_seconds_is_in_trouble_meanwhile_and_recovers(rig: Rig) -> None:
    rig.beeper.go_on.clear()
    rig.signals.play("close")
    rig.beeper.begun.get(timeout=15)
    assert rig.signals.trouble is None
    rig.clock.boot += SLOW + 1
    assert rig.signals.trouble == "the beeper does not answer"
    rig.clock.boot += 10 * SECOND
    rig.beeper.go_on.set()
    until(lambda: rig.log.lines)
    assert "took 15.0 s" in (rig.signals.trouble or "")
    rig.played("pip")
    assert rig.signals.trouble is None
    assert rig.log.lines == ["the beeper failed: announce by voice", "the beeper works again"]


def test_a_beeper_that_fails_is_told_once_and_recovers(rig: Rig) -> None:
    rig.beeper.fault = OSError("no such device")
    for _ in range(20):
        rig.signals.play("pip")
        rig.beeper.begun.get(timeout=15)
    until(lambda: rig.signals.trouble == "no such device")
    assert rig.log.lines == ["the beeper failed: announce by voice"]
    rig.beeper.fault = None
    rig.signals.play("pip")
    rig.beeper.begun.get(timeout=15)
    until(lambda: rig.signals.trouble is None)
    assert len(rig.log.lines) == 2


def test_the_beeper_is_closed_by_the_thread_that_plays(rig: Rig) -> None:
    rig.played("pip")
    assert rig.signals.stop()
    assert rig.beeper.closed == 1
    assert len(rig.beeper.threads) == 1
    assert threading.get_ident() not in rig.beeper.threads


def test_a_close_that_fails_ends_the_thread_all_the_same(rig: Rig) -> None:
    rig.beeper.close_fault = OSError("gone")
    assert rig.signals.stop()
    assert rig.log.lines == ["beeper did not close"]


def test_a_beeper_that_hangs_does_not_hold_up_the_stop(rig: Rig) -> None:
    rig.beeper.go_on.clear()
    rig.signals.play("pip")
    rig.beeper.begun.get(timeout=15)
    began = time.monotonic()
    assert not rig.signals.stop(0.05)
    assert time.monotonic() - began < 5


def test_stop_without_start() -> None:
    assert Signals(FakeBeeper(), clock=Clock(), log=Log()).stop()


# --- what a beeper can besides -----------------------------------------------------------------------------


class AbleBeeper(FakeBeeper):
    """One that can be looked at and cut short."""

    def __init__(self) -> None:
        super().__init__()
        self.check_fault: Exception | None = None
        self.hushed = False
        self.seen: list[tuple[str, bool]] = []
        """Patterns as they began, and whether they were hushed by then."""
        self.checked = 0

    def check(self) -> None:
        self.checked += 1
        if self.check_fault is not None:
            raise self.check_fault

    def ready(self) -> None:
        self.hushed = False

    def play(self, pattern: str) -> None:
        self.seen.append((pattern, self.hushed))
        super().play(pattern)

    def hush(self) -> None:
        self.hushed = True
        self.go_on.set()


class AbleRig(Rig):
    def __init__(self, fault: Exception | None = None) -> None:
        self.clock = Clock()
        self.able = self.beeper = AbleBeeper()
        self.able.check_fault = fault
        self.log = Log()
        self.signals = Signals(self.beeper, clock=self.clock, log=self.log)
        self.signals.start()


def test_a_beeper_is_looked_at_at_the_start_and_a_missing_one_is_known_before_the_first_beep() -> None:
    rig = AbleRig(OSError("not there"))
    until(lambda: rig.signals.trouble == "not there")
    assert rig.beeper.begun.empty()
    rig.signals.stop()
    assert rig.log.lines == ["the beeper failed: announce by voice"]


def test_a_missing_beeper_recovers_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AGAIN", 0.01)
    rig = AbleRig(OSError("not there"))
    until(lambda: rig.able.checked > 3)
    rig.able.check_fault = None
    until(lambda: rig.signals.trouble is None)
    rig.signals.stop()
    assert rig.log.lines == ["the beeper failed: announce by voice", "the beeper works again"]


def test_a_beeper_that_is_there_but_was_not_heard_is_in_trouble_until_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AGAIN", 0.01)
    rig = AbleRig()
    until(lambda: rig.able.checked == 1)
    rig.beeper.fault = OSError("no such card")
    rig.signals.play("pip")
    until(lambda: rig.able.checked > 3)
    assert rig.signals.trouble == "no such card"
    rig.beeper.fault = None
    rig.played("pip")
    assert rig.signals.trouble is None
    rig.signals.stop()
    assert len(rig.log.lines) == 2


def test_the_close_cuts_a_pip_short_and_no_other_pattern_does() -> None:
    rig = AbleRig()
    for second, cuts in (("accept", False), ("pip", False), ("close", True)):
        rig.beeper.go_on.clear()
        rig.signals.play("pip")
        assert rig.beeper.begun.get(timeout=15) == "pip"
        rig.signals.play(second)
        assert rig.beeper.go_on.is_set() == cuts
        rig.beeper.go_on.set()
        assert rig.beeper.begun.get(timeout=15) == second
        until(lambda: rig.signals._voices[0]._playing is None)
    rig.signals.stop()


@pytest.mark.parametrize("then", ["close", "stop"])
def test_a_pattern_that_was_taken_and_has_not_begun_is_cut_short_too(then: str) -> None:
    """Between the mailbox and the beeper: what hushed it there was once forgotten when the pattern began."""
    rig = AbleRig()
    (voice,) = rig.signals._voices
    taken, go_on = threading.Event(), threading.Event()
    sound = voice._sound

    def late(asked: module._Asked) -> None:
        taken.set()
        assert go_on.wait(15)
        sound(asked)

    voice._sound = late  # type: ignore[method-assign]
    rig.signals.play("hold")
    assert taken.wait(15)
    if then == "close":
        rig.signals.play("close")
    else:
        voice.tell_to_stop()
    go_on.set()
    until(lambda: ("hold", True) in rig.able.seen)
    if then == "close":  # which is heard itself
        until(lambda: ("close", False) in rig.able.seen)
    assert rig.signals.stop()


def test_stopping_cuts_short_what_is_played_so_that_it_can_end_in_order() -> None:
    rig = AbleRig()
    rig.beeper.go_on.clear()
    rig.signals.play("hold")
    rig.beeper.begun.get(timeout=15)
    assert rig.signals.stop(1.0)
    assert rig.beeper.closed == 1


def test_several_beepers_each_have_their_thread_and_their_fault() -> None:
    clock, log, lamp, horn = Clock(), Log(), FakeBeeper(), FakeBeeper()
    lamp.go_on.clear()
    horn.fault = OSError("unplugged")
    signals = Signals(lamp, horn, names=("lamp", "horn"), clock=clock, log=log)
    signals.start()
    signals.play("close")
    assert lamp.begun.get(timeout=15) == horn.begun.get(timeout=15) == "close"
    signals.play("close")
    assert horn.begun.get(timeout=15) == "close"
    until(lambda: signals.trouble == "horn: unplugged")
    clock.boot += SLOW + 1
    assert signals.trouble == "lamp: the beeper does not answer; horn: unplugged"
    lamp.go_on.set()
    until(lambda: "took" in (signals.trouble or ""))
    assert signals.stop()
    assert (lamp.closed, horn.closed) == (1, 1)
    assert lamp.threads.isdisjoint(horn.threads)


def test_trying_out_tells_for_each_beeper_whether_it_was_played(monkeypatch: pytest.MonkeyPatch) -> None:
    good, bad = FakeBeeper(), FakeBeeper()
    bad.fault = OSError("unplugged")
    signals = Signals(good, bad, names=("good", "bad"), clock=Clock(), log=Log())
    signals.start()
    assert signals.try_out("hold") == {"good": None, "bad": "unplugged"}
    bad.fault = None
    assert signals.try_out("hold") == {"good": None, "bad": None}
    with pytest.raises(ValueError, match="fanfare"):
        signals.try_out("fanfare")
    monkeypatch.setattr(module, "SLOW", 20_000_000)
    good.go_on.clear()
    assert signals.try_out("pip") == {"good": "the beeper does not answer", "bad": None}
    good.go_on.set()
    signals.stop()


def test_what_is_tried_out_gives_way_to_the_table() -> None:
    beeper = FakeBeeper()
    signals = Signals(beeper, names=("bell",), clock=Clock(), log=Log())
    signals.start()
    beeper.go_on.clear()
    signals.play("pip")
    beeper.begun.get(timeout=15)
    told: list[dict[str, str | None]] = []
    trying = threading.Thread(target=lambda: told.append(signals.try_out("hold")))
    trying.start()
    until(lambda: signals._voices[0]._slot)
    signals.play("close")
    trying.join(15)
    assert told == [{"bell": "left out: another signal came"}]
    beeper.go_on.set()
    assert beeper.begun.get(timeout=15) == "close"
    signals.stop()
