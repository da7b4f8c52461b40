"""A thread that ends is told, whatever its recording does; and nobody hangs with a disk that does."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tablectl.clock import now
from tablectl.process import incidents
from tablectl.process.incidents import AT_ONCE, Incidents


class Log:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def error(self, text: str, **_: object) -> None:
        self.lines.append(text)

    warning = error


class Bench:
    def __init__(self, folder: Path) -> None:
        self.told: list[str] = []
        self.log = Log()
        self.all = Incidents("T07", folder, lambda name, _: self.told.append(name), clock=now, log=self.log)

    def does(self, monkeypatch: pytest.MonkeyPatch, what: Any) -> None:
        monkeypatch.setattr(self.all.flight, "write", what)


@pytest.mark.parametrize("fault", [OSError("no disk"), RuntimeError("odd"), MemoryError(), ValueError("x")])
def test_whatever_the_recording_raises_the_process_hears_of_the_thread(
    fault: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)

    def raises(*_: object, **__: object) -> Path:
        raise fault

    bench.does(monkeypatch, raises)
    bench.all.ends("core")(ValueError("x"))
    assert bench.told == ["core"] and bench.all.crashed.is_set()
    assert bench.log.lines == ["the flight recording cannot be written", "a thread ended unexpectedly"]


def test_a_message_that_cannot_be_told_is_no_reason_to_go_on_without_the_thread(tmp_path: Path) -> None:
    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("changed meanwhile")

    bench = Bench(tmp_path)
    bench.all.flight.note(0, "heard", Odd())
    bench.all.ends("service")(ValueError("x"))
    assert bench.told == ["service"]


def test_when_no_thread_can_be_started_the_process_hears_of_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path)

    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    for _ in range(AT_ONCE + 1):
        bench.all.ends("reader")(ValueError("x"))
    assert bench.told == ["reader"] * (AT_ONCE + 1)
    assert "no flight recording: the ones before are still being written" not in bench.log.lines


def test_a_disk_that_hangs_holds_up_neither_who_asks_nor_a_threads_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incidents, "WAITS", 0.05)
    bench, answers, tried = Bench(tmp_path), threading.Event(), list[str]()

    def hangs(_: Path, __: str, why: str, *___: object, **____: object) -> Path:
        tried.append(why)
        assert answers.wait(20)
        return tmp_path

    bench.does(monkeypatch, hangs)
    begun = time.monotonic()
    for number in range(AT_ONCE - 1):
        bench.all.record(f"{number}", asked=number % 2 == 0)
    bench.all.ends("journal")(OSError("x"))
    assert bench.told == ["journal"] and time.monotonic() - begun < 5
    bench.all.record("one too many")
    assert "no flight recording: the ones before are still being written" in bench.log.lines
    answers.set()
    for thread in [one for one in threading.enumerate() if one.name == "flight"]:
        thread.join(20)
    assert len(tried) == AT_ONCE and "one too many" not in tried
    bench.all.record("there is room again", waits=20)
    assert tried[-1] == "there is room again"


def test_a_threads_recording_is_whole_before_the_process_hears_of_it(tmp_path: Path) -> None:
    found: list[int] = []
    bench = Incidents(
        "T07", tmp_path, lambda *_: found.append(len(list(tmp_path.iterdir()))), clock=now, log=Log()
    )
    bench.ends("core")(ValueError("x"))
    assert found == [1]
