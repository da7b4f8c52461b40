"""The daemon and the game server as processes of their own, so that they can be killed.

:class:`Forked` is what most tests use: a fork server has imported everything once, and each start is a fork
of it that runs the program's own ``run`` from the beginning. They are real processes, with nothing shared
but code, that start in milliseconds; of the hundreds of starts in a suite the imports would take the most.
:class:`Program` is a new interpreter, for what a fork cannot have: other code, or a library loaded first.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from tests.ends_with import killed_at_the_end_of

REPOSITORY = Path(__file__).parents[2]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        *("tests.e2e.programs", "tablectl.cli"),
        *("tablectl.daemon", "tablectl.delivery.sender", "tablectl.gameserver.server"),
    ]
)

DAEMON = """
import sys
from tests.e2e.programs import run_daemon
run_daemon(sys.argv[1])
"""
"""The daemon as the code of a :class:`Program`; its argument is the configuration."""


def run_daemon(path: str) -> None:
    """As ``tablectl run --config`` does, without the command line."""
    from tablectl.config import load_config
    from tablectl.daemon import CONFIG_ERROR, run
    from tablectl.profiles import ConfigError

    try:
        config = load_config(Path(path))
    except ConfigError as fault:
        print(fault, file=sys.stderr)
        raise SystemExit(CONFIG_ERROR) from None
    raise SystemExit(run(config))


def run_code(code: str, *arguments: str) -> None:
    """As ``python -c`` does, with all that is imported here already."""
    sys.argv = ["-c", *arguments]
    exec(code, {"__name__": "__main__"})


def run_server(db: str, secret: str, port: int) -> None:
    """The reference game server."""
    from tablectl.gameserver.server import run_gameserver

    run_gameserver(Path(db), [secret], "127.0.0.1", port, accept_test=True)


class _AsText(TypedDict):
    encoding: str
    errors: str


AS_TEXT: _AsText = {"encoding": "utf-8", "errors": "surrogateescape"}
"""The standard streams in C.UTF-8, but for standard error."""


def run_typed(words: list[str], environment: dict[str, str], streams: list[str]) -> None:
    """The command line, as if a shell had started it with these files as its standard streams."""
    from tablectl.cli import main

    gc.freeze()
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    for number, name in enumerate(streams):
        opened = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = os.fdopen(0, **AS_TEXT)
    sys.stdout = os.fdopen(1, "w", **AS_TEXT)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", errors="backslashreplace")
    raise SystemExit(main(words))


class Process(ABC):
    """A process that may be started again when it has ended. Its words go to ``log``, over all starts."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.environment: dict[str, str] = {}
        """What its environment has besides."""

    @abstractmethod
    def start(self) -> None:
        """Start it; it must not run yet."""

    @property
    @abstractmethod
    def pid(self) -> int:
        """Of the last start."""

    @property
    @abstractmethod
    def code(self) -> int | None:
        """How the last start ended: an exit code, or a signal's number below 0; None while it runs."""

    @abstractmethod
    def wait(self, timeout: float = 30.0) -> int:
        """Wait for its end: the exit code."""

    @property
    @abstractmethod
    def running(self) -> bool:
        """Whether it runs."""

    def send(self, number: signal.Signals) -> None:
        """Send it a signal and go on."""
        os.kill(self.pid, number)

    def end(self, number: signal.Signals = signal.SIGTERM, timeout: float = 30.0) -> tuple[int, float]:
        """Send a signal and wait: the exit code, and how long it took (s)."""
        begun = time.monotonic()
        if self.running:
            self.send(number)
        return self.wait(timeout), time.monotonic() - begun

    def stop_somehow(self) -> None:
        """At the end of a test."""
        if self.running:
            self.send(signal.SIGCONT)
            self.send(signal.SIGKILL)
            self.wait()


class Program(Process):
    """A new interpreter with this ``code``."""

    def __init__(self, code: str, arguments: list[str], log: Path) -> None:
        super().__init__(log)
        self._command = [sys.executable, "-c", code, *arguments]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        assert not self.running
        path = {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'drivers'}"}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stderr=log, stdout=log, env=os.environ | path | self.environment
            )

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def code(self) -> int | None:
        return None if self._process is None else self._process.poll()

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def wait(self, timeout: float = 30.0) -> int:
        assert self._process is not None
        return self._process.wait(timeout)


def _work(work: Callable[..., None], arguments: tuple[object, ...], log: str, names: dict[str, str]) -> None:
    """In the fork: as if it had been started with this environment, its words going to ``log``.

    It is killed when the tests' process ends, however that ends: a daemon that outlived a test run would
    hold a port's name that is another's by then. The kernel does it, at the end of their pipe.
    """
    gc.freeze()  # or the collector would look at, and so copy, all that was imported
    tests = multiprocessing.parent_process()
    assert tests is not None
    killed_at_the_end_of(tests.sentinel)
    if not tests.is_alive():  # from before on
        return
    os.environ.clear()
    os.environ.update(names)
    to = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(to, 1)
    os.dup2(to, 2)
    os.close(to)
    work(*arguments)


class Forked(Process):
    """A fork that runs ``work`` with what ``arguments()`` gives at each start."""

    def __init__(
        self, work: Callable[..., None], arguments: Callable[[], tuple[object, ...]], log: Path
    ) -> None:
        super().__init__(log)
        self._made = work, arguments
        self._forked: multiprocessing.process.BaseProcess | None = None

    def start(self) -> None:
        assert not self.running
        work, arguments = self._made
        given = work, arguments(), str(self.log), dict(os.environ | self.environment)
        forked = CONTEXT.Process(target=_work, args=given, daemon=True)
        forked.start()
        self._forked = forked

    @property
    def pid(self) -> int:
        assert self._forked is not None and self._forked.pid is not None
        return self._forked.pid

    @property
    def code(self) -> int | None:
        return None if self._forked is None else self._forked.exitcode

    @property
    def running(self) -> bool:
        return self._forked is not None and self._forked.is_alive()

    def wait(self, timeout: float = 30.0) -> int:
        assert self._forked is not None
        self._forked.join(timeout)
        assert self._forked.exitcode is not None, f"it did not end within {timeout:g} s"
        return self._forked.exitcode

    def stop_somehow(self) -> None:
        super().stop_somehow()
        if self._forked is not None:
            self._forked.close()  # now, or its descriptor goes in the middle of a test that counts them
            self._forked = None
