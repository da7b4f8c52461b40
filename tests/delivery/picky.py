"""A game server that takes events as the reference does, but refuses those a test names."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from tablectl.gameserver.intake import Intake
from tablectl.gameserver.store import RoundRecord, Store


class Picky:
    """``refuses(event)``: answered 422. ``accepted``: the bytes of each request that was taken."""

    def __init__(self, db: Path, secret: str, refuses: Callable[[dict[str, Any]], bool]) -> None:
        self.store = Store(db)
        self.refuses = refuses
        self.accepted: list[bytes] = []
        intake = Intake(self.store, [secret], accept_test=True)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                events = json.loads(body)
                if any(map(outer.refuses, events if isinstance(events, list) else [events])):
                    status, payload = 422, {"error": "no such bet here"}
                else:
                    table = self.path.split("/")[3]
                    reply = intake.take(table, self.headers["Content-Type"], dict(self.headers), body)
                    status, payload = reply.status, reply.payload
                    if status == 200 and events:
                        outer.accepted.append(body)
                answer = json.dumps(payload).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/tables/{{table}}/events"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self.store.close()

    def held(self, table: str) -> list[bytes]:
        """The bytes of every event held, in order."""
        return [taken.body for taken in self.store.events(table, limit=10_000)]

    def round(self, table: str, shoe: int, number: int) -> RoundRecord | None:
        """Where a round stands."""
        held = self.store.held(table)
        return None if held is None else self.store.round(table, held.epoch, shoe, number)
