"""The service loop: no error in it is lost, wherever it comes from."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from queue import SimpleQueue

import pytest

from tablectl.answered import Answer
from tablectl.clock import Instant
from tablectl.core import Durable
from tablectl.journal.writer import Batch
from tablectl.service import Published, Service
from tablectl.table import State

ANSWER = Answer(True, "done", "1/1", 1)


class Log:
    def __init__(self) -> None:
        self.lines: SimpleQueue[tuple[str, str]] = SimpleQueue()

    def error(self, text: str, *, what: str, error: str) -> None:
        self.lines.put((text, error))


class Bench:
    """A running loop without a table."""

    def __init__(self) -> None:
        self.ends: SimpleQueue[BaseException] = SimpleQueue()
        self.stored: list[State] = []
        self.log = Log()
        self.fault: Exception | None = None
        self.service = Service(
            Published(State()),
            self.ends.put,
            clock=lambda: Instant(1, 1),
            on_stored=self._stored,
            log=self.log,
        )

    def _stored(self, durable: Durable, _: tuple[Batch, ...]) -> None:
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault
        self.stored.append(durable.state)

    def gives(self, reply: Callable[[Answer], None] | None = None, said: tuple[str, ...] = ()) -> None:
        self.service.stored((Batch((), Durable(State(), said, reply, ANSWER)),))


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    made.service.start()
    yield made
    assert made.service.stop(10)


def _raises(_: object) -> None:
    raise ValueError("a bug")


def _of_replies(bench: Bench, _: pytest.MonkeyPatch) -> None:
    bench.gives(_raises)


def _of_the_state(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.service.published.said, "add", lambda *_: _raises(0))
    bench.gives(said=("No more bets.",))


def _of_what_follows(bench: Bench, _: pytest.MonkeyPatch) -> None:
    bench.fault = ValueError("a bug")
    bench.gives()


def _of_a_batch_that_is_none(bench: Bench, _: pytest.MonkeyPatch) -> None:
    bench.service.stored((Batch(()),))


@pytest.mark.parametrize("fault", [_of_replies, _of_the_state, _of_what_follows, _of_a_batch_that_is_none])
def test_an_error_in_what_follows_a_commit_ends_the_process_and_nothing_follows_it(
    fault: Callable[[Bench, pytest.MonkeyPatch], None], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(bench, monkeypatch)
    bench.gives()
    assert isinstance(bench.ends.get(timeout=10), (ValueError, AssertionError))
    assert bench.ends.empty(), "told once"
    assert not bench.stored, "what came behind a lost one is not taken for all there is"


def test_without_an_error_each_one_is_answered_and_followed(bench: Bench) -> None:
    answers: SimpleQueue[Answer] = SimpleQueue()
    bench.gives(answers.put)
    bench.gives(answers.put)
    assert [answers.get(timeout=10), answers.get(timeout=10)] == [ANSWER, ANSWER]
    assert bench.ends.empty()


async def _task_that_fails() -> None:
    async def fails() -> None:
        raise ValueError("a bug")

    task = asyncio.create_task(fails())
    await asyncio.wait({task})
    del task
    gc.collect()


async def _callback_that_fails() -> None:
    asyncio.get_running_loop().call_soon(_raises, 0)


@pytest.mark.parametrize("unseen", [_task_that_fails, _callback_that_fails])
def test_an_error_nobody_waits_for_is_a_line_of_the_log_and_no_end(
    unseen: Callable[[], object], bench: Bench
) -> None:
    asyncio.run_coroutine_threadsafe(unseen(), bench.service.loop)  # type: ignore[arg-type]
    assert bench.log.lines.get(timeout=10) == ("an error nobody waited for", "ValueError('a bug')")
    assert bench.ends.empty()


def test_a_job_that_ends_is_told_and_one_that_is_stopped_is_not() -> None:
    async def fails() -> None:
        raise ValueError("a bug")

    bench = Bench()
    bench.service.add(fails)
    bench.service.start()
    assert str(bench.ends.get(timeout=10)) == "a bug"
    assert bench.service.stop(10)
