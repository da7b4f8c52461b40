"""The kit's hands: events of a test table, requests signed or spoiled on purpose, and what came back."""

from __future__ import annotations

import http.client
import json
import secrets
import ssl
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tablectl.clock import Instant
from tablectl.delivery.form import ANSWER_BYTES, BATCH_TYPE, SINGLE_TYPE
from tablectl.delivery.outbox import message_id
from tablectl.delivery.signing import parse_secrets, sign
from tablectl.events import AlertAcknowledged, Event, event_id, public_body
from tablectl.timely import connect, exchange

DEADLINE = 5.0
"""Seconds for one answer, from connecting to its last byte, as a controller waits."""


Try = Callable[["Kit"], None]


class Failed(Exception):
    """The server did not answer as the contract says."""

    def __init__(self, sent: str, expected: str, got: str) -> None:
        super().__init__(got)
        self.sent = sent
        self.expected = expected
        self.got = got


class Skipped(Exception):
    """The check cannot be tried; the text says what it needs."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a check: ``ok``, ``FAIL`` or ``skip``."""

    name: str
    says: str
    grade: str
    sent: str = ""
    expected: str = ""
    got: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """``says``: what a server must do."""

    name: str
    says: str
    run: Callable[[Kit], None]


@dataclass(frozen=True, slots=True)
class Got:
    """An answer. ``status`` 0: none; ``text`` says why, or shows its body."""

    status: int
    next: object = None
    text: str = ""

    def __str__(self) -> str:
        return f"{self.status} {self.text}".strip() if self.status else self.text


