"""The daemon and the game server as processes that start in milliseconds.

A fork server has imported everything once; each start is a fork of it that runs the program's own ``run``
from the beginning.  They are real processes: killed by a signal, with nothing shared but code.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from tests.crash.boundaries import Arm, Boundaries, install
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


def _daemon(config: str, arm: Arm | None, counts: str | None, slow: str | None) -> None:
    from tablectl.config import load_config
    from tablectl.daemon import run

    if arm is not None or counts is not None:
        boundaries = Boundaries(arm)
        install(boundaries)
    if slow is not None:
        _slow_disk(Path(slow))
    code = run(load_config(Path(config)))
    if counts is not None:
        Path(counts).write_text(json.dumps(boundaries.counts))
    sys.exit(code)


class ForkedRig(Rig):
    """A table whose daemon and game server are forked. ``arm``: where the daemon dies the next time."""

    arm: Arm | None = None
    counts: Path | None = None
    slow: Path | None = None
    """A file that makes the disk slow while it is there."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        log = self.folder / "daemon.log"
        self.daemon = Forked(_daemon, self._daemon_arguments, log)

    def _daemon_arguments(self) -> tuple[object, ...]:
        counts = None if self.counts is None else str(self.counts)
        slow = None if self.slow is None else str(self.slow)
        return str(self.config), self.arm, counts, slow

    def wait_answers(self) -> int:
        """Wait until the daemon answers; the newest row then."""

        def answers() -> int:
            assert self.daemon.running, f"the daemon ended with {self.daemon.code}: {self.errors()[-500:]}"
            return int(self.client.state()["row"])

        return int(until(answers, "the daemon answers"))
