"""What NATS and JetStream refuse, and why there is no connection, in words for people."""

from __future__ import annotations

import re
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

import nats.errors

from tablectl.delivery import ways
from tablectl.delivery.answers import Failed
from tablectl.delivery.tls import alert_of, refused_words

WRONG_LAST = frozenset({10071, 10164})
"""JetStream: the subject's newest message is another one than the publisher expects."""
NO_MESSAGE = 10037
NO_STREAM = 10059
FULL = frozenset({10002, 10023, 10028, 10047, 10077})
"""JetStream: no room, in the stream, the account or on the disk."""
TOO_LARGE = 10054


class Fault(Exception):
    """It did not work; ``failed`` says why."""

    def __init__(self, text: str, *, at_fault: bool = False, halts: bool = False, way: str = "") -> None:
        super().__init__(text)
        self.failed = Failed(text, at_fault, halts, way)


class Moved(Exception):
    """The fence: the subject's newest message is not the one this publisher knows."""


class Duplicate(Exception):
    """The stream has taken a message of this id lately and drops this one."""


def refused(error: Any) -> Exception:
    """What an error of JetStream means."""
    code = error.get("err_code") if isinstance(error, dict) else None
    said = (
        re.sub(r"[^\x20-\x7e]", "", str(error.get("description", "")))[:200]
        if isinstance(error, dict)
        else ""
    )
    if code in WRONG_LAST:
        return Moved()
    if code in FULL:
        return Fault(
            f'the stream is full: "{said}": it must be given more room, or older events taken away',
            at_fault=True,
        )
    if code == NO_STREAM:
        return Fault("the stream of this table is gone from the NATS server", at_fault=True)
    if code == TOO_LARGE:
        return Fault(f'the stream takes no event as large as this one: "{said}"', at_fault=True)
    return Fault(f'the stream refuses: "{said}" ({code})')


def unreachable(error: Exception, server: SplitResult, heard: Sequence[Exception], ca: Path | None) -> Fault:
    """Why there is no connection. ``heard``: what the library said of it last. ``ca``: [server] ca."""
    if isinstance(error, Fault):
        return error
    if isinstance(error, nats.errors.NoServersError) and heard:
        error = heard[-1]
    at, text = server.netloc, str(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        words = refused_words(error, server.hostname or "", None, ca)
    elif (alert := alert_of(error)) is not None:
        words = alert
    elif isinstance(error, nats.errors.SecureConnWantedError):
        words = f"the game server at {at} does not encrypt, and tls:// demands it"
    elif re.search("authorization|authentication|permissions", text, re.I):
        words = "the NATS server does not accept this table's credential nats-auth"
        return Fault(words, at_fault=True, way=ways.NATS_AUTH)
    elif isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
        return Fault(f"the NATS server {at} cannot be reached: {error.strerror or type(error).__name__}")
    elif isinstance(error, nats.errors.Error):
        return Fault(f"the NATS server {at} takes no connection: {text.removeprefix('nats: ')[:200]}")
    else:  # the credential's own form, a server that is none
        text = (
            f"no connection to the NATS server {at}: the credential nats-auth cannot be read, or it is none"
        )
        return Fault(f"{text} ({type(error).__name__})", at_fault=True, way=ways.NATS_AUTH)
    return Fault(words.replace("the game server", "the NATS server"), at_fault=True, way=ways.CERTIFICATE)
