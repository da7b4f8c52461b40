"""The gathering of entered pairs itself: nothing is lost between workers, and nothing missing is hidden."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tablectl.table import Phase, Tick
from tests import conftest, pairs
from tests.table.playing import Play


def test_what_a_worker_sends_is_what_arrives() -> None:
    plain = json.loads(json.dumps(pairs.sent(pairs.EVERY)))
    assert pairs.taken(plain) == pairs.EVERY


def test_a_worker_that_ends_adds_to_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = sorted(pairs.EVERY)[:2]
    monkeypatch.setattr(pairs, "ENTERED", {one})
    conftest.pytest_testnodedown(SimpleNamespace(workeroutput={conftest._SENT: pairs.sent([other])}))
    conftest.pytest_testnodedown(SimpleNamespace())
    assert {one, other} == pairs.ENTERED


def test_an_input_is_entered_where_it_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "ENTERED", set())
    play = Play().betting()
    assert ("idle", False, "bets open") in pairs.ENTERED
    pairs.ENTERED.clear()
    play.wait(1)
    assert {("betting", False, "time")} == pairs.ENTERED
    pairs.ENTERED.clear()
    play.pass_time(20)
    play.give(Tick(play.now()))
    assert not pairs.ENTERED and play.stands(Phase.NO_MORE_BETS)


def test_the_table_tells_every_pair_and_counts_what_is_missing() -> None:
    whole = pairs.lines(pairs.EVERY)
    assert whole[-1] == f"{len(pairs.EVERY)} of {len(pairs.EVERY)} reachable pairs entered"
    assert not any(pairs.MISSING_MARK in line for line in whole[:-2])
    assert sum(line.count(pairs.LAWFUL_MARK) for line in whole[:-2]) == sum(map(pairs.lawful, pairs.EVERY))
    gone = ("betting", True, "bets close")
    less = pairs.lines(pairs.EVERY - {gone})
    assert pairs.missing(pairs.EVERY - {gone}) == [gone]
    assert sum(line.count(pairs.MISSING_MARK) for line in less[:-2]) == 1
    assert all(len(line) <= 100 for line in less)
