"""The reference game server as a process of its own, so that it shares no interpreter with the table.

``python -m tests.bench.server DATABASE``; the signing secret comes in the environment variable
TABLECTL_PUSH_SECRET, the address to deliver to is printed once it listens.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tablectl.gameserver.server import GameServer, run_gameserver


def _ready(server: GameServer) -> None:
    print(server.events_url, flush=True)


if __name__ == "__main__":
    run_gameserver(
        Path(sys.argv[1]),
        [os.environ["TABLECTL_PUSH_SECRET"]],
        "127.0.0.1",
        0,
        accept_test=True,
        on_ready=_ready,
    )
