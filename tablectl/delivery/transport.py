"""One try of a delivery over HTTP: signed, within a deadline, and whatever goes wrong told in words.

Redirects are not followed, answers are bounded, and no cookie, proxy or environment has a say.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime

import aiohttp
from aiohttp.client_reqrep import ClientRequest
from aiohttp.connector import Connection
from aiohttp.tracing import Trace
from yarl import URL

from tablectl import __version__
from tablectl.aside import Resolver, aside
from tablectl.clock import SECOND, Instant
from tablectl.delivery import ways
from tablectl.delivery.answers import Answer, Failed, retry_after
from tablectl.delivery.form import ANSWER_BYTES, BATCH_TYPE, SINGLE_TYPE, words_of
from tablectl.delivery.signing import sign
from tablectl.delivery.tls import Tls, TlsFiles, TlsUnusable, alert_of, refused_words, renewed

CLOCKS_APART = 60
"""Seconds between the server's clock and ours that are worth a word."""


class _Quiet(aiohttp.TCPConnector):
    """Uses a kept connection again only if no answer came on it unasked: it would pass for the next one."""

    async def connect(
        self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        while True:
            made = await super().connect(req, traces, timeout)
            if made.protocol is None or not made.protocol.should_close:
                return made
            made.close()


class Transport:
    """Posts bodies to ``url`` (``{table}`` is expanded), one at a time, over a connection that is kept.

    ``deadline``: seconds for one whole try. Raises :class:`ValueError` for a bad address.
    """

    def __init__(
        self, url: str, table: str, deadline: float, files: TlsFiles, clock: Callable[[], Instant]
    ) -> None:
        self.url = _address(url, table)
        self._deadline = deadline
        self._files = files
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None
        self._tls: Tls | None = None

    @property
    def tls(self) -> Tls | None:
        """What encrypts the connection; None before the first try, and without encryption."""
        return self._tls

    async def close(self) -> None:
        session, self._session = self._session, None  # whatever becomes of it, it is not used again
        if session is not None:
            await session.close()

    async def post(self, keys: Sequence[bytes], message_id: str, bodies: Sequence[bytes]) -> Answer | Failed:
        """One try, signed anew. No bodies: the probe."""
        single = len(bodies) == 1
        body = bodies[0] if single else b"[" + b",".join(bodies) + b"]"
        headers = sign(keys, message_id, self._clock().wall // SECOND, body)
        headers["Content-Type"] = SINGLE_TYPE if single else BATCH_TYPE
        try:
            async with asyncio.timeout(self._deadline):
                session = await self._ready()
                try:
                    async with session.post(
                        self.url, data=body, headers=headers, allow_redirects=False
                    ) as response:
                        if self._tls is not None:
                            self._tls.worked = True
                        return await self._read(response)
                except aiohttp.ClientConnectorCertificateError as error:
                    return await self._certificate(session, error.certificate_error)
        except TimeoutError:
            return Failed(f"no answer from the game server within {self._deadline:g} s")
        except TlsUnusable as error:
            return Failed(str(error), at_fault=True, way=ways.CERTIFICATE)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return _broken(error, hint=self._tls is not None and not self._tls.worked)

    async def _ready(self) -> aiohttp.ClientSession:
        """The session; made anew when a certificate's file has changed. Raises :class:`TlsUnusable`."""
        if self.url.scheme == "https" and (self._tls is None or self._tls.changed()):
            tls = await aside(renewed, self._tls, self._files)
            if tls is not self._tls:
                await self.close()
                self._tls = tls
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=_Quiet(
                    limit=1, resolver=Resolver(), ssl=True if self._tls is None else self._tls.context
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
        return self._session

    async def _certificate(self, session: aiohttp.ClientSession, error: Exception) -> Failed:
        """Why the server's certificate is refused; one out of its time may be our clock's fault."""
        apart = None
        if isinstance(error, ssl.SSLCertVerificationError) and error.verify_code in (9, 10):
            apart = await self._clock_apart(session)
        return Failed(
            refused_words(error, self.url.host or "", apart, self._files.ca),
            at_fault=True,
            way=ways.CERTIFICATE,
        )

    async def _clock_apart(self, session: aiohttp.ClientSession) -> int | None:
        """What the server's clock says, asked without trust and without a word of ours; only for the text."""
        blind = ssl.create_default_context()
        blind.check_hostname = False
        blind.verify_mode = ssl.CERT_NONE
        try:
            async with (
                asyncio.timeout(min(1.0, self._deadline / 2)),
                session.head(self.url.origin(), ssl=blind, allow_redirects=False) as response,
            ):
                date = response.headers.get("Date")
                return clocks_apart(date, self._clock().wall / SECOND) if date else None
        except (aiohttp.ClientError, OSError, ValueError):  # a time-out is one of OSError's
            return None

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
        words = words_of(body)
        if response.status == 401 and (apart := clocks_apart(response.headers.get("Date"), wall)):
            words = f"{words} (its clock and ours differ by {abs(apart)} s)".strip()
        return Answer(response.status, body, retry_after(response.headers.get("Retry-After"), wall), words)


def _broken(error: Exception, *, hint: bool) -> Failed:
    """``hint``: it was encrypted, and never worked."""
    alert = alert_of(error)
    if alert is not None:
        return Failed(alert, at_fault=True, way=ways.CERTIFICATE)
    if isinstance(error, aiohttp.ClientConnectorError):
        why = error.os_error.strerror or type(error.os_error).__name__
        return Failed(f"the game server cannot be reached: {why}")
    maybe = "; it may want another certificate of this table" if hint else ""
    return Failed(f"the game server broke off: {_how(error)}{maybe}")


def _how(error: Exception) -> str:
    match error:
        case aiohttp.ServerDisconnectedError():
            return "it ended the connection without an answer"
        case aiohttp.ClientPayloadError():
            return "it ended the connection in the middle of its answer"
        case aiohttp.ClientResponseError():
            return "what it answers is no HTTP"
        case OSError(strerror=str(why)):
            return why
    return type(error).__name__


def _address(url: str, table: str) -> URL:
    try:
        address = URL(url.replace("{table}", table))
        good = address.scheme in ("http", "https") and bool(address.host) and not address.user
    except ValueError:
        good = False
    if not good:
        raise ValueError(f"the game server's address is http:// or https:// and a host, not {url!r}")
    return address


def clocks_apart(date: str | None, wall: float) -> int:
    """Seconds by which our clock is behind the server's (ahead: negative), 0 if not worth a word."""
    try:
        apart = int(parsedate_to_datetime(date or "").timestamp() - wall)
    except (ValueError, TypeError, OverflowError):
        return 0
    return apart if abs(apart) > CLOCKS_APART else 0
