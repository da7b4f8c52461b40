"""The service loop: one asyncio loop in a thread of its own for everything that faces outward.

Delivery, the local interface and the event stream live here.  It learns of the table only what is
durable, and it may stall without holding up a scan, the timer or the beep.  An error in here is never lost:
one in what follows a commit ends the process, one that nobody waits for is a line of the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import structlog

from tablectl.clock import SECOND, Instant, now
from tablectl.core import Durable
from tablectl.journal.writer import Batch
from tablectl.table import State

PULSE = 0.5
"""How often (s) the loop shows the watchdog that it turns."""


LINGERS = 10 * SECOND
"""How long a text said to the dealer can be seen at least."""


class Said:
    """What was said to the dealer and still matters, for those who look now and then.

    A text belongs to the table as it was: it goes once phase, holds or cards have changed since, but not so
    soon that nobody could read it. What is said again is there once, as the latest. Times are boot ns.
    """

    def __init__(self, keep: int = 12) -> None:
        self._keep = keep
        self._texts: dict[str, tuple[int, int]] = {}

    def add(self, texts: tuple[str, ...], version: int, now: int) -> None:
        """More texts, in order, said when the table's state had this ``version``."""
        for text in texts:
            self._texts.pop(text, None)
            self._texts[text] = version, now
        for text in list(self._texts)[: -self._keep]:
            del self._texts[text]

    def drop(self, texts: Collection[str]) -> None:
        """These are true no more."""
        for text in texts:
            self._texts.pop(text, None)

    def last(self, version: int, now: int) -> list[str]:
        """The texts that matter at ``version``, oldest first."""
        return [text for text, (at, since) in self._texts.items() if at == version or now - since < LINGERS]


@dataclass(slots=True)
class Published:
    """What the outside may know: the last committed state. Changed by the service loop only."""

    state: State
    said: Said = field(default_factory=Said)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    beside: int = 0
    """Counts what is new beside the state and cannot wait: how many players have placed."""
    beside_at: int | None = None
    """When the newest of that came (boot ns)."""

    def now_is(self, state: State, said: tuple[str, ...], now: int) -> None:
        """A newer committed state, decided at ``now`` (boot ns); wakes everybody who waits for one."""
        self.said.drop({text for _, text in self.state.alerts} - {text for _, text in state.alerts})
        self.state = state
        self.said.add(said, state.version, now)
        self._wake()

    def beside_is_new(self, now: int) -> None:
        """Something beside the state, that is shown with it, is new at ``now``; wakes everybody too."""
        self.beside, self.beside_at = self.beside + 1, now
        self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class Service:
    """Runs the loop in a thread. ``jobs`` run until they are cancelled; one that ends is a crash."""

    def __init__(
        self,
        published: Published,
        on_crash: Callable[[BaseException], None],
        *,
        clock: Callable[[], Instant] = now,
        on_stored: Callable[[Durable, tuple[Batch, ...]], None] | None = None,
        log: Any = None,
    ) -> None:
        self.published = published
        self.progress = clock().boot
        self.loop = asyncio.new_event_loop()
        self._clock = clock
        self._on_crash = on_crash
        self._on_stored = on_stored
        self._log = log if log is not None else structlog.get_logger("service")
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._jobs: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._setups: list[Callable[[], Awaitable[None]]] = []
        self._closes: list[Callable[[], Awaitable[None]]] = []
        self._error: BaseException | None = None
        self._failed: BaseException | None = None
        """What a setup raised."""
        self._thread = threading.Thread(target=self._run, name="service", daemon=True)

    def add(
        self,
        job: Callable[[], Coroutine[Any, Any, None]] | None = None,
        *,
        setup: Callable[[], Awaitable[None]] | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Before :meth:`start`: something to set up, to run, and to close at the end."""
        if job is not None:
            self._jobs.append(job)
        if setup is not None:
            self._setups.append(setup)
        if close is not None:
            self._closes.append(close)

    def start(self, timeout: float = 20.0) -> None:
        """Start, and wait until every setup is done. Raises what a setup raised."""
        self._thread.start()
        if not self._ready.wait(timeout):
            raise TimeoutError("the service loop did not become ready")
        if self._failed is not None:
            raise self._failed

    def stop(self, timeout: float = 3.0) -> bool:
        """End the jobs and the loop. Whether it ended within ``timeout`` s."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def stored(self, batches: tuple[Batch, ...]) -> None:
        """From the journal's thread: these batches are on the disk."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self.loop.call_soon_threadsafe(self._follow, batches)

    def _follow(self, batches: tuple[Batch, ...]) -> None:
        """What follows a commit. An error ends the loop; asyncio would print it and go on, half undone."""
        if self._error is not None:
            return
        try:
            self._publish(batches)
        except Exception as error:  # noqa: BLE001 whatever it is, it is told where the loop ends
            self._error = error
            self._stop.set()

    def _unseen(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """An error in a task or callback that nobody asks for its result, most often a library's."""
        error = context.get("exception")
        self._log.error("an error nobody waited for", what=context["message"], error=repr(error))

    def _publish(self, batches: tuple[Batch, ...]) -> None:
        last = None
        for batch in batches:
            durable = batch.token
            assert isinstance(durable, Durable)
            last = durable
            if durable.reply is not None and durable.answer is not None:
                durable.reply(durable.answer)
            if batch.rows or durable.said:
                self.published.now_is(durable.state, durable.said, durable.decided)
        if last is not None and self._on_stored is not None:
            self._on_stored(last, batches)

    def _run(self) -> None:
        try:
            asyncio.set_event_loop(self.loop)
            self.loop.set_exception_handler(self._unseen)
            self.loop.run_until_complete(self._main())
        except BaseException as error:  # noqa: BLE001 the thread's end is always told
            if self._ready.is_set():
                self._on_crash(error)
            else:
                self._failed = error
        finally:
            self._ready.set()
            self.loop.close()

    async def _main(self) -> None:
        # Few: PIN checks and reads of the journal share them, and a unit bounds its threads.
        self.loop.set_default_executor(ThreadPoolExecutor(4, thread_name_prefix="pool"))
        try:
            for setup in self._setups:
                await setup()
            tasks = [asyncio.create_task(job()) for job in self._jobs]
            tasks.append(asyncio.create_task(self._pulse()))
            stop = asyncio.create_task(self._stop.wait())
            self._ready.set()
            done, _ = await asyncio.wait([*tasks, stop], return_when=asyncio.FIRST_COMPLETED)
            for task in [*tasks, stop]:
                task.cancel()
            await asyncio.wait([*tasks, stop], timeout=1.0)
            if self._error is not None:
                raise self._error
            for task in done - {stop}:
                task.result()
                raise RuntimeError("a service job ended")
        finally:
            for close in reversed(self._closes):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(close(), 1.0)
            # A client that follows events is no reason to stay.
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left, timeout=0.5)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.loop.shutdown_default_executor(), 1.0)

    async def _pulse(self) -> None:
        while True:
            self.progress = self._clock().boot
            await asyncio.sleep(PULSE)
