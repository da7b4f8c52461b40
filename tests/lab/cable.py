"""The far end of an FTDI adapter's cable: what stands there puts bytes on the line, and hears what comes."""

from __future__ import annotations

import socket
import time
from pathlib import Path


class Cable:
    """Bytes to and from the guest's serial adapter."""

    def __init__(self, path: Path) -> None:
        deadline = time.monotonic() + 15
        self._socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self._socket.connect(str(path))
                return
            except (FileNotFoundError, ConnectionRefusedError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def heard(self) -> bytes:
        """What the guest has written so far and was not yet read."""
        self._socket.setblocking(False)
        try:
            return self._socket.recv(4096)
        except BlockingIOError:
            return b""
        finally:
            self._socket.setblocking(True)

    def close(self) -> None:
        self._socket.close()
