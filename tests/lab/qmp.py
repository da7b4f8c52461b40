"""QEMU's control socket: plug, unplug, press keys, make and load snapshots."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any


class Refused(Exception):
    """QEMU would not."""


class Qmp:
    """One connection. Events are read past; nothing here waits for one."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(300)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rb")
        self._lines.readline()  # the greeting
        self("qmp_capabilities")

    def __call__(self, command: str, **arguments: Any) -> Any:
        request = {"execute": command, "arguments": arguments}
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        for line in self._lines:
            answer = json.loads(line)
            if "error" in answer:
                raise Refused(f"{command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]
        raise Refused(f"{command}: QEMU has ended")

    def monitor(self, line: str) -> None:
        """A command of the human monitor; these say nothing when all is well."""
        said = self("human-monitor-command", **{"command-line": line}).strip()
        if said:
            raise Refused(f"{line}: {said}")

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
