"""The connection to one of the NATS servers, made anew where it fails.

The library's own reconnection is not used: what it buffers while a server is away goes out behind the back
of our deadlines.  Here a connection that fails is dropped, and the next try makes a new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import nats.errors
from nats.aio.client import Client, RawCredentials

from tablectl.aside import aside
from tablectl.delivery import ways
from tablectl.delivery.nats_words import Fault, unreachable
from tablectl.delivery.tls import Tls, TlsFiles, TlsUnusable, renewed
from tablectl.plain_file import read_file

PORT = 4222
CREDENTIAL_BYTES = 64 << 10


class CarefulClient(Client):
    """Says nothing, credentials least, over a connection that should be encrypted (``tls://``) and is not."""

    def _connect_command(self) -> bytes:
        server = self._current_server
        if server is not None and server.uri.scheme == "tls" and not self._server_info.get("tls_required"):
            raise nats.errors.SecureConnWantedError  # where it is demanded the library has encrypted by now
        return super()._connect_command()


class Connection:
    """Of ``table`` to one of the servers of ``url`` (``nats://``, ``tls://``; commas between).

    They are tried in their order, from the one that was good last. One that hangs costs the caller's
    deadline, and the next try begins behind it.

    ``credential``: a file with a NATS ``.creds`` text or a token; missing, empty or ``unset``: none. It is
    read at every connection. ``heard(error)``: the server says that something is not permitted. ``gone()``:
    the connection has ended. Raises :class:`ValueError` for a bad address.
    """

    def __init__(
        self,
        url: str,
        table: str,
        files: TlsFiles,
        credential: Path | None,
        *,
        heard: Callable[[Exception], None],
        gone: Callable[[], Awaitable[None]],
    ) -> None:
        self._servers = deque(_server(one) for one in url.split(","))
        self._address = ",".join(one.geturl() for one in self._servers)
        self._table = table
        self._files = files
        self._credential = credential
        self._heard = heard
        self._gone = gone
        self._client: Client | None = None
        self._errors: deque[Exception] = deque(maxlen=1)
        self._closing: set[asyncio.Task[None]] = set()
        self.tls: Tls | None = None

    @property
    def address(self) -> str:
        """For people."""
        return self._address

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    def drop(self) -> None:
        """Forget this connection, which does not answer; the next try makes another."""
        client, self._client = self._client, None
        if client is not None:
            self._servers.rotate(-1)
            task = asyncio.ensure_future(_hang_up(client))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        self.drop()
        await asyncio.gather(*self._closing)

    async def ready(self) -> Client:
        """A connection that is open. Raises :class:`Fault`."""
        if self._client is not None and not self._client.is_connected:
            self.drop()
        if self._client is None:
            self._client = await self._connect()
        return self._client

    async def _connect(self) -> Client:
        """To the first server that takes us. Raises the last one's :class:`Fault`."""
        credential = await aside(_read, self._credential)
        for left in reversed(range(len(self._servers))):
            try:
                return await self._connect_to(self._servers[0], credential)
            except BaseException as error:  # a deadline that ends here is this server's fault too
                self._servers.rotate(-1)
                if not left or not isinstance(error, Fault):
                    raise
        raise AssertionError

    async def _connect_to(self, server: SplitResult, credential: str) -> Client:
        host, tls = server.hostname or "", None
        if server.scheme == "tls":
            tls = await self._encryption()
            tls.server_until = None
        client = CarefulClient()
        options: dict[str, Any] = {} if tls is None else {"tls": tls.context, "tls_hostname": host}
        self._errors.clear()
        try:
            address = await aside(_look_up, host, server.port or PORT)
            await client.connect(
                f"{server.scheme}://{address}",
                name=f"tablectl {self._table}",
                connect_timeout=3600,
                inbox_prefix=f"_INBOX_{self._table}",
                error_cb=self._noted,
                closed_cb=self._gone,
                **once(credential),
                **options,
            )
        except BaseException as error:
            task = asyncio.ensure_future(_hang_up(client))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
            if isinstance(error, Exception):
                raise unreachable(error, server, self._errors, self._files.ca) from None
            raise
        if tls is not None:
            tls.worked = True
        return client

    async def _encryption(self) -> Tls:
        if self.tls is None or self.tls.changed():
            try:
                self.tls = await aside(renewed, self.tls, self._files)
            except TlsUnusable as error:
                raise Fault(str(error), at_fault=True, way=ways.CERTIFICATE) from None
        return self.tls

    async def _noted(self, error: Exception) -> None:
        self._errors.append(error)
        self._heard(error)


def once(credential: str) -> dict[str, Any]:
    """The library's options to connect once, with ``credential``: a ``.creds`` text, a token, or empty."""
    options: dict[str, Any] = {
        "allow_reconnect": False,
        "max_reconnect_attempts": 1,
        "reconnect_time_wait": 0,
    }
    if "BEGIN NATS USER JWT" in credential:
        options["user_credentials"] = RawCredentials(credential)
    elif credential:
        options["token"] = credential
    return options


async def _hang_up(client: Client) -> None:
    with contextlib.suppress(Exception):
        async with asyncio.timeout(0.5):  # a TLS connection that failed never closes in order
            await client.close()


def _server(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        good = parts.scheme in ("nats", "tls") and bool(parts.hostname) and parts.port != 0 and not parts.path
    except ValueError:
        good = False
    if not good or parts.username is not None:
        raise ValueError(f"a NATS server's address is nats:// or tls:// and a host, not {url!r:.100}")
    return parts


def _read(path: Path | None) -> str:
    """The credential's text; empty where there is none."""
    try:
        text = "" if path is None else read_file(path, CREDENTIAL_BYTES).decode("ascii").strip()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        raise Fault(f"the credential {path} cannot be read", at_fault=True, way=ways.NATS_AUTH) from None
    return "" if text == "unset" else text


def _look_up(host: str, port: int) -> str:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    address = str(found[0][4][0])
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
