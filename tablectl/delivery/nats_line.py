"""One connection to NATS for one table: publish behind a fence, read where the stream stands, ask.

The library's own reconnection is not used: what it buffers while a server is away goes out behind the back
of our deadlines.  Here a connection that fails is dropped, and the next try makes a new one.  Whatever goes
wrong is a :class:`Fault` with words for people.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import nats.errors
from nats.aio.client import Client, RawCredentials
from nats.aio.msg import Msg

from tablectl.delivery.aside import aside
from tablectl.delivery.nats_words import NO_MESSAGE, Duplicate, Fault, refused, unreachable
from tablectl.delivery.tls import Tls, TlsFiles, TlsUnusable

PORT = 4222
CREDENTIAL_BYTES = 64 << 10
ANSWER_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Last:
    """The subject's newest message: its place in the stream, and the event."""

    at: int
    body: bytes


class _Client(Client):
    """Says nothing, credentials least, over a connection that should be encrypted and is not."""

    def __init__(self, may_speak: Callable[[], bool]) -> None:
        super().__init__()
        self._may_speak = may_speak

    def _connect_command(self) -> bytes:
        if not self._may_speak():
            raise nats.errors.SecureConnWantedError
        return super()._connect_command()


class Line:
    """The connection of ``table`` to one of the servers of ``url`` (``nats://``, ``tls://``; commas between).

    ``credential``: a file with a NATS ``.creds`` text or a token; missing, empty or ``unset``: none. It is
    read at every connection. Raises :class:`ValueError` for a bad address.
    """

    def __init__(self, url: str, table: str, files: TlsFiles, credential: Path | None) -> None:
        self._servers = [_server(one) for one in url.split(",")]
        self._table = table
        self._files = files
        self._credential = credential
        self._client: Client | None = None
        self._lock = asyncio.Lock()
        self._errors: deque[Exception] = deque(maxlen=1)
        self._waiting: dict[str, asyncio.Future[Fault]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self.stream: str | None = None
        """The stream's name, once it was looked for."""
        self.tls: Tls | None = None
        self.events = f"tables.{table}.events"
        self.link = f"tables.{table}.link"

    @property
    def address(self) -> str:
        """For people."""
        return ",".join(one.geturl() for one in self._servers)

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    # --- what it does -------------------------------------------------------------------------------------

    async def publish(self, message_id: str, kind: str, body: bytes, after: int) -> int:
        """Store one event behind the message ``after`` (0: as the first one); its place in the stream.

        Raises :class:`Moved`, :class:`Duplicate` and :class:`Fault`.
        """
        headers = {
            "ce-type": kind,
            "Nats-Msg-Id": message_id,
            "Nats-Expected-Last-Subject-Sequence": str(after),
        }
        try:
            answer = _object(await self._request(self.events, body, headers))
        except nats.errors.NoRespondersError:
            await self._find_stream()
            raise Fault(f"the stream {self.stream} has nobody who leads it at this moment") from None
        except nats.errors.MaxPayloadError:
            raise Fault(f"the NATS server takes no message as large as {message_id}", at_fault=True) from None
        if "error" in answer:
            raise refused(answer["error"])
        if answer.get("duplicate") is True:
            raise Duplicate
        at = answer.get("seq")
        if type(at) is not int:
            raise Fault("what answers on this table's subject is no stream")
        return at

    async def last(self) -> Last | None:
        """The subject's newest message, as the stream's leader has it; None: it holds none."""
        if self.stream is None:
            await self._find_stream()
        asked = json.dumps({"last_by_subj": self.events}).encode()
        answer = await self._api(f"STREAM.MSG.GET.{self.stream}", asked)
        error = answer.get("error", {})
        if error.get("err_code") == NO_MESSAGE:
            return None
        if error:
            self.stream = None
            raise refused(error)
        try:
            return Last(int(answer["message"]["seq"]), base64.b64decode(answer["message"].get("data", "")))
        except (LookupError, TypeError, ValueError):
            raise Fault("the stream gives an answer that cannot be read") from None

    async def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What the game server that consumes the stream answers about this table."""
        try:
            answer = await self._request(self.link, json.dumps(asked).encode(), None)
        except nats.errors.NoRespondersError:
            raise Fault(f"no game server answers on {self.link}") from None
        return _object(answer)

    async def _find_stream(self) -> None:
        self.stream = None
        answer = await self._api("STREAM.NAMES", json.dumps({"subject": self.events}).encode())
        if "error" in answer:
            raise refused(answer["error"])
        names = answer.get("streams") or []
        if not names:
            raise Fault(
                f"no stream takes {self.events}: it must be made on the NATS server (docs/integration.md)",
                at_fault=True,
            )
        self.stream = str(names[0])

    async def _api(self, what: str, asked: bytes) -> dict[str, Any]:
        try:
            return _object(await self._request(f"$JS.API.{what}", asked, None))
        except nats.errors.NoRespondersError:
            raise Fault(
                "JetStream does not answer on this NATS server: it is off, or none leads it now"
            ) from None

    async def _request(self, subject: str, body: bytes, headers: dict[str, str] | None) -> Msg:
        """An answer, however long it takes: deadlines are the caller's. Raises :class:`Fault`."""
        async with self._lock:
            client = await self._ready()
        broken: asyncio.Future[Fault] = asyncio.get_running_loop().create_future()
        self._waiting[subject] = broken
        asking = asyncio.ensure_future(client.request(subject, body, timeout=3600, headers=headers))
        try:
            either: set[asyncio.Future[Any]] = {asking, broken}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not asking.done():
                raise broken.result()
            if asking.cancelled():
                raise Fault("the connection to the NATS server was given up")
            return asking.result()
        except (nats.errors.NoRespondersError, nats.errors.MaxPayloadError, Fault):
            raise
        except Exception as error:  # noqa: BLE001 the library's own faults are a broken connection too
            raise Fault(f"the connection to the NATS server broke: {error}") from None
        finally:
            asking.cancel()
            self._waiting.pop(subject, None)

    # --- the connection -------------------------------------------------------------------------------------

    def drop(self) -> None:
        """Forget this connection, which does not answer; the next try makes another."""
        client, self._client, self.stream = self._client, None, None
        if client is not None:
            task = asyncio.ensure_future(_hang_up(client))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        self.drop()
        await asyncio.gather(*self._closing)

    async def _ready(self) -> Client:
        if self._client is not None and not self._client.is_connected:
            self.drop()
        if self._client is None:
            self._client = await self._connect()
        return self._client

    async def _connect(self) -> Client:
        """To the first server that takes us. Raises the last one's :class:`Fault`."""
        credential = await aside(_read, self._credential)
        for server in self._servers[:-1]:
            with contextlib.suppress(Fault):
                return await self._connect_to(server, credential)
        return await self._connect_to(self._servers[-1], credential)

    async def _connect_to(self, server: SplitResult, credential: str) -> Client:
        host, tls = server.hostname or "", None
        if server.scheme == "tls":
            tls = await self._encryption()
            tls.server_until = None
        client = _Client(lambda: tls is None or tls.server_until is not None)
        options: dict[str, Any] = {} if tls is None else {"tls": tls.context, "tls_hostname": host}
        if "BEGIN NATS USER JWT" in credential:
            options["user_credentials"] = RawCredentials(credential)
        elif credential:
            options["token"] = credential
        self._errors.clear()
        try:
            address = await aside(_look_up, host, server.port or PORT)
            await client.connect(
                f"{server.scheme}://{address}",
                name=f"tablectl {self._table}",
                allow_reconnect=False,
                max_reconnect_attempts=1,
                reconnect_time_wait=0,
                connect_timeout=3600,
                inbox_prefix=f"_INBOX_{self._table}",
                error_cb=self._heard,
                closed_cb=self._gone,
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
                self.tls = await aside(Tls, self._files)
            except TlsUnusable as error:
                raise Fault(str(error), at_fault=True) from None
        return self.tls

    async def _heard(self, error: Exception) -> None:
        """The server says that something is not permitted, naming the subject."""
        self._errors.append(error)
        found = re.search(
            r"permissions violation for (publish|subscription) to \"([^\"]*)\"", str(error), re.I
        )
        if found is None:
            return
        answers = found[1].lower() == "subscription"
        for subject, broken in self._waiting.items():
            if not broken.done() and (answers or subject.lower() == found[2].lower()):
                may_not = f"listen on _INBOX_{self._table}.>" if answers else f"publish to {subject}"
                fault = Fault(f"the NATS server does not let this table {may_not}", at_fault=True)
                broken.set_result(fault)

    async def _gone(self) -> None:
        for broken in self._waiting.values():
            if not broken.done():
                broken.set_result(Fault("the NATS server ended the connection"))


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
        text = "" if path is None else path.read_text("ascii")[:CREDENTIAL_BYTES].strip()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError):
        raise Fault(f"the credential {path} cannot be read", at_fault=True) from None
    return "" if text == "unset" else text


def _look_up(host: str, port: int) -> str:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
    address = str(found[0][4][0])
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _object(message: Msg) -> dict[str, Any]:
    """The JSON object of an answer; of anything else an empty one."""
    try:
        value = json.loads(message.data) if len(message.data) <= ANSWER_BYTES else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}
