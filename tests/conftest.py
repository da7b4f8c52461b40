"""How hypothesis searches, and what is told at the end of a run.

At every `make test` the same examples, days and kills, at every `make soak` fresh ones. A soak begins with
the tests that may take longest, by their own limits, so that no worker is alone with one at the end. At the
end of a whole run a table says which pairs of phase and input were entered (:mod:`tests.pairs`); one that was
not fails the run. ``--regold`` writes the golden files of all recordings anew (:mod:`tests.recordings`).
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import pairs, recordings

_MACHINE = [HealthCheck.too_slow]  # a clock's word: it is about the machine
settings.register_profile(
    "test", derandomize=True, max_examples=20, deadline=None, suppress_health_check=_MACHINE
)
settings.register_profile(
    "soak", print_blob=True, max_examples=400, deadline=None, suppress_health_check=_MACHINE
)
settings.load_profile("soak" if "TABLECTL_SOAK" in os.environ else "test")

_SENT, _TOLD = "tablectl_pairs", "tablectl_told"


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--regold``."""
    parser.addoption(
        "--regold", action="store_true", help="write the golden files of tests/data/recordings anew"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Goldens are written once, by the run itself, before its tests compare them."""
    if config.option.regold and not hasattr(config, "workerinput"):
        recordings.REGOLDED += recordings.regold()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a soak: the longest first."""
    if "TABLECTL_SOAK" in os.environ:
        items.sort(key=_limit, reverse=True)


def pytest_collection_finish() -> None:
    """What thousands of tests are made of stays to the end: the collector need not look at it ever again."""
    gc.collect()
    gc.freeze()


def _limit(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker is not None else 0.0


def _whole(config: pytest.Config) -> bool:
    """Whether every test there is was asked for."""
    chosen = config.option
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    return not (named or chosen.markexpr or chosen.keyword or chosen.collectonly or getattr(chosen, "lf", 0))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker sends what it entered; the run that has it all fails when something is missing."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_SENT] = pairs.sent(pairs.ENTERED)
        output[_TOLD] = dict(pairs.TOLD)
    elif _whole(session.config) and not session.shouldstop and pairs.missing(pairs.ENTERED):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker has ended: what it entered counts for all."""
    output: dict[str, Any] = getattr(node, "workeroutput", {})
    sent: Iterable[Iterable[object]] = output.get(_SENT, ())
    pairs.ENTERED |= pairs.taken(sent)
    pairs.TOLD.update(output.get(_TOLD, {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """The table of pairs, after a whole run; what the model test met, after a soak."""
    if config.option.regold:
        terminalreporter.section("goldens, to be read before they are committed")
        for line in recordings.REGOLDED or ["none differs"]:
            terminalreporter.write_line(line)
    if "TABLECTL_SOAK" in os.environ and pairs.TOLD:
        terminalreporter.section("what the model test met")
        for name, count in sorted(pairs.TOLD.items()):
            terminalreporter.write_line(f"{count:8}  {name}")
    if not _whole(config):
        return
    terminalreporter.section("every pair of phase and input")
    for line in pairs.lines(pairs.ENTERED):
        terminalreporter.write_line(line)
    for phase, held, kind in pairs.missing(pairs.ENTERED):
        terminalreporter.write_line(f"not entered: {kind}, in {phase}{', on hold' if held else ''}", red=True)
