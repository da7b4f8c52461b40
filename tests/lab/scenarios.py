"""How the scenarios of ``make lab`` and ``make house`` are played: one run at a time, all of them told."""

from __future__ import annotations

import fcntl
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.lab import needs
from tests.lab.image import ROOT


class Transcript:
    """Writes down each scenario with its seconds and its end; also whether any was skipped."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.bad = 0
        self.begun = time.monotonic()
        self._seconds: dict[str, float] = {}
        self._failed: dict[str, str] = {}

    def step(self, what: str, seconds: float, ended: str = "ok") -> None:
        self.bad += ended != "ok"
        self.lines.append(f"{seconds:7.1f} s  {ended:7} {what}")

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Around a step; one that fails is not told."""
        begun = time.monotonic()
        yield
        self.step(what, time.monotonic() - begun)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid
        self._seconds[name] = self._seconds.get(name, 0.0) + report.duration
        if report.outcome != "passed":
            self._failed[name] = report.outcome
        if report.when == "teardown":
            what = name.rpartition("::")[2].removeprefix("test_").replace("_", " ")
            self.step(what, self._seconds[name], self._failed.get(name, "ok"))

    def text(self) -> str:
        total = time.monotonic() - self.begun
        end = f"{total:7.1f} s  {'all is well' if not self.bad else f'{self.bad} not ok'}"
        return "\n".join(["the laboratory, " + time.strftime("%Y-%m-%d %H:%M"), *self.lines, end]) + "\n"


def alone(what: str, faults: Sequence[str], play: Callable[[], int]) -> int:
    """``play``, unless this machine lacks something (``faults``) or it is played already: then 2."""
    if faults:
        print(f"make {what} cannot run on this machine:")
        print(*(f"  {fault}" for fault in faults), sep="\n")
        return 2
    needs.cache().mkdir(parents=True, exist_ok=True)
    with (needs.cache() / f"{what}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another make {what} runs with {needs.cache()}; wait for it, or set TABLECTL_LAB_CACHE")
            return 2
        return play()


def scenarios(what: str, folder: Path, seconds: int, transcript: Transcript) -> int:
    """Play those in the files ``<what>_*.py`` of ``folder``, ``seconds`` at most each; pytest's exit code."""
    options = ["-o", f"python_files={what}_*.py", "--rootdir", str(ROOT), "-p", "no:cacheprovider"]
    options += ["-n", "0", "--timeout", str(seconds), "-q", "--no-header"]
    return int(pytest.main([*options, str(folder), *sys.argv[1:]], plugins=[transcript]))


def keep(name: str, text: str) -> None:
    """Show a transcript, and keep it in the cache under ``name``."""
    print(text)
    (needs.cache() / name).write_text(text)
    print(f"kept as {needs.cache() / name}")
