"""A console that is stopped and goes on: what a shell's job control and ``kill`` do to it.

textual writes to the terminal within the signal's own handler. That moment may fall into a write of the
program's own, which then holds the lock that the handler waits for: the console would stand still for ever.
And it takes each SIGCONT for the end of a stop of its own. So both are done by the event loop, between two of
its steps.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.app import App


def by_the_loop(app: App[None], terminal: int) -> Callable[[], None]:
    """Stop at SIGTSTP with the terminal given back, draw all anew at SIGCONT: called in the event loop.

    Gives what takes both back again.
    """
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTSTP, _stop, app, terminal)
    loop.add_signal_handler(signal.SIGCONT, _drawn_anew, app)

    def taken_back() -> None:
        for number in (signal.SIGTSTP, signal.SIGCONT):
            loop.remove_signal_handler(number)

    return taken_back


def _stop(app: App[None], terminal: int) -> None:
    with app.suspend():
        os.kill(os.getpid(), signal.SIGSTOP)
        while not _in_front(terminal):  # bg: it may run, and must not touch the terminal
            os.kill(os.getpid(), signal.SIGSTOP)


def _in_front(terminal: int) -> bool:
    with suppress(OSError):  # no terminal any more: the app notices by itself
        return os.tcgetpgrp(terminal) == os.getpgrp()
    return True


def _drawn_anew(app: App[None]) -> None:
    """Whoever had the terminal meanwhile may have written on it."""
    app.refresh(layout=True)
