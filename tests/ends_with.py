"""A process of the tests ends with who started it, however that one ends; the kernel sees to it."""

from __future__ import annotations

import fcntl
import os
import signal


def killed_at_the_end_of(pipe: int) -> None:
    """This process is killed when nobody holds the other end of ``pipe`` any more.

    Whoever asks for it opened the pipe itself: it has one owner.
    """
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def killed_with_the_keeper_of(path: str) -> None:
    """The same for a named pipe that somebody holds open to write; without one this process ends now."""
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    killed_at_the_end_of(pipe)
    try:
        os.read(pipe, 1)
    except BlockingIOError:
        return  # there is somebody
    raise SystemExit(f"{path}: who started this is gone")


def interruptible() -> None:
    """For ``preexec_fn``: what was started in the background ignores Ctrl-C, and so would all it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
