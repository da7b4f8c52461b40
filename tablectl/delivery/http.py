"""Delivery by signed HTTP POST: does what the outbox policy says, over one connection.

Everything here may be slow or dead without harm: it runs in the service loop, reads the journal over
a connection of its own, and every try has a total deadline (names, connecting, sending, the answer).
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
import ssl
import threading
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime

import aiohttp
import structlog
from yarl import URL

from tablectl import __version__
from tablectl.clock import SECOND, Instant, now
from tablectl.delivery.answers import Answer, Failed, retry_after
from tablectl.delivery.aside import Resolver, aside
from tablectl.delivery.lines import Lines
from tablectl.delivery.outbox import Halted, Link, Outbox, Probe, Send, Trouble, Wait, message_id
from tablectl.delivery.signing import parse_secrets, sign
from tablectl.journal import JournalReader
from tablectl.journal_rows import Outgoing

SINGLE = "application/cloudevents+json"
BATCH = "application/cloudevents-batch+json"
ANSWER_BYTES = 64 << 10
BATCH_BYTES = 512 << 10
"""A batch is cut before it grows over this; one event always goes."""
LOOK = 0.25
CLOCKS_APART = 60
FRESH = 100
"""Events kept at hand as they were committed; older ones are read from the journal."""

log = structlog.get_logger(__name__)


class HttpDelivery:
    """Delivers one table's journal to ``url`` (``{table}`` is expanded).

    ``reader_factory`` opens this delivery's own journal reader. ``on_link(link)`` is called at
    every change, ``on_acked(sequence)`` after every answer that moved it (the caller saves it),
    ``on_alarm(code, text)`` when trouble begins. All are called in the loop and must be quick.
    ``deadline``: seconds for one whole try. Raises :class:`ValueError` for a bad address or secret.
    """

    def __init__(
        self,
        url: str,
        secrets: Sequence[str],
        reader_factory: Callable[[], JournalReader],
        table: str,
        epoch: str,
        *,
        on_link: Callable[[Link], None],
        on_acked: Callable[[int], None],
        on_alarm: Callable[[str, str], None],
        deadline: float = 5.0,
        ssl_context: ssl.SSLContext | None = None,
        clock: Callable[[], Instant] = now,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.url = _address(url, table)
        self._keys = parse_secrets(secrets)
        self._reader_factory = reader_factory
        self._table = table
        self._epoch = epoch
        self._on_link = on_link
        self._on_acked = on_acked
        self._on_alarm = on_alarm
        self._deadline = deadline
        self._ssl = ssl_context
        self._clock = clock
        self._jitter = jitter
        self._outbox: Outbox | None = None
        self._early: list[tuple[int, int]] = []
        self._fresh: dict[int, Outgoing] = {}
        self._woken = asyncio.Event()
        self._told: Link | None = None
        self._lines = Lines()

    @property
    def outbox(self) -> Outbox | None:
        """The state; None before :meth:`run` has read the journal."""
        return self._outbox

    def status(self) -> dict[str, object]:
        """How it stands, as ``delivery status`` shows it. ``halted``: nothing is sent until ``retry``."""
        box = self._outbox
        address = str(self.url.with_query(None))
        if box is None:
            return {"url": address, "good": False, "why": "the journal is not read yet"}
        link, trouble = box.link(self._clock().boot), box.trouble
        return {
            "url": address,
            "good": link.good,
            "why": link.reason,
            "newest": box.head,
            "acked": box.acked,
            "owed": box.owed,
            "trouble": None if trouble is None else trouble.text,
            "halted": trouble is not None and trouble.halts,
            "last_error": box.last_error,
        }

    def wake(self, head: int, boot: int, fresh: Sequence[Outgoing] = ()) -> None:
        """Events up to ``head`` are durable, the oldest new one stored at ``boot``. Call it in the loop.

        ``fresh``: those just committed, so that in the common case they need not be read back.
        """
        self._fresh.update((one.sequence, one) for one in fresh)
        while len(self._fresh) > FRESH:
            del self._fresh[next(iter(self._fresh))]
        if self._outbox is None:
            self._early.append((head, boot))
        else:
            self._outbox = self._outbox.stored(head, boot)
            self._woken.set()

    def retry(self) -> None:
        """A person wants it tried again now, also after a halt. Call it in the loop."""
        if self._outbox is not None:
            self._outbox = self._outbox.retried()
            self._woken.set()

    async def run(self) -> None:
        """Deliver until cancelled, which takes effect at once."""
        reader = await aside(self._reader_factory)
        try:
            (_, head), acked = await aside(reader.last), await aside(reader.acked)
            sure = await aside(reader.sure)
            self._outbox = Outbox.begin(self._clock().boot, head=head, acked=acked, sure=sure)
            for early in self._early:
                self._outbox = self._outbox.stored(*early)
            async with self._session() as session, asyncio.TaskGroup() as group:
                group.create_task(self._watch_link())
                await self._deliver(session, reader)
        finally:
            threading.Thread(target=reader.close, daemon=True).start()  # it may wait for a read that hangs

    def _session(self) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=1, resolver=Resolver(), ssl=True if self._ssl is None else self._ssl
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers={
                "User-Agent": f"tablectl/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
        )

    async def _deliver(self, session: aiohttp.ClientSession, reader: JournalReader) -> None:
        while self._outbox is not None:
            self._woken.clear()
            match self._outbox.next_action(self._clock().boot):
                case Send() | Probe() as action:
                    await self._exchange(session, reader, action)
                case Wait(until):
                    await self._sleep(until)
                case Halted():
                    await self._sleep(None)

    async def _sleep(self, until: int | None) -> None:
        """Until that instant or until something happens; the clock is looked at four times a second."""
        seconds = LOOK if until is None else min(LOOK, max(0.0, (until - self._clock().boot) / SECOND))
        try:
            async with asyncio.timeout(seconds):
                await self._woken.wait()
        except TimeoutError:
            pass

    async def _exchange(
        self, session: aiohttp.ClientSession, reader: JournalReader, action: Send | Probe
    ) -> None:
        answer: Answer | Failed
        try:
            found = [] if isinstance(action, Probe) else await self._bodies(reader, action)
            request: Send | Probe = action if isinstance(action, Probe) else Send(action.first, len(found))
            answer = await self._post(session, found)
        except (sqlite3.Error, LookupError) as error:
            request, answer = action, Failed(f"the journal cannot be read: {error}")
        if self._outbox is not None:
            before = self._outbox
            at = self._clock().boot
            self._outbox = before.sending(request).answered(at, answer, self._jitter())
            self._report(at, before, self._outbox)

    async def _bodies(self, reader: JournalReader, action: Send) -> list[Outgoing]:
        wanted = range(action.first, action.first + action.count)
        found = [self._fresh[sequence] for sequence in wanted if sequence in self._fresh]
        if len(found) != action.count:
            found = await aside(reader.bodies, action.first, action.count)
        if [one.sequence for one in found] != list(
            range(action.first, action.first + len(found))
        ) or not found:
            raise LookupError(f"event {action.first} is not in it")
        size = 0
        for count, one in enumerate(found):
            size += len(one.body) + 1
            if count and size > BATCH_BYTES:
                return found[:count]
        return found

    async def _post(self, session: aiohttp.ClientSession, found: list[Outgoing]) -> Answer | Failed:
        """One try, within the deadline, signed anew."""
        single = len(found) == 1
        body = found[0].body if single else b"[" + b",".join(one.body for one in found) + b"]"
        stamp = self._clock().wall // SECOND
        named = message_id(self._table, self._epoch, [one.id for one in found])
        headers = sign(self._keys, named, stamp, body) | {"Content-Type": SINGLE if single else BATCH}
        try:
            async with (
                asyncio.timeout(self._deadline),
                session.post(self.url, data=body, headers=headers, allow_redirects=False) as response,
            ):
                return await self._read(response)
        except TimeoutError:
            return Failed(f"no answer from the game server within {self._deadline:g} s")
        except aiohttp.ClientConnectorCertificateError as error:
            return Failed(
                f"the game server's certificate is refused: {error.certificate_error}", at_fault=True
            )
        except aiohttp.ClientConnectorError as error:
            why = error.os_error.strerror or type(error.os_error).__name__
            return Failed(f"the game server cannot be reached: {why}")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Failed(f"the game server broke off: {type(error).__name__}")

    async def _read(self, response: aiohttp.ClientResponse) -> Answer | Failed:
        raw = bytearray()
        async for chunk in response.content.iter_chunked(16 << 10):
            raw += chunk
            if len(raw) > ANSWER_BYTES:
                response.close()
                return Failed(f"the game server's answer is longer than {ANSWER_BYTES >> 10} KiB")
        try:
            body = json.loads(bytes(raw))
        except (ValueError, RecursionError):
            body = None
        wall = self._clock().wall / SECOND
        words = _words(body)
        if response.status == 401 and (apart := _apart(response.headers.get("Date"), wall)):
            words = f"{words} (its clock and ours differ by {apart} s)".strip()
        return Answer(response.status, body, retry_after(response.headers.get("Retry-After"), wall), words)

    def _report(self, at: int, before: Outbox, after: Outbox) -> None:
        """Tell what the answer changed."""
        if after.acked != before.acked:
            self._on_acked(after.acked)
        if after.trouble is not None and _kind(after.trouble) != _kind(before.trouble):
            self._alarm(after.trouble)
        if after.last_error is not None:
            left_out = self._lines.worth(at, after.last_error)
            if left_out is not None:
                log.warning(
                    "delivery failed",
                    table=self._table,
                    reason=after.last_error,
                    owed=after.owed,
                    left_out=left_out,
                )
        elif before.last_error is not None and self._lines.worth(at, "again") is not None:
            log.info("delivery goes on", table=self._table, owed=after.owed)
        self._tell_link()

    def _alarm(self, trouble: Trouble) -> None:
        log.error("delivery alarm", table=self._table, code=trouble.code, reason=trouble.text)
        self._on_alarm(trouble.code, trouble.text)

    async def _watch_link(self) -> None:
        """The link also turns bad by time alone, in the middle of a try too."""
        while True:
            self._tell_link()
            await asyncio.sleep(LOOK)

    def _tell_link(self) -> None:
        if self._outbox is not None:
            link = self._outbox.link(self._clock().boot)
            if link != self._told:
                self._told = link
                self._on_link(link)


def _address(url: str, table: str) -> URL:
    try:
        address = URL(url.replace("{table}", table))
        good = address.scheme in ("http", "https") and bool(address.host) and not address.user
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"the game server's address is http:// or https:// and a host, not {url!r}")
    return address


def _kind(trouble: Trouble | None) -> str:
    """Trouble without its numbers: a server that counts seconds in its words is not a new alarm."""
    return "" if trouble is None else trouble.code + re.sub(r"\d+", "#", trouble.text)


def _words(body: object) -> str:
    """The server's own words for people, short and printable."""
    said = (
        next((body[k] for k in ("error", "message", "detail") if k in body), "")
        if isinstance(body, dict)
        else ""
    )
    return re.sub(r"[^\x20-\x7e\xa1-\u1fff]", "", said)[:200] if isinstance(said, str) else ""


def _apart(date: str | None, wall: float) -> int:
    """Seconds between the server's clock and ours when they are worth a word, else 0."""
    try:
        apart = int(abs(parsedate_to_datetime(date or "").timestamp() - wall))
    except (ValueError, TypeError, OverflowError):
        return 0
    return apart if apart > CLOCKS_APART else 0
