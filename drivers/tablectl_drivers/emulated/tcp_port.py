"""A serial server as a shoe has it at its cable's end: one TCP connection, a second one is refused."""

from __future__ import annotations

import os
import select
import socket
import threading
from contextlib import suppress

from tablectl_drivers.emulated.port import Port


def parse_listen(listen: int | str) -> tuple[str, int]:
    """``4001``, ``"4001"`` or ``"0.0.0.0:4001"``; without a host this machine only. :class:`ValueError`."""
    host, colon, port = str(listen).rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65535 or (colon and not host):
        raise ValueError(f"listen: {listen!r} is neither a port nor host:port")
    return (host or "127.0.0.1"), int(port)


class TcpPort(Port):
    """Listens on ``listen`` (0: a free port). What is said while nobody is connected is lost."""

    def __init__(self, listen: int | str = 0, speed: float = 1.0) -> None:
        super().__init__(speed)
        self._host, self._port = parse_listen(listen)
        self._listener: socket.socket | None = None
        self._peer: socket.socket | None = None
        self._plugged = True
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        try:
            with self._lock:
                self._listen()
        except OSError:
            os.close(self._wake)
            raise
        self._server = threading.Thread(target=self._serve, name="emulated serial server", daemon=True)
        self._server.start()
        self._writer.start()

    @property
    def device(self) -> str:
        """``tcp://host:port``."""
        host = "127.0.0.1" if self._host in ("0.0.0.0", "") else self._host
        return f"tcp://{host}:{self._port}"

    def _write(self, data: bytes) -> None:
        if self._peer is None:
            return
        with suppress(OSError):
            while data:
                data = data[self._peer.send(data) :]

    def _up(self) -> None:
        self._plugged = True
        if self._listener is not None or self._peer is not None:
            return
        with suppress(
            OSError
        ):  # the thread may still hold the old one in its poll: then it listens anew itself
            self._listen()
        os.eventfd_write(self._wake, 1)

    def _listen(self) -> None:
        listener = socket.create_server((self._host, self._port), backlog=1)
        listener.setblocking(False)
        self._port = listener.getsockname()[1]
        self._listener = listener

    def _down(self) -> None:
        self._plugged = False
        for end in (self._peer, self._listener):
            if end is not None:
                end.close()
        self._peer = self._listener = None
        os.eventfd_write(self._wake, 1)

    def close(self) -> None:
        """Fall silent and stop listening."""
        if self._closing.is_set():
            return
        super().close()
        self._server.join()
        os.close(self._wake)

    def _serve(self) -> None:
        while not self._closing.is_set():
            with self._lock:
                listener, peer = self._listener, self._peer
                poller = select.poll()
                poller.register(self._wake, select.POLLIN)
                for end in (listener, peer):
                    if end is not None:
                        poller.register(end, select.POLLIN)
            poller.poll(200)
            with self._lock, suppress(OSError):
                with suppress(BlockingIOError):
                    os.eventfd_read(self._wake)
                if self._closing.is_set() or not self._plugged:
                    continue
                if peer is not None and peer is self._peer:
                    self._listen_to(peer)
                elif listener is not None and listener is self._listener:
                    self._accept(listener)
                if self._peer is None and self._listener is None:
                    self._listen()

    def _accept(self, listener: socket.socket) -> None:
        """Take the caller and stop listening, so that a second one is refused, not kept waiting."""
        try:
            peer, _ = listener.accept()
        except OSError:
            return
        peer.setblocking(False)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peer = peer
        listener.close()
        self._listener = None

    def _listen_to(self, peer: socket.socket) -> None:
        """What a reader sends, or that it hangs up."""
        try:
            heard = peer.recv(4096)
            gone = not heard
            self._hear(heard)
        except BlockingIOError:
            return
        except OSError:
            gone = True
        if gone:
            peer.close()
            self._peer = None
