"""What one table says over NATS: publish behind a fence, read where the stream stands, ask.

Whatever goes wrong is a :class:`Fault` with words for people.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nats.errors
from nats.aio.msg import Msg

from tablectl.delivery.nats_connection import Connection
from tablectl.delivery.nats_words import NO_MESSAGE, Duplicate, Fault, refused
from tablectl.delivery.tls import Tls, TlsFiles

ANSWER_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Last:
    """The subject's newest message: its place in the stream, and the event."""

    at: int
    body: bytes


class Line:
    """What ``table`` says and asks over its :class:`Connection`, to which the arguments go."""

    def __init__(self, url: str, table: str, files: TlsFiles, credential: Path | None) -> None:
        self._connection = Connection(url, table, files, credential, heard=self._heard, gone=self._gone)
        self._table = table
        self._lock = asyncio.Lock()
        self._waiting: dict[asyncio.Future[Fault], str] = {}
        """What is asked at this moment, on which subject: several questions on one, perhaps."""
        self.stream: str | None = None
        """The stream's name, once it was looked for."""
        self.events = f"tables.{table}.events"
        self.link = f"tables.{table}.link"

    @property
    def address(self) -> str:
        """For people."""
        return self._connection.address

    @property
    def tls(self) -> Tls | None:
        """What encrypts it; None before the first try, and without encryption."""
        return self._connection.tls

    @property
    def connected(self) -> bool:
        return self._connection.connected

    def drop(self) -> None:
        """Forget this connection, which does not answer; the next try makes another."""
        self.stream = None
        self._connection.drop()

    async def close(self) -> None:
        await self._connection.close()

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
            if not self.connected:
                self.stream = None
            client = await self._connection.ready()
        broken: asyncio.Future[Fault] = asyncio.get_running_loop().create_future()
        self._waiting[broken] = subject
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
            del self._waiting[broken]

    # --- what breaks it off ------------------------------------------------------------------------------

    def _heard(self, error: Exception) -> None:
        """The server says that something is not permitted, naming the subject."""
        found = re.search(
            r"permissions violation for (publish|subscription) to \"([^\"]*)\"", str(error), re.I
        )
        if found is None:
            return
        answers = found[1].lower() == "subscription"
        for broken, subject in self._waiting.items():
            if not broken.done() and (answers or subject.lower() == found[2].lower()):
                may_not = f"listen on _INBOX_{self._table}.>" if answers else f"publish to {subject}"
                fault = Fault(f"the NATS server does not let this table {may_not}", at_fault=True)
                broken.set_result(fault)

    async def _gone(self) -> None:
        for broken in self._waiting:
            if not broken.done():
                broken.set_result(Fault("the NATS server ended the connection"))


def _object(message: Msg) -> dict[str, Any]:
    """The JSON object of an answer; of anything else an empty one."""
    try:
        value = json.loads(message.data) if len(message.data) <= ANSWER_BYTES else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}
