"""The sections of a table's configuration, each checked by itself: types, bounds, forms of addresses.

What concerns several sections or the rest of the machine is checked in :mod:`tablectl.config`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    model_validator,
)

TABLE_ID = r"^[A-Za-z0-9_-]{1,16}$"


def _plain(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has a control character in it")
    if text != text.strip():
        raise ValueError("begins or ends with a blank; remove it")
    return text


def server_url(text: str) -> str:
    """One address, or several of NATS servers with commas between. Raises :class:`ValueError`, in words."""
    for one in text.split(",") if text.startswith(("nats:", "tls:")) else [text]:
        try:
            parts = urlsplit(one)
            usable = parts.scheme in ("http", "https", "nats", "tls") and parts.port != 0
            (parts.hostname or "").encode("idna")
        except ValueError:
            usable = False
        if not usable or not parts.hostname or " " in one:
            raise ValueError(
                'is no address such as "https://games.example/v1/tables/{table}/events" or "nats://games.example:4222"'
            )
        if parts.username is not None or parts.password is not None:
            raise ValueError("carries a user name or password; secrets are credentials: push-hmac, nats-auth")
    if wrong := re.search(r"\{[^{}]*\}?|\}|%7[bd]", text.replace("{table}", ""), re.IGNORECASE):
        raise ValueError(f"has {wrong[0]!r:.60} in it; only {{table}}, written so, is put in: the table's id")
    return text


def _path(text: object) -> object:
    """A path as written in TOML; strict models take no text for one."""
    if isinstance(text, str) and text and text.isprintable():
        return Path(text)
    raise ValueError("is no path")


Plain = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_plain)]
FilePath = Annotated[Path, BeforeValidator(_path)]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TableConfig(Section):
    """``test``: an emulated driver or a pseudo-terminal is allowed, and all events say it is a test."""

    id: str = Field(pattern=TABLE_ID)
    test: bool = False
    rules: Plain = "live-casino"


class _WithSettings(Section):
    """A section whose other keys belong to the driver it names."""

    driver: Plain
    settings: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        own = {key: value for key, value in given.items() if key in cls.model_fields and key != "settings"}
        return own | {"settings": {key: value for key, value in given.items() if key not in own}}


class ScannerConfig(_WithSettings):
    """``identity``: the one device that may be there, None: any. ``settings``: what the driver checks."""

    device: Plain
    identity: Plain | None = None


class HealthConfig(Section):
    """When a scanner is told to be mute or faulty; spans in seconds."""

    mute_after: float = Field(60.0, ge=1, le=3600)
    faulty_rejects: int = Field(10, ge=1, le=10_000)
    faulty_share: float = Field(0.2, gt=0, le=1)
    faulty_within: float = Field(60.0, ge=5, le=3600)


SEVERAL = "several"
"""As ``beeper.driver``: there are more than one, each in a table of its own under ``[beeper]``."""

MOST_BEEPERS = 4


class BeeperConfig(_WithSettings):
    """``settings``: every other key of the section; the beeper checks them."""

    driver: Plain = "null"
    _each: dict[str, BeeperConfig] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _are_beepers(self) -> Self:
        if self.driver != SEVERAL:
            return self
        if not 1 <= len(self.settings) <= MOST_BEEPERS:
            raise ValueError(f'driver = "{SEVERAL}" needs 1 to {MOST_BEEPERS} tables such as [beeper.lamp]')
        for name, given in self.settings.items():
            if not isinstance(given, dict) or not isinstance(given.get("driver"), str):
                raise ValueError(
                    f'{name}: with driver = "{SEVERAL}" this is a table: [beeper.{name}], driver = …'
                )
            if given["driver"] == SEVERAL:
                raise ValueError(f"{name}.driver: several beepers are named one by one under [beeper]")
            self._each[name] = BeeperConfig.model_validate(given)
        return self

    @property
    def each(self) -> dict[str, BeeperConfig]:
        """Every beeper by its key in the file: ``beeper``, or ``beeper.lamp`` and ``beeper.speaker``."""
        if self.driver != SEVERAL:
            return {"beeper": self}
        return {f"beeper.{name}": one for name, one in self._each.items()}


class ServerConfig(Section):
    """``kind``: the way to the game server. ``url`` None: there is none. ``timeout``: seconds for one try.

    ``ca``: the only authorities believed, None: those of the system. ``client_cert``: what the table shows
    (its key is the credential ``client-key``). ``certificate_days``: before a certificate ends it is told.
    """

    kind: Literal["http", "nats"] = "http"
    url: Annotated[Plain, AfterValidator(server_url)] | None = None
    timeout: float = Field(5.0, gt=0, le=60)
    ca: FilePath | None = None
    client_cert: FilePath | None = None
    certificate_days: int = Field(14, ge=1, le=365)

    @model_validator(mode="after")
    def _encrypted(self) -> Self:
        schemes = {"http": ("http", "https"), "nats": ("nats", "tls")}[self.kind]
        if self.url is not None and any(urlsplit(one).scheme not in schemes for one in self.addresses):
            raise ValueError(
                f'with kind = "{self.kind}" a url begins with {schemes[0]}:// or {schemes[1]}://'
            )
        if (self.ca or self.client_cert) and not (self.url or "").startswith(("https://", "tls://")):
            raise ValueError("ca and client_cert are for a url that begins with https:// or tls://")
        return self

    @property
    def addresses(self) -> list[str]:
        """Each address in ``url``: one, or the servers of a NATS cluster."""
        return [] if self.url is None else self.url.split(",") if self.kind == "nats" else [self.url]


class JournalConfig(Section):
    """``path`` None: the usual place. ``mirror``: a second file that follows, None: there is none.

    ``backups``: the folder of backups made while the table runs, None: beside the journal. ``keep_days``:
    how long acknowledged rows are kept, None: for ever.
    """

    path: FilePath | None = None
    mirror: FilePath | None = None
    backups: FilePath | None = None
    keep_days: int | None = Field(None, ge=400, le=36_500)


def host_and_port(text: str) -> tuple[str, int]:
    """``HOST:PORT`` taken apart. Raises :class:`ValueError` for anything else."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
        if host and port and parts.netloc == text and "@" not in text:
            return host, port
    except ValueError:
        pass
    raise ValueError('is no address and port such as "127.0.0.1:9480"')


def _listen(text: str) -> str:
    host_and_port(text)
    return text


class ApiConfig(Section):
    """``socket`` None: the usual place. ``listen``: HOST:PORT of the read-only address, None: none."""

    socket: FilePath | None = None
    listen: Annotated[Plain, AfterValidator(_listen)] | None = None


class DisplayConfig(Section):
    """The page for a monitor at the table. ``language`` None: the one that the browser asks for."""

    language: Literal["en", "de"] | None = None
    predictions: bool = True


class LogConfig(Section):
    """``json``: one object a line, for machines; ``console``: for people."""

    format: Literal["json", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class SecretsConfig(Section):
    """``folder``: where the credentials are when systemd does not hand them over."""

    folder: FilePath | None = None
