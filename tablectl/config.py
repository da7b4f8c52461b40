"""The configuration of one table: a TOML file and two credentials, read and checked in one go.

Nothing here touches a device; whether driver, scanner and server are there is what ``tablectl check``
finds out.  Every fault is one line that names file and key path.  Secrets never stand in the file: they
come as files from systemd (``LoadCredential``), or from a folder the file names.
"""

from __future__ import annotations

import dataclasses
import os
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
    ValidationError,
    model_validator,
)

from tablectl.credentials import CLIENT_KEY, NATS_AUTH, read_credentials
from tablectl.delivery.tls import TlsFiles
from tablectl.house import HouseRules
from tablectl.mirror_place import unfit
from tablectl.pins import PitBosses
from tablectl.profiles import ConfigError, explain, load_rules, read_toml

__all__ = ["Config", "ConfigError", "is_pseudo_terminal", "load_config", "make_config"]

TABLE_ID = r"^[A-Za-z0-9_-]{1,16}$"
SOCKET_PATH_BYTES = 107
"""The longest path the kernel takes for a unix socket."""

_PTY_MAJORS = range(136, 144)


def is_pseudo_terminal(device: str) -> bool:
    """Whether ``device`` leads to a pseudo-terminal: an emulated shoe, whatever its name says.

    Links are followed. False for a ``tcp://`` address and for what does not exist.
    """
    if device.startswith("tcp://"):
        return False
    try:
        if os.path.realpath(device).startswith("/dev/pts/"):
            return True
        return os.major(Path(device).stat().st_rdev) in _PTY_MAJORS
    except (OSError, ValueError):
        return False


# --- the sections ----------------------------------------------------------------------------------------


def _plain(text: str) -> str:
    if not text.isprintable():
        raise ValueError("has a control character in it")
    if text != text.strip():
        raise ValueError("begins or ends with a blank; remove it")
    return text


def _server_url(text: str) -> str:
    """One address, or several of NATS servers with commas between."""
    for one in text.split(",") if text.startswith(("nats:", "tls:")) else [text]:
        try:
            parts = urlsplit(one)
            usable = parts.scheme in ("http", "https", "nats", "tls") and parts.port != 0
        except ValueError:
            usable = False
        if not usable or not parts.hostname or " " in one:
            raise ValueError('is no address such as "https://games.example/v1/tables/{table}/events"')
        if parts.username is not None or parts.password is not None:
            raise ValueError("carries a user name or password; secrets are credentials: push-hmac, nats-auth")
    return text


def _path(text: object) -> object:
    """A path as written in TOML; strict models take no text for one."""
    if isinstance(text, str) and text and text.isprintable():
        return Path(text)
    raise ValueError("is no path")


