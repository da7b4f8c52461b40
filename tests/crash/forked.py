"""A table whose daemon and game server die where they are told to, have a slow disk, or a planted fault."""

from __future__ import annotations

import contextlib
import ctypes
import json
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
from tests.e2e.harness import Rig, until
from tests.e2e.programs import Forked


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


M_MMAP_THRESHOLD = -3


def _daemon(config: str, fate: Fate) -> None:
    from tablectl.config import load_config
    from tablectl.daemon import run

    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 20)  # as in the unit
    sys.exit(fate.lived(lambda: run(load_config(Path(config))), boundaries.install))


def _game_server(db: str, secret: str, port: int, nats: str | None, fate: Fate) -> None:
    from tablectl.gameserver.server import run_gameserver

    def serve() -> None:
        run_gameserver(Path(db), [secret], "127.0.0.1", port, accept_test=True, nats=nats)

    fate.lived(serve, taking.install)


class ForkedRig(Rig):
    """A table whose daemon and game server are forked. ``nats``: where the game server takes events too."""

    daemon: Forked
    server: Forked

    def __init__(self, *given: Any, nats: str | None = None, **options: Any) -> None:
        super().__init__(*given, **options)
        self.fate, self.server_fate = Fate(), Fate()
        self.daemon = Forked(_daemon, lambda: (str(self.config), self.fate), self.folder / "daemon.log")
        served = (str(self.server_db), self.secret, self.port, nats)
        self.server = Forked(_game_server, lambda: (*served, self.server_fate), self.folder / "server.log")

    def wait_answers(self) -> int:
        """Wait until the daemon answers; the newest row then."""

        def answers() -> int:
            assert self.daemon.running, f"the daemon ended with {self.daemon.code}: {self.errors()[-500:]}"
            return int(self.client.state()["row"])

        return int(until(answers, "the daemon answers"))
