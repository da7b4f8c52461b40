"""Who drips holds nobody: a command's exchange ends in its time, wherever the other end begins to drip."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tablectl import timely
from tablectl.cli.check import server
from tablectl.config import load_config
from tablectl.conformance import Kit, kit

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OK = b"HTTP/1.1 200 OK\r\n"
DRIPS = {
    # Silence: the socket's own time and the exchange's end together, and either may be the first.
    "silence": (b"", b""),
    "silent handshake": (b"", b""),
    "handshake": (b"\x16\x03\x03\x3f\xff", b"\x02"),
    "status": (b"HTTP/1.1 200 ", b"O"),
    "never begins": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "headers": (OK, b"A: b\r\n"),
    "body": (OK + b"Content-Length: 999999\r\n\r\n{", b" "),
    "chunks": (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "no end": (OK + b"\r\n", b" "),
}


@contextmanager
def dripping(where: str) -> Iterator[int]:
    """The port of a server that gets so far, and then sends a little again and again."""
    begins, drop = DRIPS[where]
    ended = threading.Event()

    def drips(line: socket.socket) -> None:
        try:
            with line:
                line.sendall(begins)
                while not ended.wait(0.02):
                    line.sendall(drop)
        except OSError:
            return

    def serves() -> None:
        while not ended.is_set():
            try:
                drips(listener.accept()[0])
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serves)
        thread.start()
        yield listener.getsockname()[1]
        ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(kit, "DEADLINE", 0.15)
    monkeypatch.setattr(server, "SECONDS", 0.15)
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < 5


def url(where: str, port: int) -> str:
    return f"{'https' if 'handshake' in where else 'http'}://127.0.0.1:{port}/x"


@pytest.mark.parametrize("where", DRIPS)
def test_the_kit_waits_so_long_and_no_longer(where: str) -> None:
    with dripping(where) as port:
        got = Kit(url(where, port), [SECRET], "CONF-1").probe()
    assert (got.status, got.text) == (0, "no answer within 0.15 s")


@pytest.mark.parametrize("where", DRIPS)
def test_check_waits_so_long_and_no_longer(where: str, tmp_path: Path) -> None:
    (tmp_path / "push-hmac").write_text(SECRET)
    with dripping(where) as port:
        path = tmp_path / "T07.toml"
        path.write_text(
            '[table]\nid = "T07"\n[scanner]\ndriver = "bee-tek"\ndevice = "/dev/null"\n'
            f'[server]\nurl = "{url(where, port)}"\n[journal]\npath = "T07.db"\n[secrets]\nfolder = "."\n'
            f'[api]\nsocket = "{tmp_path}/none.sock"\n'
        )
        (found,) = server.server_findings(load_config(path))
    assert (found.grade, found.text) == ("FAIL", f"{url(where, port)}: no answer within 0.15 s")


@pytest.mark.parametrize("where", [where for where in DRIPS if "handshake" in where])
def test_the_other_clock_is_asked_so_long_and_no_longer(where: str) -> None:
    with dripping(where) as port:
        assert server._clock_apart("127.0.0.1", port) is None


def test_a_connection_that_is_in_time_is_left_alone() -> None:
    one, other = socket.socketpair()
    with one, other:
        with timely.Deadline(one, 20):
            other.sendall(b"x")
            assert one.recv(1) == b"x"
        other.sendall(b"y")
        assert one.recv(1) == b"y"
        with pytest.raises(TimeoutError), timely.Deadline(one, 0.01):
            assert one.recv(1) == b""
        with pytest.raises(TimeoutError), timely.Deadline(other, -1):
            time.sleep(0.05)
            raise ssl.SSLError("whatever it looks like")
