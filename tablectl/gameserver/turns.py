"""Whose turn it is at the one thread that works on the store: a table's event waits for no crowd of players.

Three lines stand before it: what tables send and ask, what players place and take back, and whoever only
looks.  The first that is not empty is served, so that thousands of pages which all want to be drawn anew
delay an event by the work under way and no more, and close no betting window late.  Yet each line comes to
its turn: behind :data:`IN_A_ROW` that passed by one who waits, he is served.

How many wait is bounded by the connections: each has one request at a time, and a request one piece of work.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

IN_A_ROW = 32
"""Pieces of work that go before one who waits."""


class Line(Executor):
    """One line before the thread of :class:`Turns`. What is in it is done in the order it came."""

    def __init__(self, thread: ThreadPoolExecutor, take_next: Callable[[], None]) -> None:
        self._thread = thread
        self._take_next = take_next
        self.waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self.passed = 0
        """How many of other lines were served since one waits here."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """To the end of the line. Raises :class:`RuntimeError` behind :meth:`Turns.shutdown`."""
        future: Future[T] = Future()
        work = future, lambda: fn(*args, **kwargs)
        self.waiting.append(work)
        try:
            self._thread.submit(self._take_next)  # a ticket: as many as there is work, whoever's turn it is
        except RuntimeError:
            self.waiting.remove(work)
            raise
        return future


class Turns:
    """The thread and its lines, the first one first."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="gameserver")
        self.tables, self.wagers, self.looks = self._lines = tuple(
            Line(self._thread, self._take_next) for _ in range(3)
        )

    def shutdown(self) -> None:
        """What waits is done; then the thread ends."""
        self._thread.shutdown()

    def _take_next(self) -> None:
        waiting = [line for line in self._lines if line.waiting]
        line = next((one for one in waiting if one.passed >= IN_A_ROW), waiting[0])
        for one in waiting:
            one.passed += 1
        line.passed = 0
        future, work = line.waiting.popleft()
        if not future.set_running_or_notify_cancel():
            return
        try:
            made = work()
        except BaseException as error:  # noqa: BLE001 it is for who waits for it
            future.set_exception(error)
        else:
            future.set_result(made)
