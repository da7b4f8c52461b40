"""The reference game server of a fleet, consuming from JetStream, under the stopwatch.

``python -m tests.fleet.server DATABASE NATS-URL``; prints its address once it consumes.  At SIGTERM it says
as JSON when (boot ns) each result's commit was done, and in which order the messages came.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

from nats.aio.msg import Msg

from tablectl.gameserver import stream
from tablectl.gameserver.server import GameServer, run_gameserver
from tablectl.logs import setup_logging
from tests.bench.floors import boot


class Stopwatch(stream.StreamIntake):
    """The intake, which also says what came when."""

    committed: list[tuple[str, int]] = []  # noqa: RUF012 one process, one server
    newest: dict[str, int] = {}  # noqa: RUF012
    again = 0
    gaps = 0
    commits = 0

    def _keep(self, where: tuple[str, str], messages: Sequence[Msg]) -> int:
        at = super()._keep(where, messages)
        done = boot()
        of = Stopwatch
        of.commits += 1
        for message in messages:
            headers = message.headers or {}
            id_ = headers["Nats-Msg-Id"]
            table, sequence = message.subject.split(".")[1], int(id_.rsplit("-", 1)[1])
            newest = of.newest.get(table, 0)
            of.again += sequence <= newest
            of.gaps += sequence > newest + 1
            of.newest[table] = max(newest, sequence)
            if headers["ce-type"] == "tablectl.round.resulted.v1":
                of.committed.append((id_, done))
        return at


def _ready(server: GameServer) -> None:
    print(server.url, flush=True)


def main() -> int:
    """Serve and tell."""
    setup_logging("console", "warning")
    stream.StreamIntake = Stopwatch  # type: ignore[misc]
    run_gameserver(
        Path(sys.argv[1]),
        [os.environ["TABLECTL_PUSH_SECRET"]],
        "127.0.0.1",
        0,
        accept_test=True,
        nats=sys.argv[2],
        on_ready=_ready,
    )
    spent = resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "committed": Stopwatch.committed,
        "again": Stopwatch.again,
        "gaps": Stopwatch.gaps,
        "commits": Stopwatch.commits,
        "cpu": spent.ru_utime + spent.ru_stime,
        "memory": spent.ru_maxrss / 1000,
    }
    print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
