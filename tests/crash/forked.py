"""The daemon and the game server as processes that start in milliseconds.

A fork server has imported everything once; each start is a fork of it that runs the program's own ``run``
from the beginning.  They are real processes: killed by a signal, with nothing shared but code.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.crash import boundaries, taking
from tests.crash.boundaries import Arm, Boundaries
from tests.crash.planted import PLANTS
from tests.e2e.harness import Program, Rig, until

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.crash.forked", "tablectl.daemon", "tablectl.gameserver.server"])


def _log_to(path: str) -> None:
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)


def _slow_disk(slow: Path) -> None:
    """Every commit takes as long as the file ``slow`` says, while it is there."""

    class Slow(sqlite3.Connection):
        def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
            if sql == "COMMIT":
                with contextlib.suppress(OSError, ValueError):
                    time.sleep(float(slow.read_text()))
            return super().execute(sql, parameters)

    sqlite3.connect = partial(sqlite3.connect, factory=Slow)  # type: ignore[assignment]


@dataclass
class Fate:
    """What a process does besides its work. ``arm``: where it dies the next time it is started."""

    arm: Arm | None = None
    counts: Path | None = None
    """Where it writes how many boundaries it reached, when it ends by itself."""
    slow: Path | None = None
    """A file that makes its disk slow while it is there."""
    plant: str | None = None
    """A fault of :mod:`tests.crash.planted` that it has."""

    def lived(self, work: Callable[[], int | None], install: Callable[[Boundaries], None]) -> int | None:
        """Do ``work`` with all that."""
        at = Boundaries(self.arm)
        if self.plant is not None:
            PLANTS[self.plant]()
        if self.arm is not None or self.counts is not None:
            install(at)
        if self.slow is not None:
            _slow_disk(self.slow)
        code = work()
        if self.counts is not None:
            self.counts.write_text(json.dumps(at.counts))
        return code


def _daemon(config: str, log: str, fate: Fate) -> None:
    from tablectl.config import load_config
    from tablectl.daemon import run

    _log_to(log)
    sys.exit(fate.lived(lambda: run(load_config(Path(config))), boundaries.install))


def _game_server(db: str, secret: str, port: int, log: str, nats: str | None, fate: Fate) -> None:
    from tablectl.gameserver.server import run_gameserver

    _log_to(log)

    def serve() -> None:
        run_gameserver(Path(db), [secret], "127.0.0.1", port, accept_test=True, nats=nats)

    fate.lived(serve, taking.install)


class Forked(Program):
    """As :class:`Program`, by a fork. ``work`` and its arguments are what it runs."""

    def __init__(
        self, work: Callable[..., None], arguments: Callable[[], tuple[object, ...]], log: Path
    ) -> None:
        super().__init__("", [], log)
        self._work = work
        self._arguments = arguments
        self._forked: multiprocessing.process.BaseProcess | None = None

    def start(self) -> None:
        assert not self.running
        forked = CONTEXT.Process(target=self._work, args=self._arguments(), daemon=True)
        forked.start()
        self._forked = forked

    @property
    def running(self) -> bool:
        return self._forked is not None and self._forked.is_alive()

    @property
    def pid(self) -> int:
        """Of the last start."""
        assert self._forked is not None and self._forked.pid is not None
        return self._forked.pid

    @property
    def code(self) -> int | None:
        """How it ended: an exit code, or a signal's number below 0; None while it runs."""
        return None if self._forked is None else self._forked.exitcode

    def end(self, number: signal.Signals = signal.SIGTERM, timeout: float = 15.0) -> tuple[int, float]:
        assert self._forked is not None
        begun = time.monotonic()
        if self.running:
            os.kill(self.pid, number)
        self._forked.join(timeout)
        code = self._forked.exitcode
        assert code is not None, f"it did not end within {timeout:g} s"
        return code, time.monotonic() - begun

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal and go on."""
        os.kill(self.pid, number)

    def stop_somehow(self) -> None:
        if self._forked is not None and self.running:
            os.kill(self.pid, signal.SIGCONT)
            self._forked.kill()
            self._forked.join(10)


class ForkedRig(Rig):
    """A table whose daemon and game server are forked. ``nats``: where the game server takes events too."""

    daemon: Forked
    server: Forked

    def __init__(self, *given: Any, nats: str | None = None, **options: Any) -> None:
        super().__init__(*given, **options)
        self.fate, self.server_fate = Fate(), Fate()
        daemon, server = self.folder / "daemon.log", self.folder / "server.log"
        self.daemon = Forked(_daemon, lambda: (str(self.config), str(daemon), self.fate), daemon)
        served = (str(self.server_db), self.secret, self.port, str(server), nats)
        self.server = Forked(_game_server, lambda: (*served, self.server_fate), server)

    def wait_answers(self) -> int:
        """Wait until the daemon answers; the newest row then."""

        def answers() -> int:
            assert self.daemon.running, f"the daemon ended with {self.daemon.code}: {self.errors()[-500:]}"
            return int(self.client.state()["row"])

        return int(until(answers, "the daemon answers"))
