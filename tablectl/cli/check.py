"""Whether a table could play: each thing it needs looked at once, without opening the scanner's port.

The port may be the daemon's; that it is there and may be opened is all that is asked here.
"""

from __future__ import annotations

import ctypes
import http.client
import ipaddress
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from tablectl.config import Config

OK, WARN, FAIL = "ok", "warn", "FAIL"

SECONDS = 5.0
_CLOCK_UNSYNCHRONISED = 5
"""What adjtimex(2) returns while nothing sets the clock (TIME_ERROR)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """``grade``: ok, warn (it plays, but) or FAIL (it could not play)."""

    what: str
    grade: str
    text: str


def check_all(find: Callable[[], Path], config_only: bool) -> list[Finding]:
    """Everything, in the order to mend it in."""
    from tablectl.cli.check_beepers import beeper_findings
    from tablectl.cli.check_copies import copies_findings
    from tablectl.cli.check_device import device_findings
    from tablectl.cli.check_journal import journal_findings
    from tablectl.config import load_config
    from tablectl.profiles import ConfigError

    try:
        path = find()
        config = load_config(path)
    except ConfigError as fault:
        return [Finding("configuration", FAIL, line) for line in str(fault).splitlines()]
    findings = [Finding("configuration", OK, f"{path}, table {config.table.id}, rules {config.table.rules}")]
    findings += [*_limits(config), *_credentials(config), *_in_the_clear(config)]
    findings += _plugins(config)
    findings += beeper_findings(config, not config_only)
    if not config_only:
        findings += [*device_findings(config), *_server(config), *_clock()]
        findings += [*journal_findings(config), *copies_findings(config)]
    return findings


def _limits(config: Config) -> Iterator[Finding]:
    """Some houses have no limits; in another one the section was forgotten."""
    if unlimited := config.house_rules().unlimited:
        text = f"none on {', '.join(unlimited)}: any stake is taken. Not so? [limits.bets] of the house rules"
        yield Finding("limits", WARN, text)


def _credentials(config: Config) -> Iterator[Finding]:
    inspection = config.house_rules().shoe.inspection
    for text in config.missing:
        needed = "push-hmac" in text or ("pit-bosses" in text and inspection)
        yield Finding("credentials", FAIL if needed else WARN, text)
    if len(config.pit_bosses):
        yield Finding("pit bosses", OK, ", ".join(config.pit_bosses.names))


def _in_the_clear(config: Config) -> Iterator[Finding]:
    """What goes to another machine without encryption, where everybody on the way reads it."""
    for address in config.server.addresses:
        parts = urlsplit(address)
        if parts.scheme in ("http", "nats") and not _here(parts.hostname or ""):
            better = {"http": "https", "nats": "tls"}[parts.scheme]
            text = f"{address}: not encrypted, all on the way can read it and hold it back; use {better}://"
            yield Finding("game server", WARN, text)
            return


def _here(host: str) -> bool:
    """Whether a host is this machine by its very name; nothing is looked up."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        name = host.lower().removesuffix(".")
        return name == "localhost" or name.endswith(".localhost")


def _plugins(config: Config) -> Iterator[Finding]:
    from tablectl.profiles import ConfigError
    from tablectl.scanner_setup import load_scanner

    try:
        driver, settings = load_scanner(config)
        traits = driver.traits(settings)
    except ConfigError as fault:
        yield Finding("driver", FAIL, str(fault))
    else:
        if traits.emulated and not config.table.test:
            yield Finding("driver", FAIL, f"{config.path}: table.test: an emulated driver needs test = true")
        else:
            yield Finding("driver", OK, f"{driver.name}: {driver.about}")


def reach(what: str, address: str) -> Finding:
    """Whether something takes connections at ``tcp://host:port``."""
    try:
        parts = urlsplit(address)
        with socket.create_connection((parts.hostname or "", parts.port or 0), SECONDS):
            return Finding(what, OK, f"{address} takes connections")
    except (OSError, ValueError) as fault:
        return Finding(what, FAIL, f"{address}: {fault}")


def _server(config: Config) -> Iterator[Finding]:
    """A signed empty batch, as the daemon sends it when there is nothing to say."""
    from tablectl.cli.check_journal import history
    from tablectl.delivery.form import ANSWER_BYTES, BATCH_TYPE, words_of
    from tablectl.delivery.outbox import message_id
    from tablectl.delivery.signing import parse_secrets, sign
    from tablectl.delivery.tls import Tls, TlsUnusable, alert_of, refused_words
    from tablectl.timely import connect, exchange

    url = config.server_url
    if url is not None and config.server.kind == "nats":
        from tablectl.cli.check_nats import nats_finding

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


HUNG_UP = "it ended the connection without an answer; it may want another certificate of this table"

UNKNOWN_TEST = (
    "whether it takes events of a test table shows with the first one only, no empty request tells; "
    "the reference server takes them with --accept-test"
)


def _object(answer: bytes) -> dict[str, Any]:
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _clock() -> Iterator[Finding]:
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(1024))
    except (OSError, AttributeError):
        state = -1
    if state == _CLOCK_UNSYNCHRONISED:
        yield Finding(
            "clock", WARN, "nothing sets it; servers refuse what is 5 minutes off: enable time sync"
        )
    elif state < 0:
        yield Finding("clock", WARN, "whether something sets it cannot be told here")
    else:
        yield Finding("clock", OK, "it is set by time sync")
