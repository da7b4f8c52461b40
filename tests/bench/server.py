"""The reference game server as a process of its own, so that it shares no interpreter with the table.

``python -m tests.bench.server DATABASE``; the signing secret comes in the environment variable
TABLECTL_PUSH_SECRET, the address to deliver to is printed once it listens.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tablectl.gameserver.server import GameServer, run_gameserver


@contextlib.contextmanager
def game_server(folder: Path, secret: str) -> Iterator[str]:
    """The reference game server in another process; the address to deliver to."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.server", str(folder / "gameserver.db")],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TABLECTL_PUSH_SECRET": secret},
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            raise RuntimeError(f"the game server did not start (exit {process.wait()})")
        yield url
    finally:
        process.terminate()
        process.wait(10)


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