@dataclass
class Kit:
    """One run against ``url`` (``{table}`` is expanded). ``betting_url``: where the server tells its window.

    ``real``: events do not say that they are a test. ``silence``: seconds after which a window is closed.
    """

    url: str
    secrets: Sequence[str]
    table: str
    betting_url: str | None = None
    real: bool = False
    silence: float = 15.0
    context: ssl.SSLContext | None = None
    epoch: str = field(default_factory=lambda: secrets.token_hex(3))
    next: int = 0
    """The sequence that the server wants."""
    shoe: int = 1
    round: int = 0

    def __post_init__(self) -> None:
        self.keys = parse_secrets(self.secrets)
        self._connection: http.client.HTTPConnection | None = None

    @property
    def other_epoch(self) -> str:
        """An epoch that is not this one's."""
        return f"{int(self.epoch, 16) ^ 0x5A5A5A:06x}"

    # --- what is sent ---------------------------------------------------------------------------------

    def event(self, sequence: int, event: Event | None = None, *, suffix: str = "", **other: str) -> bytes:
        """The bytes of an event; ``other``: ``table`` and ``epoch`` of somebody else."""
        at = Instant(0, time.time_ns())
        return public_body(
            event or AlertAcknowledged(alert="conformance", acknowledged_by="the kit"),
            table=other.get("table", self.table),
            epoch=other.get("epoch", self.epoch),
            sequence=sequence,
            at=at,
            test=not self.real,
            suffix=suffix,
        )

    def changed(self, sequence: int, /, **fields: Any) -> bytes:
        """An event with other values in its envelope; None takes a field away."""
        event = json.loads(self.event(sequence)) | fields
        kept = {name: value for name, value in event.items() if value is not None}
        return json.dumps(kept, separators=(",", ":")).encode()

    def events(self, count: int) -> list[bytes]:
        """So many events from the one wanted on."""
        return [self.event(self.next + i) for i in range(count)]

    def headers(
        self,
        content: bytes,
        ids: Sequence[str],
        *,
        keys: Sequence[bytes] | None = None,
        later: float = 0.0,
        epoch: str | None = None,
        named: str | None = None,
    ) -> dict[str, str]:
        """Signed now, or ``later`` seconds from now; ``named``: another ``webhook-id`` than the right one."""
        named = named or message_id(self.table, epoch or self.epoch, ids)
        return sign(keys or self.keys, named, int(time.time() + later), content)

    def post(
        self,
        bodies: Sequence[bytes],
        *,
        single: bool | None = None,
        spoil: Callable[[dict[str, str]], Mapping[str, str]] = lambda headers: headers,
        content: bytes | None = None,
        keys: Sequence[bytes] | None = None,
        later: float = 0.0,
        epoch: str | None = None,
        named: str | None = None,
    ) -> Got:
        """One request. ``spoil``: makes other headers of the right ones, ``content`` other bytes unsigned."""
        single = len(bodies) == 1 if single is None else single
        made = bodies[0] if single else b"[" + b",".join(bodies) + b"]"
        ids = [self._id(body, number) for number, body in enumerate(bodies)]
        headers = self.headers(made, ids, keys=keys, later=later, epoch=epoch, named=named)
        headers["Content-Type"] = SINGLE_TYPE if single else BATCH_TYPE
        return self.exchange("POST", self.url, made if content is None else content, spoil(headers))

    def _id(self, body: bytes, number: int) -> str:
        try:
            return str(json.loads(body)["id"])
        except (ValueError, KeyError, TypeError):
            return event_id(self.table, self.epoch, self.next + number)

    def exchange(self, method: str, url: str, body: bytes | None, headers: Mapping[str, str]) -> Got:
        """A request as it is, once more on a new connection when the old one had been closed."""
        parts = urlsplit(url.replace("{table}", self.table))
        resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        end = time.monotonic() + DEADLINE
        for kept in (self._connection is not None, False):
            try:
                connection = self._connected(parts.scheme, parts.hostname or "", parts.port, end)
                left = end - time.monotonic()
                answer = exchange(
                    connection, method, resource, body, headers, seconds=left, most=ANSWER_BYTES
                )
                return _got(*answer)
            except TimeoutError:
                self.hang_up()
                return Got(0, text=f"no answer within {DEADLINE:g} s")
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.hang_up()
                if not kept:
                    return Got(0, text=f"no answer: {str(error) or type(error).__name__}")
        raise AssertionError

    def _connected(self, scheme: str, host: str, port: int | None, end: float) -> http.client.HTTPConnection:
        port = port or (443 if scheme == "https" else 80)
        kept = self._connection
        if kept is not None and kept.sock is not None and (kept.host, kept.port) == (host, port):
            return kept
        self.hang_up()
        context = (self.context or ssl.create_default_context()) if scheme == "https" else None
        self._connection = connect(host, port, max(0.01, end - time.monotonic()), context)
        return self._connection

    def hang_up(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def another(self) -> Kit:
        """A second pair of hands: the same sender over a connection of its own."""
        made = Kit(self.url, self.secrets, self.table, real=self.real, context=self.context)
        made.epoch, made.next = self.epoch, self.next
        return made

    # --- what came ------------------------------------------------------------------------------------

    def probe(self) -> Got:
        """A signed empty batch."""
        return self.post([], single=False)

    def sync(self) -> None:
        """Ask where the server is."""
        got = self.probe()
        if got.status == 200 and type(got.next) is int and got.next > 0:
            self.next = got.next

    def takes(self, bodies: Sequence[bytes], sent: str, *, wanted: int | None = None, **options: Any) -> None:
        """The server must take these, and then want ``wanted`` (the one behind them)."""
        wanted = self.next + len(bodies) if wanted is None else wanted
        self.must(self.post(bodies, **options), sent, {200}, wanted)
        self.next = wanted

    def refuses(self, got: Got, sent: str, statuses: set[int]) -> None:
        """The answer must be one of these; and nothing of it may have been taken."""
        self.must(got, sent, statuses, None)
        self.must(self.probe(), f"{sent}, then a probe", {200}, self.next)

    def stops(
        self,
        bodies: Sequence[bytes],
        sent: str,
        *,
        good: int,
        told: Collection[int] = (),
        statuses: Collection[int] = (400, 422),
    ) -> None:
        """Of this batch the first ``good`` may be taken and nothing else.

        It is refused, or an answer with ``next`` tells how many were taken: one of ``told``.
        """
        got, after = self.post(bodies, single=False), self.probe()
        if got.status in (200, 409) and told:
            right = type(got.next) is int and got.next - self.next in told and after.next == got.next
        else:
            right = got.status in statuses
        if not right:
            nexts = " or ".join(f'{{"next": {self.next + count}}}' for count in told)
            refused = " or ".join(map(str, statuses))
            raise Failed(
                sent, refused + (f" or 200 {nexts}, and a probe says the same" if nexts else ""), str(got)
            )
        if after.status != 200 or after.next not in range(self.next, self.next + good + 1):
            expected = " or ".join(f'200 {{"next": {self.next + count}}}' for count in range(good + 1))
            raise Failed(f"{sent}, then a probe", expected, str(after))
        self.sync()

    def must(self, got: Got, sent: str, statuses: set[int], wanted: int | None) -> None:
        """Compare an answer. Raises :class:`Failed`."""
        expected = " or ".join(map(str, sorted(statuses)))
        if wanted is not None:
            expected += f' {{"next": {wanted}}}'
        right = type(got.next) is int and got.next == wanted
        if got.status not in statuses or (wanted is not None and not right):
            raise Failed(sent, expected, str(got))


def _got(status: int, body: bytes) -> Got:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    wanted = value.get("next") if isinstance(value, dict) else None
    shown = body[:200].decode("utf-8", "replace")
    return Got(status, wanted, "".join(c if c.isprintable() else "?" for c in shown))


def adding_to(checks: list[Check]) -> Callable[[str, str], Callable[[Try], Try]]:
    """A decorator ``(name, says)`` that adds a function to these."""

    def named(name: str, says: str) -> Callable[[Try], Try]:
        def add(run: Try) -> Try:
            checks.append(Check(name, says, run))
            return run

        return add

    return named
