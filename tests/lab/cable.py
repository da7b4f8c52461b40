"""The far end of an FTDI adapter's cable: what stands there puts bytes on the line."""

from __future__ import annotations

import socket
import time
from pathlib import Path


class Cable:
    """Bytes to the guest's serial adapter. Waits until QEMU listens."""

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
