"""Signatures of the Standard Webhooks scheme: who sent this request, and when.

The signed text is ``<webhook-id>.<webhook-timestamp>.<body>``, HMAC-SHA-256, base64, ``v1,`` before
it.  Two secrets at once are a rotation: the sender signs with both, the receiver takes either.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence

PREFIX = "whsec_"
WINDOW = 300
"""Seconds by which a request's timestamp may differ from the receiver's clock."""


class SignatureRefused(Exception):
    """The request is not taken as coming from a holder of the secret; the message says why."""


def parse_secret(text: str) -> bytes:
    """The key in ``whsec_`` + base64 of 24 to 64 bytes.

    Raises :class:`ValueError`, without showing the secret: a passphrase that happens to decode would
    give a key nobody meant.
    """
    text = text.strip()
    if not text.startswith(PREFIX):
        raise ValueError(
            f"a signing secret begins with {PREFIX}, followed by base64 of 24 to 64 random bytes"
        )
    encoded = text[len(PREFIX) :]
    try:
        key = base64.b64decode(encoded.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError(f"the signing secret behind {PREFIX} is not base64 with its padding") from None
    if not 24 <= len(key) <= 64:
        raise ValueError(f"the signing secret has {len(key)} bytes behind {PREFIX}; it needs 24 to 64")
    return key


def parse_secrets(texts: Sequence[str]) -> tuple[bytes, ...]:
    """One key, or two during a rotation. Raises :class:`ValueError`."""
    if not 1 <= len(texts) <= 2:
        raise ValueError(f"one signing secret, or two while they are changed, not {len(texts)}")
    return tuple(parse_secret(text) for text in texts)


def _signature(key: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    signed = b"%s.%d.%s" % (message_id.encode(), timestamp, body)
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def sign(keys: Sequence[bytes], message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The three headers of a request. ``timestamp``: Unix time in seconds, of this very try."""
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_signature(key, message_id, timestamp, body) for key in keys),
    }


def verify(
    keys: Sequence[bytes], headers: Mapping[str, str], body: bytes, now: float, *, window: int = WINDOW
) -> str:
    """Check a request; its ``webhook-id``. ``now``: Unix time in seconds.

    Raises :class:`SignatureRefused`. Every signature is compared in constant time with every key.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        message_id, stamp, given = (lower[f"webhook-{n}"] for n in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise SignatureRefused(f"the header {missing.args[0]} is missing") from None
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
        raise SignatureRefused("webhook-timestamp is not Unix time in whole seconds")
    candidates = [c.encode("utf-8", "replace") for c in given.split(" ")[:16]]
    expected = [_signature(key, message_id, int(stamp), body).encode() for key in keys]
    matches = [hmac.compare_digest(one, other) for one in expected for other in candidates]
    if not any(matches):
        raise SignatureRefused("no signature fits: another secret, or the body was changed on its way")
    apart = int(stamp) - now
    if abs(apart) > window:
        side = "behind" if apart < 0 else "ahead of"
        raise SignatureRefused(
            f"the sender's clock is {abs(apart):.0f} s {side} this server's; {window} s are allowed"
        )
    return message_id
