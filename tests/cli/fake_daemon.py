"""A small daemon for the command line to talk to: real HTTP on a real unix socket, answers as told."""

from __future__ import annotations

import json
import os
import socketserver
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tablectl.delivery import ways
from tests.e2e.programs import AS_TEXT, CONTEXT, run_typed

STATE: dict[str, Any] = {
    "table": "T07",
    "test": False,
    "epoch": "4f2a91",
    "rules": "live-casino",
    "phase": "complete",
    "where": "12/34",
    "shoe": {
        "number": 12, "left": 200, "out": 216, "rounds": 34, "cut": False, "last_round": None,
        "last_hand": False,
    },
    "round": {
        "number": 34, "free": False, "cards": {"P1": "8S", "B1": "TH", "P2": "AC", "B2": "5D"},
        "player_total": 9, "banker_total": 5, "next": "none", "words": "Player 9, Banker 5: no more cards",
        "seconds_left": None, "closes_at": None,
    },
    "holds": [
        {
            "code": "overdraw", "message": "A card was drawn after the hand was complete.",
            "saw": {"label": "scan 5, position B3", "bytes": "02 35 03"},
        },
    ],
    "ways": [
        {"action": "burn", "text": "release burn: the cards kept are burned"},
        {"action": "void", "text": "void: the round is void, its cards stay used"},
    ],
    "kept": ["?", "?"],
    "rescan": None,
    "read_twice": True,
    "counting": None,
    "reserved": 0,
    "settled": {"where": "12/33", "what": "player, confirmed by dealer"},
    "dealer": "anna",
    "pickup": "left",
    "burns_due": 0,
    "burn_reason": None,
    "scanner": {
        "driver": "angel-eye", "device": "/dev/ttyUSB0", "up": True, "why": "", "bytes": 1200, "frames": 100,
        "cards": 30, "rejects": 0, "outages": 0, "last_good_age": 1.25, "health": "ok",
        "identity": "usb:0403:6001:A50285BI (FT232R USB UART)", "where": "/dev/ttyUSB0",
    },
    "link": {"good": False, "why": "connection refused"},
    "journal": {"state": "ok", "depth": 0},
    "alerts": [{"alert": "disk-slow", "message": "A commit took 3 s."}],
    "version": 512,
    "row": 900,
    "sequence": 345,
    "acked": 340,
    "last_result": None,
    "say": ["Egalité, tie"],
}  # fmt: skip

DELIVERY: dict[str, Any] = {
    "url": "https://games.example/tables/T07/events", "good": False,
    "why": "the server refuses event 341: bad",
    "newest": 345, "acked": 340, "owed": 5, "trouble": "the server refuses event 341: bad", "halted": True,
    "way_out": ways.refused(341),
    "last_error": "the server refuses event 341: bad",
}  # fmt: skip

Reply = tuple[int, Any] | bytes | None
"""Status and JSON, raw bytes for the whole answer, or None: hang up without an answer."""


class FakeDaemon:
    """Answers by resource; ``commands`` are the bodies posted."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.commands: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.state: Reply = (200, STATE)
        self.rounds: Reply = (200, {"rounds": []})
        self.delivery: Reply = (200, DELIVERY)
        self.posted_to: list[str] = []
        self.on_command: Callable[[dict[str, Any]], Reply] = accepted
        self.streams: list[bytes] = []
        daemon = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                daemon.asked.append(self.path)
                if self.path.startswith(("/v1/events", "/v1/raw")):
                    self._send(daemon.streams.pop(0) if daemon.streams else None)
                else:
                    others = {"/v1/state": daemon.state, "/v1/delivery": daemon.delivery}
                    self._send(others.get(self.path, daemon.rounds))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                daemon.commands.append(body)
                daemon.posted_to.append(self.path)
                self._send(daemon.on_command(body))

            def _send(self, reply: Reply) -> None:
                if isinstance(reply, tuple):
                    body = json.dumps(reply[1]).encode()
                    head = f"HTTP/1.1 {reply[0]} X\r\nContent-Length: {len(body)}\r\n\r\n"
                    reply = head.encode() + body
                self.close_connection = True
                if reply is not None:
                    self.wfile.write(reply)

            def log_message(self, *_: object) -> None:
                pass

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass

        socket.parent.mkdir(parents=True, exist_ok=True)
        self._server = Server(str(socket), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        """Stop listening; the socket stays, as a killed daemon leaves it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def accepted(body: dict[str, Any]) -> Reply:
    """The answer of a daemon that does all it is told."""
    answer = f"did {body.get('command', 'it')}"
    return 200, {"id": body["id"], "accepted": True, "answer": answer, "where": "12/34", "version": 513}


def stream(*events: dict[str, Any] | bytes) -> bytes:
    """An answer with server-sent events, or with raw lines."""
    body = b": ping\n\n"
    for event in events:
        body += event if isinstance(event, bytes) else b"id: 1\ndata: " + json.dumps(event).encode() + b"\n\n"
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + body


def event(sequence: int, kind: str = "betting.opened", **data: Any) -> dict[str, Any]:
    """A CloudEvent as a daemon sends it."""
    return {
        "specversion": "1.0", "id": f"T07-4f2a91-{sequence:012d}", "source": "/tables/T07",
        "type": f"tablectl.{kind}.v1", "subject": "shoe/12/round/34", "time": "2026-11-29T20:15:03.123456Z",
        "sequence": f"{sequence:012d}", "epoch": "4f2a91", "data": {"shoe": 12, "round": 34, **data},
    }  # fmt: skip


HEEDING = """
import signal, sys
from tablectl.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""
"""The command line, for a test of Ctrl-C: one run in the background of a shell has it ignored, and hands
that down."""


def tablectl(
    *arguments: str | bytes,
    run: Path | None = None,
    stdin: str | None = None,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run the real command line. ``run``: the folder where it looks for tables.

    It is a process of its own, forked from one that has imported everything (:mod:`tests.e2e.programs`); what
    the interpreter itself looks at in the ``environment`` takes a new interpreter.
    """
    known = {k: v for k, v in os.environ.items() if not k.startswith(("TABLECTL_", "LC_", "LANG"))}
    known |= {"TABLECTL_RUN": str(run or "/nonexistent"), "LC_ALL": "C.UTF-8"} | environment
    if any(name.startswith(("LC_", "PYTHON")) for name in environment):
        return subprocess.run(
            [sys.executable, "-m", "tablectl.cli", *arguments],
            env=known,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            **AS_TEXT,
            timeout=30,
            check=False,
            start_new_session=True,
        )
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("in", "out", "err")]
        streams[0].write_text(stdin or "", **AS_TEXT)
        words = [os.fsdecode(one) for one in arguments]
        typed = words, known, [str(one) for one in streams]
        forked = CONTEXT.Process(target=run_typed, args=typed, daemon=True)
        forked.start()
        forked.join(30)
        if forked.exitcode is None:
            forked.kill()
            forked.join()
            raise TimeoutError(f"tablectl {' '.join(words)} has not ended within 30 s")
        code = forked.exitcode
        forked.close()
        out, err = (one.read_text(**AS_TEXT) for one in streams[1:])
    return subprocess.CompletedProcess(["tablectl", *words], code, out, err)
