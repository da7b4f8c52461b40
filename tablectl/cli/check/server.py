"""The game server, asked as the daemon asks it when there is nothing to say."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tablectl.cli.check.findings import FAIL, OK, SECONDS, WARN, Finding

if TYPE_CHECKING:
    from tablectl.config import Config

HUNG_UP = "it ended the connection without an answer; it may want another certificate of this table"

UNKNOWN_TEST = (
    "whether it takes events of a test table shows with the first one only, no empty request tells; "
    "the reference server takes them with --accept-test"
)


def server_findings(config: Config) -> Iterator[Finding]:
    """A signed empty batch, as the daemon sends it when there is nothing to say."""
    from tablectl.cli.check.journal import history
    from tablectl.delivery.form import ANSWER_BYTES, BATCH_TYPE, words_of
    from tablectl.delivery.outbox import message_id
    from tablectl.delivery.signing import parse_secrets, sign
    from tablectl.delivery.tls import Tls, TlsUnusable, alert_of, refused_words
    from tablectl.timely import connect, exchange

    url = config.server_url
    if url is not None and config.server.kind == "nats":
        from tablectl.cli.check.nats import nats_finding

        yield nats_finding(config, history(config))
        return
    if url is None or not config.push_secrets:
        return
    parts = urlsplit(url)
    grade = FAIL if config.house_rules().betting.link_required else WARN
    host, tls = parts.hostname or "", None
    if parts.scheme == "https":
        try:
            tls = Tls(config.tls)
        except TlsUnusable as fault:
            yield Finding("game server", FAIL, str(fault))
            return
    now, body, epoch = time.time(), b"[]", history(config)
    named = f"check-{now:.0f}" if epoch is None else message_id(config.table.id, epoch, [])
    headers = sign(parse_secrets(config.push_secrets), named, int(now), body)
    headers["Content-Type"] = BATCH_TYPE
    resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    port = parts.port or (443 if tls is not None else 80)
    try:
        with closing(connect(host, port, SECONDS, None if tls is None else tls.context)) as connection:
            if tls is not None and isinstance(connection.sock, ssl.SSLSocket):
                tls.server_shows(connection.sock.getpeercert())
            status, content = exchange(
                connection, "POST", resource, body, headers, seconds=SECONDS, most=ANSWER_BYTES
            )
    except ssl.SSLCertVerificationError as fault:
        out_of_time = fault.verify_code in (9, 10)
        apart = _clock_apart(host, parts.port) if out_of_time else None
        yield Finding("game server", grade, f"{url}: {refused_words(fault, host, apart, config.server.ca)}")
        return
    except TimeoutError:
        yield Finding("game server", grade, f"{url}: no answer within {SECONDS:g} s")
        return
    except (OSError, http.client.HTTPException, ValueError) as fault:
        why = alert_of(fault)
        if tls is not None and isinstance(fault, ssl.SSLEOFError | ConnectionResetError | BrokenPipeError):
            why = why or HUNG_UP
        yield Finding("game server", grade, f"{url}: {why or fault or type(fault).__name__}")
        return
    answer = _object(content)
    for text in () if tls is None else tls.ending(now, config.server.certificate_days):
        yield Finding("game server", WARN, text)
    if status != 200:
        yield Finding(
            "game server", grade, f"{url}: HTTP {status}: {words_of(answer) or 'it gives no reason'}"
        )
    elif type(answer.get("next")) is not int:
        yield Finding("game server", grade, f"{url}: HTTP 200, but no answer of a game server")
    else:
        yield Finding("game server", OK, f"{url} answers a signed empty request")
        if config.table.test:
            yield Finding("game server", WARN, UNKNOWN_TEST)


def _clock_apart(host: str, port: int | None) -> int | None:
    """Seconds our clock is behind the server's, asked without trust, only for the text; None: not known."""
    from tablectl.delivery.transport import clocks_apart
    from tablectl.timely import Deadline, connect

    blind = ssl.create_default_context()
    blind.check_hostname = False
    blind.verify_mode = ssl.CERT_NONE
    try:
        with closing(connect(host, port or 443, 1, blind)) as connection, Deadline(connection.sock, 1):
            connection.request("HEAD", "/")
            date = connection.getresponse().headers["Date"]
    except (OSError, http.client.HTTPException, ValueError):
        return None
    return clocks_apart(date, time.time()) if date else None


def _object(answer: bytes) -> dict[str, Any]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
