"""A real NATS server with JetStream for the tests: on a free port, its store in a folder, killed at will."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from nats.aio.client import Client

PROGRAM = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or "nats-server"
STREAM: dict[str, Any] = {
    "name": "TABLES",
    "subjects": ["tables.*.events"],
    "storage": "file",
    "discard": "new",
    "retention": "limits",
    "num_replicas": 1,
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class NatsServer:
    """``more``: further lines of its configuration. ``sync``: JetStream's ``sync_interval``."""

    def __init__(self, folder: Path, more: str = "", port: int = 0, sync: str = "2m") -> None:
        self.port = port or free_port()
        self._folder = folder
        self._config = folder / "nats.conf"
        self._config.write_text(
            f'listen: "127.0.0.1:{self.port}"\n'
            f'jetstream {{ store_dir: "{folder / "store"}", sync_interval: "{sync}" }}\n{more}\n'
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> NatsServer:
        with (self._folder / "nats.log").open("ab") as log:
            self._process = subprocess.Popen([PROGRAM, "-c", str(self._config)], stderr=log)
        until = time.monotonic() + 15
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as line:
                line.settimeout(2)
                if line.recv(4) == b"INFO":
                    return self
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError((self._folder / "nats.log").read_text()[-2000:])
            time.sleep(0.01)

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(10)
            self._process = None

    # --- its stream, by the wire's own words --------------------------------------------------------------

    async def ask(self, what: str, body: Any = None, **login: Any) -> dict[str, Any]:
        """One request of JetStream's interface; its answer."""
        client = Client()
        await client.connect(self.url, allow_reconnect=False, **login)
        try:
            asked = b"" if body is None else json.dumps(body).encode()
            answer: dict[str, Any] = json.loads(
                (await client.request(f"$JS.API.{what}", asked, timeout=5)).data
            )
            return answer
        finally:
            await client.close()

    async def make_stream(self, **changes: Any) -> None:
        answer = await self.ask("STREAM.CREATE.TABLES", STREAM | changes)
        assert "error" not in answer, answer

    async def messages(self) -> int:
        return int((await self.ask("STREAM.INFO.TABLES"))["state"]["messages"])