Plain = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_plain)]
FilePath = Annotated[Path, BeforeValidator(_path)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TableConfig(_Section):
    """``test``: an emulated driver or a pseudo-terminal is allowed, and all events say it is a test."""

    id: str = Field(pattern=TABLE_ID)
    test: bool = False
    rules: Plain = "live-casino"


class _WithSettings(_Section):
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


class HealthConfig(_Section):
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


class ServerConfig(_Section):
    """``kind``: the way to the game server. ``url`` None: there is none. ``timeout``: seconds for one try.

    ``ca``: the only authorities believed, None: those of the system. ``client_cert``: what the table shows
    (its key is the credential ``client-key``). ``certificate_days``: before a certificate ends it is told.
    """

    kind: Literal["http", "nats"] = "http"
    url: Annotated[Plain, AfterValidator(_server_url)] | None = None
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


class JournalConfig(_Section):
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


class ApiConfig(_Section):
    """``socket`` None: the usual place. ``listen``: HOST:PORT of the read-only address, None: none."""

    socket: FilePath | None = None
    listen: Annotated[Plain, AfterValidator(_listen)] | None = None


class LogConfig(_Section):
    """``json``: one object a line, for machines; ``console``: for people."""

    format: Literal["json", "console"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class SecretsConfig(_Section):
    """``folder``: where the credentials are when systemd does not hand them over."""

    folder: FilePath | None = None


class Config(_Section):
    """All of it, checked and frozen. Made by :func:`load_config`; paths in it are absolute."""

    table: TableConfig
    scanner: ScannerConfig
    health: HealthConfig = HealthConfig()
    server: ServerConfig = ServerConfig()
    beeper: BeeperConfig = BeeperConfig()
    journal: JournalConfig = JournalConfig()
    api: ApiConfig = ApiConfig()
    log: LogConfig = LogConfig()
    secrets: SecretsConfig = SecretsConfig()

    _path: Path = PrivateAttr(default=Path())
    _rules: HouseRules | None = PrivateAttr(default=None)
    _credentials: Path | None = PrivateAttr(default=None)
    _push_secrets: tuple[str, ...] = PrivateAttr(default=())
    _pit_bosses: PitBosses = PrivateAttr(default_factory=PitBosses)

    @model_validator(mode="after")
    def _socket_fits(self) -> Self:
        if len(os.fsencode(self.socket_path)) > SOCKET_PATH_BYTES:
            raise ValueError(
                f"api.socket: longer than the {SOCKET_PATH_BYTES} bytes a socket's path may have"
            )
        return self

    @property
    def path(self) -> Path:
        """The file all this was read from."""
        return self._path

    @property
    def push_secrets(self) -> tuple[str, ...]:
        """The signing secrets (``whsec_…``), checked: one, two while they are changed, or none."""
        return self._push_secrets

    @property
    def pit_bosses(self) -> PitBosses:
        """Who may release, void and end shoes; empty when the credential is not set."""
        return self._pit_bosses

    def credentials_now(self) -> tuple[tuple[str, ...], PitBosses]:
        """The two credentials as their folder holds them now. Raises :class:`ConfigError`."""
        return ((), PitBosses()) if self._credentials is None else read_credentials(self._credentials)

    @property
    def tls(self) -> TlsFiles:
        """The certificates of the game server's link."""
        server = self.server
        key = None if self._credentials is None else self._credentials / CLIENT_KEY
        return TlsFiles(server.ca, server.client_cert, key if server.client_cert is not None else None)

    @property
    def nats_credential(self) -> Path | None:
        """The file with what a NATS server asks for; it need not be there."""
        return None if self._credentials is None else self._credentials / NATS_AUTH

    @property
    def journal_path(self) -> Path:
        """The table's database."""
        return self.journal.path or Path("/var/lib/tablectl") / f"{self.table.id}.db"

    @property
    def backups_path(self) -> Path:
        """Where backups are put while the table runs."""
        return self.journal.backups or self.journal_path.parent / "backups"

    @property
    def socket_path(self) -> Path:
        """Where the local interface listens."""
        return self.api.socket or Path("/run/tablectl") / self.table.id / "tablectl.sock"

    @property
    def server_url(self) -> str | None:
        """The game server's address with the table in it; None: there is no game server."""
        return None if self.server.url is None else self.server.url.replace("{table}", self.table.id)

    def house_rules(self) -> HouseRules:
        """The profile the table plays. Without a game server there is no link that betting could need."""
        assert self._rules is not None
        if self.server.url is not None:
            return self._rules
        betting = dataclasses.replace(self._rules.betting, link_required=False)
        return dataclasses.replace(self._rules, betting=betting)

    @property
    def missing(self) -> tuple[str, ...]:
        """What is not set and what the table cannot do without it, a sentence each."""
        lacks = []
        if self.server.url is None:
            lacks.append("server.url is not set: no game server gets the results")
        elif self.server.kind == "http" and not self._push_secrets:
            lacks.append("credential push-hmac is not set: requests to the game server cannot be signed")
        if not len(self._pit_bosses):
            lacks.append("credential pit-bosses is not set: nobody can release a hold, void or inspect")
        return tuple(lacks)


# --- loading ---------------------------------------------------------------------------------------------


def load_config(path: Path) -> Config:
    """The configuration in a file, with its house rules and credentials.

    Relative paths in it begin at the file's folder. Raises :class:`ConfigError`, a line for each fault.
    """
    return make_config(read_toml(path), path)


def make_config(raw: Mapping[str, object], path: Path) -> Config:
    """As :func:`load_config`, from the contents of a file that is, or would be, at ``path``."""
    path = path.absolute()
    try:
        config = Config.model_validate(_absolute(raw, path.parent))
    except ValidationError as error:
        raise ConfigError(explain(path, error, Config)) from None
    rules = config.table.rules
    if rules.endswith(".toml"):
        rules = str(path.parent / rules)
    try:
        profile = load_rules(rules, (path.parent / "rules",))
    except ConfigError as error:
        text = str(error)
        raise ConfigError(text if text.startswith(rules) else f"{path}: table.rules: {text}") from None
    folder = config.secrets.folder
    if folder is not None and not folder.is_dir():
        raise ConfigError(f"{path}: secrets.folder: {folder} is no folder")
    if folder is None and "CREDENTIALS_DIRECTORY" in os.environ:
        folder = Path(os.environ["CREDENTIALS_DIRECTORY"])
    if (mirror := config.journal.mirror) is not None:
        lock = config.journal_path.with_name(f"{config.table.id}.lock")
        if fault := unfit(mirror, config.journal_path, lock, path):
            raise ConfigError(f"{path}: journal.mirror: {fault}")
    config._path = path
    config._rules = profile
    config._credentials = folder
    config._push_secrets, config._pit_bosses = config.credentials_now()
    return config


_PATHS = (
    *(("journal", key) for key in ("path", "mirror", "backups")),
    ("api", "socket"),
    ("secrets", "folder"),
    *(("server", key) for key in ("ca", "client_cert")),
)


def _absolute(raw: Mapping[str, object], folder: Path) -> dict[str, object]:
    """``raw`` with its paths beginning at ``folder``."""
    made = dict(raw)
    for section, key in _PATHS:
        values = made.get(section)
        if isinstance(values, dict) and isinstance(values.get(key), str) and values[key]:
            made[section] = values | {key: str(folder / values[key])}
    return made
