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
from typing import Self

from pydantic import PrivateAttr, ValidationError, model_validator

from tablectl.config_sections import (
    ApiConfig,
    BeeperConfig,
    DisplayConfig,
    HealthConfig,
    JournalConfig,
    LogConfig,
    ScannerConfig,
    SecretsConfig,
    Section,
    ServerConfig,
    TableConfig,
)
from tablectl.credentials import CLIENT_KEY, NATS_AUTH, PUSH_HMAC, read_credentials, why_none
from tablectl.delivery.tls import TlsFiles
from tablectl.house import HouseRules
from tablectl.journal.mirror_place import unfit
from tablectl.pins import PitBosses
from tablectl.profiles import ConfigError, explain, load_rules, read_toml

SOCKET_PATH_BYTES = 107
"""The longest path the kernel takes for a unix socket."""


class Config(Section):
    """All of it, checked and frozen. Made by :func:`load_config`; paths in it are absolute."""

    table: TableConfig
    scanner: ScannerConfig
    health: HealthConfig = HealthConfig()
    server: ServerConfig = ServerConfig()
    beeper: BeeperConfig = BeeperConfig()
    journal: JournalConfig = JournalConfig()
    api: ApiConfig = ApiConfig()
    display: DisplayConfig = DisplayConfig()
    log: LogConfig = LogConfig()
    secrets: SecretsConfig = SecretsConfig()

    _path: Path = PrivateAttr(default=Path())
    _journal: Path = PrivateAttr(default=Path())
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

    @property
    def unsigned(self) -> str:
        """Why there is no signing secret, in words behind the credential's name."""
        return "is gone" if self._credentials is None else why_none(self._credentials / PUSH_HMAC)

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
        """The table's database; a link was followed at the load: lock and logs lie beside the file."""
        return self._journal

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
    journal = config.journal.path or Path("/var/lib/tablectl") / f"{config.table.id}.db"
    try:
        # SQLite puts its log beside what a link leads to: so must the lock be, else two would write one file.
        config._journal = journal.resolve()
    except (OSError, RuntimeError) as error:
        raise ConfigError(f"{path}: journal.path: {journal}: {error}") from None
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
