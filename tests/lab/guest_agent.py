"""Runs inside the laboratory's guest: does what the host asks, as root, one request at a time.

A request is a line of JSON on a virtio serial port, and so is its answer.  ``{"run": SHELL}`` runs a
command, with ``stdin`` (base64) and ``timeout`` (s); ``{"http": [SOCKET, METHOD, PATH, HEADERS, BODY]}``
asks a daemon on its local socket, without the seconds it takes here to start a Python for it.
Only the standard library: the guest's own Python runs it.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import socket
import subprocess
import time
from typing import Any

PORT = "/dev/virtio-ports/tablectl.lab"


class LocalConnection(http.client.HTTPConnection):
    """HTTP on a socket in the file system."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self._path)


def run(shell: str, stdin: bytes, timeout: float) -> dict[str, Any]:
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", shell],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        return {"code": 124, "out": base64.b64encode(late.stdout or b"").decode()}
    return {"code": done.returncode, "out": base64.b64encode(done.stdout).decode()}


def ask(path: str, method: str, target: str, headers: dict[str, str], body: str) -> dict[str, Any]:
    connection = LocalConnection(path)
    try:
        connection.request(method, target, body or None, headers)
        answer = connection.getresponse()
        return {"code": answer.status, "out": base64.b64encode(answer.read()).decode()}
    except (OSError, http.client.HTTPException) as fault:
        return {"code": 0, "out": base64.b64encode(str(fault).encode()).decode()}
    finally:
        connection.close()


def answer(line: bytes) -> bytes:
    request = json.loads(line)
    if "http" in request:
        result = ask(*request["http"])
    else:
        stdin = base64.b64decode(request.get("stdin", ""))
        result = run(request["run"], stdin, request.get("timeout", 60))
    return json.dumps(result | {"id": request["id"]}).encode() + b"\n"


def main() -> None:
    port = os.open(PORT, os.O_RDWR)
    waiting = b""
    while True:
        data = os.read(port, 65536)
        if not data:  # nobody is connected on the host's side
            time.sleep(0.05)
            waiting = b""
            continue
        *lines, waiting = (waiting + data).split(b"\n")
        for line in lines:
            if not line:
                continue
            out = answer(line)
            while out:
                out = out[os.write(port, out) :]


if __name__ == "__main__":
    main()
