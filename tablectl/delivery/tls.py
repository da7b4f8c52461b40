"""Encryption of the link: whom we believe, who we are, how long the certificates hold, and what went wrong.

A house signs its servers with a certificate authority of its own (``ca``) and may demand a certificate of the
table too (``certificate`` and ``key``: mutual TLS).  The files are looked at before every try, and renewed
ones are taken up without a restart; those that cannot be used together (a copy that is under way; a key that
systemd handed over, which changes only with a restart) leave what works as it is, and are told.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tablectl.plain_file import read_file

DAY = 86_400
CONNECT = "the game server's certificate is refused"


class TlsUnusable(Exception):
    """A file that the link needs is not there, or not what it should be. The text names it."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files. ``ca`` None: the system's authorities. ``certificate`` None: we show none."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None

    @property
    def all(self) -> tuple[Path, ...]:
        """Those that are named."""
        return tuple(path for path in (self.ca, self.certificate, self.key) if path is not None)


class Tls:
    """A context made of ``files`` as they are now. Raises :class:`TlsUnusable`.

    ``until``: when our own certificate ends, Unix seconds; None: there is none. ``server_until``: the
    same of the server, as of the last connection.
    """

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._stamps = _stamps(files)
        self.until: int | None = None
        self.server_until: int | None = None
        self.worked = False
        """Whether anything was ever answered over it."""
        self.unusable = ""
        """Why the files as they are now cannot take its place; empty where they can."""
        try:
            if files.ca is not None:
                read_file(files.ca)  # OpenSSL would wait at a pipe, and read a device without an end
            self.context = ssl.create_default_context(cafile=files.ca)
        except (OSError, ValueError) as error:
            raise _unusable("server.ca", files.ca, error) from None
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        if files.certificate is not None:
            self._show(files.certificate, files.key)
        self.context.sslobject_class = self._watching()

    def _show(self, certificate: Path, key: Path | None) -> None:
        try:
            text = read_file(certificate)
            if key is not None:
                read_file(key)
            # Never ask on the terminal: a key with a pass phrase is refused.
            self.context.load_cert_chain(certificate, key, password=lambda: b"")
            self.until = _until(text.decode("ascii", "replace"))
        except (OSError, ValueError, IndexError) as error:
            for what, path in (("server.client_cert", certificate), ("the credential client-key", key)):
                if path is not None and (lacks := _unreadable(path)) is not None:
                    raise _unusable(what, path, lacks) from None
            raise _unusable("server.client_cert with the credential client-key", certificate, error) from None

    def _watching(self) -> type[ssl.SSLObject]:
        """A connection that notes how long the server's certificate holds."""
        tls = self

        class Watching(ssl.SSLObject):
            def do_handshake(self) -> None:
                super().do_handshake()
                tls.server_shows(self.getpeercert())

        return Watching

    def server_shows(self, certificate: Mapping[str, Any] | None) -> None:
        """The certificate of the server at the other end, as :meth:`ssl.SSLSocket.getpeercert` gives it."""
        ends = (certificate or {}).get("notAfter")
        self.server_until = int(ssl.cert_time_to_seconds(ends)) if ends else None

    def changed(self) -> bool:
        """Whether a file is another one than when this was made."""
        return _stamps(self._files) != self._stamps

    def stays(self, why: str, stamps: _Stamps) -> None:
        """The files, with these ``stamps``, cannot be used: it goes on as it is until they change again."""
        self.unusable, self._stamps = why, stamps

    def ending(self, wall: float, days: int) -> Iterator[str]:
        """A sentence on each certificate that ends within ``days`` of ``wall`` (Unix s), or is of no use."""
        if self.unusable:
            yield (
                f"the changed certificate files cannot be used ({self.unusable}); the connection goes on "
                "with those from before. Put them in place together; a key that systemd hands over is the "
                "new one only after a restart"
            )
        for whose, until in (("this table's own", self.until), ("the game server's", self.server_until)):
            if until is None or until - wall > days * DAY:
                continue
            date = datetime.fromtimestamp(until, UTC).date().isoformat()
            left = int((until - wall) // DAY)
            when = {-1: "has ended", 0: "ends today", 1: "ends in 1 day"}.get(
                max(left, -1), f"ends in {left} days"
            )
            yield f"{whose} certificate {when} ({date}): renew it, else the link is refused and betting stops"


def renewed(tls: Tls | None, files: TlsFiles) -> Tls:
    """``tls``, or another one where ``files`` have changed; one that has worked is not given up for nothing.

    Raises :class:`TlsUnusable`.
    """
    if tls is not None and not tls.changed():
        return tls
    stamps = _stamps(files)
    try:
        return Tls(files)
    except TlsUnusable as error:
        if tls is None or not tls.worked:
            raise
        tls.stays(str(error), stamps)
        return tls


_Stamps = tuple[tuple[int, int] | None, ...]


def _stamps(files: TlsFiles) -> _Stamps:
    return tuple(_stamp(path) for path in files.all)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


def _unreadable(path: Path) -> OSError | None:
    """Why a file cannot be read; of two, OpenSSL does not say which it was."""
    try:
        read_file(path)
    except OSError as error:
        return error
    return None


def _unusable(what: str, path: Path | None, error: Exception) -> TlsUnusable:
    why = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else None
    reason = getattr(error, "reason", None)
    if reason == "KEY_VALUES_MISMATCH":
        why = "certificate and key do not belong together"
    return TlsUnusable(f"{what}: {path}: {why or 'no PEM file that can be used'}")


# --- how long a certificate holds ------------------------------------------------------------------------


def _until(pem: str) -> int:
    """The end of the first certificate of a PEM text, Unix seconds (X.509 DER: RFC 5280, section 4.1).

    Only of what OpenSSL has read before. Raises :class:`ValueError` and :class:`IndexError`.
    """
    begin = pem.index("-----BEGIN CERTIFICATE-----")
    end = "-----END CERTIFICATE-----"
    der = ssl.PEM_cert_to_DER_cert(pem[begin : pem.index(end, begin) + len(end)])
    _, certificate, _ = _value(der, 0)
    _, body, _ = _value(certificate, 0)
    at = 0
    tag, _, after = _value(body, at)
    at = after if tag == 0xA0 else 0  # the version
    for _ in range(3):  # serial number, algorithm, issuer
        at = _value(body, at)[2]
    validity = _value(body, at)[1]
    tag, text, _ = _value(validity, _value(validity, 0)[2])
    form = "%y%m%d%H%M%SZ" if tag == 0x17 else "%Y%m%d%H%M%SZ"
    return int(datetime.strptime(text.decode("ascii"), form).replace(tzinfo=UTC).timestamp())


def _value(der: bytes, at: int) -> tuple[int, bytes, int]:
    """Tag and contents of the DER value at ``at``, and where it ends."""
    tag, size, start = der[at], der[at + 1], at + 2
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(der[at + 2 : start], "big")
    return tag, der[start : start + size], start + size


# --- what went wrong ------------------------------------------------------------------------------------

_UNKNOWN = {
    18: "it is signed by itself",
    19: "its authority is not known here",
    20: "its authority is not known here",
    21: "its authority is not known here",
}
_WITHDRAWN = 23
_NOT_YET, _ENDED, _HOSTNAME, _ADDRESS = 9, 10, 62, 64


def refused_words(error: Exception, host: str, clock_apart: int | None, ca: Path | None) -> str:
    """Why the server's certificate is refused. ``ca``: as of :class:`TlsFiles`.

    ``clock_apart``: seconds our clock is behind the server's, 0 for none worth a word; None: not known.
    """
    code = error.verify_code if isinstance(error, ssl.SSLCertVerificationError) else 0
    if code in (_NOT_YET, _ENDED):
        what = "it is not valid yet" if code == _NOT_YET else "it has ended"
        if clock_apart is None:
            return f"{CONNECT}: {what}: it must be renewed there, or the clock of this machine is wrong"
        if clock_apart:
            side = "behind" if clock_apart > 0 else "ahead of"
            return (
                f"{CONNECT}: {what} by our clock, which is {abs(clock_apart)} s {side} the server's: "
                "set the clock of this machine"
            )
        return f"{CONNECT}: {what}; our clock agrees with the server's: it must be renewed there"
    if code in (_HOSTNAME, _ADDRESS):
        return f"{CONNECT}: it is for another name than {host}"
    if code in _UNKNOWN and ca is None:
        return f"{CONNECT}: {_UNKNOWN[code]}; name it with [server] ca"
    if code in _UNKNOWN:
        return (
            f"{CONNECT}: {_UNKNOWN[code]}: it is not signed by an authority in {ca} ([server] ca). Either "
            "that file is of another authority, or this is not the house's server"
        )
    if code == _WITHDRAWN:
        return f"{CONNECT}: it was withdrawn by its authority"
    return f"{CONNECT}: {getattr(error, 'verify_message', None) or 'it cannot be checked'}"


_ALERTS = {
    "CERTIFICATE_REQUIRED": "the game server wants a certificate of this table: [server] client_cert",
    "UNKNOWN_CA": "the game server does not know the authority of this table's certificate",
    "CERTIFICATE_EXPIRED": "the game server says that this table's certificate has ended",
    "CERTIFICATE_REVOKED": "the game server says that this table's certificate was withdrawn",
    "CERTIFICATE": "the game server refuses this table's certificate",
    "HANDSHAKE_FAILURE": "the game server and this table agree on no encryption, or it wants a certificate",
    "PROTOCOL_VERSION": "the game server speaks no TLS from version 1.2 on",
}


def alert_of(error: BaseException | None) -> str | None:
    """What the server's TLS alert means; None when ``error`` was none. A certificate of ours was refused."""
    while error is not None:
        reason = str(getattr(error, "reason", "") or "")
        if isinstance(error, ssl.SSLError) and "ALERT" in reason:
            found = next((words for name, words in _ALERTS.items() if name in reason), None)
            return found or f"the game server ends the encryption: {reason.lower().replace('_', ' ')}"
        if isinstance(error, ssl.SSLError) and reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
            return "the game server does not speak TLS at this address: http:// instead of https://?"
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__
    return None
