"""A certificate authority of a house, made with the program ``openssl``, for real handshakes."""

from __future__ import annotations

import itertools
import ssl
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

_CONFIG = """
[ca]
default_ca = house
[house]
new_certs_dir = {folder}/copies
database = {folder}/index
serial = {folder}/serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
"""


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


class Authority:
    """``folder``: where everything is kept."""

    def __init__(self, folder: Path, name: str = "House CA") -> None:
        folder.mkdir()
        # OpenSSL's own copies are named by serial number in hex: the 17th would overwrite our 11.pem.
        (folder / "copies").mkdir()
        self._folder = folder
        self._numbers = itertools.count(1)
        (folder / "index").touch()
        (folder / "serial").write_text("01\n")
        self._config = folder / "openssl.cnf"
        self._config.write_text(_CONFIG.format(folder=folder))
        self.certificate = folder / "ca.pem"
        self._key = folder / "ca.key"
        _openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-config", self._config, "-subj", f"/CN={name}", "-days", "3650"),
            *("-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=keyCertSign"),
            *("-addext", "subjectKeyIdentifier=hash"),
            *("-keyout", self._key, "-out", self.certificate),
        )

    def issue(
        self, name: str = "IP:127.0.0.1", *, begins: float = -1, ends: float = 90, self_signed: bool = False
    ) -> Pair:
        """A certificate for ``name`` (``DNS:…`` or ``IP:…``), valid between these days from now."""
        number = next(self._numbers)
        made = Pair(self._folder / f"{number}.pem", self._folder / f"{number}.key")
        request, extensions = self._folder / f"{number}.csr", self._folder / f"{number}.ext"
        # RFC 9525 wants the names here; chains are followed by the key identifiers.
        extensions.write_text(f"subjectAltName={name}\nauthorityKeyIdentifier=keyid\n")
        _openssl(
            *("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-config", self._config, "-subj", f"/CN={name.partition(':')[2]}"),
            *("-keyout", made.key, "-out", request),
        )
        if self_signed:
            _openssl("x509", "-req", "-in", request, "-signkey", made.key, "-out", made.certificate)
            return made
        _openssl(
            *("ca", "-batch", "-notext", "-config", self._config, "-in", request, "-out", made.certificate),
            *("-cert", self.certificate, "-keyfile", self._key, "-extfile", extensions),
            *("-startdate", _day(begins), "-enddate", _day(ends)),
        )
        return made

    def server(self, pair: Pair, *, demands: Authority | None = None) -> ssl.SSLContext:
        """A server's side with that certificate; ``demands``: of the client one of that authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.certificate, pair.key)
        if demands is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(demands.certificate)
        return context


def _day(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).strftime("%Y%m%d%H%M%SZ")


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
